/* rekey.c - `lodge rekey`: a new master key, while the service runs.
 *
 * In steps, each of which can be the last of a process that is killed, and each
 * of which is passed over where it was taken before:
 *
 *   1. the new key is kept beside the key file, and its name said in the store
 *   2. the key file holds both; every living process says that it knows the new one
 *   3. the store's mark opens with the new one; every living process says that it
 *      seals with it, and what transactions were under way then have ended
 *   4. every sealed text is sealed anew, each only if it is still what was read
 *   5. the key file holds the new key alone
 *
 * What a process says counts for a while only (access/holders.h), so one that
 * was taken for dead and wakes up seals nothing.  Who is waited for is told. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "access/holders.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "serve/manual.h"
#include "serve/master_key.h"
#include "serve/open.h"

enum {
	TRIES = 50,
	WAIT_MOST_MS = 600000,
	PATIENCE_MS = 2000,
	LOOK_US = 300000,
	WATCHED_MAX = 1000
};

struct rekeying {
	const char *path;
	struct db *db;
	struct vault *vault;
	struct vault_keys keys; /* the new one first */
	char name[VAULT_NAME_LEN + 1];
	struct arena *arena;
	struct arena turn; /* of one look */
	struct problem *problem;
	int64_t done, lost;
};

/* A step in one transaction, again while the store asks for it. */
static int transact_rekey(struct rekeying *r, int (*step)(struct rekeying *r, void *arg), void *arg)
{
	int err, tries = TRIES;

	do {
		err = db_begin(r->db, READ_WRITE);
		if (!err)
			err = step(r, arg);
		if (err)
			db_rollback(r->db);
		else
			err = db_commit(r->db);
	} while (err == ERR_RETRY && --tries);
	return err;
}

/* ---- whom it waits for ---- */

enum holder_wanted { KNOWS, SEALS };

/* What was seen of those that do not follow yet. */
struct watched {
	char id[ID_LEN + 1];
	int64_t beat, since_ms, first_ms;
	bool told;
};

struct waiting {
	enum holder_wanted wanted;
	struct watched seen[WATCHED_MAX];
	size_t seen_count, open;
};

static bool holder_follows(
	const struct rekeying *r, enum holder_wanted wanted, const struct holder_row *h)
{
	return wanted == SEALS ? strcmp(h->sealing, r->name) == 0
			       : strstr(h->knows, r->name) != NULL;
}

static void print_waiting_holder(
	const struct rekeying *r, enum holder_wanted wanted, const struct holder_row *h)
{
	printf("Waiting for %s, which %s%s%s.\n", h->name,
		wanted == SEALS ? "does not seal with the new key yet"
				: "does not know the new key yet",
		*h->fault ? ": " : "", h->fault);
	if (wanted == KNOWS)
		printf("  If it has a copy of the key file, put the present %s in its place.\n",
			r->path);
	fflush(stdout);
}

/* Since when this row has been what it is; one that keeps us waiting is told of. */
static int64_t holder_since(
	struct rekeying *r, struct waiting *w, const struct holder_row *h, int64_t now)
{
	struct watched *s = w->seen;

	while (s < w->seen + w->seen_count && strcmp(s->id, h->id) != 0)
		s++;
	if (s == w->seen + w->seen_count) {
		if (w->seen_count == WATCHED_MAX)
			return now;
		w->seen_count++;
		snprintf(s->id, sizeof s->id, "%s", h->id);
		s->beat = h->beat;
		s->since_ms = s->first_ms = now;
		s->told = false;
	}
	if (!s->told && now - s->first_ms >= PATIENCE_MS && (w->wanted == KNOWS || *h->fault)) {
		s->told = true;
		print_waiting_holder(r, w->wanted, h);
	}
	if (s->beat != h->beat) {
		s->beat = h->beat;
		s->since_ms = now;
	}
	return s->since_ms;
}

/* With the mark, so that a process that is just coming cannot have read another one unseen. */
static int look_at_holders(struct rekeying *r, void *arg)
{
	struct waiting *w = arg;
	int64_t now = clock_mono_ms();
	const char *mark;
	struct list rows;
	int err;

	arena_reset(&r->turn);
	w->open = 0;
	err = key_mark_read(r->db, &r->turn, &mark);
	if (!err)
		err = holders_list(r->db, &r->turn, &rows);
	for (size_t i = 0; !err && i < rows.count; i++) {
		const struct holder_row *h = (const struct holder_row *)rows.at + i;

		if (holder_follows(r, w->wanted, h))
			continue;
		if (now - holder_since(r, w, h, now) < HOLDER_DEAD_MS)
			w->open++;
		else /* what it said does not count any more */
			err = holder_forget(r->db, h);
	}
	return err;
}

