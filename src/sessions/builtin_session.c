/* builtin_session.c - finding earlier sessions of the agent by words, for whoever drives it.
 *
 * An agent serves many people, and what one of them said to it is not for the
 * others: who drives it finds the sessions they take part in, or all of them
 * if they hold a role on the agent by name or are OWNER or ADMIN of the
 * tenant.  An agent that nobody drives finds only sessions without a person.
 * The work is bounded, and the answer says where it ended. */
#include <string.h>

#include "base/clock.h"
#include "base/fold.h"
#include "sessions/builtin_run.h"
#include "sessions/tool_text.h"

struct found_session {
	const char *id, *title;
	struct moment created_at;
};

FIELDS(found_session) = {
	FIELD(found_session, id),
	FIELD(found_session, title, .nullable = true),
	FIELD(found_session, created_at),
};
static SCHEMA(found_session, .internal = true);

struct found_message {
	const char *role, *content;
};

FIELDS(found_message) = {
	FIELD(found_message, role),
	FIELD(found_message, content),
};
static SCHEMA(found_message, .internal = true);

enum { SEES_ALL, SESSIONS_ALL, SESSIONS_OF_PERSON, SESSIONS_OF_NOBODY, MESSAGES_OF };

/* $1 tenant, $2 agent, $3 the session that asks, $4 how many, $5 whose */
static const struct statement sql[] = {
	[SEES_ALL] = { "builtin_sees_all",
		"select count(*) from members m join agents a on a.tenant_id = $1 and a.id = $2 "
		"where m.tenant_id = $1 and m.user_id = $3 and m.status = 'active' "
		"and (m.role in ('OWNER', 'ADMIN') or (a.is_admin_only = 0 and (exists (select 1 "
		"from agent_roles r where r.tenant_id = $1 and r.agent_id = $2 and r.user_id = $3) "
		"or exists (select 1 from agent_group_roles g join group_members n "
		"on n.tenant_id = $1 and n.group_id = g.group_id and n.user_id = $3 "
		"where g.tenant_id = $1 and g.agent_id = $2))))" },
	[SESSIONS_ALL] = { "builtin_sessions_all",
		"select id, title, created_at from sessions where tenant_id = $1 and agent_id = $2 "
		"and id <> $3 order by id desc limit $4",
		.row = &found_session_schema },
	[SESSIONS_OF_PERSON] = { "builtin_sessions_of_person",
		"select s.id, s.title, s.created_at from (select session_id from session_people "
		"where tenant_id = $1 and user_id = $5 order by session_id desc limit 2000) p "
		"join sessions s on s.tenant_id = $1 and s.id = p.session_id "
		"where s.agent_id = $2 and s.id <> $3 order by s.id desc limit $4",
		.row = &found_session_schema,
		.scan = "only of what the inner select found, which is bounded" },
	[SESSIONS_OF_NOBODY] = { "builtin_sessions_of_nobody",
		"select s.id, s.title, s.created_at from (select id, title, created_at, created_by_id "
		"from sessions where tenant_id = $1 and agent_id = $2 order by id desc limit 2000) s "
		"where s.created_by_id is null and s.id <> $3 and not exists (select 1 "
		"from session_people p where p.tenant_id = $1 and p.session_id = s.id) "
		"order by s.id desc limit $4",
		.row = &found_session_schema,
		.scan = "only of what the inner select found, which is bounded" },
	[MESSAGES_OF] = { "builtin_messages_of",
		"select role, substr(content, 1, 8192) as content from messages where tenant_id = $1 "
		"and session_id = $2 and role in ('user', 'assistant') order by id desc limit $3",
		.row = &found_message_schema },
};
STATEMENT_SET(builtin_session_sql, sql);
_Static_assert(SEARCH_CHARACTERS_MAX == 8192, "as in the statement");

