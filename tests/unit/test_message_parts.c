/* test_message_parts.c - images, files and sounds that clients send to agents: kept with the session, shown to models that take them, told
 * of to those that do not. */
#include "gateway_fixture.h"

#include <string.h>

#include "base/base64.h"
#include "sessions/session_media.h"

#define R "/v1/responses"
#define PNG "iVBORw0KGgoAAAAN"
#define IMAGE "{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64," PNG "\"}"
#define PDF                                                                       \
	"{\"type\":\"input_file\",\"filename\":\"../a/order.pdf\",\"file_data\":" \
	"\"data:application/pdf;base64,JVBERi0xLjQK\"}"
#define WAV                                                                       \
	"{\"type\":\"input_audio\",\"input_audio\":{\"format\":\"wav\",\"data\":" \
	"\"UklGRgAAAABXQVZFZm10IA==\"}}"

TEST(base64_both_ways)
{
	static const char *const wrong[] = { "A", "AA=A",
		"A===", "====", "QR==", "Q!==", "QUJD=", "QUJDR" };
	unsigned char bytes[64], back[128];
	char text[128];
	size_t len;

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)(i * 41 + 7);
	for (size_t n = 1; n <= sizeof bytes; n++) {
		base64_encode(bytes, n, text);
		CHECK(base64_decode(text, base64_length(n), back, &len));
		CHECK_INT((int64_t)len, (int64_t)n);
		CHECK(memcmp(bytes, back, n) == 0);
	}
	CHECK(base64_decode("QUJ D\r\nRA", 9, back, &len) && len == 4);
	CHECK(base64_decode("QQ", 2, back, &len) && len == 1); /* the padding may be left off */
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		CHECK(!base64_decode(wrong[i], strlen(wrong[i]), back, &len));
}

static void sees(struct gateway_fixture *s, int vision)
{
	fixture_sql(s->f, "update models set supports_vision = $1", ARGS(N(vision)));
}

static struct answer respond(struct gateway_fixture *s, const char *more)
{
	return ask(s->f, s->f->admin,
		arena_printf(&s->f->arena, "{\"model\":\"%s\",%s}", s->agent_id, more), "POST " R);
}

static struct answer show(struct gateway_fixture *s, const char *parts, const char *more)
{
	return respond(s,
		arena_printf(&s->f->arena,
			"\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":"
			"\"what is this\"},%s,{\"type\":\"input_text\",\"text\":\"or that\"}]}]%s",
			parts, more));
}

static const char *session_of(struct gateway_fixture *s)
{
	struct answer r = ask(s->f, s->f->admin, NULL, "GET /agents/%s/sessions", s->agent_id);

	STATUS(r, 200);
	return text_at(&r, "items.0.id");
}

/* A page of what hangs on the session. */
static struct answer of_session(struct gateway_fixture *s, const char *session_id, const char *what)
{
	return ask(s->f, s->f->admin, NULL, "GET /tenant/%s/sessions/%s/%s", s->f->tenant_id,
		session_id, what);
}

