/* mime.c - messages of mail, read with GMime.
 *
 * GMime finds headers, parts and encodings; which of them are text, what a
 * file may be called, how much there may be of anything and what goes into
 * the answer is decided here.  It is known to overflow its stack over one kind
 * of header, and so sees only what mail/prescan.c let through.  What it says
 * to its log goes nowhere. */
#include <gmime/gmime.h>
#include <string.h>
#include <strings.h>

#include "helper/inside/mime_parts.h"

enum { HELPER_MIME_PARTED_MAX = 1 << 20 }; /* that a head of 256 kB grows by at most */

struct mime {
	struct outlet *out;
	GMimeParserOptions *options;
	struct buf plain, html;
	size_t parts, attached, decoded, people, status;
};

/* The headers that somebody asks for. */
static const char *const wanted[] = { "subject", "message-id", "in-reply-to", "references", "date",
	"auto-submitted", "precedence", "list-id", "list-unsubscribe", "feedback-id",
	"x-auto-response-suppress", "x-lodge-hops", "authentication-results", "return-path", "from",
	"sender", "to", "cc", "reply-to" };

static GLogWriterOutput say_nothing(
	GLogLevelFlags level, const GLogField *fields, gsize count, gpointer data)
{
	(void)level;
	(void)fields;
	(void)count;
	(void)data;
	return G_LOG_WRITER_HANDLED;
}

static void say_nothing_old(
	const gchar *domain, GLogLevelFlags level, const gchar *text, gpointer data)
{
	(void)domain;
	(void)level;
	(void)text;
	(void)data;
}

void mime_prepare(void)
{
	g_log_set_writer_func(say_nothing, NULL, NULL);
	g_log_set_default_handler(say_nothing_old, NULL);
	g_mime_init();
	mime_charsets_prepare();
}

/* ---- headers ---- */

static const char *wanted_name(const char *name)
{
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		if (strcasecmp(wanted[i], name) == 0)
			return wanted[i];
	return NULL;
}

static bool put_header(struct mime *m, GMimeHeader *h)
{
	const char *name = wanted_name(g_mime_header_get_name(h));
	const char *raw = g_mime_header_get_raw_value(h), *from;
	struct helper_record r = { .kind = RECORD_FIELD };
	char *text, *unfolded;
	struct buf b;
	bool good;

	if (!name)
		return true;
	unfolded = g_mime_utils_header_unfold(raw ? raw : "");
	/* Of words for people alone: what a machine reads would be made into something else. */
	text = strcmp(name, "subject") == 0 ? g_mime_utils_header_decode_text(m->options, unfolded)
					    : g_strdup(unfolded);
	for (from = text; *from == ' ' || *from == '\t';)
		from++;
	buf_init(&b, HELPER_MIME_VALUE_MAX);
	mime_put_line(&b, from, strlen(from));
	while (b.len && b.at[b.len - 1] == ' ')
		b.len--;
	r.name_len = (uint32_t)strlen(name);
	r.len = b.len;
	good = b.overflow ? outlet_fault(m->out, 0, "The header %s is too long.", name)
			  : m->out->put(m->out, &r, name, b.at);
	buf_free(&b);
	g_free(text);
	g_free(unfolded);
	return good;
}

static bool put_headers(struct mime *m, GMimeMessage *message)
{
	GMimeHeaderList *list = g_mime_object_get_header_list((GMimeObject *)message);
	int count = g_mime_header_list_get_count(list);

	if (count > HELPER_MIME_FIELDS_MAX)
		return outlet_fault(m->out, 0, "The message has too many headers.");
	for (int i = 0; i < count; i++)
		if (!put_header(m, g_mime_header_list_get_header_at(list, i)))
			return false;
	return true;
}

/* ---- addresses ---- */

/* As much as there is room for, in whole characters. */
static void put_short(struct buf *b, const char *text, size_t most)
{
	size_t before = b->len, len;

	mime_put_line(b, text, strlen(text));
	len = b->len - before;
	if (len > most) {
		while (most && (b->at[before + most] & 0xc0) == 0x80)
			most--;
		b->len = before + most;
	}
}

