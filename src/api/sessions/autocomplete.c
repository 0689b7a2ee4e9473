/* autocomplete.c - what a caller may mention, found by the beginnings of its words.
 *
 * An answer is put together from visibilities of the index (search.c), each of
 * which the caller sees as a whole, and from the few things that are theirs
 * by a role of their own.  Within a visibility the best rows stand first, so that ten
 * are found in as many steps among a million.  Everything is ranked once more
 * here, from the words alone; no engine has a say in the order. */
#include <stdlib.h>
#include <string.h>

#include "call/operation.h"
#include "search/search.h"
#include "api/sessions/autocomplete.h"
#include "base/fold.h"
#include "sessions/session.h"
#include "store/row.h"

/* More than these many roles: the agents are walked and asked for a role, not the other way about. */
enum { HELD_MAX = 1000, HELD_SHELVES_MAX = 50 };
/* Words that do not stand in a row: so many candidates of the rarest are looked through within a visibility. */
enum { CANDIDATES_MAX = 1000, PROBED_WORDS = 3 };
enum { GROWTH = 8 };

struct autocomplete_query {
	const char *q;
	struct list types;
	int64_t limit;
};

FIELDS(autocomplete_query) = {
	FIELD(autocomplete_query, q, .preset = "\"\"", BOUNDS(0, 128), .example = "\"sup\"",
		.doc = "Words, or their beginnings: each must begin a word of the label, slug or "
		       "address. Empty: everything, by label."),
	FIELD(autocomplete_query, types, .nullable = true, .item = CHOICE,
		.words = &MentionType_words, .max = 5, .example = "[\"agent\",\"user\"]",
		.doc = "Only things of these types; all without it."),
	FIELD(autocomplete_query, limit, .preset = "10", BOUNDS(1, 50),
		.doc = "The most to answer."),
};
static SCHEMA(autocomplete_query, .doc = "What to look for.");

struct AutocompleteReply {
	struct list items;
};

FIELDS(AutocompleteReply) = {
	FIELD(AutocompleteReply, items, .required = true, .item = OBJECT,
		.of = &AutocompleteItem_schema, .doc = "What was found, best first."),
};
static SCHEMA(AutocompleteReply, .doc = "What can be mentioned.");

/* What begins so, within a visibility, and who looks. */
struct visibility_range {
	const char *tenant_id, *user_id, *visibility, *low, *high;
	int type;
	int64_t most, reads_mail; /* 1: as far as the credential goes */
};

FIELDS(visibility_range) = {
	ROW_FIELDS(visibility_range, tenant_id, user_id, visibility, low, high, most, reads_mail),
	FIELD(visibility_range, type, .words = &MentionType_words),
};
static SCHEMA(visibility_range, .internal = true);

/* A score each, so that every part is read in the order of its key and no further than asked. */
#define OF_SCORE(n)                                                                                 \
	"select * from (select score, tail, id from search_words where tenant_id = :tenant_id and " \
	"visibility = :visibility and type = :type and score = " #n                                 \
	" and tail >= :low and tail < :high "                                                       \
	"order by tail, id limit :most) part" #n
#define PARTS                                                                                                 \
	OF_SCORE(0)                                                                                           \
	" union all " OF_SCORE(1) " union all " OF_SCORE(2) " union all " OF_SCORE(3) " union all " OF_SCORE( \
		4) " union all " OF_SCORE(5) " union all " OF_SCORE(6) " union all " OF_SCORE(7) " union all " OF_SCORE(8)
/* SQLite reads the parts one after the other and stops when it has enough; PostgreSQL promises no such
 * order, and is told. */
#define IN_TURN "(" PARTS " limit :most) w"
#define IN_ORDER "(" PARTS " order by score, tail, id limit :most) w"
#define THINGS(seen, rows)                                                   \
	"select {t.*}, " seen " as seen from " rows " join search_things t " \
	"on t.tenant_id = :tenant_id and t.type = :type and t.id = w.id"
#define VISIBILITY_OF(name, seen)                                                                \
	{                                                                                        \
		name, THINGS(seen, IN_TURN), .postgres = THINGS(seen, IN_ORDER),                 \
					     .row = &search_thing_schema,                        \
					     .args = &visibility_range_schema, .scan = OF_ITSELF \
	}
#define OF_ITSELF "its own parts, each as long as asked"

