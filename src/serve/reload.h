/* reload.h - new settings for a service that runs: what SIGHUP does.
 *
 * The settings are read again from where they came.  Those whose row says so
 * change; the others are named in the log as waiting for a restart.  If
 * anything is wrong with them, or with the certificate, all stays as it is. */
#pragma once
#include "serve/settings.h"

struct app;
struct reload;

/* With the settings the service was started with, which outlive it. */
struct reload *reload_new(const struct settings *started);
void reload_free(struct reload *r);
/* Reads them again and changes what can be. */
void reload_run(struct reload *r, struct app *app);
/* The settings as they are now; of those without `reloads` the ones in force are the started ones. */
const struct settings *reload_current(const struct reload *r);
/* From any thread: is that the address of a proxy that is believed? */
bool reload_trusts(const void *r, const char *address);
/* Says in the log if the certificate ends soon, or has. */
void reload_look_at_certificate(const struct settings *s);
