/* candidates.c - see candidates.h. */
#include "broker/candidates.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "broker/chat_config.h"
#include "broker/endpoint.h"
#include "broker/provider_keys.h"
#include "broker/room.h"
#include "broker/secrets.h"

enum { QUEUE_MAX = 96 };

/* A model to look at. */
struct stop {
	const char *model_id;
	struct gate_facts *facts; /* NULL: not loaded yet */
	bool stands_in; /* for one that the agent may call: it needs no grant of its own */
	int depth;
};

struct candidate_walk {
	struct db *db;
	struct arena *arena;
	const struct candidates_asked *asked;
	struct gate_who who;
	struct candidates *candidates;
	struct stop queue[QUEUE_MAX];
	size_t first, last;
	const struct gate_rule *refusal;      /* the first */
	unsigned untaken;		      /* by its model: parts, as bits */
	const struct gate_rule *part_refusal; /* the first for what is in the messages */
	unsigned part_untaken;
	bool routed;	      /* a router was asked, and had nothing that fits */
	const char *unopened; /* the first that was passed over for its secret */
};

/* ---- the way to one model ---- */

static size_t host_len(const char *url)
{
	const char *host = strstr(url, "://");

	return host ? (size_t)(host - url) + 3 + strcspn(host + 3, "/?#") : strcspn(url, "/?#");
}

bool same_host(const char *one, const char *other)
{
	size_t n = host_len(one);

	return n == host_len(other) && strncasecmp(one, other, n) == 0;
}

/* Whose key it is: a tenant's own first, then the model's, then the operator's for that provider.  A key
 * is for the host it was given for: what belongs to a provider is not sent to another address. */
static int find_model_key(struct candidate_walk *w, const struct gate_facts *f,
	const struct model_secrets *s, struct candidate *c)
{
	const struct broker_keys *keys = &w->asked->keys;
	const char *operators = c->provider == &provider_anthropic ? keys->anthropic : keys->openai;
	const char *home = c->provider->base_url;

	c->target.api_key = s->api_key;
	if (f->key_id && same_host(f->key_base_url ? f->key_base_url : home, c->url)) {
		c->byok = true;
		return provider_key_unseal(
			w->asked->vault, w->arena, f->key_id, f->key_sealed, &c->target.api_key);
	} else if (!s->api_key && operators && same_host(home, c->url)) {
		c->target.api_key = operators;
	}
	return 0;
}

/* The provider's headers, and the model's own, which come before one of the same name. */
static void write_candidate_headers(
	struct candidate_walk *w, const struct model_secrets *s, struct candidate *c)
{
	struct provider_header theirs[PROVIDER_HEADERS_MAX];
	size_t count = c->provider->headers(&c->target, theirs), n = 0;
	const char **lines = arena_array(w->arena, const char *, count + s->header_count + 1);

	for (size_t i = 0; i < count; i++)
		if (!model_header_find(s, theirs[i].name))
			lines[n++] = arena_printf(w->arena, "%s: %s%s", theirs[i].name,
				theirs[i].before, theirs[i].value);
	for (size_t i = 0; i < s->header_count; i++)
		lines[n++] =
			arena_printf(w->arena, "%s: %s", s->headers[i].name, s->headers[i].value);
	c->headers = lines;
}

static int64_t output_wanted(
	const struct chat *chat, int64_t model_max, const struct provider *provider)
{
	int64_t most = chat->max_tokens ? chat->max_tokens : DEFAULT_MAX_TOKENS;

	if (chat->request)
		return chat->request->output_most;
	if (model_max > 0 && model_max < most)
		most = model_max;
	return provider && most < provider->least_output ? provider->least_output : most;
}

static int egress_host(struct candidate_walk *w, const struct gate_facts *f, struct candidate *c)
{
	struct model_secrets secrets;
	int err = model_secrets_open(w->asked->vault, w->arena, f->model_id, f->secrets, &secrets);

	if (err)
		return err;
	c->target.model = f->provider_model;
	c->target.base_url = f->base_url;
	c->target.body_type = w->asked->chat->request ? w->asked->chat->request->type : NULL;
	c->url = provider_url(w->arena, c->provider, &c->target);
	err = find_model_key(w, f, &secrets, c);
	write_candidate_headers(w, &secrets, c);
	return err;
}

