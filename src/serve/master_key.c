/* master_key.c - see master_key.h. */
#include "serve/master_key.h"

#include <unistd.h>

#include "api/bootstrap.h"
#include "base/crypto.h"

/* Does one of the keys open the store's mark? */
static int check_keys(struct db *db, struct arena *a, const struct vault_keys *keys,
	bool *ret_right, bool *ret_marked)
{
	static const uint8_t none[VAULT_KEY_LEN];
	int err = master_key_check(db, a, keys->count ? keys->key[0] : none, ret_right, ret_marked);

	for (size_t i = 1; !err && *ret_marked && !*ret_right && i < keys->count; i++)
		err = master_key_check(db, a, keys->key[i], ret_right, ret_marked);
	return err;
}

static int create(struct vault_keys *keys, const char *path, struct arena *a, struct problem *p)
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
	bool right, marked;
	int err, store_err;

	*keys = (struct vault_keys){ 0 };
	err = vault_read(keys, path, a, p);
	if (err && err != ERR_NOT_FOUND)
		return err;
	store_err = check_keys(db, a, keys, &right, &marked);
	if (store_err)
		return problem_set(p, a, store_err, "the store cannot be read: %s", db_error(db));
	if (marked && err == ERR_NOT_FOUND)
		return ERR_NOT_FOUND;
	if (marked && !right)
		return problem_set(p, a, ERR_STORE,
			"the master key %s is not the one this store was made with", path);
	if (marked)
		return 0;
	if (err == ERR_NOT_FOUND)
		err = create(keys, path, a, p);
	if (!err)
		err = master_key_mark(db, a, keys->key[0]);
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
			"the master key %s is missing, and the store is sealed with it: put it back",
			path);
	if (err == ERR_RETRY)
		return problem_set(p, a, ERR_STORE,
			"the master key %s is being made by another process", path);
	return err;
}
