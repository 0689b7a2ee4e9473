/* oracle.c - jansson, kept apart from base/json.h because their names meet. */
#include "oracle.h"

#include <jansson.h>

bool oracle_accepts(const char *text, size_t len)
{
	json_t *v = json_loadb(
		text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	json_decref(v);
	return v != NULL;
}
