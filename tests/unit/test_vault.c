/* test_vault.c - secrets at rest: sealed, opened, and carried over from one master key to the next. */
#include "t.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/vault.h"
#include "base/clock.h"
#include "base/crypto.h"

static struct vault_keys some_keys(size_t count)
{
	struct vault_keys keys = { .count = count };

	random_bytes(keys.key, sizeof keys.key);
	return keys;
}

static bool opens(struct vault *v, struct arena *a, const char *context, const char *text)
{
	size_t n = 0;
	const char *plain = vault_open(v, a, context, text, &n);

	return plain && n == 5 && memcmp(plain, "hello", 5) == 0;
}

TEST(vault_opens_only_what_it_sealed_and_only_in_its_place)
{
	struct vault_keys keys = some_keys(1), other = some_keys(1);
	struct vault *v = vault_new(&keys, NULL), *w = vault_new(&other, NULL);
	struct arena a = { 0 };
	char *text = arena_strdup(&a, vault_seal(v, &a, SEALED_TOOL, "here", "hello", 5));

	CHECK(opens(v, &a, "here", text));
	CHECK(!opens(v, &a, "there", text));
	CHECK(!opens(w, &a, "here", text));
	CHECK(!opens(v, &a, "here", ""));
	CHECK(!opens(v, &a, "here", "12345678."));
	for (size_t i = 0; text[i]; i++) {
		char kept = text[i];

		text[i] = kept == 'A' ? 'B' : 'A';
		CHECK(!opens(v, &a, "here", text));
		text[i] = kept;
	}
	vault_free(v);
	vault_free(w);
	arena_free(&a);
}

TEST(vault_takes_a_new_key_in_and_seals_with_the_one_that_opens_the_mark)
{
	struct vault_keys old = some_keys(1), both = some_keys(2), got;
	struct arena a = { 0 };
	struct problem p = { 0 };
	char folder[] = "/tmp/lodge-vault.XXXXXX", name[VAULT_NAME_LEN + 1],
	     names[VAULT_NAMES_LEN + 1];
	const char *path, *first, *second;
	struct vault *v, *w;

	CHECK(mkdtemp(folder) != NULL);
	path = arena_printf(&a, "%s/key", folder);
	CHECK_INT(vault_read(&got, path, &a, &p), ERR_NOT_FOUND);
	CHECK_INT(vault_write(&old, path, false, &a, &p), 0);
	CHECK_INT(vault_write(&old, path, false, &a, &p), ERR_RETRY);
	v = vault_new(&old, path);
	first = vault_seal(v, &a, SEALED_TOOL, "x", "hello", 5);
	memcpy(both.key[1], old.key[0], VAULT_KEY_LEN);
	CHECK_INT(vault_write(&both, path, true, &a, &p), 0);
	w = vault_new(&both, path);
	second = vault_seal(w, &a, SEALED_TOOL, "x", "hello", 5);
	CHECK(opens(w, &a, "x", first));
	CHECK(opens(v, &a, "x", second)); /* it meets a name it does not know, and looks again */
	vault_name(both.key[0], name);
	vault_names(v, names);
	CHECK(strstr(names, name));
	/* it knows the new key, and seals with it once the mark says so */
	CHECK(strncmp(vault_seal(v, &a, SEALED_TOOL, "x", "hello", 5), first, VAULT_NAME_LEN) == 0);
	CHECK(vault_follow(v, vault_mark(&a, both.key[0])));
	CHECK(strncmp(vault_seal(v, &a, SEALED_TOOL, "x", "hello", 5), second, VAULT_NAME_LEN) ==
		0);
	CHECK_INT(vault_read(&got, path, &a, &p), 0);
	CHECK_INT(got.count, 2);

	test_step("a file that is not for its owner alone, or not a key");
	chmod(path, 0640);
	CHECK_INT(vault_read(&got, path, &a, &p), ERR_STORE);
	chmod(path, 0600);
	CHECK_INT(truncate(path, 40), 0);
	p = (struct problem){ 0 };
	CHECK_INT(vault_read(&got, path, &a, &p), ERR_STORE);
	CHECK(strstr(p.detail, "64 hexadecimal digits"));
	unlink(path);
	rmdir(folder);
	vault_free(v);
	vault_free(w);
	arena_free(&a);
}

