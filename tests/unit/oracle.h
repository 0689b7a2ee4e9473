/* oracle.h - a JSON reader that is not ours, to hold ours against. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

bool oracle_accepts(const char *text, size_t len);
