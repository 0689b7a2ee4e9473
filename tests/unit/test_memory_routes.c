/* test_memory_routes.c - the worst body of every route, from the tables: what reading it takes, and the most heap that the
 * whole process has for it on its way through the house, libraries and all.  A route whose body is taken as it
 * comes has its shapes by the type of the body; one of a type that is not known here fails.  LODGE_MEMORY_TABLE
 * prints the table of docs/limits.md. */
#include "t.h"

#include <stdlib.h>
#include <unistd.h>

#include "serve/registry.h"
#include "base/zip.h"
#include "store/pool.h"
#include "contract/decode.h"
#include "fixture.h"
#include "hook_fixture.h"
#include "peak.h"
#include "picture_fixture.h"

/* What decoding may take for each byte of a body; what the process may have for it, with the body itself, what
 * was made of it, what is stored and sent; and besides. */
enum { BODY = 256 * 1024, TIMES = 8, PEAK_TIMES = 14, EVENT_TIMES = 4, BESIDES = 1 << 20 };
/* What is not read by its length: pixels that a format makes us hold, with the rows around them; an archive. */
enum { PIXELS = 1000 * 1000, PIXEL_BYTES = 12, UNPACKED = 6 << 20, UNPACKED_TIMES = 6 };

/* Items, as many as there is room for, between what comes before and after. */
struct asked_shape {
	const char *name, *field, *before, *item, *after;
};

struct worst {
	const struct schema *schema;
	const struct patterns *patterns;
	struct arena arena; /* of the shapes' texts */
	struct asked_shape shape;
	size_t most; /* bytes of the arena, of all shapes */
};

static void write_body(struct buf *text, const struct asked_shape *s)
{
	size_t n = strlen(s->item);

	buf_puts(text, s->before);
	for (size_t i = 0; text->len + n + 16 < BODY; i++) {
		if (strchr(s->item, '%'))
			buf_printf(text, "%s\"%zx\":0", i ? "," : "", i);
		else
			buf_printf(text, "%s%s", i && *s->item != '\\' ? "," : "", s->item);
	}
	buf_puts(text, s->after);
}

static void try_shape(struct worst *w, struct asked_shape s)
{
	struct arena a = { .max = (size_t)128 << 20 };
	struct problem p = { 0 };
	struct buf text;

	buf_init(&text, BODY + 4096);
	write_body(&text, &s);
	decode_body(w->patterns, &a, w->schema, UNKNOWN_REFUSED, text.at, text.len,
		arena_alloc(&a, w->schema->size), &p);
	if (a.total > w->most) {
		w->most = a.total;
		w->shape = s;
	}
	buf_free(&text);
	arena_free(&a);
}

static const char *full_item(struct arena *a, const struct field *f)
{
	const char *item = "{";

	if (f->kind != LIST || f->item != OBJECT)
		return "\"x\"";
	for (size_t i = 0; i < f->of->count; i++)
		item = arena_printf(
			a, "%s%s\"%s\":null", item, i ? "," : "", f->of->fields[i].name);
	return arena_printf(a, "%s}", item);
}

static void try_field(struct worst *w, const struct field *f)
{
	struct arena *a = &w->arena;
	const char *list = arena_printf(a, "{\"%s\":[", f->name);
	const char *json = arena_printf(a, "{\"%s\":%s", f->name, f->array ? "[" : "{\"a\":[");
	const char *text = arena_printf(a, "{\"%s\":\"", f->name);

	switch (f->kind) {
	case LIST:
		try_shape(w, (struct asked_shape){ "smallest items", f->name, list,
				     f->item == OBJECT ? "{}" : "\"\"", "]}" });
		try_shape(w, (struct asked_shape){
				     "whole items", f->name, list, full_item(a, f), "]}" });
		try_shape(w,
			(struct asked_shape){ "items of another type", f->name, list, "[]", "]}" });
		break;
	case JSON:
		try_shape(w, (struct asked_shape){ "small objects", f->name, json, "{\"a\":0}",
				     f->array ? "]}" : "]}}" });
		break;
	case TEXT:
		try_shape(w, (struct asked_shape){ "escapes", f->name, text, "\\u00e9", "\"}" });
		break;
	default:
		break;
	}
}

