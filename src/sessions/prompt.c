/* prompt.c - what a model is told before the conversation itself: the agent's words, its skills by name, its
 * tools, and how it is to answer; and which models it goes to. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_tree.h"
#include "sessions/agent_tools.h"
#include "sessions/builtin_tools.h"
#include "sessions/skillset.h"
#include "sessions/turn.h"

enum { ALIAS_MAX = 64, CLIENT_TOOLS_MAX = 128, MESSAGES_MAX = 50000, SUMMARIES_MAX = 4 };
/* Where nobody has said how long a model's window is. */
enum { WINDOW_UNSAID = 128000 };

struct agent_words {
	const char *description_prompt, *bootstrap_instructions, *bootstrap_session_id;
	int64_t iteration_warn_threshold;
};

FIELDS(agent_words) = {
	FIELD(agent_words, description_prompt, .nullable = true),
	FIELD(agent_words, bootstrap_instructions, .nullable = true),
	FIELD(agent_words, bootstrap_session_id, .nullable = true),
	FIELD(agent_words, iteration_warn_threshold, .nullable = true),
};
static SCHEMA(agent_words, .internal = true);

struct summary_row {
	const char *last_message_id, *content;
};

FIELDS(summary_row) = {
	FIELD(summary_row, last_message_id),
	FIELD(summary_row, content),
};
static SCHEMA(summary_row, .internal = true);

FIELDS(failed_call) = {
	FIELD(failed_call, message_id),
	FIELD(failed_call, call_id),
};
static SCHEMA(failed_call, .internal = true);

enum { AGENT_WORDS, BOOTSTRAP_CLAIM, SUMMARY, MESSAGES, HEARD, FAILED, WINDOW };

static const struct statement sql[] = {
	[AGENT_WORDS] = { "prompt_agent", "select {*} from agents where tenant_id = $1 and id = $2",
		.row = &agent_words_schema },
	[BOOTSTRAP_CLAIM] = { "prompt_bootstrap_claim",
		"update agent_rows set bootstrap_session_id = $3 where tenant_id = $1 and id = $2 "
		"and bootstrap_instructions is not null and bootstrap_session_id is null" },
	[SUMMARY] = { "prompt_summary",
		"select {*} from session_summaries where tenant_id = $1 and session_id = $2 "
		"order by last_message_id desc limit 1",
		.row = &summary_row_schema },
	[MESSAGES] = { "prompt_messages",
		"select {*} from messages where tenant_id = $1 and session_id = $2 and id > $3 "
		"and id < $4 and status = 'complete' and heard_id is null order by id limit $5",
		.row = &message_row_schema },
	/* Those that stand elsewhere than where they were said. */
	[HEARD] = { "prompt_heard",
		"select {*} from messages where tenant_id = $1 and session_id = $2 and heard_id > $3 "
		"and heard_id < $4 and status = 'complete' order by heard_id limit $5",
		.row = &message_row_schema },
	/* Each has its result among the messages. */
	[FAILED] = { "prompt_failed",
		"select {*} from session_calls where tenant_id = $1 and session_id = $2 "
		"and message_id > $3 and message_id < $4 "
		"and state in ('failed', 'denied', 'cancelled', 'unknown') "
		"order by message_id, position limit $5",
		.row = &failed_call_schema },
	[WINDOW] = { "prompt_window",
		"select coalesce(context_window, -1) from models where id = $1" },
};
STATEMENT_SET(prompt_sql, sql);

/* ---- what the run was asked for ---- */

