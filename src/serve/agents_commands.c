/* agents_commands.c - `lodge agents import` and `lodge agents export`: agents between files and the store, also while the
 * service runs.  Whoever runs the program has every right in it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "access/audit.h"
#include "api/agents/agent_export.h"
#include "api/agents/agent_import.h"
#include "api/service.h"
#include "api/skills/skill_store.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "helper/helper.h"
#include "serve/manual.h"
#include "serve/master_key.h"
#include "serve/open.h"
#include "serve/progress.h"
#include "serve/registry.h"

enum { AGENT_TRIES = 5, COMPLAINT_MAX = 1 << 20 };

/* The words of a command, without its flags. */
struct agent_words {
	const char *word[3];
	bool dry_run, sessions, memories;
};

static struct agent_words agent_words_of(const struct settings *s)
{
	struct agent_words w = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < s->argument_count; i++) {
		const char *word = s->arguments[i];

		if (strcmp(word, "--dry-run") == 0)
			w.dry_run = true;
		else if (strcmp(word, "--sessions") == 0)
			w.sessions = true;
		else if (strcmp(word, "--memories") == 0)
			w.memories = true;
		else if (n < 3)
			w.word[n++] = word;
	}
	return w;
}

/* Every field that is wrong, in the one line a command has. */
static int complain_agent(struct problem *p, struct arena *a)
{
	struct buf all;

	buf_init(&all, COMPLAINT_MAX);
	for (const struct field_error *e = p->first; e; e = e->next)
		buf_printf(&all, "%s%s %s", all.len ? "; " : "the file is refused: ", e->field,
			e->message);
	if (all.len)
		p->detail = arena_take(a, &all);
	return complain(p);
}

static int agent_tenant(
	struct db *db, struct arena *a, const char *slug, const char **ret, struct problem *p)
{
	int err = skill_tenant_by_slug(db, a, slug, ret);

	return err == ERR_NOT_FOUND
		       ? problem_set(p, a, err, "there is no tenant with the slug %s", slug)
		       : err;
}

static int read_agent_file(struct buf *out, const char *path, struct arena *a, struct problem *p)
{
	FILE *f = fopen(path, "rb");
	char part[64 * 1024];
	size_t n;
	bool failed;

	if (!f)
		return problem_set(
			p, a, ERR_NOT_FOUND, "cannot read %s: %s", path, strerror(errno));
	while ((n = fread(part, 1, sizeof part, f)) > 0 && !out->overflow)
		buf_put(out, part, n);
	failed = ferror(f);
	fclose(f);
	if (failed)
		return problem_set(p, a, ERR_NOT_FOUND, "cannot read %s", path);
	if (out->overflow)
		return problem_set(p, a, ERR_TOO_LARGE, "%s is larger than %d MiB", path,
			BUNDLE_PACKED_MAX >> 20);
	return 0;
}

/* ---- import ---- */

static int note_skill(void *ctx, struct audit_entry e)
{
	const struct agent_importer *who = ctx;

	return audit_write(who->db, who->a, &e);
}

static int note_agent_import(
	const struct agent_importer *who, const struct AgentImportResult *r, const char *sha256)
{
	return audit_write(who->db, who->a,
		&(struct audit_entry){ .action = "agent.import",
			.tenant_id = who->tenant_id,
			.agent_id = r->agent_id,
			.resource_id = r->agent_id,
			.meta = arena_printf(who->a,
				"{\"sha256\":\"%s\",\"reused\":%s,\"by\":\"command\"}", sha256,
				r->idempotent_reuse ? "true" : "false") });
}

static int import_once(struct agent_importer *who, const struct agent_words *w,
	const struct agent_import *what, struct AgentImportResult *ret)
{
	int err = agent_tenant(who->db, who->a, w->word[0], &who->tenant_id, who->p);

	if (!err)
		err = agent_import_run(who, what, ret);
	return err || w->dry_run ? err : note_agent_import(who, ret, what->sha256);
}

static int import_in_store(struct store *store, const struct agent_words *w,
	const struct agent_import *what, struct AgentImportResult *ret, struct arena *a,
	struct problem *p)
{
	struct progress progress = progress_begin();
	struct agent_importer who = { .a = a,
		.agent = ~(permissions)0,
		.tenant = ~(permissions)0,
		.origin = "api",
		.dry = w->dry_run,
		.now = clock_now_us(),
		.p = p,
		.note = note_skill,
		.note_ctx = &who,
		.told = progress_tell,
		.told_ctx = &progress };
	int err = store_connect(store, &who.db, a, p);

	if (err)
		return err;
	for (int i = 0; i < AGENT_TRIES; i++) {
		err = db_begin(who.db, who.dry ? READ_ONLY : READ_WRITE);
		if (!err)
			err = import_once(&who, w, what, ret);
		if (err)
			db_rollback(who.db);
		else
			err = db_commit(who.db);
		if (err != ERR_RETRY)
			break;
	}
	progress_end(&progress);
	if (err)
		problem_set(p, a, err, "the store: %s", db_error(who.db));
	db_close(who.db);
	return err;
}

/* A file may say anything, also what would steer a terminal, or look like a line of ours. */
static void print_text(struct arena *a, const char *text)
{
	char *line = arena_strdup(a, text ? text : "");

	for (char *p = line; *p; p++)
		if (*p == '\n')
			*p = '?';
	print_plain(stdout, line);
}

static void print_line(struct arena *a, const char *before, const char *text)
{
	fputs(before, stdout);
	print_text(a, text);
	putchar('\n');
}