/* Whoever cannot follow seals nothing: what it would seal could be lost. */
TEST(vault_that_cannot_follow_says_so_and_seals_nothing)
{
	struct vault_keys keys = some_keys(1), other = some_keys(1);
	struct arena a = { 0 };
	struct problem p = { 0 };
	char folder[] = "/tmp/lodge-vault.XXXXXX", fault[VAULT_FAULT_LEN];
	const char *path;
	struct vault *v;

	CHECK(mkdtemp(folder) != NULL);
	path = arena_printf(&a, "%s/key", folder);
	CHECK_INT(vault_write(&keys, path, false, &a, &p), 0);
	v = vault_new(&keys, path);
	CHECK(!vault_fault(v, fault));
	test_step("a mark of a key that is not here");
	CHECK(!vault_follow(v, vault_mark(&a, other.key[0])));
	CHECK(vault_fault(v, fault) && strstr(fault, "does not hold it"));
	CHECK(!vault_seal(v, &a, SEALED_TOOL, "x", "hello", 5));
	CHECK(vault_follow(v, vault_mark(&a, keys.key[0])));
	CHECK(!vault_fault(v, fault));
	test_step("what was followed does not count for ever");
	vault_lease(v, clock_mono_ms() - 1);
	CHECK(vault_fault(v, fault));
	CHECK(!vault_seal(v, &a, SEALED_TOOL, "x", "hello", 5));
	vault_lease(v, INT64_MAX);
	CHECK(vault_seal(v, &a, SEALED_TOOL, "x", "hello", 5));
	test_step("a file that cannot be read, for more than a moment");
	CHECK_INT(truncate(path, 3), 0);
	for (int i = 0; i < 2000 && !vault_fault(v, fault); i++) {
		vault_refresh(v);
		usleep(10000);
	}
	CHECK(vault_fault(v, fault) && strstr(fault, "cannot be read"));
	CHECK(!strstr(fault, folder));
	CHECK(!vault_seal(v, &a, SEALED_TOOL, "x", "hello", 5));
	CHECK_INT(vault_write(&keys, path, true, &a, &p), 0);
	vault_refresh(v);
	CHECK(!vault_fault(v, fault));
	unlink(path);
	rmdir(folder);
	vault_free(v);
	arena_free(&a);
}

TEST(vault_replaces_a_key_file_with_its_owner_its_mode_and_through_a_link)
{
	enum { SOMEBODY = 12345 };
	struct vault_keys keys = some_keys(1), new = some_keys(1), got;
	struct arena a = { 0 };
	struct problem p = { 0 };
	char folder[] = "/tmp/lodge-vault.XXXXXX";
	const char *path, *link_path;
	struct stat st;

	CHECK(mkdtemp(folder) != NULL);
	path = arena_printf(&a, "%s/key", folder);
	link_path = arena_printf(&a, "%s/link", folder);
	CHECK_INT(vault_write(&keys, path, false, &a, &p), 0);
	CHECK_INT(symlink(path, link_path), 0);
	chmod(path, 0400);
	if (geteuid() == 0)
		CHECK_INT(chown(path, SOMEBODY, SOMEBODY), 0);
	CHECK_INT(vault_write(&new, link_path, true, &a, &p), 0);
	CHECK_INT(lstat(link_path, &st), 0);
	CHECK(S_ISLNK(st.st_mode));
	CHECK_INT(lstat(path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0400);
	if (geteuid() == 0)
		CHECK(st.st_uid == SOMEBODY && st.st_gid == SOMEBODY);
	CHECK_INT(vault_read(&got, path, &a, &p), 0);
	CHECK(memcmp(got.key[0], new.key[0], VAULT_KEY_LEN) == 0);
	CHECK(access(arena_printf(&a, "%s.new", path), F_OK) != 0);
	unlink(link_path);
	unlink(path);
	rmdir(folder);
	arena_free(&a);
}
