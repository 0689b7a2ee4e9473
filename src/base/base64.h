/* base64.h - bytes as text, for what is large and no secret: where secrets are written libsodium does it, in a time that does not
 * depend on them and that is many times as long. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* The bytes that so many of base64 hold at most, and the other way round. */
size_t base64_bytes(size_t len);
size_t base64_length(size_t bytes);

/* Into `out`, of base64_bytes(len).  The standard alphabet, with or without the padding; white space is passed over.  False for
 * anything else. */
bool base64_decode(const char *text, size_t len, unsigned char *out, size_t *ret_len);
/* Into `out`, of base64_length(len): no terminator. */
void base64_encode(const void *bytes, size_t len, char *out);
