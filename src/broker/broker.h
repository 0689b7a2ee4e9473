/* broker.h - the part of the process that calls models: how it begins, is kept going, and ends.
 *
 * What it does for one call is in run.h. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct broker;
struct slow_pool;
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
	struct slow_pool *slow; /* where models inside the program speak */
	bool accounting;	/* off: nothing is booked and nothing entered */
	bool allow_private_addresses;
	struct broker_keys keys;
	size_t runs_max;   /* 0: RUNS_MAX */
	int64_t extend_ms; /* how often leases are extended; 0: three times in one */
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
/* Now and then, at least every second: extends leases, asks owners whether they are still there. */
void broker_tick(struct broker *b);
/* Every minute or so: settles what dead processes left behind, and forgets what is old. */
void broker_chores(struct broker *b);

struct broker_stats {
	uint64_t begun, finished, failed, cancelled, refused, failovers;
	size_t open;
};
struct broker_stats broker_stats(struct broker *b);
