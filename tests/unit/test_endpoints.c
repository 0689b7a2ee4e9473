/* test_endpoints.c - embeddings, speech and transcriptions: who may have what called, what goes out, what comes back,
 * what is entered. */
#include "gateway_fixture.h"

#include <poll.h>

#include "broker/model.h"
#include "mock_endpoint.h"

enum {
	TOKEN_PD = 20000,	 /* 0.00000002 USD */
	WRITTEN_PD = 600000,	 /* 0.0000006 */
	CHARACTER_PD = 15000000, /* 0.000015 */
	SECOND_PD = 100000000,	 /* 0.0001 */
	SPOKEN_MAX = 16384,	 /* characters */
};

#define BIT(endpoint) ENDPOINT_BIT(ModelEndpoint_##endpoint)

/* An agent with one model of that way, which has these endpoints and prices; NIL: none. */
static void endpoint_agent(struct gateway_fixture *s, const char *script, int64_t endpoints,
	int64_t token_pd, int64_t character_pd, int64_t second_pd)
{
	gateway_agent(s, (const char *const[]){ script, NULL });
	fixture_sql(s->f,
		"update models set endpoints = $2, prompt_pd = $3, completion_pd = $4, "
		"character_pd = $5, second_pd = $6 where id = $1",
		ARGS(T(s->models[0]), N(endpoints), N(token_pd),
			N(token_pd == NIL ? NIL : WRITTEN_PD), N(character_pd), N(second_pd)));
}

static void open_endpoints(struct gateway_fixture *s)
{
	gateway_open(s);
	fixture_sql(s->f, "update tenants set voicebox_enabled = 1 where id = $1",
		ARGS(T(s->f->tenant_id)));
}

static struct answer embed(struct gateway_fixture *s, const char *more)
{
	return ask(s->f, s->f->admin,
		arena_printf(&s->f->arena, "{\"model\":\"%s\"%s}", s->model, more),
		"POST /v1/embeddings");
}

static struct answer speak(struct gateway_fixture *s, const char *more)
{
	return ask(s->f, s->f->admin,
		arena_printf(&s->f->arena, "{\"model\":\"%s\"%s}", s->model, more),
		"POST /v1/audio/speech");
}

#define FIELD_OF(name, value) \
	"--b7\r\nContent-Disposition: form-data; name=\"" name "\"\r\n\r\n" value "\r\n"
#define FILE_OF(value)                                                                         \
	"--b7\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a \\\"/b.wav\"\r\n" \
	"Content-Type: audio/wav\r\n\r\n" value "\r\n"

static struct answer send_form(struct gateway_fixture *s, const char *text)
{
	return ask_bytes(s->f, s->f->admin, text, strlen(text),
		"POST /v1/audio/transcriptions\nContent-Type: multipart/form-data; boundary=b7");
}

static struct answer hear(struct gateway_fixture *s, const char *more)
{
	return send_form(s,
		arena_printf(&s->f->arena,
			"--b7\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n%s\r\n" FILE_OF(
				"0123456789") "%s--b7--\r\n",
			s->model, more));
}

static int64_t entered(struct gateway_fixture *s, const char *column)
{
	return fixture_count(s->f,
		arena_printf(&s->f->arena, "select coalesce(sum(%s), 0) from ledger", column));
}

