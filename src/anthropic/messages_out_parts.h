/* messages_out_parts.h - what the two files of answers in Anthropic's shape share; nobody else includes it. */
#pragma once
#include "anthropic/messages_out.h"

enum message_block_kind { OPEN_TEXT, OPEN_THOUGHT, OPEN_CALL, OPEN_FOREIGN };

/* A block: in a stream it is only a number, else all of it is gathered. */
struct message_open {
	struct message_open *next;
	enum message_block_kind kind;
	int64_t index;
	int call;
	bool over, redacted;
	struct slice id, name, signature;
	struct buf text, citations;
};

/* messages_whole.c */
void messages_write_usage(const struct usage *u, struct buf *out);
/* stop_reason and stop_sequence, as members. */
void messages_write_stop(const struct event *e, struct buf *out);
/* A message up to its content. */
void messages_write_head(const struct messages_out *o, struct buf *out);
/* A thought of a provider that is not Anthropic's is signed so that it finds its way back. */
void messages_write_signature(
	const struct messages_out *o, struct slice id, struct slice signature, struct buf *out);
void messages_write_whole(struct messages_out *o, const struct event *e);