#define RANK "case r.role when 'OWNER' then 3 when 'MANAGER' then 2 else 1 end"
#define HOLDS(agent, user)                                                                   \
	"select " RANK                                                                       \
	" as held from agent_roles r where r.tenant_id = :tenant_id and r.agent_id = " agent \
	" and r.user_id = " user " union all select " RANK " from agent_group_roles r "      \
	"join group_members m on m.tenant_id = :tenant_id and m.group_id = r.group_id "      \
	"and m.user_id = " user " where r.tenant_id = :tenant_id and r.agent_id = " agent

/* What hangs on an agent that is gone is in the index until its rows go. */
#define IS_THERE                                                                                         \
	"case when t.agent_id is null or exists (select 1 from agents a where a.tenant_id = :tenant_id " \
	"and a.id = t.agent_id) then 1 else 0 end"
#define SEES_AGENT                                                  \
	"case when exists (select 1 from (" HOLDS(                  \
		"t.id", ":user_id") ") h where h.held >= t.level) " \
				    "then 1 else 0 end"
/* As reading it has it: what mail began is for those who take part in it, and for whom else the agent's mail is. */
#define IS_UNMAILED                                                                                              \
	"exists (select 1 from sessions s where s.tenant_id = :tenant_id and s.id = t.id and " SESSION_UNMAILED( \
		":user_id") ")"
#define IS_THERE_UNMAILED                                                                                 \
	"case when exists (select 1 from agents a where a.tenant_id = :tenant_id and a.id = t.agent_id) " \
	"and " IS_UNMAILED " then 1 else 0 end"
/* A session is seen by its owner while the agent is open to members, and by holders of a role; what mail began only by those of
 * whom role and credential read mail. */
#define SEES_SESSION                                                                                     \
	"case when exists (select 1 from agents a where a.tenant_id = :tenant_id and a.id = t.agent_id " \
	"and a.is_admin_only = 0 and ((t.owner_id = :user_id and a.default_role_enabled = 1) "           \
	"or exists (select 1 from (" HOLDS(                                                              \
		"a.id", ":user_id") ") h where (h.held >= 2 and :reads_mail = 1) or " IS_UNMAILED        \
				    "))) then 1 else 0 end"

/* PostgreSQL makes one plan for whoever asks, for owners of everything too: each part is in order and as long as asked, so that it
 * goes by the index and not through all roles. */
#define HELD_IN_TURN                                                                          \
	"select h.agent_id as id, 'agent' as type, t.label, t.detail, t.words, t.level, "     \
	"1 as seen from (select x.agent_id, max(x.held) as held from ("                       \
	"(select r.agent_id, " RANK " as held from agent_roles r where r.tenant_id = $1 "     \
	"and r.user_id = $2 order by r.agent_id limit $3) "                                   \
	"union all select g.agent_id, g.held from group_members m cross join lateral "        \
	"(select r.agent_id, " RANK " as held from agent_group_roles r "                      \
	"where r.tenant_id = $1 and r.group_id = m.group_id order by r.agent_id limit $3) g " \
	"where m.tenant_id = $1 and m.user_id = $2) x group by x.agent_id limit $3) h "       \
	"left join lateral (select * from search_things s where s.tenant_id = $1 "            \
	"and s.type = 'agent' and s.id = h.agent_id and s.level > 0 and s.level <= h.held "   \
	"limit 1) t on true"

enum {
	VISIBILITY,
	VISIBILITY_AGENTS,
	VISIBILITY_SESSIONS,
	VISIBILITY_UNMAILED,
	VISIBILITY_COUNT,
	HELD
};

