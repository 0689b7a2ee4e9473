/* authorities.h - a file of certificates that may vouch for others: does it hold any that can be used? */
#pragma once

/* NULL, or what is wrong with it. */
const char *authorities_fault(const char *path);
