/* vault.c - see vault.h. */
#include "access/vault.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/folder.h"
#include "base/log.h"

enum { LINE = 2 * VAULT_KEY_LEN + 1, FILE_MAX = VAULT_KEYS * LINE };

struct vault {
	pthread_rwlock_t lock;
	struct vault_keys keys;
	char names[VAULT_KEYS][VAULT_NAME_LEN + 1]; /* of the keys */
	size_t seals;				    /* which of them */
	const char *path;
	struct stat seen;	     /* the file as it was when it was read */
	int64_t blind_ms;	     /* since when the file cannot be read; 0: it can */
	char blind[VAULT_FAULT_LEN]; /* why */
	bool strange;		     /* no key opens the store's mark */
	int64_t until_ms;	     /* how long the mark that was followed counts */
};

enum { BLIND_MS = 2000 /* a file that is being copied is whole again by then */ };

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

/* Whoever reads the old one must be able to read the new one, and nobody else. */
static int like_the_old(int fd, const char *path, struct arena *a, struct problem *p)
{
	struct stat old, new;

	if (stat(path, &old) || fstat(fd, &new))
		return ERR_STORE;
	if ((old.st_uid != new.st_uid || old.st_gid != new.st_gid) &&
		fchown(fd, old.st_uid, old.st_gid))
		return problem_set(p, a, ERR_STORE,
			"the master key %s belongs to user %d and group %d, and a new one cannot be given to them (%s): "
			"run this as them, or as root",
			path, (int)old.st_uid, (int)old.st_gid, strerror(errno));
	return fchmod(fd, old.st_mode & 0777) ? ERR_STORE : 0;
}

static int write_keys(const struct vault_keys *keys, int fd)
{
	char text[FILE_MAX + 1];
	size_t len = 0;
	bool whole;

	INVARIANT(keys->count > 0 && keys->count <= VAULT_KEYS);
	for (size_t i = 0; i < keys->count; i++, len += LINE) {
		hex_write(keys->key[i], VAULT_KEY_LEN, text + len);
		text[len + LINE - 1] = '\n';
	}
	whole = write(fd, text, len) == (ssize_t)len && !fsync(fd);
	wipe(text, sizeof text);
	return whole ? 0 : ERR_STORE;
}

/* A name that leads elsewhere goes on leading there.  What replaces has one name at any time, so that a process that is
 * killed leaves at most one such file. */
int vault_write(const struct vault_keys *keys, const char *path, bool replace, struct arena *a,
	struct problem *p)
{
	char real[PATH_MAX];
	const char *where = replace && realpath(path, real) ? real : path;
	const char *whole = replace ? arena_printf(a, "%s.new", where)
				    : arena_printf(a, "%s.%d", where, (int)getpid());
	int fd, err;

