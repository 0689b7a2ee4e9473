/* spf.h - whether a record of SPF (RFC 7208) says who may send for its domain.  It judges no sender: the mail server in front does. */
#pragma once
#include "base/arena.h"

/* True for a text that is meant as such a record. */
bool spf_is_record(const char *text);
/* NULL if it names somebody; else what is wrong with it, as in "it ...". */
const char *spf_fault(struct arena *a, const char *text);