TEST(parts_of_users_are_part_of_the_session)
{
	struct gateway_fixture s;
	struct answer r;
	const char *session, *file, *first, *other;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	sees(&s, 1);
	r = show(&s, IMAGE "," PDF, "");
	STATUS(r, 200);
	first = text_at(&r, "id");

	test_step("the model is shown them where they stood");
	CHECK(strstr(s.mock.last_body,
		      "[{\"type\":\"text\",\"text\":\"what is this\"},{\"type\":\"image_url\",\"image_url\":"
		      "{\"url\":\"data:image/png;base64," PNG "\"") != NULL);
	CHECK(strstr(s.mock.last_body, "data:application/pdf;base64,JVBERi0xLjQK") != NULL);
	CHECK(strstr(s.mock.last_body, "\"order.pdf\"") != NULL);
	CHECK(strstr(s.mock.last_body, "{\"type\":\"text\",\"text\":\"or that\"}]") != NULL);

	test_step("the message says what it holds");
	session = session_of(&s);
	r = of_session(&s, session, "messages");
	CHECK_STR(text_at(&r, "items.1.content"), "what is this\nor that");
	CHECK_STR(text_at(&r, "items.1.parts.0.type"), "image");
	CHECK_STR(text_at(&r, "items.1.parts.0.content_type"), "image/png");
	CHECK_STR(text_at(&r, "items.1.parts.1.name"), "order.pdf");
	CHECK_INT(json_integer_value(at(&r, "items.1.parts.0.place")), 12);
	CHECK_INT(json_integer_value(at(&r, "items.1.parts.0.size_bytes")), 12);
	CHECK(at(&r, "items.0.parts") == NULL);
	file = text_at(&r, "items.1.parts.0.file_id");

	test_step("its bytes are a file of the session, and of no other");
	r = of_session(&s, session, "files");
	CHECK_INT(json_array_size(at(&r, "items")), 2);
	r = of_session(&s, session, arena_printf(&s.f->arena, "files/%s/content", file));
	STATUS(r, 200);
	CHECK_INT((int64_t)r.body_len, 12);
	CHECK(memcmp(r.body, "\x89PNG", 4) == 0);
	STATUS(respond(&s, "\"input\":\"hello\""), 200);
	other = session_of(&s);
	CHECK(strcmp(other, session) != 0);
	STATUS(of_session(&s, other, arena_printf(&s.f->arena, "files/%s/content", file)), 404);

	test_step("the session goes on with them");
	STATUS(respond(&s, arena_printf(&s.f->arena,
				   "\"input\":\"again\",\"previous_response_id\":\"%s\"", first)),
		200);
	CHECK(strstr(s.mock.last_body, PNG) != NULL);

	test_step("a branch takes them along");
	r = of_session(&s, session, "messages");
	r = ask(s.f, s.f->admin,
		arena_printf(&s.f->arena, "{\"message_id\":\"%s\"}", text_at(&r, "items.0.id")),
		"POST /tenant/%s/sessions/%s/branch", s.f->tenant_id, session);
	STATUS(r, 201);
	r = of_session(&s, text_at(&r, "id"), arena_printf(&s.f->arena, "files/%s/content", file));
	STATUS(r, 200);
	gateway_close(&s);
}

TEST(parts_are_refused_by_name)
{
	static const struct {
		const char *part, *says;
	} cases[] = {
		{ "{\"type\":\"input_image\",\"file_id\":\"file-1\"}", "not known here" },
		{ "{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64,QUJD\"}",
			"PNG" },
		{ "{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64,!\"}",
			"base64" },
		{ "{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64,\"}", "base64" },
		{ "{\"type\":\"input_image\",\"image_url\":\"data:image/png,x\"}", "address" },
		{ "{\"type\":\"input_image\",\"image_url\":\"file:///etc/passwd\"}", "address" },
		{ "{\"type\":\"input_image\",\"detail\":\"x\",\"image_url\":\"https://a/b\"}",
			"detail" },
		{ "{\"type\":\"input_file\",\"file_id\":\"file-1\"}", "not known here" },
		{ "{\"type\":\"input_file\",\"file_data\":\"QUJD\"}", "data: URL" },
		{ "{\"type\":\"input_file\",\"file_data\":\"data:application/pdf;base64,QUJD\"}",
			"not of the type" },
		{ "{\"type\":\"input_file\",\"file_data\":\"data:text/plain;base64,/wA=\"}",
			"not of the type" },
		{ "{\"type\":\"input_file\",\"file_url\":\"https://example.org/a.pdf\"}",
			"no provider" },
		{ "{\"type\":\"input_audio\",\"input_audio\":{}}", "data and format" },
		{ "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"QUJD\",\"format\":\"wav\"}}",
			"WAV" },
	};
	struct gateway_fixture s;
	struct answer r;
	const char *many = IMAGE;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	sees(&s, 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].part);
		r = show(&s, cases[i].part, "");
		STATUS(r, 400);
		CHECK_STR(text_at(&r, "error.param"), "input[0].content[1]");
		CHECK(strstr(text_at(&r, "error.message"), cases[i].says) != NULL);
	}
	test_step("too many");
	for (int i = 0; i < SESSION_PARTS_MAX; i++)
		many = arena_printf(&s.f->arena, "%s," IMAGE, many);
	r = show(&s, many, "");
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "input[0].content[21]");

	test_step("too large");
	{
		char *large = arena_alloc(&s.f->arena, (size_t)15 << 20);

		memset(large, 'A', ((size_t)15 << 20) - 1);
		r = show(&s,
			arena_printf(&s.f->arena,
				"{\"type\":\"input_file\",\"file_data\":\"data:text/plain;base64,%s\"}",
				large),
			"");
		STATUS(r, 400);
		CHECK_STR(text_at(&r, "error.param"), "input[0].content[1]");
	}
	test_step("as large as may be");
	{
		char *large = arena_alloc(&s.f->arena, (size_t)14 << 20);

		memset(large, 'A', (size_t)SESSION_PART_MAX / 3 * 4);
		r = show(&s,
			arena_printf(&s.f->arena,
				"{\"type\":\"input_file\",\"file_data\":\"data:application/zip;base64,%s\"}",
				large),
			"");
		STATUS(r, 200);
		CHECK_INT(fixture_count(s.f, "select sum(size_bytes) from session_files"),
			SESSION_PART_MAX / 3 * 3);
	}
	test_step("of the assistant, and of the system");
	r = respond(&s, "\"input\":[{\"role\":\"assistant\",\"content\":[" IMAGE "]}]");
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "input[0].content");

	test_step("no model that reads images");
	sees(&s, 0);
	r = show(&s, IMAGE, "");
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "input[0].content[1]");
	CHECK(strstr(text_at(&r, "error.message"), "supports_vision") != NULL);
	STATUS(show(&s, WAV, ""), 200);
	CHECK(strstr(s.mock.last_body, "\"input_audio\"") != NULL);

	test_step("a file, and a budget");
	STATUS(show(&s, PDF, ""), 200);
	fixture_sql(s.f, "update agent_rows set hourly_limit_pd = 1000000000000 where id = $1",
		ARGS(T(s.agent_id)));
	r = show(&s, PDF, "");
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "input[0].content[1]");
	CHECK(strstr(text_at(&r, "error.message"), "budget") != NULL);
	gateway_close(&s);
}