/* What is free is charged at nothing, whatever it costs the house. */
static struct price price_of(const struct gate_facts *f)
{
	if (f->is_free)
		return (struct price){ 0, 0, NIL, NIL, NIL, NIL };
	return gate_price(f);
}

/* ---- what the model can do ---- */

/* Whether the chat can be told to a model that knows no tools: nobody insists on one, and none was called. */
static bool does_without_tools(const struct candidate_walk *w)
{
	const struct chat *chat = w->asked->chat;

	if (!w->asked->tools_optional || chat->tool_choice == CHOICE_REQUIRED ||
		chat->tool_choice == CHOICE_NAMED)
		return false;
	for (const struct chat_message *m = chat->messages; m; m = m->next)
		if (m->role == CHAT_TOOL || m->calls)
			return false;
	return true;
}

static enum ModelEndpoint endpoint_of(const struct candidate_walk *w)
{
	return w->asked->chat->request ? w->asked->chat->request->endpoint : ModelEndpoint_chat;
}

static bool has_endpoint(const struct candidate_walk *w, const struct gate_facts *f)
{
	return f->endpoints & ENDPOINT_BIT(endpoint_of(w));
}

static const struct gate_rule without_endpoint = { ERR_INVALID, "model_without_endpoint",
	"names no model that has it in its config.endpoints", false, NULL };
static const struct gate_rule without_tools = { ERR_CONFLICT, "model_without_tools",
	"The model does not call tools (its supports_tools is false), and this request needs them.",
	false, NULL };
static const struct gate_rule without_vision = { ERR_CONFLICT, "model_without_vision",
	"The model does not read images (its supports_vision is false), and this request has some.",
	false, NULL };

static const struct gate_rule without_bound = { ERR_INVALID, "not_reckonable",
	"The agent has a budget, and a part of the messages that is neither text, an image nor sound "
	"may cost more than can be reckoned before it is read. Send its text instead.",
	false, NULL };

/* Whether a budget stands against a part whose tokens nobody can tell beforehand. */
static bool is_boundless(const struct candidate_walk *w, const struct gate_facts *f)
{
	const struct chat *chat = w->asked->chat;
	/* a part of Anthropic's own goes to nobody else */
	bool goes = f->kind != ModelKind_demo &&
		    (chat->shape != SHAPE_ANTHROPIC || f->kind == ModelKind_anthropic);

	return w->candidates->hourly_limit_pd != NIL && chat->unbounded && goes && !f->is_free;
}

static const struct gate_rule without_part = { ERR_INVALID, "part_not_taken",
	"is of a kind that no provider takes to which this request may go", false, NULL };

/* The parts that a provider of this kind does not take, as bits. */
static unsigned parts_misfit(const struct candidate_walk *w, const struct gate_facts *f)
{
	const struct provider *p = provider_find(ModelKind_words.list[f->kind]);

	return p ? chat_needs(w->asked->chat) & ~p->takes : 0;
}

/* Why the model cannot do what is asked, NULL if it can; a router looks for one that can. */
static const struct gate_rule *model_misfit(
	const struct candidate_walk *w, const struct gate_facts *f)
{
	const struct chat *chat = w->asked->chat;

	if (f->kind == ModelKind_router)
		return NULL;
	if (!has_endpoint(w, f))
		return &without_endpoint;
	if (chat->tools && !f->supports_tools && !does_without_tools(w))
		return &without_tools;
	if (is_boundless(w, f))
		return &without_bound;
	if (parts_misfit(w, f))
		return &without_part;
	return !f->supports_vision && chat_has_images(chat) ? &without_vision : NULL;
}

static const char *unopened_sentence(
	struct candidate_walk *w, const struct gate_facts *f, const struct candidate *c)
{
	log_error(
		"a secret cannot be opened with the present master key: lodge check names all such",
		LOG_S("model", f->slug), LOG_S("tenant", w->asked->tenant_id));
	return c->byok ? arena_printf(w->arena,
				 "The tenant's own key for %s cannot be opened with the present master key: "
				 "enter it anew.",
				 c->provider->name)
		       : arena_printf(w->arena,
				 "The secret of the model %s cannot be opened with the present master key: "
				 "enter it anew.",
				 f->slug);
}

