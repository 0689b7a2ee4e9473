/* mcp_issuers.c - who gives credentials for the Model Context Protocol besides this service: the metadata of a
 * protected resource (RFC 9728), which a client reads after a 401 that names its place. */
#include "api/service.h"
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

static int show_resource(struct call *c, const char *path, struct ProtectedResource *out)
{
	const char *names[OIDC_PROVIDERS_MAX];
	struct oidc *oidc = service_of(c->app)->oidc;
	size_t count = oidc_names(oidc, c->arena, names);
	const char **issuers = arena_array(c->arena, const char *, count + 1);
	const char **ways = arena_array(c->arena, const char *, 1);

	if (!count)
		return call_fail(c, ERR_NOT_FOUND, "Nobody but this service gives credentials.");
	out->resource = arena_printf(c->arena, "%s%s", c->app->settings.public_url, path);
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
	return show_resource(c, "/mcp", out);
}

OPERATION(readProtectedResourceOfMcp, NONE, ProtectedResource, .storeless = true)
{
	return show_resource(c, "/mcp", out);
}

OPERATION(readProtectedResourceOfTenant, NONE, ProtectedResource, .storeless = true)
{
	return show_resource(c, arena_printf(c->arena, "/mcp/%s", call_param(c, "tenant_id")), out);
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
