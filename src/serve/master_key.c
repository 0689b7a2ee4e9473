/* master_key.c - see master_key.h. */
#include "serve/master_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/bootstrap.h"
#include "base/crypto.h"

enum { KEY_DIGITS = 64 };

/* Appears whole or not at all, and never over another; ERR_RETRY if there is one by now. */
static int create_file(uint8_t key[32], const char *path, struct arena *a, struct problem *p)
{
	char text[KEY_DIGITS + 2], *whole = arena_printf(a, "%s.%d", path, (int)getpid());
	int fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), err = 0;

	random_bytes(key, 32);
	hex_write(key, 32, text);
	text[KEY_DIGITS] = '\n';
	if (fd < 0 || write(fd, text, KEY_DIGITS + 1) != KEY_DIGITS + 1 || fsync(fd))
		err = problem_set(p, a, ERR_STORE, "cannot make the master key %s: %s", path,
			strerror(errno));
	else if (link(whole, path))
		err = errno == EEXIST
			      ? ERR_RETRY
			      : problem_set(p, a, ERR_STORE, "cannot make the master key %s: %s",
					path, strerror(errno));
	if (fd >= 0)
		close(fd);
	unlink(whole);
	wipe(text, sizeof text);
	return err;
}

/* ERR_NOT_FOUND if there is no file. */
static int read_file(uint8_t key[32], const char *path, struct arena *a, struct problem *p)
{
	char text[KEY_DIGITS + 2];
	struct stat st;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0 && errno == ENOENT)
		return ERR_NOT_FOUND;
	if (fd < 0 || fstat(fd, &st))
		err = problem_set(p, a, ERR_STORE, "cannot read the master key %s: %s", path,
			strerror(errno));
	else if (st.st_mode & 077)
		err = problem_set(p, a, ERR_STORE,
			"the master key %s can be read by others (mode %03o): chmod 600 it", path,
			st.st_mode & 0777);
	if (!err) {
		got = read(fd, text, sizeof text);
		while (got > 0 && text[got - 1] == '\n')
			got--;
		if (got != KEY_DIGITS || !hex_read(text, KEY_DIGITS, key, 32))
			err = problem_set(p, a, ERR_STORE,
				"the master key %s is not a key: it must be 64 hexadecimal digits",
				path);
		wipe(text, sizeof text);
	}
	if (fd >= 0)
		close(fd);
	return err;
}

/* One try; ERR_RETRY if another process was making the same things at the same moment. */
static int load_once(
	uint8_t key[32], const char *path, struct db *db, struct arena *a, struct problem *p)
{
	bool right, marked;
	int err = read_file(key, path, a, p), store_err;

	if (err && err != ERR_NOT_FOUND)
		return err;
	store_err = master_key_check(db, a, key, &right, &marked);
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
		err = create_file(key, path, a, p);
	if (!err)
		err = master_key_mark(db, a, key);
	return err == ERR_DUPLICATE ? ERR_RETRY : err;
}

int master_key_load(
	uint8_t key[32], const char *path, struct db *db, struct arena *a, struct problem *p)
{
	enum { TRIES = 50, LOOKS = 3, PAUSE_US = 20000 };
	int err = load_once(key, path, db, a, p);

	/* A key that another process was just making is there at the second look. */
	for (int tries = 1;
		(err == ERR_RETRY && tries < TRIES) || (err == ERR_NOT_FOUND && tries < LOOKS);
		tries++) {
		usleep(PAUSE_US);
		err = load_once(key, path, db, a, p);
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
