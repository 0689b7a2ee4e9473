/* broker.h - the part of the process that calls models: how it begins, is kept going, and ends.
 *
 * What it does for one call is in completion.h. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct broker;
struct pool;
struct held;
struct store;
struct vault;
struct http_loop;

/* The operator's own keys; NULL: none.  Each goes to its provider's own address and nowhere else. */
struct broker_keys {
	const char *openai, *anthropic;
};

struct broker_settings {
	struct store *store;
	struct vault *vault;
	struct pool *slow; /* where models inside the program speak */
	struct held
		*held;	 /* to which requests and answers are charged; NULL: they are not counted */
	bool accounting; /* off: nothing is reserved and nothing entered */
	bool allow_private_addresses;
	struct broker_keys keys; /* copied; see broker_keys() */
	size_t runs_max;	 /* 0: RUNS_MAX */
	int64_t extend_ms;	 /* how often leases are extended; 0: three times in one */
};

struct broker *broker_new(const struct broker_settings *settings);
/* Lets what is under way end, for at most grace_ms; cancels the rest, and waits until it is settled.
 * The store and the slow pool must still work. */
void broker_stop(struct broker *b, int grace_ms);
void broker_free(struct broker *b);
/* On a loop's own thread, when it begins and ends: what is asked for there is carried there, without
 * another thread in between. */
void broker_loop_begins(struct broker *b, struct http_loop *loop);
void broker_loop_ends(struct broker *b, struct http_loop *loop);
const struct broker_settings *broker_settings(const struct broker *b);
/* The operator's keys as they are now, copied into the arena. */
struct broker_keys broker_keys(struct broker *b, struct arena *a);
/* Other keys from the next call on; what is under way goes on with its own.  Tells which of them differ. */
struct broker_renewed {
	bool openai, anthropic;
};
struct broker_renewed broker_renew(struct broker *b, const struct broker_keys *keys);
/* Now and then, at least every second: extends leases, asks owners whether they are still there. */
void broker_tick(struct broker *b);
/* Every minute or so: settles what dead processes left behind, and forgets what is old. */
void broker_maintain(struct broker *b);

struct broker_stats {
	uint64_t begun, finished, failed, cancelled, refused, failovers;
	size_t open;
};
struct broker_stats broker_stats(struct broker *b);