static bool put_mailbox(struct mime *m, const char *field, InternetAddress *ia)
{
	const char *address = internet_address_mailbox_get_addr((InternetAddressMailbox *)ia);
	const char *name = internet_address_get_name(ia);
	struct helper_record r = { .kind = RECORD_PERSON, .name_len = (uint32_t)strlen(field) };
	struct buf b;
	bool good;

	if (++m->people > HELPER_MIME_PEOPLE_MAX)
		return outlet_fault(m->out, 0, "The message has too many addresses.");
	buf_init(&b, HELPER_MIME_VALUE_MAX);
	/* One that is too long is none: a piece of it would be another. */
	if (address && strlen(address) <= HELPER_MIME_ADDRESS_MAX / 3)
		mime_put_line(&b, address, strlen(address));
	else if (address && strlen(address) <= HELPER_MIME_ADDRESS_MAX &&
		 g_utf8_validate(address, -1, NULL))
		mime_put_line(&b, address, strlen(address));
	buf_putc(&b, '\0');
	put_short(&b, name ? name : "", HELPER_MIME_NAME_MAX);
	r.len = b.len;
	good = b.overflow ? outlet_fault(m->out, 0, "A name in %s is too long.", field)
			  : m->out->put(m->out, &r, field, b.at);
	buf_free(&b);
	return good;
}

/* Groups are taken apart, one level of them. */
static bool put_people(struct mime *m, const char *field, InternetAddressList *list, bool inner)
{
	int count = list ? internet_address_list_length(list) : 0;

	for (int i = 0; i < count; i++) {
		InternetAddress *ia = internet_address_list_get_address(list, i);
		bool good = true;

		if (INTERNET_ADDRESS_IS_MAILBOX(ia))
			good = put_mailbox(m, field, ia);
		else if (INTERNET_ADDRESS_IS_GROUP(ia) && !inner)
			good = put_people(m, field,
				internet_address_group_get_members((InternetAddressGroup *)ia),
				true);
		if (!good)
			return false;
	}
	return true;
}

/* ---- parts ---- */

/* What a part holds, its encoding taken off; NULL where that is too much. */
static GByteArray *decode(struct mime *m, GMimePart *part)
{
	GMimeDataWrapper *content = g_mime_part_get_content(part);
	GMimeStream *stream = g_mime_stream_mem_new();
	GByteArray *bytes;

	if (content)
		g_mime_data_wrapper_write_to_stream(content, stream);
	bytes = g_mime_stream_mem_get_byte_array((GMimeStreamMem *)stream);
	g_mime_stream_mem_set_owner((GMimeStreamMem *)stream, FALSE);
	g_object_unref(stream);
	m->decoded += bytes->len;
	if (m->decoded <= HELPER_MIME_DECODED_MAX)
		return bytes;
	g_byte_array_free(bytes, TRUE);
	outlet_fault(m->out, 0, "The message is decoded to too many bytes.");
	return NULL;
}

static bool put_attached(struct mime *m, const char *file, const char *type, const char *id,
	const void *bytes, size_t len)
{
	struct helper_record r = { .kind = RECORD_ATTACHED, .len = len };
	char name[HELPER_MIME_NAME_MAX + 1];
	struct buf b;
	bool good;

	if (++m->attached > HELPER_MIME_ATTACHED_MAX)
		return outlet_fault(m->out, 0, "The message has too many attachments.");
	mime_safe_name(name, file, type, m->attached);
	buf_init(&b, HELPER_MIME_VALUE_MAX);
	buf_put(&b, name, strlen(name) + 1);
	put_short(&b, type, HELPER_MIME_NAME_MAX);
	buf_putc(&b, '\0');
	put_short(&b, id ? id : "", HELPER_MIME_NAME_MAX);
	r.name_len = (uint32_t)b.len;
	good = b.overflow ? outlet_fault(m->out, 0, "A part of the message has too long a name.")
			  : m->out->put(m->out, &r, b.at, len ? bytes : "");
	buf_free(&b);
	return good;
}

