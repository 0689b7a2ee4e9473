/* search.h - the index behind autocomplete: what can be found by the beginning of a word.
 *
 * Whoever makes, renames, opens, closes or removes a thing tells the index in
 * the same transaction, so that both always agree.  Folding and order are
 * done here and not by an engine. */
#pragma once
#include "store/store.h"

enum MentionType {
	MentionType_agent,
	MentionType_user,
	MentionType_skill,
	MentionType_tool,
	MentionType_session
};
extern const struct words MentionType_words;

/* Who sees a thing: everybody in the tenant; holders of an agent role of at least this rank (1 + enum
 * agent_role); nobody but those who hold OWNER on every agent, and the thing's owner. */
enum { SEARCH_OPEN = 0, SEARCH_VIEWER = 1, SEARCH_MANAGER = 2, SEARCH_ADMINS = 4 };

struct search_entry {
	const char *tenant_id;
	int type; /* enum MentionType */
	const char *id, *label;
	const char *extra;    /* further words, such as a slug or an address; or NULL */
	const char *detail;   /* a second line; or NULL */
	int64_t level;	      /* SEARCH_... */
	const char *agent_id; /* a session: its agent, whose role holders see it */
	const char *owner_id; /* the user who sees it although it is not open; or NULL */
};

/* Enters something that is not there yet. */
int search_add(struct db *db, struct arena *a, const struct search_entry *e);
/* Enters it, or brings what is there up to date. */
int search_put(struct db *db, struct arena *a, const struct search_entry *e);
/* Removes it, if it is there. */
int search_remove(struct db *db, struct arena *a, const char *tenant_id, int type, const char *id);
/* Brings an agent, a member or a session up to date with its row, or removes it if that is gone. */
int search_refresh(struct db *db, struct arena *a, const char *tenant_id, int type, const char *id);
/* The same for a user, in every tenant they belong to. */
int search_refresh_user(struct db *db, struct arena *a, const char *user_id);

/* The level at which an agent shows in lists. */
int64_t search_agent_level(bool is_admin_only, bool hidden, bool default_role_enabled);

/* Makes the index anew if it was made by a program that folded or ordered otherwise, or before a migration, or
 * never. */
int search_ensure(struct db *db, struct arena *a);
/* Makes it anew, whatever it is. */
int search_remake(struct db *db);
/* How many things are missing, or there without their row, or other than their row says. */
int search_check(struct db *db, int64_t *ret_wrong);

/* A thing as it is stored. */
struct search_thing {
	const char *tenant_id;
	int type;
	const char *id;
	int64_t level;
	const char *agent_id, *owner_id, *label, *detail, *words;
	bool seen; /* of a query: the caller may see it */
};
extern const struct schema search_thing_schema;

/* The visibilities that things have, besides those named by the id of an agent or a user. */
#define VISIBILITY_OPEN "open"
#define VISIBILITY_CLOSED "closed"

/* Where a word stands counts first, then how long the label is: three steps each. */
enum { SEARCH_SCORES = 9 };
int64_t search_score(const char *label, size_t position);

enum { SEARCH_WORDS_MAX = 16, SEARCH_BYTES_MAX = 1000 };

extern const struct statement_set search_sql;
