/* session_media.c - see session_media.h. */
#include "sessions/session_media.h"

#include <string.h>

#include "base/base64.h"
#include "base/id.h"
#include "base/utf8.h"
#include "base/utf8_cut.h"
#include "sessions/media_type.h"
#include "sessions/session_file.h"
#include "store/row.h"

const struct words MessagePartType_words = {
	.title = "MessagePartType",
	.list = (const char *const[]){ "image", "file", "audio", NULL },
	.doc = "What a message holds besides its text.",
};

FIELDS(MessagePart) = {
	FIELD(MessagePart, type, .required = true, .words = &MessagePartType_words,
		.doc = "What it is."),
	FIELD(MessagePart, place, .required = true, .example = "0",
		.doc = "The byte of the message's content before which it stands."),
	FIELD(MessagePart, file_id, .left_out = true, .nullable = true, .id = true,
		.doc = "The file of the session that holds its bytes; left out for an address."),
	FIELD(MessagePart, name, .left_out = true, .nullable = true, .example = "\"order.pdf\"",
		.doc = "What it is called."),
	FIELD(MessagePart, content_type, .left_out = true, .nullable = true,
		.example = "\"image/png\"", .doc = "What kind of bytes they are."),
	FIELD(MessagePart, size_bytes, .left_out = true, .nullable = true, .example = "51200",
		.doc = "How many."),
	FIELD(MessagePart, url, .left_out = true, .nullable = true, .ceiling = SESSION_PART_URL_MAX,
		.example = "\"https://example.org/cat.png\"",
		.doc = "Its address, which the model's provider reads; left out for bytes."),
	FIELD(MessagePart, detail, .left_out = true, .nullable = true, .example = "\"low\"",
		.doc = "How closely an image is to be looked at, where somebody said."),
};
SCHEMA(MessagePart, .doc = "An image, a file or a sound in a message.");

struct part_file {
	const char *tenant_id, *session_id, *id, *name, *content_type;
	int64_t size_bytes, created_at;
	struct bytes content;
};

FIELDS(part_file) = { ROW_FIELDS(part_file, tenant_id, session_id, id, name, content_type,
	size_bytes, created_at, content) };
static SCHEMA(part_file, .internal = true);

struct kept_files {
	int64_t count, size_bytes;
};

FIELDS(kept_files) = { ROW_FIELDS(kept_files, count, size_bytes) };
static SCHEMA(kept_files, .internal = true);

struct file_told {
	const char *name, *content_type, *object_id;
	int64_t size_bytes;
};

FIELDS(file_told) = { ROW_FIELDS(file_told, name, content_type, size_bytes),
	ROW_NULLABLE(file_told, object_id) };
static SCHEMA(file_told, .internal = true);

enum { PART_KEEP, PART_KEPT, PARTS_MOVE = PART_KEPT + 2, PART_FILE, PART_BYTES };

#define KEPT_COLUMNS "select count(*) as count, coalesce(sum(size_bytes), 0) as size_bytes from "
#define FILE_COLUMNS "id, name, content_type, size_bytes, created_at, content"

static const struct statement sql[] = {
	[PART_KEEP] = { "part_keep_thread",
		"insert into thread_files (tenant_id, thread_id, " FILE_COLUMNS
		") values (:tenant_id, :session_id, :id, :name, :content_type, :size_bytes, "
		":created_at, :content)",
		.args = &part_file_schema },
	[PART_KEPT + PARTS_OF_SESSION] = { "part_kept",
		KEPT_COLUMNS "session_files where tenant_id = $1 and session_id = $2",
		.row = &kept_files_schema },
	[PART_KEPT + PARTS_OF_THREAD] = { "part_kept_thread",
		KEPT_COLUMNS "thread_files where tenant_id = $1 and thread_id = $2",
		.row = &kept_files_schema },
	[PARTS_MOVE] = { "parts_move",
		"insert into session_files (tenant_id, session_id, " FILE_COLUMNS
		") select tenant_id, thread_id, " FILE_COLUMNS
		" from thread_files where tenant_id = $1 and thread_id = $2" },
	[PART_FILE] = { "part_file",
		"select name, content_type, size_bytes, object_id from session_files "
		"where tenant_id = $1 and session_id = $2 and id = $3",
		.row = &file_told_schema },
	[PART_BYTES] = { "part_bytes",
		"select content from session_files where tenant_id = $1 and session_id = $2 and id = $3" },
};
STATEMENT_SET(session_part_sql, sql);