TEST(endpoints_give_vectors_and_count_tokens)
{
	struct gateway_fixture s;
	struct answer r;

	open_endpoints(&s);
	endpoint_agent(&s, "request-0", BIT(embeddings), TOKEN_PD, NIL, NIL);
	r = embed(&s, ",\"input\":\"hi\",\"dimensions\":2,\"encoding_format\":\"float\",\"zz\":1");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "object"), "list");
	CHECK_STR(text_at(&r, "model"), s.model);
	CHECK(json_real_value(at(&r, "data.0.embedding.1")) == -0.25);
	CHECK_INT(json_integer_value(at(&r, "usage.total_tokens")), MOCK_VECTOR_TOKENS);
	CHECK_STR(s.mock.last_body,
		"{\"model\":\"mock-model\",\"input\":\"hi\",\"dimensions\":2,\"encoding_format\":\"float\",\"zz\":1}");
	CHECK(strstr(s.mock.last_head, "/request-0/v1/embeddings\n") == s.mock.last_head);
	CHECK(strstr(s.mock.last_head, "Bearer sk-model"));
	gateway_settled(&s, 1, MOCK_VECTOR_TOKENS * TOKEN_PD);
	CHECK_INT(entered(&s, "input_tokens"), MOCK_VECTOR_TOKENS);
	CHECK_INT(entered(&s, "estimated"), 0);

	test_step("in base64, of tokens, and by the model's own name");
	s.model = s.slugs[0];
	r = embed(&s, ",\"input\":[[1,2],[3]],\"encoding_format\":\"base64\"");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "data.0.embedding"), "AAAAPwAAgL4=");
	STATUS(embed(&s, ",\"input\":[1,2,3]"), 200);
	STATUS(embed(&s, ",\"input\":[\"a\",\"b\"]"), 200);
	gateway_settled(&s, 4, 4 * MOCK_VECTOR_TOKENS * TOKEN_PD);
	gateway_close(&s);
}

TEST(endpoints_give_no_vectors_that_are_not_one_for_each_input)
{
	struct gateway_fixture s;
	struct answer r;
	int64_t tokens, before;

	open_endpoints(&s);
	for (int way = 8; way < 14; way++) {
		test_step("%d", way);
		endpoint_agent(&s, arena_printf(&s.f->arena, "request-%d", way), BIT(embeddings),
			TOKEN_PD, NIL, NIL);
		STATUS(embed(&s, ",\"input\":[\"a\",\"b\"]"), 502);
	}
	test_step("what nobody believes is told as it is entered");
	endpoint_agent(&s, "request-14", BIT(embeddings), TOKEN_PD, NIL, NIL);
	gateway_await_settled(&s);
	before = entered(&s, "input_tokens");
	r = embed(&s, ",\"input\":[\"one two three\",\"four\"]");
	STATUS(r, 200);
	tokens = json_integer_value(at(&r, "usage.prompt_tokens"));
	CHECK(tokens > 2 && tokens < 1000);
	gateway_await_settled(&s);
	CHECK_INT(entered(&s, "input_tokens") - before, tokens);
	gateway_close(&s);
}

