/* fixture.c - see fixture.h. */
#include "fixture.h"

#include <sodium.h>
#include <stdarg.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

#include "serve/registry.h"
#include "api/people/letter_fill.h"
#include "api/tenants/bootstrap.h"
#include "api/erasure/gone.h"
#include "webhooks/hook_deliver.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "broker/broker.h"
#include "bucket/bucket.h"
#include "repos/repo.h"
#include "repos/repo_mark.h"
#include "mailboxes/mail_reading.h"
#include "mailboxes/mail_send_job.h"
#include "mailboxes/mailbox.h"
#include "mailboxes/mailbox_job.h"
#include "store/engine.h"
#include "store/pool.h"
#include "queue/runner.h"
#include "events/hub.h"
#include "sessions/session_file_move.h"
#include "sessions/sessions.h"

enum { REPLY_MAX = 64 << 20, REQUEST_MAX = 32 << 20 };

static const struct http_limits limits = {
	.max_head = 32 * 1024,
	.max_headers = 100,
	.max_body = 8 << 20,
	.max_arena = (size_t)128 << 20,
	.max_connections = 1000,
	.header_ms = 10000,
	.body_ms = 10000,
	.idle_ms = 10000,
	.reply_ms = 10000,
	.deferred_ms = 60000,
	.patient_ms = 60000,
};

/* The fixture's own connection, for one thread at a time: opening one reads the whole schema. */
static struct db *take_connection(struct fixture *f)
{
	struct problem p = { 0 };

	pthread_mutex_lock(&f->db_lock);
	if (!f->db && store_connect(f->app.store, &f->db, &f->arena, &p))
		test_fail(__FILE__, __LINE__, "%s", p.detail);
	return f->db;
}

/* Statements of tests stand on the stack, where the next may stand. */
static void give_connection(struct fixture *f)
{
	db_forget(f->db);
	pthread_mutex_unlock(&f->db_lock);
}

void fixture_sql(struct fixture *f, const char *sql, const struct value *args, size_t count)
{
	struct statement st = { "test", sql, .scan = "a test" };
	struct db *db = take_connection(f);

	if (db_run(db, &st, NULL, args, count))
		test_fail(__FILE__, __LINE__, "%s: %s", sql, db_error(db));
	give_connection(f);
}

int64_t fixture_count(struct fixture *f, const char *sql)
{
	struct statement st = { "test", sql, .scan = "a test" };
	struct db *db = take_connection(f);
	int64_t n = -1;

	if (db_int(db, &st, &n, NO_ARGS))
		test_fail(__FILE__, __LINE__, "%s: %s", sql, db_error(db));
	give_connection(f);
	return n;
}

void fixture_sweep(struct fixture *f)
{
	static const char *const tables[] = { "session_rows", "integration_rows", "thread_rows",
		"conversation_rows", "agent_rows" };
	int64_t left = 1;

	for (int i = 0; left && i < 5000; i++) {
		left = 0;
		gone_submit(&f->app);
		for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
			left += fixture_count(
				f, arena_printf(&f->arena,
					   "select count(*) from %s where gone_at is not null",
					   tables[t]));
		if (left)
			usleep(2000);
	}
	CHECK_INT(left, 0);
}

struct awaited {
	struct work work;
	int (*run)(struct db *db, void *data);
	void *data;
	int err;
	sem_t over;
};

static int awaited_run(struct work *w, struct db *db)
{
	struct awaited *a = (struct awaited *)w;

	return a->run(db, a->data);
}

static void awaited_done(struct work *w, int err)
{
	struct awaited *a = (struct awaited *)w;

	a->err = err;
	sem_post(&a->over);
}

int fixture_work(struct fixture *f, int (*run)(struct db *db, void *data), void *data)
{
	struct awaited a = {
		.work = { .run = awaited_run, .done = awaited_done, .mode = READ_WRITE },
		.run = run,
		.data = data
	};

	int err;

	sem_init(&a.over, 0, 0);
	err = store_submit(f->app.store, &a.work);
	if (!err) {
		sem_wait(&a.over);
		err = a.err;
	}
	sem_destroy(&a.over);
	return err;
}

const char *fixture_login(struct fixture *f, const char *user_id)
{
	char *token = arena_alloc(&f->arena, TOKEN_MAX), hash[65];
	int64_t now = clock_now_us();

	token_new(TOKEN_LOGIN, token);
	credential_hash(token, hash);
	fixture_sql(f,
		"insert into logins (hash, user_id, created_at, expires_at, last_used_at) "
		"values ($1, $2, $3, $4, $3)",
		ARGS(T(hash), T(user_id), N(now), N(now + 3600 * SECOND_US)));
	return token;
}

