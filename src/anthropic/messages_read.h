/* messages_read.h - a body of Anthropic's Messages API into a chat (broker/chat.h), in one pass.
 *
 * Providers that speak this protocol are sent the body as it came, so nothing
 * that is not known here is lost; for the others it is taken apart.  What has
 * no equal with them is named in chat.elsewhere. */
#pragma once
#include "broker/chat.h"

/* How a foreign provider's signature looks to a client, who gives it back: this, the provider's kind, the thought's id
 * and the signature itself, with colons between. */
#define FOREIGN_SIGNATURE "lodge:"

struct messages_asked {
	bool counts; /* the tokens only: no limit is needed */
};

/* What the caller is told besides the answer. */
struct messages_read {
	bool thinks; /* it asked for thoughts */
};

/* ERR_BAD_JSON or ERR_INVALID with *e filled, as Anthropic would say it. */
int messages_read(struct chat *c, struct arena *a, struct slice body,
	const struct messages_asked *asked, struct messages_read *ret, struct chat_error *e);
