/* seals.c - can every sealed text be opened?  And what is done about those that nobody can open any more.
 *
 * `lodge check` opens each and names what does not open, by table and id, never
 * by what is inside.  `lodge give-up-seals` is for a master key that is lost:
 * it says what would be given up, and with --yes does it.  What opens is sealed
 * with a new key, what does not is marked as gone, so that whoever owns it is
 * told to enter it anew, and all else in the store stays.  Interrupted anywhere,
 * it is simply run again. */
#include "serve/seals.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "access/audit.h"
#include "access/holders.h"
#include "access/audit_chain_break.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "serve/manual.h"
#include "serve/master_key.h"
#include "serve/open.h"

enum { NAMED_MAX = 50, TRIES = 50, ALIVE_S = 60 };

struct seals {
	struct db *db;
	struct vault *vault;
	struct arena *arena;
	struct arena turn;
	struct problem *problem;
	bool act;	  /* give up and seal anew; else only look */
	const char *name; /* of the key that seals anew */
	int64_t opened, lost, named;
	int64_t lost_in[SEALED_PLACE_COUNT];
};

static void name_it(struct seals *s, enum sealed_place place, const struct sealed_text *t)
{
	s->lost++;
	s->lost_in[place]++;
	if (s->act || s->lost_in[place] > NAMED_MAX)
		return;
	printf("%s %s: %s cannot be opened with any key that is here.\n",
		sealed_places[place].table, t->id, sealed_places[place].what);
	s->named++;
}

static int note_given_up(struct seals *s, enum sealed_place place, const struct sealed_text *t)
{
	return audit_write(s->db, &s->turn,
		&(struct audit_entry){ .action = "secret.give_up",
			.resource_id = t->id,
			.tenant_id = t->tenant_id,
			.meta = arena_printf(
				&s->turn, "{\"table\":\"%s\"}", sealed_places[place].table) });
}

static int give_up_seal(struct seals *s, enum sealed_place place, const struct sealed_text *t)
{
	int err = sealed_places[place].gone == GONE_CHAIN
			  ? chain_break_make(s->db, &s->turn, s->vault, clock_now_us())
			  : sealed_give_up(s->db, place, t);

	if (!err && sealed_places[place].gone != GONE_WITH_ROW)
		err = note_given_up(s, place, t);
	return err;
}

static int seal_anew(struct seals *s, enum sealed_place place, const struct sealed_text *t,
	const void *plain, size_t n)
{
	const char *sealed = vault_seal(s->vault, &s->turn, place, t->context, plain, n);

	return sealed ? sealed_put(s->db, place, t, sealed) : ERR_KEY;
}

/* One page of a place in one transaction; *after is the last row seen, NULL when there is no more. */
static int walk_page(struct seals *s, enum sealed_place place, const char **after)
{
	const struct sealed_text *t;
	const char *last = NULL;
	size_t count = 0, n;
	int err = db_begin(s->db, s->act ? READ_WRITE : READ_ONLY);

	if (!err)
		err = sealed_page(
			s->db, &s->turn, place, s->act ? s->name : "", *after, &t, &count);
	for (size_t i = 0; !err && i < count; i++) {
		void *plain = vault_open(s->vault, &s->turn, t[i].context, t[i].text, &n);

		if (plain && s->act)
			err = seal_anew(s, place, &t[i], plain, n);
		else if (!plain && s->act)
			err = give_up_seal(s, place, &t[i]);
	}
	if (!err && s->act)
		err = db_commit(s->db);
	else
		db_rollback(s->db);
	for (size_t i = 0; !err && i < count; i++) {
		void *plain = vault_open(s->vault, &s->turn, t[i].context, t[i].text, &n);

		last = t[i].id;
		if (plain)
			s->opened++;
		else
			name_it(s, place, &t[i]);
		if (plain)
			wipe(plain, n);
	}
	if (!err)
		*after = count == SEALED_PAGE ? arena_strdup(s->arena, last) : NULL;
	return err;
}

static int walk_seals(struct seals *s)
{
	int err = 0;

	for (int place = 0; !err && place < SEALED_PLACE_COUNT; place++) {
		const char *after = "";
		int tries = TRIES;

		while (!err && after) {
			arena_reset(&s->turn);
			err = walk_page(s, (enum sealed_place)place, &after);
			if (err == ERR_RETRY && --tries)
				err = 0;
		}
	}
	arena_free(&s->turn);
	return err;
}

static int count_gone(struct db *db, int64_t *ret)
{
	int64_t n = 0;
	int err = 0;

	*ret = 0;
	for (int place = 0; !err && place < SEALED_PLACE_COUNT; place++) {
		err = sealed_gone(db, (enum sealed_place)place, &n);
		*ret += n;
	}
	return err;
}

int seals_check(struct db *db, const struct vault_keys *keys, struct arena *a, struct problem *p)
{
	struct seals s = { .db = db, .arena = a, .problem = p, .vault = vault_new(keys, NULL) };
	int64_t gone = 0;
	int err = walk_seals(&s);

	if (!err)
		err = count_gone(db, &gone);
	vault_free(s.vault);
	if (err)
		return problem_set(
			p, a, err, "the sealed secrets cannot be read: %s", db_error(db));
	printf("%lld sealed secrets open with the master key.\n", (long long)s.opened);
	if (gone)
		printf("%lld were given up and have not been entered anew.\n", (long long)gone);
	if (!s.lost)
		return 0;
	return problem_set(p, a, ERR_CONFLICT,
		"%lld sealed secrets cannot be opened with the master key; those who own them have to enter them anew "
		"(lodge give-up-seals marks them as gone)",
		(long long)s.lost);
}

