/* utf8.h - the few questions about UTF-8 that are asked everywhere. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* True for well-formed UTF-8 (no surrogates, nothing over U+10FFFF, nothing overlong). */
bool utf8_valid(const char *text, size_t len);
/* The length of the sequence that begins there, or 0 if that is none; text < stop. */
size_t utf8_step(const char *text, const char *stop);
/* Puts a question mark in the place of every byte that does not belong to one. */
void utf8_clean(char *text, size_t len);
/* The number of code points in valid UTF-8. */
size_t utf8_count(const char *text, size_t len);