TEST(parts_are_told_of_where_a_model_does_not_take_them)
{
	struct gateway_fixture s;
	struct answer r;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", "500", "ok", NULL });
	fixture_sql(
		s.f, "update models set supports_vision = 1 where id = $1", ARGS(T(s.models[1])));
	test_step("the one that takes them is asked first, and another when it fails");
	r = show(&s, IMAGE, "");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "completed");
	CHECK_INT(atomic_load(&s.mock.asked), 2);
	CHECK(strstr(s.mock.last_body,
		      "[image \\\"image.png\\\", image/png, 12 bytes: not shown]") != NULL);
	CHECK(strstr(s.mock.last_body, PNG) == NULL);
	CHECK_INT(fixture_count(s.f, "select count(*) from session_events where kind = 'notice' "
				     "and data like '%parts_left_out%'"),
		1);
	gateway_close(&s);
}

TEST(parts_in_threads)
{
	struct gateway_fixture s;
	struct answer r;
	const char *thread, *other, *message, *body;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	body = "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"look\"},"
	       "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64," PNG
	       "\",\"detail\":\"low\"}},{\"type\":\"image_url\",\"image_url\":{\"url\":"
	       "\"https://example.org/a.png\"}}]}]}";
	r = ask(s.f, s.f->admin, body, "POST /v1/threads");
	STATUS(r, 200);
	thread = text_at(&r, "id");
	r = ask(s.f, s.f->admin, NULL, "GET /v1/threads/%s/messages", thread);
	CHECK_STR(text_at(&r, "data.0.content.0.text.value"), "look");
	CHECK_STR(text_at(&r, "data.0.content.1.type"), "image_file");
	CHECK_STR(text_at(&r, "data.0.content.1.image_file.detail"), "low");
	CHECK_STR(text_at(&r, "data.0.content.2.image_url.url"), "https://example.org/a.png");
	message = text_at(&r, "data.0.id");

	test_step("deleted before any run its bytes are gone");
	r = ask(s.f, s.f->admin, body, "POST /v1/threads");
	other = text_at(&r, "id");
	r = ask(s.f, s.f->admin, NULL, "GET /v1/threads/%s/messages", other);
	CHECK_INT(fixture_count(s.f, "select count(*) from thread_files"), 2);
	STATUS(ask(s.f, s.f->admin, NULL, "DELETE /v1/threads/%s/messages/%s", other,
		       text_at(&r, "data.0.id")),
		200);
	CHECK_INT(fixture_count(s.f, "select count(*) from thread_files"), 1);

	test_step("an agent that reads no images");
	body = arena_printf(&s.f->arena, "{\"assistant_id\":\"%s\",\"stream\":true}", s.agent_id);
	r = ask(s.f, s.f->admin, body, "POST /v1/threads/%s/runs", thread);
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "assistant_id");

	test_step("one that does");
	sees(&s, 1);
	r = ask(s.f, s.f->admin, body, "POST /v1/threads/%s/runs", thread);
	STATUS(r, 200);
	CHECK(strstr(s.mock.last_body, PNG) != NULL);
	CHECK(strstr(s.mock.last_body, "https://example.org/a.png") != NULL);
	CHECK(strstr(s.mock.last_body, "\"detail\":\"low\"") != NULL);
	CHECK_INT(fixture_count(s.f, "select count(*) from session_files"), 1);
	r = ask(s.f, s.f->admin, NULL, "GET /v1/threads/%s/messages?order=asc", thread);
	CHECK_STR(text_at(&r, "data.0.content.1.type"), "image_file");

	test_step("what else is refused by name");
	r = ask(s.f, s.f->admin,
		"{\"role\":\"user\",\"content\":[{\"type\":\"image_file\",\"image_file\":{\"file_id\":\"f\"}}]}",
		"POST /v1/threads/%s/messages", thread);
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "content[0]");
	r = ask(s.f, s.f->admin,
		"{\"role\":\"assistant\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
		"\"https://a/b\"}}]}",
		"POST /v1/threads/%s/messages", thread);
	STATUS(r, 400);
	sees(&s, 0);
	r = ask(s.f, s.f->admin,
		"{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
		"\"https://a/b\"}}]}",
		"POST /v1/threads/%s/messages", thread);
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "content[0]");

	test_step("deleted, its bytes are gone, and auditors see what they were called");
	STATUS(ask(s.f, s.f->admin, NULL, "DELETE /v1/threads/%s/messages/%s", thread, message),
		200);
	CHECK_INT(fixture_count(s.f, "select count(*) from session_files"), 0);
	r = ask(s.f, s.f->admin, NULL, "GET /tenant/%s/sessions/%s/audit", s.f->tenant_id, thread);
	STATUS(r, 200);
	CHECK(strstr(r.body, "image.png") != NULL);
	fixture_sweep(s.f);
	CHECK_INT(fixture_count(s.f, "select count(*) from thread_files"), 0);
	gateway_close(&s);
}