static struct worst worst_of(const struct patterns *patterns, const struct schema *s)
{
	struct worst w = { .schema = s, .patterns = patterns };

	try_shape(&w, (struct asked_shape){
			      "small objects", "(unknown)", "{\"zz\":[", "{\"a\":0}", "]}" });
	try_shape(
		&w, (struct asked_shape){ "empty objects", "(unknown)", "{\"zz\":[", "{}", "]}" });
	try_shape(&w, (struct asked_shape){ "many names", "(unknown)", "{", "%", "}" });
	for (size_t i = 0; i < s->count; i++)
		try_field(&w, &s->fields[i]);
	return w;
}

/* ---- on its way through the house ---- */

struct trial {
	struct hook_fixture hook;
	struct fixture *f;
	const char *skill_id, *webhook_id, *webhook_token;
	const char *mirror_id,
		*mirror_secret; /* a repository on another host, which tells of pushes */
	struct buf request, answer;
	size_t taken; /* bodies that were not refused by their head */
};

/* The ids of things that are there, where there is one. */
static const char *fill_path(struct trial *t, const char *path)
{
	struct fixture *f = t->f;
	const char *out = "";

	while (*path) {
		const char *open = strchr(path, '{'), *close = open ? strchr(open, '}') : NULL;
		const char *id = "c000000000000000000000000";

		if (!close)
			return arena_printf(&f->arena, "%s%s", out, path);
		if (strncmp(open, "{tenant_id}", 11) == 0)
			id = f->tenant_id;
		else if (strncmp(open, "{agent_id}", 10) == 0)
			id = t->hook.agent_id;
		else if (strncmp(open, "{skill_id}", 10) == 0)
			id = t->skill_id;
		else if (strncmp(open, "{integration_id}", 16) == 0)
			id = t->hook.id;
		else if (strncmp(open, "{webhook_id}", 12) == 0)
			id = t->webhook_id;
		else if (strncmp(open, "{repository_id}", 15) == 0)
			id = t->mirror_id;
		out = arena_printf(&f->arena, "%s%.*s%s", out, (int)(open - path), path, id);
		path = close + 1;
	}
	return out;
}

static bool is_hook(const struct route *r)
{
	return strncmp(r->path, "/hooks/", 7) == 0;
}

/* What the events before have set to work has come to its end. */
static void await_rest(struct trial *t)
{
	hook_settle(&t->hook);
	for (int i = 0; i < 4000; i++) {
		if (!fixture_count(t->f,
			    "select count(*) from jobs where state in ('waiting', 'running')"))
			return;
		usleep(5000);
	}
	test_fail(__FILE__, __LINE__, "jobs wait for ever");
}

static int status_of(const struct trial *t)
{
	return t->answer.len > 12 ? atoi(t->answer.at + 9) : 0;
}

/* A large body that was taken was read off the loop, whichever route it is for. */
static void check_aside(struct trial *t, const struct route *r, size_t len, uint64_t before)
{
	int status = status_of(t);
	uint64_t turns = pool_stats(t->f->app.reading).begun - before;

	if (r->op->intake) /* it is not gathered at all */
		return;
	if (len <= 64 * 1024 || status == 401 || status == 403 || status == 404 || status == 413)
		return;
	test_step("%s %s: %zu bytes, answered %d, read off the loop", method_name(r->method),
		r->path, len, status);
	CHECK(turns >= 1);
	t->taken++;
}