static const char *bytes_of(const GByteArray *bytes)
{
	return bytes->len ? (const char *)bytes->data : "";
}

/* To what is read already, if it is not too much; false: it is an attachment. */
static bool add_text(struct buf *to, const GByteArray *bytes, const char *charset)
{
	size_t before = to->len;

	if (to->len)
		buf_putc(to, '\n');
	mime_put_text(to, bytes_of(bytes), bytes->len, charset);
	if (!to->overflow)
		return true;
	to->len = before;
	to->overflow = false;
	return false;
}

/* A parameter of a part's header, with its encoded words made readable as those of the head are; NULL: there is none. */
static char *file_in(struct mime *m, GMimeObject *object, const char *header, bool disposition)
{
	GMimeHeader *h =
		g_mime_header_list_get_header(g_mime_object_get_header_list(object), header);
	char *unfolded = g_mime_utils_header_unfold(h ? g_mime_header_get_raw_value(h) : "");
	GMimeContentDisposition *cd = NULL;
	GMimeContentType *ct = NULL;
	const char *text = unfolded;
	struct buf parted;
	char *name;

	buf_init(&parted, strlen(unfolded) + HELPER_MIME_PARTED_MAX);
	if (mime_part_words(&parted, unfolded, strlen(unfolded)))
		text = buf_text(&parted);
	if (disposition) {
		cd = g_mime_content_disposition_parse(m->options, text);
		name = g_strdup(g_mime_content_disposition_get_parameter(cd, "filename"));
		g_object_unref(cd);
	} else {
		ct = g_mime_content_type_parse(m->options, text);
		name = g_strdup(g_mime_content_type_get_parameter(ct, "name"));
		g_object_unref(ct);
	}
	buf_free(&parted);
	g_free(unfolded);
	return name;
}

static char *file_of(struct mime *m, GMimeObject *object)
{
	char *name = file_in(m, object, "Content-Disposition", true);

	return name ? name : file_in(m, object, "Content-Type", false);
}

static bool put_leaf(struct mime *m, GMimeObject *object)
{
	GMimeContentType *ct = g_mime_object_get_content_type(object);
	GMimePart *part = (GMimePart *)object;
	const char *disposition = g_mime_object_get_disposition(object);
	const char *charset = g_mime_object_get_content_type_parameter(object, "charset");
	char *file = file_of(m, object);
	bool attached = (disposition && strcasecmp(disposition, "attachment") == 0) || file;
	char *type = ct ? g_mime_content_type_get_mime_type(ct) : g_strdup("text/plain");
	GByteArray *bytes = decode(m, part);
	bool good = bytes != NULL, taken = false;

	if (good && !attached && strcasecmp(type, "text/plain") == 0)
		taken = add_text(&m->plain, bytes, charset);
	else if (good && !attached && strcasecmp(type, "text/html") == 0)
		taken = add_text(&m->html, bytes, charset);
	else if (good && strcasecmp(type, "message/delivery-status") == 0) {
		good = mime_put_status(bytes_of(bytes), bytes->len, &m->status, m->out);
		taken = true;
	}
	if (good && !taken)
		good = put_attached(m, file, type, g_mime_object_get_content_id(object),
			bytes->data, bytes->len);
	if (bytes)
		g_byte_array_free(bytes, TRUE);
	g_free(type);
	g_free(file);
	return good;
}

