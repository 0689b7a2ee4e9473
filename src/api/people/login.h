/* login.h - what every way of signing in ends with: a login, its token, and the cookie. */
#pragma once
#include "api/people/identity.h"
#include "call/call.h"

/* 0 for a person's login; ERR_FORBIDDEN for a key. */
int login_check_person(struct call *c);
/* Who the user is, with memberships. */
int login_describe(struct call *c, const char *user_id, struct Me *me);
/* The caller's membership of one tenant. */
int login_membership(struct call *c, const char *tenant_id, struct Membership *ret);
/* What this browser was given at an earlier sign-in; NULL: nothing. */
const char *login_device(const struct call *c);
/* Opens a login for the user and fills the reply. */
int login_open(struct call *c, const char *user_id, struct LoginReply *out);
