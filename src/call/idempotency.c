/* idempotency.c - what makes a repeated or a late request safe: Idempotency-Key and If-Match.
 *
 * A key's row is taken at the beginning of the transaction and holds the
 * sealed reply at its end: both appear or neither, however the process dies,
 * and a twin that arrives meanwhile waits for the row.  If-Match compares
 * with the object as it is inside the transaction that changes it. */
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "call/steps.h"

enum { IDEMPOTENCY_TAKE, IDEMPOTENCY_READ, IDEMPOTENCY_RENEW, IDEMPOTENCY_KEEP };

struct idempotency_row {
	const char *body_hash, *reply;
	int64_t status, created_at;
};

FIELDS(idempotency_row) = {
	FIELD(idempotency_row, body_hash),
	FIELD(idempotency_row, reply),
	FIELD(idempotency_row, status),
	FIELD(idempotency_row, created_at),
};
static SCHEMA(idempotency_row, .internal = true);

static const struct statement sql[] = {
	[IDEMPOTENCY_TAKE] = { "idempotency_take",
		"insert into idempotency (hash, body_hash, status, reply, created_at) "
		"values ($1, $2, 0, '', $3) on conflict (hash) do nothing" },
	[IDEMPOTENCY_READ] = { "idempotency_read",
		"select body_hash, reply, status, created_at from idempotency where hash = $1",
		.row = &idempotency_row_schema },
	[IDEMPOTENCY_RENEW] = { "idempotency_renew",
		"update idempotency set body_hash = $2, status = 0, reply = '', created_at = $3 "
		"where hash = $1" },
	[IDEMPOTENCY_KEEP] = { "idempotency_keep",
		"update idempotency set status = $2, reply = $3 where hash = $1" },
};
STATEMENT_SET(idempotency_sql, sql);

static const char *idempotency_key(const struct call *c)
{
	return route_repeatable(c->route) ? http_header(&c->x->request, "idempotency-key") : NULL;
}

/* The key is the caller's own, for this operation, what its path names (one path may be written in several ways)
 * and the tenant that a header names. */
static void key_hash(const struct call *c, const char *key, char out[65])
{
	const char *tenant =
		route_foreign(c->route) ? http_header(&c->x->request, "openai-organization") : NULL;
	const char *name = arena_printf(c->arena, "%s\n%s\n%s",
		c->caller.hash ? c->caller.hash : "", c->route->op->id, key);

	if (tenant)
		name = arena_printf(c->arena, "%s\n%s", name, tenant);
	for (size_t i = 0; i < c->match.count; i++)
		name = arena_printf(c->arena, "%s\n%s", name, c->match.params[i].value);
	credential_hash(name, out);
}

/* Of the body, and of the query: with another one it would be another request.  Not in the transaction, which
 * would keep the store's one writer for as long as a large body takes. */
void idempotency_read(struct call *c)
{
	const struct http_request *r = &c->x->request;
	uint8_t digest[SHA256_LEN];

	if (!idempotency_key(c))
		return;
	sha256(r->body, r->body_len, digest);
	hex_write(digest, sizeof digest, c->body_hash);
	if (r->query_len)
		credential_hash(arena_printf(c->arena, "%s?%.*s", c->body_hash, (int)r->query_len,
					r->query),
			c->body_hash);
}

/* What is kept: the length of the extra headers, they themselves, the body. */
static const char *pack_reply(struct call *c, const char *context)
{
	const struct http_reply *r = &c->x->reply;
	size_t n = sizeof(uint32_t) + r->extra.len + r->body.len;
	uint8_t *plain = arena_raw(c->arena, n, 1);
	uint32_t extra = (uint32_t)r->extra.len;

	memcpy(plain, &extra, sizeof extra);
	if (extra)
		memcpy(plain + sizeof extra, r->extra.at, extra);
	if (r->body.len)
		memcpy(plain + sizeof extra + extra, r->body.at, r->body.len);
	return vault_seal(c->app->vault, c->arena, SEALED_REPLY, context, plain, n);
}

static int unpack_reply(struct call *c, const char *context, const struct idempotency_row *row)
{
	struct http_reply *r = &c->x->reply;
	size_t n;
	const uint8_t *plain = vault_open(c->app->vault, c->arena, context, row->reply, &n);
	uint32_t extra;

	if (!plain || n < sizeof extra)
		return call_fail(c, ERR_SECRET,
			"The request was answered before, and its kept reply cannot be opened with the present master "
			"key; with another Idempotency-Key it is made anew.");
	memcpy(&extra, plain, sizeof extra);
	buf_put(&r->extra, plain + sizeof extra, extra);
	buf_put(&r->body, plain + sizeof extra + extra, n - sizeof extra - extra);
	r->status = (int)row->status;
	r->type = r->body.len ? "application/json" : NULL;
	return 1;
}

