/* fixture.h - a whole server without sockets, on a fresh store of the engine under test.
 *
 * LODGE_TEST_STORE names the engine: `sqlite` (a file in a folder of its own)
 * or a PostgreSQL address (a schema of its own).  Every reply that passes
 * through ask() is held against the schema its route declares. */
#pragma once
#include <jansson.h>
#include <pthread.h>

#include "api/service.h"
#include "outside/smtp.h"
#include "queue/runner.h"
#include "repos/converge.h"
#include "t.h"

enum { FIXTURE_JOB_KINDS = 6 };

struct fixture {
	union {
		struct app app;
		struct service service; /* which begins with it */
	};
	struct http_inproc *inproc;
	struct arena arena;
	const char *where;     /* of the store, as in the setting */
	const char *bucket;    /* the folder of it */
	const char *repos;     /* of repositories */
	const char *folder;    /* or its schema: removed at the end */
	const char *tenant_id; /* the tenant `demo` */
	const char *admin;     /* a login token: super administrator, and OWNER of demo */
	const char *admin_id;
	uint8_t master_key[32];
	struct tool_pool *tools;
	struct mail_reader *mail_reader;
	struct mail_sender *mail;
	struct smtp_relay relay; /* a test that sends mail or letters fills in its url */
	struct repo_converger converger;
	struct job_kind kinds[FIXTURE_JOB_KINDS];
	struct db *db; /* of fixture_sql() and the like */
	pthread_mutex_t db_lock;
};

struct fixture *fixture_open(void);
/* With the tenant `demo` as the service makes it; the other has nothing in it. */
struct fixture *fixture_open_seeded(void);
void fixture_close(struct fixture *f);
bool fixture_is_sqlite(void);
/* fixture_place.c: a store alone, not migrated; fixture_drop() removes it. */
const char *fixture_place(struct arena *a, const char **ret_folder);
/* One that has its tables. */
const char *fixture_place_migrated(struct arena *a, const char **ret_folder);
void fixture_drop(const char *folder);
void fixture_remove_folder(const char *folder);
/* Another place of its store. */
struct bucket_settings;
void fixture_bucket(struct fixture *f, struct bucket **ret, const struct bucket_settings *settings);
/* What LODGE_TEST_STORE says: "sqlite" or an address of PostgreSQL. */
const char *fixture_engine(void);
/* fixture_schemas.c: a new schema; one that was used and is as new again, or NULL; one that has just got its tables
 * and is to be used again; the end of its use. */
const char *fixture_schema(struct arena *a);
const char *fixture_schema_spare(struct arena *a);
void fixture_schema_keep(struct arena *a, const char *name);
void fixture_schema_drop(const char *name);

/* Makes people and tenants straight in the store. */
const char *fixture_user(struct fixture *f, const char *email, const char **ret_token);
const char *fixture_tenant(struct fixture *f, const char *slug, const char *owner_id);
/* A login of somebody's, for an hour. */
const char *fixture_login(struct fixture *f, const char *user_id);
void fixture_member(
	struct fixture *f, const char *tenant_id, const char *user_id, const char *role);
/* Runs SQL with arguments. */
void fixture_sql(struct fixture *f, const char *sql, const struct value *args, size_t count);
int64_t fixture_count(struct fixture *f, const char *sql);
/* Has the rows of what was deleted go, and waits until they have. */
void fixture_sweep(struct fixture *f);

/* Runs in a transaction where the service's own work runs, and waits for its end; from any thread. */
int fixture_work(struct fixture *f, int (*run)(struct db *db, void *data), void *data);

struct answer {
	int status;
	const char *head, *body;
	size_t body_len;
	json_t *json; /* freed with the fixture */
};

/* ask(f, token, "{\"name\":...}", "POST /tenant/%s/agents", id); a line after the first is a header.
 * A body of NULL sends none; one that begins with --b is a form of the boundary b; one that begins with data:TYPE;base64, is sent as those bytes and type. */
struct answer ask(struct fixture *f, const char *token, const char *body, const char *request, ...)
	__attribute__((format(printf, 4, 5)));
/* The same with a body that may hold any bytes. */
struct answer ask_bytes(struct fixture *f, const char *token, const void *body, size_t len,
	const char *request, ...) __attribute__((format(printf, 5, 6)));
/* The value at a path such as "items.0.name"; NULL if it is not there. */
json_t *at(const struct answer *r, const char *path);
const char *text_at(const struct answer *r, const char *path);
/* The value of a header of the reply, or NULL. */
const char *header_of(struct fixture *f, const struct answer *r, const char *name);
/* The text of a stream, which ask() leaves in its chunks. */
char *answer_unchunked(struct fixture *f, const struct answer *r);
/* True if the problem lists this field with this code. */
bool refuses(const struct answer *r, const char *field, const char *code);

/* fixture_make.c: what most tests begin with, made by asking as a client does. */
/* Posts, expects 201, and gives the id of what was made. */
const char *fixture_created(struct fixture *f, const char *token, const char *body,
	const char *request, ...) __attribute__((format(printf, 4, 5)));
/* An agent called A: of demo and by its OWNER, or of that tenant and by whose token it is. */
const char *fixture_agent(struct fixture *f, const char *slug);
const char *fixture_agent_of(
	struct fixture *f, const char *token, const char *tenant_id, const char *slug);
/* A tool of demo. */
const char *fixture_tool(struct fixture *f, const char *body);
const char *fixture_session(
	struct fixture *f, const char *token, const char *agent_id, const char *body);
struct answer fixture_sign_in(struct fixture *f, const char *email, const char *password);
/* An id that nothing has. */
const char *fixture_id(struct fixture *f);

/* conform.c: holds a reply against the route's schema, and counts what was exercised. */
void conform(const struct route *route, int status, json_t *body);
/* published.c: holds a reply against what the document says of its operation. */
void published(struct fixture *f, const struct route *route, const struct answer *r);
/* Fails the run for each declared operation that no test brought to success. */
int conform_missing(void);

#define STATUS(r, want)                                                                           \
	do {                                                                                      \
		struct answer r_ = (r);                                                           \
		if (r_.status != (want))                                                          \
			test_fail(__FILE__, __LINE__, "status %d, not %d: %s", r_.status, (want), \
				r_.body);                                                         \
	} while (0)
