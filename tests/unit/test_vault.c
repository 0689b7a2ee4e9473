/* test_vault.c - secrets at rest: sealed, opened, and carried over from one master key to the next. */
#include "t.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/vault.h"
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
	char *text = arena_strdup(&a, vault_seal(v, &a, "here", "hello", 5));

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

TEST(vault_takes_a_new_key_in_and_still_opens_what_the_old_one_sealed)
{
	struct vault_keys old = some_keys(1), both = some_keys(2), got;
	struct arena a = { 0 };
	struct problem p = { 0 };
	char folder[] = "/tmp/lodge-vault.XXXXXX";
	const char *path, *first, *second;
	struct vault *v, *w;

	CHECK(mkdtemp(folder) != NULL);
	path = arena_printf(&a, "%s/key", folder);
	CHECK_INT(vault_read(&got, path, &a, &p), ERR_NOT_FOUND);
	CHECK_INT(vault_write(&old, path, false, &a, &p), 0);
	CHECK_INT(vault_write(&old, path, false, &a, &p), ERR_RETRY);
	v = vault_new(&old, path);
	first = vault_seal(v, &a, "x", "hello", 5);
	memcpy(both.key[1], old.key[0], VAULT_KEY_LEN);
	CHECK_INT(vault_write(&both, path, true, &a, &p), 0);
	w = vault_new(&both, path);
	second = vault_seal(w, &a, "x", "hello", 5);
	CHECK(opens(w, &a, "x", first));
	CHECK(opens(v, &a, "x", second)); /* it meets a name it does not know, and looks again */
	CHECK(strncmp(vault_seal(v, &a, "x", "hello", 5), second, VAULT_NAME_LEN) == 0);
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
