/* test_bundle_archive.c - archives of other platforms' files beside skills, what of them is not read, and how texts may
 * differ that say the same: marks, quotes, names. */
#include "base/zip.h"
#include "bundle/bundle.h"
#include "bundle_fixture.h"
#include "helper/helper.h"
#include "t.h"

struct reading {
	struct arena a;
	struct patterns *patterns;
	struct helper *helper;
	struct agent_bundle b;
	struct problem p;
	int err;
};

static void read_named(struct reading *r, const char *name, const void *bytes, size_t len)
{
	const char *bad;

	r->patterns = r->patterns ? r->patterns : patterns_new(NULL, 0, &bad);
	r->helper = r->helper ? r->helper : helper_new(NULL);
	r->p = (struct problem){ 0 };
	r->err = bundle_read(&r->a, r->patterns, r->helper,
		&(struct bundle_file){ name, bytes, len }, &r->b, &r->p);
}

static void read_text(struct reading *r, const char *name, const char *text)
{
	test_step("%s: %.40s", name, text);
	read_named(r, name, text, strlen(text));
}

static void read_zip(struct reading *r, const struct bundle_piece *pieces)
{
	struct buf zip;

	test_step("%s", pieces[0].name);
	bundle_zipped(&zip, pieces);
	read_named(r, "", zip.at, zip.len);
	buf_free(&zip);
}
#define ZIP(...) ((const struct bundle_piece[]){ __VA_ARGS__, { NULL, NULL } })

static const char *example(struct reading *r, const char *name)
{
	size_t len;

	return bundle_example(&r->a, name, &len);
}

static void reading_end(struct reading *r)
{
	patterns_free(r->patterns);
	helper_free(r->helper);
	arena_free(&r->a);
}

static bool warns(const struct agent_bundle *b, const char *of)
{
	const char *const *w = b->warnings.at;

	for (size_t i = 0; i < b->warnings.count; i++)
		if (strstr(w[i], of))
			return true;
	return false;
}

static const char *text_of(const struct list *l, size_t i)
{
	return i < l->count ? ((const char *const *)l->at)[i] : NULL;
}

static const char *tool_of(const struct agent_bundle *b, size_t i)
{
	return i < b->tools.count ? ((const struct BundleTool *)b->tools.at)[i].name : NULL;
}

#define SKILL                    \
	{ "pdf/SKILL.md", "S" }, \
	{                        \
		"pdf/x.py", "x"  \
	}

TEST(bundle_archive_with_an_agent_of_any_format)
{
	static const struct {
		const char *name, *example, *platform;
	} cases[] = {
		{ "agent.af", "letta-2.af", "letta" },
		{ "bot.yml", "dify-agent.yml", "dify" },
		{ "a Chatflow.json", "flowise-flow.json", "flowise" },
		{ "assistant.json", "assistant.json", "openai" },
		{ "card.json", "card-2.json", "character-card" },
	};
	struct reading r = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *text = example(&r, cases[i].example);

		read_zip(&r, ZIP({ cases[i].name, text }, SKILL));
		CHECK_INT(r.err, 0);
		CHECK_STR(r.b.platform, cases[i].platform);
		CHECK(r.b.prompt);
		CHECK_INT(r.b.skills.count, 1);
		CHECK(!warns(&r.b, "Not read"));
		test_step("alone, in a folder");
		read_zip(&r, ZIP({ arena_printf(&r.a, "top/%s", cases[i].name), text }));
		CHECK_INT(r.err, 0);
		CHECK_STR(r.b.platform, cases[i].platform);
		CHECK_INT(r.b.skills.count, 0);
	}
	test_step("a picture that holds a card, and one that holds none");
	{
		size_t len;
		const char *png = bundle_example(&r.a, "card.png", &len);
		struct zip_writer w;
		struct buf zip;

		buf_init(&zip, 1 << 20);
		zip_begin(&w, &zip);
		zip_add(&w, "card.png", false, png, len);
		zip_end(&w);
		read_named(&r, "", zip.at, zip.len);
		CHECK_INT(r.err, 0);
		CHECK_STR(r.b.platform, "character-card");
		CHECK(r.b.avatar.len == len);
		buf_free(&zip);
	}
	read_zip(&r, ZIP({ "AGENTS.md", "Be kind." }, { "logo.png", "\x89PNG\r\n\x1a\nxx" }));
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.platform, "agent-md");
	CHECK(warns(&r.b, "Not read: logo.png."));
	reading_end(&r);
}

