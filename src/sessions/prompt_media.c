/* prompt_media.c - the images, files and sounds of a conversation as a model is shown them.
 *
 * What a model cannot take, and what is too old for there being so much, it is
 * told of in a few words where it stood: nothing vanishes without a word. */
#include <string.h>

#include "base/base64.h"
#include "sessions/session_file.h"
#include "sessions/turn.h"

bool prompt_has_parts(const struct list *messages)
{
	const struct message_row *m = messages->at;

	for (size_t i = 0; i < messages->count; i++)
		if (m[i].parts.count)
			return true;
	return false;
}

/* From the store, or what was brought from the bucket.  *ret is NULL if there is nothing to show. */
static int part_bytes(struct turn *t, struct db *db, const struct MessagePart *part,
	const void **ret, size_t *ret_len)
{
	struct session_file_bytes file;
	struct bucket_carry *carry = turn_carry(t);
	struct problem missing = { 0 };
	int err = session_file_find(
		db, &t->mind, t->job->tenant_id, t->job->subject, part->file_id, &file, &missing);

	*ret = err ? NULL : file.bytes;
	*ret_len = err ? 0 : file.len;
	if (!err && file.in_bucket)
		err = carry ? bucket_carry_get(carry, &file.object, ret, ret_len) : ERR_STORE;
	if (!err || err == ERR_BRING)
		return err;
	*ret = NULL;
	if (err == ERR_NOT_FOUND || missing.err || (err == ERR_STORE && file.in_bucket))
		return 0; /* deleted, or lost, which the log says */
	if (file.in_bucket)
		return problem_set(
			&t->problem, &t->mind, ERR_BUSY, "The bucket cannot be read just now.");
	return err;
}

static int load_part(
	struct turn *t, struct db *db, const struct MessagePart *part, struct media *out)
{
	const void *bytes;
	size_t len = 0;
	char *text;
	int err = part_bytes(t, db, part, &bytes, &len);

	*out = (struct media){ .file_id = part->file_id };
	if (err || !bytes) /* the model is told of it */
		return err;
	if (!arena_room(&t->mind, base64_length(len)))
		return ERR_BUSY;
	text = arena_raw(&t->mind, base64_length(len), 1);
	base64_encode(bytes, len, text);
	out->base64 = (struct slice){ text, base64_length(len) };
	return 0;
}

static bool is_loaded(const struct media *list, size_t count, const char *file_id)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].file_id, file_id) == 0)
			return true;
	return false;
}

/* The newest first, as many as one request may hold; one that stands in it twice counts twice. */
int prompt_media_load(struct turn *t, struct db *db, const struct list *messages, struct list *ret)
{
	const struct message_row *m = messages->at;
	struct media *out;
	size_t count = 0, n = 0;
	int64_t left = SESSION_PARTS_BYTES;
	bool brings = false;
	int err = 0;

	for (size_t i = 0; i < messages->count; i++)
		count += m[i].parts.count;
	out = arena_array(&t->mind, struct media, count + 1);
	for (size_t i = messages->count; !err && i-- > 0;) {
		struct MessagePart *part = m[i].parts.at;

		for (size_t j = m[i].parts.count; !err && j-- > 0;) {
			if (part[j].file_id)
				left -= part[j].size_bytes;
			if (left < 0)
				part[j].file_id =
					NULL; /* told of in words, like all that is older */
			if (part[j].file_id && !is_loaded(out, n, part[j].file_id))
				err = load_part(t, db, &part[j], &out[n++]);
			if (err == ERR_BRING) { /* together with the others */
				brings = true;
				err = 0;
			}
		}
	}
	*ret = (struct list){ out, n };
	return !err && brings ? ERR_BRING : err;
}

/* ---- into the chat ---- */

static const struct media *media_of(const struct list *media, const char *file_id)
{
	const struct media *m = media->at;

	for (size_t i = 0; i < media->count; i++)
		if (strcmp(m[i].file_id, file_id) == 0)
			return m[i].base64.len ? &m[i] : NULL;
	return NULL;
}

static void put_text(struct chat *chat, struct chat_message *to, const char *text, size_t len)
{
	if (len)
		chat_part_add(chat, to, PART_TEXT)->text = text_escape(chat->arena, text, len);
}

/* As it is. */
static void show_part(struct chat *chat, struct chat_message *to, const struct MessagePart *part,
	const struct media *media)
{
	static const enum chat_part_kind kinds[][2] = {
		[MessagePartType_image] = { PART_IMAGE_DATA, PART_IMAGE_URL },
		[MessagePartType_file] = { PART_FILE_DATA, PART_FILE_URL },
		[MessagePartType_audio] = { PART_AUDIO, PART_AUDIO },
	};
	struct chat_part *p = chat_part_add(chat, to, kinds[part->type][part->url != NULL]);

	p->text = part->url ? chat_text(chat, part->url) : media->base64;
	p->tokens = session_part_tokens(part);
	if (part->content_type)
		p->media = chat_text(chat, part->type != MessagePartType_audio ? part->content_type
					   : strcmp(part->content_type, "audio/wav") == 0 ? "wav"
											  : "mp3");
	if (part->name && part->type == MessagePartType_file)
		p->name = chat_text(chat, part->name);
	if (part->detail && part->type == MessagePartType_image)
		p->detail = chat_text(chat, part->detail);
	if (part->type == MessagePartType_file && !chat->unbounded)
		chat->unbounded = "messages";
}

void prompt_put_parts(struct chat *chat, struct chat_message *to, const char *text,
	const struct list *parts, const struct list *media)
{
	const struct MessagePart *part = parts->at;
	size_t len = strlen(text), at = 0;

	for (size_t i = 0; i < parts->count; i++) {
		const struct media *found =
			media && part[i].file_id ? media_of(media, part[i].file_id) : NULL;
		const char *instead = session_part_instead(chat->arena, &part[i]);
		size_t place = part[i].place < 0	     ? at
			       : (size_t)part[i].place > len ? len
							     : (size_t)part[i].place;

		if (place > at) {
			put_text(chat, to, text + at, place - at);
			at = place;
		}
		if (media && (found || part[i].url))
			show_part(chat, to, &part[i], found);
		else
			put_text(chat, to, instead, strlen(instead));
		if (text[at] == '\n') /* which parted this from what follows */
			at++;
	}
	put_text(chat, to, text + at, len - at);
}