int wish_read(struct arena *a, const char *options, struct wish *w)
{
	struct json_reader r;
	const char *key, *text;
	size_t len;

	*w = (struct wish){ .temperature = NAN, .top_p = NAN };
	json_open(&r, a, arena_strdup(a, options), strlen(options));
	json_enter_object(&r);
	while (json_next_key(&r, &key, &len)) {
		struct json_number n;
		const char **plain = NULL, **raw = NULL;
		double *figure = NULL;
		const char *word = NULL, *one = NULL;
		int64_t *limit;

#define IS(name) (len == sizeof(name) - 1 && memcmp(key, name, len) == 0)
		limit = IS("max_tokens")	  ? &w->max_tokens
			: IS("max_prompt_tokens") ? &w->max_prompt_tokens
			: IS("last_messages")	  ? &w->last_messages
						  : NULL;
		plain = IS("instructions")		? &w->instructions
			: IS("additional_instructions") ? &w->additional_instructions
			: IS("model_id")		? &w->model_id
			: IS("effort")			? &w->effort
							: NULL;
		raw = IS("tools")	  ? &w->tools
		      : IS("tool_choice") ? &w->tool_choice
		      : IS("any_hour")	  ? &word
		      : IS("one_call")	  ? &one
		      : IS("forward")	  ? &w->forward
					  : NULL;
		figure = IS("temperature") ? &w->temperature : IS("top_p") ? &w->top_p : NULL;
#undef IS
		if (plain) {
			json_read_string(&r, plain, &len);
		} else if (raw && json_skip(&r, &text, &len)) {
			*raw = arena_strndup(a, text, len);
			w->any_hour |= word != NULL;
			w->one_call |= one != NULL;
		} else if ((figure || limit) && json_read_number(&r, &n)) {
			if (limit)
				*limit = n.integer;
			else
				*figure = n.value;
		} else if (!r.fault && !raw && !figure && !limit) {
			json_skip(&r, NULL, NULL);
		}
	}
	return json_end(&r) ? 0 : ERR_INTERNAL;
}

/* ---- tools ---- */

/* Providers take letters, digits, _ and -, and 64 of them. */
const char *prompt_alias(struct arena *a, const char *name)
{
	char *out = arena_strndup(a, name, strnlen(name, ALIAS_MAX));

	for (char *s = out; *s; s++)
		if (*s == '.')
			*s = '_';
	return out;
}

static void add_offer(struct turn *t, const struct offer *o)
{
	struct offer *to = &t->kit.offers[t->kit.count];

	*to = *o;
	to->alias = prompt_alias(&t->arena, o->name);
	/* The second of two that would go by the same name is told from the first. */
	for (int n = 2; prompt_offer(t, to->alias) && n < 1000; n++)
		to->alias = arena_printf(
			&t->arena, "%.*s_%d", ALIAS_MAX - 5, prompt_alias(&t->arena, o->name), n);
	t->kit.count++;
}

const struct offer *prompt_offer(const struct turn *t, const char *alias)
{
	for (size_t i = 0; i < t->kit.count; i++)
		if (strcmp(t->kit.offers[i].alias, alias) == 0)
			return &t->kit.offers[i];
	return NULL;
}

const struct offer *prompt_offer_held(const struct turn *t, const char *tool_id)
{
	for (size_t i = 0; i < t->kit.count; i++)
		if (t->kit.offers[i].held && strcmp(t->kit.offers[i].held->id, tool_id) == 0)
			return &t->kit.offers[i];
	return NULL;
}

/* The agent's own that is built in by this name. */
static const struct offer *builtin_offer(const struct turn *t, const char *name)
{
	for (size_t i = 0; i < t->kit.count; i++) {
		const struct held_tool *h = t->kit.offers[i].held;

		if (h && strcmp(h->kind, "builtin") == 0 && strcmp(h->name, name) == 0)
			return &t->kit.offers[i];
	}
	return NULL;
}

static void add_held_offer(struct turn *t, const struct held_tool *h)
{
	const struct builtin_tool *b =
		strcmp(h->kind, "builtin") == 0 ? builtin_tool(h->name) : NULL;

	add_offer(t, &(struct offer){ .held = h,
			     .name = h->name,
			     .description = *h->description || !b ? h->description : b->description,
			     .parameters = h->input_schema });
}