TEST(bundle_archive_names_what_is_not_read)
{
	struct bundle_piece many[28] = { { "pdf/SKILL.md", "S" } };
	struct reading r = { 0 };
	const struct bundle_skill *skill;

	test_step("two agents, and others");
	read_zip(&r, ZIP({ "README.md", "# R" }, { "b.json", example(&r, "assistant.json") },
			     { "c.af", example(&r, "letta-2.af") }, { "deep/d.af", "{}" },
			     { "x.agent.md", "X" }, SKILL));
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.platform, "openai");
	CHECK(warns(&r.b, "Not read: README.md, c.af, deep/d.af, x.agent.md."));
	test_step("no agent is made of any text");
	read_zip(&r, ZIP({ "notes.txt", "# Notes\n" }, { "AGENTS.md", "Be kind." }));
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.prompt, "Be kind.");
	CHECK(warns(&r.b, "Not read: notes.txt."));
	test_step("more than are named");
	for (size_t i = 1; i < 27; i++)
		many[i] = (struct bundle_piece){ arena_printf(&r.a, "f%02zu", i), "x" };
	read_zip(&r, many);
	CHECK_INT(r.err, 0);
	CHECK(warns(&r.b, "f19, f20 and 6 more."));
	test_step("what cannot be read is named with its fault");
	read_zip(&r, ZIP({ "bot.json", "{\"agents\":[" }, SKILL));
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.platform, "agent-skills");
	CHECK(warns(&r.b, "bot.json cannot be read: "));
	read_zip(&r, ZIP({ "bot.json", "{\"agents\":[" }));
	CHECK_INT(r.err, ERR_INVALID);
	CHECK_STR(r.p.first->field, "bot.json");
	read_zip(&r, ZIP({ "bot.yml", "kind: app\nx: [" }, SKILL));
	CHECK_INT(r.err, ERR_INVALID);
	CHECK_STR(r.p.first->field, "bot.yml");
	read_zip(&r, ZIP({ "bot.yml", "kind: app\nversion: 1\napp:\n  name: x\n" }, SKILL));
	CHECK_INT(r.err, ERR_INVALID);
	CHECK_STR(r.p.first->field, "bot.yml: version");
	test_step("files beside a SKILL.md at the top are that skill's");
	read_zip(&r, ZIP({ "SKILL.md", "S" }, { "b.json", example(&r, "assistant.json") }));
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.platform, "agent-skills");
	skill = r.b.skills.at;
	CHECK_INT(skill->count, 2);
	reading_end(&r);
}

#define BOM "\xef\xbb\xbf"

