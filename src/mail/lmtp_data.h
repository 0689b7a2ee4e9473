/* lmtp_data.h - the bytes between DATA and its end; a part of lmtp.c. */
#pragma once
#include "mail/lmtp.h"

void lmtp_data_begin(struct lmtp *s);
/* The bytes it took, up to and with the dot that ends them. */
size_t lmtp_data_push(struct lmtp *s, const char *bytes, size_t len, bool *ret_ended);
