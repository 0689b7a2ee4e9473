/* vault.c - see vault.h. */
#include "access/vault.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"

enum { LINE = 2 * VAULT_KEY_LEN + 1, FILE_MAX = VAULT_KEYS * LINE };

struct vault {
	pthread_rwlock_t lock;
	struct vault_keys keys;
	char names[VAULT_KEYS][VAULT_NAME_LEN + 1]; /* of the keys */
	const char *path;
	struct stat seen; /* the file as it was when it was read */
};

static int read_lines(struct vault_keys *ret, const char *text, size_t len)
{
	*ret = (struct vault_keys){ 0 };
	while (len && text[len - 1] == '\n')
		len--;
	for (size_t at = 0; at < len; at += LINE) {
		if (ret->count == VAULT_KEYS || len - at < LINE - 1 ||
			!hex_read(text + at, LINE - 1, ret->key[ret->count++], VAULT_KEY_LEN) ||
			(at + LINE - 1 < len && text[at + LINE - 1] != '\n'))
			return ERR_STORE;
	}
	return ret->count ? 0 : ERR_STORE;
}

int vault_read(struct vault_keys *ret, const char *path, struct arena *a, struct problem *p)
{
	char text[FILE_MAX + 1];
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
		if (got < 0 || read_lines(ret, text, (size_t)got))
			err = problem_set(p, a, ERR_STORE,
				"the master key %s is not a key: it must be 64 hexadecimal digits",
				path);
		wipe(text, sizeof text);
	}
	if (fd >= 0)
		close(fd);
	return err;
}

int vault_write(const struct vault_keys *keys, const char *path, bool replace, struct arena *a,
	struct problem *p)
{
	const char *whole = arena_printf(a, "%s.%d", path, (int)getpid());
	char text[FILE_MAX + 1];
	size_t len = 0;
	int fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), err = 0;

	for (size_t i = 0; i < keys->count; i++, len += LINE) {
		hex_write(keys->key[i], VAULT_KEY_LEN, text + len);
		text[len + LINE - 1] = '\n';
	}
	if (fd < 0 || write(fd, text, len) != (ssize_t)len || fsync(fd))
		err = ERR_STORE;
	else if (replace ? rename(whole, path) : link(whole, path))
		err = errno == EEXIST ? ERR_RETRY : ERR_STORE;
	if (err == ERR_STORE)
		problem_set(p, a, err, "cannot write the master key %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	unlink(whole);
	wipe(text, sizeof text);
	return err;
}

void vault_name(const uint8_t key[VAULT_KEY_LEN], char out[VAULT_NAME_LEN + 1])
{
	uint8_t digest[SHA256_LEN];

	hmac_sha256(key, VAULT_KEY_LEN, "name", 4, digest);
	hex_write(digest, VAULT_NAME_LEN / 2, out);
}

static void take_keys(struct vault *v, const struct vault_keys *keys)
{
	v->keys = *keys;
	for (size_t i = 0; i < keys->count; i++)
		vault_name(keys->key[i], v->names[i]);
}

struct vault *vault_new(const struct vault_keys *keys, const char *path)
{
	struct vault *v = calloc(1, sizeof *v);

	if (!v)
		abort();
	pthread_rwlock_init(&v->lock, NULL);
	take_keys(v, keys);
	v->path = path;
	if (path && stat(path, &v->seen))
		v->seen = (struct stat){ 0 };
	return v;
}

void vault_free(struct vault *v)
{
	if (!v)
		return;
	pthread_rwlock_destroy(&v->lock);
	wipe(&v->keys, sizeof v->keys);
	free(v);
}

void vault_refresh(struct vault *v)
{
	struct arena scratch = { 0 };
	struct problem ignored = { 0 };
	struct vault_keys keys = { 0 };
	struct stat st;

	if (!v->path || stat(v->path, &st))
		return;
	pthread_rwlock_wrlock(&v->lock);
	if ((st.st_ino != v->seen.st_ino || st.st_mtim.tv_sec != v->seen.st_mtim.tv_sec ||
		    st.st_mtim.tv_nsec != v->seen.st_mtim.tv_nsec) &&
		!vault_read(&keys, v->path, &scratch, &ignored)) {
		take_keys(v, &keys);
		v->seen = st;
	}
	pthread_rwlock_unlock(&v->lock);
	wipe(&keys, sizeof keys);
	arena_free(&scratch);
}

const char *vault_seal(
	struct vault *v, struct arena *a, const char *context, const void *bytes, size_t n)
{
	size_t room = sodium_base64_encoded_len(n + SEAL_EXTRA, sodium_base64_VARIANT_ORIGINAL);
	char *text = arena_raw(a, VAULT_NAME_LEN + 1 + room, 1);
	uint8_t *sealed = arena_raw(a, n + SEAL_EXTRA, 1);

	pthread_rwlock_rdlock(&v->lock);
	memcpy(text, v->names[0], VAULT_NAME_LEN);
	seal(v->keys.key[0], context, bytes, n, sealed);
	pthread_rwlock_unlock(&v->lock);
	text[VAULT_NAME_LEN] = '.';
	sodium_bin2base64(text + VAULT_NAME_LEN + 1, room, sealed, n + SEAL_EXTRA,
		sodium_base64_VARIANT_ORIGINAL);
	return text;
}

/* The key of that name, copied out; false if it is not known. */
static bool find_key(struct vault *v, const char *name, uint8_t out[VAULT_KEY_LEN])
{
	bool found = false;

	pthread_rwlock_rdlock(&v->lock);
	for (size_t i = 0; i < v->keys.count && !found; i++) {
		found = memcmp(v->names[i], name, VAULT_NAME_LEN) == 0;
		if (found)
			memcpy(out, v->keys.key[i], VAULT_KEY_LEN);
	}
	pthread_rwlock_unlock(&v->lock);
	return found;
}

void *vault_open(
	struct vault *v, struct arena *a, const char *context, const char *text, size_t *ret_n)
{
	size_t len = strlen(text), n;
	uint8_t key[VAULT_KEY_LEN], *sealed = arena_raw(a, len + 1, 1), *plain;
	bool open;

	if (len <= VAULT_NAME_LEN + 1 || text[VAULT_NAME_LEN] != '.' ||
		sodium_base642bin(sealed, len, text + VAULT_NAME_LEN + 1, len - VAULT_NAME_LEN - 1,
			NULL, &n, NULL, sodium_base64_VARIANT_ORIGINAL) ||
		n < SEAL_EXTRA)
		return NULL;
	if (!find_key(v, text, key)) {
		vault_refresh(v);
		if (!find_key(v, text, key))
			return NULL;
	}
	plain = arena_raw(a, n - SEAL_EXTRA + 1, 1);
	open = unseal(key, context, sealed, n, plain);
	wipe(key, sizeof key);
	*ret_n = n - SEAL_EXTRA;
	return open ? plain : NULL;
}

const char *vault_open_text(struct vault *v, struct arena *a, const char *context, const char *text)
{
	size_t n;
	const void *plain = vault_open(v, a, context, text, &n);

	return plain ? arena_strndup(a, plain, n) : NULL;
}
