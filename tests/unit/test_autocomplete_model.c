/* test_autocomplete_model.c - autocomplete held against a plain model that knows nothing of the index, over
 * chance data, chance callers and chance changes. */
#include <stdlib.h>

#include "base/id.h"
#include "search_fixture.h"

static const struct {
	const char *written, *folded, *slug;
} vocabulary[] = {
	/* clang-format off */
	{ "Support", "support", "support" }, { "Desk", "desk", "desk" }, { "SALES", "sales", "sales" },
	{ "Sue", "sue", "sue" }, { "su", "su", "su" }, { "Ada", "ada", "ada" }, { "a", "a", "a" },
	{ "Bot", "bot", "bot" }, { "internationalisation", "internationalisation", "i18n" },
	{ "Über", "uber", "uber" }, { "Straße", "strasse", "strasse" }, { "東京", "東京", "tokyo" },
	/* clang-format on */
};

/* An agent's name has only letters of ASCII. */
enum { VOCABULARY = sizeof vocabulary / sizeof *vocabulary, PLAIN = VOCABULARY - 3 };
enum { AGENTS = 40, SESSIONS = 30, SKILLS = 10, CALLERS = 6, GROUPS = 2, WORDS = 40 };
enum { THINGS = AGENTS + SESSIONS + SKILLS + CALLERS + 1 };

struct model_thing {
	int type;
	const char *id, *label, *slug;
	char words[WORDS][32];
	int count;
	bool gone, admin_only, hidden,
		open;	  /* open: the default role is on; a skill for everybody */
	int agent, owner; /* a session's; a skill's */
};

struct model {
	struct fixture *f;
	struct model_thing things[THINGS]; /* the agents first */
	int count;
	const char *tokens[CALLERS], *ids[CALLERS], *groups[GROUPS];
	int rank[CALLERS][AGENTS], group_rank[GROUPS][AGENTS];
	bool in_group[GROUPS][CALLERS];
};

/* The roles of the callers; the last is a GUEST who holds roles like the others. */
static const char *const roles[CALLERS] = { "OWNER", "ADMIN", "MEMBER", "MEMBER", "MEMBER",
	"GUEST" };
static const char *const ranks[] = { NULL, "VIEWER", "MANAGER", "OWNER" };

static unsigned chance(unsigned n)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (unsigned)(x % n);
}

/* Adds the words of the slug that the label does not say. */
static void add_slug(struct model *m, struct model_thing *t)
{
	for (char *copy = arena_strdup(&m->f->arena, t->slug), *word;
		(word = strsep(&copy, "-"));) {
		bool said = false;

		for (int k = 0; k < t->count; k++)
			said |= strncmp(t->words[k], word, strlen(word)) == 0;
		if (!said)
			snprintf(t->words[t->count++], sizeof *t->words, "%s", word);
	}
}

/* A label of chance words, and a slug if it shall end in something. */
static void name_thing(struct model *m, struct model_thing *t, const char *slug_end)
{
	static const char *const between[] = { " ", "-", ", ", " (" };
	bool plain = t->type == MentionType_agent;
	int n = 1 + (int)chance(4);

	t->label = "";
	t->count = 0;
	for (int i = 0; i < n; i++) {
		unsigned w = chance(plain ? PLAIN : VOCABULARY);

		t->label = arena_printf(&m->f->arena, "%s%s%s", t->label,
			i ? between[chance(plain ? 2 : 4)] : "", vocabulary[w].written);
		strcpy(t->words[t->count++], vocabulary[w].folded);
	}
	if (!slug_end)
		return;
	t->slug = arena_printf(&m->f->arena, "%s-%s-%s", vocabulary[chance(VOCABULARY)].slug,
		vocabulary[chance(VOCABULARY)].slug, slug_end);
	add_slug(m, t);
}

