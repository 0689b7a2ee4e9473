/* repo_remote.h - what operations on repositories of other hosts have in common: whom they ask, and how what the host says is told. */
#pragma once
#include "api/repos/repo_call.h"
#include "repos/mirror.h"

enum { REPO_URL_MAX = 1024 };

enum egress repo_egress(const struct call *c);
/* The host of a row, with the token that is stored.  In `look`: it opens a secret. */
int repo_remote(struct call *c, const struct repository *row, struct remote *ret);
/* Where a host tells of pushes, and a new secret with which it signs that. */
const char *repo_hook_url(const struct call *c, const char *id);
const char *repo_hook_secret(struct arena *a);
/* What is wrong with such an address, or such a token, as fields of these names. */
void repo_url_check(struct call *c, const char *field, const char *url);
void repo_token_check(struct call *c, const char *token);
/* The host did not do what it was asked: 422 for an address or token that is wrong, else 502. */
int repo_remote_fault(struct call *c, const struct remote_said *said, const char *url_field);
