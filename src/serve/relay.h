/* relay.h - from settings to the relay that takes mail to the outside. */
#pragma once
#include "base/error.h"
#include "outside/smtp.h"
#include "serve/settings.h"

/* Its password is read here, and its texts are in the arena; the url is NULL where none is set.  ERR_USAGE with a
 * sentence. */
int relay_of(struct smtp_relay *ret, const struct settings *s, struct arena *a, struct problem *p);
