/* t.h - a test is TEST(area_what_holds) { ... }; a check that fails says where and goes on.
 *
 * Tests are independent of each other and of their order.  The ones that
 * need a store ask for it through fixture.h, and so run on both engines. */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct test {
	const char *name, *file;
	void (*run)(void);
	struct test *next;
};

void test_register(struct test *t);
void test_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Names the step under way; shown when a check fails. */
void test_step(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define TEST(id)                                                                     \
	static void id(void);                                                        \
	static struct test id##_test = { .name = #id, .file = __FILE__, .run = id }; \
	__attribute__((constructor)) static void id##_register(void)                 \
	{                                                                            \
		test_register(&id##_test);                                           \
	}                                                                            \
	static void id(void)

/* The test says nothing here, and is counted as skipped. */
void test_skip(void);
#define SKIP_UNLESS(cond)            \
	do {                         \
		if (!(cond)) {       \
			test_skip(); \
			return;      \
		}                    \
	} while (0)

#define CHECK(cond)                                                 \
	do {                                                        \
		if (!(cond))                                        \
			test_fail(__FILE__, __LINE__, "%s", #cond); \
	} while (0)

#define CHECK_INT(got, want)                                                                      \
	do {                                                                                      \
		long long got_ = (long long)(got), want_ = (long long)(want);                     \
		if (got_ != want_)                                                                \
			test_fail(__FILE__, __LINE__, "%s is %lld, not %lld", #got, got_, want_); \
	} while (0)

#define CHECK_STR(got, want)                                                            \
	do {                                                                            \
		const char *got_ = (got), *want_ = (want);                              \
		if (!got_ || strcmp(got_, want_) != 0)                                  \
			test_fail(__FILE__, __LINE__, "%s is \"%s\", not \"%s\"", #got, \
				got_ ? got_ : "(null)", want_);                         \
	} while (0)
