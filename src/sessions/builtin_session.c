/* builtin_session.c - finding earlier sessions of the agent by words, for whoever drives it.
 *
 * An agent serves many people, and what one of them said to it is not for the
 * others: who drives it finds the sessions they take part in, or all of them
 * if they hold a role on the agent by name or are OWNER or ADMIN of the
 * tenant.  An agent that nobody drives finds only sessions without a person.
 * The work is bounded, and the answer says where it ended. */
#include <string.h>

#include "access/permission.h"
#include "base/clock.h"
#include "base/fold.h"
#include "base/utf8_cut.h"
#include "sessions/builtin_run.h"
#include "sessions/session.h"
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

enum { SESSIONS_ALL, SESSIONS_UNMAILED, SESSIONS_OF_PERSON, SESSIONS_OF_NOBODY, MESSAGES_OF };

/* $1 tenant, $2 agent, $3 the session that asks, $4 how many, $5 whose */
static const struct statement sql[] = {
	[SESSIONS_ALL] = { "builtin_sessions_all",
		"select id, title, created_at from sessions where tenant_id = $1 and agent_id = $2 "
		"and id <> $3 order by id desc limit $4",
		.row = &found_session_schema },
	[SESSIONS_UNMAILED] = { "builtin_sessions_unmailed",
		"select s.id, s.title, s.created_at from sessions s where s.tenant_id = $1 "
		"and s.agent_id = $2 and s.id <> $3 and " SESSION_UNMAILED(
			"$5") " "
			      "order by s.id desc limit $4",
		.row = &found_session_schema },
	[SESSIONS_OF_PERSON] = { "builtin_sessions_of_person",
		"select s.id, s.title, s.created_at from (select session_id from session_people "
		"where tenant_id = $1 and user_id = $5 order by session_id desc limit 2000) p "
		"join sessions s on s.tenant_id = $1 and s.id = p.session_id "
		"where s.agent_id = $2 and s.id <> $3 order by s.id desc limit $4",
		.row = &found_session_schema,
		.scan = "only of what the inner select found, which is bounded" },
	[SESSIONS_OF_NOBODY] = { "builtin_sessions_of_nobody",
		/* what strangers wrote is nobody's to find */
		"select s.id, s.title, s.created_at from (select id, title, created_at, created_by_id, "
		"origin from sessions where tenant_id = $1 and agent_id = $2 order by id desc limit 2000) s "
		"where s.created_by_id is null and s.origin <> 'mail' and s.id <> $3 and not exists (select 1 "
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

static int list_sessions_to_search(struct builtin_call *c, struct list *ret)
{
	const struct tool_asked *in = c->asked;
	int which = !in->user_id		       ? SESSIONS_OF_NOBODY
		    : !in->all_sessions		       ? SESSIONS_OF_PERSON
		    : in->held & PERM(AGENT_MAIL_READ) ? SESSIONS_ALL
						       : SESSIONS_UNMAILED;

	/* two of them ask for the person */
	return db_all(c->db, c->arena, &sql[which], ret, SEARCH_SESSIONS_MAX,
		(const struct value[]){ T(in->tenant_id), T(in->agent_id), T(in->session_id),
			N(SEARCH_SESSIONS_MAX), T(in->user_id) },
		which == SESSIONS_OF_PERSON || which == SESSIONS_UNMAILED ? 5 : 4);
}

/* ---- messages ---- */

struct session_search {
	const struct builtin_words *words;
	struct builtin_call *call;
	struct arena scratch; /* of one message */
	int64_t seen;
	const char *snippet; /* of the session under way, or NULL */
	const char *text;    /* all of the answer so far */
};

/* Where the first of the words stands.  Folding keeps no lengths, but no word has a blank inside. */
static size_t place_of_word(struct session_search *l, const char *content)
{
	struct builtin_words first = { .list = { l->words->list[0] }, .count = 1 };
	size_t len;

	for (const char *p = content; *p; p += len) {
		p += strspn(p, " \t\r\n");
		len = strcspn(p, " \t\r\n");
		if (builtin_words_in(
			    &first, fold_words(&l->scratch, arena_strndup(&l->scratch, p, len))))
			return (size_t)(p - content);
	}
	return 0;
}

/* The words around the first one that was found, on one line. */
static const char *make_snippet(struct session_search *l, const struct found_message *m)
{
	size_t len = strlen(m->content), from = place_of_word(l, m->content), to;
	char *out;

	from = from > SEARCH_SNIPPET / 3 ? from - SEARCH_SNIPPET / 3 : 0;
	from = utf8_cut(m->content, len, from);
	to = from + utf8_cut(m->content + from, len - from, SEARCH_SNIPPET);
	out = arena_printf(l->call->arena, "%s: %s%.*s%s", m->role, from ? "..." : "",
		(int)(to - from), m->content + from, to < len ? "..." : "");
	for (char *p = out; *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = ' ';
	return out;
}

static int search_message(void *ctx, const void *row)
{
	const struct found_message *m = row;
	struct session_search *l = ctx;

	l->seen++;
	if (!l->snippet && builtin_words_in(l->words, fold_words(&l->scratch, m->content)))
		l->snippet = make_snippet(l, m);
	arena_reset(&l->scratch);
	return 0;
}

static int look_into(struct session_search *l, const struct found_session *s, bool *ret_found)
{
	struct builtin_call *c = l->call;
	struct found_message row;
	char when[TIME_TEXT_LEN];
	int err;

	l->snippet = NULL;
	*ret_found = s->title && builtin_words_in(l->words, fold_words(c->arena, s->title));
	err = db_each(c->db, &sql[MESSAGES_OF], &row, search_message, l,
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
	const char *query = tool_argument_text(&c->in, "query", BUILTIN_QUERY_MAX);
	struct builtin_words words = builtin_words(c->arena, query);
	struct session_search l = { .words = &words, .call = c, .text = "" };
	int64_t limit = tool_argument_number(&c->in, "limit", BUILTIN_HITS, 1, BUILTIN_HITS_MAX),
		found = 0;
	struct list list = { 0 };
	size_t i = 0;
	int err = 0;

	if (!builtin_arguments_read(c))
		return 0;
	if (!(c->asked->held & PERM(SESSION_READ))) {
		tool_answer_fail(c->arena, c->answer,
			"Whoever this runs for may not read sessions of this agent.");
		return 0;
	}
	if (!words.count || words.too_many) {
		tool_answer_fail(c->arena, c->answer, "The query must have 1 to %d words.",
			BUILTIN_WORDS_MAX);
		return 0;
	}
	err = list_sessions_to_search(c, &list);
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
