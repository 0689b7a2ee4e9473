/* listen.h - what is wrong with a list of addresses to listen on, without listening. */
#pragma once
#include "base/arena.h"
#include "base/error.h"

/* 0, or ERR_USAGE with a sentence: one that is no address, one that is there twice, too many. */
int http_listen_check(const char *list, struct arena *a, struct problem *p);
