/* login.h - what every way of signing in ends with: a login, its token, and the cookie. */
#pragma once
#include "api/identity.h"
#include "call/call.h"

/* Who the user is, with memberships. */
int login_describe(struct call *c, const char *user_id, struct Me *me);
/* Opens a login for the user and fills the reply. */
int login_open(struct call *c, const char *user_id, struct LoginReply *out);
