/* mail_keys.c - see mail_keys.h. */
#include "serve/mail_keys.h"

#include "base/crypto.h"
#include "serve/master_key.h"
#include "serve/open.h"

enum { TRIES = 10 };

int mail_errand_open(struct mail_errand *e, const struct settings *s, struct arena *a)
{
	struct vault_keys keys;
	int err;

	*e = (struct mail_errand){ .a = a };
	err = open_current(&e->store, s, STORE_BESIDE, a, &e->problem);
	if (!err)
		err = store_connect(e->store, &e->db, a, &e->problem);
	if (err)
		return err;
	err = master_key_load(&keys, s->master_key_file, e->db, a, &e->problem);
	if (!err) {
		e->vault = vault_new(&keys, s->master_key_file);
		err = holder_join(e->db, a, &e->holder, e->vault); /* a rekey waits for us */
	}
	wipe(&keys, sizeof keys);
	return err;
}

void mail_errand_close(struct mail_errand *e)
{
	if (e->vault)
		holder_leave(e->db, &e->holder);
	vault_free(e->vault);
	db_close(e->db);
	store_close(e->store);
}

int mail_errand_run(struct mail_errand *e, int (*run)(struct mail_errand *e, void *ctx), void *ctx)
{
	int err, tries = TRIES;

	do {
		err = db_begin(e->db, READ_WRITE);
		if (!err)
			err = run(e, ctx);
		if (err)
			db_rollback(e->db);
		else
			err = db_commit(e->db);
	} while (err == ERR_RETRY && --tries);
	if (err == ERR_SECRET)
		problem_set(&e->problem, e->a, err,
			"the key cannot be opened with the present master key");
	else if (err && err != ERR_NOT_FOUND && !e->problem.detail)
		problem_set(&e->problem, e->a, err, "the store: %s", db_error(e->db));
	return err;
}
