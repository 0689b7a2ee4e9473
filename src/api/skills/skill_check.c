/* skill_check.c - what a skill must be beyond its tables; see skill_bundle.h. */
#include <string.h>

#include "api/skills/skill_bundle.h"
#include "base/json.h"

static bool is_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

static bool only_blanks(const char *text)
{
	return !text[strspn(text, " \t\r\n\v\f")];
}

static void check_tools(struct problem *p, struct arena *a, const struct list *tools)
{
	const char *const *names = tools->at;

	for (size_t i = 0; i < tools->count; i++) {
		const char *field = arena_printf(a, "allowed_tools[%zu]", i);

		if (!names[i] || only_blanks(names[i]))
			problem_field(p, a, field, "too_short", "must not be blank");
		else if (utf8_count(names[i], strlen(names[i])) > SKILL_TOOL_MAX)
			problem_field(p, a, field, "too_long", "must have at most %d characters",
				SKILL_TOOL_MAX);
		else if (is_control(names[i]))
			problem_field(
				p, a, field, "character", "must not contain control characters");
	}
}

static void check_metadata(struct problem *p, struct arena *a, const char *json)
{
	struct json_reader r;
	const char *key, *value;
	size_t key_len, len;

	json_open(&r, a, json, strlen(json));
	json_enter_object(&r);
	while (json_next_key(&r, &key, &key_len)) {
		const char *field = arena_printf(a, "metadata.%s", key);

		if (!key_len || utf8_count(key, key_len) > SKILL_KEY_MAX)
			problem_field(p, a, field, "too_long",
				"must have a key of 1 to %d characters", SKILL_KEY_MAX);
		else if (strncmp(key, SKILL_RESERVED, strlen(SKILL_RESERVED)) == 0)
			problem_field(p, a, field, "reserved",
				"must not begin with " SKILL_RESERVED
				", which is kept for the service");
		if (json_peek(&r) != JSON_STRING) {
			problem_field(p, a, field, "type", "must be a string");
			json_skip(&r, NULL, NULL);
		} else if (json_read_string(&r, &value, &len) && memchr(value, '\0', len)) {
			problem_field(
				p, a, field, "character", "must not contain the character U+0000");
		}
	}
	if (r.fault) /* it is JSON, but for what a name must not hold */
		problem_field(p, a, "metadata", "character", "has a key with the character U+0000");
}

int skill_check(struct problem *p, struct arena *a, const char *description,
	const struct json *metadata, const struct list *tools)
{
	if (description && *description && only_blanks(description))
		problem_field(p, a, "description", "too_short", "must not be blank");
	if (metadata && metadata->text)
		check_metadata(p, a, metadata->text);
	if (tools)
		check_tools(p, a, tools);
	return p->err;
}
