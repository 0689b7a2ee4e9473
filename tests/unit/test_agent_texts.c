/* test_agent_texts.c - what goes into an agent comes out again: any text, any valid body, whatever its
 * length; and what happens when several change or make the same agent at once. */
#include "race.h"

#include <stdlib.h>

#include "api/agents/agents.h"
#include "base/buf.h"

enum { MIB = 1 << 20 };

static struct answer post_agent(struct fixture *f, const char *body)
{
	return ask(f, f->admin, body, "POST /tenant/%s/agents", f->tenant_id);
}

/* A text of n bytes, each an `a`. */
static char *long_text(struct fixture *f, size_t n)
{
	char *text = arena_alloc(&f->arena, n + 1);

	memset(text, 'a', n);
	return text;
}

TEST(agent_texts_survive_byte_for_byte)
{
	/* Emoji with modifiers and joiners, right to left with marks, combining, astral, controls. */
	static const char *const texts[] = {
		"\xf0\x9f\x91\xa9\xf0\x9f\x8f\xbd\xe2\x80\x8d\xf0\x9f\x9a\x80",
		"\xe2\x80\xab\xd8\xb3\xd9\x84\xd8\xa7\xd9\x85 \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d\xe2\x80\xac",
		"e\xcc\x81 vs \xc3\xa9", "\xf0\x9d\x94\x98\xf4\x8f\xbf\xbd", "\t\n\r\x01\x1f\x7f",
		"\" \\ / </script> ' ; -- %s %00 \\u0000",
		"\xef\xbb\xbf"
		"bom",
		" ", ""
	};
	static const char *const fields[] = { "description", "description_prompt",
		"initial_greeting", "bootstrap_instructions", "voice", "image_ref" };
	struct fixture *f = fixture_open();
	struct answer r = post_agent(f, "{\"name\":\"A\",\"slug\":\"a\"}");
	const char *id = text_at(&r, "id");

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		json_t *body = json_object();
		char *sent;

		test_step("text %zu", i);
		for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
			json_object_set_new(body, fields[k], json_string(texts[i]));
		sent = json_dumps(body, i % 2 ? JSON_ENSURE_ASCII : 0);
		STATUS(ask(f, f->admin, sent, "PATCH /agents/%s", id), 200);
		r = ask(f, f->admin, arena_printf(&f->arena, "{\"name\":\"C%zu\"}", i),
			"POST /agents/%s/clone", id);
		STATUS(r, 201);
		r = ask(f, f->admin, NULL, "GET /agents/%s", text_at(&r, "id"));
		for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
			CHECK_STR(text_at(&r, fields[k]), texts[i]);
		free(sent);
		json_decref(body);
	}
	fixture_close(f);
}

TEST(agent_texts_refuse_nul_and_what_is_no_text)
{
	struct fixture *f = fixture_open();
	struct answer r = post_agent(f,
		"{\"name\":\"A\",\"slug\":\"a\",\"description\":\"x\\u0000y\",\"voice\":\"\\u0000\"}");

	CHECK(refuses(&r, "description", "character"));
	CHECK(refuses(&r, "voice", "character"));
	STATUS(post_agent(f, "{\"name\":\"A\",\"slug\":\"a\",\"description\":\"\xff\"}"), 400);
	STATUS(post_agent(f, "{\"name\":\"A\",\"slug\":\"a\",\"description\":\"\xed\xa0\x80\"}"),
		400);
	STATUS(post_agent(f, "{\"name\":\"A\",\"slug\":\"a\",\"description\":\"\\ud83d\"}"), 400);
	r = post_agent(f, "{\"name\":\"\xf0\x9f\x98\x80\",\"slug\":\"a\"}");
	CHECK(refuses(&r, "name", "pattern"));
	fixture_close(f);
}

