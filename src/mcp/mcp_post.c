/* mcp_post.c - see mcp_post.h. */
#include "mcp/mcp_post.h"

#include <string.h>

static struct mcp_fault fault_of(enum mcp_code code, const char *message)
{
	return (struct mcp_fault){ .code = code, .message = message };
}

/* ---- messages ---- */

/* What a client calls a request, or its progress: a text or a whole number.  NULL if it is neither. */
static const char *label_text(struct arena *a, struct slice text)
{
	struct json_reader r;
	struct json_number n;

	if (!text.at || text.len > MCP_ID_MAX)
		return NULL;
	json_open(&r, a, text.at, text.len);
	if (json_peek(&r) == JSON_NUMBER && (!json_read_number(&r, &n) || !n.is_integer))
		return NULL;
	return *text.at == '"' || *text.at == '-' || (*text.at >= '0' && *text.at <= '9')
		       ? arena_strndup(a, text.at, text.len)
		       : NULL;
}

static const char *next_label(struct arena *a, struct json_reader *r)
{
	struct slice text = { 0 };

	return json_skip(r, &text.at, &text.len) ? label_text(a, text) : NULL;
}

static void read_meta(struct arena *a, struct json_reader *r, struct mcp_spoken *ret)
{
	const char *key;
	size_t len;

	if (json_peek(r) != JSON_OBJECT) {
		json_skip(r, NULL, NULL);
		return;
	}
	json_enter_object(r);
	while (json_next_key(r, &key, &len)) {
		if (mcp_key_is(key, len, "progressToken")) {
			ret->progress_token = next_label(a, r);
		} else if (mcp_key_is(key, len, MCP_META "protocolVersion")) {
			ret->meta_version = mcp_text_or_null(r);
		} else if (mcp_key_is(key, len, MCP_META "clientCapabilities")) {
			ret->has_capabilities = json_peek(r) == JSON_OBJECT;
			json_skip(r, NULL, NULL);
		} else {
			json_skip(r, NULL, NULL);
		}
	}
}

static void read_arguments(struct arena *a, struct json_reader *r, struct mcp_spoken *ret)
{
	bool object = json_peek(r) == JSON_OBJECT;
	struct slice text = { 0 };

	if (json_skip(r, &text.at, &text.len) && object)
		ret->arguments = arena_strndup(a, text.at, text.len);
	ret->bad_arguments = !object;
}

static void read_params(struct arena *a, struct slice text, struct mcp_spoken *ret)
{
	struct json_reader r;
	const char *key;
	size_t len;

	json_open(&r, a, text.at, text.len);
	if (json_peek(&r) != JSON_OBJECT) {
		ret->fault = fault_of(MCP_INVALID_PARAMS, "params must be an object");
		return;
	}
	json_enter_object(&r);
	while (json_next_key(&r, &key, &len)) {
		if (mcp_key_is(key, len, "name")) {
			ret->name = mcp_text_or_null(&r);
		} else if (mcp_key_is(key, len, "uri")) {
			ret->uri = mcp_text_or_null(&r);
		} else if (mcp_key_is(key, len, "cursor")) {
			ret->cursor = mcp_text_or_null(&r);
			ret->bad_cursor = !ret->cursor;
		} else if (mcp_key_is(key, len, "protocolVersion")) {
			ret->version = mcp_text_or_null(&r);
		} else if (mcp_key_is(key, len, "requestId")) {
			ret->request_id = next_label(a, &r);
		} else if (mcp_key_is(key, len, "arguments")) {
			read_arguments(a, &r, ret);
		} else if (mcp_key_is(key, len, "_meta")) {
			read_meta(a, &r, ret);
		} else {
			json_skip(&r, NULL, NULL);
		}
	}
}

static void read_spoken(struct arena *a, struct slice text, struct mcp_spoken *ret)
{
	struct mcp_message m;

	mcp_message_read(a, text, &m);
	*ret = (struct mcp_spoken){ .kind = m.kind, .method = m.method };
	ret->id = label_text(a, m.id);
	if (m.kind == MCP_NOTHING)
		ret->fault = fault_of(MCP_INVALID_REQUEST, "This is no message of JSON-RPC 2.0.");
	else if (m.kind == MCP_REQUEST && !ret->id)
		ret->fault = fault_of(MCP_INVALID_REQUEST,
			"The id of a request must be a text or a whole number of at most 256 bytes.");
	else if (m.params.at)
		read_params(a, m.params, ret);
}

/* ---- a POST ---- */

static void read_batch(struct arena *a, struct json_reader *r, struct mcp_post *ret)
{
	struct slice item;

	ret->batch = true;
	ret->list = arena_array(a, struct mcp_spoken, MCP_BATCH_MAX);
	json_enter_array(r);
	while (json_next_item(r) && json_skip(r, &item.at, &item.len)) {
		if (ret->count == MCP_BATCH_MAX) {
			ret->fault = fault_of(MCP_INVALID_REQUEST,
				"A list may hold 50 messages, and this one holds more.");
			return;
		}
		read_spoken(a, item, &ret->list[ret->count++]);
	}
	if (!ret->count && !r->fault)
		ret->fault = fault_of(MCP_INVALID_REQUEST, "The list holds no message.");
}

