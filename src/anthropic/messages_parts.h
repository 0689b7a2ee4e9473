/* messages_parts.h - what the files of the reader of messages share; nobody else includes it. */
#pragma once
#include "anthropic/messages_read.h"

enum { NOWHERE = -1, DEPTH_MAX = 3 };

enum { MEMBER_NAME_MAX = 64 }; /* bytes of a name that is said again */

struct messages_reader {
	struct json_reader r;
	struct chat *c;
	struct messages_read *ret;
	struct chat_error *e;
	bool wrong; /* *e is filled */
	/* Where it is: a member of the body, and the number of its items within each other. */
	const char *member;
	char name[MEMBER_NAME_MAX + 1]; /* of one that is not known */
	int item, block, inner;
	int depth;		     /* of blocks within blocks */
	struct chat_message *system; /* goes before the others */
	bool effort_said;
};

/* Fills the error, unless it is; `key` is the member of where it is, or NULL.  False always. */
bool messages_wrong(struct messages_reader *in, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* True if a value of that type comes next; otherwise the error is filled. */
bool messages_expect(
	struct messages_reader *in, struct json_reader *r, const char *key, enum json_type want);
/* A name as a header may hold it. */
bool messages_plain_name(const char *name);
/* Nobody is sent it. */
void messages_dropped(struct messages_reader *in, const char *name);
/* Only providers that speak this protocol are sent it. */
void messages_elsewhere(struct messages_reader *in, const char *name);
/* What the provider may read of it is not bounded by its bytes. */
void messages_unbounded(struct messages_reader *in);
/* The piece of the body goes out otherwise. */
void messages_patch(struct messages_reader *in, struct slice at, struct slice with);
/* A cache_control object, or null. */
void messages_cache(struct messages_reader *in, struct json_reader *r, struct slice *ret);

/* A message that is not among the chat's yet. */
struct chat_message *messages_begin(struct messages_reader *in, enum chat_role role);
void messages_end(struct messages_reader *in, struct chat_message *m);

/* messages_blocks.c: a text or blocks, into the message; where it holds results of tools they become messages. */
void messages_content(struct messages_reader *in, const char *key, struct chat_message *m);
/* messages_tools.c */
void messages_tools(struct messages_reader *in, const char *key);
void messages_choice(struct messages_reader *in, const char *key);
