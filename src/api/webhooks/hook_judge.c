/* hook_judge.c - whether what came in is theirs whose address it names, and what it says; what is answered without the
 * writer.  On the loop, after one read of the store; see hook_parts.h. */
#include <string.h>
#include <strings.h>

#include "api/service.h"
#include "api/webhooks/hook_parts.h"
#include "broker/gate.h"
#include "webhooks/hook_log.h"

static const char *incoming_header(const void *ctx, const char *name, size_t *ret_count)
{
	const struct http_request *r = ctx;

	*ret_count = http_header_count(r, name);
	return http_header(r, name);
}

static void refuse_incoming(struct incoming *w, int err, const char *outcome, const char *sentence)
{
	w->told = (struct problem){ .err = err, .detail = sentence };
	w->outcome = outcome;
	w->status = DeliveryStatus_rejected;
}

void hook_reject(struct incoming *w, const char *outcome)
{
	refuse_incoming(w, ERR_UNAUTHENTICATED, outcome, "This call could not be verified.");
}

/* A body that was encoded or is of another type cannot be read, whoever signed it. */
static bool is_readable(const struct call *c)
{
	const char *coding = http_header(&c->x->request, "content-encoding");

	return strcmp(c->raw_type, "*/*") != 0 && (!coding || strcasecmp(coding, "identity") == 0);
}

static void read_event(
	struct call *c, struct incoming *w, const struct webhook_provider *p, struct webhook_in *in)
{
	const char *id_header = w->hook.delivery_id_header;
	char *lower = id_header ? arena_strdup(c->arena, id_header) : NULL;

	for (char *at = lower; at && *at; at++)
		*at = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
	if (!is_readable(c)) {
		refuse_incoming(w, ERR_MEDIA_TYPE, "content_type",
			"Send application/json or application/x-www-form-urlencoded, not encoded.");
		return;
	}
	switch (webhook_read(p, c->arena, in, lower, &w->event)) {
	case WEBHOOK_READ:
		break;
	case WEBHOOK_NOT_JSON:
		refuse_incoming(w, ERR_BAD_JSON, "not_json", "The event is not a JSON object.");
		return;
	case WEBHOOK_NO_ID:
		refuse_incoming(w, ERR_MALFORMED, "no_delivery_id",
			"The sender's id of the delivery is missing, or longer than 255 bytes.");
		return;
	case WEBHOOK_STALE:
		hook_reject(w, "stale");
		return;
	}
}

/* An address that is not there is judged like one that is. */
static void judge_event(struct call *c, struct incoming *w)
{
	static const char *const nobodys[] = { "nobody has this secret" };
	const struct webhook_provider *p =
		&webhook_providers[w->known ? w->hook.provider : WEBHOOK_GENERIC];
	struct webhook_in in = { .body = c->raw_len ? c->raw : "",
		.len = c->raw_len,
		.form = strcmp(c->raw_type, "application/x-www-form-urlencoded") == 0,
		.header = incoming_header,
		.ctx = &c->x->request,
		.now_us = c->now };
	const char *secrets[HOOK_SECRETS];
	size_t count =
		w->known ? hook_secrets(c->app->vault, c->arena, &w->hook, c->now, secrets) : 0;
	bool holds = webhook_verify(p, c->arena, &in, count ? secrets : nobodys, count ? count : 1);

	w->told = (struct problem){ 0 };
	if (w->known &&
		!count) /* nothing can be verified until it is rotated, and its owner must see why */
		hook_reject(w, "secret_unopenable");
	else if (!holds || !count)
		hook_reject(w, "signature");
	else
		read_event(c, w, p, &in);
}