/* Without it skills would be names and nothing more. */
static void add_skill_reader(struct turn *t)
{
	const struct builtin_tool *b = builtin_tool("skill_read");
	struct held_tool *h = arena_new(&t->arena, struct held_tool);

	if (builtin_offer(t, b->name))
		return;
	*h = (struct held_tool){ .id = b->name, /* no row has such an id */
		.name = b->name,
		.kind = "builtin",
		.description = b->description,
		.input_schema = b->input_schema,
		.repeat_safe = true,
		.implied = true,
		.config = "{}",
		.sealed = "" };
	add_held_offer(t, h);
}

static bool read_client_function(struct turn *t, struct json_reader *r)
{
	struct offer o = { .description = "", .strict = -1 };
	const char *key, *text;
	bool strict;
	size_t len;

	json_enter_object(r);
	while (json_next_key(r, &key, &len)) {
		if (len == 4 && memcmp(key, "name", 4) == 0)
			json_read_string(r, &o.name, &len);
		else if (len == 11 && memcmp(key, "description", 11) == 0 &&
			 json_peek(r) == JSON_STRING)
			json_read_string(r, &o.description, &len);
		else if (len == 10 && memcmp(key, "parameters", 10) == 0 &&
			 json_skip(r, &text, &len))
			o.parameters = arena_strndup(&t->arena, text, len);
		else if (len == 6 && memcmp(key, "strict", 6) == 0 && json_peek(r) == JSON_BOOL &&
			 json_read_bool(r, &strict))
			o.strict = strict;
		else if (!r->fault)
			json_skip(r, NULL, NULL);
	}
	if (!r->fault && o.name && t->kit.count < AGENT_TOOLS_MAX + CLIENT_TOOLS_MAX)
		add_offer(t, &o);
	return !r->fault;
}

static void add_client_tools(struct turn *t)
{
	struct json_reader r;

	if (!t->wish.tools)
		return;
	json_open(&r, &t->arena, t->wish.tools, strlen(t->wish.tools));
	json_enter_array(&r);
	while (json_next_item(&r) && read_client_function(t, &r))
		;
}

/* ---- words ---- */

static void put_prompt_part(struct buf *b, const char *text)
{
	if (!text || !*text)
		return;
	buf_puts(b, b->len ? "\n\n" : "");
	buf_puts(b, text);
}

static void put_skills(struct buf *b, const struct turn *t, const struct list *skills)
{
	const struct usable_skill *s = skills->at;

	if (!skills->count)
		return;
	put_prompt_part(b,
		"# Skills\n\nYou have the skills below. Before you work by one, read its "
		"instructions with the tool ");
	buf_printf(b, "%s.\n", builtin_offer(t, "skill_read")->alias);
	for (size_t i = 0; i < skills->count; i++)
		buf_printf(b, "\n- %s (%s): %s", s[i].slug, s[i].name, s[i].description);
}

static const char *system_text(
	struct turn *t, const struct agent_words *words, const struct list *skills)
{
	const struct offer *search = builtin_offer(t, "memory_search"),
			   *write = builtin_offer(t, "memory_write");
	const struct wish *w = &t->wish;
	struct buf b;

	buf_init(&b, (size_t)16 << 20);
	put_prompt_part(&b, w->instructions ? w->instructions : words->description_prompt);
	if (!w->instructions && words->bootstrap_session_id &&
		strcmp(words->bootstrap_session_id, t->job->subject) == 0)
		put_prompt_part(&b, words->bootstrap_instructions);
	put_prompt_part(&b, w->additional_instructions);
	put_skills(&b, t, skills);
	if (search) {
		put_prompt_part(
			&b, "# Notes\n\nYou keep notes between sessions. Look into them with ");
		buf_printf(&b, "%s where earlier work may matter", search->alias);
		if (write)
			buf_printf(&b, ", and keep with %s what later sessions should know",
				write->alias);
		buf_putc(&b, '.');
	}
	return arena_take(&t->arena, &b);
}