/* The most that the process had beyond what it has at rest. */
static size_t send_body(
	struct trial *t, const struct route *r, const char *type, const struct buf *body)
{
	struct fixture *f = t->f;
	const char *token = is_hook(r) ? t->webhook_token : f->admin;
	const char *head = arena_printf(&f->arena,
		"%s %s%s HTTP/1.1\r\nHost: lodge.test\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
		"User-Agent: GitHub-Hookshot/1\r\nX-GitHub-Event: issues\r\nX-GitHub-Delivery: d%d\r\n"
		"X-Hub-Signature-256: %s\r\nAuthorization: Bearer %s\r\n\r\n",
		method_name(r->method), fill_path(t, r->path),
		strstr(r->path, "/file") ? "?path=a.txt" : "", type, body->len, ++t->hook.sent,
		hook_sign(f, strstr(r->path, "/repositories/") ? t->mirror_secret : t->hook.secret,
			body->at, body->len),
		token);
	uint64_t before;
	size_t grown;

	t->request.len = t->answer.len = 0;
	buf_puts(&t->request, head);
	buf_put(&t->request, body->at, body->len);
	if (is_hook(r))
		await_rest(t);
	before = pool_stats(f->app.reading).begun;
	peak_begin();
	http_inproc_send(f->inproc, t->request.at, t->request.len, &t->answer);
	grown = peak_grown();
	check_aside(t, r, body->len, before);
	return grown;
}

static void make_mirror(struct trial *t)
{
	struct fixture *f = t->f;
	const char *agent = fixture_created(f, f->admin, "{\"name\":\"m\",\"slug\":\"mirrored\"}",
		"POST /tenant/%s/agents", f->tenant_id);
	struct answer r = ask(f, f->admin, NULL, "POST /agents/%s/repo", agent);

	STATUS(r, 201);
	fixture_sql(f,
		"update repositories set host = 'git', url = 'https://git.example.org/a.git' where "
		"agent_id = $1",
		ARGS(T(agent)));
	r = ask(f, f->admin, NULL, "POST /agents/%s/repo/push-hook", agent);
	STATUS(r, 201);
	t->mirror_id = strrchr(text_at(&r, "url"), '/') + 1;
	t->mirror_secret = text_at(&r, "secret");
}

static void open_trial(struct trial *t)
{
	struct answer r;

	*t = (struct trial){ .hook = hook_fixture_open("") };
	t->f = t->hook.f;
	t->f->app.settings.allow_private_addresses = true;
	buf_init(&t->request, 16 << 20);
	buf_init(&t->answer, 16 << 20);
	buf_room(&t->request, 15 << 20);
	buf_room(&t->answer, 15 << 20);
	r = ask(t->f, t->f->admin,
		"{\"name\":\"s\",\"slug\":\"s\",\"description\":\"d\",\"instructions\":\"i\"}",
		"POST /tenant/%s/skills", t->f->tenant_id);
	t->skill_id = text_at(&r, "id");
	STATUS(ask(t->f, t->f->admin,
		       arena_printf(&t->f->arena, "{\"skill_id\":\"%s\"}", t->skill_id),
		       "POST /agents/%s/skills", t->hook.agent_id),
		201);
	r = ask(t->f, t->f->admin, NULL, "POST /agents/%s/skills/%s/webhooks", t->hook.agent_id,
		t->skill_id);
	t->webhook_id = text_at(&r, "id");
	t->webhook_token = text_at(&r, "token");
	CHECK(t->skill_id && t->webhook_id && t->webhook_token);
	make_mirror(t);
	/* A model that can be asked, but does not answer: what goes out is written. */
	STATUS(ask(t->f, t->f->admin,
		       "{\"name\":\"m\",\"slug\":\"m\",\"kind\":\"openai\",\"available_to_all_tenants\":true,"
		       "\"pricing\":{\"prompt\":\"0\",\"completion\":\"0\"},\"config\":{\"base_url\":"
		       "\"http://127.0.0.1:1/v1\",\"model\":\"m\",\"api_key\":\"k\"}}",
		       "POST /admin/models"),
		201);
}

static void close_trial(struct trial *t)
{
	buf_free(&t->request);
	buf_free(&t->answer);
	fixture_close(t->f);
}

