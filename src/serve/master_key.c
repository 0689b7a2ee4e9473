/* master_key.c - see master_key.h. */
#include "serve/master_key.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "access/holders.h"
#include "base/crypto.h"

/* The key that opens the mark comes first; false if none does. */
static bool put_first(struct vault_keys *keys, const char *mark)
{
	int at = vault_marked(keys, mark);
	uint8_t first[VAULT_KEY_LEN];

	if (at < 0)
		return false;
	memcpy(first, keys->key[at], VAULT_KEY_LEN);
	memcpy(keys->key[at], keys->key[0], VAULT_KEY_LEN);
	memcpy(keys->key[0], first, VAULT_KEY_LEN);
	wipe(first, sizeof first);
	return true;
}

static int create_master_key(
	struct vault_keys *keys, const char *path, struct arena *a, struct problem *p)
{
	keys->count = 1;
	random_bytes(keys->key[0], VAULT_KEY_LEN);
	return vault_write(keys, path, false, a, p);
}

/* One try; ERR_RETRY if another process was making the same things at the same moment, ERR_NOT_FOUND
 * if the store has a key and the file is not there. */
static int load_once(struct vault_keys *keys, const char *path, struct db *db, struct arena *a,
	struct problem *p)
{
	const char *mark;
	int err, store_err;

	*keys = (struct vault_keys){ 0 };
	err = vault_read(keys, path, a, p);
	if (err && err != ERR_NOT_FOUND)
		return err;
	store_err = key_mark_read(db, a, &mark);
	if (store_err)
		return problem_set(p, a, store_err, "the store cannot be read: %s", db_error(db));
	if (mark && err == ERR_NOT_FOUND)
		return ERR_NOT_FOUND;
	if (mark && !put_first(keys, mark))
		return problem_set(p, a, ERR_STORE,
			"the master key %s is not the one this store was made with", path);
	if (mark)
		return 0;
	if (err == ERR_NOT_FOUND)
		err = create_master_key(keys, path, a, p);
	if (!err)
		err = key_mark_make(db, a, keys->key[0]);
	return err == ERR_DUPLICATE ? ERR_RETRY : err;
}

int master_key_load(struct vault_keys *keys, const char *path, struct db *db, struct arena *a,
	struct problem *p)
{
	enum { TRIES = 50, LOOKS = 3, PAUSE_US = 20000 };
	int err = load_once(keys, path, db, a, p);

	/* A key that another process was just making is there at the second look. */
	for (int tries = 1;
		(err == ERR_RETRY && tries < TRIES) || (err == ERR_NOT_FOUND && tries < LOOKS);
		tries++) {
		usleep(PAUSE_US);
		err = load_once(keys, path, db, a, p);
	}
	if (err == ERR_NOT_FOUND)
		return problem_set(p, a, ERR_STORE,
			"the master key %s is missing, and the store is sealed with it: put it back (if it is lost for good, "
			"see lodge give-up-seals)",
			path);
	if (err == ERR_RETRY)
		return problem_set(p, a, ERR_STORE,
			"the master key %s is being made by another process", path);
	return err;
}

int master_key_lock(const char *path, struct arena *a, struct problem *p, int *ret_fd)
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

static const char *next_path(const char *path, struct arena *a)
{
	return arena_printf(a, "%s.next", path);
}

int master_key_next(
	const char *path, bool make, uint8_t ret[VAULT_KEY_LEN], struct arena *a, struct problem *p)
{
	const char *next = next_path(path, a);
	struct vault_keys keys = { 0 };
	int err = vault_read(&keys, next, a, p);

	if (err == ERR_NOT_FOUND && make)
		err = create_master_key(&keys, next, a, p);
	memcpy(ret, keys.key[0], VAULT_KEY_LEN);
	wipe(&keys, sizeof keys);
	return err;
}

void master_key_next_done(const char *path, struct arena *a)
{
	unlink(next_path(path, a));
}

int master_key_connect(const char *path, struct store *store, struct db **ret_db,
	struct vault_keys *keys, struct arena *a, struct problem *p)
{
	const char *mark;
	int err = store_connect(store, ret_db, a, p);

	*keys = (struct vault_keys){ 0 };
	if (err)
		return err;
	err = key_mark_read(*ret_db, a, &mark);
	if (!err && mark)
		err = master_key_load(keys, path, *ret_db, a, p);
	if (err) {
		problem_set(p, a, err, "the store cannot be read: %s", db_error(*ret_db));
		db_close(*ret_db);
	}
	return err;
}
