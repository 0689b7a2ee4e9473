/* test_record.c - what was said in a session stays on record for auditors: nothing vanishes, nothing is
 * somebody else's. */
#include "openai_fixture.h"

#include <string.h>

#define T_ "/v1/threads"

struct cast {
	struct openai_fixture s;
	const char *ann, *ann_id, *thread_id, *run_id;
};

static void cast_open(struct cast *k)
{
	openai_open(&k->s);
	k->ann_id = fixture_user(k->s.f, "ann@example.org", &k->ann);
	fixture_member(k->s.f, k->s.f->tenant_id, k->ann_id, "MEMBER");
	fixture_sql(k->s.f, "update users set name = 'Ann' where id = $1", ARGS(T(k->ann_id)));
}

static struct answer say(struct cast *k, const char *token, const char *role, const char *text)
{
	struct answer r = ask(k->s.f, token,
		arena_printf(&k->s.f->arena, "{\"role\":\"%s\",\"content\":\"%s\"}", role, text),
		"POST " T_ "/%s/messages", k->thread_id);

	STATUS(r, 200);
	return r;
}

static void begin(struct cast *k, const char *body)
{
	struct answer r = ask(k->s.f, k->ann, body, "POST " T_);

	STATUS(r, 200);
	k->thread_id = text_at(&r, "id");
}

static void run(struct cast *k)
{
	struct answer r = ask(k->s.f, k->ann,
		arena_printf(&k->s.f->arena, "{\"assistant_id\":\"%s\"}", k->s.agent_id),
		"POST " T_ "/%s/runs", k->thread_id);

	STATUS(r, 200);
	k->run_id = text_at(&r, "id");
	openai_rest(&k->s, k->thread_id, k->run_id);
}

/* The message with these words under `messages`, or NULL. */
static json_t *found(const struct answer *r, const char *text)
{
	json_t *m;
	size_t i;

	json_array_foreach(at(r, "messages"), i,
		m) if (strstr(json_string_value(json_object_get(m, "content")), text)) return m;
	return NULL;
}

static const char *member(json_t *m, const char *name)
{
	const char *text = json_string_value(json_object_get(m, name));

	return text ? text : "";
}

static struct answer audited(struct cast *k)
{
	struct answer r = ask(k->s.f, k->s.f->admin, NULL, "GET /tenant/%s/sessions/%s/audit",
		k->s.f->tenant_id, k->thread_id);

	STATUS(r, 200);
	return r;
}

static const char *logged(struct cast *k, const char *action, const char *member)
{
	struct answer r = ask(k->s.f, k->s.f->admin, NULL, "GET /tenant/%s/audit-logs?action=%s",
		k->s.f->tenant_id, action);
	const char *text = text_at(&r, arena_printf(&k->s.f->arena, "items.0.meta.%s", member));

	return text ? text : "";
}