/* ---- bodies that are taken as they come ---- */

/* Files, each as large as one may be: all that may be unpacked at all. */
static void make_archive(struct buf *out)
{
	static const char md[] = "---\nname: big\ndescription: d\n---\nx\n";
	enum { FILES = 4, SIZE = 1 << 20 };
	char *zeros = calloc(1, SIZE);
	struct zip_writer w;

	zip_begin(&w, out);
	zip_add(&w, "SKILL.md", false, md, sizeof md - 1);
	for (int i = 0; i < FILES; i++) {
		char name[16];

		snprintf(name, sizeof name, "f%d.bin", i);
		zip_add(&w, name, false, zeros, SIZE);
	}
	zip_end(&w);
	free(zeros);
}

static void paint(int x, int y, uint8_t *rgba)
{
	rgba[0] = (uint8_t)x;
	rgba[1] = (uint8_t)y;
	rgba[2] = (uint8_t)(x ^ y);
	rgba[3] = (uint8_t)(x + y);
}

static void make_png(struct buf *out)
{
	struct picture p = picture_paint(1000, 1000, paint);

	picture_fixture_png(out, &p, KIND_RGBA_8, true);
	picture_free(&p);
}

static void make_jpeg(struct buf *out)
{
	struct picture p = picture_paint(1000, 1000, paint);

	picture_fixture_jpeg(out, &p, (struct jpeg_how){ .progressive = true, .many_scans = true });
	picture_free(&p);
}

static void make_webp(struct buf *out)
{
	struct picture p = picture_paint(1000, 1000, paint);

	picture_fixture_webp(out, &p, true);
	picture_free(&p);
}

static void make_bytes(struct buf *out)
{
	while (out->len < BODY)
		buf_lit(out, "\x01\xff\x80\"\\\n");
}

#define BODY_TIMES PEAK_TIMES, BODY

