/* openapi_shared.c - what the operations have in common, as tables: the problem every error is
 * shown as, the parameters and headers of lists, repeats and conditions, the answers of errors. */
#include "contract/openapi_parts.h"

#include "base/error.h"
#include "base/json.h"

#include <stdio.h>

struct FieldProblem {
	const char *field, *code, *message;
};

struct Problem {
	const char *type, *title;
	int64_t status;
	const char *detail, *request_id;
	struct list errors;
};

FIELDS(FieldProblem) = {
	FIELD(FieldProblem, field, .required = true, .example = "\"permissions[2].skill_id\"",
		.doc = "Where it is."),
	FIELD(FieldProblem, code, .required = true, .example = "\"pattern\"",
		.doc = "What is wrong, for programs."),
	FIELD(FieldProblem, message, .required = true, .example = "\"must be an id\"",
		.doc = "What is wrong, for people."),
};
static SCHEMA(FieldProblem, .doc = "One field that cannot be accepted.");

FIELDS(Problem) = {
	FIELD(Problem, type, .required = true, .example = "\"urn:lodge:problem:invalid\"",
		.doc = "Names the kind of problem."),
	FIELD(Problem, title, .required = true,
		.example = "\"One or more fields are not acceptable\"",
		.doc = "The kind of problem, in words."),
	FIELD(Problem, status, .required = true, .example = "422",
		.doc = "The status of the answer."),
	FIELD(Problem, detail, .required = true, .example = "\"One field is not acceptable.\"",
		.doc = "This problem, in words a person can act on."),
	FIELD(Problem, request_id, .required = true,
		.doc = "Quote it when asking for help; the log has the rest."),
	FIELD(Problem, errors, .item = OBJECT, .of = &FieldProblem_schema,
		.doc = "With 422: every field that cannot be accepted, not only the first."),
};
SCHEMA(Problem, .doc = "What went wrong, and what to do about it (RFC 9457).");

/* In the order of their status. */
const struct shared doc_shared_errors[] = {
	{ ERR_MALFORMED, "Malformed", NULL },
	{ ERR_UNAUTHENTICATED, "Unauthenticated", "WWW-Authenticate" },
	{ ERR_FORBIDDEN, "Forbidden", NULL },
	{ ERR_NOT_FOUND, "NotFound", NULL },
	{ ERR_CONFLICT, "Conflict", NULL },
	{ ERR_PRECONDITION, "PreconditionFailed", NULL },
	{ ERR_TOO_LARGE, "TooLarge", NULL },
	{ ERR_MEDIA_TYPE, "UnsupportedMediaType", NULL },
	{ ERR_RANGE, "NoSuchPart", "Content-Range" },
	{ ERR_INVALID, "Invalid", NULL },
	{ ERR_THROTTLED, "TooManyRequests", "Retry-After" },
	{ ERR_INTERNAL, "Internal", NULL },
	{ ERR_UPSTREAM, "UpstreamFailed", NULL },
	{ ERR_BUSY, "Unavailable", "Retry-After" },
	{ ERR_TOO_SLOW, "TimedOut", NULL },
	{ ERR_NO_SPACE, "NoSpace", NULL },
	{ 0 },
};

static const struct {
	const char *key, *name, *in, *schema, *doc;
} parameters[] = {
	{ "page", "page", "query", "{\"type\":\"integer\",\"minimum\":1,\"default\":1}",
		"Which page, from 1." },
	{ "per_page", "per_page", "query",
		"{\"type\":\"integer\",\"minimum\":1,\"maximum\":200,\"default\":50}",
		"The most that a page holds." },
	{ "after", "after", "query", "{\"type\":\"string\",\"pattern\":\"" ID_PATTERN "\"}",
		"Reads on after this id, in the default order only: the last page is as cheap as the "
		"first." },
	{ "total", "total", "query", "{\"type\":\"boolean\",\"default\":true}",
		"False leaves the count out." },
	{ "idempotency_key", "Idempotency-Key", "header", "{\"type\":\"string\"}",
		"A repeat with the same key within 24 hours gets the first answer and does nothing "
		"twice." },
	{ "if_match", "If-Match", "header", "{\"type\":\"string\"}",
		"Acts only if the object still has this ETag, else 412." },
	{ "if_none_match", "If-None-Match", "header", "{\"type\":\"string\"}",
		"Answers 304 if the object still has this ETag." },
	{ "if_absent", "If-None-Match", "header", "{\"const\":\"*\"}",
		"Acts only if nothing is there yet, else 412." },
	{ "range", "Range", "header", "{\"type\":\"string\"}",
		"A part of it, as in bytes=0-1023; of several parts at once, all of it is sent." },
	{ "if_range", "If-Range", "header", "{\"type\":\"string\"}",
		"The part is sent only if it still has this ETag, else all of it." },
	{ "x_sha256", "X-SHA256", "header", "{\"type\":\"string\"}",
		"The SHA-256 of the body, in hexadecimal: another body is refused." },
	{ "last_event_id", "Last-Event-ID", "header", "{\"type\":\"string\"}",
		"Goes on after the event with this id, without loss or repeat." },
	{ "openai_organization", "OpenAI-Organization", "header", "{\"type\":\"string\"}",
		"The tenant, by id or slug: for a login that is in several. An API key acts in its own." },
};

