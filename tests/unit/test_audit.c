/* test_audit.c - the audit log as a list and as an export: filters, pages, who may read it, and what an
 * export costs. */
#include "fixture.h"

#include <malloc.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"
#include "store/engine.h"
#include "http_fixture.h"

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

/* Entries of our own making: who, on which agent, what. */
static const struct {
	bool by_admin;
	int agent;
	const char *action;
} made[] = {
	{ true, 0, "agent.update" },
	{ true, 1, "agent.update" },
	{ false, 0, "agent.create" },
	{ false, 1, "member.create" },
	{ true, 0, "member.remove" },
	{ false, -1, "auth.login" },
};
enum { MADE = sizeof made / sizeof *made };

static const char *const agents[] = { "c00000000000000000000000a", "c00000000000000000000000b" };

struct times {
	int64_t at[MADE];
};

static struct db *link_to(struct fixture *f)
{
	struct problem p = { 0 };
	struct db *db = NULL;

	if (store_connect(f->app.store, &db, &f->arena, &p))
		test_fail(__FILE__, __LINE__, "%s", p.detail);
	return db;
}

/* Fills a tenant's log; on *ret_times the moments, a millisecond and more apart. */
static void fill(struct fixture *f, const char *tenant_id, const char *other, struct times *ret)
{
	struct db *db = link_to(f);

	for (int i = 0; i < MADE; i++) {
		struct audit_entry e = { .action = made[i].action,
			.tenant_id = tenant_id,
			.user_id = made[i].by_admin ? f->admin_id : other,
			.agent_id = made[i].agent < 0 ? NULL : agents[made[i].agent],
			.ip = "192.0.2.7" };

		usleep(2000);
		ret->at[i] = clock_now_us() / 1000 * 1000;
		CHECK_INT(audit_write(db, &f->arena, &e), 0);
	}
	db_close(db);
}

static void fill_many(struct fixture *f, const char *tenant_id, int count)
{
	struct db *db = link_to(f);

	CHECK_INT(db_begin(db, READ_WRITE), 0);
	for (int i = 0; i < count; i++) {
		struct arena scratch = { 0 };
		struct audit_entry e = { .action = "agent.update",
			.tenant_id = tenant_id,
			.user_id = f->admin_id,
			.user_agent =
				"a client with quite a long name / 1.0 (such as browsers have)",
			.meta = arena_printf(
				&scratch, "{\"n\":{\"from\":%d,\"to\":\"%0200d\"}}", i, i) };

		CHECK_INT(audit_write(db, &scratch, &e), 0);
		arena_free(&scratch);
	}
	CHECK_INT(db_commit(db), 0);
	db_close(db);
}

static const char *when(struct fixture *f, int64_t us)
{
	char text[TIME_TEXT_LEN];

	time_write(us, text);
	return arena_strndup(&f->arena, text, TIME_TEXT_LEN);
}

/* The reply to a GET, whatever its form; chunks are joined, *ret_whole says if their end came. */
static struct answer fetch(struct fixture *f, const char *token, const char *line, bool *ret_whole)
{
	struct answer r = { 0 };
	struct buf in;
	char *text, *body, *out;
	const char *request = arena_printf(&f->arena,
		"%s HTTP/1.1\r\nHost: lodge.test\r\nAuthorization: Bearer %s\r\n\r\n", line, token);

	buf_init(&in, 64 << 20);
	http_inproc_send(f->inproc, request, strlen(request), &in);
	text = arena_strndup(&f->arena, in.at, in.len);
	buf_free(&in);
	body = strstr(text, "\r\n\r\n");
	r.status = atoi(text + 9);
	r.head = text;
	body[2] = '\0';
	r.body = out = body += 4;
	*ret_whole = false;
	if (!strstr(text, "Transfer-Encoding: chunked\r\n"))
		return r;
	while (*body) {
		size_t n = strtoul(body, &body, 16);

		body += 2;
		*ret_whole = n == 0;
		memmove(out, body, n);
		out += n;
		body += n + 2;
	}
	*out = '\0';
	r.body_len = (size_t)(out - r.body);
	return r;
}

