/* avatars.c - an agent's picture: sent as PNG, JPEG or WebP, kept and served as one small PNG.
 *
 * The picture is made before the transaction, by src/media, and stored with
 * its hash; agents.avatar_sha256 changes with it.  Nothing of what was sent
 * is kept. */
#include "api/agents/agent_extras.h"
#include "api/agents/agent_row.h"
#include "api/service.h"
#include "call/operation.h"
#include "base/crypto.h"
#include "call/held.h"
#include "media/picture.h"
#include "repos/host_sync.h"
#include "store/row.h"

enum { SIDE = 192, PNG_MAX = 512 * 1024, UPLOAD_MAX = 10 * 1000 * 1000, HASH_LEN = 64 };

static const char *const picture_types[] = { "image/png", "image/jpeg", "image/webp", NULL };

struct avatar_row {
	const char *sha256;
	int64_t size_bytes;
	struct moment updated_at;
};

FIELDS(avatar_row) = {
	FIELD(avatar_row, sha256),
	FIELD(avatar_row, size_bytes),
	FIELD(avatar_row, updated_at),
};
static SCHEMA(avatar_row, .internal = true);

struct avatar_query {
	const char *v;
};

FIELDS(avatar_query) = {
	FIELD(avatar_query, v, .nullable = true, BOUNDS(1, HASH_LEN),
		.doc = "The avatar_sha256 of the picture wanted. If it is the one served, the reply "
		       "may be kept for a year; if not, the present picture is served all the "
		       "same, to be asked for again."),
};
SCHEMA(avatar_query, .doc = "Which version of the picture is wanted.");

struct avatar_put {
	const char *tenant_id, *agent_id, *sha256;
	int64_t size_bytes, updated_at;
	struct bytes png;
};

FIELDS(avatar_put) = {
	ROW_FIELDS(avatar_put, tenant_id, agent_id, sha256, size_bytes, updated_at, png),
};
static SCHEMA(avatar_put, .internal = true);

enum { AVATAR_READ, AVATAR_PNG, AVATAR_PUT, AVATAR_REMOVE, AVATAR_NOTE };

