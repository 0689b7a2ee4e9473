/* model_import.h - models made and brought up to date from a list; see price_list.h. */
#pragma once
#include "api/models/model_edit.h"
#include "base/buf.h"

struct model_import {
	int64_t made, changed, same, no_chat, no_provider, refused;
	struct buf *lines; /* what was done, a line for each change */
};

/* Inside the caller's transaction.  A model is known by its slug.  One that is made without a key is
 * disabled unless the list says otherwise; one that is there keeps what the list does not say.  An
 * entry that cannot be taken is refused with a line, and the others go on. */
int model_import(const struct model_editor *e, const char *text, size_t len, int64_t now,
	struct model_import *ret);
