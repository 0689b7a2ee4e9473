/* mock_charge.c - see mock_charge.h. */
#include "mock_charge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a request costs ---- */

/* The rule of tokens.h, a byte at a time. */
static long eighths(const unsigned char *p, size_t len)
{
	long n = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = p[i];

		if (c < 0x80)
			n += ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c <= ' ' || c == '\\' ? 2
											       : 4;
		else if (c >= 0xc0)
			n += c < 0xe0 ? 3 : c < 0xf0 ? 6 : 12;
	}
	return n;
}

/* After the name of a member, wherever it stands; NULL if it does not. */
static const char *member(const char *body, const char *name)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof key, "\"%s\":", name);
	at = strstr(body, key);
	return at ? at + strlen(key) : NULL;
}

static long prompt_of(const char *body)
{
	static const char mark[] = ";base64,";
	long n = eighths((const unsigned char *)body, strlen(body)), images = 0;

	/* An image is paid by its size on the screen. */
	for (const char *at = strstr(body, "data:image/"); at; at = strstr(at + 1, "data:image/")) {
		const char *data = strstr(at, mark), *end = data ? strchr(data, '"') : NULL;

		if (!end || data - at > 30)
			continue;
		data += sizeof mark - 1;
		n -= eighths((const unsigned char *)data, (size_t)(end - data));
		images++;
	}
	return (n + 7) / 8 + images * 1200;
}

static long output_of(const char *body)
{
	static const char *const limits[] = { "max_tokens", "max_completion_tokens",
		"max_output_tokens", "max_new_tokens", "max_gen_len", "max_length", "n_predict",
		"num_predict" };
	static const char *const times[] = { "n", "best_of" };
	long most = 0;

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		const char *at = member(body, limits[i]);
		long n = at ? strtol(at, NULL, 10) : 0;

		most = n > most ? n : most;
	}
	most = most ? most : MOCK_UNLIMITED;
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		const char *at = member(body, times[i]);
		long n = at ? strtol(at, NULL, 10) : 1;

		most *= n > 1 ? n : 1;
	}
	return most < 900000 ? most : 900000; /* more is not believed */
}

static long extra_of(const char *body)
{
	static const char *const dear[] = { "prediction", "web_search_options", "search_parameters",
		"plugins", "audio", "models", "provider", "preset", "cached_content", "speed",
		"inference_geo", "compound_custom" };
	const char *tier = member(body, "service_tier"), *search = member(body, "enable_search");
	long n = 0;

	for (size_t i = 0; i < sizeof dear / sizeof *dear; i++) {
		const char *at = member(body, dear[i]);

		n += at && strncmp(at, "null", 4) != 0 && strncmp(at, "{}", 2) != 0 &&
				     strncmp(at, "[]", 2) != 0
			     ? 50000
			     : 0;
	}
	n += tier && strncmp(tier, "\"priority\"", 10) == 0 ? 50000 : 0;
	n += search && strncmp(search, "true", 4) == 0 ? 50000 : 0;
	return n;
}

/* ---- what cannot be ---- */

static const char *const wrong[] = { "-5", "10.5", "\"10\"", "0", "1e300", "99999999999999999999",
	"2000000000000", "true", "[1]", "{\"a\":1}", "null" };
static const char *const nonsense[] = { "\"none\"", "[]", "7", "null", "{}", "true" };
enum {
	WRONG = sizeof wrong / sizeof *wrong,
	NONSENSE = sizeof nonsense / sizeof *nonsense,
	PLACES = 3, /* the input, the output, both */
};

int mock_figures(void)
{
	return WRONG * PLACES + NONSENSE;
}

const char *mock_figure_name(int way)
{
	return way < WRONG * PLACES ? wrong[way / PLACES] : nonsense[way - WRONG * PLACES];
}

/* ---- the answer in each shape ---- */

enum mock_shape { CHAT, RESPONSES, MESSAGES };

static void put_usage(struct buf *b, enum mock_shape shape, int way, long in, long out)
{
	const char *bad = way >= 0 ? mock_figure_name(way) : NULL;
	char input[32], output[32];
	int place = way % PLACES;

	if (way >= WRONG * PLACES) {
		buf_puts(b, bad);
		return;
	}
	snprintf(input, sizeof input, "%ld", in);
	snprintf(output, sizeof output, "%ld", out);
	buf_printf(b,
		shape == CHAT ? "{\"prompt_tokens\":%s,\"completion_tokens\":%s}"
			      : "{\"input_tokens\":%s,\"output_tokens\":%s}",
		bad && place != 1 ? bad : input, bad && place != 0 ? bad : output);
}

static void put_whole(struct buf *b, enum mock_shape shape, const struct buf *usage)
{
	static const char *const heads[] = {
		[CHAT] =
			"{\"id\":\"m1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"role\":"
			"\"assistant\",\"content\":\"one two\"},\"finish_reason\":\"stop\"}],\"usage\":",
		[RESPONSES] =
			"{\"id\":\"m1\",\"model\":\"m\",\"status\":\"completed\",\"output\":[{"
			"\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":"
			"\"one two\"}]}],\"usage\":",
		[MESSAGES] =
			"{\"id\":\"m1\",\"type\":\"message\",\"model\":\"m\",\"content\":[{\"type\":"
			"\"text\",\"text\":\"one two\"}],\"stop_reason\":\"end_turn\",\"usage\":",
	};

	buf_puts(b, heads[shape]);
	buf_put(b, usage->at, usage->len);
	buf_putc(b, '}');
}

static void put_stream(struct buf *b, enum mock_shape shape, const struct buf *usage)
{
	int len = (int)usage->len;

	if (shape == CHAT)
		buf_printf(b,
			"data: {\"id\":\"m1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"one two\"}}]}\n\n"
			"data: {\"id\":\"m1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
			"data: {\"id\":\"m1\",\"choices\":[],\"usage\":%.*s}\n\ndata: [DONE]\n\n",
			len, usage->at);
	else if (shape == RESPONSES)
		buf_printf(b,
			"data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"one two\"}\n\n"
			"data: {\"type\":\"response.completed\",\"response\":{\"id\":\"m1\",\"status\":\"completed\",\"output\":[],\"usage\":%.*s}}\n\n",
			len, usage->at);
	else
		buf_printf(b,
			"data: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"model\":\"m\",\"usage\":%.*s}}\n\n"
			"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
			"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"one two\"}}\n\n"
			"data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":%.*s}\n\n"
			"data: {\"type\":\"message_stop\"}\n\n",
			len, usage->at, len, usage->at);
}

enum http_verdict mock_charge(struct http_exchange *x, bool stream, int way)
{
	const struct http_request *r = &x->request;
	enum mock_shape shape = strstr(r->path, "/messages")	? MESSAGES
				: strstr(r->path, "/responses") ? RESPONSES
								: CHAT;
	char *body = strndup(r->body, r->body_len);
	struct buf usage;

	buf_init(&usage, 1 << 10);
	put_usage(&usage, shape, way, prompt_of(body) + extra_of(body), output_of(body));
	x->reply.status = 200;
	x->reply.type = stream ? "text/event-stream" : "application/json";
	if (stream)
		put_stream(&x->reply.body, shape, &usage);
	else
		put_whole(&x->reply.body, shape, &usage);
	buf_free(&usage);
	free(body);
	return HTTP_REPLIED;
}