/* The row of the agent is changed by one of those that begin at once; the others find it taken. */
int prompt_claim_bootstrap(struct turn *t, struct session_tx *p)
{
	if (p->row.iteration_count || t->wish.instructions)
		return 0;
	return db_run(p->db, &sql[BOOTSTRAP_CLAIM], NULL,
		ARGS(T(p->tenant_id), T(p->row.agent_id), T(p->session_id)));
}

int prompt_kit(struct turn *t, struct db *db)
{
	struct agent_words words;
	struct list held, skills;
	int err;

	if (t->kit.loaded)
		return 0;
	err = db_one(db, &t->arena, &sql[AGENT_WORDS], &words,
		ARGS(T(t->job->tenant_id), T(t->agent_id)));
	if (!err)
		err = agent_tools_held(db, &t->arena, t->job->tenant_id, t->agent_id, &held);
	if (!err)
		err = skillset_usable(db, &t->arena, t->job->tenant_id, t->agent_id, &skills);
	if (err)
		return err;
	t->kit = (struct kit){ .warn_at = words.iteration_warn_threshold };
	t->kit.offers =
		arena_array(&t->arena, struct offer, AGENT_TOOLS_MAX + CLIENT_TOOLS_MAX + 2);
	for (size_t i = 0; i < held.count; i++)
		add_held_offer(t, (const struct held_tool *)held.at + i);
	if (skills.count)
		add_skill_reader(t);
	add_client_tools(t);
	t->kit.system = system_text(t, &words, &skills);
	t->kit.loaded = true;
	return 0;
}

/* ---- the chat ---- */

/* {"name": ...} or {"function": {"name": ...}}: a function that came with the choice before a tool that
 * has its name. */
static const struct offer *chosen_offer(struct turn *t, const char *choice)
{
	const struct json_node *n = json_tree(&t->mind, choice, strlen(choice), NULL, NULL);
	const struct json_node *inner = n ? json_tree_member(n, "function", 8) : NULL;
	const char *name = n ? json_tree_text(inner ? inner : n, "name") : NULL;
	const struct offer *held = NULL;

	for (size_t i = 0; name && i < t->kit.count; i++) {
		const struct offer *o = &t->kit.offers[i];

		if (strcmp(o->name, name) != 0)
			continue;
		if (!o->held)
			return o;
		held = o;
	}
	return held;
}

static void choose_tool(struct turn *t, struct chat *chat)
{
	const char *choice = t->wish.tool_choice;

	/* Forced again and again, it would never come to an answer. */
	if (!choice || t->iterations)
		return;
	if (strcmp(choice, "\"none\"") == 0) {
		chat->tool_choice = CHOICE_NONE;
	} else if (strcmp(choice, "\"required\"") == 0) {
		chat->tool_choice = CHOICE_REQUIRED;
	} else {
		const struct offer *o = chosen_offer(t, choice);

		if (o) {
			chat->tool_choice = CHOICE_NAMED;
			chat->tool_chosen = chat_text(chat, o->alias);
		}
	}
}

/* What the caller asked of the provider. */
static void forward_wishes(struct turn *t, struct chat *chat)
{
	const char *key, *value;
	struct json_reader r;
	size_t len;

	if (t->wish.one_call && chat->tools)
		chat->parallel_calls = 0;
	for (int i = 1; t->wish.effort && i < EFFORT_COUNT; i++)
		if (strcmp(t->wish.effort, chat_effort_names[i]) == 0)
			chat->effort = (enum chat_effort)i;
	if (!t->wish.forward)
		return;
	json_open(&r, &t->mind, t->wish.forward, strlen(t->wish.forward));
	json_enter_object(&r);
	while (json_next_key(&r, &key, &len) && json_skip(&r, &value, &len))
		chat_field_add(chat, key,
			(struct slice){ arena_strndup(&t->mind, value, len), len }, NULL);
}

