/* reading.h - a message from outside, from its raw bytes to what is stored and shown: all steps in their order.
 *
 * The look at the raw bytes, the parser in its own process, then what is ours:
 * addresses, ids, the text that a person would read, and what they wrote of
 * it.  It blocks for the helper: for a thread of a pool, never for a loop. */
#pragma once
#include "helper/helper.h"
#include "mail/address.h"
#include "mail/delivery.h"
#include "mail/wake.h"

enum { MAIL_READ_REFERENCES_MAX = 100, MAIL_READ_PREVIEW_MAX = 200 };

struct mail_read {
	const struct mail_person *from;	      /* NULL: From is not exactly one plain address */
	struct mail_people to, cc, reply_to;  /* those that are addresses */
	const char *subject;		      /* "" */
	const char *message_id, *in_reply_to; /* without < and >; NULL: there is none */
	const char *const *references;	      /* likewise; the last MAIL_READ_REFERENCES_MAX */
	size_t reference_count;
	const char *text;		   /* the text part, or what the HTML part shows, or "" */
	const char *extracted_text;	   /* of it, what is not quoted */
	const char *html_text;		   /* what the HTML part shows, or NULL */
	const char *preview;		   /* the beginning of what was written, on one line */
	const struct mail_header *headers; /* those that say something about loops and trust */
	size_t header_count;
	const struct helper_mail_part *attachments;
	size_t attachment_count;
	const struct mail_delivery *deliveries;
	size_t delivery_count;
	const char *fault; /* why it cannot be read: a sentence */
};

/* 0; ERR_INVALID with a fault that is the message's: it is to be kept, unreadable; ERR_BUSY, ERR_INTERNAL with one that is
 * ours: it is to be tried again. */
int mail_read(struct helper *h, struct arena *a, const char *raw, size_t len, size_t bytes_max,
	struct mail_read *ret);
