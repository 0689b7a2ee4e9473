/* test_bundle_growth.c - files that are small and would grow: what is read of them takes memory and time as their bytes do. */
#include <time.h>

#include "bundle/bundle.h"
#include "bundle_fixture.h"
#include "helper/helper.h"
#include "t.h"

struct growth {
	struct arena a;
	struct patterns *patterns;
	struct agent_bundle b;
	struct problem p;
	struct buf text;
	int err;
	double cpu_s;
};

static void growth_begin(struct growth *g)
{
	const char *bad;

	*g = (struct growth){ .patterns = patterns_new(NULL, 0, &bad) };
	buf_init(&g->text, 64 << 20);
}

static void growth_end(struct growth *g)
{
	patterns_free(g->patterns);
	buf_free(&g->text);
	arena_free(&g->a);
}

static void growth_read(struct growth *g)
{
	clock_t before = clock();

	g->err = bundle_read(&g->a, g->patterns, NULL,
		&(struct bundle_file){ "", g->text.at, g->text.len }, &g->b, &g->p);
	g->cpu_s = (double)(clock() - before) / CLOCKS_PER_SEC;
}

enum { PARTS = 6000, PART = 200, AT_MOST = 64 << 20 };

static void put_parts(struct buf *b, const char *shape)
{
	char part[PART + 1];

	memset(part, 'x', PART);
	part[PART] = '\0';
	for (int i = 0; i < PARTS; i++) {
		buf_lit(b, ",{\"type\":\"text\",\"text\":");
		buf_printf(b, shape, part);
		buf_putc(b, '}');
	}
}

TEST(bundle_joins_parts_of_a_message_once)
{
	struct growth g;
	const struct bundle_session *s;
	const struct BundleMessage *m;

	growth_begin(&g);
	buf_lit(&g.text,
		"{\"object\":\"assistant\",\"name\":\"A\",\"threads\":[{\"messages\":[{\"role\":\"user\",\"content\":[1");
	put_parts(&g.text, "{\"value\":\"%s\"}");
	buf_lit(&g.text, "]}]}]}");
	growth_read(&g);
	CHECK_INT(g.err, 0);
	CHECK_INT(g.b.sessions.count, 1);
	s = g.b.sessions.at;
	m = s->messages.at;
	CHECK_INT(strlen(m->content), PARTS * (PART + 1) - 1);
	CHECK(g.a.total < AT_MOST);
	growth_end(&g);

	growth_begin(&g);
	buf_lit(&g.text,
		"{\"agent_type\":\"x\",\"core_memory\":[1],\"llm_config\":{\"model\":\"m\"},\"messages\":[{\"role\":\"user\",\"content\":[1");
	put_parts(&g.text, "\"%s\"");
	buf_lit(&g.text, "]}]}");
	growth_read(&g);
	CHECK_INT(g.err, 0);
	CHECK_INT(g.b.messages, 1);
	CHECK(g.a.total < AT_MOST);
	growth_end(&g);
}

TEST(bundle_joins_prompts_of_a_graph_once)
{
	struct growth g;

	growth_begin(&g);
	buf_lit(&g.text, "{\"edges\":[],\"nodes\":[{\"data\":{}}");
	for (int i = 0; i < 20000; i++)
		buf_printf(
			&g.text, ",{\"data\":{\"inputs\":{\"systemMessage\":\"%0*d\"}}}", PART, i);
	buf_lit(&g.text, "]}");
	growth_read(&g);
	CHECK_INT(g.err, 0);
	CHECK_INT(strlen(g.b.prompt), BUNDLE_PROMPTS_MAX * (PART + 2) - 2);
	CHECK(g.a.total < AT_MOST);
	growth_end(&g);

	growth_begin(&g);
	buf_lit(&g.text,
		"{\"kind\":\"app\",\"app\":{\"name\":\"A\"},\"workflow\":{\"graph\":{\"nodes\":[{\"data\":{\"type\":\"llm\",\"prompt_template\":[1");
	for (int i = 0; i < 20000; i++)
		buf_printf(&g.text, ",{\"role\":\"system\",\"text\":\"%0*d\"}", PART, i);
	buf_lit(&g.text, "]}}]}}}");
	growth_read(&g);
	CHECK_INT(g.err, 0);
	CHECK_INT(strlen(g.b.prompt), BUNDLE_PROMPTS_MAX * (PART + 2) - 2);
	CHECK(g.a.total < AT_MOST);
	growth_end(&g);
}

