/* held.h - who holds how much of the house's memory: one account a tenant, a user or an address.
 *
 * An account lives while somebody is charged to it.  The listener adds and
 * subtracts (http/exchange.c); here is decided whose account it is.  What is
 * held for a tenant outside an exchange - a request to a model, its answer -
 * is a held_part of its own. */
#pragma once
#include "call/call.h"

/* The settings must live as long. */
struct held *held_new(const struct app_settings *settings);
void held_free(struct held *h);
/* What everybody holds; its max is the setting house_memory. */
struct memory_account *held_house(struct held *h);

/* The account of whoever is behind the call: the tenant; without one the user; without a credential that
 * was found good, the address. */
struct memory_account *held_account(struct call *c);
/* Whether whoever is behind the call, and the house, may hold more: ERR_BUSY with a sentence where not.  For what
 * holds something for as long as its reader likes, before it begins. */
int held_check(struct call *c);
/* The exchange is over. */
void held_settle(struct app *app, struct memory_account *account);

/* Begins as zero; belongs to one thread at a time. */
struct held_part {
	struct memory_account *account;
	size_t bytes;
};

/* The part holds so many bytes now, of the tenant's.  False if there is no room for them: they are counted all
 * the same, until they are given back.  0 ends it; without a tenant only the house counts.  h may be NULL. */
bool held_count(struct held *h, struct held_part *part, const char *tenant_id, size_t now);
