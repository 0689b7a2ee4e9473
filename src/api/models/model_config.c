/* model_config.c - the way to a model: its address, its key, its headers; see model_edit.h.
 *
 * The key and the values of headers leave this file only sealed.  Whether a
 * name leads to a private address is found out when it is called. */
#include <string.h>
#include <strings.h>

#include "api/models/model_edit.h"
#include "base/json.h"
#include "base/same.h"
#include "broker/secrets.h"
#include "outside/fetch.h"

enum { HEADER_NAME_MAX = 64, HEADER_VALUE_MAX = 4096, TIMEOUT_S = 60, TOTAL_TIMEOUT_S = 600 };

static int wrong_config_field(
	const struct model_editor *e, const char *name, const char *code, const char *what)
{
	return problem_field(
		e->problem, e->arena, arena_printf(e->arena, "config.%s", name), code, "%s", what);
}

/* ---- headers ---- */

/* Headers that belong to the connection or are made from the call. */
static bool is_reserved_header(const char *name)
{
	static const char *const ours[] = { "accept-encoding", "connection", "content-length",
		"content-type", "expect", "host", "keep-alive", "te", "trailer",
		"transfer-encoding", "upgrade" };

	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (strcasecmp(name, ours[i]) == 0)
			return true;
	return strncasecmp(name, "proxy-", 6) == 0;
}

static bool is_header_name(const char *name, size_t len)
{
	static const char signs[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < len; i++) {
		char c = name[i];

		if (!c || (!((c | 32) >= 'a' && (c | 32) <= 'z') && !(c >= '0' && c <= '9') &&
				  !strchr(signs, c)))
			return false;
	}
	return len && len <= HEADER_NAME_MAX;
}

static bool is_value(const char *value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (value[i] != '\t' && (value[i] < ' ' || value[i] > '~'))
			return false;
	return len && len <= HEADER_VALUE_MAX;
}

static const char *name_fault(const struct model_secrets *all, const char *name, size_t len)
{
	if (!is_header_name(name, len))
		return "is not the name of a header";
	if (is_reserved_header(name))
		return "is set by the service itself";
	if (model_header_find(all, name))
		return "comes twice: case makes no difference in the name of a header";
	if (all->header_count == MODEL_HEADERS_MAX)
		return "is one header too many; 32 are the most";
	return NULL;
}

/* One header into `all`; null keeps the value that is stored.  False when the text is broken. */
static bool read_model_header(const struct model_editor *e, struct json_reader *r, const char *name,
	size_t name_len, const struct model_secrets *stored, struct model_secrets *all)
{
	const char *field = arena_printf(e->arena, "headers.%.*s", (int)name_len, name);
	const char *fault = name_fault(all, name, name_len), *value = NULL;
	const struct model_header *kept = model_header_find(stored, name);
	enum json_type type = json_peek(r);
	size_t len = 0;

	if (type == JSON_STRING ? !json_read_string(r, &value, &len) : !json_skip(r, NULL, NULL))
		return false;
	if (fault)
		wrong_config_field(e, field, "header", fault);
	else if (type == JSON_STRING && !is_value(value, len))
		wrong_config_field(e, field, "header",
			"must be 1 to 4096 printable ASCII characters without line breaks");
	else if (type == JSON_NULL && !kept)
		wrong_config_field(e, field, "header",
			"is null, which keeps a stored value, and none is stored");
	else if (type != JSON_STRING && type != JSON_NULL)
		wrong_config_field(e, field, "type", "must be a string");
	else
		all->headers[all->header_count++] =
			(struct model_header){ name, value ? value : kept->value };
	return true;
}

static void read_model_headers(const struct model_editor *e, const struct json *headers,
	const struct model_secrets *stored, struct model_secrets *all)
{
	struct json_reader r;
	const char *name;
	size_t len;

	json_open(&r, e->arena, headers->text, strlen(headers->text));
	json_enter_object(&r);
	while (json_next_key(&r, &name, &len) && read_model_header(e, &r, name, len, stored, all))
		continue;
}

/* ---- secrets ---- */

static bool same_secrets(const struct model_secrets *a, const struct model_secrets *b)
{
	bool same = same_text(a->api_key, b->api_key) && a->header_count == b->header_count;

	for (size_t i = 0; same && i < a->header_count; i++)
		same = same_text(a->headers[i].name, b->headers[i].name) &&
		       same_text(a->headers[i].value, b->headers[i].value);
	return same;
}

static struct list header_names_of(struct arena *a, const struct model_secrets *s)
{
	const char **names = arena_array(a, const char *, s->header_count + 1);

