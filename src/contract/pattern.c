/* pattern.c - see pattern.h.  There are a dozen patterns: a list is searched by
 * address first, then by text. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "contract/pattern.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERNS_MAX = 64 };
/* The patterns are ours, the texts are not. */
enum { MATCH_LIMIT = 1000 * 1000, DEPTH_LIMIT = 10 * 1000, HEAP_KIB = 4096 };

struct patterns {
	pcre2_match_context *limits;
	struct {
		const char *text;
		pcre2_code *code;
	} list[PATTERNS_MAX];
	size_t count;
};

static pcre2_code *find_pattern(const struct patterns *p, const char *pattern)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->list[i].text == pattern)
			return p->list[i].code;
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->list[i].text, pattern) == 0)
			return p->list[i].code;
	return NULL;
}

static bool add_pattern(struct patterns *p, const char *pattern)
{
	const uint32_t options = PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY |
				 PCRE2_UTF | PCRE2_NO_UTF_CHECK;
	int error;
	size_t at;
	pcre2_code *code;

	if (find_pattern(p, pattern))
		return true;
	if (p->count == PATTERNS_MAX)
		return false;
	code = pcre2_compile(
		(PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &error, &at, NULL);
	if (!code)
		return false;
	pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); /* without it matching is slower, not wrong */
	p->list[p->count].text = pattern;
	p->list[p->count++].code = code;
	return true;
}

struct patterns *patterns_new(
	const struct schema *const *schemas, size_t count, const char **ret_bad)
{
	struct patterns *p = calloc(1, sizeof *p);

	if (p)
		p->limits = pcre2_match_context_create(NULL);
	if (!p || !p->limits)
		abort();
	pcre2_set_match_limit(p->limits, MATCH_LIMIT);
	pcre2_set_depth_limit(p->limits, DEPTH_LIMIT);
	pcre2_set_heap_limit(p->limits, HEAP_KIB);
	for (size_t i = 0; p && i < count; i++) {
		for (size_t j = 0; j < schemas[i]->count; j++) {
			const char *pattern = schemas[i]->fields[j].pattern;

			if (pattern && !add_pattern(p, pattern)) {
				*ret_bad = pattern;
				patterns_free(p);
				return NULL;
			}
		}
	}
	return p;
}

void patterns_free(struct patterns *p)
{
	for (size_t i = 0; p && i < p->count; i++)
		pcre2_code_free(p->list[i].code);
	if (p)
		pcre2_match_context_free(p->limits);
	free(p);
}

bool patterns_match(const struct patterns *p, const char *pattern, const char *text, size_t len)
{
	pcre2_code *code = p ? find_pattern(p, pattern) : NULL;
	pcre2_match_data *data = code ? pcre2_match_data_create(1, NULL) : NULL;
	bool matches = data && pcre2_match(code, (PCRE2_SPTR)text, len, 0, PCRE2_NO_UTF_CHECK, data,
				       p->limits) >= 0;

	pcre2_match_data_free(data);
	return matches || !p;
}
