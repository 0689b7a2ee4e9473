/* test_bundle.c - what each format becomes, without a store: agents of other platforms, and what of them stays behind. */
#include "base/base64.h"
#include "base/zip.h"
#include "bundle/bundle.h"
#include "bundle_fixture.h"
#include "helper/helper.h"
#include "picture_fixture.h"
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

static void read_bytes(struct reading *r, const void *bytes, size_t len)
{
	read_named(r, "", bytes, len);
}

static void read_example(struct reading *r, const char *name)
{
	size_t len;
	const char *text = bundle_example(&r->a, name, &len);

	test_step("%s", name);
	read_bytes(r, text, len);
	CHECK_INT(r->err, 0);
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

/* Nothing that is a secret in an example may be anywhere in what is read of it. */
static void check_no_secret(struct reading *r)
{
	struct buf out;
	struct problem p = { 0 };

	buf_init(&out, 1 << 24);
	r->b.settings = "{}";
	r->b.exported_at.us = 0;
	CHECK_INT(bundle_write(&out, &r->a, &r->b, &p), 0);
	CHECK(!memmem(out.at, out.len, "sk-should", 9));
	CHECK(!memmem(out.at, out.len, "os.system", 9));
	buf_free(&out);
}

TEST(bundle_letta_version_2)
{
	struct reading r = { 0 };
	const struct BundleTool *tool;
	const struct BundleMemory *memory;
	const struct bundle_session *session;
	const struct BundleMessage *m;
	const struct BundleCall *call;

	read_example(&r, "letta-2.af");
	CHECK_STR(r.b.platform, "letta");
	CHECK_STR(r.b.name, "Trip planner (EU)");
	CHECK_STR(r.b.prompt, "You plan trips by train.");
	CHECK_INT(r.b.models.count, 2);
	CHECK(r.b.one_model);
	CHECK_STR(((const char *const *)r.b.models.at)[0], "openai/gpt-4o-mini");
	CHECK_INT(r.b.tools.count, 2);
	tool = r.b.tools.at;
	CHECK_STR(tool[0].name, "find_train");
	CHECK_INT(r.b.memories.count, 2);
	memory = r.b.memories.at;
	CHECK_STR(memory[0].content, "human: Likes window seats.");
	CHECK_INT(r.b.sessions.count, 1);
	session = r.b.sessions.at;
	CHECK_INT(session->messages.count, 4);
	m = session->messages.at;
	CHECK_STR(m[0].content, "To Lyon, please.");
	CHECK_INT(m[1].tool_calls.count, 1);
	call = m[1].tool_calls.at;
	CHECK_STR(call->arguments.text, "{\"to\":\"Lyon\"}");
	CHECK_INT(m[2].role, BUNDLE_TOOL);
	CHECK_STR(m[2].tool_call_id, "call_a");
	CHECK_INT(m[3].created_at.us, INT64_C(1772359204000000));
	CHECK(warns(&r.b, "\"Second\""));
	CHECK(warns(&r.b, "tool_rules"));
	CHECK(warns(&r.b, "secrets"));
	CHECK(warns(&r.b, "MCP"));
	check_no_secret(&r);
	reading_end(&r);
}

TEST(bundle_letta_version_1)
{
	struct reading r = { 0 };
	const struct bundle_session *session;
	const struct BundleMessage *m;

	read_example(&r, "letta-1.af");
	CHECK_STR(r.b.platform, "letta");
	CHECK_STR(r.b.name, "old-friend");
	CHECK_INT(r.b.memories.count, 1);
	CHECK_INT(r.b.tools.count, 1);
	session = r.b.sessions.at;
	CHECK_INT(session->messages.count, 2);
	m = session->messages.at;
	CHECK_INT(m[1].tool_calls.count, 0); /* nobody answered it: a model would refuse it */
	CHECK(strstr(m[1].content, "send_message"));
	CHECK(warns(&r.b, "taken over as text"));
	check_no_secret(&r);
	reading_end(&r);
}

TEST(bundle_openai_assistants)
{
	struct reading r = { 0 };
	const struct bundle_session *session;
	const struct BundleMessage *m;

	read_example(&r, "assistant.json");
	CHECK_STR(r.b.platform, "openai");
	CHECK_STR(r.b.name, "Maths tutor");
	CHECK_STR(r.b.prompt, "You are a tutor.");
	CHECK_STR(((const char *const *)r.b.models.at)[0], "gpt-4o");
	CHECK_INT(r.b.tools.count, 1);
	CHECK(warns(&r.b, "code_interpreter"));
	CHECK(warns(&r.b, "Vector stores"));
	CHECK(warns(&r.b, "temperature"));
	session = r.b.sessions.at;
	CHECK_INT(r.b.sessions.count, 1);
	m = session->messages.at;
	CHECK_INT(session->messages.count, 2);
	CHECK_STR(m[0].content, "2+2?");
	CHECK_INT(m[0].role, BUNDLE_USER);

	read_example(&r, "assistants-page.json");
	CHECK_STR(r.b.name, "One");
	CHECK(warns(&r.b, "\"Two\""));
	read_bytes(&r, "[{\"object\":\"assistant\",\"model\":\"x\"}]", 36);
	CHECK_INT(r.err, 0);
	CHECK(!r.b.name);
	reading_end(&r);
}

static void check_card(const struct agent_bundle *b)
{
	CHECK_STR(b->platform, "character-card");
	CHECK_STR(b->name, "Zoë");
	CHECK_STR(b->greeting, "Come in, the user.");
	CHECK(b->prompt && strstr(b->prompt, "Stay in character."));
	CHECK(b->prompt && strstr(b->prompt, "Zoë keeps a lighthouse."));
	CHECK_INT(b->memories.count, 1);
	CHECK(warns(b, "greetings"));
	CHECK(warns(b, "Extensions"));
}

static void paint_plain(int x, int y, uint8_t *rgba)
{
	rgba[0] = (uint8_t)x;
	rgba[1] = (uint8_t)y;
	rgba[2] = 0;
	rgba[3] = 255;
}

/* A PNG with one text chunk more, after its header. */
static void png_with_text(struct buf *out, const char *keyword, const void *card, size_t len)
{
	struct picture p = picture_paint(32, 32, paint_plain);
	struct buf png;
	size_t body = strlen(keyword) + 1 + base64_length(len), head = 33;
	char size[4] = { (char)(body >> 24), (char)(body >> 16), (char)(body >> 8), (char)body };

	buf_init(&png, 1 << 20);
	buf_init(out, 1 << 20);
	picture_fixture_png(&png, &p, KIND_RGB_8, false);
	buf_put(out, png.at, head);
	buf_put(out, size, sizeof size);
	buf_lit(out, "tEXt");
	buf_put(out, keyword, strlen(keyword) + 1);
	CHECK(buf_grow(out, base64_length(len)));
	base64_encode(card, len, out->at + out->len);
	out->len += base64_length(len);
	buf_lit(out, "\0\0\0\0");
	buf_put(out, png.at + head, png.len - head);
	buf_free(&png);
	picture_free(&p);
}

TEST(bundle_character_cards)
{
	struct reading r = { 0 };
	struct buf png;
	size_t len;
	const char *card = bundle_example(&r.a, "card-2.json", &len);

	read_example(&r, "card-2.json");
	check_card(&r.b);
	read_example(&r, "card-1.json");
	CHECK_STR(r.b.name, "Bo");
	CHECK_STR(r.b.greeting, "Woof");

	test_step("in a picture");
	png_with_text(&png, "chara", card, len);
	read_bytes(&r, png.at, png.len);
	CHECK_INT(r.err, 0);
	check_card(&r.b);
	CHECK(r.b.avatar.bytes == png.at);
	for (size_t cut = 9; cut < 200; cut += 7) { /* cut off anywhere, it is no card */
		read_bytes(&r, png.at, cut);
		CHECK_INT(r.err, ERR_INVALID);
	}
	buf_free(&png);
	png_with_text(&png, "comment", card, len);
	read_bytes(&r, png.at, png.len);
	CHECK_INT(r.err, ERR_INVALID);
	buf_free(&png);
	reading_end(&r);
}

static const char *text_of(const struct list *l, size_t i)
{
	return i < l->count ? ((const char *const *)l->at)[i] : NULL;
}

static const char *tool_of(const struct agent_bundle *b, size_t i)
{
	return i < b->tools.count ? ((const struct BundleTool *)b->tools.at)[i].name : NULL;
}

TEST(bundle_flowise)
{
	struct reading r = { 0 };
	const struct bundle_session *session;

	read_example(&r, "flowise-flow.json");
	CHECK_STR(r.b.platform, "flowise");
	CHECK_STR(r.b.prompt, "You count.");
	CHECK_STR(text_of(&r.b.models, 0), "gpt-4o-mini");
	CHECK_STR(tool_of(&r.b, 0), "calculator");
	CHECK_STR(tool_of(&r.b, 1), "look_up");
	CHECK(warns(&r.b, "Credentials"));
	CHECK(warns(&r.b, "pinecone"));
	check_no_secret(&r);

	read_example(&r, "flowise-export.json");
	CHECK_STR(r.b.name, "Helper");
	CHECK_STR(r.b.prompt, "You help.");
	CHECK_STR(text_of(&r.b.models, 0), "gpt-4o");
	CHECK_STR(tool_of(&r.b, 0), "currentDateTime");
	CHECK(warns(&r.b, "\"Other\""));
	CHECK(warns(&r.b, "Variables"));
	CHECK_INT(r.b.sessions.count, 2);
	CHECK_INT(r.b.messages, 3);
	session = r.b.sessions.at;
	CHECK_INT(session[0].messages.count, 2);
	check_no_secret(&r);
	reading_end(&r);
}

TEST(bundle_dify)
{
	static const char numbered[] = "{\"kind\":\"app\",\"app\":{},\"version\":0.6}";
	struct reading r = { 0 };

	read_example(&r, "dify-agent.json");
	CHECK_STR(r.b.platform, "dify");
	CHECK_STR(r.b.description, "Tells the weather.");
	CHECK_STR(r.b.prompt, "You tell the weather in {{city}}.");
	CHECK_STR(r.b.greeting, "Where are you?");
	CHECK_STR(text_of(&r.b.models, 0), "gpt-4o");
	CHECK_INT(r.b.tools.count, 1);
	CHECK_STR(tool_of(&r.b, 0), "weather");
	CHECK(warns(&r.b, "Data sets"));
	CHECK(warns(&r.b, "Plugins"));

	read_example(&r, "dify-agent.yml");
	CHECK_STR(r.b.platform, "dify");
	CHECK_STR(r.b.name, "Weather");
	CHECK_STR(r.b.prompt, "You tell the weather.\nBriefly.\n");
	CHECK_STR(tool_of(&r.b, 0), "weather");
	CHECK_INT(r.b.tools.count, 1);

	read_example(&r, "dify-workflow.json");
	CHECK_STR(r.b.prompt, "Summarise.");
	CHECK_STR(r.b.greeting, "Hello.");
	CHECK_STR(tool_of(&r.b, 0), "search");
	CHECK(warns(&r.b, "with 2 nodes"));
	check_no_secret(&r);
	read_bytes(&r, numbered, sizeof numbered - 1);
	CHECK_INT(r.err, ERR_INVALID);
	reading_end(&r);
}

TEST(bundle_of_markdown)
{
	struct reading r = { 0 };
	const struct bundle_skill *skill;
	struct buf zip;

	read_example(&r, "reviewer.agent.md");
	CHECK_STR(r.b.platform, "agent-md");
	CHECK_STR(r.b.name, "Reviewer");
	CHECK_STR(r.b.description, "Reviews changes.");
	CHECK_STR(r.b.prompt, "You review changes, kindly.\n");
	CHECK_STR(text_of(&r.b.models, 0), "gpt-4o");
	CHECK_STR(tool_of(&r.b, 1), "search");
	read_example(&r, "AGENTS.md");
	CHECK(!r.b.name);
	CHECK(r.b.prompt && strstr(r.b.prompt, "Run the tests."));
	read_bytes(&r, "---\na: [\n---\nx", strlen("---\na: [\n---\nx"));
	CHECK_INT(r.err, ERR_INVALID);

	test_step("folders of skills, beside an agent");
	bundle_zipped(&zip,
		(const struct bundle_piece[]){ { "top/AGENTS.md", "Be kind." },
			{ "top/b.agent.md", "---\ntools: x, y\n---\nBe brief." },
			{ "top/skills/a/SKILL.md", "A" }, { "top/skills/a/inner/SKILL.md", "I" },
			{ "top/skills/a/inner/f", "f" }, { "top/skills/a/scripts/run", "r" },
			{ NULL, NULL } });
	read_bytes(&r, zip.at, zip.len);
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.name, "b");
	CHECK_STR(r.b.prompt, "Be brief.");
	CHECK_INT(r.b.tools.count, 2);
	CHECK(warns(&r.b, "Not read: AGENTS.md."));
	CHECK_INT(r.b.skills.count, 2);
	skill = r.b.skills.at;
	CHECK_STR(skill[0].folder, "skills/a");
	CHECK_INT(skill[0].count, 2);
	CHECK_STR(skill[0].files[1].name, "scripts/run");
	CHECK_INT(skill[1].count, 2);
	buf_free(&zip);

	test_step("one skill alone");
	bundle_zipped(&zip, (const struct bundle_piece[]){
				    { "a/SKILL.md", "A" }, { "a/x", "x" }, { NULL, NULL } });
	read_bytes(&r, zip.at, zip.len);
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.platform, "agent-skills");
	CHECK_INT(r.b.skills.count, 1);
	skill = r.b.skills.at;
	CHECK_INT(skill->count, 2);
	buf_free(&zip);
	reading_end(&r);
}