static const struct statement sql[] = {
	[AVATAR_READ] = { "avatar_read",
		"select {*} from agent_avatars where tenant_id = $1 and agent_id = $2",
		.row = &avatar_row_schema },
	[AVATAR_PNG] = { "avatar_png",
		"select png from agent_avatars where tenant_id = $1 and agent_id = $2" },
	[AVATAR_PUT] = { "avatar_put",
		"insert into agent_avatars ({*}) values ({$}) "
		"on conflict (tenant_id, agent_id) do update set "
		"sha256 = excluded.sha256, size_bytes = excluded.size_bytes, "
		"updated_at = excluded.updated_at, png = excluded.png",
		.row = &avatar_put_schema },
	[AVATAR_REMOVE] = { "avatar_remove",
		"delete from agent_avatars where tenant_id = $1 and agent_id = $2" },
	[AVATAR_NOTE] = { "avatar_note",
		"update agent_rows set avatar_sha256 = $3, "
		"updated_at = case when updated_at < $4 then $4 else updated_at + 1 end "
		"where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(avatar_sql, sql);

/* Here the picture that is stored is the one that is shown; another host shows what was brought to it. */
static int tell_synced(struct call *c, struct AgentAvatarRead *out)
{
	const struct host *host = service_of(c->app)->host;

	out->repohost_synced = true;
	return host ? host_sync_shows(c->db, c->arena, host, c->caller.tenant_id,
			      c->caller.agent_id, out->avatar_sha256, &out->repohost_synced)
		    : 0;
}

/* What is there to show; without a picture that is an answer too. */
static int show_avatar(struct call *c, struct AgentAvatarRead *out)
{
	const struct caller *who = &c->caller;
	struct avatar_row row;
	int err = db_one(c->db, c->arena, &sql[AVATAR_READ], &row,
		ARGS(T(who->tenant_id), T(who->agent_id)));

	schema_init(&AgentAvatarRead_schema, c->arena, out);
	out->agent_id = who->agent_id;
	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	out->has_avatar = true;
	out->avatar_sha256 = row.sha256;
	out->avatar_size_bytes = row.size_bytes;
	out->avatar_updated_at = row.updated_at;
	return tell_synced(c, out);
}

OPERATION(readAgentAvatar, NONE, AgentAvatarRead)
{
	return show_avatar(c, out);
}

struct made {
	struct buf png;
};

static void made_free(void *data)
{
	buf_free(&((struct made *)data)->png);
}

/* On a slow thread. */
static int make_picture(struct call *c)
{
	static const char *const codes[] = { [PICTURE_TOO_LARGE] = "too_large",
		[PICTURE_DAMAGED] = "damaged",
		[PICTURE_UNSUPPORTED] = "unsupported" };
	struct made *made = arena_new(c->arena, struct made);
	char why[PICTURE_WHY_MAX];
	enum picture_verdict verdict;
	struct held_part pixels = { 0 };

	buf_init(&made->png, PNG_MAX);
	arena_defer(c->arena, made_free, made);
	/* Whether its format makes us hold it is only seen inside: counted, then, but no reason to refuse it. */
	held_count(c->app->held, &pixels, c->caller.tenant_id, (size_t)PICTURE_HELD_MAX * 4);
	verdict = picture_square(c->raw, c->raw_len, c->raw_type, SIDE, &made->png, why);
	held_count(c->app->held, &pixels, c->caller.tenant_id, 0);
	if (verdict == PICTURE_OTHER_TYPE)
		return call_fail(c, ERR_MEDIA_TYPE, "%s", why);
	if (verdict)
		return call_field(c, "body", codes[verdict], "%s", why);
	c->own = made;
	return 0;
}

/* The agent's own row changes with it, and so does its ETag. */
static int note_avatar(
	struct db *db, const char *tenant_id, const char *agent_id, const char *hash, int64_t now)
{
	return db_run(
		db, &sql[AVATAR_NOTE], NULL, ARGS(T(tenant_id), T(agent_id), T(hash), N(now)));
}

int agent_avatar_keep(struct db *db, const char *tenant_id, const char *agent_id, const void *png,
	size_t len, int64_t now)
{
	uint8_t digest[SHA256_LEN];
	char hex[HASH_LEN + 1];
	int err;

	sha256(png, len, digest);
	hex_write(digest, sizeof digest, hex);
	err = db_put(db, &sql[AVATAR_PUT],
		&(struct avatar_put){ .tenant_id = tenant_id,
			.agent_id = agent_id,
			.sha256 = hex,
			.size_bytes = (int64_t)len,
			.updated_at = now,
			.png = { png, len } });
	return err ? err : note_avatar(db, tenant_id, agent_id, hex, now);
}

int agent_avatar_png(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const void **ret, size_t *ret_len)
{
	return db_bytes(db, a, &sql[AVATAR_PNG], ret, ret_len, ARGS(T(tenant_id), T(agent_id)));
}

OPERATION(putAgentAvatar, NONE, AgentAvatarRead, .takes = picture_types, .prepare = make_picture)
{
	const struct caller *who = &c->caller;
	const struct made *made = c->own;
	struct AgentAvatarRead before;
	int err = show_avatar(c, &before);

	if (!err)
		err = agent_avatar_keep(
			c->db, who->tenant_id, who->agent_id, made->png.at, made->png.len, c->now);
	if (!err)
		err = show_avatar(c, out);
	if (!err && !out->repohost_synced)
		err = host_sync_ask(c->db, c->arena, service_of(c->app)->host, who->tenant_id,
			who->agent_id, c->now);
	if (err)
		return err;
	call_changed(c, &AgentAvatarRead_schema, &before, out);
	return 0;
}

static int no_picture(struct call *c)
{
	return call_fail(c, ERR_NOT_FOUND, "This agent has no picture.");
}

OPERATION(deleteAgentAvatar, NONE, NONE)
{
	const struct caller *who = &c->caller;
	struct AgentAvatarRead before, after;
	int err = show_avatar(c, &before);

	if (!err && !before.has_avatar)
		return no_picture(c);
	if (!err)
		err = db_run(c->db, &sql[AVATAR_REMOVE], NULL,
			ARGS(T(who->tenant_id), T(who->agent_id)));
	if (!err)
		err = note_avatar(c->db, who->tenant_id, who->agent_id, NULL, c->now);
	if (!err)
		err = show_avatar(c, &after);
	if (err)
		return err;
	call_changed(c, &AgentAvatarRead_schema, &before, &after);
	return 0;
}

QUERY_OPERATION(readAgentAvatarPng, avatar_query, NONE, .gives = "image/png")
{
	struct http_reply *r = &c->x->reply;
	struct AgentAvatarRead now;
	const void *png;
	size_t len;
	int err = show_avatar(c, &now);

	if (!err && !now.has_avatar)
		return no_picture(c);
	if (!err)
		err = agent_avatar_png(
			c->db, c->arena, c->caller.tenant_id, c->caller.agent_id, &png, &len);
	if (err)
		return err;
	buf_put(&r->body, png, len);
	buf_lit(&r->extra, "Content-Disposition: inline; filename=\"avatar.png\"\r\n");
	if (in->v && strcmp(in->v, now.avatar_sha256) == 0)
		c->cache = "private, max-age=31536000, immutable";
	return 0;
}

#define AVATAR "/tenant/{tenant_id}/agents/{agent_id}/avatar"

static const struct route routes[] = {
	{ METHOD_GET, AVATAR, &readAgentAvatar, PERM_AGENT_READ, 200, .tag = "Agents",
		.doc = "Read whether an agent has a picture, and which." },
	{ METHOD_PUT, AVATAR, &putAgentAvatar, PERM_AGENT_WRITE, 200, "agent.avatar.update",
		.tag = "Agents", .max_body = UPLOAD_MAX,
		.doc = "Set an agent's picture: a PNG, JPEG or WebP of at most 10 MB, 8192 pixels on "
		       "a side and 40 million in all (16 million if it is progressive, lossless "
		       "WebP or WebP with alpha). The square in its middle is stored as a 192x192 "
		       "PNG; animated WebP is refused." },
	{ METHOD_DELETE, AVATAR, &deleteAgentAvatar, PERM_AGENT_WRITE, 204, "agent.avatar.delete",
		.tag = "Agents", .doc = "Remove an agent's picture." },
	{ METHOD_GET, AVATAR ".png", &readAgentAvatarPng, PERM_AGENT_READ, 200, .tag = "Agents",
		.doc = "An agent's picture, a PNG of 192x192 pixels." },
};
RESOURCE(avatars, routes, NULL, &avatar_sql);