/* What it is called where nobody said. */
static const char *part_name(struct arena *a, const struct MessagePart *told)
{
	static const char *const endings[][2] = { { "image/png", "png" }, { "image/jpeg", "jpg" },
		{ "image/gif", "gif" }, { "image/webp", "webp" }, { "application/pdf", "pdf" },
		{ "text/plain", "txt" }, { "audio/wav", "wav" }, { "audio/mpeg", "mp3" } };
	const char *ending = "bin";

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (strcmp(endings[i][0], told->content_type) == 0)
			ending = endings[i][1];
	return arena_printf(a, "%s.%s", MessagePartType_words.list[told->type], ending);
}

/* A name of theirs: no control characters, no path. */
static const char *clean_name(struct arena *a, const char *name)
{
	enum { NAME_MAX_BYTES = 255 };
	const char *last = strrchr(name, '/');
	size_t len;
	char *out;

	name = last ? last + 1 : name;
	len = strnlen(name, NAME_MAX_BYTES + 1);
	if (!len || len > NAME_MAX_BYTES || !utf8_valid(name, len))
		return NULL;
	out = arena_strndup(a, name, len);
	for (char *s = out; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f || *s == '\\' || *s == '"')
			*s = '_';
	return out;
}

/* ---- bringing one ---- */

static int check_address(struct arena *a, const struct session_part *part, struct problem *p)
{
	const char *url = part->told.url;
	size_t len = strlen(url);

	if (len > SESSION_PART_URL_MAX)
		return problem_field(p, a, part->field, "too_long",
			"must have an address of at most %d bytes", SESSION_PART_URL_MAX);
	if ((strncasecmp(url, "https://", 8) != 0 && strncasecmp(url, "http://", 7) != 0) ||
		strcspn(url, " \t\r\n\"<>\\") != len)
		return problem_field(p, a, part->field, "format",
			"must be an address that begins with https://, or data: with base64");
	return 0;
}

static int decode_part(struct arena *a, struct session_part *part, const char *claimed,
	const char *base64, size_t len, struct problem *p)
{
	unsigned char *bytes;

	if (len / 4 * 3 > SESSION_PART_MAX + 3)
		return problem_field(p, a, part->field, "too_long", "must hold at most %d bytes",
			SESSION_PART_MAX);
	if (!arena_room(a, base64_bytes(len)))
		return ERR_BUSY;
	bytes = arena_raw(a, base64_bytes(len), 1);
	if (!base64_decode(base64, len, bytes, &part->len) || !part->len)
		return problem_field(p, a, part->field, "format", "must hold base64");
	if (part->len > SESSION_PART_MAX)
		return problem_field(p, a, part->field, "too_long", "must hold at most %d bytes",
			SESSION_PART_MAX);
	part->bytes = bytes;
	part->told.size_bytes = (int64_t)part->len;
	switch (part->told.type) {
	case MessagePartType_image:
		part->told.content_type = media_image_type(bytes, part->len);
		break;
	case MessagePartType_audio:
		part->told.content_type = media_sound_type(bytes, part->len);
		break;
	default:
		part->told.content_type = media_file_type(a, claimed, bytes, part->len);
	}
	if (part->told.content_type)
		return 0;
	return problem_field(p, a, part->field, "format",
		part->told.type == MessagePartType_image ? "must be a PNG, JPEG, GIF or WebP image"
		: part->told.type == MessagePartType_audio
			? "must be a WAV or MP3 sound"
			: "is not of the type that it is said to be");
}