TEST(endpoints_refuse_what_is_wrong_with_its_name)
{
	static const struct {
		const char *more, *param;
	} vectors[] = {
		{ "", "input" },
		{ ",\"input\":\"\"", "input" },
		{ ",\"input\":[]", "input" },
		{ ",\"input\":[1,\"a\"]", "input" },
		{ ",\"input\":[\"a\",[1]]", "input" },
		{ ",\"input\":[[]]", "input" },
		{ ",\"input\":[1.5]", "input" },
		{ ",\"input\":{}", "input" },
		{ ",\"input\":\"a\",\"dimensions\":0", "dimensions" },
		{ ",\"input\":\"a\",\"encoding_format\":\"hex\"", "encoding_format" },
		{ ",\"input\":\"a\",\"Input\":\"b\"", "Input" },
		{ ",\"input\":\"a\",\"models\":[\"b\"]", "models" },
	}, speech[] = {
		{ ",\"voice\":\"alloy\"", "input" },
		{ ",\"input\":\"a\",\"voice\":7", "voice" },
		{ ",\"input\":\"a\",\"response_format\":\"midi\"", "response_format" },
		{ ",\"input\":\"a\",\"speed\":9", "speed" },
		{ ",\"input\":\"a\",\"stream_format\":\"video\"", "stream_format" },
	}, forms[] = {
		{ FIELD_OF("response_format", "pdf"), "response_format" },
		{ FIELD_OF("stream", "maybe"), "stream" },
		{ FIELD_OF("Model", "x"), "Model" },
		{ FIELD_OF("model[]", "x"), "model[]" },
		{ FIELD_OF("service_tier[]", "priority"), "service_tier[]" },
		{ FIELD_OF("language", "en") FIELD_OF("language", "de"), "language" },
	};
	struct gateway_fixture s;
	struct answer r;
	char *text;

	open_endpoints(&s);
	endpoint_agent(&s, "request-0", 14, TOKEN_PD, CHARACTER_PD, SECOND_PD);
	for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
		test_step("embeddings %s", vectors[i].more);
		r = embed(&s, vectors[i].more);
		STATUS(r, 400);
		CHECK_STR(text_at(&r, "error.param"), vectors[i].param);
	}
	for (size_t i = 0; i < sizeof speech / sizeof *speech; i++) {
		test_step("speech %s", speech[i].more);
		r = speak(&s, speech[i].more);
		STATUS(r, 400);
		CHECK_STR(text_at(&r, "error.param"), speech[i].param);
	}
	test_step("a text that is too long, by one character");
	text = arena_alloc(&s.f->arena, 3 * SPOKEN_MAX);
	for (int i = 0; i <= SPOKEN_MAX; i++)
		memcpy(text + 2 * i, "\xc3\xa9", 2);
	r = speak(&s, arena_printf(&s.f->arena, ",\"input\":\"%s\"", text));
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "input");
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		test_step("form %s", forms[i].param);
		r = hear(&s, forms[i].more);
		STATUS(r, 400);
		CHECK_STR(text_at(&r, "error.param"), forms[i].param);
	}
	test_step("forms that are none");
	STATUS(send_form(&s, ""), 400);
	STATUS(send_form(&s, "--b7"), 400);
	STATUS(send_form(&s, "--b7--\r\n"), 400);
	STATUS(send_form(&s, "--b7\r\n\r\nx\r\n--b7--\r\n"), 400);
	STATUS(send_form(&s, FIELD_OF("model", "m") "--b7--\r\n"), 400);
	STATUS(send_form(&s, FIELD_OF("model", "m") FILE_OF("") "--b7--\r\n"), 400);
	STATUS(send_form(&s, FIELD_OF("model", "m") FILE_OF("x")), 400);
	STATUS(send_form(&s, FILE_OF("x") "--b7--\r\n"), 400);
	CHECK_INT(s.mock.asked, 0);

	test_step("a model that does not do it");
	fixture_sql(s.f, "update models set endpoints = 1 where id = $1", ARGS(T(s.models[0])));
	r = embed(&s, ",\"input\":\"a\"");
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "model");
	CHECK(strstr(text_at(&r, "error.message"), "embeddings in its config.endpoints"));
	fixture_sql(s.f, "update models set endpoints = 2 where id = $1", ARGS(T(s.models[0])));
	r = gateway_ask(&s, s.f->admin, "");
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "model");
	CHECK(strstr(text_at(&r, "error.message"), "chat in its config.endpoints"));
	CHECK_INT(s.mock.asked, 0);
	gateway_settled(&s, 0, 0);
	gateway_close(&s);
}

