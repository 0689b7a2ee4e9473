/* user_models.c - the models a tenant reaches, and which of its members may have them called. */
#include "call/operation.h"
#include "api/models/model_row.h"
#include "store/listing.h"
#include "store/row.h"

#define REACHED                                                                     \
	"(m.available_to_all_tenants = 1 or exists (select 1 from model_tenants e " \
	"where e.tenant_id = $1 and e.model_id = m.id))"

enum {
	LIST_OF(REACHED_LIST),
	MODEL_REACHED,
	MEMBER_THERE,
	GRANT_READ,
	GRANT_ADD,
	GRANT_REMOVE,
};

struct user_grant {
	const char *tenant_id, *user_id, *model_id, *granted_by_id;
	int64_t created_at;
};

FIELDS(user_grant) = {
	ROW_FIELDS(user_grant, tenant_id, user_id, model_id, created_at),
	ROW_NULLABLE(user_grant, granted_by_id),
};
static SCHEMA(user_grant, .internal = true);

static const struct statement sql[] = {
	LISTING(REACHED_LIST, "tenant_models", &model_row_schema, "{m.*}",
		"models m where m.status in ('active', 'experimental') and " REACHED, "m.id",
		.scan = "the registry, walked in the order of its key"),
	[MODEL_REACHED] = { "model_reached",
		"select count(*) from models m where m.id = $2 and " REACHED },
	[MEMBER_THERE] = { "user_model_member",
		"select count(*) from members where tenant_id = $1 and user_id = $2 "
		"and status = 'active'" },
	[GRANT_READ] = { "user_model_read",
		"select {*} from user_models where tenant_id = $1 and user_id = $2 and model_id = $3",
		.row = &UserModelGrantRead_schema },
	[GRANT_ADD] = { "user_model_add", "insert into user_models ({*}) values ({$})",
		.row = &user_grant_schema },
	[GRANT_REMOVE] = { "user_model_remove",
		"delete from user_models where tenant_id = $1 and user_id = $2 and model_id = $3" },
};
STATEMENT_SET(user_model_sql, sql);

LIST_OPERATION(listTenantModels, NONE, TenantModel)
{
	struct TenantModel *shown;
	int err = call_list(c, &sql[REACHED_LIST], ARGS(T(c->caller.tenant_id)));

	if (err)
		return err;
	shown = arena_array(c->arena, struct TenantModel, c->items.count + 1);
	for (size_t i = 0; i < c->items.count; i++) {
		const struct model_row *row = (const struct model_row *)c->items.at + i;

		schema_copy(&model_row_schema, row, &TenantModel_schema, &shown[i]);
		shown[i].pricing.text = model_pricing(row, c->arena);
	}
	c->items.at = shown;
	return 0;
}

/* The model must be one that the tenant reaches, and the user one of its members. */
static int find_both(struct call *c)
{
	int64_t there = 0;
	int err = db_int(c->db, &sql[MODEL_REACHED], &there,
		ARGS(T(c->caller.tenant_id), T(call_param(c, "model_id"))));

	if (!err && !there)
		return call_fail(c, ERR_NOT_FOUND, "There is no such model here.");
	if (!err)
		err = db_int(c->db, &sql[MEMBER_THERE], &there,
			ARGS(T(c->caller.tenant_id), T(call_param(c, "user_id"))));
	if (!err && !there)
		return call_fail(c, ERR_NOT_FOUND, "There is no such member of the tenant.");
	return err;
}

static int read_user_grant(struct call *c, struct UserModelGrantRead *out)
{
	return db_one(c->db, c->arena, &sql[GRANT_READ], out,
		ARGS(T(c->caller.tenant_id), T(call_param(c, "user_id")),
			T(call_param(c, "model_id"))));
}

static void note_user_grant(struct call *c)
{
	c->audit.resource_id = call_param(c, "model_id");
	c->audit.meta = arena_printf(c->arena, "{\"user_id\":\"%s\"}", call_param(c, "user_id"));
}

OPERATION(readUserModelGrant, NONE, UserModelGrantRead)
{
	int err = read_user_grant(c, out);

	return err == ERR_NOT_FOUND ? call_fail(c, err, "The user has no grant on this model.")
				    : err;
}

OPERATION(grantModelToUser, NONE, UserModelGrantRead, .may_stand = true)
{
	int err = find_both(c);

	note_user_grant(c);
	if (err)
		return err;
	err = read_user_grant(c, out);
	c->standing = !err;
	if (err != ERR_NOT_FOUND)
		return err;
	*out = (struct UserModelGrantRead){ call_param(c, "model_id"), call_param(c, "user_id"),
		c->caller.user_id, { c->now } };
	return db_put(c->db, &sql[GRANT_ADD],
		&(struct user_grant){ .tenant_id = c->caller.tenant_id,
			.user_id = out->user_id,
			.model_id = out->model_id,
			.granted_by_id = out->granted_by_id,
			.created_at = c->now });
}

OPERATION(revokeModelFromUser, NONE, NONE)
{
	int64_t removed = 0;
	int err = db_run(c->db, &sql[GRANT_REMOVE], &removed,
		ARGS(T(c->caller.tenant_id), T(call_param(c, "user_id")),
			T(call_param(c, "model_id"))));

	note_user_grant(c);
	if (!err && !removed)
		return call_fail(c, ERR_NOT_FOUND, "The user has no grant on this model.");
	return err;
}

#define TM "/tenant/{tenant_id}/models"

static const struct route routes[] = {
	{ METHOD_GET, TM, &listTenantModels, PERM_TENANT_READ, 200, .tag = "Models",
		.doc = "List the models the tenant reaches, newest first." },
	{ METHOD_GET, TM "/{model_id}/users/{user_id}", &readUserModelGrant, PERM_MEMBERS_WRITE,
		200, .tag = "Models", .doc = "Read a member's grant on a model." },
	{ METHOD_PUT, TM "/{model_id}/users/{user_id}", &grantModelToUser, PERM_MEMBERS_WRITE, 201,
		"user_model.grant", .tag = "Models",
		.doc = "Let agents call a model for a member; OWNER and ADMIN need no grant." },
	{ METHOD_DELETE, TM "/{model_id}/users/{user_id}", &revokeModelFromUser, PERM_MEMBERS_WRITE,
		204, "user_model.revoke", .tag = "Models",
		.doc = "Revoke a member's grant on a model." },
};
RESOURCE(user_models, routes, NULL, &user_model_sql);
