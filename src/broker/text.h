/* text.h - slices of JSON text.
 *
 * What people and models write travels through the broker as it came: the
 * text of a JSON string, escapes and all, without its quotes.  So a long
 * prompt is checked once and copied once, never decoded and encoded again.
 * Such slices may be joined and written between quotes anywhere; a literal
 * among them needs no escape. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/slice.h"

/* Bytes of a C string; it must be valid UTF-8 (what is not becomes U+FFFD). */
struct slice text_escape(struct arena *a, const char *text, size_t len);
/* What the escaped text says, NUL-terminated; "" for an absent slice. */
const char *text_decode(struct arena *a, struct slice escaped, size_t *ret_len);
/* The same for whoever has no use for a length: U+0000, which would end the text there, becomes U+FFFD. */
const char *text_plain(struct arena *a, struct slice escaped);
/* JSON text of any value, in whose strings U+0000 becomes U+FFFD: the slice itself where there is none. */
struct slice text_without_nul(struct arena *a, struct slice raw);
bool text_is(struct slice s, const char *plain);
void text_put(struct buf *b, struct slice s);
/* The slice as it is, between quotes. */
void text_put_quoted(struct buf *b, struct slice s);

/* The next value: a string as escaped text, or null (absent); anything else is a fault. */
bool text_read(struct json_reader *r, struct slice *ret);
/* A string decoded into the arena, or "" for null: for words that are compared. */
bool text_read_word(struct json_reader *r, const char **ret);
/* Any value as JSON text; null is absent. */
bool text_read_raw(struct json_reader *r, struct slice *ret);
/* A count of tokens: whole, not negative, at most TOKENS_MAX; null leaves *ret as it is. */
bool text_read_count(struct json_reader *r, int64_t *ret);
/* Makes the reader fail here with these words, unless it has failed. */
bool text_refuse(struct json_reader *r, const char *what);

/* No call uses as many; a provider that says so is wrong. */
#define TOKENS_MAX INT64_C(1000000000000)