TEST(endpoints_speak_and_count_characters)
{
	struct gateway_fixture s;
	struct answer r;

	open_endpoints(&s);
	endpoint_agent(&s, "request-0", BIT(speech), NIL, CHARACTER_PD, NIL);
	fixture_sql(
		s.f, "update agent_rows set voice = 'coral' where id = $1", ARGS(T(s.agent_id)));
	r = speak(&s, ",\"input\":\"Gr\\u00fc\\u00dfe \xf0\x9f\x8c\x8d!\",\"speed\":1.5");
	STATUS(r, 200);
	CHECK_STR(header_of(s.f, &r, "Content-Type"), "audio/mpeg");
	CHECK_INT(r.body_len, MOCK_SOUND);
	CHECK(strstr(s.mock.last_body, "\"speed\":1.5,\"voice\":\"coral\"}"));
	gateway_settled(&s, 1, 8 * (int64_t)CHARACTER_PD);
	CHECK_INT(entered(&s, "characters"), 8);
	CHECK_INT(entered(&s, "estimated"), 0);
	CHECK_INT(entered(&s, "input_tokens + output_tokens"), 0);

	test_step("in a voice that is named");
	r = speak(&s, ",\"input\":\"a\",\"voice\":\"alloy\",\"response_format\":\"wav\"");
	STATUS(r, 200);
	CHECK(strstr(s.mock.last_body, "\"voice\":\"alloy\",\"response_format\":\"wav\"}"));
	gateway_settled(&s, 2, 9 * (int64_t)CHARACTER_PD);

	test_step("a type that is none takes that of the format");
	endpoint_agent(&s, "request-3", BIT(speech), NIL, CHARACTER_PD, NIL);
	r = speak(&s, ",\"input\":\"a\",\"voice\":\"alloy\",\"response_format\":\"wav\"");
	CHECK_STR(header_of(s.f, &r, "Content-Type"), "audio/wav");
	gateway_settled(&s, 3, 10 * (int64_t)CHARACTER_PD);

	test_step("as events, which say what was used");
	endpoint_agent(&s, "request-0", BIT(speech), TOKEN_PD, NIL, NIL);
	r = speak(&s, ",\"input\":\"a\",\"stream_format\":\"sse\"");
	STATUS(r, 200);
	CHECK_STR(header_of(s.f, &r, "Content-Type"), "text/event-stream");
	CHECK_STR(answer_unchunked(s.f, &r),
		"data: {\"type\":\"speech.audio.delta\",\"audio\":\"SUQz\"}\n\n"
		"data: {\"type\":\"speech.audio.done\",\"usage\":{\"input_tokens\":11,\"output_tokens\":101,"
		"\"total_tokens\":112}}\n\n");
	gateway_settled(&s, 4,
		10 * (int64_t)CHARACTER_PD + 11 * (int64_t)TOKEN_PD + 101 * (int64_t)WRITTEN_PD);

	test_step("where tokens are paid and nobody says how many, they are guessed");
	r = speak(&s, ",\"input\":\"a\"");
	STATUS(r, 200);
	gateway_await_settled(&s);
	CHECK_INT(entered(&s, "estimated"), 1);

	test_step("not in a tenant that has no speech");
	fixture_sql(s.f, "update tenants set voicebox_enabled = 0 where id = $1",
		ARGS(T(s.f->tenant_id)));
	r = speak(&s, ",\"input\":\"a\"");
	STATUS(r, 403);
	CHECK_STR(text_at(&r, "error.code"), "voicebox_disabled");
	gateway_close(&s);
}

TEST(endpoints_let_fields_through_that_change_no_price)
{
	struct gateway_fixture s;
	struct answer r;

	open_endpoints(&s);
	endpoint_agent(&s, "request-0", BIT(transcriptions), NIL, NIL, SECOND_PD);
	r = hear(&s, FIELD_OF("service_tier", "auto"));
	STATUS(r, 200);
	CHECK(strstr(s.mock.last_body, FIELD_OF("service_tier", "auto")) &&
		!header_of(s.f, &r, "Lodge-Dropped"));
	STATUS(hear(&s, FIELD_OF("n", "1")), 200);
	STATUS(hear(&s, FIELD_OF("n", "2")), 400);
	r = hear(&s, FIELD_OF("service_tier", "priority"));
	STATUS(r, 200);
	CHECK(!strstr(s.mock.last_body, "service_tier"));
	CHECK_STR(header_of(s.f, &r, "Lodge-Dropped"), "service_tier");
	gateway_close(&s);
}

