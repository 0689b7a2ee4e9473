/* rows.h - what the programs here share: a store to write into, ids, statements of the same rows
 * that the service writes. */
#pragma once
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "texts.h"

enum { ID_LEN = 25, TIME_DIGITS = 11 };

/* Without its place among its tenant's, which only SQLite has. */
#define AGENT_NAMES                                                                             \
	"tenant_id, id, name, slug, kind, resource_class, code_ref, image_ref, "                \
	"repo_url, is_active, is_admin_only, is_seed, hidden, default_role_enabled, "           \
	"can_author_skills, editor_enabled, external_mail_enabled, meeting_managed, "           \
	"environment_mode, skill_visibility_scope, iteration_warn_threshold, hourly_limit_pd, " \
	"voice, avatar_sha256, created_by_id, created_by_agent_id, created_at, updated_at, "    \
	"name_folded, ssh_public_key, description, initial_greeting, description_prompt, "      \
	"bootstrap_instructions"
#define AGENT_VALUES                                                                               \
	"?1, ?2, ?3, ?4, 'user', 'small', 'main', null, null, 1, "                                 \
	"0, 0, 0, 1, 0, 0, 1, 0, 'shared', 'private_only', null, null, null, null, ?5, null, ?6, " \
	"?6, ?7, null, ?8, ?9, ?10, null"
#define INSERT_AGENT                                                                               \
	"insert into agent_rows (place, " AGENT_NAMES ") values ("                                 \
	"(select max(t.place << 32, coalesce((select a.place + 1 "                                 \
	"from agents a where a.place < ((t.place + 1) << 32) order by a.place desc limit 1), 0)) " \
	"from tenants t where t.id = ?1), " AGENT_VALUES ")"
#define INSERT_DIRECTORY "insert into directory (id, tenant_id) values (?1, ?2)"
#define INSERT_ROLE                                                                             \
	"insert into agent_roles (tenant_id, agent_id, user_id, role, created_at, updated_at) " \
	"values (?1, ?2, ?3, 'OWNER', ?4, ?4)"
#define INSERT_AUDIT                                                                              \
	"insert into audit_logs (id, tenant_id, user_id, agent_id, action, resource_type, "       \
	"resource_id, ip, user_agent, meta, created_at) values (?1, ?2, ?3, ?4, 'agent.create', " \
	"'agent', ?4, '127.0.0.1', null, '{}', ?5)"

#define INSERT_THING                                                                           \
	"insert into search_things (tenant_id, type, id, level, label, detail, words) values " \
	"(?1, ?2, ?3, 0, ?4, ?5, ?6)"
#define INSERT_WORD                                                                       \
	"insert into search_words (tenant_id, visibility, type, score, tail, id) values " \
	"(?1, 'open', ?2, ?3, ?4, ?5)"

struct id {
	char text[ID_LEN + 1];
};

static inline int64_t clock_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* xorshift64*: good enough to look like the service's ids, and too cheap to be measured. */
static inline uint64_t noise(void)
{
	static uint64_t x = 0x9e3779b97f4a7c15u;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	return x * 0x2545f4914f6cdd1du;
}

/* c, eleven digits of time, thirteen of chance. */
static inline struct id id_at(int64_t us)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	struct id id = { "c" };
	uint64_t n = 0;

	for (int i = TIME_DIGITS; i > 0; i--, us /= 36)
		id.text[i] = digits[us % 36];
	for (int i = 1 + TIME_DIGITS; i < ID_LEN; i++, n /= 36)
		id.text[i] = digits[(n = n < 36 ? noise() : n) % 36];
	return id;
}

static inline void check(sqlite3 *db, int rc, int wanted, const char *what)
{
	if (rc == wanted)
		return;
	fprintf(stderr, "%s: %s\n", what, db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
	exit(1);
}

static inline sqlite3 *open_store(const char *path, const char *pragmas)
{
	sqlite3 *db = NULL;

	check(db, sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL),
		SQLITE_OK, path);
	check(db, sqlite3_exec(db, pragmas, NULL, NULL, NULL), SQLITE_OK, pragmas);
	return db;
}

