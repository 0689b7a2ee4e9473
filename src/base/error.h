/* error.h - the closed list of everything that can go wrong, and the problem a caller is shown.
 *
 * A function returns 0 or one of these negative codes.  Whoever detects the
 * fault fills the problem once, with a sentence a person can act on; from
 * there it only travels.  Log or return, never both. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* name, HTTP status, code shown to callers, title */
#define ERRORS(X)                                                                                  \
	X(MALFORMED, 400, "malformed", "The request is not well formed")                           \
	X(BAD_JSON, 400, "malformed_json", "The body is not well-formed JSON")                     \
	X(UNAUTHENTICATED, 401, "unauthenticated", "No valid credential was presented")            \
	X(FORBIDDEN, 403, "forbidden", "This is not allowed with the credential presented")        \
	X(SUSPENDED, 403, "suspended", "The account or tenant is suspended")                       \
	X(CLOSED, 403, "closed", "The tenant is closed")                                           \
	X(BAD_ORIGIN, 403, "bad_origin", "The request did not come from this service's own pages") \
	X(NOT_FOUND, 404, "not_found", "There is nothing here")                                    \
	X(METHOD, 405, "method_not_allowed", "The path does not take this method")                 \
	X(TIMEOUT, 408, "timeout", "The request took too long to arrive")                          \
	X(CONFLICT, 409, "conflict", "The present state does not permit this")                     \
	X(TAKEN, 409, "taken", "That name is in use")                                              \
	X(SECRET, 409, "secret_unopenable",                                                        \
		"A stored secret cannot be opened with the present master key: enter it anew")     \
	X(PRECONDITION, 412, "precondition_failed", "The object has changed since it was read")    \
	X(TOO_LARGE, 413, "too_large", "The body is too large")                                    \
	X(URI_TOO_LONG, 414, "uri_too_long", "The request target is too long")                     \
	X(MEDIA_TYPE, 415, "unsupported_media_type", "The body is not of a type this path takes")  \
	X(EXPECTATION, 417, "expectation_failed", "Only the expectation 100-continue is known")    \
	X(RANGE, 416, "range", "There is no such part of it")                                      \
	X(INVALID, 422, "invalid", "One or more fields are not acceptable")                        \
	X(IDEMPOTENCY, 422, "idempotency_mismatch",                                                \
		"That Idempotency-Key was used for another body")                                  \
	X(THROTTLED, 429, "too_many_requests", "Too many requests")                                \
	X(HEADERS_TOO_LARGE, 431, "headers_too_large", "The request headers are too large")        \
	X(INTERNAL, 500, "internal", "Something went wrong on our side")                           \
	X(NOT_HERE, 501, "not_implemented", "That transfer coding is not known here")              \
	X(UPSTREAM, 502, "upstream_failed", "A service that is needed for this did not answer")    \
	X(STORE, 503, "store_unavailable", "The store cannot be reached")                          \
	X(STORE_FULL, 503, "store_full", "The store has no room left")                             \
	X(KEY, 503, "key_unavailable",                                                             \
		"This process cannot follow the master key and stores no secret until it can")     \
	X(BUSY, 503, "busy", "The service is too busy")                                            \
	X(STOPPING, 503, "stopping", "The service is stopping")                                    \
	X(TOO_SLOW, 504, "timed_out", "The answer took too long")                                  \
	X(VERSION, 505, "http_version", "Only HTTP/1.0 and HTTP/1.1 are spoken here")              \
	X(NO_SPACE, 507, "no_space", "There is no room left for the bytes")                        \
	/* never shown to a caller: retried, or turned into one of the above */                    \
	X(RETRY, 503, "retry", "The store asks to try again")                                      \
	X(BRING, 503, "bring", "Bytes must be brought to or from the bucket first")                \
	X(DUPLICATE, 409, "duplicate", "A row with this key exists")                               \
	X(USAGE, 500, "usage", "The command was not understood")

enum error_index {
#define X(name, status, code, title) ERROR_INDEX_##name,
	ERRORS(X)
#undef X
		ERROR_COUNT
};

enum error {
#define X(name, status, code, title) ERR_##name = -1 - ERROR_INDEX_##name,
	ERRORS(X)
#undef X
};

struct error_row {
	int status;
	const char *code, *title;
};

/* The row of a negative code; the INTERNAL row for a number that is none. */
const struct error_row *error_row(int err);

struct field_error {
	struct field_error *next;
	const char *field, *code, *message;
};

/* What a caller is told.  At most FIELD_ERRORS_MAX fields are listed; the rest are counted. */
enum { RETRY_NEVER_S = INT32_MAX };

struct problem {
	int err;
	const char *detail;    /* a sentence, or NULL for the title */
	const char *challenge; /* of a 401: what is wrong with the token; NULL: none came */
	const char *code;      /* overrides the error's own, or NULL */
	int retry_after_s;     /* 0: not said; RETRY_NEVER_S: no time helps */
	bool final;	       /* trying again by itself will not help */
	struct field_error *first, **last; /* in the order found */
	size_t count, unlisted;
};

enum { FIELD_ERRORS_MAX = 1000 };

/* Sets the problem, if it is not set yet, and returns err. */
int problem_set(struct problem *p, struct arena *a, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* True if the field, or something in it, is among those that offend. */
bool problem_names(const struct problem *p, const char *field);
/* Adds one offending field (ERR_INVALID) and returns ERR_INVALID. */
int problem_field(struct problem *p, struct arena *a, const char *field, const char *code,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));