static int add_candidate(struct candidate_walk *w, const struct gate_facts *f)
{
	const struct provider *provider =
		provider_for(ModelKind_words.list[f->kind], endpoint_of(w));
	struct candidate *c = &w->candidates->at[w->candidates->count];
	int err;

	if (!provider)
		return ERR_INTERNAL;
	*c = (struct candidate){
		.model_id = f->model_id,
		.slug = f->slug,
		.provider = provider,
		.target = { .model = f->slug,
			.max_tokens = f->max_tokens == NIL ? 0 : f->max_tokens,
			.version = w->asked->chat->version,
			.beta = w->asked->chat->beta },
		.price = price_of(f),
		.without_tools = w->asked->chat->tools && !f->supports_tools,
		.silence_ms = (int)f->timeout_s * 1000,
		.total_ms = f->total_timeout_s * 1000,
	};
	c->output_tokens = output_wanted(w->asked->chat, c->target.max_tokens, provider);
	w->candidates->count++;
	err = provider->open || w->asked->judges ? 0 : egress_host(w, f, c);
	if (err != ERR_SECRET)
		return err;
	if (arena_full(w->arena)) /* it is not the key's fault */
		return ERR_BUSY;
	w->candidates->count--; /* the next of the chain may do */
	if (!w->unopened)
		w->unopened = unopened_sentence(w, f, c);
	return 0;
}

static bool is_planned(const struct candidate_walk *w, const char *model_id)
{
	for (size_t i = 0; i < w->candidates->count; i++)
		if (strcmp(w->candidates->at[i].model_id, model_id) == 0)
			return true;
	return false;
}

static void push_model(struct candidate_walk *w, const char *model_id, struct gate_facts *facts,
	bool stands_in, int depth)
{
	for (size_t i = 0; i < w->last; i++)
		if (strcmp(w->queue[i].model_id, model_id) == 0)
			return;
	if (w->last < QUEUE_MAX && depth <= FAILOVER_DEPTH)
		w->queue[w->last++] = (struct stop){ model_id, facts, stands_in, depth };
}

/* ---- the router ---- */

struct routed_model {
	const struct gate_facts *facts;
	int rank; /* 0: has a price or is free, 1: nobody has set one, 2: only demonstrates */
	__int128 cost;
};

static int routed_by_cost(const void *one, const void *other)
{
	const struct routed_model *a = one, *b = other;

	if (a->rank != b->rank)
		return a->rank - b->rank;
	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	return strcmp(a->facts->model_id, b->facts->model_id);
}

static bool model_fits(const struct candidate_walk *w, const struct gate_facts *f)
{
	const struct chat *chat = w->asked->chat;

	return has_endpoint(w, f) && (!chat->tools || f->supports_tools) && !is_boundless(w, f) &&
	       !parts_misfit(w, f) && (f->supports_vision || !chat_has_images(chat)) &&
	       (f->context_window == NIL ||
		       w->candidates->prompt_tokens + output_wanted(chat, 0, NULL) <=
			       f->context_window);
}

static int rank_of(const struct gate_facts *f)
{
	if (f->kind == ModelKind_demo)
		return 2;
	return f->is_free || f->prompt_pd != NIL || f->completion_pd != NIL ||
			       f->character_pd != NIL || f->second_pd != NIL
		       ? 0
		       : 1;
}

static __int128 endpoint_cost(const struct candidate_walk *w, const struct gate_facts *f)
{
	const struct endpoint_request *e = w->asked->chat->request;
	__int128 character = f->character_pd == NIL ? 0 : f->character_pd;
	__int128 second = f->second_pd == NIL ? 0 : f->second_pd;

	return e ? character * e->characters + second * e->seconds : 0;
}

static __int128 routed_cost(const struct candidate_walk *w, const struct gate_facts *f)
{
	__int128 prompt = f->prompt_pd == NIL ? 0 : f->prompt_pd;
	__int128 completion = f->completion_pd == NIL ? 0 : f->completion_pd;

	return prompt * w->candidates->prompt_tokens +
	       completion * output_wanted(w->asked->chat, 0, NULL) + endpoint_cost(w, f);
}