static inline sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *st;

	check(db, sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st, NULL), SQLITE_OK,
		sql);
	return st;
}

static inline void bind_text(sqlite3_stmt *st, int at, const char *text)
{
	sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
}

static inline void run(sqlite3_stmt *st)
{
	check(sqlite3_db_handle(st), sqlite3_step(st), SQLITE_DONE, sqlite3_sql(st));
	sqlite3_reset(st);
}

/* The index of words of one thing: a row for it, and one for each of its words. */
struct index_rows {
	sqlite3_stmt *thing, *word;
};

static inline struct index_rows index_rows_prepare(sqlite3 *db)
{
	return (struct index_rows){ prepare(db, INSERT_THING), prepare(db, INSERT_WORD) };
}

static inline void index_rows_insert(const struct index_rows *r, const char *tenant,
	const char *type, const char *id, const char *label, const char *detail, const char *words)
{
	size_t len = strlen(label);
	int score = len <= 16 ? 0 : len <= 32 ? 1 : 2;

	bind_text(r->thing, 1, tenant);
	bind_text(r->thing, 2, type);
	bind_text(r->thing, 3, id);
	bind_text(r->thing, 4, label);
	bind_text(r->thing, 5, detail);
	bind_text(r->thing, 6, words);
	run(r->thing);
	bind_text(r->word, 1, tenant);
	bind_text(r->word, 2, type);
	bind_text(r->word, 5, id);
	for (int place = 0;; place++) {
		sqlite3_bind_int(r->word, 3, score + 3 * (place < 2 ? place : 2));
		bind_text(r->word, 4, words);
		run(r->word);
		words = strchr(words, ' ');
		if (!words++)
			break;
	}
}

static inline void index_rows_free(const struct index_rows *r)
{
	sqlite3_finalize(r->thing);
	sqlite3_finalize(r->word);
}

/* The rows of one agent, but for the record in the audit log. */
struct agent_rows {
	sqlite3_stmt *agent, *directory, *role;
	struct index_rows index;
};

static inline struct agent_rows agent_rows_prepare(sqlite3 *db)
{
	return (struct agent_rows){ prepare(db, INSERT_AGENT), prepare(db, INSERT_DIRECTORY),
		prepare(db, INSERT_ROLE), index_rows_prepare(db) };
}

static inline void agent_rows_insert(const struct agent_rows *r, const char *tenant,
	const char *user, const struct id *id, int64_t us, const char *name, const char *folded,
	const char *slug, const char *words)
{
	bind_text(r->agent, 1, tenant);
	bind_text(r->agent, 2, id->text);
	bind_text(r->agent, 3, name);
	bind_text(r->agent, 4, slug);
	bind_text(r->agent, 5, user);
	sqlite3_bind_int64(r->agent, 6, us);
	bind_text(r->agent, 7, folded);
	bind_text(r->agent, 8, DESCRIPTION);
	bind_text(r->agent, 9, GREETING);
	bind_text(r->agent, 10, PROMPT);
	run(r->agent);
	bind_text(r->directory, 1, id->text);
	bind_text(r->directory, 2, tenant);
	run(r->directory);
	bind_text(r->role, 1, tenant);
	bind_text(r->role, 2, id->text);
	bind_text(r->role, 3, user);
	sqlite3_bind_int64(r->role, 4, us);
	run(r->role);
	index_rows_insert(&r->index, tenant, "agent", id->text, name, slug, words);
}

static inline void agent_rows_free(const struct agent_rows *r)
{
	sqlite3_finalize(r->agent);
	sqlite3_finalize(r->directory);
	sqlite3_finalize(r->role);
	index_rows_free(&r->index);
}