const char *fixture_user(struct fixture *f, const char *email, const char **ret_token)
{
	struct new_user in = { .email = email };
	struct db *db = take_connection(f);
	const char *id;

	if (user_make(db, &f->arena, &in, &id))
		test_fail(__FILE__, __LINE__, "%s", db_error(db));
	give_connection(f);
	if (ret_token)
		*ret_token = fixture_login(f, id);
	return id;
}

const char *fixture_tenant(struct fixture *f, const char *slug, const char *owner_id)
{
	struct TenantCreate in = { .name = slug, .slug = slug };
	struct db *db = take_connection(f);
	const char *id;

	if (tenant_make(db, &f->arena, &in, owner_id, TENANT_BARE, &id))
		test_fail(__FILE__, __LINE__, "%s", db_error(db));
	give_connection(f);
	return id;
}

void fixture_member(struct fixture *f, const char *tenant_id, const char *user_id, const char *role)
{
	fixture_sql(f,
		"insert into members (tenant_id, user_id, role, created_at, updated_at) "
		"values ($1, $2, $3, $4, $4)",
		ARGS(T(tenant_id), T(user_id), T(role), N(clock_now_us())));
}

static void first_rows(struct fixture *f, enum tenant_start start)
{
	struct new_user admin = {
		.email = "admin@localhost", .name = "Admin", .is_super_admin = true, .proven = true
	};
	struct statement find = { "test", "select id, slug from tenants", .row = &TenantRead_schema,
		.scan = "a test" };
	struct statement who = { "test", "select id as slug, id from users",
		.row = &TenantRead_schema, .scan = "a test" };
	struct TenantRead row;
	struct db *db = take_connection(f);

	if (bootstrap(db, &f->arena, &admin, start) || db_one(db, &f->arena, &find, &row, NO_ARGS))
		test_fail(__FILE__, __LINE__, "%s", db_error(db));
	f->tenant_id = row.id;
	if (db_one(db, &f->arena, &who, &row, NO_ARGS))
		test_fail(__FILE__, __LINE__, "%s", db_error(db));
	f->admin_id = row.id;
	give_connection(f);
	f->admin = fixture_login(f, f->admin_id);
}

static void prepare_queue(struct fixture *f)
{
	f->service.sessions = sessions_new(
		&(struct sessions_settings){ .store = f->app.store, .vault = f->app.vault });
	f->kinds[0] = sessions_job_kind(f->service.sessions);
	f->kinds[1] = hook_deliver_kind(f->service.hook_post, f->app.store, f->app.patterns);
	f->kinds[2] = mailbox_job_kind(&f->app.store);
	f->mail_reader = mail_reader_new(f->app.store);
	f->kinds[3] = mail_reader_job_kind(f->mail_reader);
	f->service.relay = &f->relay;
	f->mail = mail_sender_new(&(struct mail_sender_settings){ .store = f->app.store,
		.vault = f->app.vault,
		.bucket = (struct bucket *const *)&f->service.bucket,
		.relay = &f->service.relay });
	f->kinds[4] = mail_sender_kind(f->mail);
	f->converger = (struct repo_converger){
		.store = &f->app.store, .repos = &f->service.repos, .disk = &f->app.disk
	};
	f->kinds[5] = repo_converge_kind(&f->converger);
	f->service.letters = letter_post_new(&(struct letter_post_settings){ .store = f->app.store,
		.vault = f->app.vault,
		.relay = &f->relay,
		.fill = letter_fill,
		.ctx = &f->app });
	f->service.runner = runner_new(&(struct runner_settings){ .store = f->app.store,
		.kinds = f->kinds,
		.kind_count = FIXTURE_JOB_KINDS,
		.most = 64,
		.lane_most = 16 });
}

void fixture_bucket(struct fixture *f, struct bucket **ret, const struct bucket_settings *settings)
{
	struct problem p = { 0 };
	struct db *db = NULL;

	if (bucket_new(ret, settings, &f->arena, &p) ||
		store_connect(f->app.store, &db, &f->arena, &p) ||
		bucket_claim(*ret, db, BUCKET_ADOPTS, &f->arena, &p))
		test_fail(__FILE__, __LINE__, "%s", p.detail);
	db_close(db);
}

