/* mcp_rpc.c - see mcp_rpc.h. */
#include "outside/mcp_rpc.h"

#include <sodium.h>
#include <string.h>

#define ENCODED_BEGIN "=?base64?"
#define ENCODED_END "?="

const char *const mcp_legacy_versions[MCP_LEGACY_COUNT] = { MCP_VERSION_LEGACY, "2025-06-18",
	"2025-03-26", "2024-11-05" };

bool mcp_legacy_known(const char *version, size_t first)
{
	for (size_t i = 0; version && i < first; i++)
		if (strcmp(mcp_legacy_versions[i], version) == 0)
			return true;
	return false;
}

/* ---- members ---- */

bool mcp_key_is(const char *key, size_t len, const char *name)
{
	return strlen(name) == len && memcmp(key, name, len) == 0;
}

const char *mcp_text_or_null(struct json_reader *r)
{
	const char *text;
	size_t len;

	if (json_peek(r) != JSON_STRING) {
		json_skip(r, NULL, NULL);
		return NULL;
	}
	return json_read_string(r, &text, &len) && strlen(text) == len ? text : NULL;
}

static bool message_part(struct json_reader *r, struct slice *ret)
{
	return json_skip(r, &ret->at, &ret->len);
}

bool mcp_list_holds(struct arena *a, struct slice object, const char *name, const char *text)
{
	struct json_reader r;
	const char *key;
	bool holds = false;
	size_t len;

	if (!object.at)
		return false;
	json_open(&r, a, object.at, object.len);
	if (json_peek(&r) != JSON_OBJECT || !json_enter_object(&r))
		return false;
	while (json_next_key(&r, &key, &len)) {
		if (!mcp_key_is(key, len, name) || json_peek(&r) != JSON_ARRAY) {
			json_skip(&r, NULL, NULL);
			continue;
		}
		json_enter_array(&r);
		while (json_next_item(&r)) {
			const char *item = mcp_text_or_null(&r);

			holds |= item && strcmp(item, text) == 0;
		}
	}
	return holds;
}

const char *mcp_read_member(struct arena *a, struct slice object, const char *name)
{
	const char *key, *found = NULL;
	struct json_reader r;
	size_t len;

	if (!object.at)
		return NULL;
	json_open(&r, a, object.at, object.len);
	if (json_peek(&r) != JSON_OBJECT || !json_enter_object(&r))
		return NULL;
	while (json_next_key(&r, &key, &len))
		if (mcp_key_is(key, len, name))
			found = mcp_text_or_null(&r);
		else
			json_skip(&r, NULL, NULL);
	return found;
}

/* ---- messages ---- */

static void read_mcp_error(struct arena *a, struct slice text, struct mcp_message *ret)
{
	struct json_reader r;
	struct json_number n;
	const char *key;
	size_t len;

	ret->failed = true;
	ret->error = "no message";
	json_open(&r, a, text.at, text.len);
	if (json_peek(&r) != JSON_OBJECT || !json_enter_object(&r))
		return;
	while (json_next_key(&r, &key, &len)) {
		if (mcp_key_is(key, len, "code") && json_peek(&r) == JSON_NUMBER) {
			if (json_read_number(&r, &n) && n.is_integer)
				ret->code = n.integer;
		} else if (mcp_key_is(key, len, "message")) {
			const char *message = mcp_text_or_null(&r);

			ret->error = message ? message : ret->error;
		} else if (mcp_key_is(key, len, "data")) {
			message_part(&r, &ret->data);
		} else {
			json_skip(&r, NULL, NULL);
		}
	}
}

void mcp_message_read(struct arena *a, struct slice text, struct mcp_message *ret)
{
	struct slice error = { 0 };
	struct json_reader r;
	const char *key, *version = NULL;
	size_t len;

	*ret = (struct mcp_message){ .kind = MCP_NOTHING };
	json_open(&r, a, text.at, text.len);
	if (json_peek(&r) != JSON_OBJECT || !json_enter_object(&r))
		return;
	while (json_next_key(&r, &key, &len)) {
		if (mcp_key_is(key, len, "jsonrpc"))
			version = mcp_text_or_null(&r);
		else if (mcp_key_is(key, len, "id"))
			message_part(&r, &ret->id);
		else if (mcp_key_is(key, len, "method"))
			ret->method = mcp_text_or_null(&r);
		else if (mcp_key_is(key, len, "params"))
			message_part(&r, &ret->params);
		else if (mcp_key_is(key, len, "result"))
			message_part(&r, &ret->result);
		else if (mcp_key_is(key, len, "error"))
			message_part(&r, &error);
		else
			json_skip(&r, NULL, NULL);
	}
	if (!json_end(&r) || !version || strcmp(version, "2.0") != 0)
		return;
	if (ret->method)
		ret->kind = ret->id.at ? MCP_REQUEST : MCP_NOTICE;
	else if (ret->result.at || error.at)
		ret->kind = MCP_REPLY;
	if (ret->kind == MCP_REPLY && !ret->result.at)
		read_mcp_error(a, error, ret);
}

/* ---- headers ---- */

static bool is_encoded(const char *text, size_t len)
{
	size_t begin = strlen(ENCODED_BEGIN), end = strlen(ENCODED_END);

	return len >= begin + end && memcmp(text, ENCODED_BEGIN, begin) == 0 &&
	       memcmp(text + len - end, ENCODED_END, end) == 0;
}

const char *mcp_header_value(struct arena *a, const char *text, size_t len)
{
	bool plain = !len || (text[0] != ' ' && text[0] != '\t' && text[len - 1] != ' ' &&
				     text[len - 1] != '\t');
	size_t room;
	char *encoded;

	for (size_t i = 0; i < len; i++)
		plain = plain && (text[i] == '\t' || (text[i] >= ' ' && text[i] <= '~'));
	if (plain && !is_encoded(text, len))
		return arena_strndup(a, text, len);
	room = sodium_base64_encoded_len(len, sodium_base64_VARIANT_ORIGINAL);
	encoded = arena_raw(a, room, 1);
	sodium_bin2base64(
		encoded, room, (const unsigned char *)text, len, sodium_base64_VARIANT_ORIGINAL);
	return arena_printf(a, ENCODED_BEGIN "%s" ENCODED_END, encoded);
}

const char *mcp_header_plain(struct arena *a, const char *value)
{
	size_t len = strlen(value), begin = strlen(ENCODED_BEGIN), n = 0;
	char *plain;

	if (!is_encoded(value, len))
		return value;
	len -= begin + strlen(ENCODED_END);
	plain = arena_raw(a, len + 1, 1);
	if (sodium_base642bin((unsigned char *)plain, len, value + begin, len, NULL, &n, NULL,
		    sodium_base64_VARIANT_ORIGINAL) != 0 ||
		memchr(plain, '\0', n))
		return NULL;
	plain[n] = '\0';
	return plain;
}