static int wait_for_all(struct rekeying *r, enum holder_wanted wanted)
{
	struct waiting *w = arena_new(r->arena, struct waiting);
	int64_t began = clock_mono_ms();
	int err;

	w->wanted = wanted;
	while (!(err = transact_rekey(r, look_at_holders, w)) && w->open) {
		if (clock_mono_ms() - began > WAIT_MOST_MS)
			return problem_set(r->problem, r->arena, ERR_CONFLICT,
				"not every process follows to the new master key; nothing is lost, and the former key stays: "
				"run lodge rekey again to go on");
		usleep(LOOK_US);
	}
	return err;
}

/* Whoever sealed with the former key did so in a transaction that began before everybody had said otherwise. */
static int wait_for_transactions(struct rekeying *r)
{
	int64_t now = 0, open = 1, began = clock_mono_ms();
	bool told = false;
	int err = store_now(r->db, &now);

	while (!err && !(err = store_open_since(r->db, now, &open)) && open) {
		if (!told && clock_mono_ms() - began > 2000)
			told = printf("Waiting for transactions in the store that began before.\n") >
			       0;
		if (clock_mono_ms() - began > WAIT_MOST_MS)
			return problem_set(r->problem, r->arena, ERR_CONFLICT,
				"transactions of the store's user have been open for ten minutes; nothing is lost, and the former "
				"key stays: run lodge rekey again when they have ended");
		fflush(stdout);
		usleep(LOOK_US);
	}
	return err;
}

/* ---- the seals ---- */

struct reseal_cursor {
	enum sealed_place place;
	const char *after; /* NULL: there is no more */
};

/* One page of a place. */
static int reseal_page(struct rekeying *r, void *arg)
{
	struct reseal_cursor *p = arg;
	const struct sealed_text *t;
	const char *after = arena_strdup(&r->turn, p->after), *sealed;
	int64_t done = 0, lost = 0;
	size_t count, n;
	int err = sealed_page(r->db, &r->turn, p->place, r->name, after, &t, &count);

	for (size_t i = 0; !err && i < count; i++) {
		void *plain = vault_open(r->vault, &r->turn, t[i].context, t[i].text, &n);

		if (!plain) { /* under a key that is gone: nobody can open it any more */
			lost++;
			continue;
		}
		sealed = vault_seal(r->vault, &r->turn, p->place, t[i].context, plain, n);
		err = sealed ? sealed_put(r->db, p->place, &t[i], sealed) : ERR_KEY;
		wipe(plain, n);
		done++;
	}
	if (err)
		return err;
	r->done += done;
	r->lost += lost;
	p->after = count == SEALED_PAGE ? arena_strdup(r->arena, t[count - 1].id) : NULL;
	return 0;
}

static int reseal_pass(struct rekeying *r)
{
	int err = 0;

	r->lost = 0;
	for (int place = 0; !err && place < SEALED_PLACE_COUNT; place++) {
		struct reseal_cursor p = { (enum sealed_place)place, "" };

		while (!err && p.after) {
			arena_reset(&r->turn);
			err = transact_rekey(r, reseal_page, &p);
		}
	}
	return err;
}

/* Until a pass finds nothing: after what was waited for that is the second one. */
static int reseal_all(struct rekeying *r)
{
	int64_t before;
	int err;

	do {
		before = r->done;
		err = reseal_pass(r);
	} while (!err && r->done != before);
	return err;
}

/* ---- the steps ---- */

/* Says which key is coming, unless that was said. */
static int announce_new_key(struct rekeying *r, void *arg)
{
	const char *change;
	int err = key_change_read(r->db, r->arena, &change);

	(void)arg;
	if (err || (change && strcmp(change, r->name) == 0))
		return err;
	if (change)
		return problem_set(r->problem, r->arena, ERR_CONFLICT,
			"another lodge rekey has begun with another key file");
	return key_change_begin(r->db, r->name);
}

/* The new key in force, if it still is the one that was announced. */
static int put_in_force(struct rekeying *r, void *arg)
{
	struct vault_keys new = { .count = 1 };
	const char *change, *mark;
	int err = key_change_read(r->db, r->arena, &change);

	(void)arg;
	if (!err && (!change || strcmp(change, r->name) != 0))
		err = problem_set(r->problem, r->arena, ERR_CONFLICT,
			"another lodge rekey has begun anew meanwhile; this one is given up, and nothing is lost");
	if (!err)
		err = key_mark_read(r->db, r->arena, &mark);
	if (err)
		return err;
	memcpy(new.key[0], r->keys.key[0], VAULT_KEY_LEN);
	if (!mark || vault_marked(&new, mark) < 0)
		err = key_mark_replace(r->db, r->arena, new.key[0]);
	wipe(&new, sizeof new);
	return err;
}

static int conclude_rekey(struct rekeying *r, void *arg)
{
	const char *change;
	int err = key_change_read(r->db, r->arena, &change);

	(void)arg;
	return err || !change || strcmp(change, r->name) != 0 ? err : key_change_end(r->db);
}