/* Of 1 MiB a tenant. */
static void open_bucket(struct fixture *f)
{
	struct bucket_settings settings = { .tenant_max = 1 << 20 };

	f->bucket = fixture_is_sqlite()
			    ? arena_printf(&f->arena, "%s/bucket", f->folder)
			    : mkdtemp(arena_strdup(&f->arena, "/tmp/lodge-bucket.XXXXXX"));
	settings.where = arena_printf(&f->arena, "dir:%s", f->bucket);
	f->app.disk = pool_new(&(struct pool_settings){ .threads = 2,
		.idle_s = 1,
		.threads_left = 1,
		.waiting = 100,
		.waiting_each = 100 / POOL_SHARE });
	fixture_bucket(f, &f->service.bucket, &settings);
}

/* Of 8 MiB each. */
static void open_repos(struct fixture *f)
{
	struct problem p = { 0 };
	struct db *db = NULL;

	f->repos = fixture_is_sqlite()
			   ? arena_printf(&f->arena, "%s/repositories", f->folder)
			   : mkdtemp(arena_strdup(&f->arena, "/tmp/lodge-repos.XXXXXX"));
	if (repos_new(&f->service.repos,
		    &(struct repos_settings){
			    .folder = f->repos, .bytes_max = 8 << 20, .makes = true },
		    &f->arena, &p) ||
		store_connect(f->app.store, &db, &f->arena, &p) ||
		repo_claim(f->service.repos, db, REPOS_ADOPT, &f->arena, &p))
		test_fail(__FILE__, __LINE__, "%s", p.detail);
	db_close(db);
}

static struct fixture *open_with(enum tenant_start start)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct store_settings settings = { .workers = 2, .queue_max = 10000 };
	struct http_handler handler;
	struct vault_keys keys = { 0 };
	struct problem p = { 0 };

	f->app.settings = (struct app_settings){ .public_url = "http://lodge.test",
		.house_memory = (uint64_t)1 << 30,
		.session_lifetime_us = 86400 * SECOND_US,
		.session_idle_us = 3600 * SECOND_US };
	settings.where = f->where = fixture_place_migrated(&f->arena, &f->folder);
	pthread_mutex_init(&f->db_lock, NULL);
	if (api_setup(&f->service, &f->arena, &p) ||
		store_open(&f->app.store, &settings, STORE_SERVE, &f->arena, &p)) {
		test_fail(__FILE__, __LINE__, "%s", p.detail);
		exit(2);
	}
	random_bytes(f->master_key, sizeof f->master_key);
	keys.count = 1;
	memcpy(keys.key[0], f->master_key, VAULT_KEY_LEN);
	chain_first_key(f->master_key, f->app.chain_key);
	f->app.vault = vault_new(&keys, NULL);
	prepare_queue(f);
	f->app.hub = hub_new(f->app.store);
	if (store_start(f->app.store) || hub_start(f->app.hub)) {
		test_fail(__FILE__, __LINE__, "the store does not start");
		exit(2);
	}
	f->app.slow = pool_new_shared(1, 100);
	f->app.reading = pool_new_shared(1, 100);
	f->app.imports = pool_new_shared(1, 100);
	f->app.programs = pool_new_shared(2, 8);
	f->app.remotes = pool_new_shared(1, 8);
	open_bucket(f);
	open_repos(f);
	f->service.broker = broker_new(&(struct broker_settings){ .store = f->app.store,
		.vault = f->app.vault,
		.slow = f->app.slow,
		.held = f->app.held,
		.accounting = true,
		.allow_private_addresses = true });
	first_rows(f, start);
	f->tools = tool_pool_new(
		&(struct tool_pool_settings){ .vault = f->app.vault, .egress = EGRESS_ANY });
	f->app.tools = tool_pool_threads(f->tools);
	sessions_join(f->service.sessions, f->service.broker, f->tools);
	sessions_keep_files(f->service.sessions, f->service.bucket, f->app.disk);
	f->service.mover = file_mover_new(f->service.bucket, f->app.store, f->app.disk);
	mail_reader_join(f->mail_reader, f->service.bucket, f->service.helper, f->app.disk);
	if (runner_start(f->service.runner))
		test_fail(__FILE__, __LINE__, "the queue does not start");
	handler = call_handler(&f->app);
	f->inproc = http_inproc_new(&limits, &handler);
	return f;
}

struct fixture *fixture_open(void)
{
	return open_with(TENANT_BARE);
}

struct fixture *fixture_open_seeded(void)
{
	return open_with(TENANT_SEEDED);
}

/* What tests choose for the process is the next one's no more. */
static struct mailbox_policy usual_policy;

__attribute__((constructor)) static void keep_policy(void)
{
	usual_policy = *mailbox_policy();
}

