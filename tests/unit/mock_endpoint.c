/* mock_endpoint.c - see mock_endpoint.h. */
#include "mock_endpoint.h"

#include <string.h>

_Atomic int mock_sound_pieces;

static bool body_has(const struct http_exchange *x, const char *text)
{
	return memmem(x->request.body, x->request.body_len, text, strlen(text)) != NULL;
}

static enum http_verdict give(struct http_exchange *x, const char *type, const char *text)
{
	x->reply.status = 200;
	x->reply.type = type;
	buf_puts(&x->reply.body, text);
	return HTTP_REPLIED;
}

/* Texts, or lists of tokens, in a list; else it is one. */
static int inputs_of(const struct http_exchange *x)
{
	const char *end = x->request.body + x->request.body_len;
	const char *at = memmem(x->request.body, x->request.body_len, "\"input\":[", 9);
	int depth = 0, count = 1;

	if (!at || (at[9] != '"' && at[9] != '['))
		return 1;
	for (at += 9; at < end && (depth || *at != ']'); at++) {
		depth += (*at == '[') - (*at == ']');
		count += *at == ',' && !depth;
	}
	return count;
}

enum { TOO_FEW = 8, TOO_MANY, TWICE, LENGTHS, NO_NUMBERS, NO_PLACE, UNBELIEVED };

static const char *vector_text(const struct http_exchange *x, int way, int index)
{
	if (way == NO_NUMBERS)
		return "[\"a\",\"b\"]";
	if (way == LENGTHS && index)
		return "[0.5,-0.25,1]";
	return body_has(x, "base64") ? "\"AAAAPwAAgL4=\"" : "[0.5,-0.25]";
}

static enum http_verdict give_vectors(struct http_exchange *x, int way)
{
	static const char *const usages[] = { [3] = "null",
		[6] = "{\"prompt_tokens\":-7,\"total_tokens\":\"many\"}",
		[7] = "{\"prompt_tokens\":0,\"total_tokens\":0}",
		[UNBELIEVED] = "{\"prompt_tokens\":5000000000,\"total_tokens\":5000000000}" };
	int count = inputs_of(x) - (way == TOO_FEW) + (way == TOO_MANY);

	if (way == 4)
		return give(x, "application/json", "{\"data\":{}}");
	x->reply.status = 200;
	x->reply.type = "application/json";
	buf_lit(&x->reply.body, "{\"object\":\"list\",\"data\":[");
	for (int i = 0; i < count; i++) {
		buf_printf(&x->reply.body, "%s{\"object\":\"embedding\",", i ? "," : "");
		if (way != NO_PLACE)
			buf_printf(&x->reply.body, "\"index\":%d,", way == TWICE ? 0 : i);
		buf_printf(&x->reply.body, "\"embedding\":%s}", vector_text(x, way, i));
	}
	buf_printf(&x->reply.body, "],\"model\":\"mock-model\",\"usage\":%s}",
		usages[way] ? usages[way] : "{\"prompt_tokens\":7,\"total_tokens\":7}");
	return HTTP_REPLIED;
}

static void more_sound(struct http_exchange *x)
{
	char bytes[8192];

	memset(bytes, 's', sizeof bytes);
	mock_sound_pieces++;
	if (http_stream_write(x, bytes, sizeof bytes) == HTTP_STREAM_GONE)
		http_stream_end(x, false);
	else
		while (http_stream_write(x, bytes, sizeof bytes) == HTTP_STREAM_OPEN)
			mock_sound_pieces++;
}

static enum http_verdict give_sound(struct http_exchange *x, int way)
{
	char bytes[MOCK_SOUND];

	if (body_has(x, "\"sse\""))
		return give(x, "text/event-stream",
			way == 1 ? "data: {\"type\":\"speech.audio.delta\",\"audio\":\"SUQz\"}\n\n"
			: way == 4
				? "data: {\"type\":\"speech.audio.delta\",\"audio\":\"SUQz\"}\n\n"
				  "data: {\"error\":{\"message\":\"no\"}}\n\n"
				: "data: {\"type\":\"speech.audio.delta\",\n"
				  "data:  \"audio\":\"SUQz\"}\n\nevent: x\n"
				  "data: {\"type\":\"other\"}\n\n"
				  "data: {\"type\":\"speech.audio.done\",\"usage\":{\"input_tokens\":"
				  "11,\"output_tokens\":101,\"total_tokens\":112}}\n\n");
	memset(bytes, 's', sizeof bytes);
	x->reply.status = 200;
	x->reply.type = way == 3   ? "application/octet-stream"
			: way == 7 ? "audio/../image/svg+xml"
				   : "audio/mpeg";
	http_stream_begin(x, way == 5 ? more_sound : NULL);
	http_stream_write(x, bytes, sizeof bytes);
	if (way == 5)
		more_sound(x);
	else
		http_stream_end(x, way != 1);
	return HTTP_KEPT;
}

#define HEARD "{\"text\":\"Good \\\"morning\\\".\""

static enum http_verdict give_text(struct http_exchange *x, int way)
{
	if (body_has(x, "\r\n\r\nsrt\r\n"))
		return give(x, "text/plain; charset=utf-8",
			"1\n00:00:00,000 --> 00:00:02,000\nGood\n\n2\n00:00:02,000 --> 00:00:42,340\n"
			"morning.\n");
	if (body_has(x, "\r\n\r\ntrue\r\n"))
		return give(x, "text/event-stream",
			way == 1
				? "data: {\"type\":\"transcript.text.delta\",\"delta\":\"Good\"}\n\n"
				: "data: {\"type\":\"transcript.text.delta\",\"delta\":\"Good\"}\n\n"
				  "data: {\"type\":\"transcript.text.done\",\"text\":\"Good\",\"usage\":"
				  "{\"type\":\"tokens\",\"input_tokens\":14,\"output_tokens\":45,"
				  "\"total_tokens\":59}}\n\ndata: [DONE]\n\n");
	if (way == 3)
		return give(x, "application/json", HEARD "}");
	if (way == 4)
		return give(x, "application/json", "{\"words\":1}");
	if (way == 6)
		return give(x, "application/json",
			HEARD ",\"usage\":{\"type\":\"duration\",\"seconds\":1e300}}");
	if (way == 7)
		return give(x, "application/json",
			HEARD ",\"usage\":{\"type\":\"duration\",\"seconds\":0,\"input_tokens\":0,"
			      "\"output_tokens\":0}}");
	if (body_has(x, "verbose_json"))
		return give(
			x, "application/json", HEARD ",\"duration\":\"12.04\",\"segments\":[]}");
	return give(
		x, "application/json", HEARD ",\"usage\":{\"type\":\"duration\",\"seconds\":13}}");
}

enum http_verdict mock_endpoint(struct mock *m, struct http_exchange *x, int way)
{
	const char *path = x->request.path;

	(void)m;
	if (way == 2)
		return give(x, "text/html", "<html>sk-model</html>");
	if (strstr(path, "/embeddings"))
		return give_vectors(x, way);
	return strstr(path, "/speech") ? give_sound(x, way) : give_text(x, way);
}
