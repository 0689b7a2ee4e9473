/* mail_keys.h - what the commands about mail share: the store with its keys, and how a record of the DNS is written. */
#pragma once
#include "access/holders.h"
#include "access/vault.h"
#include "serve/settings.h"
#include "store/store.h"

struct mail_errand {
	struct arena *a;
	struct problem problem;
	struct store *store;
	struct db *db;
	struct vault *vault;
	struct holder holder;
};

/* Beside a service that runs, or alone. */
int mail_errand_open(struct mail_errand *e, const struct settings *s, struct arena *a);
void mail_errand_close(struct mail_errand *e);
/* In a transaction, again where the store asks for it. */
int mail_errand_run(struct mail_errand *e, int (*run)(struct mail_errand *e, void *ctx), void *ctx);