static int add_routed(struct candidate_walk *w, bool stands_in)
{
	struct gate_facts facts;
	struct routed_model *offers;
	struct list rows;
	size_t count = 0;
	int err = gate_load_all(w->db, w->arena, &w->who, &rows);

	if (err)
		return err;
	offers = arena_array(w->arena, struct routed_model, rows.count + 1);
	for (size_t i = 0; i < rows.count; i++) {
		struct gate_facts *f = (struct gate_facts *)rows.at + i;

		if (stands_in && f->access < 0)
			f->access = ModelAccess_full;
		if (f->kind != ModelKind_router && !is_planned(w, f->model_id) &&
			!gate_refusal(f) && model_fits(w, f))
			offers[count++] = (struct routed_model){ f, rank_of(f), routed_cost(w, f) };
	}
	qsort(offers, count, sizeof *offers, routed_by_cost);
	w->routed = w->routed || !count;
	for (size_t i = 0; !err && i < count && w->candidates->count < CANDIDATES_MAX; i++) {
		err = gate_load(w->db, w->arena, &w->who, offers[i].facts->model_id, &facts);
		if (!err)
			err = add_candidate(w, &facts);
	}
	return err;
}

/* ---- the chain ---- */

static bool is_about_parts(const struct gate_rule *refusal)
{
	return refusal == &without_part || refusal == &without_vision || refusal == &without_bound;
}

static int visit_model(struct candidate_walk *w, const struct stop *s)
{
	const struct gate_rule *refusal;
	struct gate_facts *facts = s->facts ? s->facts : arena_new(w->arena, struct gate_facts);
	const char *const *next;
	int err = s->facts ? 0 : gate_load(w->db, w->arena, &w->who, s->model_id, facts);

	if (err) /* a failover chain may name a model that is gone */
		return err == ERR_NOT_FOUND ? 0 : err;
	if (s->stands_in && facts->access < 0)
		facts->access = ModelAccess_full;
	refusal = gate_refusal(facts);
	if (!refusal)
		refusal = model_misfit(w, facts);
	if (refusal && !w->refusal) {
		w->refusal = refusal;
		w->untaken = parts_misfit(w, facts);
	}
	if (is_about_parts(refusal) && !w->part_refusal) {
		w->part_refusal = refusal;
		w->part_untaken = parts_misfit(w, facts);
	}
	if (refusal && refusal->of_grant)
		return 0;
	next = facts->failover_chain.at;
	for (size_t i = 0; i < facts->failover_chain.count; i++)
		push_model(w, next[i], NULL, true, s->depth + 1);
	if (refusal || is_planned(w, s->model_id))
		return 0;
	return facts->kind == ModelKind_router ? add_routed(w, s->stands_in)
					       : add_candidate(w, facts);
}

static int load_agent_chain(struct candidate_walk *w, struct problem *p)
{
	const struct candidates_asked *in = w->asked;
	struct chat_config config;
	struct list chain;
	int err = chat_config_read(w->db, w->arena, in->tenant_id, in->agent_id, &config);

	if (!err && !in->any_hour)
		err = room_hours(w->arena, &config, in->now, p);
	if (!err)
		err = gate_load_chain(w->db, w->arena, &w->who, &chain);
	if (err)
		return err;
	w->candidates->hourly_limit_pd = config.hourly_limit_pd;
	w->candidates->per_minute = in->counted ? NIL : config.chat_rpm_limit;
	w->candidates->per_hour = in->counted ? NIL : config.chat_rph_limit;
	if (in->model_id)
		push_model(w, in->model_id, NULL, false, 0);
	for (size_t i = 0; !in->model_id && i < chain.count; i++) {
		struct gate_facts *f = (struct gate_facts *)chain.at + i;

		push_model(w, f->model_id, f, false, 0);
	}
	return 0;
}

#define NO_MODEL "The agent has no model; give it one under its models."

