/* formats.c - the table of formats, and the way from bytes to the one that reads them. */
#include <string.h>

#include "base/utf8_cut.h"
#include "bundle/bundle.h"
#include "bundle/format_parts.h"
#include "helper/helper.h"

enum { MARKDOWN = 6, YAML_TRIES = 8 };

const struct bundle_format bundle_formats[] = {
	{ "lodge", "a bundle of Lodge (a ZIP with lodge-agent.json)", lodge_sniff, lodge_read },
	{ "letta", "Letta's .af (JSON)", letta_sniff, letta_read },
	{ "openai", "OpenAI's assistants (JSON: one, an array, or a page of a list)", openai_sniff,
		openai_read },
	{ "dify", "Dify's DSL", dify_sniff, dify_read },
	{ "flowise", "Flowise's flows (JSON: one, or an export)", flowise_sniff, flowise_read },
	{ "character-card", "a character card (JSON or PNG)", card_sniff, card_read },
	[MARKDOWN] = { "agent-md", "AGENTS.md, *.agent.md, or an archive of folders with SKILL.md",
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

/* The mark of UTF-8, which some editors write first, is no part of a text. */
static struct bundle_file without_mark(struct bundle_file f)
{
	static const char mark[] = "\xef\xbb\xbf";

	if (f.len >= sizeof mark - 1 && memcmp(f.bytes, mark, sizeof mark - 1) == 0) {
		f.bytes = (const char *)f.bytes + sizeof mark - 1;
		f.len -= sizeof mark - 1;
	}
	return f;
}

static bool is_text(const void *bytes, size_t len)
{
	return utf8_valid(bytes, len) && !memchr(bytes, '\0', len);
}

static const char *after_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
		at++;
	return at;
}

/* The word, perhaps in quotes, and nothing more in the line. */
static bool says_app(const char *at, const char *end)
{
	static const char *const words[] = { "app", "\"app\"", "'app'" };

	at = after_blanks(at, end);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i]);
		const char *rest = at + n;

		if ((size_t)(end - at) < n || memcmp(at, words[i], n) != 0)
			continue;
		rest = after_blanks(rest, end);
		return rest == end || *rest == '\n' || *rest == '#';
	}
	return false;
}

/* Dify's document has a line that says so, wherever. */
static bool is_app_yaml(const struct bundle_file *f)
{
	static const char key[] = "kind:";
	const char *text = f->bytes, *end = text + f->len, *at = text;

	if (bundle_name_ends(f->name, ".md") || !is_text(text, f->len))
		return false;
	for (; (at = memmem(at, (size_t)(end - at), key, sizeof key - 1)); at++)
		if ((at == text || at[-1] == '\n') && says_app(at + sizeof key - 1, end))
			return true;
	return false;
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

/* Each value is a node of the tree, which takes some hundred bytes; those of all files of an archive count. */
static bool has_too_many(struct bundle_reading *r, const char *text, size_t len)
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
	r->values += values;
	return r->values > BUNDLE_VALUES_MAX;
}

