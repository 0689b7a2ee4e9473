/* fold.c - see fold.h.  Engines disagree about case beyond ASCII, and about collations; a folded
 * column written by us gives the same answer on both.
 *
 * Most texts are ASCII and go a short way.  Others are taken apart into code
 * points by utf8proc (case folded, compatible forms and canonical ones taken
 * for the same, nothing invisible), changed as below, and put together again. */
#include "base/fold.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

/* To be raised when what is below gives other words than it did. */
#define FOLD_RULES "2"

#define APART                                                                         \
	((utf8proc_option_t)(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | \
			     UTF8PROC_CASEFOLD | UTF8PROC_IGNORE))
#define TOGETHER ((utf8proc_option_t)(UTF8PROC_STABLE | UTF8PROC_COMPOSE))

enum {
	DOTLESS_I = 0x131,
	DOT_ABOVE = 0x307,
	/* The last code point there is: what is above every text with the same beginning. */
	LAST_POINT = 0x10ffff,
};

const char *fold_version(struct arena *a)
{
	return arena_printf(a, FOLD_RULES " unicode %s", utf8proc_unicode_version());
}

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

char *fold_ascii(struct arena *a, const char *text)
{
	char *copy = arena_strdup(a, text);

	for (char *p = copy; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p + 'a' - 'A');
	return copy;
}

struct points {
	int32_t *at;
	size_t count;
};

/* What a letter becomes before it is taken apart. */
typedef int32_t early_fn(int32_t c, void *none);

/* False for what is no UTF-8, which nothing is that was let in. */
static bool take_apart(struct arena *a, const char *text, early_fn *early, struct points *ret)
{
	const uint8_t *bytes = (const uint8_t *)text;
	ssize_t len = (ssize_t)strlen(text), room = 2 * len + 16, count;

	ret->at = arena_raw(a, (size_t)(room + 1) * sizeof *ret->at, _Alignof(int32_t));
	count = utf8proc_decompose_custom(bytes, len, ret->at, room, APART, early, NULL);
	if (count > room) {
		room = count;
		ret->at = arena_raw(a, (size_t)(room + 1) * sizeof *ret->at, _Alignof(int32_t));
		count = utf8proc_decompose_custom(bytes, len, ret->at, room, APART, early, NULL);
	}
	ret->count = count > 0 ? (size_t)count : 0;
	return count >= 0;
}

/* In their own place, which has room for one more. */
static char *put_together(struct points *p)
{
	ssize_t len = utf8proc_reencode(p->at, (ssize_t)p->count, TOGETHER);

	((char *)p->at)[len > 0 ? len : 0] = '\0';
	return (char *)p->at;
}

char *fold(struct arena *a, const char *text)
{
	struct points p;
	size_t kept = 0;

	if (is_ascii(text) || !take_apart(a, text, NULL, &p))
		return fold_ascii(a, text);
	for (size_t i = 0; i < p.count; i++)
		if (p.at[i] != DOT_ABOVE || !kept || p.at[kept - 1] != 'i')
			p.at[kept++] = p.at[i] == DOTLESS_I ? 'i' : p.at[i];
	p.count = kept;
	return put_together(&p);
}

/* ---- words ---- */

/* What stands between words, whatever it would be taken apart into and was taken from. */
static bool is_apart(int32_t c)
{
	return (c >= 0x80 && c < 0xc0) || c == 0xd7 || c == 0xf7 || (c >= 0x2000 && c <= 0x206f) ||
	       (c >= 0x3000 && c <= 0x303f) || c == LAST_POINT;
}

static int32_t early_word(int32_t c, void *none)
{
	(void)none;
	switch (c) {
	case 0x13f: /* L and l with a middle dot */
	case 0x140:
		return 'l';
	case 0x149: /* n after an apostrophe */
		return 'n';
	default:
		return is_apart(c) ? ' ' : c;
	}
}

/* Latin letters that are no letter with a mark, as those write them who have no such letter. */
static const struct {
	int32_t point;
	const char *as;
} latin[] = { { 0xe6, "ae" }, { 0xf0, "d" }, { 0xf8, "o" }, { 0xfe, "th" }, { 0x111, "d" },
	{ 0x127, "h" }, { DOTLESS_I, "i" }, { 0x138, "k" }, { 0x142, "l" }, { 0x14b, "n" },
	{ 0x153, "oe" }, { 0x167, "t" } };

static const char *as_latin(int32_t c)
{
	for (size_t i = 0; c >= 0xe6 && c <= 0x167 && i < sizeof latin / sizeof *latin; i++)
		if (latin[i].point == c)
			return latin[i].as;
	return NULL;
}

/* Marks that combine with the letter before them. */
static bool is_mark(int32_t c)
{
	return c >= 0x300 && c <= 0x36f;
}

static bool is_between(int32_t c)
{
	if (c < 0x80)
		return !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'));
	if (is_apart(c))
		return true;
	switch (utf8proc_category(c)) {
	case UTF8PROC_CATEGORY_PC:
	case UTF8PROC_CATEGORY_PD:
	case UTF8PROC_CATEGORY_PS:
	case UTF8PROC_CATEGORY_PE:
	case UTF8PROC_CATEGORY_PI:
	case UTF8PROC_CATEGORY_PF:
	case UTF8PROC_CATEGORY_PO:
	case UTF8PROC_CATEGORY_ZS:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_CF:
		return true;
	default:
		return false;
	}
}

/* Each point gives two at most, and a space. */
static struct points only_words(struct arena *a, const struct points *in)
{
	struct points out = { arena_raw(a, (3 * in->count + 1) * sizeof *out.at, _Alignof(int32_t)),
		0 };
	bool between = false, bare = true; /* bare: marks go */

	for (size_t i = 0; i < in->count; i++) {
		int32_t c = in->at[i];
		const char *as = as_latin(c);

		if (is_mark(c) && (bare || between))
			continue;
		if (is_between(c)) {
			between = true;
			continue;
		}
		if (between && out.count)
			out.at[out.count++] = ' ';
		between = false;
		if (!is_mark(c))
			bare = as || c < 0x80;
		if (!as)
			out.at[out.count++] = c;
		for (; as && *as; as++)
			out.at[out.count++] = (unsigned char)*as;
	}
	return out;
}

/* The same for a text of ASCII alone. */
static char *ascii_words(char *text)
{
	char *out = text;
	bool between = false;

	for (const char *p = text; *p; p++) {
		if (is_between(*p)) {
			between = true;
			continue;
		}
		if (between && out > text)
			*out++ = ' ';
		between = false;
		*out++ = *p;
	}
	*out = '\0';
	return text;
}

char *fold_words(struct arena *a, const char *text)
{
	struct points p;

	if (is_ascii(text) || !take_apart(a, text, early_word, &p))
		return ascii_words(fold_ascii(a, text));
	p = only_words(a, &p);
	return put_together(&p);
}

char *fold_pattern(struct arena *a, const char *text)
{
	const char *folded = fold(a, text);
	char *pattern = arena_raw(a, 2 * strlen(folded) + 3, 1), *out = pattern;

	*out++ = '%';
	for (; *folded; folded++) {
		if (strchr("%_!", *folded))
			*out++ = '!';
		*out++ = *folded;
	}
	*out++ = '%';
	*out = '\0';
	return pattern;
}