/* ---- giving up ---- */

/* A process that lives may hold the key that was lost: then it is not. */
static int nobody_lives(struct seals *s)
{
	struct list rows;
	int64_t now = clock_now_us();
	int err = holders_list(s->db, s->arena, &rows);

	for (size_t i = 0; !err && i < rows.count; i++) {
		const struct holder_row *h = (const struct holder_row *)rows.at + i;

		if (now - h->seen_at < ALIVE_S * SECOND_US)
			err = problem_set(s->problem, s->arena, ERR_CONFLICT,
				"%s gave a sign of life less than a minute ago, and may hold the key: stop it, or wait a minute "
				"if it has ended",
				h->name);
	}
	return err;
}

static void list_lost(const struct seals *s)
{
	for (int i = 0; i < SEALED_PLACE_COUNT; i++)
		if (s->lost_in[i])
			printf("%lld of the table %s (%s): %s.\n", (long long)s->lost_in[i],
				sealed_places[i].table, sealed_places[i].what,
				sealed_places[i].gone == GONE_WITH_ROW ? "they go"
				: sealed_places[i].gone == GONE_TEXT
					? "each has to be entered anew"
					: "the chain of the audit log goes on with a new key, and what was "
					  "sealed before cannot be proven any more");
}

/* The keys with which all is done: a new one first, where none of those in the file is the store's. */
static int new_keys(
	struct seals *s, const char *path, const char *mark, struct vault_keys *keys, bool there)
{
	int at = vault_marked(keys, mark), err = 0;
	struct vault_keys all = { .count = 1 };
	char name[VAULT_NAME_LEN + 1];

	if (at >= 0) {
		memcpy(all.key[0], keys->key[at], VAULT_KEY_LEN);
	} else {
		err = master_key_next(path, true, all.key[0], s->arena, s->problem);
		if (err)
			return err;
	}
	vault_name(all.key[0], name);
	for (size_t i = 0; i < keys->count && all.count < VAULT_KEYS; i++)
		if (vault_find(keys, name) != (int)i)
			memcpy(all.key[all.count++], keys->key[i], VAULT_KEY_LEN);
	*keys = all;
	wipe(&all, sizeof all);
	s->name = arena_strdup(s->arena, name);
	return at >= 0 ? 0 : vault_write(keys, path, there, s->arena, s->problem);
}

/* The mark last: until then the store is known by it to be unfinished. */
static int conclude_give_up(struct seals *s, const char *path, struct vault_keys *keys)
{
	int err = db_begin(s->db, READ_WRITE);

	if (!err)
		err = key_change_end(s->db);
	if (!err)
		err = key_mark_replace(s->db, s->arena, keys->key[0]);
	if (err)
		db_rollback(s->db);
	else
		err = db_commit(s->db);
	keys->count = 1;
	if (!err)
		err = vault_write(keys, path, true, s->arena, s->problem);
	if (!err)
		master_key_next_done(path, s->arena);
	return err;
}

static int run_give_up(struct seals *s, const char *path, bool yes)
{
	struct vault_keys keys = { 0 };
	const char *mark;
	int read = vault_read(&keys, path, s->arena, s->problem), err;

	if (read && read != ERR_NOT_FOUND)
		return read;
	err = key_mark_read(s->db, s->arena, &mark);
	if (!err && mark)
		err = nobody_lives(s);
	if (err || !mark)
		return err;
	s->vault = vault_new(&keys, NULL);
	err = walk_seals(s);
	vault_free(s->vault);
	s->vault = NULL;
	list_lost(s);
	if (!err && yes && (s->lost || vault_marked(&keys, mark) < 0)) {
		s->act = true;
		memset(s->lost_in, 0, sizeof s->lost_in);
		s->lost = s->opened = 0;
		err = new_keys(s, path, mark, &keys, !read);
		if (!err) {
			s->vault = vault_new(&keys, NULL);
			err = walk_seals(s);
			vault_free(s->vault);
		}
		if (!err)
			err = conclude_give_up(s, path, &keys);
	}
	wipe(&keys, sizeof keys);
	return err;
}

int command_give_up_seals(const struct settings *settings, struct arena *a)
{
	struct store *store = NULL;
	struct problem p = { 0 };
	struct seals s = { .arena = a, .problem = &p };
	bool yes = settings->argument_count > 0;
	int lock = -1, err = open_current(&store, settings, STORE_BESIDE, a, &p);

	if (!err)
		err = store_connect(store, &s.db, a, &p);
	if (!err)
		err = master_key_lock(settings->master_key_file, a, &p, &lock);
	if (!err)
		err = run_give_up(&s, settings->master_key_file, yes);
	if (err)
		problem_set(&p, a, err, "the store: %s", s.db ? db_error(s.db) : "");
	db_close(s.db);
	store_close(store);
	if (lock >= 0)
		close(lock);
	if (err)
		return complain(&p);
	if (s.act)
		printf("%lld were given up, %lld sealed with the key in %s.\n", (long long)s.lost,
			(long long)s.opened, settings->master_key_file);
	else if (s.lost)
		printf("%lld in all. Nothing was changed; lodge give-up-seals --yes gives them up.\n",
			(long long)s.lost);
	else
		printf("There is nothing to give up.\n");
	return 0;
}