static void model_callers(struct model *m)
{
	struct fixture *f = m->f;
	struct model_thing *t;

	for (int i = 0; i < CALLERS; i++) {
		const char *name = vocabulary[chance(VOCABULARY)].slug;
		const char *email = arena_printf(&f->arena, "%s%d@sue.test", name, i);
		struct search_entry e = { .tenant_id = f->tenant_id, .type = MentionType_user };

		m->ids[i] = e.id = fixture_user(f, email, &m->tokens[i]);
		fixture_member(f, f->tenant_id, e.id, roles[i]);
		index_refresh(f, &e);
		t = &m->things[m->count++];
		*t = (struct model_thing){ .type = MentionType_user, .id = e.id, .label = email };
		snprintf(t->words[0], sizeof *t->words, "%s%d", name, i);
		strcpy(t->words[1], "sue");
		strcpy(t->words[2], "test");
		t->count = 3;
	}
	t = &m->things[m->count++];
	*t = (struct model_thing){ .type = MentionType_user,
		.id = f->admin_id,
		.label = "Admin",
		.words = { "admin", "localhost" },
		.count = 2 };
	for (int g = 0; g < GROUPS; g++) {
		struct answer r = ask(f, f->admin, g ? "{\"name\":\"g\"}" : "{\"name\":\"h\"}",
			"POST /tenant/%s/groups", f->tenant_id);

		STATUS(r, 201);
		m->groups[g] = text_at(&r, "id");
		for (int i = 0; i < CALLERS; i++) {
			m->in_group[g][i] = chance(2);
			if (m->in_group[g][i])
				STATUS(ask(f, f->admin, NULL, "PUT /tenant/%s/groups/%s/members/%s",
					       f->tenant_id, m->groups[g], m->ids[i]),
					201);
		}
	}
}

static void give(struct model *m, int agent)
{
	struct fixture *f = m->f;
	const char *id = m->things[agent].id;

	for (int i = 0; i < CALLERS; i++) {
		m->rank[i][agent] = chance(4) ? 0 : 1 + (int)chance(3);
		if (m->rank[i][agent])
			STATUS(ask(f, f->admin,
				       arena_printf(&f->arena, "{\"role\":\"%s\"}",
					       ranks[m->rank[i][agent]]),
				       "PUT /agents/%s/roles/%s", id, m->ids[i]),
				201);
	}
	for (int g = 0; g < GROUPS; g++) {
		m->group_rank[g][agent] = chance(5) ? 0 : 1 + (int)chance(3);
		if (m->group_rank[g][agent])
			STATUS(ask(f, f->admin,
				       arena_printf(&f->arena, "{\"role\":\"%s\"}",
					       ranks[m->group_rank[g][agent]]),
				       "PUT /agents/%s/group-roles/%s", id, m->groups[g]),
				201);
	}
}

static void set_default(struct model *m, struct model_thing *t, bool open)
{
	t->open = open;
	STATUS(ask(m->f, m->f->admin, open ? "{\"enabled\":true}" : "{\"enabled\":false}",
		       "PUT /agents/%s/default-role", t->id),
		200);
}

static void model_agents(struct model *m)
{
	for (int i = 0; i < AGENTS; i++) {
		struct model_thing *t = &m->things[m->count++];
		struct answer r;

		*t = (struct model_thing){ .type = MentionType_agent };
		name_thing(m, t, arena_printf(&m->f->arena, "n%d", i));
		t->admin_only = chance(6) == 0;
		t->hidden = chance(5) == 0;
		r = ask(m->f, m->f->admin,
			arena_printf(&m->f->arena,
				"{\"name\":\"%s\",\"slug\":\"%s\",\"is_admin_only\":%s,\"hidden\":%s}",
				t->label, t->slug, t->admin_only ? "true" : "false",
				t->hidden ? "true" : "false"),
			"POST /tenant/%s/agents", m->f->tenant_id);
		STATUS(r, 201);
		t->id = text_at(&r, "id");
		t->open = true;
		if (chance(2))
			set_default(m, t, false);
	}
}

static void model_sessions(struct model *m)
{
	for (int i = 0; i < SESSIONS; i++) {
		struct model_thing *t = &m->things[m->count++];
		struct search_entry e = { .tenant_id = m->f->tenant_id,
			.type = MentionType_session,
			.id = fixture_id(m->f) };

		*t = (struct model_thing){ .type = e.type,
			.id = e.id,
			.agent = (int)chance(AGENTS),
			.owner = (int)chance(CALLERS) };
		name_thing(m, t, NULL);
		fixture_sql(m->f,
			"insert into session_rows (tenant_id, id, agent_id, title, status, origin, "
			"created_by_id, iteration_count, message_count, last_event_id, created_at, "
			"updated_at) values ($1, $2, $3, $4, 'completed', 'user', $5, 0, 0, 0, 1, 1)",
			ARGS(T(e.tenant_id), T(e.id), T(m->things[t->agent].id), T(t->label),
				T(m->ids[t->owner])));
		index_refresh(m->f, &e);
	}
}