static const struct statement sql[] = {
	[VISIBILITY] = VISIBILITY_OF("search_visibility", IS_THERE),
	[VISIBILITY_AGENTS] = VISIBILITY_OF("search_visibility_agents", SEES_AGENT),
	[VISIBILITY_SESSIONS] = VISIBILITY_OF("search_visibility_sessions", SEES_SESSION),
	[VISIBILITY_UNMAILED] = VISIBILITY_OF("search_visibility_unmailed", IS_THERE_UNMAILED),
	[VISIBILITY_COUNT] = { "search_visibility_count", "select count(*) from " IN_TURN,
		.args = &visibility_range_schema, .scan = OF_ITSELF },
	/* The agents on which the user holds a role; those that are not open come with their words.  The
	 * keys are read from the index by user first: left to itself SQLite walks the tenant's roles. */
	[HELD] = { "search_held",
		"select h.agent_id as id, 'agent' as type, t.label, t.detail, t.words, t.level, "
		"1 as seen from (select x.agent_id, max(x.held) as held from ("
		"select r.agent_id, " RANK " as held from agent_roles k cross join agent_roles r "
		"where k.tenant_id = $1 and k.user_id = $2 and r.tenant_id = $1 "
		"and r.agent_id = k.agent_id and r.user_id = $2 "
		"union all select r.agent_id, " RANK " from group_members m "
		"cross join agent_group_roles k cross join agent_group_roles r "
		"where m.tenant_id = $1 and m.user_id = $2 and k.tenant_id = $1 "
		"and k.group_id = m.group_id and r.tenant_id = $1 and r.agent_id = k.agent_id "
		"and r.group_id = k.group_id) x group by x.agent_id limit $3) h "
		"left join search_things t on t.tenant_id = $1 and t.type = 'agent' "
		"and t.id = h.agent_id and t.level > 0 and t.level <= h.held",
		.postgres = HELD_IN_TURN, .row = &search_thing_schema,
		.scan = "the caller's own roles" },
};
STATEMENT_SET(autocomplete_sql, sql);

/* Where a thing comes in the answer; less is better. */
struct ranked_match {
	bool scattered; /* the words of q do not stand in a row */
	int64_t score;
	const char *tail;
	const struct search_thing *thing;
};

struct hunt {
	struct call *c;
	const char *q;	     /* folded */
	size_t q_len, words; /* bytes; how many words */
	size_t limit;
	bool types[MentionType_session + 1];
	bool all;  /* the caller holds OWNER on every agent */
	bool mail; /* the credential reads mail, where a role does */
	struct ranked_match *found;
	size_t count, room;
};

static int compare_matches(const void *a, const void *b)
{
	const struct ranked_match *x = a, *y = b;
	int by;

	if (x->scattered != y->scattered)
		return x->scattered ? 1 : -1;
	if (x->score != y->score)
		return x->score < y->score ? -1 : 1;
	by = strcmp(x->tail, y->tail);
	return by ? by : strcmp(x->thing->id, y->thing->id);
}

static const char *next_word(const char *p)
{
	p += strcspn(p, " ");
	return *p ? p + 1 : p;
}

/* The first word that begins with these bytes, and its place; NULL if there is none. */
static const char *find_word(const char *words, const char *start, size_t len, size_t *ret_place)
{
	const char *p = words;

	for (*ret_place = 0;; ++*ret_place) {
		if (strncmp(p, start, len) == 0)
			return p;
		p = next_word(p);
		if (!*p)
			return NULL;
	}
}

/* The best place where q stands in a row: of those with the same score the first by alphabet, which is
 * the one that its visibility shows first. */
static bool rank_row(const struct hunt *h, const struct search_thing *t, struct ranked_match *ret)
{
	size_t place = 0;

	ret->tail = NULL;
	for (const char *p = t->words;; p = next_word(p), place++) {
		int64_t score = search_score(t->label, place);

		if (strncmp(p, h->q, h->q_len) == 0 &&
			(!ret->tail || (score == ret->score && strcmp(p, ret->tail) < 0))) {
			ret->tail = p;
			ret->score = score;
		}
		if (!*next_word(p))
			return ret->tail != NULL;
	}
}

/* False if the thing is not what was asked for. */
static bool rank_thing(const struct hunt *h, const struct search_thing *t, struct ranked_match *ret)
{
	size_t place, earliest = SIZE_MAX;

	*ret = (struct ranked_match){ .thing = t };
	if (rank_row(h, t, ret))
		return true;
	ret->scattered = true;
	for (const char *word = h->q; *word; word = next_word(word)) {
		const char *tail = find_word(t->words, word, strcspn(word, " "), &place);

		if (!tail)
			return false;
		if (place < earliest) {
			earliest = place;
			ret->tail = tail;
		}
	}
	ret->score = search_score(t->label, earliest);
	return h->words > 1;
}

static void take_match(struct hunt *h, const struct search_thing *t)
{
	struct ranked_match f;

	if (!t->seen || !t->words || !rank_thing(h, t, &f))
		return;
	if (h->count == h->room) {
		struct ranked_match *more = arena_array(
			h->c->arena, struct ranked_match, h->room = h->room ? h->room * 2 : 64);

		if (h->count)
			memcpy(more, h->found, h->count * sizeof *more);
		h->found = more;
	}
	h->found[h->count++] = f;
}

