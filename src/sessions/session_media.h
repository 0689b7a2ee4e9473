/* session_media.h - what a message holds besides its text: images, files and sounds.
 *
 * The bytes are files of the session, so that they are read and deleted with
 * it; the message names them and says where in its text they stand.  They come
 * from outside: what they are is told by the bytes themselves wherever that can
 * be, and every size has a bound.  An address is kept as an address: nothing is
 * fetched. */
#pragma once
#include "base/error.h"
#include "contract/schema.h"
#include "store/store.h"

struct bucket_carry;

enum {
	SESSION_PART_MAX = 10 << 20,	 /* bytes of one */
	SESSION_PARTS_MAX = 20,		 /* in a message */
	SESSION_PARTS_BYTES = 16 << 20,	 /* in a message, and in one request to a model */
	SESSION_FILES_MAX = 200,	 /* of a session, whoever brought them */
	SESSION_FILES_BYTES = 100 << 20, /* of a session, beyond which no message brings more */
	SESSION_PART_URL_MAX = 8192,	 /* bytes of an address */
};

enum MessagePartType { MessagePartType_image, MessagePartType_file, MessagePartType_audio };
extern const struct words MessagePartType_words;

/* As messages keep and show it. */
struct MessagePart {
	int type;
	int64_t place; /* the byte of the text before which it stands */
	const char *file_id, *name, *content_type;
	int64_t size_bytes;
	const char *url, *detail;
};
SCHEMA_DECLARED(MessagePart);

/* One that is brought.  With an address there are no bytes. */
struct session_part {
	struct MessagePart told;
	const void *bytes;
	size_t len;
	const char *field; /* where in the request it stood, for what is said of it */
};

/* Of a list: */
struct session_parts {
	struct session_part *at;
	size_t count;
	struct bucket_carry
		*carry; /* by which bytes come to the bucket; NULL: they stay in the store */
};

/* Whose files the bytes become. */
enum parts_owner { PARTS_OF_SESSION, PARTS_OF_THREAD };

/* Adds one.  Its type comes from its bytes: `claimed` counts where they do not tell, and is refused where they tell otherwise.
 * `base64` is of `len`; NULL with an address in told.url.  ERR_INVALID names the field. */
int session_part_add(struct arena *a, struct session_parts *to, const struct session_part *part,
	const char *claimed, const char *base64, size_t len, struct problem *p);

/* Has their bytes brought with the first that a transaction asks for, rather than one after the other. */
void session_parts_note(const struct session_parts *parts);

/* Writes the bytes as files, and hands back what the message is to say of them: a list of struct MessagePart, of none if
 * there are none.  ERR_INVALID names the first part for which there is no room; ERR_BRING: see bucket_carry.h. */
int session_parts_keep(struct db *db, struct arena *a, enum parts_owner whose,
	const char *tenant_id, const char *owner_id, const struct session_parts *parts,
	struct list *ret, struct problem *p);
/* Files that the session has already, as parts at that place of a message; each is named by its id, under file_ids[i].
 * ERR_INVALID names the first that is none of the session's, or is too large to be shown to a model. */
int session_parts_refer(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, const struct list *ids, size_t place, struct session_parts *ret,
	struct problem *p);
/* The files of a thread, which becomes a session of the same id. */
int session_parts_move(struct db *db, const char *tenant_id, const char *thread_id);

/* An estimate of what a model reads in it. */
int64_t session_part_tokens(const struct MessagePart *part);
/* What a model is told in its place, as in [image "cat.png", image/png, 1042 bytes: not shown]. */
const char *session_part_instead(struct arena *a, const struct MessagePart *part);

extern const struct statement_set session_part_sql;