static const struct {
	const char *name, *schema, *doc;
	bool at_times; /* not every answer that it is published for has it */
} headers[] = {
	{ "ETag", "{\"type\":\"string\"}",
		"Changes whenever the object does; send it as If-Match." },
	{ "Location", "{\"type\":\"string\"}", "Where to find it." },
	{ "Accept-Ranges", "{\"const\":\"bytes\"}", "Parts of it may be asked for by Range." },
	{ "Content-Range", "{\"type\":\"string\"}", "Which part this is, and of how many bytes." },
	{ "Retry-After", "{\"type\":\"integer\"}",
		"Seconds to wait before trying again; absent where no time helps.", true },
	{ "WWW-Authenticate", "{\"type\":\"string\"}", "Names the credential to present." },
	{ "X-Should-Retry", "{\"const\":\"false\"}",
		"Tells OpenAI's clients not to try again by themselves.", true },
	{ "Lodge-Dropped", "{\"type\":\"string\"}",
		"Parts of the request, and tools, that the model was not sent: the price hangs on them, or its "
		"provider does not know them.",
		true },
	{ "request-id", "{\"type\":\"string\"}",
		"The request, under the name by which Anthropic's clients look for it." },
	{ "X-Last-Event-Id", "{\"type\":\"integer\"}",
		"The latest event of the session at the moment the list was read; a stream of "
		"events that goes on after it has neither gap nor repeat." },
	{ "openai-poll-after-ms", "{\"type\":\"integer\"}",
		"While it is under way: when it is worth asking again.", true },
};

static void write_shared_parameters(struct buf *o)
{
	doc_json(o, "parameters", "{");
	for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
		doc_json(o, parameters[i].key, "{");
		doc_text(o, "name", parameters[i].name);
		doc_text(o, "in", parameters[i].in);
		doc_text(o, "description", parameters[i].doc);
		doc_json(o, "schema", parameters[i].schema);
		buf_putc(o, '}');
	}
	buf_putc(o, '}');
}

static void write_shared_headers(struct buf *o)
{
	doc_json(o, "headers", "{");
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
		doc_json(o, headers[i].name, "{");
		doc_text(o, "description", headers[i].doc);
		if (!headers[i].at_times)
			doc_json(o, "required", "true");
		doc_json(o, "schema", headers[i].schema);
		buf_putc(o, '}');
	}
	buf_putc(o, '}');
}

static void write_error_headers(struct buf *o, const struct shared *e, bool names_request)
{
	int status = error_row(e->err)->status;
	/* What clients of OpenAI would repeat by themselves. */
	bool final = status == 409 || status == 429;
	const char *names[] = { e->header, status == 409 ? "Retry-After" : NULL,
		final ? "X-Should-Retry" : NULL, names_request ? "request-id" : NULL };

	if (!e->header && !final && !names_request)
		return;
	doc_json(o, "headers", "{");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i]) {
			doc_key(o, names[i]);
			doc_reference(o, "headers", names[i]);
		}
	buf_putc(o, '}');
}

/* The same answers in each shape. */
static const struct {
	const char *prefix, *type, *schema;
} answer_shapes[SHAPE_COUNT] = {
	[SHAPE_OWN] = { "", "application/problem+json", "Problem" },
	[SHAPE_OPENAI] = { "OpenAI", "application/json", "OpenAIProblem" },
	[SHAPE_ANTHROPIC] = { "Anthropic", "application/json", "AnthropicProblem" },
};

const char *doc_answer_prefix(enum answer_shape shape)
{
	return answer_shapes[shape].prefix;
}

static void write_errors(struct buf *o, enum answer_shape shape, const bool *used)
{
	for (const struct shared *e = doc_shared_errors; e->name; e++) {
		char name[64];

		if (!used[e - doc_shared_errors])
			continue;
		snprintf(name, sizeof name, "%s%s", answer_shapes[shape].prefix, e->name);
		doc_json(o, name, "{");
		doc_text(o, "description", error_row(e->err)->title);
		write_error_headers(o, e, shape == SHAPE_ANTHROPIC);
		doc_json(o, "content", "{");
		doc_json(o, answer_shapes[shape].type, "{\"schema\":");
		doc_reference(o, "schemas", answer_shapes[shape].schema);
		buf_lit(o, "}}}");
	}
}

static void write_shared_responses(struct buf *o, const struct answers_used *used)
{
	doc_json(o, "responses", "{");
	for (enum answer_shape i = 0; i < SHAPE_COUNT; i++)
		write_errors(o, i, used->at[i]);
	buf_putc(o, '}');
}

_Static_assert(sizeof doc_shared_errors / sizeof *doc_shared_errors <= SHARED_ERRORS_MAX,
	"struct answers_used has room for all");

void doc_shared(struct buf *o, const struct answers_used *used)
{
	write_shared_parameters(o);
	write_shared_headers(o);
	write_shared_responses(o, used);
}