static const struct raw {
	const char *type, *name;
	struct asked_shape shape;
	void (*make)(struct buf *out);
	size_t times, of; /* the bound, beside BESIDES */
} raws[] = {
	{ "application/json", "small objects",
		{ .before = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"zz\":[",
			.item = "{\"a\":0}",
			.after = "]}" },
		NULL, BODY_TIMES },
	{ "application/json", "many names", { .before = "{", .item = "%", .after = "}" }, NULL,
		BODY_TIMES },
	{ "application/json", "short messages",
		{ .before = "{\"model\":\"m\",\"messages\":[",
			.item = "{\"role\":\"user\",\"content\":\"a\"}",
			.after = "]}" },
		NULL, BODY_TIMES },
	{ "application/json", "short parts",
		{ .before = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[",
			.item = "{\"type\":\"text\",\"text\":\"a\"}",
			.after = "]}]}" },
		NULL, BODY_TIMES },
	{ "application/json", "escapes",
		{ .before = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"",
			.item = "\\u00e9",
			.after = "\"}]}" },
		NULL, BODY_TIMES },
	{ "application/x-www-form-urlencoded", "many pairs",
		{ .before = "payload=%7B%22", .item = "a=b&", .after = "" }, NULL, BODY_TIMES },
	{ "*/*", "any bytes", { 0 }, make_bytes, BODY_TIMES },
	{ "application/octet-stream", "any bytes", { 0 }, make_bytes, BODY_TIMES },
	{ "multipart/form-data", "small fields",
		{ .before = "",
			.item = "--b\r\nContent-Disposition: form-data; name=\"a[]\"\r\n\r\nx\r\n",
			.after = "--b--\r\n" },
		NULL, BODY_TIMES },
	{ "multipart/form-data", "a file",
		{ .before = "--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n",
			.item = "abcdefgh",
			.after = "\r\n--b\r\nContent-Disposition: form-data; "
				 "name=\"model\"\r\n\r\nm\r\n--b--\r\n" },
		NULL, BODY_TIMES },
	{ "message/rfc822", "any bytes", { 0 }, make_bytes, BODY_TIMES },
	{ "text/plain", "any bytes", { 0 }, make_bytes, BODY_TIMES },
	{ "application/x-git-upload-pack-request", "any bytes", { 0 }, make_bytes, BODY_TIMES },
	{ "application/x-git-receive-pack-request", "any bytes", { 0 }, make_bytes, BODY_TIMES },
	{ "application/yaml", "any bytes", { 0 }, make_bytes, BODY_TIMES },
	{ "application/gzip", "any bytes", { 0 }, make_bytes, BODY_TIMES },
	{ "text/markdown", "a long head",
		{ .before = "---\nname: a\ndescription: d\nmetadata:\n",
			.item = "  a: b\n",
			.after = "---\n" },
		NULL, BODY_TIMES },
	{ "application/zip", "all it may unpack", { 0 }, make_archive, UNPACKED_TIMES, UNPACKED },
	{ "image/png", "a million pixels, interlaced", { 0 }, make_png, PIXEL_BYTES, PIXELS },
	{ "image/jpeg", "a million pixels, progressive", { 0 }, make_jpeg, PIXEL_BYTES, PIXELS },
	{ "image/webp", "a million pixels", { 0 }, make_webp, PIXEL_BYTES, PIXELS },
};

static void show(const struct route *r, const char *field, const char *shape, size_t body,
	size_t decoded, size_t peak)
{
	if (!getenv("LODGE_MEMORY_TABLE"))
		return;
	printf("| %s %s | %s | %s | ", method_name(r->method), r->path, field, shape);
	if (decoded)
		printf("%zu.%zu | ", decoded / BODY, decoded * 10 / BODY % 10);
	else
		printf(" | ");
	printf("%zu.%zu |\n", peak / body, peak * 10 / body % 10);
}

static const char *sent_type(const char *type)
{
	if (strcmp(type, "multipart/form-data") == 0)
		return "multipart/form-data; boundary=b";
	return strcmp(type, "*/*") == 0 ? "application/x-other" : type;
}

/* The name under which the bodies of a type stand above. */
static const char *usual_name(const char *type)
{
	static const char *const others[][2] = { { "application/x-zip-compressed",
							 "application/zip" },
		{ "application/x-gzip", "application/gzip" },
		{ "application/x-yaml", "application/yaml" }, { "text/yaml", "application/yaml" } };

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strcmp(others[i][0], type) == 0)
			return others[i][1];
	return type;
}

static void try_raw_type(struct trial *t, const struct route *r, const char *type)
{
	bool known = false;

	for (const struct raw *w = raws; w < raws + sizeof raws / sizeof *raws; w++) {
		struct buf body;
		size_t peak;

		if (strcmp(w->type, usual_name(type)) != 0)
			continue;
		known = true;
		buf_init(&body, 16 << 20);
		if (w->make)
			w->make(&body);
		else
			write_body(&body, &w->shape);
		peak = send_body(t, r, sent_type(type), &body);
		test_step("%s %s: %s, %s of %zu bytes, answered %d, takes %zu",
			method_name(r->method), r->path, type, w->name, body.len, status_of(t),
			peak);
		CHECK(status_of(t) >= 200 && status_of(t) != 401 && status_of(t) != 500);
		/* An event sets an agent to work, perhaps before it is answered. */
		CHECK(peak <= (is_hook(r) ? EVENT_TIMES : 1) * w->times * w->of + BESIDES);
		show(r, type, w->name, body.len, 0, peak);
		buf_free(&body);
	}
	test_step("%s %s takes %s", method_name(r->method), r->path, type);
	CHECK(known);
}