static void model_skills(struct model *m)
{
	for (int i = 0; i < SKILLS; i++) {
		struct model_thing *t = &m->things[m->count++];
		struct search_entry e = { .tenant_id = m->f->tenant_id,
			.type = MentionType_skill,
			.id = fixture_id(m->f) };

		*t = (struct model_thing){
			.type = e.type, .id = e.id, .open = chance(2), .owner = (int)chance(CALLERS)
		};
		name_thing(m, t, arena_printf(&m->f->arena, "k%d", i));
		e.extra = t->slug;
		e.label = t->label;
		e.level = t->open ? SEARCH_OPEN : SEARCH_ADMINS;
		e.owner_id = m->ids[t->owner];
		index_put(m->f, &e);
	}
}

static int held(const struct model *m, int caller, int agent)
{
	int most = m->rank[caller][agent];

	for (int g = 0; g < GROUPS; g++)
		if (m->in_group[g][caller] && m->group_rank[g][agent] > most)
			most = m->group_rank[g][agent];
	return most;
}

static bool sees(const struct model *m, int caller, const struct model_thing *t)
{
	bool all = caller < 2;
	const struct model_thing *agent = t->type == MentionType_session ? &m->things[t->agent] : t;

	if (t->gone || agent->gone)
		return false;
	if (t->type == MentionType_user)
		return strcmp(roles[caller], "GUEST") != 0;
	if (all)
		return true;
	if (t->type == MentionType_skill)
		return t->open || t->owner == caller;
	if (agent->admin_only)
		return false;
	if (t->type == MentionType_session)
		return held(m, caller, t->agent) || (t->owner == caller && agent->open);
	if (t->hidden)
		return held(m, caller, (int)(t - m->things)) >= 2;
	return t->open || held(m, caller, (int)(t - m->things));
}

/* Everything that decides the order, as text that sorts by bytes; NULL if q does not find the thing. */
static const char *order_key(struct model *m, const struct model_thing *t, const char *q)
{
	struct arena *a = &m->f->arena;
	const char *words[WORDS] = { 0 }, *tail = "";
	size_t points = 0;
	int earliest = WORDS, scattered = 0;

	for (const char *p = t->label; *p; p++)
		points += (*p & 0xc0) != 0x80;
	for (int i = t->count - 1; i >= 0; i--)
		words[i] = tail = arena_printf(a, "%s%s%s", t->words[i], *tail ? " " : "", tail);
	for (int i = t->count - 1; i >= 0; i--)
		if (strncmp(words[i], q, strlen(q)) == 0 &&
			(earliest == WORDS || i < 2 || strcmp(words[i], words[earliest]) < 0))
			earliest = i;
	if (earliest == WORDS) {
		scattered = 1;
		for (char *copy = arena_strdup(a, q), *word; (word = strsep(&copy, " "));) {
			bool there = false;

			for (int i = 0; i < t->count; i++) {
				if (strncmp(t->words[i], word, strlen(word)) != 0)
					continue;
				there = true;
				earliest = i < earliest ? i : earliest;
			}
			if (!there)
				return NULL;
		}
	}
	return arena_printf(a, "%d %d %d %s\x01%s", scattered, earliest < 2 ? earliest : 2,
		points <= 16   ? 0
		: points <= 32 ? 1
			       : 2,
		words[earliest], t->id);
}

