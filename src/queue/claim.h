/* claim.h - one turn of a runner at the store: all it has to do there, in one transaction. */
#pragma once
#include "queue/parts.h"

enum {
	PICKS_MAX = 256, /* tenants asked about in one claim */
	TAKE_MAX = 256,	 /* jobs taken in one */
};

/* A tenant that is asked for jobs. */
struct pick {
	struct ring_tenant *ring_tenant;
	size_t running;
	size_t running_before; /* when the claim was asked for */
	bool empty;	       /* it has no more now */
	bool served;	       /* it was asked at all */
	bool full;	       /* it has as many places as it may have */
};

/* Where the last look ended: the next goes on after it. */
struct look {
	char tenant_id[ID_LEN + 1], lane_tenant_id[ID_LEN + 1];
	char lane[256];
};

struct claim {
	struct work work;
	struct runner *runner;
	const struct runner_settings *settings;
	/* What is to be done. */
	char owner[OWNER_LEN + 1];
	int64_t now, lease_us;
	bool heartbeat;	     /* our sign of life is due */
	bool look;	     /* find out what nobody told: dead runners, tenants, lanes */
	bool due_now;	     /* a delayed job's time has come, or may have */
	bool alone;	     /* on SQLite: runners of other processes are dead */
	bool leased;	     /* jobs run under our lease */
	bool idle;	     /* nothing runs here */
	bool probe;	     /* look for a job that must run alone */
	const char *crashed; /* a process that is known to have died of a fault, or NULL */
	size_t places;
	int64_t asked_at; /* monotonic milliseconds */
	struct pick picks[PICKS_MAX];
	size_t pick_count;
	struct claimed *freed; /* jobs that are over, whose lanes have room now */
	/* Claims of these moments may or may not have been committed: what they took goes back. */
	int64_t doubted_from, doubted_to; /* 0: none */
	struct look at;
	/* What came of it. */
	struct arena arena;
	struct look seen;
	struct claimed *claimed, **claimed_last;
	struct list found;   /* struct one_text: tenants that may have work */
	int64_t due;	     /* the earliest delayed job; 0: none */
	bool heartbeat_sent; /* the lease was extended */
	bool lost;	     /* it had gone to others */
	bool more;	     /* there is more to do at once */
	size_t strange;	     /* jobs of kinds that are not known here */
	bool solo;	     /* what was taken runs alone */
	bool drain;	     /* one waits that must: nothing is taken until all here are over */
};

/* Whoever comes later must find a place: a tenant gets another one only while enough are free. */
bool claim_may_have(size_t running, size_t free);
int claim_run(struct work *w, struct db *db);
/* Drops what came of an earlier run. */
void claim_forget(struct claim *r);
void claimed_free(struct claimed *t);

/* Everything a runner still holds goes back, uncounted; its lease ends. */
struct hand_back {
	struct work work;
	char owner[OWNER_LEN + 1];
	int64_t now;
};
int hand_back_run(struct work *w, struct db *db);

extern const struct statement_set queue_claim_sql, queue_lease_sql, queue_look_sql;