static int lines_of(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* The export must hold the same rows as the list, in the opposite order. */
static void check_export(
	struct fixture *f, const char *path, const char *query, const struct answer *list)
{
	bool whole;
	struct answer all = fetch(f, f->admin,
		arena_printf(&f->arena, "GET %s?format=ndjson%s", path, query), &whole);
	json_t *items = at(list, "items");
	const char *line = all.body;

	CHECK_INT(all.status, 200);
	CHECK(whole);
	CHECK(strstr(all.head, "Content-Type: application/x-ndjson\r\n"));
	CHECK_INT(lines_of(all.body), json_array_size(items));
	for (size_t i = json_array_size(items); i-- > 0 && *line;) {
		size_t len = strcspn(line, "\n");
		json_t *row = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);

		CHECK(row && json_equal(row, json_array_get(items, i)));
		json_decref(row);
		line += len + 1;
	}
}

static void expect(struct fixture *f, const char *path, const char *query, const char *want)
{
	struct answer r = ask(f, f->admin, NULL, "GET %s?per_page=200%s", path, query);
	char got[64] = "";

	test_step("%s%s", path, query);
	STATUS(r, 200);
	CHECK_INT(json_integer_value(at(&r, "total")), json_array_size(at(&r, "items")));
	for (size_t i = 0; i < json_array_size(at(&r, "items")) && i < 60; i++)
		strcat(got, json_string_length(json_object_get(
				    json_array_get(at(&r, "items"), i), "action")) &&
					    strcmp(json_string_value(json_object_get(
							   json_array_get(at(&r, "items"), i),
							   "action")),
						    "agent.update") == 0
				    ? "u"
				    : "x");
	CHECK_STR(got, want);
	check_export(f, path, query, &r);
}

TEST(audit_filters_each_and_together)
{
	struct fixture *f = fixture_open();
	const char *other = fixture_user(f, "o@example.org", NULL), *path, *second;
	struct times times, ignored;

	fixture_sql(f, "delete from audit_logs", NO_ARGS);
	fill(f, f->tenant_id, other, &times);
	path = arena_printf(&f->arena, "/tenant/%s/audit-logs", f->tenant_id);
#define Q(...) arena_printf(&f->arena, __VA_ARGS__)
	expect(f, path, "", "xxxxuu");
	expect(f, path, Q("&user_id=%s", f->admin_id), "xuu");
	expect(f, path, Q("&user_id=%s", other), "xxx");
	expect(f, path, Q("&user_id=%s", agents[0]), "");
	expect(f, path, Q("&agent_id=%s", agents[0]), "xxu");
	expect(f, path, Q("&agent_id=%s&user_id=%s", agents[0], f->admin_id), "xu");
	expect(f, path, "&action=agent.update", "uu");
	expect(f, path, Q("&action=agent.update&agent_id=%s", agents[1]), "u");
	expect(f, path, "&resource_type=member", "xx");
	expect(f, path, Q("&resource_type=member&user_id=%s", other), "x");
	expect(f, path, Q("&from=%s", when(f, times.at[2])), "xxxx");
	expect(f, path, Q("&to=%s", when(f, times.at[2])), "uu");
	expect(f, path, Q("&from=%s&to=%s", when(f, times.at[1]), when(f, times.at[4])), "xxu");
	expect(f, path, "&from=1969-01-01T00:00:00Z&to=9999-01-01T00:00:00Z", "xxxxuu");
	expect(f, path, "&from=9999-01-01T00:00:00Z", "");
	test_step("a second tenant");
	second = fixture_tenant(f, "second", f->admin_id);
	fill(f, second, other, &ignored);
	expect(f, path, "", "xxxxuu");
	expect(f, "/admin/audit-logs", "", "xxxxuuxxxxuu");
	expect(f, "/admin/audit-logs", Q("&tenant_id=%s", second), "xxxxuu");
	expect(f, "/admin/audit-logs", Q("&tenant_id=%s&action=agent.update", second), "uu");
	expect(f, "/admin/audit-logs", Q("&user_id=%s&resource_type=agent", f->admin_id), "uuuu");
	expect(f, "/admin/audit-logs", Q("&to=%s", when(f, times.at[2])), "uu");
	test_step("reading leaves no trace");
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs"), 2 * MADE);
	fixture_close(f);
}

TEST(audit_bounds_are_the_moments_themselves)
{
	struct fixture *f = fixture_open();
	const char *path = arena_printf(&f->arena, "/tenant/%s/audit-logs", f->tenant_id);
	int64_t at = INT64_C(1767323045678000);

	fixture_sql(f, "delete from audit_logs", NO_ARGS);
	fixture_sql(f,
		"insert into audit_logs (id, tenant_id, action, resource_type, meta, created_at) "
		"values ($1, $2, 'agent.update', 'agent', $3, $4)",
		ARGS(T(arena_strdup(&f->arena, id_least(at).text)), T(f->tenant_id), T("{}"),
			N(at)));
	expect(f, path, "&from=2026-01-02T03:04:05.678Z", "u");
	expect(f, path, "&from=2026-01-02T03:04:05.679Z", "");
	expect(f, path, "&to=2026-01-02T03:04:05.678Z", "");
	expect(f, path, "&to=2026-01-02T03:04:05.679Z", "u");
	fixture_close(f);
}