static void open_chat(struct turn *t, struct chat *chat, const char *summary)
{
	chat_open(chat, &t->mind);
	chat->stream = true;
	chat->max_tokens = t->wish.max_tokens;
	chat->temperature = t->wish.temperature;
	chat->top_p = t->wish.top_p;
	if (*t->kit.system)
		chat_message_add(chat, CHAT_SYSTEM, t->kit.system);
	for (size_t i = 0; i < t->kit.count; i++) {
		const struct offer *o = &t->kit.offers[i];

		struct chat_tool *tool =
			chat_tool_add(chat, o->alias, o->description, o->parameters);

		tool->has_strict = !o->held && o->strict >= 0;
		tool->strict = tool->has_strict && o->strict;
	}
	choose_tool(t, chat);
	forward_wishes(t, chat);
	if (summary)
		chat_message_add(chat, CHAT_USER,
			arena_printf(&t->mind,
				"[What was said before, summed up, for it no longer fits]\n\n%s",
				summary));
}

static void warn_of_iterations(struct turn *t, struct chat *chat)
{
	if (t->kit.warn_at != NIL && t->iterations && t->iterations == t->kit.warn_at)
		chat_message_add(chat, CHAT_SYSTEM,
			arena_printf(&t->mind,
				"You have taken %lld turns in this run. Come to an end soon: sum up what "
				"you have, or say what stands in the way.",
				(long long)t->iterations));
}

static int plan_for(struct turn *t, struct db *db, const struct chat *chat, struct candidates *ret,
	struct problem *p)
{
	struct candidates_asked asked = { .tenant_id = t->job->tenant_id,
		.agent_id = t->agent_id,
		.model_id = t->wish.model_id,
		.user_id = t->acts_as,
		.chat = chat,
		.tools_optional = !t->wish.tools,
		.vault = t->s->settings.vault,
		.keys = broker_keys(t->s->broker, &t->mind),
		.counted = true,
		.any_hour = t->wish.any_hour,
		.now = clock_now_us() };

	return candidates_find(db, &t->mind, &asked, ret, p);
}

static bool is_candidate(const struct candidates *all, const char *model_id)
{
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->at[i].model_id, model_id) == 0)
			return true;
	return false;
}

/* Models that take everything come first; those that do not take the images or files are told of them. */
static int make_plan(struct turn *t, struct db *db)
{
	struct candidates *others;
	struct problem unsaid = { 0 };
	int err = plan_for(t, db, &t->chat, &t->candidates, &t->problem), without;

	if (!t->bare)
		return err;
	others = arena_new(&t->mind, struct candidates);
	without = plan_for(t, db, t->bare, others, &unsaid);
	if (without)
		return err;
	if (err) {
		t->problem = (struct problem){ 0 };
		t->candidates = *others;
		t->candidates.count = 0;
	}
	for (size_t i = 0; i < others->count && t->candidates.count < CANDIDATES_MAX; i++)
		if (!is_candidate(&t->candidates, others->at[i].model_id)) {
			t->candidates.at[t->candidates.count] = others->at[i];
			t->candidates.at[t->candidates.count++].without_parts = true;
		}
	return 0;
}

/* Three quarters of the first model's window are the most; then what is oldest is summed up. */
static int keep_within(
	struct turn *t, struct db *db, struct list *messages, const struct summary_row *summary)
{
	int64_t window = -1;
	size_t count;
	int err = db_int(db, &sql[WINDOW], &window, ARGS(T(t->candidates.at[0].model_id)));

	if (window <= 0)
		window = WINDOW_UNSAID;
	if (t->wish.max_prompt_tokens && t->wish.max_prompt_tokens < window / 4 * 3)
		window = t->wish.max_prompt_tokens / 3 * 4 + 4;
	if (err || t->candidates.prompt_tokens <= window / 4 * 3 || t->summaries >= SUMMARIES_MAX)
		return err;
	count = prompt_summary(t, messages, summary->content, window, &t->chat);
	if (!count)
		return 0;
	t->bare = NULL;
	t->summary_up_to = ((const struct message_row *)messages->at)[count - 1].id;
	return make_plan(t, db);
}