TEST(parts_in_what_functions_give)
{
	struct gateway_fixture s;
	struct answer r;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	sees(&s, 1);
	r = respond(&s,
		"\"input\":[{\"role\":\"user\",\"content\":\"photograph it\"},{\"type\":"
		"\"function_call\",\"call_id\":\"c1\",\"name\":\"shoot\",\"arguments\":\"{}\"},"
		"{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":[" IMAGE "]}]");
	STATUS(r, 200);
	CHECK(strstr(s.mock.last_body, PNG) != NULL);
	r = of_session(&s, session_of(&s), "messages");
	CHECK_STR(text_at(&r, "items.1.role"), "tool");
	CHECK_STR(text_at(&r, "items.1.parts.0.type"), "image");
	r = respond(&s,
		"\"input\":[{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"shoot\","
		"\"arguments\":\"{}\"},{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":"
		"[{\"type\":\"input_image\",\"image_url\":\"x\"}]}]");
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "input[1].output[0]");
	gateway_close(&s);
}

TEST(parts_files_of_the_session_are_shown_by_messages)
{
	struct gateway_fixture s;
	struct answer r;
	const char *session, *other, *text, *image, *message;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	session = fixture_session(s.f, s.f->admin, s.agent_id, "{}");
	other = fixture_session(s.f, s.f->admin, s.agent_id, "{}");
	text = fixture_created(s.f, s.f->admin, "data:application/octet-stream;base64,bWlsaw==",
		"POST /tenant/%s/sessions/%s/files?name=list.txt", s.f->tenant_id, session);
	image = fixture_created(s.f, s.f->admin, "data:application/octet-stream;base64," PNG,
		"POST /tenant/%s/sessions/%s/files?name=cat.bin", s.f->tenant_id, session);
#define SAY(session_id, ...)                                                                       \
	ask(s.f, s.f->admin, arena_printf(&s.f->arena, __VA_ARGS__),                               \
		"POST /tenant/%s/sessions/%s/messages\nAccept: text/event-stream", s.f->tenant_id, \
		session_id)
	test_step("what they are is told by their bytes");
	r = SAY(session, "{\"content\":\"hi\",\"file_ids\":[\"%s\"]}", image);
	STATUS(r, 422);
	CHECK(refuses(&r, "file_ids[0]", "model_without_vision"));
	sees(&s, 1);
	r = SAY(session, "{\"content\":\"hi\",\"file_ids\":[\"%s\",\"%s\"]}", text, image);
	STATUS(r, 200);
	CHECK(strstr(s.mock.last_body, PNG) != NULL);
	CHECK(strstr(s.mock.last_body, "\"list.txt\"") != NULL);
	CHECK(strstr(s.mock.last_body, "data:text/plain;base64,bWlsaw==") != NULL);
	r = of_session(&s, session, "messages");
	CHECK_STR(text_at(&r, "items.1.parts.1.content_type"), "image/png");
	CHECK_STR(text_at(&r, "items.1.parts.1.file_id"), image);

	test_step(
		"shown again it counts again, and what is too much is told in words; a branch has it once");
	fixture_sql(s.f,
		"update messages set parts = replace(parts, '\"size_bytes\":12', '\"size_bytes\":16777210')",
		NO_ARGS);
	r = SAY(session, "{\"content\":\"again\",\"file_ids\":[\"%s\"]}", image);
	STATUS(r, 200);
	CHECK(strstr(s.mock.last_body, PNG) != NULL);
	CHECK(strstr(strstr(s.mock.last_body, PNG) + 1, PNG) == NULL);
	CHECK(strstr(s.mock.last_body, "not shown") != NULL);
	fixture_sql(s.f, "update messages set parts = replace(parts, ':16777210', ':12')", NO_ARGS);
	r = of_session(&s, session, "messages");
	message = text_at(&r, "items.1.id");
	r = ask(s.f, s.f->admin, arena_printf(&s.f->arena, "{\"message_id\":\"%s\"}", message),
		"POST /tenant/%s/sessions/%s/branch", s.f->tenant_id, session);
	STATUS(r, 201);
	r = of_session(&s, text_at(&r, "id"), "files");
	CHECK(at(&r, "items.1") && !at(&r, "items.2"));
	fixture_sql(s.f,
		"update messages set parts = replace(parts, '\"size_bytes\":12', '\"size_bytes\":104857600')",
		NO_ARGS);
	STATUS(ask(s.f, s.f->admin, arena_printf(&s.f->arena, "{\"message_id\":\"%s\"}", message),
		       "POST /tenant/%s/sessions/%s/branch", s.f->tenant_id, session),
		409);
	fixture_sql(
		s.f, "update messages set parts = replace(parts, ':104857600', ':12')", NO_ARGS);

	test_step("a message that is deleted leaves what was brought apart");
	STATUS(ask(s.f, s.f->admin, NULL, "DELETE /v1/threads/%s/messages/%s", session, message),
		200);
	STATUS(of_session(&s, session, arena_printf(&s.f->arena, "files/%s/content", image)), 200);

	test_step("the export names them");
	r = of_session(&s, session, "export?format=markdown");
	CHECK(strstr(r.body, "- image: cat.bin (file ") != NULL);

	test_step("of another session they are unknown");
	r = SAY(other, "{\"content\":\"hi\",\"file_ids\":[\"%s\"]}", text);
	STATUS(r, 422);
	CHECK(refuses(&r, "file_ids[0]", "unknown"));

	test_step("too large for a model");
	fixture_sql(
		s.f, "update session_files set size_bytes = 10485761 where id = $1", ARGS(T(text)));
	r = SAY(session, "{\"content\":\"hi\",\"file_ids\":[\"%s\"]}", text);
	STATUS(r, 422);
	CHECK(refuses(&r, "file_ids[0]", "too_long"));

	test_step("the older ones are told of, where all are too many for one request");
	fixture_sql(s.f, "update session_files set size_bytes = 12 where id = $1", ARGS(T(text)));
	fixture_sql(s.f,
		"update messages set parts = replace(parts, '\"size_bytes\":4', '\"size_bytes\":16777210')",
		NULL, 0);
	r = SAY(session, "{\"content\":\"and now\"}");
	CHECK(strstr(s.mock.last_body, PNG) != NULL);
	CHECK(strstr(s.mock.last_body,
		      "[file \\\"list.txt\\\", text/plain, 16777210 bytes: not shown]") != NULL);

	test_step("a session that is full takes no more");
	fixture_sql(s.f, "update session_files set size_bytes = 104857600 where id = $1",
		ARGS(T(image)));
	r = show(&s, IMAGE, "");
	STATUS(r, 200); /* which is another session */
	r = ask(s.f, s.f->admin,
		"{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
		"\"data:image/png;base64," PNG "\"}}]}",
		"POST /v1/threads/%s/messages", session);
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "content[0]");
#undef SAY
	gateway_close(&s);
}