TEST(audit_pages_by_number_and_by_key)
{
	struct fixture *f = fixture_open();
	struct answer r;
	const char *after = NULL;
	int seen = 0;

	fixture_sql(f, "delete from audit_logs", NO_ARGS);
	fill_many(f, f->tenant_id, 25);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?per_page=10&page=3", f->tenant_id);
	CHECK_INT(json_array_size(at(&r, "items")), 5);
	CHECK_INT(json_integer_value(at(&r, "total")), 25);
	do {
		r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?per_page=10&total=false%s%s",
			f->tenant_id, after ? "&after=" : "", after ? after : "");
		seen += (int)json_array_size(at(&r, "items"));
		after = text_at(&r, "next_after");
	} while (after && seen < 100);
	CHECK_INT(seen, 25);
	fixture_close(f);
}

TEST(audit_is_for_those_who_may)
{
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "m@example.org", &token), *path;
	struct answer r;
	bool whole;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	path = arena_printf(&f->arena, "GET /tenant/%s/audit-logs?format=ndjson", f->tenant_id);
	STATUS(ask(f, token, NULL, "GET /tenant/%s/audit-logs", f->tenant_id), 403);
	STATUS(ask(f, token, NULL, "%s", path), 403);
	STATUS(ask(f, token, NULL, "GET /admin/audit-logs"), 403);
	STATUS(ask(f, token, NULL, "GET /admin/audit-logs?format=ndjson"), 403);
	STATUS(ask(f, NULL, NULL, "%s", path), 401);
	fixture_sql(f, "update members set role = 'ADMIN' where user_id = $1", ARGS(T(user)));
	CHECK_INT(fetch(f, token, path, &whole).status, 200);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?format=xml", f->tenant_id);
	CHECK(refuses(&r, "format", "choice"));
	r = fetch(f, f->admin, arena_printf(&f->arena, "HEAD %s", path + 4), &whole);
	CHECK_INT(r.status, 200);
	CHECK(strstr(r.head, "application/x-ndjson") && !*r.body);
	fixture_close(f);
}

/* What a key, a login and an invitation are worth must not be readable in the log. */
TEST(audit_export_holds_no_secret)
{
	struct fixture *f = fixture_open();
	const char *path =
		arena_printf(&f->arena, "GET /tenant/%s/audit-logs?format=ndjson", f->tenant_id);
	const char *key, *invite;
	struct answer r =
		ask(f, f->admin, "{\"name\":\"k\"}", "POST /tenant/%s/api-keys", f->tenant_id);
	bool whole;

	STATUS(r, 201);
	key = text_at(&r, "key");
	r = ask(f, f->admin, "{\"email\":\"new@example.org\"}", "POST /tenant/%s/members",
		f->tenant_id);
	STATUS(r, 201);
	invite = text_at(&r, "invite_token");
	r = fetch(f, f->admin, path, &whole);
	CHECK(whole && lines_of(r.body) >= 2);
	CHECK(strstr(r.body, "api_key.create") && strstr(r.body, "member."));
	CHECK(!strstr(r.body, key) && !strstr(r.body, invite) && !strstr(r.body, f->admin));
	CHECK(!strstr(r.body, "seal_"));
	fixture_close(f);
}