TEST(bundle_of_none_of_the_formats)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "is text" },
		{ "hello", "Letta" },
		{ "{\"a\":1}", "is JSON, but none" },
		{ "{\"a\":", "cannot be read" },
		{ "kind: app\nx: [", "line " },
		{ "[]", "is JSON, but none" },
		{ "PK\5\6", "not a ZIP" },
		{ "\x89PNG\r\n\x1a\nxx", "without a character card" },
	};
	struct reading r = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].text);
		read_bytes(&r, cases[i].text, strlen(cases[i].text));
		CHECK_INT(r.err, ERR_INVALID);
		CHECK(r.p.first && strstr(r.p.first->message, cases[i].says));
	}
	reading_end(&r);
}

/* ---- bundles of ours ---- */

#define AGENT "\"agent\":{\"name\":\"A\",\"slug\":\"a\"}"

TEST(bundle_of_ours_is_what_its_manifest_says)
{
	static const struct bundle_piece none[] = { { NULL, NULL } };
	static const struct {
		const char *members;
		struct bundle_piece pieces[3];
		const char *field, *says;
	} cases[] = {
		{ "\"agent\":1", { { NULL, NULL } }, "agent", "" },
		{ AGENT ",\"bogus\":1", { { NULL, NULL } }, "bogus", "" },
		{ AGENT ",\"memories\":\"m\"", { { NULL, NULL } }, "m", "not in the archive" },
		{ AGENT ",\"memories\":\"m\"",
			{ { "m", "{\"content\":\"x\"}\n{\"content\":1}\n" } }, "m",
			"line 2: content" },
		{ AGENT ",\"memories\":\"m\"", { { "m", "\n" } }, "m", "line 1" },
		{ AGENT ",\"sessions\":[\"s\"]",
			{ { "s", "{}\n{\"role\":\"god\",\"content\":\"\"}\n" } }, "s",
			"line 2: role" },
		{ AGENT ",\"prompts\":[{\"field\":\"slug\",\"file\":\"p\"}]", { { "p", "x" } },
			"lodge-agent.json", "no prompt" },
		{ AGENT ",\"skills\":[{\"folder\":\"skills/x\"}]", { { NULL, NULL } }, "skills/x",
			"no file" },
	};
	struct reading r = { 0 };
	struct buf zip;

	bundle_made(&zip, &r.a, AGENT, none);
	read_bytes(&r, zip.at, zip.len);
	CHECK_INT(r.err, 0);
	CHECK_STR(r.b.settings, "{\"name\":\"A\",\"slug\":\"a\"}");
	buf_free(&zip);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].members);
		bundle_made(&zip, &r.a, cases[i].members, cases[i].pieces);
		read_bytes(&r, zip.at, zip.len);
		CHECK_INT(r.err, ERR_INVALID);
		CHECK(r.p.first);
		if (r.p.first) {
			CHECK_STR(r.p.first->field, cases[i].field);
			CHECK(strstr(r.p.first->message, cases[i].says));
		}
		buf_free(&zip);
	}
	reading_end(&r);
}