/* Sorts what was found from `from` on, and leaves each thing once. */
static void settle_matches(struct hunt *h, size_t from)
{
	size_t kept = from;

	if (h->count > from)
		qsort(h->found + from, h->count - from, sizeof *h->found, compare_matches);
	for (size_t i = from; i < h->count; i++)
		if (kept == from ||
			strcmp(h->found[kept - 1].thing->id, h->found[i].thing->id) != 0)
			h->found[kept++] = h->found[i];
	h->count = kept;
}

/* A visibility to look at: which statement says what the caller sees of it. */
struct visibility {
	int statement;
	const char *name;
	int type;
};

static int read_visibility(struct hunt *h, const struct visibility *s, int statement,
	const char *start, size_t len, size_t most, struct list *rows, int64_t *ret_count)
{
	const struct caller *who = &h->c->caller;
	const char *low = arena_strndup(h->c->arena, start, len);
	struct visibility_range range = { .tenant_id = who->tenant_id,
		.user_id = who->user_id,
		.visibility = s->name,
		.low = low,
		.high = arena_printf(h->c->arena, "%s\xf4\x8f\xbf\xbf", low),
		.type = s->type,
		.most = (int64_t)most,
		.reads_mail = h->mail };

	if (ret_count)
		return db_int(
			h->c->db, &sql[statement], ret_count, BY_NAME(visibility_range, &range));
	return db_all(h->c->db, h->c->arena, &sql[statement], rows, most,
		BY_NAME(visibility_range, &range));
}

/* What has q in a row.  A thing may come more than once, and some may not be for the caller: then more
 * is read, until there is enough or no more. */
static int search_row(struct hunt *h, const struct visibility *s)
{
	size_t from = h->count, most = h->limit;
	struct list rows;
	int err;

	for (;; most *= GROWTH) {
		h->count = from;
		err = read_visibility(h, s, s->statement, h->q, h->q_len, most, &rows, NULL);
		if (err)
			return err;
		for (size_t i = 0; i < rows.count; i++)
			take_match(h, (const struct search_thing *)rows.at + i);
		settle_matches(h, from);
		if (rows.count < most || h->count - from >= h->limit)
			return 0;
	}
}

/* What has the words of q anywhere: all that has the rarest of them, as far as the maximum goes. */
static int search_scattered(struct hunt *h, const struct visibility *s)
{
	const char *best = h->q, *word = h->q;
	int64_t fewest = INT64_MAX, n;
	struct list rows;
	int err = 0;

	for (int i = 0; !err && *word && fewest && i < PROBED_WORDS; i++, word = next_word(word)) {
		err = read_visibility(
			h, s, VISIBILITY_COUNT, word, strcspn(word, " "), CANDIDATES_MAX, NULL, &n);
		if (!err && n < fewest) {
			fewest = n;
			best = word;
		}
	}
	if (err || !fewest)
		return err;
	err = read_visibility(
		h, s, s->statement, best, strcspn(best, " "), CANDIDATES_MAX, &rows, NULL);
	for (size_t i = 0; !err && i < rows.count; i++)
		take_match(h, (const struct search_thing *)rows.at + i);
	return err;
}

struct visibilities {
	struct visibility list[16 + HELD_SHELVES_MAX];
	size_t count;
};

static void add_visibility(
	const struct hunt *h, struct visibilities *s, int statement, const char *name, int type)
{
	if (h->types[type])
		s->list[s->count++] = (struct visibility){ statement, name, type };
}

/* What is not open and the caller reaches by roles. */
static int add_held_things(struct hunt *h, struct visibilities *s)
{
	const struct caller *who = &h->c->caller;
	const struct search_thing *held;
	struct visibility sessions = { VISIBILITY_SESSIONS, VISIBILITY_CLOSED,
		MentionType_session };
	struct list rows;
	int64_t some = 0;
	int err;

	if (!h->types[MentionType_agent] && !h->types[MentionType_session])
		return 0;
	err = db_all(h->c->db, h->c->arena, &sql[HELD], &rows, HELD_MAX + 1,
		ARGS(T(who->tenant_id), T(who->user_id), N(HELD_MAX + 1)));
	held = rows.at;
	if (!err && rows.count > HELD_MAX)
		add_visibility(h, s, VISIBILITY_AGENTS, VISIBILITY_CLOSED, MentionType_agent);
	for (size_t i = 0; !err && h->types[MentionType_agent] && i < rows.count; i++)
		if (rows.count <= HELD_MAX)
			take_match(h, &held[i]);
	if (!err && h->types[MentionType_session])
		err = read_visibility(h, &sessions, VISIBILITY_COUNT, h->q,
			h->words > 1 ? strcspn(h->q, " ") : h->q_len, 1, NULL, &some);
	if (err || !some)
		return err;
	add_visibility(h, s, VISIBILITY_SESSIONS, who->user_id, MentionType_session);
	if (rows.count > HELD_SHELVES_MAX)
		add_visibility(h, s, VISIBILITY_SESSIONS, VISIBILITY_CLOSED, MentionType_session);
	for (size_t i = 0; rows.count <= HELD_SHELVES_MAX && i < rows.count; i++)
		add_visibility(h, s, VISIBILITY_SESSIONS, held[i].id, MentionType_session);
	return 0;
}