	for (size_t i = 0; i < s->header_count; i++)
		names[i] = s->headers[i].name;
	return (struct list){ names, s->header_count };
}

/* What was stored and cannot be opened must come anew, or be taken away. */
static void need_anew(
	const struct model_editor *e, const struct ModelConfig *in, const struct model_row *row)
{
	static const char sentence[] =
		"cannot be opened with the present master key: send it anew, or null to do without";

	if (row->has_api_key && !schema_present(&ModelConfig_schema, in, "api_key"))
		wrong_config_field(e, "api_key", "secret_unopenable", sentence);
	if (row->header_names.count && !in->headers.text)
		wrong_config_field(e, "headers", "secret_unopenable",
			"cannot be opened with the present master key: send them anew");
}

/* Seals anew only what changed. */
static int set_secrets(
	const struct model_editor *e, const struct ModelConfig *in, struct model_row *row)
{
	struct model_secrets stored, wanted = { 0 };
	int err = model_secrets_open(e->vault, e->arena, row->id, row->secrets, &stored);

	if (err)
		need_anew(e, in, row);
	wanted.api_key =
		schema_present(&ModelConfig_schema, in, "api_key") ? in->api_key : stored.api_key;
	if (in->headers.text)
		read_model_headers(e, &in->headers, &stored, &wanted);
	if (e->problem->err)
		return e->problem->err;
	row->has_api_key = wanted.api_key != NULL;
	row->header_names = header_names_of(e->arena, &wanted);
	if (!same_secrets(&stored, &wanted))
		return model_secrets_seal(e->vault, e->arena, row->id, &wanted, &row->secrets);
	if (err) /* nothing is kept of what nobody can open */
		row->secrets = NULL;
	return 0;
}

/* ---- all of it ---- */

static int refuse_config(
	const struct model_editor *e, const struct ModelConfig *in, const struct model_row *row)
{
	for (size_t i = 0; i < ModelConfig_schema.count; i++)
		if (in->present >> i & 1)
			wrong_config_field(e, ModelConfig_schema.fields[i].name, "not_for_kind",
				arena_printf(e->arena, "is not for a %s model, which calls nobody",
					ModelKind_words.list[row->kind]));
	return e->problem->err;
}

static void check_config_address(const struct model_editor *e, const struct ModelConfig *in)
{
	const char *fault;

	if (!in->model)
		wrong_config_field(e, "model", "required", "is required");
	if (!in->base_url) {
		wrong_config_field(e, "base_url", "required", "is required");
		return;
	}
	fault = fetch_base_fault(in->base_url, e->allow_private ? EGRESS_ANY : EGRESS_PUBLIC);
	if (fault)
		wrong_config_field(e, "base_url", "address", fault);
}

static int64_t endpoint_bits(const struct ModelConfig *in)
{
	const int *asked = in->endpoints.at;
	int64_t bits = 0;

	if (!asked)
		return ENDPOINT_BIT(ModelEndpoint_chat);
	for (size_t i = 0; i < in->endpoints.count; i++)
		bits |= ENDPOINT_BIT(asked[i]);
	return bits;
}

static void check_endpoints(
	const struct model_editor *e, const struct ModelConfig *in, const struct model_row *row)
{
	if (row->kind != ModelKind_openai && endpoint_bits(in) != ENDPOINT_BIT(ModelEndpoint_chat))
		wrong_config_field(e, "endpoints", "not_for_kind",
			arena_printf(e->arena, "a model of the kind %s is asked for chat only",
				ModelKind_words.list[row->kind]));
}

int model_configure(
	const struct model_editor *e, const struct ModelConfig *in, struct model_row *row)
{
	int64_t total = in->total_timeout_s == NIL ? TOTAL_TIMEOUT_S : in->total_timeout_s;
	int64_t usual = total < TIMEOUT_S ? total : TIMEOUT_S;
	int64_t silence = in->timeout_s == NIL ? usual : in->timeout_s;

	if (!model_kind_is_hosted(row->kind))
		return refuse_config(e, in, row);
	check_config_address(e, in);
	check_endpoints(e, in, row);
	if (total < silence)
		wrong_config_field(e, "total_timeout_s", "too_small", "must be at least timeout_s");
	if (e->problem->err) {
		set_secrets(e, in, row); /* for what is wrong there too */
		return e->problem->err;
	}
	row->base_url = fetch_base_trimmed(e->arena, in->base_url);
	row->provider_model = in->model;
	row->timeout_s = silence;
	row->total_timeout_s = total;
	row->max_tokens = in->max_tokens;
	row->endpoints = endpoint_bits(in);
	return set_secrets(e, in, row);
}
