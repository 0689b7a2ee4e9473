/* sealed.h - every place where sealed texts lie, as data.
 *
 * Nothing is sealed but for a place of this list, and whoever walks all seals
 * walks it: `lodge rekey`, `lodge check`, and the giving up of what nobody can
 * open any more.  It knows where a text lies, not what is inside. */
#pragma once
#include "store/store.h"

/* name, table, the tenant, the column by which a row is known, the sealed column, which rows, what becomes of one that is
 * given up (a row that is of no use without its seal goes; another stays, and says that its secret is gone), what
 * it is to people */
#define SEALED_PLACES(X)                                                                          \
	X(REPLY, "idempotency", "null", "hash", "reply", "", GONE_WITH_ROW,                       \
		"a reply kept for a repeat")                                                      \
	X(FLOW, "oidc_flows", "null", "hash", "sealed", "", GONE_WITH_ROW, "a sign-in under way") \
	X(PROVIDER_KEY, "provider_keys", "tenant_id", "id", "sealed", "", GONE_TEXT,              \
		"a tenant's own key at a provider")                                               \
	X(MODEL, "models", "null", "id", "secrets", "", GONE_TEXT,                                \
		"the key and headers of a model")                                                 \
	X(SKILL_CONFIG, "agent_skills", "tenant_id", "id", "config_sealed", "", GONE_TEXT,        \
		"the configuration of a skill")                                                   \
	X(TOOL, "tools", "tenant_id", "id", "sealed", "", GONE_TEXT, "the headers of a tool")     \
	X(TOOL_CONFIG, "agent_tools", "tenant_id", "id", "configuration", "", GONE_TEXT,          \
		"what is set of a tool for an agent")                                             \
	X(SCANNER, "scanners", "tenant_id", "id", "token", "", GONE_TEXT,                         \
		"the token of a scanner")                                                         \
	X(HOOK, "integration_rows", "tenant_id", "id", "sealed", "", GONE_TEXT,                   \
		"the signing secret of a webhook")                                                \
	X(MAIL_SECRET, "mail_secrets", "null", "name", "sealed", "", GONE_WITH_ROW,               \
		"a key of the service's mail")                                                    \
	X(REPOSITORY, "repositories", "tenant_id", "id", "sealed", "", GONE_TEXT,                 \
		"the token of a repository on another host")                                      \
	X(LETTER, "letters", "null", "id", "sealed", "", GONE_WITH_ROW, "the link of a letter")   \
	X(AUDIT_KEY, "meta", "null", "key", "value", " and key = 'audit_key'", GONE_CHAIN,        \
		"the key of the audit log's chain")

enum sealed_place {
#define X(name, table, tenant, id, column, rows, gone, what) SEALED_##name,
	SEALED_PLACES(X)
#undef X
		SEALED_PLACE_COUNT
};

struct sealed_place_row {
	const char *table, *id, *column, *what;
	enum { GONE_WITH_ROW, GONE_TEXT, GONE_CHAIN } gone;
};
extern const struct sealed_place_row sealed_places[SEALED_PLACE_COUNT];

/* In the place of a seal that was given up: no vault opens it. */
#define SEALED_GONE "gone"

/* A sealed text, and what binds it to its row. */
struct sealed_text {
	const char *id, *text;
	const char *tenant_id; /* NULL: of nobody in particular */
	const char *context;   /* of the seal: mostly the id */
};

enum { SEALED_PAGE = 200 };

/* Up to SEALED_PAGE texts of a place after a row's id ("" at first), but those of the key of that name ("" for
 * none) and those given up. */
int sealed_page(struct db *db, struct arena *a, enum sealed_place place, const char *but,
	const char *after, const struct sealed_text **ret, size_t *ret_count);
/* Puts another text in its place, if it still is what was read. */
int sealed_put(
	struct db *db, enum sealed_place place, const struct sealed_text *t, const char *text);
/* Gives it up; not for GONE_CHAIN. */
int sealed_give_up(struct db *db, enum sealed_place place, const struct sealed_text *t);

/* How many of a place were given up and not entered anew. */
int sealed_gone(struct db *db, enum sealed_place place, int64_t *ret);

extern const struct statement_set sealed_sql;