void fixture_close(struct fixture *f)
{
	hub_stop(f->app.hub); /* streams end, and the in-process server need not wait for them */
	http_inproc_free(f->inproc);
	runner_stop(f->service.runner, 10000);
	mail_reader_stop(f->mail_reader);
	broker_stop(f->service.broker, 10000);
	mail_sender_free(f->mail);
	tool_pool_free(f->tools);
	sessions_stop(f->service.sessions);
	letter_post_stop(f->service.letters);
	pool_free(f->app.reading);
	pool_free(f->app.imports);
	pool_free(f->app.programs);
	pool_free(f->app.remotes);
	bucket_stop(f->service.bucket);
	repos_stop(f->service.repos);
	pool_free(f->app.disk);
	pool_free(f->app.slow);
	store_stop(f->app.store);
	mailbox_policy_set(&usual_policy); /* nobody reads it any more */
	hub_free(f->app.hub);
	runner_free(f->service.runner);
	letter_post_free(f->service.letters);
	sessions_free(f->service.sessions);
	mail_reader_free(f->mail_reader);
	broker_free(f->service.broker);
	if (f->db)
		db_close(f->db);
	store_close(f->app.store);
	file_mover_free(f->service.mover);
	bucket_free(f->service.bucket);
	repos_free(f->service.repos);
	if (!fixture_is_sqlite()) { /* or they go with the store's */
		fixture_remove_folder(f->bucket);
		fixture_remove_folder(f->repos);
	}
	api_teardown(&f->service);
	vault_free(f->app.vault);
	fixture_drop(f->folder);
	arena_free(&f->arena);
	free(f);
}

static void release(void *json)
{
	json_decref(json);
}

/* data:TYPE;base64,TEXT as a body of bytes. */
static void compose_bytes(struct buf *out, const char *body)
{
	const char *type = body + strlen("data:"), *text = strstr(body, ";base64,");
	size_t len = strlen(text + 8), got = 0;
	unsigned char *bytes = malloc(len + 1);

	if (sodium_base642bin(
		    bytes, len, text + 8, len, NULL, &got, NULL, sodium_base64_VARIANT_ORIGINAL))
		test_fail(__FILE__, __LINE__, "not base64");
	buf_printf(out, "Content-Type: %.*s\r\nContent-Length: %zu\r\n\r\n", (int)(text - type),
		type, got);
	buf_put(out, bytes, got);
	free(bytes);
}

/* The request's text: its first line, Host, the caller's credential, further lines, the body. */
static void compose(struct buf *out, const char *token, const void *body, size_t len, char *request)
{
	char *line = strchr(request, '\n');

	if (line)
		*line++ = '\0';
	buf_printf(out, "%s HTTP/1.1\r\nHost: lodge.test\r\n", request);
	if (token)
		buf_printf(out, "Authorization: Bearer %s\r\n", token);
	if (line)
		buf_printf(out, "%s\r\n", line);
	if (body && strncmp(body, "data:", 5) == 0) {
		compose_bytes(out, body);
		return;
	}
	if (body && !(line && strcasestr(line, "content-type:")))
		buf_puts(out, len > 2 && strncmp(body, "--b", 3) == 0
				      ? "Content-Type: multipart/form-data; boundary=b\r\n"
				      : "Content-Type: application/json\r\n");
	if (body)
		buf_printf(out, "Content-Length: %zu\r\n", len);
	buf_lit(out, "\r\n");
	if (body)
		buf_put(out, body, len);
}

/* What came in chunks becomes one text; its length. */
static size_t join_chunks(char *body)
{
	char *out = body, *at = body;

	while (*at) {
		size_t n = strtoul(at, &at, 16);

		at += 2;
		memmove(out, at, n);
		out += n;
		at += n + 2;
	}
	*out = '\0';
	return (size_t)(out - body);
}

/* Whatever is JSON ends with a line feed, which the tests need not see. */
static void end_line(struct answer *r)
{
	bool json = strstr(r->head, "Content-Type: application/json\r\n") ||
		    strstr(r->head, "Content-Type: application/problem+json\r\n");

	if (!json || !r->body_len || strstr(r->head, "Content-Encoding:"))
		return;
	if (r->body[r->body_len - 1] != '\n')
		test_fail(__FILE__, __LINE__, "no line feed ends %.200s", r->body);
	else
		((char *)r->body)[--r->body_len] = '\0';
}

static struct answer read_answer(struct fixture *f, struct buf *in)
{
	struct answer r = { 0 };
	char *text = arena_strndup(&f->arena, in->at, in->len), *end = strstr(text, "\r\n\r\n");