/* Two lists in order as one; what was heard later is known by the id of its place. */
static void merge_messages(struct arena *a, struct list *messages, const struct list *heard)
{
	const struct message_row *m = messages->at, *h = heard->at;
	size_t count = messages->count + heard->count;
	struct message_row *out = arena_array(a, struct message_row, count + 1);

	for (size_t i = 0, j = 0, n = 0; n < count; n++) {
		bool later = j < heard->count &&
			     (i == messages->count || strcmp(h[j].heard_id, m[i].id) < 0);

		out[n] = later ? h[j++] : m[i++];
		if (later)
			out[n].id = out[n].heard_id;
	}
	*messages = (struct list){ out, count };
}

/* What was said from one message on, and before another, as the model is to read it. */
static int read_messages(
	struct turn *t, struct db *db, const char *from, const char *before, struct list *ret)
{
	struct list heard = { 0 };
	int err = db_all(db, &t->mind, &sql[MESSAGES], ret, MESSAGES_MAX,
		ARGS(T(t->job->tenant_id), T(t->job->subject), T(from), T(before),
			N(MESSAGES_MAX)));

	if (!err)
		err = db_all(db, &t->mind, &sql[HEARD], &heard, MESSAGES_MAX,
			ARGS(T(t->job->tenant_id), T(t->job->subject), T(from), T(before),
				N(MESSAGES_MAX)));
	if (!err && heard.count)
		merge_messages(&t->mind, ret, &heard);
	return err;
}

/* The last summary, or one of nothing. */
static int read_summary(struct turn *t, struct db *db, struct summary_row *ret)
{
	int err = db_one(
		db, &t->mind, &sql[SUMMARY], ret, ARGS(T(t->job->tenant_id), T(t->job->subject)));

	if (err != ERR_NOT_FOUND)
		return err;
	*ret = (struct summary_row){ .last_message_id = "" };
	return 0;
}

/* Of those before the run, the last so many; results of tools do not count, and go with their calls. */
static void leave_out_older(struct turn *t, struct list *messages)
{
	const struct message_row *m = messages->at;
	int64_t kept = 0;
	size_t i = messages->count;

	if (!t->wish.last_messages)
		return;
	while (i && kept < t->wish.last_messages) {
		i--;
		kept += strcmp(m[i].role, "tool") != 0 &&
			(!m[i].run_id || strcmp(m[i].run_id, t->run_id) != 0);
	}
	*messages = (struct list){ (void *)(m + i), messages->count - i };
}

static void write_chat(struct turn *t, struct chat *chat, const struct summary_row *summary,
	struct list *messages, const struct list *failed, const struct list *media)
{
	open_chat(t, chat, summary->content);
	prompt_messages(messages, failed, media, chat);
	warn_of_iterations(t, chat);
}

/* ERR_NOT_FOUND: the agent was deleted since the step before, and its sessions with it. */
int turn_act_load(struct turn *t, struct db *db)
{
	struct summary_row summary;
	struct list messages, failed = { 0 }, media = { 0 };
	int err = prompt_kit(t, db);

	t->summary_up_to = NULL;
	t->bare = NULL;
	if (!err)
		err = read_summary(t, db, &summary);
	if (!err)
		err = read_messages(t, db, summary.last_message_id, t->answer_id, &messages);
	if (!err)
		err = db_all(db, &t->mind, &sql[FAILED], &failed, MESSAGES_MAX,
			ARGS(T(t->job->tenant_id), T(t->job->subject), T(summary.last_message_id),
				T(t->answer_id), N(MESSAGES_MAX)));
	if (err)
		return err;
	leave_out_older(t, &messages);
	if (prompt_has_parts(&messages)) {
		t->bare = arena_new(&t->mind, struct chat);
		write_chat(t, t->bare, &summary, &messages, &failed, NULL);
		err = prompt_media_load(t, db, &messages, &media);
		if (err)
			return err;
	}
	write_chat(t, &t->chat, &summary, &messages, &failed, &media);
	if (!err)
		err = make_plan(t, db);
	if (!err)
		err = keep_within(t, db, &messages, &summary);
	return err ? err : turn_after_others(t, db);
}