TEST(agent_texts_are_bounded_in_code_points_and_prompts_in_bytes)
{
	struct fixture *f = fixture_open();
	struct answer r = post_agent(f, "{\"name\":\"A\",\"slug\":\"a\"}");
	const char *id = text_at(&r, "id"), *owls = "";
	static const size_t sizes[] = { MIB, 2 * MIB };

	test_step("128 owls are 512 bytes");
	for (int i = 0; i < 128; i++)
		owls = arena_printf(&f->arena, "%s\xf0\x9f\xa6\x89", owls);
	r = ask(f, f->admin, arena_printf(&f->arena, "{\"voice\":\"%s\"}", owls),
		"PATCH /agents/%s", id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "voice"), owls);
	r = ask(f, f->admin, arena_printf(&f->arena, "{\"voice\":\"%sx\"}", owls),
		"PATCH /agents/%s", id);
	CHECK(refuses(&r, "voice", "too_long"));

	test_step("prompts");
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		const char *prompt = long_text(f, sizes[i]);

		r = ask(f, f->admin,
			arena_printf(&f->arena,
				"{\"description_prompt\":\"%s\",\"voice\":\"v%zu\"}", prompt, i),
			"PATCH /agents/%s", id);
		STATUS(r, 200);
		r = ask(f, f->admin, NULL, "GET /agents/%s", id);
		CHECK_STR(text_at(&r, "description_prompt"), prompt);
	}
	/* What changed beside a prompt that is too long to show is told all the same. */
	CHECK_INT(fixture_count(f,
			  "select count(*) from audit_logs where meta like '%\"to\":\"v1\"%' and "
			  "meta like '%\"from\":\"(1048576 bytes)\",\"to\":\"(2097152 bytes)\"%'"),
		1);
	for (int i = 0; i < 3; i++) {
		static const char *const fields[] = { "description_prompt",
			"bootstrap_instructions", "initial_greeting" };

		r = ask(f, f->admin,
			arena_printf(
				&f->arena, "{\"%s\":\"%s\"}", fields[i], long_text(f, 2 * MIB + 1)),
			"PATCH /agents/%s", id);
		CHECK(refuses(&r, fields[i], "too_long"));
		CHECK(strstr(r.body, "must have at most 2097152 bytes") != NULL);
	}
	r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"description\":\"%s\"}", long_text(f, 64 * 1024 + 1)),
		"PATCH /agents/%s", id);
	CHECK(refuses(&r, "description", "too_long"));
	fixture_close(f);
}

/* ---- any valid body ---- */

static long below(long n)
{
	return random() % n;
}

/* Any code point but U+0000 and the surrogates, often a plain one. */
static void put_point(struct buf *b)
{
	long p = below(3)   ? 1 + below(0x7e)
		 : below(2) ? 0x80 + below(0xd780)
			    : 0xe000 + below(0x101ffe);
	char utf8[4];
	int n = 0;

	if (p < 0x80) {
		utf8[n++] = (char)p;
	} else if (p < 0x800) {
		utf8[n++] = (char)(0xc0 | p >> 6);
	} else if (p < 0x10000) {
		utf8[n++] = (char)(0xe0 | p >> 12);
		utf8[n++] = (char)(0x80 | (p >> 6 & 0x3f));
	} else {
		utf8[n++] = (char)(0xf0 | p >> 18);
		utf8[n++] = (char)(0x80 | (p >> 12 & 0x3f));
		utf8[n++] = (char)(0x80 | (p >> 6 & 0x3f));
	}
	if (p >= 0x80)
		utf8[n++] = (char)(0x80 | (p & 0x3f));
	buf_put(b, utf8, (size_t)n);
}

static json_t *any_text(const struct field *f, int number)
{
	static const char letters[] = "ABZabz059 -";
	long most = f->max ? (long)f->max : 300, n = f->min + below(most - (long)f->min + 1);
	struct buf b;
	json_t *v;

	buf_init(&b, 4096);
	if (strcmp(f->name, "slug") == 0) {
		buf_printf(&b, "s%d-%ld", number, below(1000));
	} else if (strcmp(f->name, "ssh_public_key") == 0) {
		buf_printf(&b,
			"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKdwVYdkCRfaKcE5JMTWDTdpDkwvNoZv1rY0CGdgpHTV %ld",
			below(1000));
	} else {
		for (long i = 0; i < n; i++) {
			if (f->pattern)
				buf_putc(&b, letters[below(sizeof letters - 1)]);
			else
				put_point(&b);
		}
	}
	v = json_stringn(b.at ? b.at : "", b.len);
	buf_free(&b);
	return v;
}

static json_t *any_value(const struct field *f, int number)
{
	int words = 0;

	if (f->nullable && below(5) == 0)
		return json_null();
	switch (f->kind) {
	case FLAG:
		return json_boolean(below(2));
	case INTEGER:
		return json_integer((json_int_t)f->min + below(1 << 30) * below(1 << 20));
	case CHOICE:
		while (f->words->list[words])
			words++;
		return json_string(f->words->list[below(words)]);
	default:
		return any_text(f, number);
	}
}