static int gather_shelves(struct hunt *h, struct visibilities *s)
{
	for (int type = MentionType_agent; type <= MentionType_session; type++) {
		if (type != MentionType_session)
			add_visibility(h, s, VISIBILITY, VISIBILITY_OPEN, type);
		if (h->all && type != MentionType_user)
			add_visibility(h, s,
				type == MentionType_session && !h->mail ? VISIBILITY_UNMAILED
									: VISIBILITY,
				VISIBILITY_CLOSED, type);
	}
	if (h->all)
		return 0;
	add_visibility(h, s, VISIBILITY, h->c->caller.user_id, MentionType_skill);
	add_visibility(h, s, VISIBILITY, h->c->caller.user_id, MentionType_tool);
	return add_held_things(h, s);
}

/* What is asked for and what the credential lets the caller see at all. */
static void choose_types(struct hunt *h, const struct list *asked)
{
	const struct caller *who = &h->c->caller;

	for (int type = MentionType_agent; type <= MentionType_session; type++)
		h->types[type] = asked->count == 0;
	for (size_t i = 0; i < asked->count; i++)
		h->types[((const int *)asked->at)[i]] = true;
	if (!(who->tenant & PERM(MEMBERS_READ)))
		h->types[MentionType_user] = false;
	if (!caller_cut(who, PERM(SESSION_READ)))
		h->types[MentionType_session] = false;
}

static void answer_matches(const struct hunt *h, struct list *ret)
{
	struct AutocompleteItem *items =
		arena_array(h->c->arena, struct AutocompleteItem, h->limit);

	*ret = (struct list){ .at = items };
	for (size_t i = 0; i < h->count && i < h->limit; i++) {
		const struct search_thing *t = h->found[i].thing;

		items[ret->count++] =
			(struct AutocompleteItem){ t->id, t->label, t->type, t->detail };
	}
}

int autocomplete_find(
	struct call *c, const char *q, const struct list *types, size_t limit, struct list *ret)
{
	struct hunt h = { .c = c, .q = fold_words(c->arena, q) };
	struct visibilities visibilities = { 0 };
	size_t in_a_row = 0;
	int err;

	h.q_len = strlen(h.q);
	h.limit = limit;
	h.all = caller_holds_all(&c->caller);
	h.mail = caller_cut(&c->caller, PERM(AGENT_MAIL_READ)) != 0;
	for (const char *p = h.q; *p; p = next_word(p))
		h.words++;
	choose_types(&h, types);
	err = gather_shelves(&h, &visibilities);
	for (size_t i = 0; !err && i < visibilities.count; i++)
		err = search_row(&h, &visibilities.list[i]);
	settle_matches(&h, 0);
	while (in_a_row < h.count && !h.found[in_a_row].scattered)
		in_a_row++;
	for (size_t i = 0; !err && h.words > 1 && in_a_row < h.limit && i < visibilities.count; i++)
		err = search_scattered(&h, &visibilities.list[i]);
	settle_matches(&h, 0);
	if (!err)
		answer_matches(&h, ret);
	return err;
}

QUERY_OPERATION(autocomplete, autocomplete_query, AutocompleteReply)
{
	return autocomplete_find(c, in->q, &in->types, (size_t)in->limit, &out->items);
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/autocomplete", &autocomplete, PERM_TENANT_READ, 200,
		.tag = "Tenants",
		.doc = "What the caller may mention, by the beginnings of its words, best first." },
};
RESOURCE(autocomplete, routes, NULL, &autocomplete_sql);
