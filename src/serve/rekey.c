/* rekey.c - `lodge rekey`: a new master key, while the service runs.
 *
 * The key file first gets the new key in front of the old one; running
 * processes take the file in within a second.  Then every sealed text is
 * sealed anew, some at a time and each only if it is still what was read, until
 * none is left under an old key; then the old key is dropped.  Interrupted
 * anywhere, it is simply run again, and goes on with the key it had begun with;
 * only one runs at a time. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "api/bootstrap.h"
#include "base/crypto.h"
#include "serve/manual.h"
#include "serve/master_key.h"
#include "serve/open.h"

enum { AT_A_TIME = 200, PASSES = 30, PAUSE_S = 1 };

struct sealed_row {
	const char *id, *text;
};

FIELDS(sealed_row) = {
	FIELD(sealed_row, id),
	FIELD(sealed_row, text),
};
static SCHEMA(sealed_row, .internal = true);

/* Every place where sealed texts lie.  The id of a row is the context of its seal. */
static const struct place_of_seals {
	const char *what;
	struct statement find, put;
} places[] = {
#define SEALS(table, id, column)                                                                 \
	{                                                                                        \
		table,                                                                           \
			{ "rekey_find_" table,                                                   \
				"select " id " as id, " column " as text from " table            \
				" where " column " not like $1 "                                 \
				"and " column " <> '' and " id " > $2 order by " id " limit $3", \
				.row = &sealed_row_schema, .scan = "every sealed text, once" },  \
		{                                                                                \
			"rekey_put_" table,                                                      \
				"update " table " set " column " = $3 where " id                 \
				" = $1 and " column " = $2",                                     \
				.scan = "a key"                                                  \
		}                                                                                \
	}
	SEALS("idempotency", "hash", "reply"),
	SEALS("oidc_flows", "hash", "sealed"),
	SEALS("provider_keys", "id", "sealed"),
	SEALS("models", "id", "secrets"),
	SEALS("agent_skills", "id", "config_sealed"),
	SEALS("tools", "id", "sealed"),
	SEALS("agent_tools", "id", "configuration"),
	SEALS("scanners", "id", "token"),
	SEALS("integrations", "id", "sealed"),
};

struct rekeying {
	struct db *db;
	struct vault *vault;
	const char *pattern; /* of texts under the new key */
	struct arena *arena;
	struct problem *problem;
	int64_t done, lost;
};

/* One batch in one transaction; *ret_last is the last row seen, NULL when there is none. */
static int reseal_some(struct rekeying *r, const struct place_of_seals *p, const char **ret_last)
{
	struct list rows;
	int err = db_begin(r->db, READ_WRITE);

	if (!err)
		err = db_all(r->db, r->arena, &p->find, &rows, AT_A_TIME,
			ARGS(T(r->pattern), T(*ret_last), N(AT_A_TIME)));
	*ret_last = NULL;
	for (size_t i = 0; !err && i < rows.count; i++) {
		const struct sealed_row *row = (const struct sealed_row *)rows.at + i;
		size_t n;
		void *plain = vault_open(r->vault, r->arena, row->id, row->text, &n);

		*ret_last = row->id;
		if (!plain) { /* under a key that is gone: nobody can open it any more */
			r->lost++;
			continue;
		}
		err = db_run(r->db, &p->put, NULL,
			ARGS(T(row->id), T(row->text),
				T(vault_seal(r->vault, r->arena, row->id, plain, n))));
		r->done++;
	}
	if (err)
		db_rollback(r->db);
	else
		err = db_commit(r->db);
	return err;
}

/* Over all places once. */
static int pass(struct rekeying *r)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof places / sizeof *places; i++) {
		const char *last = "";

		while (!err && last) {
			const char *from = last;

			err = reseal_some(r, &places[i], &last);
			if (err == ERR_RETRY) {
				err = 0;
				last = from;
			}
		}
	}
	return err;
}