	if (!end || strncmp(text, "HTTP/1.1 ", 9) != 0) {
		test_fail(__FILE__, __LINE__, "not a reply: %.200s", text);
		return (struct answer){ .head = "", .body = "" };
	}
	end[2] = '\0';
	r.status = atoi(text + 9);
	r.head = text;
	r.body = end + 4;
	r.body_len = in->len - (size_t)(r.body - text);
	if (strstr(r.head, "Transfer-Encoding: chunked\r\n") &&
		!strstr(r.head, "Content-Type: text/event-stream\r\n"))
		r.body_len = join_chunks(end + 4);
	end_line(&r);
	r.json = json_loadb(r.body, r.body_len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
	if (r.json)
		arena_defer(&f->arena, release, r.json);
	return r;
}

static enum method method_of(const char *request)
{
	for (int m = 0; m < METHOD_COUNT; m++)
		if (strncmp(request, method_name((enum method)m),
			    strlen(method_name((enum method)m))) == 0)
			return (enum method)m;
	return METHOD_OTHER;
}

static struct answer send_and_read(
	struct fixture *f, const char *token, const void *body, size_t len, char *text)
{
	struct buf out, in;
	struct answer r;
	struct route_match match;
	const char *path;

	buf_init(&out, REQUEST_MAX);
	buf_init(&in, REPLY_MAX);
	compose(&out, token, body, len, text);
	http_inproc_send(f->inproc, out.at, out.len, &in);
	r = read_answer(f, &in);
	path = strchr(text, ' ') + 1;
	router_find(f->app.router, &f->arena, method_of(text), path, strcspn(path, "? "), &match);
	/* text may have been cut at its first line by now; what was sent was not */
	if (match.versioned && memmem(out.at, out.len, "\r\n" ANTHROPIC_HEADER ":",
				       strlen("\r\n" ANTHROPIC_HEADER ":")))
		match.route = match.versioned;
	if (match.route && match.route->method == method_of(text)) {
		conform(match.route, r.status, r.json);
		published(f, match.route, &r);
	}
	buf_free(&out);
	buf_free(&in);
	return r;
}

struct answer ask(struct fixture *f, const char *token, const char *body, const char *request, ...)
{
	char *text;
	va_list ap;

	va_start(ap, request);
	text = arena_vprintf(&f->arena, request, ap);
	va_end(ap);
	return send_and_read(f, token, body, body ? strlen(body) : 0, text);
}

struct answer ask_bytes(struct fixture *f, const char *token, const void *body, size_t len,
	const char *request, ...)
{
	char *text;
	va_list ap;

	va_start(ap, request);
	text = arena_vprintf(&f->arena, request, ap);
	va_end(ap);
	return send_and_read(f, token, body, len, text);
}

char *answer_unchunked(struct fixture *f, const struct answer *r)
{
	char *out = arena_alloc(&f->arena, r->body_len + 1), *to = out;
	const char *p = r->body, *end = r->body + r->body_len;

	while (p < end) {
		char *line;
		size_t n = strtoul(p, &line, 16);

		if (!n || line + 2 + n > end)
			break;
		memcpy(to, line + 2, n);
		to += n;
		p = line + 2 + n + 2;
	}
	return out;
}

json_t *at(const struct answer *r, const char *path)
{
	json_t *v = r->json;
	char key[128];

	while (v && *path) {
		size_t len = strcspn(path, ".");

		snprintf(key, sizeof key, "%.*s", (int)len, path);
		v = json_is_array(v) ? json_array_get(v, (size_t)atoi(key))
				     : json_object_get(v, key);
		path += len + (path[len] == '.');
	}
	return v;
}

const char *text_at(const struct answer *r, const char *path)
{
	return json_string_value(at(r, path));
}

const char *header_of(struct fixture *f, const struct answer *r, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = strstr(r->head, "\r\n"); p && p[2]; p = strstr(p + 2, "\r\n"))
		if (strncasecmp(p + 2, name, len) == 0 && p[2 + len] == ':')
			return arena_strndup(&f->arena, p + 4 + len, strcspn(p + 4 + len, "\r"));
	return NULL;
}

bool refuses(const struct answer *r, const char *field, const char *code)
{
	size_t i;
	json_t *e;

	json_array_foreach(at(r, "errors"), i,
		e) if (strcmp(json_string_value(json_object_get(e, "field")), field) == 0 &&
		       strcmp(json_string_value(json_object_get(e, "code")), code) ==
			       0) return r->status == 422;
	return false;
}