TEST(bundle_texts_that_say_the_same)
{
	static const char *const kinds[] = { "kind: app", "kind: \"app\"", "kind: 'app' # Dify",
		"kind:   app\r" };
	struct reading r = { 0 };

	test_step("with the mark of UTF-8");
	read_text(&r, "", BOM "# Hi\n\nUse tabs.\n");
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.prompt, "# Hi\n\nUse tabs.\n");
	read_text(&r, "", arena_printf(&r.a, BOM "%s", example(&r, "letta-2.af")));
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.platform, "letta");
	read_text(&r, "", arena_printf(&r.a, BOM "%s", example(&r, "dify-agent.yml")));
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.platform, "dify");
	read_zip(&r, ZIP({ "AGENTS.md", BOM "---\nname: B\n---\nT" }));
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.name, "B");

	test_step("Dify's kind");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		read_text(&r, "", arena_printf(&r.a, "app:\n  name: K\n%s\n", kinds[i]));
		CHECK_INT(r.err, 0);
		CHECK_STR(r.b.platform, "dify");
	}
	read_text(&r, "", "app:\n  name: K\nkind: apple\n");
	CHECK_INT(r.err, ERR_INVALID);

	test_step("Markdown by its name alone");
	read_text(&r, "AGENTS.md", "Always use tabs.\n");
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.platform, "agent-md");
	CHECK_STR(r.b.prompt, "Always use tabs.\n");
	read_text(&r, "AGENTS.md", "[Tabs](x) always.\n\nkind: app\n");
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.platform, "agent-md");
	read_text(&r, "in/helper.agent.md", "Help.\n");
	CHECK_STR(r.b.name, "helper");
	read_text(&r, "notes", "Always use tabs.\n");
	CHECK_INT(r.err, ERR_INVALID);

	test_step("the line of a fault in a head is the file's");
	read_text(&r, "", "---\nname: x\ndescription: Use this: when\n---\nText\n");
	CHECK_INT(r.err, ERR_INVALID);
	CHECK(r.p.first && strstr(r.p.first->message, "line 3"));
	reading_end(&r);
}

TEST(bundle_names_texts_with_a_nul)
{
	struct reading r = { 0 };

	read_text(&r, "",
		"{\"object\":\"assistant\",\"name\":\"N\\u0000l\",\"model\":\"m\","
		"\"instructions\":\"ab\",\"tools\":[{\"type\":\"x\\u0000\"}]}");
	CHECK_INT(r.err, 0);
	CHECK(!r.b.name);
	CHECK_STR(r.b.prompt, "ab");
	CHECK(warns(&r.b, "The text at name holds U+0000"));
	CHECK(warns(&r.b, "The text at tools.0.type holds U+0000"));
	CHECK_INT(r.b.warnings.count, 2);
	read_text(&r, "", "---\nname: \"a\\0b\"\n---\nText\n");
	CHECK_INT(r.err, ERR_INVALID);
	reading_end(&r);
}

TEST(bundle_dify_agents_in_a_graph)
{
	static const char flow[] =
		"app: {name: F}\nkind: app\nversion: 0.3.0\n"
		"workflow:\n  graph:\n    nodes:\n"
		"    - data: {type: start}\n"
		"    - data: {type: llm, model: {name: m1}, prompt_template: [{role: system, text: P}]}\n"
		"    - data:\n        type: agent\n        agent_parameters:\n"
		"          instruction: {type: constant, value: Do it.}\n"
		"          model: {type: constant, value: {model: m2, provider: p}}\n"
		"          tools: {type: constant, value: [{enabled: true, tool_name: calculator}, "
		"{enabled: false, tool_name: off}]}\n";
	static const char chat[] = "{\"kind\":\"app\",\"app\":{\"name\":\"C\"},\"model_config\":"
				   "{\"dataset_configs\":{\"datasets\":{\"datasets\":[]}}}}";
	struct reading r = { 0 };

	read_text(&r, "", flow);
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.prompt, "P\n\nDo it.");
	CHECK_STR(text_of(&r.b.models, 1), "m2");
	CHECK_STR(tool_of(&r.b, 0), "calculator");
	CHECK_INT(r.b.tools.count, 1);
	CHECK(warns(&r.b, "with 1 nodes"));
	test_step("no data sets");
	read_text(&r, "", chat);
	CHECK_INT(r.err, 0);
	CHECK(!warns(&r.b, "Data sets"));
	reading_end(&r);
}

TEST(bundle_card_names_in_any_case)
{
	struct reading r = { 0 };

	read_text(&r, "",
		"{\"name\":\"Bo\",\"personality\":\"\",\"first_mes\":\"{{Char}} <Bot> {{USER}} <user>\"}");
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.greeting, "Bo Bo the user the user");
	reading_end(&r);
}
