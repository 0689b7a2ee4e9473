/* letter_post.h - takes the letters that are due to the relay, one after the other.
 *
 *   resting -> taking (a transaction: the next letter, and what it says) -> sending (a thread that may wait)
 *           -> settling (a transaction) -> taking ... -> resting
 *   taking  -> passing over (a transaction: what it says cannot be found out now) -> taking
 *
 * One letter is under way in a process.  Whoever has the step that is under way has everything; the lock guards only
 * whether one is. */
#pragma once
#include "mailboxes/letter_text.h"
#include "mailboxes/letters.h"
#include "outside/smtp.h"

/* In the transaction that takes a letter: what it says, and to whom.  With LETTER_SAYS_NOTHING it is dropped. */
typedef int letter_fill_fn(void *ctx, struct db *db, struct arena *a, const struct letter_row *row,
	int64_t now, struct letter *ret);

struct letter_post_settings {
	struct store *store;
	struct vault *vault;		/* of the key that letters are signed with */
	const struct smtp_relay *relay; /* without a url nothing is taken */
	letter_fill_fn *fill;
	void *ctx;
};

struct letter_post;
struct letter_post *letter_post_new(
	const struct letter_post_settings *settings); /* before store_start() */
/* There is somebody who takes letters. */
bool letter_post_goes(const struct letter_post *p);
/* There may be letters that are due. */
void letter_post_wake(struct letter_post *p);
/* Takes no more, and lets go of the one under way, which is sent later; before the store stops. */
void letter_post_stop(struct letter_post *p);
void letter_post_free(struct letter_post *p);