TEST(record_keeps_what_is_deleted_and_names_who_wrote_it)
{
	struct cast k;
	struct answer r;
	const char *no, *answer, *own;

	cast_open(&k);
	begin(&k, "{\"messages\":[{\"role\":\"user\",\"content\":\"may I?\"}]}");
	run(&k);
	r = ask(k.s.f, k.ann, NULL, "GET " T_ "/%s/messages?order=asc", k.thread_id);
	own = text_at(&r, "data.0.id");
	answer = text_at(&r, "data.1.id");
	r = say(&k, k.s.f->admin, "user", "NO, you may not");
	no = text_at(&r, "id");

	test_step("others' words are not hers to delete, her own are");
	STATUS(ask(k.s.f, k.ann, NULL, "DELETE " T_ "/%s/messages/%s", k.thread_id, no), 403);
	STATUS(ask(k.s.f, k.ann, NULL, "DELETE " T_ "/%s/messages/%s", k.thread_id, answer), 403);
	STATUS(ask(k.s.f, k.ann, NULL, "DELETE " T_ "/%s/messages/%s", k.thread_id, own), 200);
	CHECK_STR(logged(&k, "message.delete", "session_id"), k.thread_id);
	CHECK_STR(logged(&k, "message.delete", "author_id"), k.ann_id);
	STATUS(ask(k.s.f, k.ann, NULL, "GET " T_ "/%s/messages/%s", k.thread_id, own), 404);
	STATUS(ask(k.s.f, k.ann, NULL, "DELETE " T_ "/%s/messages/%s", k.thread_id, own), 404);
	r = ask(k.s.f, k.ann, NULL, "GET /sessions/%s/messages", k.thread_id);
	CHECK(!strstr(r.body, own));

	test_step("words put into the agent's mouth are hers");
	say(&k, k.ann, "assistant", "She said yes");
	CHECK_STR(logged(&k, "session.message", "role"), "assistant");
	CHECK_STR(logged(&k, "session.message", "session_id"), k.thread_id);
	CHECK_STR(logged(&k, "session.message", "author_id"), k.ann_id);
	STATUS(ask(k.s.f, k.s.f->admin, NULL, "DELETE " T_ "/%s/messages/%s", k.thread_id, answer),
		200);

	test_step("auditors see all of it");
	r = audited(&k);
	CHECK_INT(json_array_size(at(&r, "messages")), 4);
	CHECK_STR(text_at(&r, "messages.0.content"), "may I?");
	CHECK_STR(text_at(&r, "messages.0.author_id"), k.ann_id);
	CHECK_STR(text_at(&r, "messages.0.deleted_by_id"), k.ann_id);
	CHECK(text_at(&r, "messages.0.deleted_at") != NULL);
	CHECK_STR(text_at(&r, "messages.1.id"), answer);
	CHECK_STR(text_at(&r, "messages.1.deleted_by_id"), k.s.f->admin_id);
	CHECK(json_is_null(at(&r, "messages.1.author_id")));
	CHECK(text_at(&r, "messages.1.model_id") != NULL);
	CHECK(json_integer_value(at(&r, "total_tokens")) > 0);
	CHECK_STR(member(found(&r, "NO, you"), "author_id"), k.s.f->admin_id);
	CHECK(json_is_null(json_object_get(found(&r, "NO, you"), "deleted_at")));
	CHECK_STR(member(found(&r, "She said"), "author_id"), k.ann_id);
	CHECK_STR(member(found(&r, "She said"), "author_name"), "Ann");
	CHECK_STR(member(found(&r, "She said"), "role"), "assistant");

	test_step("and so does their export, but nobody else's");
	r = ask(k.s.f, k.s.f->admin, NULL, "GET /sessions/%s/export", k.thread_id);
	CHECK_STR(member(found(&r, "may I?"), "deleted_by_id"), k.ann_id);
	CHECK_STR(member(found(&r, "She said"), "author_name"), "Ann");
	r = ask(k.s.f, k.s.f->admin, NULL, "GET /sessions/%s/export?format=markdown", k.thread_id);
	CHECK(strstr(r.body, "written by Ann, deleted "));
	r = ask(k.s.f, k.ann, NULL, "GET /sessions/%s/export", k.thread_id);
	STATUS(r, 200);
	CHECK(!strstr(r.body, own));
	CHECK_STR(member(found(&r, "She said"), "author_id"), k.ann_id);
	r = ask(k.s.f, k.ann, NULL, "GET /sessions/%s/export?format=markdown", k.thread_id);
	CHECK(!strstr(r.body, own));
	openai_close(&k.s);
}

TEST(record_of_a_thread_begins_before_its_first_run)
{
	struct cast k;
	struct answer r;
	const char *id;

	cast_open(&k);
	begin(&k, "{\"messages\":[{\"role\":\"assistant\",\"content\":\"from ann\"}]}");
	CHECK_INT(fixture_count(k.s.f, "select count(*) from audit_logs where action = "
				       "'thread.create' and meta like '%\"assistant\":1%'"),
		1);
	r = say(&k, k.s.f->admin, "user", "I resign");
	STATUS(ask(k.s.f, k.ann, NULL, "DELETE " T_ "/%s/messages/%s", k.thread_id,
		       text_at(&r, "id")),
		403);
	r = say(&k, k.ann, "user", "oops");
	id = text_at(&r, "id");
	STATUS(ask(k.s.f, k.ann, NULL, "DELETE " T_ "/%s/messages/%s", k.thread_id, id), 200);
	STATUS(ask(k.s.f, k.ann, NULL, "GET " T_ "/%s/messages/%s", k.thread_id, id), 404);
	fixture_sql(k.s.f, "update thread_messages set created_at = $1 where thread_id = $2",
		ARGS(N(1000000), T(k.thread_id)));
	run(&k);
	r = audited(&k);
	CHECK_STR(member(found(&r, "I resign"), "author_id"), k.s.f->admin_id);
	CHECK(strstr(member(found(&r, "I resign"), "created_at"), "1970-01-01T00:00:01"));
	CHECK_STR(member(found(&r, "from ann"), "author_id"), k.ann_id);
	CHECK_STR(member(found(&r, "from ann"), "role"), "assistant");
	CHECK_STR(member(found(&r, "oops"), "deleted_by_id"), k.ann_id);
	r = ask(k.s.f, k.ann, NULL, "GET " T_ "/%s/messages", k.thread_id);
	CHECK(!strstr(r.body, "oops"));
	openai_close(&k.s);
}