static int candidates(struct builtin_call *c, struct list *ret)
{
	const struct tool_asked *in = c->asked;
	int64_t sees_all = 0;
	int err = 0, which;

	if (in->user_id)
		err = db_int(c->db, &sql[SEES_ALL], &sees_all,
			ARGS(T(in->tenant_id), T(in->agent_id), T(in->user_id)));
	which = sees_all ? SESSIONS_ALL : in->user_id ? SESSIONS_OF_PERSON : SESSIONS_OF_NOBODY;
	if (err)
		return err;
	/* only one of them asks for the person */
	return db_all(c->db, c->arena, &sql[which], ret, SEARCH_SESSIONS_MAX,
		(const struct value[]){ T(in->tenant_id), T(in->agent_id), T(in->session_id),
			N(SEARCH_SESSIONS_MAX), T(in->user_id) },
		which == SESSIONS_OF_PERSON ? 5 : 4);
}

/* ---- messages ---- */

struct look {
	const struct builtin_words *words;
	struct builtin_call *call;
	struct arena scratch; /* of one message */
	int64_t seen;
	const char *snippet; /* of the session under way, or NULL */
	const char *text;    /* all of the answer so far */
};

/* The words around the first one that was found, on one line. */
static const char *snippet(struct look *l, const struct found_message *m)
{
	const char *folded = fold(&l->scratch, m->content),
		   *hit = strstr(folded, l->words->list[0]);
	size_t len = strlen(m->content), from = hit ? (size_t)(hit - folded) : 0, to;
	char *out;

	from = from > SEARCH_SNIPPET / 3 ? from - SEARCH_SNIPPET / 3 : 0;
	from = tool_text_cut(m->content, len, from);
	to = from + tool_text_cut(m->content + from, len - from, SEARCH_SNIPPET);
	out = arena_printf(l->call->arena, "%s: %s%.*s%s", m->role, from ? "..." : "",
		(int)(to - from), m->content + from, to < len ? "..." : "");
	for (char *p = out; *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = ' ';
	return out;
}

static int take_message(void *ctx, const void *row)
{
	const struct found_message *m = row;
	struct look *l = ctx;

	l->seen++;
	if (!l->snippet && builtin_words_in(l->words, fold_words(&l->scratch, m->content)))
		l->snippet = snippet(l, m);
	arena_reset(&l->scratch);
	return 0;
}

static int look_into(struct look *l, const struct found_session *s, bool *ret_found)
{
	struct builtin_call *c = l->call;
	struct found_message row;
	char when[TIME_TEXT_LEN];
	int err;

	l->snippet = NULL;
	*ret_found = s->title && builtin_words_in(l->words, fold_words(c->arena, s->title));
	err = db_each(c->db, &sql[MESSAGES_OF], &row, take_message, l,
		ARGS(T(c->asked->tenant_id), T(s->id), N(SEARCH_MESSAGES_MAX - l->seen)));
	if (err)
		return err;
	*ret_found |= l->snippet != NULL;
	if (*ret_found) {
		time_write(s->created_at.us, when);
		l->text = arena_printf(c->arena, "%s%.10s %s (session %s)\n%s%s%s", l->text, when,
			s->title ? s->title : "without a title", s->id, l->snippet ? "  " : "",
			l->snippet ? l->snippet : "", l->snippet ? "\n" : "");
	}
	return 0;
}

int builtin_session_search(struct builtin_call *c)
{
	struct builtin_words words = builtin_words(c->arena, builtin_text(c, "query"));
	struct look l = { .words = &words, .call = c, .text = "" };
	int64_t limit = builtin_number(c, "limit", 10), found = 0;
	struct list list = { 0 };
	size_t i = 0;
	int err = 0;

	if (!words.count || words.too_many) {
		tool_answer_fail(c->arena, c->answer, "The query must have 1 to %d words.",
			BUILTIN_WORDS_MAX);
		return 0;
	}
	err = candidates(c, &list);
	for (; !err && i < list.count && found < limit && l.seen < SEARCH_MESSAGES_MAX; i++) {
		bool hit = false;

		err = look_into(&l, &((struct found_session *)list.at)[i], &hit);
		found += hit;
	}
	arena_free(&l.scratch);
	if (err)
		return err;
	if (!found)
		l.text = "No earlier session has all of these words.\n";
	if (i < list.count || list.count == SEARCH_SESSIONS_MAX)
		l.text = arena_printf(c->arena,
			"%s[Only the newest %zu sessions were looked through; there are more.]",
			l.text, i);
	tool_answer_text(c->arena, l.text, c->answer);
	return 0;
}
