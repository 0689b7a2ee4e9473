/* fixture_place.c - where the stores of tests are: a folder or a schema each; see fixture.h.
 *
 * On SQLite the tables are made once a process, in a store that is copied from then on.  On PostgreSQL a copy of a
 * database takes as long as making them; fixture_schemas.c uses them again. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "fixture.h"

const char *fixture_engine(void)
{
	const char *store = getenv("LODGE_TEST_STORE");

	return store && *store ? store : "sqlite";
}

bool fixture_is_sqlite(void)
{
	return strcmp(fixture_engine(), "sqlite") == 0;
}

/* The address of a schema. */
static const char *schema_place(struct arena *a, const char *name)
{
	return arena_printf(a, "%s%soptions=-csearch_path%%3D%s", fixture_engine(),
		strchr(fixture_engine(), '?') ? "&" : "?", name);
}

const char *fixture_place(struct arena *a, const char **ret_folder)
{
	if (fixture_is_sqlite()) {
		char *folder = arena_strdup(a, "/tmp/lodge-unit.XXXXXX");

		if (!mkdtemp(folder))
			test_fail(__FILE__, __LINE__, "mkdtemp");
		*ret_folder = folder;
		return arena_printf(a, "sqlite:%s/lodge.db", folder);
	}
	*ret_folder = fixture_schema(a);
	return schema_place(a, *ret_folder);
}

void fixture_remove_folder(const char *folder)
{
	struct arena a = { 0 };

	if (system(arena_printf(&a, "rm -rf '%s'", folder)))
		test_fail(__FILE__, __LINE__, "rm");
	arena_free(&a);
}

void fixture_drop(const char *folder)
{
	if (fixture_is_sqlite())
		fixture_remove_folder(folder);
	else
		fixture_schema_drop(folder);
}

/* ---- a store that has its tables ---- */

static char template[64];
static pid_t template_owner;

static void remove_template(void)
{
	if (getpid() == template_owner)
		fixture_drop(template);
}

static void make_tables(const char *where)
{
	struct store_settings settings = { .where = where, .workers = 1, .queue_max = 1 };
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct store *s = NULL;
	int from, to;

	if (store_open(&s, &settings, STORE_SERVE, &a, &p) ||
		store_migrate(s, &from, &to, &a, &p)) {
		test_fail(__FILE__, __LINE__, "%s", p.detail);
		exit(2);
	}
	store_close(s);
	arena_free(&a);
}

static void make_template(void)
{
	struct arena a = { 0 };
	const char *folder;

	make_tables(fixture_place(&a, &folder));
	template_owner = getpid();
	snprintf(template, sizeof template, "%s", folder);
	arena_free(&a);
	atexit(remove_template);
}

static void copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC),
	    out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ssize_t n;

	do
		n = sendfile(out, in, NULL, 1 << 20);
	while (n > 0);
	if (n < 0)
		test_fail(__FILE__, __LINE__, "%s: %s", from, strerror(errno));
	close(in);
	close(out);
}

const char *fixture_place_migrated(struct arena *a, const char **ret_folder)
{
	const char *where, *used = fixture_is_sqlite() ? NULL : fixture_schema_spare(a);

	if (used) {
		*ret_folder = used;
		return schema_place(a, used);
	}
	where = fixture_place(a, ret_folder);
	if (!fixture_is_sqlite()) {
		make_tables(where);
		fixture_schema_keep(a, *ret_folder);
		return where;
	}
	if (!*template)
		make_template();
	copy_file(arena_printf(a, "%s/lodge.db", template), where + strlen("sqlite:"));
	return where;
}
