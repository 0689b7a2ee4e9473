/* fault.h - the ways in which a model call fails, as one table.
 *
 * The class decides what happens next: whether the next model of the chain is
 * tried, what the caller is told, and with which status.  Failing over is for
 * faults of the provider or of our account with it; a request that the model
 * itself refuses would be refused again, or answered otherwise than asked. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "broker/text.h"

/* name, word, fails over, status for our caller, what it means */
#define FAULTS(X)                                                                                 \
	X(CONNECT, "connect", true, 502, "The model provider could not be reached")               \
	X(RATE_LIMITED, "rate_limited", true, 429, "The model provider limits our requests")      \
	X(SERVER, "server", true, 502, "The model provider failed")                               \
	X(TIMEOUT, "timeout", true, 504, "The model took too long")                               \
	X(STALL, "stall", true, 504, "The model fell silent in the middle of its answer")         \
	X(MALFORMED, "malformed", true, 502, "The model provider's reply could not be read")      \
	X(CUT, "cut", true, 502, "The model provider's reply ended too early")                    \
	/* Our key or account with this provider, which says nothing about the next. */           \
	X(AUTH, "auth", true, 502, "The model provider refuses the key it was given")             \
	X(REFUSED, "refused", false, 400, "The model provider does not accept the request")       \
	/* A larger model may stand further down, but the chain is no router: it is not tried. */ \
	X(CONTEXT_LENGTH, "context_length", false, 400, "The request is too long for the model")  \
	X(CONTENT_FILTER, "content_filter", false, 400,                                           \
		"The provider's filter stopped the request")                                      \
	/* Ours: who asks holds all the memory there is for him. */                               \
	X(MEMORY, "memory", false, 503, "There is no memory left for the model's answer")

enum fault_class {
#define X(name, ...) FAULT_##name,
	FAULTS(X)
#undef X
		FAULT_COUNT
};

struct fault_row {
	const char *word;
	bool fails_over;
	int status;
	const char *title;
};

extern const struct fault_row fault_rows[FAULT_COUNT];

enum {
	FAULT_TEXT_MAX = 512,	 /* bytes of the sentence */
	FAULT_BODY_MAX = 65536,	 /* how much of an error's body is read */
	RETRY_AFTER_MAX_S = 3600 /* a provider that wants more gets this */
};

struct fault {
	enum fault_class class;
	int status;	   /* the provider's, 0 if it gave none */
	int retry_after_s; /* 0: not said */
	/* For the caller; valid UTF-8, no control characters.  It quotes the provider only where the
	 * request is at fault: other words may tell of our account, and of keys. */
	char sentence[FAULT_TEXT_MAX];
	char words[FAULT_TEXT_MAX]; /* what the provider said, for who owns the account */
	char code[64];		    /* the provider's own word for it, or "" */
};

/* With a sentence of our own; NULL for the title of the class. */
void fault_set(struct fault *f, enum fault_class class, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* From a reply whose status is not 2xx, in any provider's shape (or none, such as HTML).
 * `retry_after` is the header's value or NULL; a date in it is taken relative to now_us. */
void fault_read(struct fault *f, int status, const char *retry_after, const char *body, size_t len,
	int64_t now_us);
/* From an error inside a stream: {message, type, code}, already read. */
void fault_from_words(
	struct fault *f, int status, const char *type, const char *code, const char *message);
/* Reads an error's object or string at r: {message, type, code, status} or text. */
void fault_read_value(struct fault *f, int status, struct json_reader *r);

/* Seconds to wait as a Retry-After says, at most RETRY_AFTER_MAX_S; 0 if it says nothing. */
int retry_after_read(const char *value, int64_t now_us);
