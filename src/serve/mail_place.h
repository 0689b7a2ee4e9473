/* mail_place.h - the way to a place where the service takes mail, for commands: lmtp_listen or smtp_listen. */
#pragma once
#include "base/arena.h"

/* A socket, or -1 with errno; waiting for a byte ends after so many seconds. */
int mail_place_connect(const char *where, int wait_s);
/* NULL if whoever is there greets and takes mail; else why not. */
const char *mail_place_greets(const char *where, int wait_s, struct arena *a);
