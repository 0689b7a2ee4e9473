/* mcp_keep.c - see mcp_keep.h.  One short list under one lock: a look is nothing beside the request that
 * follows it. */
#include "sessions/mcp_keep.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/memory.h"

struct kept_peer {
	struct kept_peer *next;
	uint8_t place[SHA256_LEN]; /* tenant, address, headers */
	uint8_t whose[SHA256_LEN]; /* and the session */
	struct mcp_peer peer;
	char *tool_id, *config, *sealed;
	int64_t used_ms;
};

struct mcp_keep {
	pthread_mutex_t lock;
	struct kept_peer *list;
	size_t count;
};

struct mcp_keep *mcp_keep_new(void)
{
	struct mcp_keep *k = memory_zeroed(sizeof *k);

	pthread_mutex_init(&k->lock, NULL);
	return k;
}

static char *kept_text(const char *text)
{
	char *copy = strdup(text ? text : "");

	if (!copy)
		abort();
	return copy;
}

static void kept_free(struct kept_peer *e)
{
	free(e->tool_id);
	free(e->config);
	free(e->sealed);
	free(e);
}

void mcp_keep_free(struct mcp_keep *k)
{
	if (!k)
		return;
	while (k->list) {
		struct kept_peer *e = k->list;

		k->list = e->next;
		kept_free(e);
	}
	pthread_mutex_destroy(&k->lock);
	free(k);
}

bool mcp_keep_any(struct mcp_keep *k)
{
	bool any;

	pthread_mutex_lock(&k->lock);
	any = k->list != NULL;
	pthread_mutex_unlock(&k->lock);
	return any;
}

static void kept_put_part(struct buf *b, const char *text)
{
	buf_put(b, text, strlen(text) + 1); /* with its end, so that none can pass for another */
}

static void kept_digest(const struct tool_asked *in, const struct tool_config *config, bool whose,
	uint8_t out[SHA256_LEN])
{
	struct buf b;

	buf_init(&b, 1 << 20);
	kept_put_part(&b, in->tenant_id);
	kept_put_part(&b, whose ? in->session_id : "");
	kept_put_part(&b, config->url);
	for (size_t i = 0; i < config->header_count; i++) {
		kept_put_part(&b, config->headers[i].name);
		kept_put_part(&b, config->headers[i].value);
	}
	sha256(b.at, b.len, out);
	wipe(b.at, b.len);
	buf_free(&b);
}

static struct kept_peer *kept_find(struct mcp_keep *k, const uint8_t whose[SHA256_LEN])
{
	for (struct kept_peer *e = k->list; e; e = e->next)
		if (memcmp(e->whose, whose, SHA256_LEN) == 0)
			return e;
	return NULL;
}

void mcp_keep_find(struct mcp_keep *k, const struct tool_asked *in,
	const struct tool_config *config, struct mcp_peer *ret)
{
	uint8_t whose[SHA256_LEN], place[SHA256_LEN];
	struct kept_peer *e;

	*ret = (struct mcp_peer){ .era = MCP_UNKNOWN };
	kept_digest(in, config, true, whose);
	kept_digest(in, config, false, place);
	pthread_mutex_lock(&k->lock);
	e = kept_find(k, whose);
	if (e) {
		*ret = e->peer;
		e->used_ms = clock_mono_ms();
	}
	for (e = k->list; ret->era == MCP_UNKNOWN && e; e = e->next)
		if (memcmp(e->place, place, SHA256_LEN) == 0)
			ret->era = e->peer.era;
	pthread_mutex_unlock(&k->lock);
}

bool mcp_keep_put(struct mcp_keep *k, const struct tool_asked *in, const struct tool_config *config,
	const struct mcp_peer *peer)
{
	uint8_t whose[SHA256_LEN];
	struct kept_peer *e;
	bool mine = true;

	if (peer->era == MCP_UNKNOWN)
		return true;
	kept_digest(in, config, true, whose);
	pthread_mutex_lock(&k->lock);
	e = kept_find(k, whose);
	if (!e) {
		e = memory_zeroed(sizeof *e);
		memcpy(e->whose, whose, sizeof whose);
		kept_digest(in, config, false, e->place);
		e->tool_id = kept_text(in->tool->id);
		e->config = kept_text(in->tool->config);
		e->sealed = kept_text(in->tool->sealed);
		e->next = k->list;
		k->list = e;
		k->count++;
		e->peer = *peer;
	} else {
		mine = !*peer->session || !*e->peer.session ||
		       strcmp(peer->session, e->peer.session) == 0;
		if (mine)
			e->peer = *peer;
	}
	e->used_ms = clock_mono_ms();
	pthread_mutex_unlock(&k->lock);
	return mine;
}

static bool kept_is_over(const struct mcp_keep *k, const struct kept_peer *e, int64_t now_ms)
{
	return k->count > MCP_KEPT_MAX ||
	       now_ms - e->used_ms > (*e->peer.session ? MCP_IDLE_MS : MCP_KNOWN_MS);
}

bool mcp_keep_over(struct mcp_keep *k, struct arena *a, int64_t now_ms, struct mcp_over *ret)
{
	struct kept_peer **oldest = NULL, *e;

	pthread_mutex_lock(&k->lock);
	for (struct kept_peer **at = &k->list; *at; at = &(*at)->next)
		if (kept_is_over(k, *at, now_ms) &&
			(!oldest || (*at)->used_ms < (*oldest)->used_ms))
			oldest = at;
	e = oldest ? *oldest : NULL;
	if (e) {
		*oldest = e->next;
		k->count--;
	}
	pthread_mutex_unlock(&k->lock);
	if (!e)
		return false;
	*ret = (struct mcp_over){ .peer = e->peer,
		.tool = { .id = arena_strdup(a, e->tool_id),
			.kind = "mcp",
			.name = "",
			.input_schema = "{}",
			.config = arena_strdup(a, e->config),
			.sealed = arena_strdup(a, e->sealed) } };
	kept_free(e);
	return true;
}
