/* id.h - names for things: `c` and 24 of [a-z0-9], in order of creation, not to be guessed.
 *
 * Eleven digits (base 36) of microseconds, strictly rising within a process,
 * then thirteen random ones: 67 bits nobody can enumerate. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ID_LEN 25

struct id {
	char text[ID_LEN + 1];
};

/* A fresh id; *ret_us (if asked for) is the moment written in it. */
struct id id_new(int64_t *ret_us);
/* A fresh id of a given moment; not in order among those of the same one. */
struct id id_at(int64_t us);
/* The least id of a moment: those made at it or later are not below. */
struct id id_least(int64_t us);
/* The moment written in an id. */
int64_t id_moment(const char *text);
bool id_valid(const char *text, size_t len);