TEST(record_notes_who_changed_metadata)
{
	struct cast k;
	struct answer r;
	const char *id;

	cast_open(&k);
	begin(&k, "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}");
	run(&k);
	r = say(&k, k.s.f->admin, "user", "more");
	id = text_at(&r, "id");
	STATUS(ask(k.s.f, k.ann, "{\"metadata\":{\"a\":\"b\"}}", "POST " T_ "/%s/messages/%s",
		       k.thread_id, id),
		200);
	CHECK_STR(logged(&k, "message.update", "session_id"), k.thread_id);
	CHECK_STR(logged(&k, "message.update", "author_id"), k.s.f->admin_id);
	STATUS(ask(k.s.f, k.ann, "{\"metadata\":{\"a\":\"b\"}}", "POST " T_ "/%s/runs/%s",
		       k.thread_id, k.run_id),
		200);
	CHECK_STR(logged(&k, "run.update", "thread_id"), k.thread_id);
	openai_close(&k.s);
}

TEST(record_of_a_response_names_who_wrote_its_input)
{
	struct cast k;
	struct answer r;

	cast_open(&k);
	r = ask(k.s.f, k.ann,
		arena_printf(&k.s.f->arena,
			"{\"model\":\"agent:%s\",\"input\":["
			"{\"role\":\"assistant\",\"content\":\"I owe Ann money\"},"
			"{\"role\":\"user\",\"content\":\"pay\"}]}",
			k.s.slug),
		"POST /v1/responses");
	STATUS(r, 200);
	CHECK_INT(fixture_count(k.s.f,
			  "select count(*) from messages m join users u on u.id = m.author_id "
			  "where u.name = 'Ann' and m.role = 'assistant' "
			  "and m.content = 'I owe Ann money'"),
		1);
	openai_close(&k.s);
}

/* The log of the session, from its beginning. */
static const char *replayed(struct cast *k)
{
	struct answer r = ask(
		k->s.f, k->ann, NULL, "GET /sessions/%s/events?after=0&wait=false", k->thread_id);

	STATUS(r, 200);
	return r.body;
}

TEST(record_of_events_and_summaries_loses_what_is_deleted)
{
	struct cast k;
	struct fixture *f;
	struct answer r;
	const char *said, *later;

	cast_open(&k);
	f = k.s.f;
	begin(&k, "{\"messages\":[{\"role\":\"user\",\"content\":\"say xylophone\"}]}");
	run(&k);
	said = text_at(&(struct answer[]){ say(&k, k.ann, "user", "say zeppelin") }[0], "id");
	run(&k);
	later = text_at(&(struct answer[]){ say(&k, k.ann, "user", "say quokka") }[0], "id");
	CHECK(strstr(replayed(&k), "say xylophone") && strstr(replayed(&k), "say zeppelin"));
	fixture_sql(f,
		"insert into session_summaries (tenant_id, session_id, last_message_id, created_at, content) "
		"values ($1, $2, '0', 1, 'before'), ($1, $2, $3, 1, 'of zeppelins'), ($1, $2, $4, 1, "
		"'of zeppelins too')",
		ARGS(T(f->tenant_id), T(k.thread_id), T(said), T(later)));
	test_step("what the agent said");
	r = ask(f, f->admin, NULL, "GET " T_ "/%s/messages?order=asc", k.thread_id);
	CHECK(strstr(text_at(&r, "data.3.content.0.text.value"), "zeppelin"));
	STATUS(ask(f, f->admin, NULL, "DELETE " T_ "/%s/messages/%s", k.thread_id,
		       text_at(&r, "data.3.id")),
		200);
	test_step("what was asked, and what came with the thread, of which the title was made");
	STATUS(ask(f, k.ann, NULL, "DELETE " T_ "/%s/messages/%s", k.thread_id, said), 200);
	CHECK(!strstr(replayed(&k), "zeppelin"));
	CHECK(strstr(replayed(&k), said) && strstr(replayed(&k), "say quokka"));
	CHECK_INT(fixture_count(f, "select count(*) from session_summaries"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from sessions where title like '%xylophone%'"),
		1);
	for (int i = 0; i < 2; i++) /* and what answered it */
		STATUS(ask(f, f->admin, NULL, "DELETE " T_ "/%s/messages/%s", k.thread_id,
			       text_at(&r, i ? "data.1.id" : "data.0.id")),
			200);
	CHECK(!strstr(replayed(&k), "say xylophone"));
	CHECK_INT(fixture_count(f, "select count(*) from sessions where title is not null"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from deleted_messages where content <> ''"), 4);
	r = ask(f, k.ann, NULL, "GET /sessions/%s", k.thread_id);
	CHECK_INT(json_integer_value(at(&r, "message_count")), 1);
	openai_close(&k.s);
}
