/* models.c - `lodge models import`: models and prices from a list, while the service runs.
 *
 * All of the list goes in with one transaction, and what is printed has been
 * committed.  What a list looks like is said in api/models/price_list.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/audit.h"
#include "api/service.h"
#include "serve/registry.h"
#include "api/models/model_import.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "access/holders.h"
#include "serve/manual.h"
#include "serve/master_key.h"
#include "serve/open.h"

enum { LIST_MAX = 64 * 1024 * 1024, LINES_MAX = 64 * 1024 * 1024, TRIES = 10 };

static int read_model_list(struct buf *out, const char *path, struct arena *a, struct problem *p)
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
		return problem_set(p, a, ERR_TOO_LARGE, "%s is larger than 64 MiB", path);
	return 0;
}

static int note_import(const struct model_editor *e, const struct model_import *r)
{
	return audit_write(e->db, e->arena,
		&(struct audit_entry){ .action = "model.import",
			.meta = arena_printf(e->arena,
				"{\"made\":%lld,\"changed\":%lld,\"refused\":%lld}",
				(long long)r->made, (long long)r->changed,
				(long long)r->refused) });
}

/* The whole list in one transaction, again while the store asks for it. */
static int import_model_list(
	const struct model_editor *e, const struct buf *list, struct model_import *report)
{
	int err, tries = TRIES;

	do {
		err = db_begin(e->db, READ_WRITE);
		if (!err)
			err = model_import(e, list->at, list->len, clock_now_us(), report);
		if (!err && report->made + report->changed)
			err = note_import(e, report);
		if (err)
			db_rollback(e->db);
		else
			err = db_commit(e->db);
	} while (err == ERR_RETRY && --tries);
	return err;
}

static int with_key(const struct settings *s, struct model_editor *e, const struct buf *list,
	struct model_import *report)
{
	struct service service = { 0 };
	struct vault_keys keys = { 0 };
	struct holder holder = { 0 };
	int err = api_setup(&service, e->arena, e->problem);

	if (!err)
		err = master_key_load(&keys, s->master_key_file, e->db, e->arena, e->problem);
	if (!err) {
		e->vault = vault_new(&keys, s->master_key_file);
		e->patterns = service.app.patterns;
		err = holder_join(e->db, e->arena, &holder, e->vault);
		if (!err)
			err = import_model_list(e, list, report);
		holder_leave(e->db, &holder);
		vault_free(e->vault);
	}
	wipe(&keys, sizeof keys);
	api_teardown(&service);
	return err;
}

static int print_import_report(const struct model_import *r)
{
	if (r->lines->len)
		fwrite(r->lines->at, 1, r->lines->len, stdout);
	printf("%lld made, %lld changed, %lld as they were, %lld refused; passed over: %lld that are "
	       "not for chat, %lld of providers that are not known here.\n",
		(long long)r->made, (long long)r->changed, (long long)r->same,
		(long long)r->refused, (long long)r->no_chat, (long long)r->no_provider);
	fflush(stdout);
	if (r->refused)
		fprintf(stderr, "lodge: %lld of the entries were refused\n", (long long)r->refused);
	return r->refused ? 1 : 0;
}

int command_models_import(const struct settings *s, struct arena *a)
{
	struct store *store = NULL;
	struct problem p = { 0 };
	struct buf list, lines;
	struct model_import report = { .lines = &lines };
	struct model_editor e = { .arena = a, .allow_private = s->private_all, .problem = &p };
	int status, err;

	settings_open_places(s);
	buf_init(&list, LIST_MAX);
	buf_init(&lines, LINES_MAX);
	err = read_model_list(&list, s->arguments[0], a, &p);
	if (!err)
		err = open_current(&store, s, STORE_BESIDE, a, &p);
	if (!err)
		err = store_connect(store, &e.db, a, &p);
	if (!err)
		err = with_key(s, &e, &list, &report);
	if (err)
		problem_set(&p, a, err, "the store: %s", e.db ? db_error(e.db) : "");
	status = err ? complain(&p) : print_import_report(&report);
	if (list.len)
		wipe(list.at, list.len);
	buf_free(&list);
	buf_free(&lines);
	db_close(e.db);
	store_close(store);
	return status;
}