TEST(endpoints_write_down_and_count_seconds)
{
	struct gateway_fixture s;
	struct answer r;

	open_endpoints(&s);
	endpoint_agent(&s, "request-0", BIT(transcriptions), NIL, NIL, SECOND_PD);
	r = hear(&s, FIELD_OF("language", "en") FIELD_OF("include[]", "logprobs")
			     FIELD_OF("include[]", "x"));
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "text"), "Good \"morning\".");
	CHECK_INT(json_integer_value(at(&r, "usage.seconds")), MOCK_SECONDS);
	CHECK_STR(s.mock.last_body,
		"--b7\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nmock-model\r\n"
		"--b7\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a _\"\r\n"
		"Content-Type: audio/wav\r\n\r\n0123456789\r\n" FIELD_OF("language", "en")
			FIELD_OF("include[]", "logprobs") FIELD_OF("include[]", "x") "--b7--\r\n");
	CHECK(strstr(s.mock.last_head, "multipart/form-data; boundary=\"b7\""));
	gateway_settled(&s, 1, MOCK_SECONDS * (int64_t)SECOND_PD);
	CHECK_INT(entered(&s, "seconds"), MOCK_SECONDS);
	CHECK_INT(entered(&s, "estimated"), 0);

	test_step("with all that is known of it: a begun second is one");
	r = hear(&s, FIELD_OF("response_format", "verbose_json"));
	STATUS(r, 200);
	CHECK(at(&r, "segments") != NULL);
	gateway_settled(&s, 2, 2 * MOCK_SECONDS * (int64_t)SECOND_PD);

	test_step("the text alone, which is asked for as JSON, because that says what was used");
	r = hear(&s, FIELD_OF("response_format", "text"));
	STATUS(r, 200);
	CHECK_STR(r.body, "Good \"morning\".\n");
	CHECK_STR(header_of(s.f, &r, "Content-Type"), "text/plain; charset=utf-8");
	CHECK(strstr(s.mock.last_body, "\r\n\r\njson\r\n"));
	gateway_settled(&s, 3, 3 * MOCK_SECONDS * (int64_t)SECOND_PD);
	CHECK_INT(entered(&s, "estimated"), 0);

	test_step("subtitles: their last moment, marked as a guess");
	r = hear(&s, FIELD_OF("response_format", "srt"));
	STATUS(r, 200);
	CHECK(strstr(r.body, "00:00:42,340"));
	gateway_settled(&s, 4, (3 * MOCK_SECONDS + 43) * (int64_t)SECOND_PD);
	CHECK_INT(entered(&s, "estimated"), 1);

	test_step(
		"what cannot be: as much as was reserved; what nobody says: the file's size tells");
	endpoint_agent(&s, "request-6", BIT(transcriptions), NIL, NIL, SECOND_PD);
	STATUS(hear(&s, ""), 200);
	gateway_settled(&s, 5, (3 * MOCK_SECONDS + 43 + 60) * (int64_t)SECOND_PD);
	endpoint_agent(&s, "request-3", BIT(transcriptions), NIL, NIL, SECOND_PD);
	STATUS(hear(&s, ""), 200);
	gateway_settled(&s, 6, (3 * MOCK_SECONDS + 43 + 61) * (int64_t)SECOND_PD);
	CHECK_INT(entered(&s, "estimated"), 3);

	test_step("as events, by tokens");
	endpoint_agent(&s, "request-0", BIT(transcriptions), TOKEN_PD, NIL, NIL);
	r = hear(&s, FIELD_OF("stream", "true"));
	STATUS(r, 200);
	CHECK_STR(header_of(s.f, &r, "Content-Type"), "text/event-stream");
	CHECK(strstr(answer_unchunked(s.f, &r), "transcript.text.done"));
	gateway_settled(&s, 7,
		(3 * MOCK_SECONDS + 43 + 61) * (int64_t)SECOND_PD + 14 * (int64_t)TOKEN_PD +
			45 * (int64_t)WRITTEN_PD);
	gateway_close(&s);
}

