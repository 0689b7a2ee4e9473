/* mcp_rpc.h - what both sides of the Model Context Protocol share: its revisions, its errors, its messages.
 *
 * Messages are read with the cursor of json.h and not as a tree, so that a
 * hostile one takes no more memory than a small multiple of its bytes.
 * Nothing here sends, and nothing knows which side it is on. */
#pragma once
#include "base/json.h"
#include "base/slice.h"

#define MCP_VERSION_MODERN "2026-07-28"
#define MCP_VERSION_LEGACY "2025-11-25"
/* What the protocol's own names in _meta begin with. */
#define MCP_META "io.modelcontextprotocol/"

/* The revisions that begin with a handshake, newest first.  Of the last there is only what our client asks of
 * servers: its own transport is another one. */
enum { MCP_LEGACY_SERVED = 3, MCP_LEGACY_COUNT = 4 };
extern const char *const mcp_legacy_versions[MCP_LEGACY_COUNT];
/* Is it one of the first so many?  NULL is none. */
bool mcp_legacy_known(const char *version, size_t first);

enum mcp_code {
	MCP_PARSE_ERROR = -32700,
	MCP_INVALID_REQUEST = -32600,
	MCP_METHOD_NOT_FOUND = -32601,
	MCP_INVALID_PARAMS = -32602,
	MCP_INTERNAL_ERROR = -32603,
	MCP_RESOURCE_NOT_FOUND = -32002, /* of the older revisions */
	/* What a server of the new kind says, and no other. */
	MCP_HEADER_MISMATCH = -32020,
	MCP_MISSING_CAPABILITY = -32021,
	MCP_UNSUPPORTED_VERSION = -32022,
};

enum mcp_kind {
	MCP_NOTHING, /* no message of JSON-RPC */
	MCP_REPLY,
	MCP_REQUEST,
	MCP_NOTICE,
};

struct mcp_message {
	enum mcp_kind kind;
	struct slice id;     /* JSON text; absent: none */
	const char *method;  /* of a request or notice */
	struct slice params; /* of them; JSON text; absent: none */
	struct slice result; /* of a reply that succeeded; JSON text */
	bool failed;	     /* the reply is an error */
	int64_t code;
	const char *error; /* its message */
	struct slice data; /* of the error; absent: none */
};

/* One message, as its sender means it.  The slices lie in the text. */
void mcp_message_read(struct arena *a, struct slice text, struct mcp_message *ret);

/* For whoever reads members of one: is the key this name?  A string without NULs, or NULL for anything else, which is
 * read over. */
bool mcp_key_is(const char *key, size_t len, const char *name);
const char *mcp_text_or_null(struct json_reader *r);
/* True if a list of texts under this name holds it. */
bool mcp_list_holds(struct arena *a, struct slice object, const char *name, const char *text);
/* A text member, or NULL. */
const char *mcp_read_member(struct arena *a, struct slice object, const char *name);

/* As a header may carry it: plain, or as =?base64?...?=; and back: NULL if it is not well formed. */
const char *mcp_header_value(struct arena *a, const char *text, size_t len);
const char *mcp_header_plain(struct arena *a, const char *value);