static int nothing_to_call(const struct candidate_walk *w, struct problem *p)
{
	if (w->unopened) {
		p->final = true;
		return problem_set(p, w->arena, ERR_SECRET, "%s", w->unopened);
	}
	if (w->refusal == &without_endpoint) {
		const char *asked = ModelEndpoint_words.list[endpoint_of(w)];

		return problem_field(p, w->arena, "model", w->refusal->code,
			"names no model that has %s in its config.endpoints", asked);
	}
	if (w->refusal == &without_part)
		return problem_field(p, w->arena,
			chat_need_place(w->asked->chat, w->arena, w->untaken), "format", "%s",
			w->refusal->sentence);
	if (w->refusal) {
		p->code = w->refusal->code;
		return problem_set(p, w->arena, w->refusal->err, "%s", w->refusal->sentence);
	}
	p->code = "no_model";
	return problem_set(p, w->arena, ERR_CONFLICT,
		w->routed
			? "No model that may be called fits this request: its length, tools or images."
			: NO_MODEL);
}

int candidates_look(struct db *db, struct arena *a, const struct gate_who *who,
	const char *model_id, struct problem *p)
{
	const struct gate_rule *first = NULL;
	struct gate_facts one, *f;
	struct list chain = { &one, 1 };
	int err = model_id ? gate_load(db, a, who, model_id, &one)
			   : gate_load_chain(db, a, who, &chain);

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err; /* whoever plans the call says so better */
	f = chain.at;
	for (size_t i = 0; i < chain.count; i++) {
		const struct gate_rule *refusal = gate_refusal(&f[i]);

		if (!refusal || (!refusal->of_grant && f[i].failover_chain.count))
			return 0;
		first = first ? first : refusal;
	}
	p->code = first ? first->code : "no_model";
	return problem_set(
		p, a, first ? first->err : ERR_CONFLICT, "%s", first ? first->sentence : NO_MODEL);
}

/* Visits the chain and what may take over. */
static int walk_chain(struct candidate_walk *w, struct problem *p)
{
	int err = 0;

	*w->candidates = (struct candidates){ .prompt_tokens = chat_tokens(w->asked->chat),
		.hourly_limit_pd = NIL,
		.per_minute = NIL,
		.per_hour = NIL };
	w->who = (struct gate_who){ w->asked->tenant_id, w->asked->agent_id, w->asked->user_id };
	if (w->asked->agent_id)
		err = load_agent_chain(w, p);
	else
		push_model(w, w->asked->model_id, NULL, true, 0);
	while (!err && w->first < w->last && w->candidates->count < CANDIDATES_MAX)
		err = visit_model(w, &w->queue[w->first++]);
	return err;
}

static int refuse_part(struct candidate_walk *w, struct problem *p)
{
	const struct chat *chat = w->asked->chat;

	if (w->part_refusal == &without_vision)
		return problem_field(p, w->arena, chat_image_place(chat), w->part_refusal->code,
			"is an image, and no model of the agent reads images (supports_vision)");
	if (w->part_refusal == &without_bound)
		return problem_field(p, w->arena, chat->unbounded, w->part_refusal->code,
			"may cost more than can be reckoned before it is read, and the agent has a budget");
	return problem_field(p, w->arena, chat_need_place(chat, w->arena, w->part_untaken),
		"format", "%s", without_part.sentence);
}

int candidates_take(struct db *db, struct arena *a, const struct gate_who *who,
	const char *model_id, const struct chat *chat, struct problem *p)
{
	const struct candidates_asked asked = { .tenant_id = who->tenant_id,
		.agent_id = who->agent_id,
		.user_id = who->user_id,
		.model_id = model_id,
		.chat = chat,
		.any_hour = true,
		.judges = true };
	struct candidate_walk *w = arena_new(a, struct candidate_walk);
	int err;

	w->db = db;
	w->arena = a;
	w->asked = &asked;
	w->candidates = arena_new(a, struct candidates);
	err = walk_chain(w, p);
	if (err || w->candidates->count || !w->part_refusal)
		return err;
	return refuse_part(w, p);
}

int candidates_find(struct db *db, struct arena *a, const struct candidates_asked *asked,
	struct candidates *ret, struct problem *p)
{
	struct candidate_walk *w = arena_new(a, struct candidate_walk);
	int err;

	w->db = db;
	w->arena = a;
	w->asked = asked;
	w->candidates = ret;
	err = walk_chain(w, p);
	if (err || ret->count)
		return err;
	return nothing_to_call(w, p);
}