/* Whoever is sent something has read something; and a call that was answered is entered, whatever it took. */
TEST(endpoints_take_no_zero_for_what_was_used)
{
	struct gateway_fixture s;
	struct answer r;
	int64_t tokens;

	open_endpoints(&s);
	endpoint_agent(&s, "request-7", BIT(embeddings), TOKEN_PD, NIL, NIL);
	r = embed(&s, ",\"input\":\"one two three\"");
	STATUS(r, 200);
	tokens = json_integer_value(at(&r, "usage.prompt_tokens"));
	CHECK(tokens > 2);
	gateway_settled(&s, 1, tokens * TOKEN_PD);
	CHECK_INT(entered(&s, "estimated"), 1);
	test_step("seconds");
	endpoint_agent(&s, "request-7", BIT(transcriptions), NIL, NIL, SECOND_PD);
	STATUS(hear(&s, ""), 200);
	gateway_settled(&s, 2, tokens * TOKEN_PD + (int64_t)SECOND_PD);
	CHECK_INT(entered(&s, "estimated"), 2);
	test_step("of what is not paid for");
	endpoint_agent(&s, "request-7", BIT(transcriptions), NIL, NIL, NIL);
	STATUS(hear(&s, ""), 200);
	/* It reserves nothing that could be waited for. */
	for (int i = 0; i < 30000 && fixture_count(s.f, "select count(*) from ledger") < 3; i++)
		poll(NULL, 0, 2);
	gateway_settled(&s, 3, tokens * TOKEN_PD + (int64_t)SECOND_PD);
	gateway_close(&s);
}

TEST(endpoints_meet_providers_that_misbehave)
{
	struct gateway_fixture s;
	struct answer r;

	open_endpoints(&s);
	test_step("a web page is no sound, no vectors and no text");
	endpoint_agent(&s, "request-2", 14, TOKEN_PD, CHARACTER_PD, SECOND_PD);
	STATUS(speak(&s, ",\"input\":\"a\""), 502);
	STATUS(embed(&s, ",\"input\":\"a\""), 502);
	r = hear(&s, FIELD_OF("response_format", "srt"));
	STATUS(r, 502);
	CHECK(!strstr(r.body, "sk-model"));
	gateway_await_settled(&s);

	test_step("of another shape");
	endpoint_agent(&s, "request-4", 14, TOKEN_PD, CHARACTER_PD, SECOND_PD);
	STATUS(embed(&s, ",\"input\":\"a\""), 502);
	STATUS(hear(&s, ""), 502);

	test_step("an error in the middle of events, and events without an end");
	r = speak(&s, ",\"input\":\"a\",\"stream_format\":\"sse\"");
	STATUS(r, 200);
	CHECK(strstr(answer_unchunked(s.f, &r), "data: {\"error\""));
	endpoint_agent(&s, "request-1", 14, TOKEN_PD, CHARACTER_PD, SECOND_PD);
	r = speak(&s, ",\"input\":\"a\",\"stream_format\":\"sse\"");
	CHECK(strstr(answer_unchunked(s.f, &r), "data: {\"error\""));
	r = hear(&s, FIELD_OF("stream", "true"));
	CHECK(strstr(answer_unchunked(s.f, &r), "data: {\"error\""));

	test_step("what cannot be read of the figures is guessed");
	endpoint_agent(&s, "request-6", 14, TOKEN_PD, NIL, NIL);
	STATUS(embed(&s, ",\"input\":\"a\""), 200);
	gateway_await_settled(&s);
	CHECK(fixture_count(s.f, "select count(*) from ledger where estimated = 1") > 0);

	test_step("another model of the chain takes over");
	endpoint_agent(&s, "500", 14, NIL, CHARACTER_PD, NIL);
	fixture_sql(s.f, "update models set failover_chain = $2 where id = $1",
		ARGS(T(s.models[0]), T(arena_printf(&s.f->arena, "[\"%s\"]",
					     gateway_model(&s, "request-0", "spare-speaker")))));
	fixture_sql(s.f, "update models set endpoints = 4 where slug = 'spare-speaker'", NULL, 0);
	STATUS(speak(&s, ",\"input\":\"a\""), 200);
	gateway_await_settled(&s);
	gateway_close(&s);
}

