/* mcp_issuers.c - who gives credentials for the Model Context Protocol besides this service: the metadata of a
 * protected resource (RFC 9728), which a client reads after a 401 that names its place, and the tokens that it
 * then brings, which are for that resource and no other. */
#include "mcp/mcp_issuers.h"

#include "api/service.h"
#include "base/clock.h"
#include "call/operation.h"
#include "outside/oidc.h"

struct ProtectedResource {
	const char *resource;
	struct list authorization_servers, bearer_methods_supported;
	const char *resource_name;
};

FIELDS(ProtectedResource) = {
	FIELD(ProtectedResource, resource, .required = true,
		.example = "\"https://lodge.example.org/mcp\"",
		.doc = "The address that it is about."),
	FIELD(ProtectedResource, authorization_servers, .required = true, .item = TEXT,
		.example = "[\"https://login.example.org\"]", .doc = "Where people sign in."),
	FIELD(ProtectedResource, bearer_methods_supported, .required = true, .item = TEXT,
		.example = "[\"header\"]", .doc = "How a token is sent."),
	FIELD(ProtectedResource, resource_name, .required = true, .example = "\"Lodge\"",
		.doc = "What it is called."),
};
static SCHEMA(ProtectedResource, .doc = "Who gives credentials for a resource (RFC 9728).");

static const char *resource_at(struct call *c, const char *path)
{
	return arena_printf(c->arena, "%s%s", c->app->settings.public_url, path);
}

static const char *tenant_resource(struct call *c, const char *tenant_id)
{
	return resource_at(c, arena_printf(c->arena, "/mcp/%s", tenant_id));
}

/* ---- tokens ---- */

const char *mcp_metadata_place(struct call *c)
{
	const char *names[OIDC_PROVIDERS_MAX];

	if (!oidc_names(service_of(c->app)->oidc, c->arena, names))
		return "";
	return arena_printf(c->arena,
		", resource_metadata=\"%s/.well-known/oauth-protected-resource%.*s\"",
		c->app->settings.public_url, (int)c->x->request.path_len, c->x->request.path);
}

int mcp_vouch(struct call *c, bool waits)
{
	const char *tenant_id = call_param(c, "tenant_id");
	const char *const resources[] = { resource_at(c, "/mcp"),
		tenant_id ? tenant_resource(c, tenant_id) : NULL, NULL };
	const struct oidc_token token = { c->credential.token, c->credential.hash, resources };
	struct oidc_bearer bearer;
	const char *why = NULL;
	int err = oidc_bearer(service_of(c->app)->oidc, c->arena, &token, waits, &bearer, &why);

	if (err == ERR_UNAUTHENTICATED) {
		c->problem.challenge = "The token is not good here";
		return call_fail(c, err, "That token is not good here: %s.", why);
	}
	if (err)
		return err == ERR_BUSY
			       ? err
			       : call_fail(c, err,
					 "Whether that token is good cannot be found out: its issuer does "
					 "not answer as it should; try again later.");
	c->credential.provider = bearer.provider;
	c->credential.subject = bearer.subject;
	c->credential.expires_at = bearer.ends_s * SECOND_US;
	return 0;
}

/* ---- the metadata ---- */

static int show_resource(struct call *c, const char *resource, struct ProtectedResource *out)
{
	const char *names[OIDC_PROVIDERS_MAX];
	struct oidc *oidc = service_of(c->app)->oidc;
	size_t count = oidc_names(oidc, c->arena, names);
	const char **issuers = arena_array(c->arena, const char *, count + 1);
	const char **ways = arena_array(c->arena, const char *, 1);

	if (!count)
		return call_fail(c, ERR_NOT_FOUND, "Nobody but this service gives credentials.");
	out->resource = resource;
	out->resource_name = "Lodge";
	ways[0] = "header";
	out->bearer_methods_supported = (struct list){ ways, 1 };
	for (size_t i = 0; i < count; i++) {
		const struct oidc_provider *p = oidc_find(oidc, names[i]);

		if (p)
			issuers[out->authorization_servers.count++] = oidc_issuer(p);
	}
	out->authorization_servers.at = issuers;
	return 0;
}

OPERATION(readProtectedResource, NONE, ProtectedResource, .storeless = true)
{
	return show_resource(c, resource_at(c, "/mcp"), out);
}

OPERATION(readProtectedResourceOfMcp, NONE, ProtectedResource, .storeless = true)
{
	return show_resource(c, resource_at(c, "/mcp"), out);
}

OPERATION(readProtectedResourceOfTenant, NONE, ProtectedResource, .storeless = true)
{
	return show_resource(c, tenant_resource(c, call_param(c, "tenant_id")), out);
}

#define WELL_KNOWN "/.well-known/oauth-protected-resource"
#define ISSUERS .tag = "MCP", .as_printed = true, .unpublished = true

static const struct route routes[] = {
	{ METHOD_GET, WELL_KNOWN, &readProtectedResource, PERM_PUBLIC, 200, ISSUERS,
		.doc = "Who gives credentials for MCP; 404 where people sign in here alone." },
	{ METHOD_GET, WELL_KNOWN "/mcp", &readProtectedResourceOfMcp, PERM_PUBLIC, 200, ISSUERS,
		.doc = "The same, under the path's own name." },
	{ METHOD_GET, WELL_KNOWN "/mcp/{tenant_id}", &readProtectedResourceOfTenant, PERM_PUBLIC,
		200, ISSUERS, .doc = "The same for one tenant's address." },
};
RESOURCE(mcp_issuers, routes, NULL);
