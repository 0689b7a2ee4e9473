/* formats.c - the table of formats, and the way from bytes to the one that reads them. */
#include <string.h>

#include "bundle/bundle.h"
#include "bundle/format_parts.h"
#include "helper/helper.h"

const struct bundle_format bundle_formats[] = {
	{ "lodge", "a bundle of Lodge (a ZIP with lodge-agent.json)", lodge_sniff, lodge_read },
	{ "letta", "Letta's .af (JSON)", letta_sniff, letta_read },
	{ "openai", "OpenAI's assistants (JSON: one, an array, or a page of a list)", openai_sniff,
		openai_read },
	{ "dify", "Dify's DSL", dify_sniff, dify_read },
	{ "flowise", "Flowise's flows (JSON: one, or an export)", flowise_sniff, flowise_read },
	{ "character-card", "a character card (JSON or PNG)", card_sniff, card_read },
	{ "agent-md", "AGENTS.md, *.agent.md, or an archive of folders with SKILL.md",
		markdown_sniff, markdown_read },
};
const size_t bundle_format_count = sizeof bundle_formats / sizeof *bundle_formats;

/* ---- archives ---- */

/* What some systems put into every archive and nobody means. */
static bool is_litter(const char *name)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;

	return strncmp(name, "__MACOSX/", 9) == 0 || strcmp(base, ".DS_Store") == 0;
}

static bool is_archive(const void *bytes, size_t len)
{
	return len >= 4 && (memcmp(bytes, "PK", 2) == 0 || memcmp(bytes, "\x1f\x8b", 2) == 0);
}

/* In the helper's process, with its limits for bundles. */
static int bundle_unpack(struct bundle_reading *r, const void *bytes, size_t len)
{
	struct helper_files files = { 0 };
	struct bundle_file *out;
	int err = helper_unpack(r->helper, r->a, bytes, len, &helper_bundle_limits, &files);

	if (err == ERR_INVALID)
		return problem_field(r->p, r->a, "archive", "archive", "%s", files.fault);
	if (err)
		return problem_set(r->p, r->a, err, "%s", files.fault);
	out = arena_array(r->a, struct bundle_file, files.count + 1);
	for (size_t i = 0; i < files.count; i++)
		if (!is_litter(files.at[i].name))
			out[r->count++] = (struct bundle_file){ files.at[i].name, files.at[i].bytes,
				files.at[i].len };
	r->files = out;
	r->archive = true;
	return 0;
}

/* If all files lie in one top folder, it is taken off their names. */
static void lift_top(struct bundle_reading *r)
{
	struct bundle_file *files = arena_array(r->a, struct bundle_file, r->count + 1);
	const char *slash = r->count ? strchr(r->files[0].name, '/') : NULL;
	size_t n = slash ? (size_t)(slash - r->files[0].name) + 1 : 0;

	for (size_t i = 0; i < r->count; i++) {
		if (!n || strncmp(r->files[i].name, r->files[0].name, n) != 0)
			return;
		files[i] = r->files[i];
		files[i].name += n;
	}
	r->files = files;
}

/* ---- one file ---- */

static bool is_text(const void *bytes, size_t len)
{
	return utf8_valid(bytes, len) && !memchr(bytes, '\0', len);
}

/* Dify's document has a line that says so, wherever. */
static bool is_app_yaml(const struct bundle_file *f)
{
	static const char line[] = "kind: app";
	const char *at = memmem(f->bytes, f->len, line, sizeof line - 1);

	return at && (at == f->bytes || at[-1] == '\n') && is_text(f->bytes, f->len);
}

/* Names at the top of documents that some reader knows: a tree is only made of what has one of them. */
static const char *const known_names[] = { "agents", "agent_type", "object", "id", "data", "kind",
	"nodes", "spec", "first_mes", "AgentFlowV2", "AgentFlow", "ChatFlow", "AssistantFlow",
	NULL };

static bool is_known_name(const char *name)
{
	for (size_t i = 0; known_names[i]; i++)
		if (strcmp(known_names[i], name) == 0)
			return true;
	return false;
}

/* Reads all of it with a cursor, which holds nothing. */
static bool has_known_name(struct arena *a, const char *text, size_t len, const char **ret_fault)
{
	struct json_reader r;
	const char *key;
	size_t key_len;
	bool known = false;

	json_open(&r, a, text, len);
	if (json_peek(&r) == JSON_ARRAY && json_enter_array(&r)) {
		while (json_next_item(&r)) {
			known |= json_peek(&r) == JSON_OBJECT;
			json_skip(&r, NULL, NULL);
		}
	} else if (json_enter_object(&r)) {
		while (json_next_key(&r, &key, &key_len)) {
			known |= is_known_name(key);
			json_skip(&r, NULL, NULL);
		}
	}
	if (!json_end(&r))
		*ret_fault = r.fault ? r.fault : "there is more after its end";
	return known && !*ret_fault;
}