TEST(endpoints_keep_to_a_budget)
{
	struct gateway_fixture s;
	struct answer r;

	open_endpoints(&s);
	endpoint_agent(&s, "request-0", 14, NIL, CHARACTER_PD, SECOND_PD);
	STATUS(ask(s.f, s.f->admin, "{\"hourly_limit_usd\":0.00015}", "PUT /agents/%s/budget",
		       s.agent_id),
		200);
	test_step("as many characters as it pays for, exactly");
	STATUS(speak(&s, ",\"input\":\"0123456789\""), 200);
	gateway_settled(&s, 1, 10 * (int64_t)CHARACTER_PD);
	r = speak(&s, ",\"input\":\"0\"");
	STATUS(r, 429);
	CHECK_STR(text_at(&r, "error.code"), "budget_exhausted");
	test_step("a file is reserved by what it may hold at most");
	r = hear(&s, "");
	STATUS(r, 429);
	CHECK_INT(s.mock.asked, 1);
	gateway_settled(&s, 1, 10 * (int64_t)CHARACTER_PD);
	gateway_close(&s);
}

TEST(endpoints_read_a_message_aloud)
{
	struct gateway_fixture s;
	struct answer r;
	const char *session, *message;

	open_endpoints(&s);
	endpoint_agent(&s, "request-0", BIT(speech), NIL, CHARACTER_PD, NIL);
	session = fixture_created(s.f, s.f->admin, "{}", "POST /agents/%s/sessions", s.agent_id);
	message = fixture_id(s.f);
	fixture_sql(s.f,
		"insert into messages (tenant_id, session_id, id, role, status, prompt_tokens, "
		"completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd, created_at, "
		"tool_calls, content) values ($1, $2, $3, 'assistant', 'complete', 0, 0, 0, 0, 0, 1, "
		"'[]', 'It is here.')",
		ARGS(T(s.f->tenant_id), T(session), T(message)));
	r = ask(s.f, s.f->admin, NULL, "GET /tenant/%s/sessions/%s/messages/%s/speech",
		s.f->tenant_id, session, message);
	STATUS(r, 200);
	CHECK_STR(header_of(s.f, &r, "Content-Type"), "audio/mpeg");
	CHECK_INT(r.body_len, MOCK_SOUND);
	CHECK(strstr(s.mock.last_body,
		"\"input\":\"It is here.\",\"voice\":\"alloy\",\"response_format\":\"mp3\""));
	gateway_settled(&s, 1, 11 * (int64_t)CHARACTER_PD);
	CHECK_INT(
		fixture_count(s.f, "select count(*) from ledger where session_id is not null"), 1);

	test_step("in the agent's voice, and in one that is named");
	fixture_sql(
		s.f, "update agent_rows set voice = 'coral' where id = $1", ARGS(T(s.agent_id)));
	r = ask(s.f, s.f->admin, NULL,
		"GET /tenant/%s/sessions/%s/messages/%s/speech?response_format=wav", s.f->tenant_id,
		session, message);
	STATUS(r, 200);
	CHECK(strstr(s.mock.last_body, "\"voice\":\"coral\",\"response_format\":\"wav\""));
	r = ask(s.f, s.f->admin, NULL, "GET /tenant/%s/sessions/%s/messages/%s/speech?voice=ash",
		s.f->tenant_id, session, message);
	CHECK(strstr(s.mock.last_body, "\"voice\":\"ash\""));
	gateway_settled(&s, 3, 33 * (int64_t)CHARACTER_PD);

	test_step("nothing is spoken for who only asks what would come");
	STATUS(ask(s.f, s.f->admin, NULL, "HEAD /tenant/%s/sessions/%s/messages/%s/speech",
		       s.f->tenant_id, session, message),
		200);
	CHECK_INT(s.mock.asked, 3);

	test_step("no such message, and no speech");
	STATUS(ask(s.f, s.f->admin, NULL, "GET /tenant/%s/sessions/%s/messages/%s/speech",
		       s.f->tenant_id, session, fixture_id(s.f)),
		404);
	fixture_sql(s.f, "update tenants set voicebox_enabled = 0 where id = $1",
		ARGS(T(s.f->tenant_id)));
	r = ask(s.f, s.f->admin, NULL, "GET /tenant/%s/sessions/%s/messages/%s/speech",
		s.f->tenant_id, session, message);
	STATUS(r, 403);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:voicebox_disabled");
	gateway_close(&s);
}