static void refused_zip(struct reading *r, const struct bundle_piece *pieces, const char *says)
{
	struct buf zip;

	test_step("%s", says);
	bundle_zipped(&zip, pieces);
	read_bytes(r, zip.at, zip.len);
	CHECK_INT(r->err, ERR_INVALID);
	CHECK(r->p.first && strstr(r->p.first->message, says));
	buf_free(&zip);
}

#define HEAD(files)                                                                \
	"{\"format\":\"lodge-agent\",\"version\":1,\"source_platform\":\"lodge\"," \
	"\"exported_at\":\"2026-02-03T04:05:06Z\"," AGENT ",\"files\":[" files "]}"
#define LISTED(size, digest) "{\"path\":\"x\",\"size_bytes\":" size ",\"sha256\":\"" digest "\"}"
#define OF_X "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
#define OTHER "0000000000000000000000000000000000000000000000000000000000000000"

TEST(bundle_of_ours_lists_every_file)
{
	struct reading r = { 0 };
	struct buf zip;

#define PIECES(...) ((const struct bundle_piece[]){ __VA_ARGS__, { NULL, NULL } })
	bundle_zipped(&zip, PIECES({ "lodge-agent.json", HEAD(LISTED("1", OF_X)) }, { "x", "x" }));
	read_bytes(&r, zip.at, zip.len);
	CHECK_INT(r.err, 0);
	for (size_t cut = 1; cut < zip.len; cut += 11) {
		read_bytes(&r, zip.at, zip.len - cut);
		CHECK_INT(r.err, ERR_INVALID);
	}
	buf_free(&zip);
	refused_zip(&r, PIECES({ "lodge-agent.json", HEAD("") }, { "x", "x" }), "is not listed");
	refused_zip(&r, PIECES({ "lodge-agent.json", HEAD(LISTED("1", OF_X)) }),
		"is listed and is not in the archive");
	refused_zip(&r, PIECES({ "lodge-agent.json", HEAD(LISTED("2", OF_X)) }, { "x", "x" }),
		"its size or its sha256");
	refused_zip(&r, PIECES({ "lodge-agent.json", HEAD(LISTED("1", OTHER)) }, { "x", "x" }),
		"its size or its sha256");
	refused_zip(&r, PIECES({ "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q", "x" }), "deep");
	reading_end(&r);
}