static void print_names(struct arena *a, const char *what, const struct list *names)
{
	const char *const *name = names->at;

	if (names->count)
		printf("%s:", what);
	for (size_t i = 0; i < names->count; i++) {
		fputs(i ? ", " : " ", stdout);
		print_text(a, name[i]);
	}
	if (names->count)
		printf("\n");
}

static void print_result(struct arena *a, const struct AgentImportResult *r, bool dry_run)
{
	const char *const *warning = r->warnings.at;

	if (r->idempotent_reuse) {
		printf("This file was imported before: it is the agent %s (%s).\n", r->agent_slug,
			r->agent_id);
		return;
	}
	printf("%s %s from ", dry_run ? "Would import" : "Imported", r->agent_slug);
	print_text(a, r->source_platform);
	printf(": %lld skills, %lld memories, %lld sessions with %lld messages.\n",
		(long long)r->skills_imported, (long long)r->memories_imported,
		(long long)r->sessions_imported, (long long)r->messages_imported);
	if (r->skills_failed || r->memories_failed)
		printf("Not taken over: %lld skills, %lld memories.\n", (long long)r->skills_failed,
			(long long)r->memories_failed);
	if (r->model_warning)
		print_line(a, "Models: ", r->model_warning);
	print_names(a, "Tools", &r->tools_attached);
	print_names(a, "Tools that are not to be had here", &r->tools_unmatched);
	for (size_t i = 0; i < r->warnings.count; i++)
		print_line(a, "- ", warning[i]);
}

int command_agents_import(const struct settings *s, struct arena *a)
{
	const struct agent_words w = agent_words_of(s);
	struct helper *helper = helper_new(NULL);
	struct service service = { 0 };
	struct AgentImportResult result;
	struct agent_import what;
	struct store *store = NULL;
	struct problem p = { 0 };
	struct buf file;
	int err;

	buf_init(&file, BUNDLE_PACKED_MAX);
	err = read_agent_file(&file, w.word[1], a, &p);
	if (!err)
		err = api_setup(&service, a, &p);
	if (!err)
		err = agent_import_read(a, service.app.patterns, helper,
			&(struct bundle_file){ w.word[1], file.at, file.len }, w.word[2], &what,
			&p);
	if (!err)
		err = open_current(&store, s, STORE_BESIDE, a, &p);
	if (!err)
		err = import_in_store(store, &w, &what, &result, a, &p);
	store_close(store);
	api_teardown(&service);
	helper_free(helper);
	buf_free(&file);
	if (err)
		return complain_agent(&p, a);
	print_result(a, &result, w.dry_run);
	return 0;
}

/* ---- export ---- */

static int agent_by_slug(struct agent_exporter *who, const struct agent_words *w)
{
	int err = agent_tenant(who->db, who->a, w->word[0], &who->tenant_id, who->p);

	if (!err)
		err = agent_export_find(
			who->db, who->a, who->tenant_id, w->word[1], &who->agent_id);
	return err == ERR_NOT_FOUND
		       ? problem_set(who->p, who->a, err,
				 "the tenant has no agent with the slug %s", w->word[1])
		       : err;
}

static int export_in_store(const struct settings *s, struct store *store,
	const struct agent_words *w, struct buf *out, struct arena *a, struct problem *p)
{
	struct progress progress = progress_begin();
	struct agent_exporter who = { .a = a,
		.told = progress_tell,
		.told_ctx = &progress,
		.sees_private_skills = true,
		.all_sessions = true,
		.sessions = w->sessions,
		.memories = w->memories,
		.may = ~(permissions)0,
		.p = p };
	struct vault_keys keys = { 0 };
	struct agent_bundle bundle;
	int err = store_connect(store, &who.db, a, p);

	if (err)
		return err;
	err = master_key_load(&keys, s->master_key_file, who.db, a, p);
	if (!err)
		who.vault = vault_new(&keys, NULL);
	wipe(&keys, sizeof keys);
	if (!err)
		err = db_begin(who.db, READ_ONLY);
	if (!err) {
		err = agent_by_slug(&who, w);
		if (!err)
			err = agent_export_read(&who, &bundle);
		progress_end(&progress);
		if (err)
			problem_set(p, a, err, "the store: %s", db_error(who.db));
		db_rollback(who.db);
	}
	if (who.vault)
		vault_free(who.vault);
	db_close(who.db);
	return err ? err : bundle_write(out, a, &bundle, p);
}

/* A file that was not there, for its owner alone. */
static int write_agent_file(
	const char *path, const struct buf *out, struct arena *a, struct problem *p)
{
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
	bool good = f && fwrite(out->at, 1, out->len, f) == out->len && fflush(f) == 0 &&
		    fsync(fd) == 0;
	int why = errno;

	if (f)
		good = fclose(f) == 0 && good;
	return good ? 0 : problem_set(p, a, ERR_STORE, "cannot write %s: %s", path, strerror(why));
}

int command_agents_export(const struct settings *s, struct arena *a)
{
	const struct agent_words w = agent_words_of(s);
	struct store *store = NULL;
	struct problem p = { 0 };
	struct buf out;
	int err;

	buf_init(&out, BUNDLE_PACKED_MAX);
	err = open_current(&store, s, STORE_BESIDE, a, &p);
	if (!err)
		err = export_in_store(s, store, &w, &out, a, &p);
	store_close(store);
	if (!err)
		err = write_agent_file(w.word[2], &out, a, &p);
	if (!err)
		printf("Wrote %s: %zu bytes.\n", w.word[2], out.len);
	buf_free(&out);
	return err ? complain(&p) : 0;
}