static int by_key(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A chance query: *ret_q as it is sent, and the same folded. */
static const char *chance_query(struct model *m, const char **ret_q)
{
	struct arena *a = &m->f->arena;
	int words = (int)chance(4);
	const char *folded = "", *sent = "";

	if (chance(12) == 0)
		folded = sent = "zzzz";
	else if (chance(8) == 0)
		folded = sent = "n";
	else
		for (int i = 0; i < words; i++) {
			unsigned w = chance(VOCABULARY);
			const char *word = vocabulary[w].folded;
			size_t len = (unsigned char)*word >= 0x80 || chance(2)
					     ? strlen(word)
					     : 1 + chance((unsigned)strlen(word));
			bool whole = len == strlen(word);

			folded = arena_printf(a, "%s%s%.*s", folded, i ? " " : "", (int)len, word);
			sent = arena_printf(a, "%s%s%.*s", sent,
				i	    ? "+-+"
				: chance(4) ? ""
					    : "+",
				whole ? (int)strlen(vocabulary[w].written) : (int)len,
				whole ? vocabulary[w].written : word);
		}
	*ret_q = sent;
	return folded;
}

static const char *escape(struct arena *a, const char *text)
{
	const char *out = "";

	for (; *text; text++)
		out = (unsigned char)*text < 0x80
			      ? arena_printf(a, "%s%c", out, *text)
			      : arena_printf(a, "%s%%%02X", out, (unsigned)(unsigned char)*text);
	return out;
}

static void compare(struct model *m, int caller)
{
	static const int limits[] = { 1, 3, 10, 50 };
	struct arena *a = &m->f->arena;
	const char *sent, *folded = chance_query(m, &sent), *keys[THINGS], *want = "", *got = "";
	int limit = limits[chance(4)], count = 0;
	unsigned mask = chance(3) ? 31 : 1 + chance(31);
	const char *types = "";
	struct answer r;

	for (int i = 0; i <= MentionType_session; i++)
		if (mask >> i & 1)
			types = arena_printf(
				a, "%s%s%s", types, *types ? "," : "", MentionType_words.list[i]);
	for (int i = 0; i < m->count; i++) {
		const struct model_thing *t = &m->things[i];
		const char *key = order_key(m, t, folded);

		if (key && mask >> t->type & 1 && sees(m, caller, t))
			keys[count++] = key;
	}
	qsort(keys, (size_t)count, sizeof *keys, by_key);
	for (int i = 0; i < count && i < limit; i++)
		want = arena_printf(a, "%s%s ", want, strchr(keys[i], 1) + 1);
	r = hunt(m->f, m->tokens[caller],
		arena_printf(a, "q=%s&limit=%d&types=%s", escape(a, sent), limit, types));
	STATUS(r, 200);
	for (size_t i = 0; i < json_array_size(at(&r, "items")); i++)
		got = arena_printf(
			a, "%s%s ", got, text_at(&r, arena_printf(a, "items.%zu.id", i)));
	if (strcmp(got, want) != 0)
		test_fail(__FILE__, __LINE__, "%s asks %s %s %d:\n  got  %s\n  want %s",
			roles[caller], sent, types, limit, got, want);
}

/* Renames, opens, closes, hides or removes an agent. */
static void change(struct model *m)
{
	struct fixture *f = m->f;
	struct model_thing *t = &m->things[chance(AGENTS)];

	if (t->gone)
		return;
	switch (chance(5)) {
	case 0:
		t->gone = true;
		STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", t->id), 204);
		break;
	case 1:
		set_default(m, t, !t->open);
		break;
	case 2:
		t->hidden = !t->hidden;
		STATUS(ask(f, f->admin, t->hidden ? "{\"hidden\":true}" : "{\"hidden\":false}",
			       "PATCH /agents/%s", t->id),
			200);
		break;
	default:
		t->label = "Sue-s new bot";
		t->count = 4;
		strcpy(t->words[0], "sue");
		strcpy(t->words[1], "s");
		strcpy(t->words[2], "new");
		strcpy(t->words[3], "bot");
		add_slug(m, t);
		STATUS(ask(f, f->admin, "{\"name\":\"Sue-s new bot\"}", "PATCH /agents/%s", t->id),
			200);
	}
}

TEST(autocomplete_agrees_with_a_plain_model)
{
	enum { ROUNDS = 12, QUERIES = 60 };
	struct model *m = calloc(1, sizeof *m);

	m->f = fixture_open();
	model_agents(m);
	model_callers(m);
	for (int i = 0; i < AGENTS; i++)
		give(m, i);
	model_sessions(m);
	model_skills(m);
	for (int round = 0; round < ROUNDS; round++) {
		test_step("round %d", round);
		for (int i = 0; i < QUERIES; i++)
			compare(m, (int)chance(CALLERS));
		change(m);
	}
	fixture_close(m->f);
	free(m);
}

TEST(autocomplete_index_is_checked_and_made_anew)
{
	struct model *m = calloc(1, sizeof *m);
	struct fixture *f;

	f = m->f = fixture_open();
	model_agents(m);
	model_callers(m);
	model_sessions(m);
	index_check(f, 0);
	test_step("damage is noticed");
	fixture_sql(f, "delete from search_words where tail = 'sue test'", NO_ARGS);
	index_check(f, CALLERS);
	fixture_sql(
		f, "update search_things set label = 'x' where id = $1", ARGS(T(m->things[0].id)));
	fixture_sql(f, "delete from search_things where id = $1", ARGS(T(m->things[1].id)));
	index_check(f, CALLERS + 2);
	test_step("made anew");
	index_ensure(f);
	index_check(f, 0);
	for (int i = 0; i < 20; i++)
		compare(m, 0);
	test_step("made only once");
	fixture_sql(f, "delete from search_words where tail = 'sue test'", NO_ARGS);
	index_ensure(f);
	index_check(f, CALLERS);
	fixture_close(f);
	free(m);
}
