/* why.h - why a call to another service failed, in words for people and in one word for programs.
 *
 * One table from what libcurl says, used by every call that goes out: models,
 * tools, MCP, pages, OpenID.  The words fit after "the call failed: ". */
#pragma once
#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

/* name, word */
#define WHYS(X)                       \
	X(DNS, "dns")                 \
	X(REFUSED, "refused")         \
	X(UNREACHABLE, "unreachable") \
	X(TIMED_OUT, "timed_out")     \
	X(CERTIFICATE, "certificate") \
	X(TLS, "tls")                 \
	X(NOT_ALLOWED, "not_allowed") \
	X(BROKEN_OFF, "broken_off")   \
	X(NOT_HTTP, "not_http")       \
	X(TOO_LARGE, "too_large")     \
	X(OTHER, "other")

enum why {
#define X(name, word) WHY_##name,
	WHYS(X)
#undef X
		WHY_COUNT
};

enum { WHY_TEXT_MAX = 192 };

extern const char *const why_words[WHY_COUNT];

#define WHY_ADDRESS_NOT_ALLOWED "the address is not one that may be called"
#define WHY_RESOLVES_TO_PRIVATE "it resolves to a private address"

/* Of a transfer that has ended with this code; its handle still knows how far it came. */
enum why why_tell(CURL *handle, CURLcode code, char out[WHY_TEXT_MAX]);
/* True if nothing of a request can have been sent. */
bool why_is_before(CURLcode code);
