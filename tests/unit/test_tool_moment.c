/* test_tool_moment.c - a change of a tool is prepared off the writer: what it was prepared for must be what is stored when
 * it is made. */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "store/pool.h"
#include "race.h"

struct held_pool {
	struct work work;
	sem_t begun, open, over;
};

static int hold_run(struct work *w, struct db *db)
{
	struct held_pool *h = (struct held_pool *)w;

	(void)db;
	sem_post(&h->begun);
	sem_wait(&h->open);
	return 0;
}

static void hold_done(struct work *w, int err)
{
	struct held_pool *h = (struct held_pool *)w;

	CHECK_INT(err, 0);
	sem_post(&h->over);
}

struct changing {
	struct fixture *f;
	struct racer racer;
};

static void *change(void *data)
{
	struct changing *g = data;

	race(g->f, &g->racer, 1);
	return NULL;
}

/* Sends the change, has `meanwhile` happen between its look and the rest, and hands back its answer. */
static struct answer change_while(
	struct fixture *f, const char *tool, const char *body, const char *meanwhile)
{
	struct held_pool h = { .work = { .run = hold_run, .done = hold_done } };
	struct changing g = { f,
		{ .token = f->admin,
			.body = body,
			.request = arena_printf(
				&f->arena, "PATCH /tenant/%s/tools/%s", f->tenant_id, tool) } };
	pthread_t thread;

	sem_init(&h.begun, 0, 0);
	sem_init(&h.open, 0, 0);
	sem_init(&h.over, 0, 0);
	CHECK_INT(pool_submit(f->app.slow, NULL, &h.work), 0);
	sem_wait(&h.begun);
	CHECK_INT(pthread_create(&thread, NULL, change, &g), 0);
	for (int i = 0; i < 10000 && !pool_stats(f->app.slow).waiting; i++)
		usleep(1000);
	CHECK(pool_stats(f->app.slow).waiting > 0);
	if (meanwhile)
		fixture_sql(f, meanwhile, ARGS(T(tool)));
	sem_post(&h.open);
	sem_wait(&h.over);
	pthread_join(thread, NULL);
	sem_destroy(&h.begun);
	sem_destroy(&h.open);
	sem_destroy(&h.over);
	return g.racer.answer;
}

#define CONFIG(name) \
	"{\"config\":{\"method\":\"GET\",\"url\":\"https://example.org/{{" name "}}\"}}"

TEST(tool_moment_a_schema_that_changed_meanwhile_is_a_conflict)
{
	struct fixture *f = fixture_open();
	struct answer r = ask(f, f->admin,
		"{\"name\":\"w\",\"kind\":\"http\",\"description\":\"d\",\"input_schema\":{\"type\":"
		"\"object\",\"properties\":{\"city\":{\"type\":\"string\"},\"town\":{\"type\":"
		"\"string\"}}},\"config\":{\"method\":\"GET\",\"url\":\"https://example.org/{{city}}\"}}",
		"POST /tenant/%s/tools", f->tenant_id);
	const char *tool = text_at(&r, "id");

	STATUS(r, 201);
	test_step("nothing happens meanwhile");
	r = change_while(f, tool, CONFIG("town"), NULL);
	STATUS(r, 200);
	test_step("the schema loses what the config names");
	r = change_while(f, tool, CONFIG("town"),
		"update tools set input_schema = replace(input_schema, 'town', 'land') where id = $1");
	STATUS(r, 409);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/tools/%s", f->tenant_id, tool);
	CHECK(!at(&r, "input_schema.properties.town"));
	test_step("it is gone");
	r = change_while(f, tool, CONFIG("city"), "delete from tools where id = $1");
	STATUS(r, 404);
	fixture_close(f);
}