static void judge_call(struct call *c, struct incoming *w)
{
	const char *sent = http_header(&c->x->request, "authorization");
	const char *fault = NULL;
	char hash[65];
	const char *kept = w->known && w->hook.token_hash ? w->hook.token_hash : "";
	bool bearer = sent && strncasecmp(sent, "Bearer ", 7) == 0 &&
		      http_header_count(&c->x->request, "authorization") == 1;
	bool holds;

	w->told = (struct problem){ 0 };
	credential_hash(bearer ? sent + 7 : "", hash);
	holds = same_bytes(hash, 64, kept, strlen(kept));
	if (!holds || !bearer) {
		hook_reject(w, "token");
	} else if (strcmp(c->raw_type, "application/json") != 0 || !is_readable(c)) {
		refuse_incoming(w, ERR_MEDIA_TYPE, "content_type",
			"Send the body as Content-Type: application/json, not encoded.");
	} else {
		w->event.tree = json_tree(c->arena, c->raw ? c->raw : "", c->raw_len, &fault, NULL);
		w->event.payload = c->raw;
		w->event.payload_len = c->raw_len;
		if (!w->event.tree || w->event.tree->type != JSON_OBJECT)
			refuse_incoming(
				w, ERR_BAD_JSON, "not_json", "The body is not a JSON object.");
	}
}

void hook_judge(struct call *c, struct incoming *w)
{
	if (w->skill)
		judge_call(c, w);
	else
		judge_event(c, w);
	if (!w->told.err)
		w->rails = hook_rails(c->app->patterns, c->arena, w->hook.guardrails);
}

int hook_load_moment(struct call *c, struct incoming *w)
{
	const struct gate_who who = { .tenant_id = w->hook.tenant_id,
		.agent_id = w->hook.agent_id };
	struct gate_moment moment;
	int err;

	w->room_pd = NIL;
	w->wait_s = 0;
	if (w->told.err || (!w->hook.has_budget && !w->hook.has_hours))
		return 0;
	err = gate_moment_load(c->db, c->arena, &who, c->now, &moment);
	if (err)
		return err;
	w->room_pd = moment.left.room_pd;
	w->wait_s = w->rails->working_hours == HoursRule_ignore ? 0 : moment.wait_s;
	return 0;
}

/* ---- what is answered at once ---- */

static void note_incoming(struct call *c, const struct incoming *w)
{
	if (!w->known) { /* nothing is written in a tenant's log for those who guess */
		hook_log_unknown(service_of(c->app)->hook_log,
			hook_clean(c->arena,
				call_param(c, w->skill ? "webhook_id" : "integration_id")),
			c->ip, c->now);
		return;
	}
	hook_log_note(service_of(c->app)->hook_log, c->app->store,
		&(struct hook_note){ .tenant_id = w->hook.tenant_id,
			.integration_id = w->hook.id,
			.status = w->status,
			.outcome = w->outcome,
			.ip = c->ip,
			.user_agent =
				hook_clean(c->arena, http_header(&c->x->request, "user-agent")) },
		c->now);
}

enum http_verdict hook_answer_refused(struct call *c)
{
	struct incoming *w = c->own;

	note_incoming(c, w);
	call_write_problem(c, &w->told);
	return HTTP_REPLIED;
}

static enum http_verdict answer_challenge(struct call *c)
{
	struct incoming *w = c->own;

	w->status = DeliveryStatus_delivered;
	w->outcome = "url_verification";
	note_incoming(c, w);
	c->x->reply.status = 200;
	c->x->reply.type = "text/plain";
	buf_puts(&c->x->reply.body, w->event.challenge);
	return HTTP_REPLIED;
}

int hook_look(struct call *c, const char *id, bool skill)
{
	struct incoming *w = arena_new(c->arena, struct incoming);
	int err = hook_find(c->db, c->arena, id, NULL, &w->hook);

	if (err && err != ERR_NOT_FOUND)
		return err;
	w->skill = skill;
	w->known = !err && (w->hook.provider == PROVIDER_SKILL) == skill;
	c->own = w;
	hook_judge(c, w);
	if (w->told.err)
		c->deferred = hook_answer_refused;
	else if (w->event.challenge)
		c->deferred = answer_challenge;
	else
		return hook_load_moment(c, w);
	return 0;
}