/* Every walk of the log over tenants: by each filter, as a page, after an id, as an export. */
TEST(audit_of_a_tenant_that_is_shut_keeps_what_changed_to_itself)
{
	static const char *const queries[] = { "", "&tenant_id=%s", "&tenant_id=%s&user_id=%s",
		"&tenant_id=%s&agent_id=%s", "&tenant_id=%s&action=agent.update" };
	static const char *const forms[] = { "?per_page=200", "?after=czzzzzzzzzzzzzzzzzzzzzzzz",
		"?format=ndjson" };
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "owner@example.org", &token), *tenant, *agent;
	struct answer r;
	bool whole;

	tenant = fixture_tenant(f, "shut", user);
	r = ask(f, token, "{\"name\":\"Desk\",\"slug\":\"desk\"}", "POST /tenant/%s/agents",
		tenant);
	STATUS(r, 201);
	agent = text_at(&r, "id");
	STATUS(ask(f, token, "{\"description_prompt\":\"xyzzy says the prompt\"}",
		       "PATCH /agents/%s", agent),
		200);
	for (int shut = 0; shut < 2; shut++) {
		if (shut)
			STATUS(ask(f, token, "{\"allow_superadmin_access\":false}",
				       "PATCH /tenant/%s", tenant),
				200);
		for (size_t q = 0; q < sizeof queries / sizeof *queries; q++)
			for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
				const char *more = arena_printf(&f->arena, queries[q], tenant,
					strstr(queries[q], "agent_id") ? agent : user);

				r = fetch(f, f->admin,
					arena_printf(&f->arena, "GET /admin/audit-logs%s%s",
						forms[k], more),
					&whole);
				STATUS(r, 200);
				CHECK(strstr(r.body, "\"agent.update\""));
				if ((strstr(r.body, "xyzzy") == NULL) != shut)
					test_fail(__FILE__, __LINE__, "%s%s: %s", forms[k], more,
						shut ? "shown" : "hidden");
			}
	}
	/* its own people read on, and the lists of tenants and people stay */
	r = ask(f, token, NULL, "GET /tenant/%s/audit-logs", tenant);
	CHECK(strstr(r.body, "xyzzy"));
	r = ask(f, f->admin, NULL, "GET /admin/tenants");
	CHECK(strstr(r.body, tenant));
	fixture_close(f);
}

TEST(audit_export_breaks_off_when_the_store_fails)
{
	struct fixture *f = fixture_open();
	const char *path =
		arena_printf(&f->arena, "GET /tenant/%s/audit-logs?format=ndjson", f->tenant_id);
	struct answer r;
	bool whole;

	fill_many(f, f->tenant_id, 2000);
	r = fetch(f, f->admin, path, &whole);
	CHECK(whole);
	fault_plan.err = ERR_STORE;
	fault_plan.statement_at = 12; /* some pages on */
	r = fetch(f, f->admin, path, &whole);
	fault_plan.statement_at = 0;
	CHECK_INT(r.status, 200);
	CHECK(!whole);
	CHECK(lines_of(r.body) > 0 && lines_of(r.body) < 2000);
	r = fetch(f, f->admin, path, &whole);
	CHECK(whole);
	CHECK_INT(f->app.exports, 0);
	fixture_close(f);
}

/* Bytes that are allocated this moment.  What is resident would tell of the allocator, too. */
static long heap_kb(void)
{
#ifdef __SANITIZE_ADDRESS__
	return (long)(__sanitizer_get_current_allocated_bytes() / 1024);
#else
	return (long)(mallinfo2().uordblks / 1024);
#endif
}

static int dial(struct http_server *s)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;

	to.sin_port = htons((uint16_t)atoi(strrchr(http_server_address(s), ':') + 1));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
	CHECK_INT(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	return fd;
}

/* Reads to the end, slowly for the first part; counts lines. */
static void drain(int fd, int *ret_lines, bool *ret_whole, long *ret_peak_kb)
{
	char bytes[8192], tail[5] = "";
	ssize_t n;

	*ret_lines = 0;
	*ret_peak_kb = 0;
	for (int turn = 0; (n = read(fd, bytes, sizeof bytes)) > 0; turn++) {
		for (ssize_t i = 0; i < n; i++) {
			*ret_lines += bytes[i] == '\n' && tail[4] == '}';
			memmove(tail, tail + 1, 4);
			tail[4] = bytes[i];
		}
		if (turn < 50)
			usleep(2000);
		if (turn % 100 == 0 && heap_kb() > *ret_peak_kb)
			*ret_peak_kb = heap_kb();
	}
	*ret_whole = memcmp(tail, "0\r\n\r\n", 5) == 0;
}

