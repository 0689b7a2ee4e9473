/* open.c - see open.h. */
#include "serve/open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { QUEUE_MAX = 10000 };

int complain(const struct problem *p)
{
	fputs("lodge: ", stderr);
	/* It may name a file or a field of somebody else's: what could steer a terminal is not sent. */
	for (const char *c = p->detail ? p->detail : error_row(p->err)->title; *c; c++)
		fputc((unsigned char)*c < ' ' && *c != '\n' ? '?' : *c, stderr);
	fputc('\n', stderr);
	return p->err == ERR_USAGE ? 2 : 1;
}

static int make_data(const struct settings *s, struct arena *a, struct problem *p)
{
	if (mkdir(s->data, 0700) && errno != EEXIST)
		return problem_set(p, a, ERR_STORE, "cannot make the data folder %s: %s", s->data,
			strerror(errno));
	if (access(s->data, W_OK | X_OK))
		return problem_set(p, a, ERR_STORE, "cannot write to the data folder %s: %s",
			s->data, strerror(errno));
	return 0;
}

int open_store(struct store **ret, const struct settings *s, enum store_open how, struct arena *a,
	struct problem *p)
{
	struct store_settings settings = {
		.where = s->store,
		.workers = (int)s->store_workers,
		.queue_max = QUEUE_MAX,
	};
	int err = how == STORE_SERVE ? make_data(s, a, p) : 0;

	return err ? err : store_open(ret, &settings, how, a, p);
}

int open_current(struct store **ret, const struct settings *s, enum store_open how, struct arena *a,
	struct problem *p)
{
	int version = 0, err = open_store(ret, s, how, a, p);

	if (err)
		return err;
	err = store_version(*ret, &version, a, p);
	if (!err && version != store_version_wanted())
		err = problem_set(p, a, ERR_STORE,
			version > store_version_wanted()
				? "the store is at version %d and this program only knows %d: use a newer lodge"
				: "the store is at version %d and this program needs %d: run lodge migrate",
			version, store_version_wanted());
	if (err) {
		store_close(*ret);
		*ret = NULL;
	}
	return err;
}
