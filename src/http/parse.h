/* parse.h - bytes to a request, by the letter of RFC 9112.
 *
 * Pure functions over bytes: no sockets, no clock, no reply.  Whatever two
 * readers could understand differently is refused.  A verdict depends on the
 * bytes alone, never on how they were cut into pieces. */
#pragma once
#include "http/http.h"

enum { HTTP_MORE = 0, HTTP_DONE = 1 }; /* or a negative ERR_ */

enum {
	HTTP_METHOD_MAX = 32,
	HTTP_TARGET_MAX = 8 * 1024,
	HTTP_CHUNK_DIGITS = 16,
	HTTP_CHUNK_EXTRA = 4 * 1024, /* extensions of all chunks of a body together */
	HTTP_TRAILER_MAX = 8 * 1024,
};

/* A head being read.  Zeroed, then the first five members are set. */
struct http_head {
	struct http_request *request;
	struct http_header *headers; /* room for max_headers */
	struct arena *arena;	     /* the text goes there: the bytes given need not stay */
	size_t max_head, max_headers;

	size_t total; /* bytes of the lines taken */
	size_t seen;  /* bytes of the unfinished line already searched for its end */
	bool blank;   /* the one empty line before a request has come */
	bool begun;   /* the request line has been taken */
	bool has_length, has_coding, wants_continue, odd_expectation, says_close, says_keep;
	unsigned singles;      /* a bit for each field that came and must not come again */
	int coding;	       /* 0, or the error its value is */
	const char *authority; /* of an absolute target, or NULL */
	struct http_header *host;
	const char *fault; /* with a negative verdict: a sentence */
};

/* Takes whole lines; *ret_used bytes of the n are done with, the rest comes again with more. */
int http_head_take(struct http_head *h, const char *at, size_t n, size_t *ret_used);

struct http_chunked {
	uint8_t state, digits;
	uint64_t left;		/* of the chunk at hand */
	size_t extra, trailers; /* bytes, towards their maxima */
	const char *fault;
};

/* Decodes into out, whose maximum is the most a body may hold. */
int http_chunked_take(struct http_chunked *d, const char *at, size_t n, size_t *ret_used,
	struct buf *out, uint64_t max_body);

/* The byte in lower case if it may stand in a token, else 0. */
extern const unsigned char http_token[256];
/* True for text without control bytes other than the tab. */
bool http_text_valid(const char *at, size_t n);
/* True if there is a byte beyond ASCII. */
bool http_has_high(const char *at, size_t n);
/* True for bytes from ! to ~ alone. */
bool http_is_visible(const char *at, size_t n);
/* True for `host`, `host:port` or `[address]:port`. */
bool http_host_valid(const char *at, size_t n);
/* Compares ASCII without regard to case; word is lower case. */
bool http_word_is(const char *at, size_t n, const char *word);
/* Steps through a comma-separated list: false at its end.  Items come without white space around. */
bool http_list_next(const char **at, const char *end, const char **ret_item, size_t *ret_len);
