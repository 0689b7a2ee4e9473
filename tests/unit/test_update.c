/* test_update.c - what the spine does for every operation that makes or changes something: it says where
 * the new thing is; the reply to a change is what a read shows, with a later time; and the audit log names
 * the thing, what changed of it and nothing else. */
#include "fixture.h"

#include <stdlib.h>

static const struct changed {
	const char *made; /* in the tenant */
	const char *table;
	const char *body, *patch;
	const char *creation, *action, *noted;
} things[] = {
	{ "agents", "agent_rows", "{\"name\":\"A\",\"slug\":\"a\"}", "{\"description\":\"d\"}",
		"agent.create", "agent.update", "{\"description\":{\"from\":null,\"to\":\"d\"}}" },
	{ "groups", "groups", "{\"name\":\"G\"}", "{\"description\":\"d\"}", "group.create",
		"group.update", "{\"description\":{\"from\":null,\"to\":\"d\"}}" },
	{ "skills", "skills",
		"{\"name\":\"S\",\"slug\":\"s\",\"description\":\"d\",\"instructions\":\"i\"}",
		"{\"license\":\"MIT\"}", "skill.create", "skill.update",
		"{\"license\":{\"from\":null,\"to\":\"MIT\"}}" },
};

/* The newest entry of the log is of this action on this thing, and says this. */
static void check_noted(struct fixture *f, const char *action, const char *id, const char *noted)
{
	struct answer r =
		ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?per_page=1", f->tenant_id);
	char *meta;

	STATUS(r, 200);
	CHECK_STR(text_at(&r, "items.0.action"), action);
	CHECK_STR(text_at(&r, "items.0.resource_id"), id);
	meta = json_dumps(at(&r, "items.0.meta"), JSON_COMPACT);
	CHECK_STR(meta, noted);
	free(meta);
}

TEST(what_is_made_and_changed_is_named_and_noted)
{
	struct fixture *f = fixture_open();

	for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
		const struct changed *t = &things[i];
		struct answer made, after, read;
		const char *id, *where;
		bool timed;

		test_step(t->made);
		made = ask(f, f->admin, t->body, "POST /tenant/%s/%s", f->tenant_id, t->made);
		STATUS(made, 201);
		id = text_at(&made, "id");
		where = header_of(f, &made, "Location");
		CHECK_STR(where,
			arena_printf(&f->arena, "/tenant/%s/%s/%s", f->tenant_id, t->made, id));
		check_noted(f, t->creation, id, "{}");
		timed = at(&made, "updated_at") != NULL;
		if (timed) /* long ago */
			fixture_sql(f,
				arena_printf(
					&f->arena, "update %s set updated_at = 1000000", t->table),
				NO_ARGS);
		after = ask(
			f, f->admin, t->patch, "PATCH /tenant/%s/%s/%s", f->tenant_id, t->made, id);
		STATUS(after, 200);
		read = ask(f, f->admin, NULL, "GET %s", where);
		CHECK_STR(read.body, after.body);
		CHECK_STR(header_of(f, &read, "ETag"), header_of(f, &after, "ETag"));
		CHECK(!timed || strcmp(text_at(&after, "updated_at"), "2000") > 0);
		check_noted(f, t->action, id, t->noted);
	}
	fixture_close(f);
}