int session_part_add(struct arena *a, struct session_parts *to, const struct session_part *part,
	const char *claimed, const char *base64, size_t len, struct problem *p)
{
	struct session_part *out;
	size_t bytes = 0;
	int err;

	if (!to->at)
		to->at = arena_array(a, struct session_part, SESSION_PARTS_MAX);
	if (to->count == SESSION_PARTS_MAX)
		return problem_field(p, a, part->field, "too_long",
			"is one of more than %d images, files and sounds in a message",
			SESSION_PARTS_MAX);
	out = &to->at[to->count];
	*out = *part;
	out->told.size_bytes = NIL;
	out->told.content_type = NULL;
	err = base64 ? decode_part(a, out, claimed, base64, len, p) : check_address(a, out, p);
	if (err)
		return err;
	if (base64) {
		const char *name = part->told.name ? clean_name(a, part->told.name) : NULL;

		out->told.name = name ? name : part_name(a, &out->told);
	}
	for (size_t i = 0; i <= to->count; i++)
		bytes += to->at[i].len;
	if (bytes > SESSION_PARTS_BYTES)
		return problem_field(p, a, part->field, "too_long",
			"is beyond the %d bytes that a message holds besides its text",
			SESSION_PARTS_BYTES);
	to->count++;
	return 0;
}

/* ---- keeping them ---- */

static int keep_part(struct db *db, struct arena *a, enum parts_owner whose, const char *tenant_id,
	const char *owner_id, struct bucket_carry *carry, const struct session_part *part,
	struct MessagePart *out, struct problem *p)
{
	int64_t made;
	struct id id = id_new(&made);

	*out = part->told;
	if (!part->bytes)
		return 0;
	out->file_id = arena_strdup(a, id.text);
	if (whose == PARTS_OF_SESSION)
		return session_file_add(db, a,
			&(struct session_file_new){ .tenant_id = tenant_id,
				.session_id = owner_id,
				.id = out->file_id,
				.name = out->name,
				.content_type = out->content_type,
				.created_at = made,
				.bytes = part->bytes,
				.len = part->len,
				.carry = carry,
				.stays = true },
			p);
	return db_put(db, &sql[PART_KEEP],
		&(struct part_file){ .tenant_id = tenant_id,
			.session_id = owner_id,
			.id = out->file_id,
			.name = out->name,
			.content_type = out->content_type,
			.size_bytes = out->size_bytes,
			.created_at = made,
			.content = { part->bytes, part->len } });
}

void session_parts_note(const struct session_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		if (parts->at[i].bytes)
			session_file_note(parts->carry, parts->at[i].bytes, parts->at[i].len);
}

int session_parts_keep(struct db *db, struct arena *a, enum parts_owner whose,
	const char *tenant_id, const char *owner_id, const struct session_parts *parts,
	struct list *ret, struct problem *p)
{
	struct kept_files kept = { 0 };
	struct MessagePart *out;
	bool brings = false;
	int err = 0;

	*ret = (struct list){ 0 };
	if (!parts || !parts->count)
		return 0;
	err = db_one(db, a, &sql[PART_KEPT + whose], &kept, ARGS(T(tenant_id), T(owner_id)));
	out = arena_array(a, struct MessagePart, parts->count);
	for (size_t i = 0; !err && i < parts->count; i++) {
		const struct session_part *part = &parts->at[i];

		kept.count += part->bytes != NULL;
		kept.size_bytes += (int64_t)part->len;
		if (part->bytes &&
			(kept.count > SESSION_FILES_MAX || kept.size_bytes > SESSION_FILES_BYTES))
			return problem_field(p, a, part->field, "too_long",
				"is more than a session keeps: %d files, and %d bytes of them",
				SESSION_FILES_MAX, SESSION_FILES_BYTES);
		err = keep_part(db, a, whose, tenant_id, owner_id, parts->carry, part, &out[i], p);
		if (err == ERR_BRING) { /* together with those after it */
			brings = true;
			err = 0;
		}
	}
	*ret = (struct list){ out, parts->count };
	return !err && brings ? ERR_BRING : err;
}

