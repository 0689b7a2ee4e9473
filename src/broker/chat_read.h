/* chat_read.h - what the two files of the chat decoder share; nobody else includes it. */
#pragma once
#include "broker/chat.h"

struct chat_reader {
	struct json_reader r;
	struct chat *c;
	struct chat_error *e;
	bool wrong; /* *e is filled */
};

/* Fills the error, unless it is; false always. */
bool chat_wrong(struct chat_reader *in, const char *param, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* True if a value of that type comes next; otherwise the error is filled. */
bool chat_expect(struct chat_reader *in, const char *param, enum json_type want);

void chat_read_messages(struct chat_reader *in, const char *key);
void chat_read_tools(struct chat_reader *in, const char *key);
void chat_read_choice(struct chat_reader *in, const char *key);
/* A cache_control object as JSON text, or null. */
void chat_read_cache(struct chat_reader *in, const char *place, struct slice *ret);