	unlink(whole);
	fd = open(whole, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	err = fd < 0 ? ERR_STORE : 0;
	if (!err && replace)
		err = like_the_old(fd, where, a, p);
	if (!err)
		err = write_keys(keys, fd);
	if (!err && (replace ? rename(whole, where) : link(whole, where)))
		err = errno == EEXIST ? ERR_RETRY : ERR_STORE;
	if (!err && folder_sync(where))
		err = ERR_STORE;
	if (err == ERR_STORE)
		problem_set(p, a, err, "cannot write the master key %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	unlink(whole);
	return err;
}

void vault_name(const uint8_t key[VAULT_KEY_LEN], char out[VAULT_NAME_LEN + 1])
{
	uint8_t digest[SHA256_LEN];

	hmac_sha256(key, VAULT_KEY_LEN, "name", 4, digest);
	hex_write(digest, VAULT_NAME_LEN / 2, out);
}

int vault_find(const struct vault_keys *keys, const char *name)
{
	char own[VAULT_NAME_LEN + 1];

	for (size_t i = 0; i < keys->count; i++) {
		vault_name(keys->key[i], own);
		if (strcmp(own, name) == 0)
			return (int)i;
	}
	return -1;
}

static const char mark_context[] = "lodge master key", mark_bytes[] = "lodge";

const char *vault_mark(struct arena *a, const uint8_t key[VAULT_KEY_LEN])
{
	uint8_t sealed[sizeof mark_bytes + SEAL_EXTRA];
	char *text = arena_alloc(a, 2 * sizeof sealed + 1);

	seal(key, mark_context, mark_bytes, sizeof mark_bytes, sealed);
	hex_write(sealed, sizeof sealed, text);
	return text;
}

int vault_marked(const struct vault_keys *keys, const char *mark)
{
	uint8_t sealed[sizeof mark_bytes + SEAL_EXTRA], plain[sizeof mark_bytes];

	if (!hex_read(mark, strlen(mark), sealed, sizeof sealed))
		return -1;
	for (size_t i = 0; i < keys->count; i++)
		if (unseal(keys->key[i], mark_context, sealed, sizeof sealed, plain))
			return (int)i;
	return -1;
}

/* The key that seals goes on sealing, wherever it now stands; one that is gone from the file stays until the mark
 * says another. */
static void take_keys(struct vault *v, const struct vault_keys *keys)
{
	struct vault_keys taken = *keys;
	int seals = v->keys.count ? vault_find(keys, v->names[v->seals]) : 0;

	if (seals < 0 && taken.count < VAULT_KEYS) {
		seals = (int)taken.count;
		memcpy(taken.key[taken.count++], v->keys.key[v->seals], VAULT_KEY_LEN);
	}
	v->keys = taken;
	v->seals = seals < 0 ? 0 : (size_t)seals;
	v->strange |= seals < 0;
	/* A store that was never served has no key. */
	INVARIANT(v->keys.count <= VAULT_KEYS && (v->seals < v->keys.count || !v->keys.count));
	for (size_t i = 0; i < taken.count; i++)
		vault_name(taken.key[i], v->names[i]);
	wipe(&taken, sizeof taken);
}

struct vault *vault_new(const struct vault_keys *keys, const char *path)
{
	struct vault *v = calloc(1, sizeof *v);

	if (!v)
		abort();
	pthread_rwlock_init(&v->lock, NULL);
	take_keys(v, keys);
	v->path = path;
	v->until_ms = INT64_MAX;
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

static bool same_file(const struct stat *one, const struct stat *other)
{
	return one->st_ino == other->st_ino && one->st_dev == other->st_dev &&
	       one->st_mtim.tv_sec == other->st_mtim.tv_sec &&
	       one->st_mtim.tv_nsec == other->st_mtim.tv_nsec &&
	       one->st_ctim.tv_sec == other->st_ctim.tv_sec &&
	       one->st_ctim.tv_nsec == other->st_ctim.tv_nsec;
}

/* Notes since when and why the file cannot be read, and says so once it is more than a moment. */
static void be_blind(struct vault *v, const char *why, const char *detail)
{
	int64_t now = clock_mono_ms();

	if (v->blind_ms && now - v->blind_ms >= BLIND_MS && !*v->blind)
		log_error("the master key file cannot be read: nothing is sealed until it can",
			LOG_S("file", v->path), LOG_S("error", detail));
	if (!v->blind_ms)
		v->blind_ms = now;
	else if (now - v->blind_ms >= BLIND_MS)
		snprintf(v->blind, sizeof v->blind, "the master key file cannot be read: %s", why);
}

static void see_again(struct vault *v)
{
	if (*v->blind)
		log_info("the master key file can be read again", LOG_S("file", v->path));
	v->blind_ms = 0;
	*v->blind = '\0';
}

static void reload_key_file(struct vault *v, struct arena *a)
{
	struct vault_keys keys = { 0 };
	struct problem p = { 0 };
	struct stat st;

	errno = 0;
	if (stat(v->path, &st)) {
		be_blind(v, strerror(errno), strerror(errno));
	} else if (same_file(&st, &v->seen)) {
		see_again(v);
	} else if (vault_read(&keys, v->path, a, &p)) {
		be_blind(v, errno ? strerror(errno) : "it is not a key, or others can read it",
			p.detail ? p.detail : "it is not there");
	} else {
		see_again(v);
		take_keys(v, &keys);
		v->seen = st;
	}
	wipe(&keys, sizeof keys);
}

void vault_refresh(struct vault *v)
{
	struct arena scratch = { 0 };

	if (!v->path)
		return;
	pthread_rwlock_wrlock(&v->lock);
	reload_key_file(v, &scratch);
	pthread_rwlock_unlock(&v->lock);
	arena_free(&scratch);
}

void vault_lease(struct vault *v, int64_t until_ms)
{
	pthread_rwlock_wrlock(&v->lock);
	v->until_ms = until_ms;
	pthread_rwlock_unlock(&v->lock);
}

bool vault_follow(struct vault *v, const char *mark)
{
	bool told;
	int seals;

	pthread_rwlock_wrlock(&v->lock);
	seals = vault_marked(&v->keys, mark);
	told = v->strange;
	v->strange = seals < 0;
	if (seals >= 0)
		v->seals = (size_t)seals;
	INVARIANT(v->seals < v->keys.count);
	pthread_rwlock_unlock(&v->lock);
	if (seals < 0 && !told)
		log_error(
			"the store has a new master key, and the key file here does not hold it: nothing is "
			"sealed until it does",
			LOG_S("file", v->path ? v->path : ""));
	return seals >= 0;
}

/* Under the lock. */
static const char *fault_of(const struct vault *v)
{
	if (v->strange)
		return "the store has a new master key, and the key file here does not hold it";
	if (*v->blind)
		return v->blind;
	if (v->until_ms < clock_mono_ms())
		return "it could not be said in the store which master key is used here";
	return NULL;
}

bool vault_fault(struct vault *v, char out[VAULT_FAULT_LEN])
{
	const char *fault;

	pthread_rwlock_rdlock(&v->lock);
	fault = fault_of(v);
	snprintf(out, VAULT_FAULT_LEN, "%s", fault ? fault : "");
	pthread_rwlock_unlock(&v->lock);
	return *out;
}

void vault_names(struct vault *v, char out[VAULT_NAMES_LEN + 1])
{
	size_t len = 0;

	*out = '\0';
	pthread_rwlock_rdlock(&v->lock);
	for (size_t i = 0; i < v->keys.count; i++)
		len += (size_t)snprintf(out + len, VAULT_NAMES_LEN + 1 - len, "%s ", v->names[i]);
	pthread_rwlock_unlock(&v->lock);
}

void vault_sealing(struct vault *v, char out[VAULT_NAME_LEN + 1])
{
	pthread_rwlock_rdlock(&v->lock);
	memcpy(out, v->names[v->seals], VAULT_NAME_LEN + 1);
	pthread_rwlock_unlock(&v->lock);
}

const char *vault_seal(struct vault *v, struct arena *a, enum sealed_place place,
	const char *context, const void *bytes, size_t n)
{
	size_t room = sodium_base64_encoded_len(n + SEAL_EXTRA, sodium_base64_VARIANT_ORIGINAL);
	char *text = arena_raw(a, VAULT_NAME_LEN + 1 + room, 1);
	uint8_t *sealed = arena_raw(a, n + SEAL_EXTRA, 1);
	bool whole;

	INVARIANT(context && *context); /* what is sealed is bound to where it stands */
	(void)place;			/* who names one has it in the list that is walked */
	pthread_rwlock_rdlock(&v->lock);
	whole = !fault_of(v);
	if (whole) {
		memcpy(text, v->names[v->seals], VAULT_NAME_LEN);
		seal(v->keys.key[v->seals], context, bytes, n, sealed);
	}
	pthread_rwlock_unlock(&v->lock);
	if (!whole)
		return NULL;
	text[VAULT_NAME_LEN] = '.';
	sodium_bin2base64(text + VAULT_NAME_LEN + 1, room, sealed, n + SEAL_EXTRA,
		sodium_base64_VARIANT_ORIGINAL);
	return text;
}

/* The key of that name, copied out; false if it is not known. */
static bool find_vault_key(struct vault *v, const char *name, uint8_t out[VAULT_KEY_LEN])
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
	if (!find_vault_key(v, text, key)) {
		vault_refresh(v);
		if (!find_vault_key(v, text, key))
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
