/* json_names.h - what json_read.c and json_names.c have of each other.  Nobody else uses it. */
#pragma once
#include "base/json.h"

/* Reads the escape at r->at, after its backslash; at most four bytes are put at *out. */
bool json_unescape(struct json_reader *r, char **out);
/* A name that nobody will keep: it is copied only to take its escapes out. */
bool json_read_name(struct json_reader *r, const char **ret, size_t *ret_len);

/* An object begins; its last member has been read. */
void json_names_enter(struct json_reader *r);
void json_names_leave(struct json_reader *r);
/* Notes a name of the object being read, whose quote stands at `offset` of the text: NULL, or what is
 * wrong with it. */
const char *json_names_add(struct json_reader *r, size_t offset, const char *name, size_t len);