static int forget_change(struct rekeying *r, void *arg)
{
	(void)arg;
	return key_change_end(r->db);
}

/* The new key before all others that the file holds; those may still be needed until the end. */
static int add_key(struct rekeying *r, const struct vault_keys *held, const uint8_t new[])
{
	int at;

	vault_name(new, r->name);
	at = vault_find(held, r->name);
	if (at < 0 && held->count == VAULT_KEYS)
		return problem_set(r->problem, r->arena, ERR_CONFLICT,
			"the master key %s holds %d keys already, and no more have room", r->path,
			VAULT_KEYS);
	memcpy(r->keys.key[0], new, VAULT_KEY_LEN);
	r->keys.count = 1;
	for (size_t i = 0; i < held->count; i++)
		if ((int)i != at)
			memcpy(r->keys.key[r->keys.count++], held->key[i], VAULT_KEY_LEN);
	return 0;
}

/* Which key is coming: the one that was announced, in the file or kept beside it; or a new one. */
static int choose_key(struct rekeying *r, const struct vault_keys *held, bool anew)
{
	uint8_t new[VAULT_KEY_LEN];
	const char *change;
	int at, err = key_change_read(r->db, r->arena, &change);

	if (!err && change && anew && vault_find(held, change) < 0)
		err = transact_rekey(r, forget_change, NULL), change = NULL;
	if (err)
		return err;
	at = change ? vault_find(held, change) : -1;
	if (at >= 0) {
		memcpy(new, held->key[at], VAULT_KEY_LEN);
	} else {
		err = master_key_next(r->path, !change, new, r->arena, r->problem);
		vault_name(new, r->name);
		if (change && (err == ERR_NOT_FOUND || (!err && strcmp(change, r->name) != 0)))
			return problem_set(r->problem, r->arena, ERR_CONFLICT,
				"a change to the master key %s was begun with another key file: run lodge rekey there, or put "
				"that file in the place of %s; if it is lost, lodge rekey --anew begins again",
				change, r->path);
	}
	if (!err)
		err = add_key(r, held, new);
	wipe(new, sizeof new);
	return err;
}

/* The former key first, until the new one is in force: programs that do not ask the mark take the first. */
static int write_both(struct rekeying *r, bool in_force)
{
	struct vault_keys file = r->keys;
	int err;

	if (!in_force && file.count > 1) {
		memcpy(file.key[0], r->keys.key[1], VAULT_KEY_LEN);
		memcpy(file.key[1], r->keys.key[0], VAULT_KEY_LEN);
	}
	err = vault_write(&file, r->path, true, r->arena, r->problem);
	wipe(&file, sizeof file);
	return err;
}

static int run_rekey(struct rekeying *r, bool anew)
{
	struct vault_keys held;
	int err = master_key_load(&held, r->path, r->db, r->arena, r->problem);

	if (!err)
		err = choose_key(r, &held, anew);
	wipe(&held, sizeof held);
	if (!err)
		err = transact_rekey(r, announce_new_key, NULL);
	if (!err)
		err = write_both(r, false);
	if (!err)
		err = wait_for_all(r, KNOWS);
	if (!err)
		err = transact_rekey(r, put_in_force, NULL);
	if (!err)
		err = write_both(r, true);
	if (!err)
		err = wait_for_all(r, SEALS);
	if (!err)
		err = wait_for_transactions(r);
	if (err)
		return err;
	r->vault = vault_new(&r->keys, NULL);
	err = reseal_all(r);
	vault_free(r->vault);
	r->keys.count = 1;
	if (!err)
		err = vault_write(&r->keys, r->path, true, r->arena, r->problem);
	if (!err)
		master_key_next_done(r->path, r->arena);
	return err ? err : transact_rekey(r, conclude_rekey, NULL);
}

int command_rekey(const struct settings *s, struct arena *a)
{
	struct store *store = NULL;
	struct problem p = { 0 };
	struct rekeying r = { .path = s->master_key_file, .arena = a, .problem = &p };
	int lock = -1, err = open_current(&store, s, STORE_BESIDE, a, &p);

	if (!err)
		err = store_connect(store, &r.db, a, &p);
	if (!err)
		err = master_key_lock(s->master_key_file, a, &p, &lock);
	if (!err)
		err = run_rekey(&r, s->argument_count > 0);
	if (err)
		problem_set(&p, a, err, "the store: %s", r.db ? db_error(r.db) : "");
	wipe(&r.keys, sizeof r.keys);
	arena_free(&r.turn);
	db_close(r.db);
	store_close(store);
	if (lock >= 0)
		close(lock);
	if (err)
		return complain(&p);
	printf("The master key is new; %lld secrets were sealed anew.\n"
	       "Copies of the store that were made before open only with the former key.\n",
		(long long)r.done);
	if (r.lost)
		printf("%lld could not be opened with any known key and stay as they are: lodge check names them.\n",
			(long long)r.lost);
	return 0;
}
