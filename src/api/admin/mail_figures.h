/* mail_figures.h - mail in /metrics: what came in, what goes out, and letters to people. */
#pragma once
#include "call/call.h"

/* What only the store knows is left out while it is away. */
int mail_figures(struct call *c, struct buf *out);
