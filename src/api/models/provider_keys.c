/* provider_keys.c - a tenant's own keys at providers, as its administrators put and remove them.  What
 * is sealed is shown to nobody: see broker/provider_keys.h. */
#include "broker/provider_keys.h"

#include <string.h>

#include "call/operation.h"
#include "broker/model.h"
#include "outside/fetch.h"

enum { PROVIDERS_MAX = 16 };

struct ProviderKeyPut {
	const char *api_key, *base_url;
};

FIELDS(ProviderKeyPut) = {
	FIELD(ProviderKeyPut, api_key, .required = true, .secret = true, BOUNDS(1, 4096),
		.pattern = "^[\\x21-\\x7e]+$",
		.rule = "may have no blanks, and plain letters and signs only",
		.example = "\"key-of-the-provider\"",
		.doc = "The key, sealed and never shown again."),
	FIELD(ProviderKeyPut, base_url, .nullable = true, BOUNDS(1, 2048),
		.example = "\"https://models.example.org/v1\"",
		.doc = "Where the provider's API begins, without a query; null or absent for the "
		       "provider's own. The key is used with models at that host alone."),
};
static SCHEMA(ProviderKeyPut, .doc = "The tenant's own key at a provider.");

struct ProviderKeyRead {
	const char *provider, *base_url;
	struct moment created_at, updated_at;
};

FIELDS(ProviderKeyRead) = {
	FIELD(ProviderKeyRead, provider, .required = true, .example = "\"openai\"",
		.doc = "openai, openai_responses or anthropic: the kind of the models it is for."),
	FIELD(ProviderKeyRead, base_url, .required = true, .nullable = true,
		.example = "\"https://models.example.org/v1\"",
		.doc = "Where the provider's API begins; null for the provider's own."),
	FIELD(ProviderKeyRead, created_at, .required = true, .doc = "When the first one was put."),
	FIELD(ProviderKeyRead, updated_at, .required = true, .doc = "When this one was put."),
};
static SCHEMA(ProviderKeyRead, .doc = "That there is a key, and where it is used.");

enum { KEY_LIST, KEY_READ, KEY_REMOVE };

static const struct statement sql[] = {
	[KEY_LIST] = { "provider_key_list",
		"select {*} from provider_keys where tenant_id = $1 order by provider",
		.row = &ProviderKeyRead_schema },
	[KEY_READ] = { "provider_key_read",
		"select {*} from provider_keys where tenant_id = $1 and provider = $2",
		.row = &ProviderKeyRead_schema },
	[KEY_REMOVE] = { "provider_key_remove",
		"delete from provider_keys where tenant_id = $1 and provider = $2" },
};
STATEMENT_SET(provider_key_api_sql, sql);

/* The provider that the path names; ERR_NOT_FOUND if none is called so. */
static int find_provider(struct call *c, const char **ret)
{
	*ret = call_param(c, "provider");
	for (int kind = 0; ModelKind_words.list[kind]; kind++)
		if (model_kind_is_hosted(kind) && strcmp(ModelKind_words.list[kind], *ret) == 0)
			return 0;
	return call_fail(c, ERR_NOT_FOUND,
		"There is no such provider; they are openai, openai_responses and anthropic.");
}

static int read_provider_key(struct call *c, const char *provider, struct ProviderKeyRead *ret)
{
	return db_one(
		c->db, c->arena, &sql[KEY_READ], ret, ARGS(T(c->caller.tenant_id), T(provider)));
}

static int none_there(struct call *c)
{
	return call_fail(c, ERR_NOT_FOUND, "The tenant has no key of its own at this provider.");
}

LIST_OPERATION(listProviderKeys, NONE, ProviderKeyRead, .key = "provider")
{
	return call_short_list(c, &sql[KEY_LIST], PROVIDERS_MAX, ARGS(T(c->caller.tenant_id)));
}

OPERATION(readProviderKey, NONE, ProviderKeyRead)
{
	const char *provider;
	int err = find_provider(c, &provider);

	if (!err)
		err = read_provider_key(c, provider, out);
	return err == ERR_NOT_FOUND && !c->problem.err ? none_there(c) : err;
}

CHECK_STEP(putProviderKey, ProviderKeyPut)
{
	enum egress egress = c->app->settings.allow_private_addresses ? EGRESS_ANY : EGRESS_PUBLIC;
	const char *fault = in->base_url ? fetch_base_fault(in->base_url, egress) : NULL;

	if (fault)
		call_field(c, "base_url", "address", "%s", fault);
}

OPERATION(putProviderKey, ProviderKeyPut, ProviderKeyRead, .may_stand = true,
	.check = putProviderKey_check)
{
	struct ProviderKeyRead before = { 0 };
	struct provider_key key = { .api_key = in->api_key };
	const char *provider;
	int err = find_provider(c, &provider);

	if (err)
		return err;
	putProviderKey_check(c);
	if (c->problem.err)
		return c->problem.err;
	err = read_provider_key(c, provider, &before);
	c->standing = !err;
	if (err && err != ERR_NOT_FOUND)
		return err;
	if (in->base_url)
		key.base_url = fetch_base_trimmed(c->arena, in->base_url);
	*out = (struct ProviderKeyRead){ .provider = provider,
		.base_url = key.base_url,
		.created_at = { c->standing ? before.created_at.us : c->now },
		.updated_at = { c->now } };
	if (!c->standing)
		before = (struct ProviderKeyRead){
			.provider = provider, .created_at = { c->now }, .updated_at = { NIL }
		};
	call_changed(c, &ProviderKeyRead_schema, &before, out);
	return provider_key_put(
		c->db, c->app->vault, c->arena, c->caller.tenant_id, provider, &key, c->now);
}

OPERATION(removeProviderKey, NONE, NONE)
{
	const char *provider;
	int64_t removed = 0;
	int err = find_provider(c, &provider);

	if (!err)
		err = db_run(c->db, &sql[KEY_REMOVE], &removed,
			ARGS(T(c->caller.tenant_id), T(provider)));
	return err || removed ? err : none_there(c);
}

#define KEYS "/tenant/{tenant_id}/provider-keys"

static const struct route routes[] = {
	{ METHOD_GET, KEYS, &listProviderKeys, PERM_TENANT_WRITE, 200, .tag = "Provider keys",
		.doc = "List where the tenant has keys of its own." },
	{ METHOD_GET, KEYS "/{provider}", &readProviderKey, PERM_TENANT_WRITE, 200,
		.tag = "Provider keys", .doc = "Read whether the tenant has a key of its own." },
	{ METHOD_PUT, KEYS "/{provider}", &putProviderKey, PERM_TENANT_WRITE, 201,
		"provider_key.put", .tag = "Provider keys",
		.doc = "Put the tenant's own key at a provider, in the place of what there was." },
	{ METHOD_DELETE, KEYS "/{provider}", &removeProviderKey, PERM_TENANT_WRITE, 204,
		"provider_key.delete", .tag = "Provider keys",
		.doc = "Remove the tenant's own key." },
};
RESOURCE(provider_keys, routes, NULL, &provider_key_api_sql);