/* A message inside is an attachment, as it stands. */
static bool put_inner(struct mime *m, GMimeObject *object)
{
	GMimeMessage *inner = g_mime_message_part_get_message((GMimeMessagePart *)object);
	GMimeStream *stream = g_mime_stream_mem_new();
	char *file = file_of(m, object);
	GByteArray *bytes;
	bool good;

	if (inner)
		g_mime_object_write_to_stream((GMimeObject *)inner, NULL, stream);
	bytes = g_mime_stream_mem_get_byte_array((GMimeStreamMem *)stream);
	m->decoded += bytes->len;
	good = m->decoded <= HELPER_MIME_DECODED_MAX
		       ? put_attached(m, file, "message/rfc822",
				 g_mime_object_get_content_id(object), bytes->data, bytes->len)
		       : outlet_fault(m->out, 0, "The message is decoded to too many bytes.");
	g_object_unref(stream);
	g_free(file);
	return good;
}

static bool put_part(struct mime *m, GMimeObject *object, size_t depth)
{
	int count;

	if (!object)
		return true;
	if (depth > HELPER_MIME_DEPTH_MAX)
		return outlet_fault(m->out, 0, "The parts of the message nest too deeply.");
	if (++m->parts > HELPER_MIME_PARTS_MAX)
		return outlet_fault(m->out, 0, "The message has too many parts.");
	if (GMIME_IS_MESSAGE_PART(object))
		return put_inner(m, object);
	if (!GMIME_IS_MULTIPART(object))
		return !GMIME_IS_PART(object) || put_leaf(m, object);
	count = g_mime_multipart_get_count((GMimeMultipart *)object);
	for (int i = 0; i < count; i++)
		if (!put_part(m, g_mime_multipart_get_part((GMimeMultipart *)object, i), depth + 1))
			return false;
	return true;
}

static bool put_texts(struct mime *m)
{
	const struct {
		const char *name;
		struct buf *text;
	} texts[] = { { "plain", &m->plain }, { "html", &m->html } };

	for (size_t i = 0; i < 2; i++) {
		struct helper_record r = { .kind = RECORD_TEXT,
			.name_len = (uint32_t)strlen(texts[i].name),
			.len = texts[i].text->len };

		if (r.len && !m->out->put(m->out, &r, texts[i].name, texts[i].text->at))
			return false;
	}
	return true;
}

static bool put_message(struct mime *m, GMimeMessage *message)
{
	return put_headers(m, message) &&
	       put_people(m, "from", g_mime_message_get_from(message), false) &&
	       put_people(m, "to", g_mime_message_get_to(message), false) &&
	       put_people(m, "cc", g_mime_message_get_cc(message), false) &&
	       put_people(m, "reply-to", g_mime_message_get_reply_to(message), false) &&
	       put_part(m, g_mime_message_get_mime_part(message), 1) && put_texts(m) &&
	       outlet_end(m->out);
}

bool read_mime(const char *bytes, size_t len, struct outlet *o)
{
	static const char *guesses[] = { "utf-8", "windows-1252", NULL };
	struct mime m = { .out = o, .options = g_mime_parser_options_new() };
	GMimeStream *stream;
	GMimeParser *parser;
	GMimeMessage *message;
	struct buf parted;
	bool good;

	buf_init(&parted, len + HELPER_MIME_PARTED_MAX);
	stream = mime_part_words(&parted, bytes, len)
			 ? g_mime_stream_mem_new_with_buffer(parted.at, parted.len)
			 : g_mime_stream_mem_new_with_buffer(bytes, len);
	buf_free(&parted);
	parser = g_mime_parser_new_with_stream(stream);
	g_mime_parser_options_set_fallback_charsets(m.options, guesses);
	buf_init(&m.plain, HELPER_MIME_TEXT_MAX);
	buf_init(&m.html, HELPER_MIME_TEXT_MAX);
	message = g_mime_parser_construct_message(parser, m.options);
	good = message ? put_message(&m, message)
		       : outlet_fault(o, 0, "This is no message: it has no headers.");
	if (message)
		g_object_unref(message);
	g_object_unref(parser);
	g_object_unref(stream);
	g_mime_parser_options_free(m.options);
	buf_free(&m.plain);
	buf_free(&m.html);
	return good;
}
