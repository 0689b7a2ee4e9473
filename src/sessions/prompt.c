/* prompt.c - what a model is told before the conversation itself: the agent's words, its skills by name, its
 * tools, and how it is to answer; and which models it goes to. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "sessions/agent_tools.h"
#include "sessions/builtin_tools.h"
#include "sessions/skillset.h"
#include "sessions/turn.h"

enum { ALIAS_MAX = 64, CLIENT_TOOLS_MAX = 128, MESSAGES_MAX = 50000, SUMMARIES_MAX = 4 };
/* Where nobody has said how long a model's window is. */
enum { WINDOW_UNSAID = 128000 };

struct agent_words {
	const char *description_prompt, *bootstrap_instructions;
	int64_t iteration_warn_threshold;
};

FIELDS(agent_words) = {
	FIELD(agent_words, description_prompt, .nullable = true),
	FIELD(agent_words, bootstrap_instructions, .nullable = true),
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

enum { AGENT_WORDS, SUMMARY, MESSAGES, WINDOW };

static const struct statement sql[] = {
	[AGENT_WORDS] = { "prompt_agent", "select {*} from agents where tenant_id = $1 and id = $2",
		.row = &agent_words_schema },
	[SUMMARY] = { "prompt_summary",
		"select {*} from session_summaries where tenant_id = $1 and session_id = $2 "
		"order by last_message_id desc limit 1",
		.row = &summary_row_schema },
	[MESSAGES] = { "prompt_messages",
		"select {*} from messages where tenant_id = $1 and session_id = $2 and id > $3 "
		"and id < $4 and status = 'complete' order by id limit $5",
		.row = &message_row_schema },
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
		bool limit = len == 10 && memcmp(key, "max_tokens", len) == 0;

#define IS(name) (len == sizeof(name) - 1 && memcmp(key, name, len) == 0)
		plain = IS("instructions")		? &w->instructions
			: IS("additional_instructions") ? &w->additional_instructions
			: IS("model_id")		? &w->model_id
							: NULL;
		raw = IS("tools") ? &w->tools : IS("tool_choice") ? &w->tool_choice : NULL;
		figure = IS("temperature") ? &w->temperature : IS("top_p") ? &w->top_p : NULL;
#undef IS
		if (plain) {
			json_read_string(&r, plain, &len);
		} else if (raw && json_skip(&r, &text, &len)) {
			*raw = arena_strndup(a, text, len);
		} else if ((figure || limit) && json_read_number(&r, &n)) {
			if (limit)
				w->max_tokens = n.integer;
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

const struct offer *prompt_offer_named(const struct turn *t, const char *name)
{
	for (size_t i = 0; i < t->kit.count; i++)
		if (strcmp(t->kit.offers[i].name, name) == 0)
			return &t->kit.offers[i];
	return NULL;
}

static void add_held(struct turn *t, const struct held_tool *h)
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

	if (prompt_offer_named(t, b->name))
		return;
	*h = (struct held_tool){ .id = "",
		.name = b->name,
		.kind = "builtin",
		.description = b->description,
		.input_schema = b->input_schema,
		.repeat_safe = true,
		.config = "{}",
		.sealed = "" };
	add_held(t, h);
}

static bool read_function(struct turn *t, struct json_reader *r)
{
	struct offer o = { .description = "" };
	const char *key, *text;
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
	while (json_next_item(&r) && read_function(t, &r))
		;
}

/* ---- words ---- */

static void put_part(struct buf *b, const char *text)
{
	if (!text || !*text)
		return;
	buf_puts(b, b->len ? "\n\n" : "");
	buf_puts(b, text);
}

static void put_skills(struct buf *b, const struct list *skills)
{
	const struct usable_skill *s = skills->at;

	if (!skills->count)
		return;
	put_part(b, "# Skills\n\nYou have the skills below. Before you work by one, read its "
		    "instructions with the tool skill_read.\n");
	for (size_t i = 0; i < skills->count; i++)
		buf_printf(b, "\n- %s (%s): %s", s[i].slug, s[i].name, s[i].description);
}

static const char *system_text(
	struct turn *t, const struct agent_words *words, const struct list *skills)
{
	const struct wish *w = &t->wish;
	struct buf b;
	const char *text;

	buf_init(&b, (size_t)16 << 20);
	put_part(&b, w->instructions ? w->instructions : words->description_prompt);
	if (!w->instructions)
		put_part(&b, words->bootstrap_instructions);
	put_part(&b, w->additional_instructions);
	put_skills(&b, skills);
	if (prompt_offer_named(t, "memory_search"))
		put_part(&b, "# Notes\n\nYou keep notes between sessions. Look into them with "
			     "memory_search where earlier work may matter, and keep with "
			     "memory_write what later sessions should know.");
	text = arena_strndup(&t->arena, b.at ? b.at : "", b.len);
	buf_free(&b);
	return text;
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
		add_held(t, (const struct held_tool *)held.at + i);
	if (skills.count)
		add_skill_reader(t);
	add_client_tools(t);
	t->kit.system = system_text(t, &words, &skills);
	t->kit.loaded = true;
	return 0;
}

/* ---- the chat ---- */

static void choose_tool(struct turn *t, struct chat *chat)
{
	const char *choice = t->wish.tool_choice, *at, *end;

	/* Forced again and again, it would never come to an answer. */
	if (!choice || t->iterations)
		return;
	if (strcmp(choice, "\"none\"") == 0) {
		chat->tool_choice = CHOICE_NONE;
	} else if (strcmp(choice, "\"required\"") == 0) {
		chat->tool_choice = CHOICE_REQUIRED;
	} else if ((at = strstr(choice, "\"name\"")) && (at = strchr(at + 6, '"')) &&
		   (end = strchr(at + 1, '"'))) {
		const struct offer *o = prompt_offer_named(
			t, arena_strndup(&t->mind, at + 1, (size_t)(end - at - 1)));

		if (o) {
			chat->tool_choice = CHOICE_NAMED;
			chat->tool_chosen = chat_text(chat, o->alias);
		}
	}
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

		chat_tool_add(chat, o->alias, o->description, o->parameters);
	}
	choose_tool(t, chat);
	if (summary)
		chat_message_add(chat, CHAT_USER,
			arena_printf(&t->mind,
				"[What was said before, summed up, for it no longer fits]\n\n%s",
				summary));
}

static void warn(struct turn *t, struct chat *chat)
{
	if (t->kit.warn_at != NIL && t->iterations && t->iterations == t->kit.warn_at)
		chat_message_add(chat, CHAT_SYSTEM,
			arena_printf(&t->mind,
				"You have taken %lld turns in this run. Come to an end soon: sum up what "
				"you have, or say what stands in the way.",
				(long long)t->iterations));
}

static int make_plan(struct turn *t, struct db *db)
{
	const struct broker_settings *broker = broker_settings(t->s->broker);
	struct plan_asked asked = { .tenant_id = t->job->tenant_id,
		.agent_id = t->agent_id,
		.model_id = t->wish.model_id,
		.user_id = t->user_id,
		.chat = &t->chat,
		.vault = t->s->settings.vault,
		.keys = broker->keys,
		.now = clock_now_us() };

	return plan_make(db, &t->mind, &asked, &t->plan, &t->problem);
}

/* Three quarters of the first model's window are the most; then what is oldest is summed up. */
static int keep_within(
	struct turn *t, struct db *db, struct list *messages, const struct summary_row *summary)
{
	int64_t window = -1;
	size_t count;
	int err = db_int(db, &sql[WINDOW], &window, ARGS(T(t->plan.at[0].model_id)));

	if (window <= 0)
		window = WINDOW_UNSAID;
	if (err || t->plan.prompt_tokens <= window / 4 * 3 || t->summaries >= SUMMARIES_MAX)
		return err;
	count = prompt_summary(t, messages, summary->content, window, &t->chat);
	if (!count)
		return 0;
	t->summary_up_to = ((const struct message_row *)messages->at)[count - 1].id;
	return make_plan(t, db);
}

int turn_act_load(struct turn *t, struct db *db)
{
	struct summary_row summary;
	struct list messages;
	int err = prompt_kit(t, db);

	t->summary_up_to = NULL;
	if (!err)
		err = db_one(db, &t->mind, &sql[SUMMARY], &summary,
			ARGS(T(t->job->tenant_id), T(t->job->subject)));
	if (err == ERR_NOT_FOUND) {
		summary = (struct summary_row){ .last_message_id = "" };
		err = 0;
	}
	if (!err)
		err = db_all(db, &t->mind, &sql[MESSAGES], &messages, MESSAGES_MAX,
			ARGS(T(t->job->tenant_id), T(t->job->subject), T(summary.last_message_id),
				T(t->answer_id), N(MESSAGES_MAX)));
	if (err)
		return err;
	open_chat(t, &t->chat, summary.content);
	prompt_messages(&messages, &t->chat);
	warn(t, &t->chat);
	err = make_plan(t, db);
	return err ? err : keep_within(t, db, &messages, &summary);
}