TEST(bundle_written_is_read_as_it_was)
{
	struct reading r = { 0 };
	const struct bundle_piece pieces[] = {
		{ "memories.ndjson",
			"{\"content\":\"One.\",\"created_at\":\"2026-01-01T00:00:00.000Z\"}\n" },
		{ "sessions/0001.ndjson",
			"{\"title\":\"T\",\"created_at\":null,\"updated_at\":null}\n"
			"{\"role\":\"user\",\"content\":\"Hi\",\"tool_calls\":[],\"tool_call_id\":null,\"created_at\":null}\n"
			"{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c\",\"name\":\"n\",\"arguments\":{}}],\"tool_call_id\":null,\"created_at\":null}\n"
			"{\"role\":\"tool\",\"content\":\"r\",\"tool_calls\":[],\"tool_call_id\":\"c\",\"created_at\":null}\n" },
		{ "skills/s/SKILL.md", "---\nname: s\ndescription: d\n---\n" },
		{ NULL, NULL },
	};
	struct buf zip, out, again;

	bundle_made(&zip, &r.a,
		AGENT ",\"models\":[\"m\"],\"tools\":[{\"name\":\"t\",\"is_enabled\":false}],"
		      "\"skills\":[{\"folder\":\"skills/s\"}],\"memories\":\"memories.ndjson\","
		      "\"sessions\":[\"sessions/0001.ndjson\"],\"left_out\":[\"gone\"]",
		pieces);
	read_bytes(&r, zip.at, zip.len);
	CHECK_INT(r.err, 0);
	CHECK_INT(r.b.messages, 3);
	((struct bundle_skill *)r.b.skills.at)->folder = "s";
	buf_init(&out, 1 << 20);
	buf_init(&again, 1 << 20);
	CHECK_INT(bundle_write(&out, &r.a, &r.b, &r.p), 0);
	read_bytes(&r, out.at, out.len);
	CHECK_INT(r.err, 0);
	((struct bundle_skill *)r.b.skills.at)->folder = "s";
	CHECK_INT(bundle_write(&again, &r.a, &r.b, &r.p), 0);
	CHECK_INT(out.len, again.len);
	CHECK(memcmp(out.at, again.at, out.len) == 0);
	buf_free(&zip);
	buf_free(&out);
	buf_free(&again);
	reading_end(&r);
}
