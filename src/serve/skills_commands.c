/* skills_commands.c - `lodge skills import` and `lodge skills export`: skills between folders and the
 * store, also while the service runs. */
#include <stdio.h>
#include <string.h>

#include "access/audit.h"
#include "api/skills/skill_store.h"
#include "base/clock.h"
#include "serve/manual.h"
#include "serve/open.h"
#include "serve/skill_folder.h"

enum { TRIES = 5 };

/* Every field that is wrong, in the one line a command has. */
static int complain_fields(struct problem *p, struct arena *a)
{
	const char *all = NULL;

	for (const struct field_error *e = p->first; e; e = e->next)
		all = arena_printf(a, "%s%s%s %s",
			all ? all : "the skill is refused: ", all ? "; " : "", e->field,
			e->message);
	if (all)
		p->detail = all;
	return complain(p);
}

static int find_skill_tenant(
	struct db *db, struct arena *a, const char *slug, const char **ret, struct problem *p)
{
	int err = skill_tenant_by_slug(db, a, slug, ret);

	if (err == ERR_NOT_FOUND)
		problem_set(p, a, err, "there is no tenant with the slug %s", slug);
	return err;
}

static int keep_bundle(struct db *db, struct arena *a, const struct skill_bundle *b,
	const char *tenant, bool replace, bool *ret_replaced, struct problem *p)
{
	struct skill_keeping how = { .visibility = -1, .replace = replace };
	struct skill_row row;
	int err = find_skill_tenant(db, a, tenant, &how.tenant_id, p);

	if (!err)
		err = skill_taken(p, a,
			skill_keep(db, a, b, &how, clock_now_us(), &row, ret_replaced),
			b->head.slug);
	if (err)
		return err;
	return audit_write(db, a,
		&(struct audit_entry){ .action = "skill.import",
			.tenant_id = how.tenant_id,
			.resource_id = row.id,
			.meta = arena_printf(a,
				"{\"slug\":\"%s\",\"files\":%zu,\"replaced\":%s,\"by\":\"command\"}",
				row.slug, row.files.count, *ret_replaced ? "true" : "false") });
}

/* One transaction, again if the store asks for it. */
static int keep_in_store(struct store *store, struct arena *a, const struct skill_bundle *b,
	const char *tenant, bool replace, bool *ret_replaced, struct problem *p)
{
	struct db *db;
	int err = store_connect(store, &db, a, p);

	if (err)
		return err;
	for (int i = 0; i < TRIES; i++) {
		err = db_begin(db, READ_WRITE);
		if (!err)
			err = keep_bundle(db, a, b, tenant, replace, ret_replaced, p);
		if (err)
			db_rollback(db);
		else
			err = db_commit(db);
		if (err != ERR_RETRY)
			break;
	}
	if (err)
		problem_set(p, a, err, "the store: %s", db_error(db));
	db_close(db);
	return err;
}

static int read_bundle(
	struct arena *a, const char *folder, struct skill_bundle *b, struct problem *p)
{
	static const struct schema *const schemas[] = { &SkillCreate_schema };
	const char *bad;
	struct patterns *patterns = patterns_new(schemas, 1, &bad);
	struct helper *h = helper_new(NULL);
	struct helper_file *entries;
	size_t count;
	int err = skill_folder_read(a, folder, &entries, &count, p);

	if (!err)
		err = skill_bundle_read(a, patterns, h, entries, count, b, p);
	patterns_free(patterns);
	helper_free(h);
	return err;
}

int command_skills_import(const struct settings *s, struct arena *a)
{
	const char *words[2] = { 0 };
	struct store *store = NULL;
	struct problem p = { 0 };
	struct skill_bundle b = { 0 };
	bool replace = false, replaced = false;
	size_t n = 0;
	int err;

	for (size_t i = 0; i < s->argument_count; i++) {
		if (strcmp(s->arguments[i], "--replace") == 0)
			replace = true;
		else if (n < 2)
			words[n++] = s->arguments[i];
	}
	err = read_bundle(a, words[1], &b, &p);
	if (!err)
		err = open_current(&store, s, STORE_BESIDE, a, &p);
	if (!err)
		err = keep_in_store(store, a, &b, words[0], replace, &replaced, &p);
	store_close(store);
	if (err)
		return complain_fields(&p, a);
	printf("%s the skill %s with %zu file%s%s.\n", replaced ? "Replaced" : "Imported",
		b.head.slug, b.files.count, b.files.count == 1 ? "" : "s",
		replaced ? "" : "; it is private until its visibility is changed");
	return 0;
}

static int export_from(
	struct store *store, struct arena *a, const char *const *words, struct problem *p)
{
	struct SkillRead skill;
	struct list files;
	const char *tenant_id;
	struct db *db;
	int err = store_connect(store, &db, a, p);

	if (err)
		return err;
	err = db_begin(db, READ_ONLY);
	if (!err)
		err = find_skill_tenant(db, a, words[0], &tenant_id, p);
	if (!err) {
		err = skill_by_slug(db, a, tenant_id, words[1], &skill);
		if (err == ERR_NOT_FOUND)
			problem_set(
				p, a, err, "the tenant has no skill with the slug %s", words[1]);
	}
	if (!err)
		err = skill_files_all(db, a, tenant_id, skill.id, &files);
	if (err)
		problem_set(p, a, err, "the store: %s", db_error(db));
	db_rollback(db);
	db_close(db);
	if (!err)
		err = skill_folder_write(a, words[2], &skill, &files, p);
	if (!err)
		printf("Wrote %s/%s: " SKILL_MD " and %zu file%s.\n", words[2], skill.slug,
			files.count, files.count == 1 ? "" : "s");
	return err;
}

int command_skills_export(const struct settings *s, struct arena *a)
{
	struct store *store = NULL;
	struct problem p = { 0 };
	int err = open_current(&store, s, STORE_BESIDE, a, &p);

	if (!err)
		err = export_from(store, a, s->arguments, &p);
	store_close(store);
	return err ? complain(&p) : 0;
}
