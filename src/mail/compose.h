/* compose.h - a message from its fields, ready for SMTP: MIME, seven bits, CR LF everywhere.
 *
 * Whatever a field holds, it cannot become another header or end one: texts
 * that are not plain are encoded, addresses are struct mail_address, ids are
 * checked.  Lines have at most 78 bytes where we fold them and never more than
 * 998.  The bytes go to a sink piece by piece; an attachment is pulled from
 * whoever has it, and never held whole. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mail/address.h"

enum {
	COMPOSE_PEOPLE_MAX = 100,
	COMPOSE_SUBJECT_MAX = 4096, /* bytes */
	COMPOSE_TEXT_MAX = 4 << 20,
	COMPOSE_REFERENCES_MAX =
		20, /* the first and the last nineteen are kept by whoever fills them in */
	COMPOSE_ATTACHED_MAX = 50,
	COMPOSE_FILENAME_MAX = 1024,
	COMPOSE_ID_MAX = 250, /* of a Message-ID, without its < and > */
};

/* Bytes one after the other: how many were put, at most `room`; 0 at the end, -1 where they cannot be had. */
struct compose_source {
	long (*pull)(struct compose_source *s, void *into, size_t room);
};

struct compose_attachment {
	const char *filename,
		*content_type; /* type/subtype; anything else is application/octet-stream */
	struct compose_source *bytes;
};

enum compose_origin {
	COMPOSE_BY_PERSON,	/* who has seen it: no Auto-Submitted */
	COMPOSE_AUTO_REPLIED,	/* an agent's answer */
	COMPOSE_AUTO_GENERATED, /* what an agent began */
};

struct compose_message {
	struct mail_person from;
	const struct mail_address *reply_to; /* NULL: none */
	struct mail_people to, cc;
	const char *subject, *text, *html;    /* html NULL: none */
	const char *message_id, *in_reply_to; /* without < and >; in_reply_to NULL: none */
	const char *const *references;
	size_t reference_count;
	int64_t date_us;
	enum compose_origin origin;
	int hops; /* 0: no X-Lodge-Hops */
	const struct compose_attachment *attachments;
	size_t attachment_count;
	const char *boundary; /* the id of the message: 1 to 40 of [a-z0-9] */
};

struct compose_sink {
	bool (*put)(struct compose_sink *s, const void *bytes, size_t len);
};

/* 0; ERR_INVALID with a sentence; ERR_UPSTREAM where an attachment or the sink failed. */
int mail_compose(
	const struct compose_message *m, struct compose_sink *sink, const char **ret_fault);
/* x@y as it may stand in < and > of Message-ID and References. */
bool mail_message_id_valid(const char *text, size_t len);