static void try_body_schema(struct trial *t, const struct route *r, const struct worst *w)
{
	struct buf body;
	size_t peak;

	buf_init(&body, BODY + 4096);
	write_body(&body, &w->shape);
	peak = send_body(t, r, "application/json", &body);
	test_step("%s %s: %s of %s takes %zu to read, %zu in all", method_name(r->method), r->path,
		w->shape.name, w->shape.field, w->most, peak);
	CHECK(w->most <= (size_t)TIMES * BODY + BESIDES);
	CHECK(peak <= (size_t)PEAK_TIMES * BODY + BESIDES);
	CHECK(status_of(t) >= 200 && status_of(t) != 500);
	show(r, w->shape.field, w->shape.name, body.len, w->most, peak);
	buf_free(&body);
}

/* What no table states of a body: parts within parts, which an operation reads by itself. */
static const struct within {
	const char *path;
	struct asked_shape shape;
} withins[] = {
	{ "/v1/responses", { "short parts of a model's input", "input",
				   "{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":[",
				   "{\"type\":\"input_text\",\"text\":\"a\"}", "]}]}" } },
	{ "/v1/responses",
		{ "short items of a model's input", "input", "{\"model\":\"m\",\"input\":[",
			"{\"role\":\"user\",\"content\":\"a\"}", "]}" } },
	{ "/v1/threads/{thread_id}/messages",
		{ "short parts", "content", "{\"role\":\"user\",\"content\":[",
			"{\"type\":\"text\",\"text\":\"a\"}", "]}" } },
	{ "/v1/conversations",
		{ "short parts of an item", "items", "{\"items\":[{\"role\":\"user\",\"content\":[",
			"{\"type\":\"input_text\",\"text\":\"a\"}", "]}]}" } },
	{ "/v1/threads", { "short messages", "messages", "{\"messages\":[",
				 "{\"role\":\"user\",\"content\":\"a\"}", "]}" } },
};

static const struct route *route_to(const char *path)
{
	for (size_t i = 0; i < api_resource_count; i++)
		for (size_t k = 0; k < api_resources[i]->route_count; k++)
			if (api_resources[i]->routes[k].method == METHOD_POST &&
				strcmp(api_resources[i]->routes[k].path, path) == 0)
				return &api_resources[i]->routes[k];
	test_fail(__FILE__, __LINE__, "there is no %s", path);
	return NULL;
}

TEST(memory_of_bodies_that_an_operation_reads_by_itself_is_bounded)
{
	struct trial t;

	open_trial(&t);
	for (size_t i = 0; i < sizeof withins / sizeof *withins; i++) {
		struct buf body;
		size_t peak;

		buf_init(&body, BODY + 4096);
		write_body(&body, &withins[i].shape);
		peak = send_body(&t, route_to(withins[i].path), "application/json", &body);
		test_step("%s: %s: %zu bytes take %zu, answered %d", withins[i].path,
			withins[i].shape.name, body.len, peak, status_of(&t));
		CHECK(peak <= (size_t)PEAK_TIMES * BODY + BESIDES);
		buf_free(&body);
	}
	close_trial(&t);
}

TEST(memory_of_the_worst_body_of_every_route_is_bounded)
{
	struct worst *found[512];
	struct trial t;
	size_t count = 0, routes = 0, raw = 0;

	open_trial(&t);
	for (size_t i = 0; i < api_resource_count; i++) {
		for (size_t k = 0; k < api_resources[i]->route_count; k++) {
			const struct route *r = &api_resources[i]->routes[k];
			size_t at = 0;

			for (const char *const *type = r->op->takes; type && *type; type++, raw++)
				try_raw_type(&t, r, *type);
			if (!r->op->body)
				continue;
			while (at < count && found[at]->schema != r->op->body)
				at++;
			if (at == count) {
				found[count] = calloc(1, sizeof **found);
				*found[count++] = worst_of(t.f->app.patterns, r->op->body);
			}
			try_body_schema(&t, r, found[at]);
			routes++;
		}
	}
	CHECK(routes > 60 && raw > 10);
	CHECK(t.taken > 60);
	while (count) {
		arena_free(&found[--count]->arena);
		free(found[count]);
	}
	close_trial(&t);
}