static json_t *any_body(const struct schema *s, int number)
{
	json_t *body = json_object();

	for (size_t i = 0; i < s->count; i++)
		if (s->fields[i].required || below(2))
			json_object_set_new(
				body, s->fields[i].name, any_value(&s->fields[i], number));
	return body;
}

/* Everything that was sent is read back; a null leaves what cannot be empty as it was. */
static void check_holds(json_t *sent, const struct answer *before, const struct answer *r)
{
	const char *name;
	json_t *v;

	json_object_foreach(sent, name, v)
	{
		json_t *got = json_object_get(r->json, name), *want = v;
		const struct field *f = schema_field(&AgentRead_schema, name, strlen(name));

		if (strcmp(name, "kind") == 0) /* not shown */
			continue;
		if (json_is_null(v) && before && !f->nullable)
			want = json_object_get(before->json, name);
		if (!json_equal(got, want)) {
			char *x = json_dumps(want, JSON_ENCODE_ANY),
			     *y = json_dumps(got, JSON_ENCODE_ANY);

			test_fail(__FILE__, __LINE__, "%s: sent %s, read %s", name, x, y);
			free(x);
			free(y);
		}
	}
}

TEST(agents_read_back_any_valid_body)
{
	struct fixture *f = fixture_open();

	srandom(5);
	for (int i = 0; i < 150; i++) {
		json_t *create = any_body(&AgentCreate_schema, i),
		       *update = any_body(&AgentUpdate_schema, i);
		char *created = json_dumps(create, 0), *updated = json_dumps(update, 0);
		struct answer made = post_agent(f, created), r;

		test_step("%s then %s", created, updated);
		STATUS(made, 201);
		check_holds(create, NULL, &made);
		r = ask(f, f->admin, NULL, "GET /agents/%s", text_at(&made, "id"));
		CHECK_STR(r.body, made.body);
		r = ask(f, f->admin, updated, "PATCH /agents/%s", text_at(&made, "id"));
		STATUS(r, 200);
		check_holds(update, &made, &r);
		made = ask(f, f->admin, NULL, "GET /agents/%s", text_at(&made, "id"));
		CHECK_STR(made.body, r.body);
		free(created);
		free(updated);
		json_decref(create);
		json_decref(update);
	}
	fixture_close(f);
}

/* ---- at once ---- */

TEST(agents_changed_at_once_under_a_tag_change_once)
{
	enum { AT_ONCE = 8 };
	struct fixture *f = fixture_open();
	struct answer r = post_agent(f, "{\"name\":\"A\",\"slug\":\"a\"}");
	const char *id = text_at(&r, "id");

	for (int round = 0; round < 3; round++) {
		struct racer racers[AT_ONCE];
		const char *tag;

		r = ask(f, f->admin, NULL, "GET /agents/%s", id);
		tag = header_of(f, &r, "ETag");
		for (int i = 0; i < AT_ONCE; i++)
			racers[i] = (struct racer){ f->admin,
				arena_printf(&f->arena, "{\"voice\":\"%d-%d\"}", round, i),
				arena_printf(
					&f->arena, "PATCH /agents/%s\nIf-Match: %s", id, tag) };
		race(f, racers, AT_ONCE);
		CHECK_INT(race_count(racers, AT_ONCE, 200), 1);
		CHECK_INT(race_count(racers, AT_ONCE, 412), AT_ONCE - 1);
		r = ask(f, f->admin, NULL, "GET /agents/%s", id);
		for (int i = 0; i < AT_ONCE; i++)
			if (racers[i].answer.status == 200)
				CHECK_STR(racers[i].answer.body, r.body);
	}
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'agent.update'"),
		3);
	fixture_close(f);
}

TEST(agents_made_at_once_with_one_slug_are_one)
{
	enum { AT_ONCE = 6 };
	struct fixture *f = fixture_open();
	struct racer racers[AT_ONCE];

	for (int i = 0; i < AT_ONCE; i++)
		racers[i] = (struct racer){ f->admin, "{\"name\":\"A\",\"slug\":\"same\"}",
			arena_printf(&f->arena, "POST /tenant/%s/agents", f->tenant_id) };
	race(f, racers, AT_ONCE);
	CHECK_INT(race_count(racers, AT_ONCE, 201), 1);
	CHECK_INT(race_count(racers, AT_ONCE, 409), AT_ONCE - 1);
	CHECK_INT(fixture_count(f, "select sum(agents) from tenant_counts"), 1);
	fixture_close(f);
}
