/* secrets.h - what must be sealed of the way to a model: its key and the values of its headers.
 *
 * They are one sealed text in the model's row, bound to the model's id.  Who
 * calls a provider opens it here; nobody else sees inside. */
#pragma once
#include "access/vault.h"

enum { MODEL_HEADERS_MAX = 32 };

struct model_header {
	const char *name, *value;
};

struct model_secrets {
	const char *api_key; /* NULL: none */
	struct model_header headers[MODEL_HEADERS_MAX];
	size_t header_count;
};

/* The text for the column; NULL if there is nothing to seal.  ERR_KEY if nothing can be sealed now. */
int model_secrets_seal(struct vault *v, struct arena *a, const char *model_id,
	const struct model_secrets *s, const char **ret);
/* A text of NULL opens as nothing.  ERR_SECRET if it cannot be opened with any key that is known. */
int model_secrets_open(struct vault *v, struct arena *a, const char *model_id, const char *text,
	struct model_secrets *ret);
/* The header of that name, whatever the case, or NULL. */
const struct model_header *model_header_find(const struct model_secrets *s, const char *name);