void mcp_post_read(struct arena *a, struct slice text, struct mcp_post *ret)
{
	struct json_reader r;

	*ret = (struct mcp_post){ 0 };
	json_open(&r, a, text.at, text.len);
	if (json_peek(&r) == JSON_ARRAY) {
		read_batch(a, &r, ret);
	} else {
		json_skip(&r, NULL, NULL);
		ret->list = arena_new(a, struct mcp_spoken);
		ret->count = 1;
	}
	if (ret->fault.code)
		return;
	if (!json_end(&r))
		ret->fault = fault_of(MCP_PARSE_ERROR, "The body is not well-formed JSON.");
	else if (!ret->batch)
		read_spoken(a, text, ret->list);
}

/* ---- headers ---- */

static struct mcp_fault unsupported(struct arena *a, const char *version)
{
	struct mcp_fault f = fault_of(MCP_UNSUPPORTED_VERSION, "Unsupported protocol version");
	struct buf b;

	buf_init(&b, 4096);
	buf_lit(&b, "{\"supported\":[\"" MCP_VERSION_MODERN "\"");
	for (size_t i = 0; i < MCP_LEGACY_SERVED; i++)
		buf_printf(&b, ",\"%s\"", mcp_legacy_versions[i]);
	buf_lit(&b, "],\"requested\":");
	json_write_string(&b, version, strnlen(version, MCP_ID_MAX));
	buf_putc(&b, '}');
	f.data = arena_take(a, &b);
	return f;
}

static bool names_something(const char *method)
{
	static const char *const list[] = { "tools/call", "resources/read", "prompts/get", NULL };

	for (const char *const *p = list; *p; p++)
		if (strcmp(*p, method) == 0)
			return true;
	return false;
}

static bool head_differs(struct arena *a, const char *head, const char *said)
{
	const char *plain = head ? mcp_header_plain(a, head) : NULL;

	return !plain || (said && strcmp(plain, said) != 0);
}

static struct mcp_fault modern_fault(
	struct arena *a, const struct mcp_heads *heads, const struct mcp_spoken *m)
{
	const char *named = m->name ? m->name : m->uri;

	if (!m->meta_version)
		return fault_of(MCP_INVALID_PARAMS,
			"params._meta must name " MCP_META "protocolVersion, a text");
	if (!heads->version || strcmp(heads->version, m->meta_version) != 0)
		return fault_of(MCP_HEADER_MISMATCH,
			"Header mismatch: MCP-Protocol-Version and params._meta must name the same "
			"version");
	if (strcmp(m->meta_version, MCP_VERSION_MODERN) != 0)
		return unsupported(a, m->meta_version);
	if (!m->has_capabilities)
		return fault_of(MCP_INVALID_PARAMS,
			"params._meta must have " MCP_META "clientCapabilities, an object");
	if (!heads->method || strcmp(heads->method, m->method) != 0)
		return fault_of(MCP_HEADER_MISMATCH,
			"Header mismatch: Mcp-Method must be the method of the message");
	if (names_something(m->method) && head_differs(a, heads->name, named))
		return fault_of(MCP_HEADER_MISMATCH,
			"Header mismatch: Mcp-Name must be what the message names");
	return (struct mcp_fault){ 0 };
}

static bool is_legacy(const char *version)
{
	return mcp_legacy_known(version, MCP_LEGACY_SERVED);
}

/* The first of them says of which revision they are. */
void mcp_post_hold(struct arena *a, const struct mcp_heads *heads, struct mcp_post *post)
{
	const char *oldest = mcp_legacy_versions[MCP_LEGACY_SERVED - 1];
	const char *version = heads->version ? heads->version : oldest;
	struct mcp_spoken *m = post->list;
	const char *meta = !post->batch && post->count ? m->meta_version : NULL;

	post->session =
		heads->session && strlen(heads->session) <= MCP_ID_MAX ? heads->session : NULL;
	post->modern = !is_legacy(version) || (meta && !is_legacy(meta));
	if (post->fault.code)
		return;
	if (post->batch && strcmp(version, oldest) != 0) {
		post->fault = fault_of(MCP_INVALID_REQUEST,
			"This revision of the protocol takes one message at a time.");
	} else if (post->modern && m->kind == MCP_REPLY) {
		post->fault = fault_of(MCP_INVALID_REQUEST, "Nothing was asked that this answers.");
	} else if (post->modern && m->kind == MCP_NOTICE && heads->version &&
		   strcmp(heads->version, MCP_VERSION_MODERN) != 0) {
		post->fault = unsupported(a, heads->version);
	} else if (post->modern && m->kind == MCP_REQUEST && !m->meta_version &&
		   strcmp(version, MCP_VERSION_MODERN) != 0) {
		post->fault = unsupported(a, version);
	} else if (post->modern && m->kind == MCP_REQUEST) {
		/* what the headers say is told before what the message lacks */
		struct mcp_fault f = modern_fault(a, heads, m);

		m->fault = f.code ? f : m->fault;
	}
}
