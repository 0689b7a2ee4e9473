/* console.h - the console: files that browsers are given.
 *
 * The files are made by console/build.mjs, kept in console/dist, and put into
 * the program by tools/embed-console, each with its hash and its compressed
 * forms, so that nothing is compressed or hashed while it is served.  This
 * room knows requests and replies; it knows no operation and no caller. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct http_exchange;

struct console_body {
	const char *at; /* NULL where the form is not worth its bytes */
	size_t len;
};

struct console_file {
	const char *path; /* below /console/ */
	const char *type;
	const char *hash;   /* of the plain form */
	bool named_by_hash; /* another content has another name */
	struct console_body plain, gzip, brotli;
};

/* By their paths, in order. */
extern const struct console_file console_files[];
extern const size_t console_file_count;

/* Answers a request that no route takes, if it is for the console or for the root, which leads there. */
bool console_answer(struct http_exchange *x);
/* The same where there is no console: the root says where the document is. */
bool console_absent(struct http_exchange *x);