/* What it is shown to a model as: the bytes tell, or told when they were brought to the bucket. */
static int shown_type(struct db *db, struct arena *a, const struct value *file,
	const struct file_told *told, const char **ret)
{
	struct bucket_row object;
	const void *bytes;
	size_t len = 0;
	int err;

	if (told->object_id) {
		err = bucket_row_read(db, a, file[0].text, told->object_id, &object);
		*ret = err ? NULL : object.content_type;
		return err == ERR_NOT_FOUND ? ERR_STORE : err;
	}
	err = db_bytes(db, a, &sql[PART_BYTES], &bytes, &len, file, 3);
	*ret = err ? NULL : media_shown_type(a, told->content_type, bytes, len);
	return err;
}

static int refer_to(struct db *db, struct arena *a, const struct value *file,
	struct session_part *part, struct problem *p)
{
	struct file_told told;
	const char *type = NULL;
	int err = db_one(db, a, &sql[PART_FILE], &told, file, 3);

	if (err == ERR_NOT_FOUND)
		return problem_field(
			p, a, part->field, "unknown", "is not the id of a file of this session");
	if (!err && told.size_bytes > SESSION_PART_MAX)
		return problem_field(p, a, part->field, "too_long",
			"is of more than the %d bytes that a model is shown", SESSION_PART_MAX);
	if (!err)
		err = shown_type(db, a, file, &told, &type);
	if (err)
		return err;
	part->told.size_bytes = told.size_bytes;
	part->told.type = strncmp(type, "image/", 6) == 0   ? MessagePartType_image
			  : strncmp(type, "audio/", 6) == 0 ? MessagePartType_audio
							    : MessagePartType_file;
	part->told.content_type = type;
	part->told.name = clean_name(a, told.name);
	if (!part->told.name)
		part->told.name = part_name(a, &part->told);
	return 0;
}

int session_parts_refer(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, const struct list *ids, size_t place, struct session_parts *ret,
	struct problem *p)
{
	const char *const *id = ids->at;
	int64_t bytes = 0;
	int err = 0;

	*ret = (struct session_parts){ .at = arena_array(a, struct session_part, ids->count + 1) };
	for (size_t i = 0; !err && i < ids->count; i++) {
		const struct value file[] = { T(tenant_id), T(session_id), T(id[i]) };
		struct session_part *part = &ret->at[ret->count++];

		part->field = arena_printf(a, "file_ids[%zu]", i);
		part->told.file_id = id[i];
		part->told.place = (int64_t)place;
		err = refer_to(db, a, file, part, p);
		bytes += err ? 0 : part->told.size_bytes;
		if (!err && bytes > SESSION_PARTS_BYTES)
			return problem_field(p, a, part->field, "too_long",
				"is beyond the %d bytes that a message holds besides its text",
				SESSION_PARTS_BYTES);
	}
	return err;
}

int session_parts_move(struct db *db, const char *tenant_id, const char *thread_id)
{
	return db_run(db, &sql[PARTS_MOVE], NULL, ARGS(T(tenant_id), T(thread_id)));
}

/* ---- for models ---- */

int64_t session_part_tokens(const struct MessagePart *part)
{
	enum {
		IMAGE = 1200,
		FILE_LEAST = 1000,
		FILE_MOST = 50000,
		TEXT_BYTES = 4,
		FILE_BYTES = 16,
		SOUND_BYTES = 400
	};
	int64_t size = part->size_bytes == NIL ? 0 : part->size_bytes, n;

	if (part->type == MessagePartType_image)
		return IMAGE;
	if (part->type == MessagePartType_audio)
		return size / SOUND_BYTES + 1;
	if (part->content_type && strncmp(part->content_type, "text/", 5) == 0)
		return size / TEXT_BYTES + 1;
	n = size / FILE_BYTES;
	return n < FILE_LEAST ? FILE_LEAST : n > FILE_MOST ? FILE_MOST : n;
}

const char *session_part_instead(struct arena *a, const struct MessagePart *part)
{
	const char *what = MessagePartType_words.list[part->type];

	return part->url ? arena_printf(
				   a, "[%s at %.*s: not shown]", what, UTF8_SHOWN(200, part->url))
			 : arena_printf(a, "[%s \"%s\", %s, %lld bytes: not shown]", what,
				   part->name, part->content_type, (long long)part->size_bytes);
}
