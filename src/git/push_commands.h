/* push_commands.h - what a push asks for: the commands at its head, which refs they would make or move, whether they may, and
 * what git answered of each; see gitprotocol-pack(5).
 *
 * The head is read before git sees a byte of the push, so that a hook is not
 * needed for what a push may do.  It knows nothing of who pushes. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/slice.h"

enum {
	PUSH_HEAD_MAX = 64 * 1024, /* bytes of the commands with the flush after them */
	PUSH_BIND_MAX = 9,	   /* bytes by which push_head_bind() makes it longer */
	GIT_ID_LEN = 40,
};

struct push_command {
	char old_id[GIT_ID_LEN + 1], new_id[GIT_ID_LEN + 1];
	const char *ref;
	const char *refused; /* why it is not to be done; NULL: it may be */
	bool done;	     /* git says so */
};

struct push {
	struct push_command *commands;
	size_t count;
	bool atomic;	  /* the client asks for all of it or nothing */
	bool reports;	  /* the client wants to hear what became of each */
	size_t band_line; /* bytes of a line of the side band; 0: there is none */
	bool refused;	  /* one of them at least is */
};

enum push_head { PUSH_READ, PUSH_BREAKS_OFF, PUSH_REFUSED };

/* Reads the head of a push; PUSH_BREAKS_OFF where it is not all there.  PUSH_REFUSED is what is not to be answered by git's
 * report, with a sentence.  A push without a command is a client that asks whether it may. */
enum push_head push_head_read(
	struct push *ret, struct arena *a, const char *bytes, size_t len, const char **ret_fault);

/* Writes a head that was read so that git does all of its commands or none, whether or not the client asks for that. */
void push_head_bind(const struct push *p, const char *bytes, size_t len, struct buf *out);

/* The answer where one command is refused: none of them is done. */
void push_write_refusal(const struct push *p, struct buf *out);
/* Reads what git has answered: which of the commands are done. */
void push_read_report(struct push *p, const char *bytes, size_t len);
