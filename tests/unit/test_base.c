/* test_base.c - the ground: arenas, buffers, ids, time, folding, credentials, sealing. */
#include "t.h"

#include <pthread.h>
#include <stdlib.h>
#include <utf8proc.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/fold.h"
#include "base/id.h"

static int defer_log[3], defer_count;

static void note(void *n)
{
	defer_log[defer_count++] = *(int *)n;
}

TEST(base_arena_gives_zeroed_memory_and_runs_defers_newest_first)
{
	struct arena a = { 0 };
	int one = 1, two = 2;

	for (size_t size = 1; size < 100000; size = size * 3 + 1) {
		char *p = arena_alloc(&a, size);

		CHECK((uintptr_t)p % _Alignof(max_align_t) == 0);
		for (size_t i = 0; i < size; i++)
			CHECK(p[i] == 0);
		memset(p, 0xff, size);
	}
	defer_count = 0;
	arena_defer(&a, note, &one);
	arena_defer(&a, note, &two);
	arena_reset(&a);
	CHECK_INT(defer_count, 2);
	CHECK_INT(defer_log[0], 2);
	CHECK_INT(defer_log[1], 1);
	CHECK(a.total <= 16 * 1024);
	CHECK_STR(arena_printf(&a, "%s-%0300d", "x", 7) + 299, "007");
	arena_free(&a);
	CHECK_INT(a.total, 0);
}

TEST(base_buf_never_passes_its_maximum)
{
	struct buf b;

	buf_init(&b, 1000);
	for (int i = 0; i < 100; i++)
		buf_lit(&b, "0123456789abcdef");
	CHECK(b.overflow);
	CHECK(b.len <= 1000 && b.cap <= 1000);
	CHECK_INT(b.len % 16, 0);
	buf_free(&b);
	buf_init(&b, 64);
	buf_put_int(&b, INT64_MIN);
	buf_putc(&b, ' ');
	buf_put_int(&b, 0);
	buf_putc(&b, '\0');
	CHECK_STR(b.at, "-9223372036854775808 0");
	buf_free(&b);
}

static void *make_ids(void *out)
{
	struct id *ids = out;

	for (int i = 0; i < 2000; i++)
		ids[i] = id_new(NULL);
	return NULL;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

TEST(base_ids_are_valid_unique_and_rise)
{
	enum { EACH = 2000, THREADS = 4 };
	struct id *ids = calloc(EACH * THREADS, sizeof *ids);
	pthread_t threads[THREADS];

	for (int t = 0; t < THREADS; t++)
		pthread_create(&threads[t], NULL, make_ids, ids + t * EACH);
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (int i = 0; i < EACH * THREADS; i++) {
		CHECK(id_valid(ids[i].text, strlen(ids[i].text)));
		if (i % EACH)
			CHECK(strcmp(ids[i - 1].text, ids[i].text) < 0);
	}
	qsort(ids, EACH * THREADS, sizeof *ids, by_text);
	for (int i = 1; i < EACH * THREADS; i++)
		CHECK(strcmp(ids[i - 1].text, ids[i].text) != 0);
	free(ids);
	CHECK(!id_valid("c0123456789abcdefghijklm", 24));
	CHECK(!id_valid("d0123456789abcdefghijklmn", 25));
	CHECK(!id_valid("c0123456789Abcdefghijklmn", 25));
	CHECK(!id_valid("c0123456789abcdefghijklm\n", 25));
}

TEST(base_time_reads_and_writes_what_the_c_library_does)
{
	static const struct {
		const char *text;
		bool valid;
		int64_t us;
	} rows[] = {
		{ "1970-01-01T00:00:00Z", true, 0 },
		{ "2026-02-28T23:59:59.999Z", true, 1772323199999000 },
		{ "2024-02-29T00:00:00Z", true, 1709164800000000 },
		{ "2023-02-29T00:00:00Z", false, 0 },
		{ "1900-02-29T00:00:00Z", false, 0 },
		{ "2000-02-29t12:00:00z", true, 951825600000000 },
		{ "2026-01-01T00:00:00+02:00", true, 1767218400000000 },
		{ "2026-01-01T00:00:00-00:30", true, 1767227400000000 },
		{ "2026-01-01T00:00:00.1234567Z", true, 1767225600123456 },
		{ "2026-01-01 00:00:00Z", false, 0 },
		{ "2026-01-01T00:00:00", false, 0 },
		{ "2026-13-01T00:00:00Z", false, 0 },
		{ "2026-01-01T24:00:00Z", false, 0 },
		{ "2026-01-01T00:00:00.Z", false, 0 },
		{ "2026-01-01T00:00:00Z\n", false, 0 },
		{ "0000-01-01T00:00:00Z", false, 0 },
	};
	char text[TIME_TEXT_LEN + 1] = "", want[64];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int64_t us = 0;

		test_step("%s", rows[i].text);
		CHECK_INT(time_read(rows[i].text, strlen(rows[i].text), &us), rows[i].valid);
		if (rows[i].valid)
			CHECK_INT(us, rows[i].us);
	}
	for (int64_t s = -2000000000; s < 6000000000; s += 86399 * 37) {
		time_t t = s;
		struct tm tm;
		int64_t back;

		time_write(s * SECOND_US + 5000, text);
		strftime(want, sizeof want, "%Y-%m-%dT%H:%M:%S.005Z", gmtime_r(&t, &tm));
		CHECK_STR(text, want);
		CHECK(time_read(text, TIME_TEXT_LEN, &back) && back == s * SECOND_US + 5000);
	}
}

