/* skill_config.c - see skill_config.h.
 *
 * A configuration is sealed, and most of what is sealed is secret.  So a key
 * is secret unless the skill declares it open, and a value goes to the model
 * only where the instructions name it.  It is put in as it is and not looked
 * through again: a value cannot name another. */
#include "sessions/skill_config.h"

#include <string.h>

#include "base/buf.h"
#include "base/json_tree.h"

enum { FILLED_MAX = 8 << 20, KEY_MAX = 128 };

#define OPENING "{{config."
#define KEY_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

static bool is_open(const char *list, const char *key, size_t len)
{
	for (const char *at = list; at && *at;) {
		size_t n = strcspn(at, " ,\t\n");

		if (n == len && memcmp(at, key, n) == 0)
			return true;
		at += n;
		at += strspn(at, " ,\t\n");
	}
	return false;
}

static struct json_node *tree_of(struct arena *a, const char *text)
{
	return text ? json_tree(a, text, strlen(text), NULL, NULL) : NULL;
}

static void put_config_value(struct buf *b, const struct json_node *config, const char *open,
	const char *key, size_t len)
{
	const struct json_node *value = config ? json_tree_member(config, key, len) : NULL;

	if (!is_open(open, key, len))
		buf_printf(b, "[config.%.*s is kept secret]", (int)len, key);
	else if (!value || value->type == JSON_NULL)
		buf_printf(b, "[config.%.*s is not set]", (int)len, key);
	else if (value->type == JSON_STRING)
		buf_put(b, value->text, value->len);
	else
		json_tree_write(b, value);
}

/* The length of the key at `at`, if a place ends after it; 0 if it is no place. */
static size_t key_at(const char *at)
{
	size_t len = strspn(at, KEY_LETTERS);

	return len <= KEY_MAX && at[len] == '}' && at[len + 1] == '}' ? len : 0;
}

const char *skill_config_fill(
	struct arena *a, struct vault *vault, const struct chosen_skill *skill)
{
	const char *at = skill->instructions, *next, *open, *sealed = skill->config_sealed;
	const struct json_node *config;
	struct buf b;

	if (!strstr(at, OPENING))
		return at;
	open = json_tree_text(tree_of(a, skill->metadata), SKILL_CONFIG_OPEN);
	config = tree_of(
		a, sealed && vault ? vault_open_text(vault, a, skill->grant_id, sealed) : NULL);
	buf_init(&b, FILLED_MAX);
	for (; (next = strstr(at, OPENING)); at = next) {
		size_t len = key_at(next + strlen(OPENING));

		buf_put(&b, at, (size_t)(next - at));
		if (len) {
			put_config_value(&b, config, open, next + strlen(OPENING), len);
			next += strlen(OPENING) + len + 2;
		} else {
			buf_lit(&b, OPENING);
			next += strlen(OPENING);
		}
	}
	buf_puts(&b, at);
	at = b.overflow
		     ? "The instructions of this skill are too long once its configuration is put in."
		     : arena_strndup(a, b.at, b.len);
	buf_free(&b);
	return at;
}