static bool key_valid(const char *key)
{
	size_t len = strlen(key);

	for (size_t i = 0; i < len; i++)
		if (key[i] < ' ' || key[i] > '~')
			return false;
	return len >= 1 && len <= 255;
}

/* The hash of the key; "": there is none. */
static int find_key(struct call *c, char hash[65])
{
	const char *key = idempotency_key(c);

	*hash = '\0';
	if (!key)
		return 0;
	if (!key_valid(key))
		return call_field(
			c, "Idempotency-Key", "format", "must be 1 to 255 printable characters");
	key_hash(c, key, hash);
	return 0;
}

static int refuse_other(struct call *c)
{
	return call_fail(c, ERR_IDEMPOTENCY,
		"This Idempotency-Key was used within a day for a request with another body or query.");
}

int idempotency_look(struct call *c, bool *ret_answered)
{
	struct idempotency_row row;
	char hash[65];
	int err = find_key(c, hash);

	*ret_answered = false;
	if (err || !*hash)
		return err;
	err = db_one(c->db, c->arena, &sql[IDEMPOTENCY_READ], &row, ARGS(T(hash)));
	if (err || row.created_at + DAY_US < c->now)
		return err == ERR_NOT_FOUND ? 0 : err;
	if (strcmp(row.body_hash, c->body_hash) != 0)
		return refuse_other(c);
	*ret_answered = row.status != 0;
	return 0;
}

int idempotency_begin(struct call *c)
{
	const char *body = c->body_hash;
	char hash[65];
	struct idempotency_row row;
	int64_t taken = 0;
	int err = find_key(c, hash);

	if (err || !*hash)
		return err;
	err = db_run(c->db, &sql[IDEMPOTENCY_TAKE], &taken, ARGS(T(hash), T(body), N(c->now)));
	if (err || taken)
		return err;
	err = db_one(c->db, c->arena, &sql[IDEMPOTENCY_READ], &row, ARGS(T(hash)));
	if (err)
		return err;
	if (row.created_at + DAY_US < c->now)
		return db_run(
			c->db, &sql[IDEMPOTENCY_RENEW], NULL, ARGS(T(hash), T(body), N(c->now)));
	if (strcmp(row.body_hash, body) != 0)
		return refuse_other(c);
	return unpack_reply(c, hash, &row);
}

bool idempotency_keeps_short(const struct call *c)
{
	return idempotency_key(c) && c->op->reply && c->op->gives;
}

int idempotency_keep(struct call *c)
{
	const char *key = idempotency_key(c);
	const char *sealed;
	char hash[65];

	if (!key)
		return 0;
	key_hash(c, key, hash);
	sealed = pack_reply(c, hash);
	return sealed ? db_run(c->db, &sql[IDEMPOTENCY_KEEP], NULL,
				ARGS(T(hash), N(c->x->reply.status), T(sealed)))
		      : ERR_KEY;
}

/* Has what is read there a tag, which a change here can be held against?  The reader takes the
 * query of the change for its own. */
static bool read_has_tag(const struct route *get, const struct route *change)
{
	return get && !get->op->list && (get->op->reply || get->op->gives) &&
	       (!get->op->query || get->op->query == change->op->query);
}

int match_check(struct call *c)
{
	const char *wanted = http_header(&c->x->request, "if-match");
	const struct route *get = wanted ? router_sibling_get(c->app->router, c->route) : NULL;
	struct call probe = *c;
	char tag[ETAG_LEN + 1];
	int err;

	if (!wanted || c->route->method == METHOD_GET || c->route->as_printed || c->op->own_tag)
		return 0;
	/* What is made has no tag yet; what is done with an object is held against the object's. */
	if (c->route->method == METHOD_POST &&
		!(route_object_len(c->route) && read_has_tag(get, c->route)))
		return 0;
	if (!read_has_tag(get, c->route))
		return call_etag_listed(wanted, "", false)
			       ? 0
			       : call_fail(c, ERR_PRECONDITION,
					 "What this path changes has no ETag to compare; leave If-Match out.");
	probe.route = get;
	probe.op = get->op;
	if (get->op->reply)
		probe.reply = arena_alloc(c->arena, get->op->reply->size);
	err = get->op->apply(&probe);
	if (err) {
		c->problem = probe.problem;
		return err;
	}
	call_write_reply(&probe);
	call_etag(&c->x->reply.body, tag);
	c->x->reply.body.len = c->x->reply.extra.len = 0;
	c->x->reply.type = NULL;
	if (call_etag_listed(wanted, tag, false))
		return 0;
	return call_fail(c, ERR_PRECONDITION, "The object is at %s now; read it again.", tag);
}