static int look_into(struct bundle_reading *r, const char **ret_fault)
{
	const struct bundle_file *f = &r->files[0];
	const char *text = f->bytes;
	size_t start = 0;

	while (start < f->len && strchr(" \t\r\n", text[start]) && text[start])
		start++;
	r->is_json = start < f->len && (text[start] == '{' || text[start] == '[');
	if (r->is_json && has_too_many(r, text, f->len))
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

/* Which of the formats it is; NULL for none, with what is wrong if that can be said.  In an archive any text may have
 * headings: there Markdown goes by its name. */
static int find_format(
	struct bundle_reading *r, const struct bundle_format **ret, const char **ret_fault)
{
	int err = r->archive || !r->files[0].len ? 0 : look_into(r, ret_fault);
	size_t count = r->member ? MARKDOWN : bundle_format_count;

	*ret = NULL;
	for (size_t i = 0; !err && !*ret && i < count; i++)
		if (bundle_formats[i].sniff(r))
			*ret = &bundle_formats[i];
	return err;
}

static int read_as(struct bundle_reading *r, const struct bundle_format *format)
{
	int err;

	r->out->platform = format->platform;
	bundle_tell_nuls(r, r->json); /* YAML with one is refused */
	err = format->read(r);
	if (arena_full(r->a))
		err = problem_set(r->p, r->a, ERR_TOO_LARGE,
			"The bundle takes more memory than there is for it.");
	return err ? err : r->p->err;
}

static int read_known(struct bundle_reading *r)
{
	const struct bundle_format *format;
	const char *fault = NULL;
	int err = find_format(r, &format, &fault);

	if (err && err != ERR_INVALID)
		return problem_set(r->p, r->a, err, "%s", fault);
	return err || !format ? refuse_format(r, fault) : read_as(r, format);
}

/* ---- files of an archive ---- */

/* The one that becomes the agent. */
struct chosen {
	const struct bundle_file *file;
	const struct bundle_format *format;
	struct bundle_reading one;
	const struct bundle_file *faulty; /* the first that cannot be read, */
	const char *fault;		  /* and why */
};

static struct bundle_reading member_of(struct bundle_reading *r, const struct bundle_file *f)
{
	struct bundle_reading one = *r;
	struct bundle_file *own = arena_new(r->a, struct bundle_file);

	*own = without_mark(*f);
	one.files = own;
	one.count = 1;
	one.archive = false;
	one.member = true;
	return one;
}

/* The first at the top that another platform wrote.  YAML costs a question to the helper: one that says it is an app and
 * cannot be read ends the search, and so do many that are none after all. */
static int choose_export(struct bundle_reading *r, struct chosen *c)
{
	int tries = 0, err;

	for (size_t i = 0; tries < YAML_TRIES && !c->format && i < r->count; i++) {
		const struct bundle_file *f = &r->files[i];
		const char *fault = NULL;

		if (strchr(f->name, '/') || bundle_name_ends(f->name, ".md"))
			continue;
		c->one = member_of(r, f);
		err = find_format(&c->one, &c->format, &fault);
		r->values = c->one.values;
		tries += c->one.yaml != NULL;
		c->file = f;
		if (!c->format && fault && !c->faulty) {
			c->faulty = f;
			c->fault = fault;
		}
		if (err == ERR_INVALID)
			return problem_field(
				r->p, r->a, f->name, "syntax", "cannot be read: %s", fault);
		if (err)
			return problem_set(r->p, r->a, err, "%s", fault);
	}
	return 0;
}

/* What a reader found wrong is in this entry. */
static void name_entry(struct bundle_reading *r, const char *name)
{
	for (struct field_error *e = r->p->first; e; e = e->next)
		if (strcmp(e->field, "body") == 0)
			e->field = name;
		else if (strcmp(e->field, name) != 0)
			e->field = arena_printf(r->a, "%s: %s", name, e->field);
}

/* One agent, and all folders with a SKILL.md.  Where one lies at the top the files beside it are its own. */
static int read_archive(struct bundle_reading *r)
{
	struct chosen c = { 0 };
	int err = skills_at_top(r) ? 0 : choose_export(r, &c);

	if (err)
		return err;
	if (!c.format) {
		c.file = markdown_in(r);
		if (c.file) {
			c.one = member_of(r, c.file);
			c.format = &bundle_formats[MARKDOWN];
		}
	}
	if (!c.format && !skills_in(r))
		return c.faulty ? problem_field(r->p, r->a, c.faulty->name, "syntax",
					  "cannot be read: %s", c.fault)
				: refuse_format(r, NULL);
	r->out->platform = "agent-skills";
	err = c.format ? read_as(&c.one, c.format) : 0;
	if (err) {
		name_entry(r, c.file->name);
		return err;
	}
	if (!c.format && c.faulty)
		bundle_warn(
			r, "%.*s cannot be read: %s.", UTF8_SHOWN(100, c.faulty->name), c.fault);
	skills_take(r, c.file);
	return 0;
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
	return lodge_sniff(&r) ? read_known(&r) : read_archive(&r);
}

int bundle_read(struct arena *a, const struct patterns *patterns, struct helper *helper,
	const struct bundle_file *file, struct agent_bundle *ret, struct problem *p)
{
	const struct bundle_file one = without_mark(*file);
	struct bundle_reading r = { .a = a,
		.helper = helper,
		.patterns = patterns,
		.p = p,
		.files = &one,
		.count = 1,
		.out = ret };
	int err;

	*ret = (struct agent_bundle){ .exported_at = { NIL } };
	if (file->len > BUNDLE_PACKED_MAX)
		return problem_set(p, a, ERR_TOO_LARGE, "A bundle has at most %d MiB.",
			BUNDLE_PACKED_MAX >> 20);
	if (!is_archive(file->bytes, file->len))
		return read_known(&r);
	r.count = 0;
	err = bundle_unpack(&r, file->bytes, file->len);
	return err ? err : bundle_read_files(a, patterns, helper, r.files, r.count, ret, p);
}