/* A reader ends where its arena is full, whatever it reads. */
TEST(bundle_ends_when_the_arena_is_full)
{
	struct growth g;

	growth_begin(&g);
	buf_lit(&g.text,
		"{\"object\":\"assistant\",\"name\":\"A\",\"threads\":[{\"messages\":[{\"role\":\"user\",\"content\":[1");
	put_parts(&g.text, "\"%s\"");
	buf_lit(&g.text, "]}]}]}");
	g.a.max = 3 << 20; /* enough for the tree, not for the text besides */
	growth_read(&g);
	CHECK_INT(g.err == ERR_TOO_LARGE || g.err == ERR_INVALID, 1);
	CHECK(g.a.total < (8 << 20));
	growth_end(&g);
}

/* ---- time ---- */

enum {
	CPU_S = 6
}; /* a hundred times what it takes; what was squared took minutes under the sanitizers */

TEST(bundle_looks_up_named_blocks)
{
	struct growth g;

	growth_begin(&g);
	buf_lit(&g.text, "{\"agents\":[{\"name\":\"A\",\"block_ids\":[\"b\"");
	for (int i = 0; i < 100000; i++)
		buf_printf(&g.text, ",\"block-%06d\"", i);
	buf_lit(&g.text, "]}],\"blocks\":[{\"id\":\"b\",\"value\":\"kept\"}");
	for (int i = 0; i < 100000; i++)
		buf_printf(&g.text, ",{\"id\":\"other-%06d\"}", i);
	buf_lit(&g.text, "]}");
	growth_read(&g);
	CHECK_INT(g.err, 0);
	CHECK_INT(g.b.memories.count, 1);
	CHECK(g.cpu_s < CPU_S);
	growth_end(&g);
}

/* Read as one who has unpacked it. */
static void growth_read_files(struct growth *g, const struct bundle_file *files, size_t count)
{
	clock_t before = clock();

	g->err = bundle_read_files(&g->a, g->patterns, NULL, files, count, &g->b, &g->p);
	g->cpu_s = (double)(clock() - before) / CLOCKS_PER_SEC;
}

TEST(bundle_mends_answers_that_call)
{
	struct growth g;
	struct bundle_session s = { 0 };
	const struct BundleMessage *m;
	clock_t before;

	growth_begin(&g);
	for (int i = 0; i < 8000; i++) {
		struct bundle_reading r = { .a = &g.a, .p = &g.p, .out = &g.b };
		struct BundleMessage *to = bundle_add_message(&r, &s, BUNDLE_TOOL, "said");

		to->tool_call_id = "call-x";
		for (int k = 0; k < 20; k++)
			bundle_add_call(&r, to, "call-y", "ask", "{}");
	}
	before = clock();
	bundle_mend_calls(&(struct bundle_reading){ .a = &g.a, .p = &g.p, .out = &g.b }, &s);
	CHECK((double)(clock() - before) / CLOCKS_PER_SEC < CPU_S);
	m = s.messages.at;
	CHECK_INT(m[0].role, BUNDLE_ASSISTANT);
	CHECK_INT(m[0].tool_calls.count, 0);
	CHECK(!m[0].tool_call_id);
	CHECK(strstr(m[0].content, "said\n[called ask with {}]\n"));
	growth_end(&g);
}

TEST(bundle_of_skills_in_skills)
{
	enum { FILES = 4900, NESTED = 15 };
	struct growth g;
	struct bundle_file *files;
	const struct bundle_skill *skill;
	const char *folder = "";
	size_t n = 0;

	growth_begin(&g);
	files = arena_array(&g.a, struct bundle_file, FILES + NESTED);
	for (int i = 0; i < NESTED; i++) {
		folder = arena_printf(&g.a, "%sd%d/", folder, i);
		files[n++] =
			(struct bundle_file){ arena_printf(&g.a, "%sSKILL.md", folder), "x", 1 };
	}
	for (int i = 0; i < FILES; i++)
		files[n++] = (struct bundle_file){
			arena_printf(&g.a, "%sf%d", i % 2 ? folder : "d0/", i), "x", 1
		};
	growth_read_files(&g, files, n);
	CHECK_INT(g.err, 0);
	CHECK(g.cpu_s < CPU_S);
	CHECK_INT(g.b.skills.count, NESTED);
	skill = g.b.skills.at;
	CHECK_INT(skill[0].count, 1 + FILES / 2);
	CHECK_INT(skill[1].count, 1);
	CHECK_INT(skill[NESTED - 1].count, 1 + FILES / 2);
	growth_end(&g);
}