TEST(base_fold_is_the_same_for_both_cases)
{
	struct arena a = { 0 };

	CHECK_STR(fold(&a, "AbC-9"), "abc-9");
	CHECK_STR(fold(&a, "ÄÖÜ ÉŁŽ ΑΒΓ ПРИВЕТ Ё"), "äöü éłž αβγ привет ё");
	CHECK_STR(fold(&a, "×漢字😀"), "×漢字😀");
	CHECK_STR(fold_pattern(&a, "50%_!"), "%50!%!_!!%");
	arena_free(&a);
}

/* Each of a row is found by each other of it. */
TEST(base_fold_knows_the_whole_of_unicode)
{
	static const char *const rows[][4] = {
		{ "Straße", "STRASSE", "STRAẞE", "strasse" },
		{ "ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς", "ὀδυσσεύσ", "Ὀδυσσεύς" }, /* the last sigma */
		{ "İIıi", "iiii", "IIII", "ıııı" },		    /* Turkish has four */
		{ "ＡＢＣ１２", "ａｂｃ１２", "abc12", "ABC12" },   /* full width */
		{ "ᏣᎳᎩ", "ꮳꮃꭹ", "Ꮳꮃꭹ", "ꮳᎳꭹ" },   /* Cherokee folds to capitals */
		{ "𐐔𐐇𐐝", "𐐼𐐯𐑅", "𐐔𐐯𐑅", "𐐼𐐇𐐝" },			    /* Deseret, beyond U+FFFF */
		{ "ПРИВЕТ", "привет", "Привет", "пРИВЕТ" },
		{ "Ԝ Ҋ Ә", "ԝ ҋ ә", "Ԝ ҋ ә", "ԝ Ҋ Ә" }, /* Cyrillic above U+0460 */
		/* é and й in one code point and in two */
		{ "caf\u00e9 \u0439", "CAFE\u0301 \u0418\u0306", "Cafe\u0301 \u0439",
			"CAF\u00c9 \u0419" },
		{ "ﬁn Ǆ", "FIN DŽ", "fin ǆ", "ﬁN ǅ" }, /* letters that are two */
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (size_t k = 1; k < 4; k++)
			CHECK_STR(fold(&a, rows[i][k]), fold(&a, rows[i][0]));
	test_step("what has been folded stays as it is");
	for (unsigned c = 1; c < 0x20000; c++) {
		char text[8] = "a";
		const char *folded, *words;

		if (c >= 0xd800 && c < 0xe000)
			continue;
		text[1 + utf8proc_encode_char((int32_t)c, (uint8_t *)text + 1)] = 'b';
		folded = fold(&a, text);
		words = fold_words(&a, text);
		CHECK_STR(fold(&a, folded), folded);
		CHECK_STR(fold_words(&a, words), words);
		arena_reset(&a);
	}
	test_step("addresses");
	CHECK_STR(fold_ascii(&a, "Ada.É@Example.ORG"), "ada.É@example.org");
	arena_free(&a);
}

TEST(base_tokens_carry_a_checksum)
{
	char token[TOKEN_MAX];
	size_t len;

	token_new("lodge_key_", token);
	len = strlen(token);
	CHECK(token_valid("lodge_key_", token, len));
	CHECK(!token_valid("lodge_login_", token, len));
	CHECK(!token_valid("lodge_key_", token, len - 1));
	for (size_t i = 0; i < len; i++) {
		char kept = token[i];

		token[i] = kept == 'a' ? 'b' : 'a';
		CHECK(!token_valid("lodge_key_", token, len));
		token[i] = kept;
	}
}

TEST(base_seal_opens_only_with_its_key_and_context)
{
	uint8_t key[SEAL_KEY_LEN] = { 1 }, other[SEAL_KEY_LEN] = { 2 }, sealed[5 + SEAL_EXTRA];
	char plain[6] = "";

	seal(key, "here", "hello", 5, sealed);
	CHECK(unseal(key, "here", sealed, sizeof sealed, plain));
	CHECK_STR(plain, "hello");
	CHECK(!unseal(other, "here", sealed, sizeof sealed, plain));
	CHECK(!unseal(key, "there", sealed, sizeof sealed, plain));
	for (size_t i = 0; i < sizeof sealed; i++) {
		sealed[i] ^= 1;
		CHECK(!unseal(key, "here", sealed, sizeof sealed, plain));
		sealed[i] ^= 1;
	}
	CHECK(!unseal(key, "here", sealed, SEAL_EXTRA - 1, plain));
}

TEST(base_hashes_match_published_vectors)
{
	uint8_t digest[SHA256_LEN], key[131];
	char hex[65];

	sha256("abc", 3, digest);
	hex_write(digest, sizeof digest, hex);
	CHECK_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	hmac_sha256("It's a Secret to Everybody", 26, "Hello, World!", 13, digest);
	hex_write(digest, sizeof digest, hex);
	CHECK_STR(hex, "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17");
	hmac_sha256("", 0, "", 0, digest);
	hex_write(digest, sizeof digest, hex);
	CHECK_STR(hex, "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
	memset(key, 0xaa, sizeof key); /* RFC 4231, 4.7: a key longer than a block */
	hmac_sha256(key, sizeof key, "Test Using Larger Than Block-Size Key - Hash Key First", 54,
		digest);
	hex_write(digest, sizeof digest, hex);
	CHECK_STR(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}
