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

static int create_file(uint8_t key[32], const char *path, struct arena *a, struct problem *p)
{
	char text[KEY_DIGITS + 2];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool ok;

	if (fd < 0)
		return problem_set(p, a, ERR_STORE, "cannot make the master key %s: %s", path,
			strerror(errno));
	random_bytes(key, 32);
	hex_write(key, 32, text);
	text[KEY_DIGITS] = '\n';
	ok = write(fd, text, KEY_DIGITS + 1) == KEY_DIGITS + 1 && fsync(fd) == 0;
	close(fd);
	wipe(text, sizeof text);
	return ok ? 0
		  : problem_set(p, a, ERR_STORE, "cannot write the master key %s: %s", path,
			    strerror(errno));
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

int master_key_load(
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
		return problem_set(p, a, ERR_STORE,
			"the master key %s is missing, and the store is sealed with it: put it back",
			path);
	if (marked && !right)
		return problem_set(p, a, ERR_STORE,
			"the master key %s is not the one this store was made with", path);
	if (marked)
		return 0;
	if (err == ERR_NOT_FOUND)
		err = create_file(key, path, a, p);
	if (!err)
		err = master_key_mark(db, a, key);
	if (err == ERR_DUPLICATE) /* another process was first: its key must be ours */
		return problem_set(
			p, a, err, "another process marked the store with its own master key");
	return err;
}