/* Until a pass behind a pause finds nothing, and at least a few times: a process may have sealed with
 * the old key until it took the new one in. */
static int reseal_all(struct rekeying *r)
{
	enum { AT_LEAST_PASSES = 3 };
	int64_t before = -1;
	int err = 0;

	for (int i = 0; !err && (i < AT_LEAST_PASSES || r->done != before) && i < PASSES; i++) {
		sleep(PAUSE_S);
		before = r->done;
		r->lost = 0;
		err = pass(r);
	}
	return err;
}

/* The store's own two: the mark by which the key is known, and the key of the audit chain. */
static int reseal_own(struct rekeying *r, const uint8_t key[VAULT_KEY_LEN])
{
	int err = db_begin(r->db, READ_WRITE);

	if (!err)
		err = audit_key_reseal(r->db, r->arena, r->vault);
	if (!err)
		err = master_key_remark(r->db, r->arena, key);
	if (err)
		db_rollback(r->db);
	else
		err = db_commit(r->db);
	return err;
}

/* A new key in front of the one that was there.  A file that holds several was left by a run that did
 * not end: its first key is the new one already.  Yet another would, after a few such runs, push out
 * the oldest, under which everything may still be sealed. */
static struct vault_keys with_new_key(const struct vault_keys *old)
{
	struct vault_keys keys = { .count = 2 };

	if (old->count > 1)
		return *old;
	random_bytes(keys.key[0], VAULT_KEY_LEN);
	memcpy(keys.key[1], old->key[0], VAULT_KEY_LEN);
	return keys;
}

/* Two at a time would each drop the key of the other, and with it all that the other has sealed.  The
 * lock lies on the folder, because the file itself is replaced; the system drops it with the process. */
static int lock_folder(const char *path, struct arena *a, struct problem *p, int *ret_fd)
{
	const char *slash = strrchr(path, '/');
	const char *folder = slash ? arena_printf(a, "%.*s", (int)(slash - path) + 1, path) : ".";

	*ret_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd < 0)
		return problem_set(
			p, a, ERR_STORE, "cannot open the folder %s: %s", folder, strerror(errno));
	if (flock(*ret_fd, LOCK_EX | LOCK_NB))
		return problem_set(p, a, ERR_STORE,
			"another lodge rekey is changing the master key %s; wait for its end",
			path);
	return 0;
}

static int run(const struct settings *s, struct rekeying *r)
{
	struct vault_keys old, keys;
	char name[VAULT_NAME_LEN + 1];
	int err = master_key_load(&old, s->master_key_file, r->db, r->arena, r->problem);

	if (err)
		return err;
	keys = with_new_key(&old);
	wipe(&old, sizeof old);
	vault_name(keys.key[0], name);
	r->pattern = arena_printf(r->arena, "%s.%%", name);
	r->vault = vault_new(&keys, NULL);
	err = vault_write(&keys, s->master_key_file, true, r->arena, r->problem);
	if (!err)
		err = reseal_all(r);
	if (!err)
		err = reseal_own(r, keys.key[0]);
	keys.count = 1;
	if (!err)
		err = vault_write(&keys, s->master_key_file, true, r->arena, r->problem);
	vault_free(r->vault);
	wipe(&keys, sizeof keys);
	return err;
}

int command_rekey(const struct settings *s, struct arena *a)
{
	struct store *store = NULL;
	struct problem p = { 0 };
	struct rekeying r = { .arena = a, .problem = &p };
	int lock = -1, err = open_current(&store, s, STORE_BESIDE, a, &p);

	if (!err)
		err = store_connect(store, &r.db, a, &p);
	if (!err)
		err = lock_folder(s->master_key_file, a, &p, &lock);
	if (!err)
		err = run(s, &r);
	if (err)
		problem_set(&p, a, err, "the store: %s", r.db ? db_error(r.db) : "");
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
		printf("%lld could not be opened with any known key and stay as they are.\n",
			(long long)r.lost);
	return 0;
}