/* Each value is a node of the tree, which takes some hundred bytes. */
static bool has_too_many(const char *text, size_t len)
{
	size_t values = 1;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\\' && quoted)
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted)
			values += text[i] == ',' || text[i] == '[' || text[i] == '{';
	}
	return values > BUNDLE_VALUES_MAX;
}

static int look_into(struct bundle_reading *r, const char **ret_fault)
{
	const struct bundle_file *f = &r->files[0];
	const char *text = f->bytes;
	size_t start = 0;

	while (start < f->len && strchr(" \t\r\n", text[start]) && text[start])
		start++;
	r->is_json = start < f->len && (text[start] == '{' || text[start] == '[');
	if (r->is_json && has_too_many(text, f->len))
		*ret_fault = "it holds too many values";
	else if (r->is_json && has_known_name(r->a, text, f->len, ret_fault))
		r->json = json_tree(r->a, text, f->len, ret_fault, NULL);
	else if (!r->is_json && is_app_yaml(f))
		return bundle_yaml(r, text, f->len, &r->yaml, ret_fault);
	return 0;
}

static int refuse_format(struct bundle_reading *r, const char *fault)
{
	const char *all = "";

	for (size_t i = 0; i < bundle_format_count; i++)
		all = arena_printf(r->a, "%s%s%s", all, i ? "; " : "", bundle_formats[i].about);
	if (fault)
		return problem_field(r->p, r->a, "body", "syntax", "cannot be read: %s", fault);
	return problem_field(r->p, r->a, "body", "format",
		"is %s, but none that is known here. What is taken: %s.",
		r->archive				      ? "an archive"
		: r->is_json				      ? "JSON"
		: is_text(r->files[0].bytes, r->files[0].len) ? "text"
							      : "a file",
		all);
}

static int read_known(struct bundle_reading *r)
{
	const char *fault = NULL;
	int err = r->archive || !r->files[0].len ? 0 : look_into(r, &fault);

	if (err == ERR_INVALID)
		return refuse_format(r, fault);
	if (err)
		return problem_set(r->p, r->a, err, "%s", fault);
	for (size_t i = 0; i < bundle_format_count; i++)
		if (bundle_formats[i].sniff(r)) {
			r->out->platform = bundle_formats[i].platform;
			err = bundle_formats[i].read(r);
			if (!err && arena_full(r->a))
				err = problem_set(r->p, r->a, ERR_TOO_LARGE,
					"The bundle takes more memory than there is for it.");
			return err ? err : r->p->err;
		}
	return refuse_format(r, fault);
}

int bundle_read_files(struct arena *a, const struct patterns *patterns, struct helper *helper,
	const struct bundle_file *files, size_t count, struct agent_bundle *ret, struct problem *p)
{
	struct bundle_reading r = { .a = a,
		.helper = helper,
		.patterns = patterns,
		.p = p,
		.files = files,
		.count = count,
		.archive = true,
		.out = ret };

	*ret = (struct agent_bundle){ .exported_at = { NIL } };
	if (!count)
		return problem_field(
			p, a, "archive", "archive", "There is no file in the archive.");
	lift_top(&r);
	return read_known(&r);
}

int bundle_read(struct arena *a, const struct patterns *patterns, struct helper *helper,
	const void *bytes, size_t len, struct agent_bundle *ret, struct problem *p)
{
	const struct bundle_file one = { "", bytes, len };
	struct bundle_reading r = { .a = a,
		.helper = helper,
		.patterns = patterns,
		.p = p,
		.files = &one,
		.count = 1,
		.out = ret };
	int err;

	*ret = (struct agent_bundle){ .exported_at = { NIL } };
	if (len > BUNDLE_PACKED_MAX)
		return problem_set(p, a, ERR_TOO_LARGE, "A bundle has at most %d MiB.",
			BUNDLE_PACKED_MAX >> 20);
	if (!is_archive(bytes, len))
		return read_known(&r);
	r.count = 0;
	err = bundle_unpack(&r, bytes, len);
	return err ? err : bundle_read_files(a, patterns, helper, r.files, r.count, ret, p);
}