TEST(audit_export_of_many_rows_takes_little_memory)
{
	enum { ROWS = 20000, PER_ROW = 500, LEEWAY_KB = 2048 };
	struct fixture *f = fixture_open();
	struct http_settings settings = loopback_settings(1);
	struct http_handler handler = call_handler(&f->app);
	struct problem p = { 0 };
	const char *request = arena_printf(&f->arena,
		"GET /tenant/%s/audit-logs?format=ndjson HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
		"Authorization: Bearer %s\r\n\r\n",
		f->tenant_id, f->admin);
	struct answer r;
	int fd, lines;
	long before, peak;
	bool whole;

	fixture_sql(f, "delete from audit_logs", NO_ARGS);
	fill_many(f, f->tenant_id, ROWS);
	CHECK_INT(http_server_new(&f->app.server, &settings, &handler, &f->arena, &p), 0);
	CHECK_INT(http_server_start(f->app.server), 0);
	for (int round = 0; round < 3; round++) { /* the first warms what is kept */
		before = heap_kb();
		fd = dial(f->app.server);
		CHECK(write(fd, request, strlen(request)) == (ssize_t)strlen(request));
		drain(fd, &lines, &whole, &peak);
		close(fd);
		CHECK_INT(lines, ROWS);
		CHECK(whole);
		/* All of it would be some ten megabytes. */
		if (round && peak - before > LEEWAY_KB)
			test_fail(__FILE__, __LINE__, "%ld KB more than before", peak - before);
	}
	http_server_stop(f->app.server, 1000);
	http_server_free(f->app.server);
	f->app.server = NULL;
	test_step("through the in-process server");
	r = fetch(f, f->admin,
		arena_printf(&f->arena, "GET /tenant/%s/audit-logs?format=ndjson", f->tenant_id),
		&whole);
	CHECK(whole);
	CHECK_INT(lines_of(r.body), ROWS);
	CHECK_INT(f->app.exports, 0);
	CHECK(r.body_len > (size_t)ROWS * PER_ROW);
	fixture_close(f);
}

/* The meta of the newest row with this verb, whose resource must be this. */
static struct answer newest_meta(struct fixture *f, const char *action, const char *resource_id)
{
	struct answer r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?action=%s&per_page=1",
		f->tenant_id, action);

	test_step("%s", action);
	CHECK_STR(text_at(&r, "items.0.resource_id"), resource_id);
	return r;
}

TEST(audit_rows_say_what_was_taken_and_where)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *user = fixture_user(f, "u@example.org", NULL);
	const char *skill = fixture_created(f, f->admin,
		"{\"name\":\"N\",\"slug\":\"s\",\"description\":\"D\",\"instructions\":\"I\"}",
		"POST /tenant/%s/skills", f->tenant_id);
	struct answer r;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	STATUS(ask(f, f->admin, "{\"role\":\"MANAGER\"}", "PUT /agents/%s/roles/%s", agent, user),
		201);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/roles/%s", agent, user), 204);
	r = newest_meta(f, "agent_role.remove", agent);
	CHECK_STR(text_at(&r, "items.0.meta.from"), "MANAGER");
	CHECK_STR(text_at(&r, "items.0.meta.holder"), user);
	CHECK(json_is_null(at(&r, "items.0.meta.to")));
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/roles/%s", agent, user), 404);

	STATUS(ask(f, f->admin, "x",
		       "PUT /tenant/%s/skills/%s/file?path=a/b%%22c.txt\nContent-Type: text/plain",
		       f->tenant_id, skill),
		201);
	r = newest_meta(f, "skill.put_file", skill);
	CHECK_STR(text_at(&r, "items.0.meta.path"), "a/b\"c.txt");
	CHECK_INT(json_integer_value(at(&r, "items.0.meta.size_bytes")), 1);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/skills/%s/file?path=a/b%%22c.txt",
		       f->tenant_id, skill),
		204);
	r = newest_meta(f, "skill.delete_file", skill);
	CHECK_STR(text_at(&r, "items.0.meta.path"), "a/b\"c.txt");

	STATUS(ask(f, f->admin,
		       arena_printf(&f->arena,
			       "{\"permissions\":[{\"skill_id\":\"%s\",\"action\":\"use\",\"allowed\":"
			       "false}]}",
			       skill),
		       "PUT /agents/%s/skills/permissions", agent),
		200);
	r = newest_meta(f, "agent.skill_permissions", agent);
	CHECK_INT(json_object_size(at(&r, "items.0.meta")), 1);
	CHECK(strstr(
		r.body, arena_printf(&f->arena, "\"%s\":{\"from\":null,\"to\":false}", skill)));
	STATUS(ask(f, f->admin, "{\"permissions\":[]}", "PUT /agents/%s/skills/permissions", agent),
		200);
	r = newest_meta(f, "agent.skill_permissions", agent);
	CHECK(strstr(
		r.body, arena_printf(&f->arena, "\"%s\":{\"from\":false,\"to\":null}", skill)));

	STATUS(ask(f, f->admin, "{\"name\":\"Another\"}", "PATCH /agents/%s", agent), 200);
	r = newest_meta(f, "agent.update", agent);
	CHECK_STR(text_at(&r, "items.0.meta.name.to"), "Another");
	CHECK_INT(json_object_size(at(&r, "items.0.meta")), 1);
	fixture_close(f);
}
