/* run_alone.h - the gateway's fixture for tests that see the broker's own headers, which share names with
 * jansson and so cannot be read beside fixture.h. */
#pragma once
#include <stdint.h>

struct alone;
struct app;

/* An agent whose chain is a mock's models of these scripts, NULL-terminated. */
struct alone *alone_open(const char *const *scripts);
void alone_close(struct alone *a);
struct app *alone_app(struct alone *a);
const char *alone_tenant(struct alone *a);
const char *alone_agent(struct alone *a);
/* A number from the store, once nothing is reserved any more. */
int64_t alone_count(struct alone *a, const char *sql);
