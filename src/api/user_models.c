/* user_models.c - the models a tenant reaches, and which of its members may have them called. */
#include "api/api.h"
#include "api/model_row.h"
#include "store/listing.h"

#define REACHED                                                                     \
	"(m.available_to_all_tenants = 1 or exists (select 1 from model_tenants e " \
	"where e.tenant_id = $1 and e.model_id = m.id))"

enum {
	REACHED_LIST,
	MODEL_REACHED = REACHED_LIST + LIST_SORTS,
	MEMBER_THERE,
	GRANT_READ,
	GRANT_ADD,
	GRANT_REMOVE,
};

static const struct statement sql[] = {
	LIST_STATEMENTS("tenant_models", &model_row_schema, "{m.*}",
		"models m where m.status in ('active', 'experimental') and " REACHED, "m.id", "2",
		"3", .scan = "the registry, walked in the order of its key"),
	[MODEL_REACHED] = { "model_reached",
		"select count(*) from models m where m.id = $2 and " REACHED },
	[MEMBER_THERE] = { "user_model_member",
		"select count(*) from members where tenant_id = $1 and user_id = $2" },
	[GRANT_READ] = { "user_model_read",
		"select {*} from user_models where tenant_id = $1 and user_id = $2 and model_id = $3",
		.row = &UserModelGrantRead_schema },
	[GRANT_ADD] = { "user_model_add",
		"insert into user_models (tenant_id, user_id, model_id, granted_by_id, created_at) "
		"values ($1, $2, $3, $4, $5)" },
	[GRANT_REMOVE] = { "user_model_remove",
		"delete from user_models where tenant_id = $1 and user_id = $2 and model_id = $3" },
};
STATEMENT_SET(user_model_sql, sql);

OPERATION(listTenantModels, .list = true, .reply = &TenantModel_schema)
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

static int read_grant(struct call *c)
{
	return db_one(c->db, c->arena, &sql[GRANT_READ], c->reply,
		ARGS(T(c->caller.tenant_id), T(call_param(c, "user_id")),
			T(call_param(c, "model_id"))));
}

static void note_grant(struct call *c)
{
	c->audit.resource_id = call_param(c, "model_id");
	c->audit.meta = arena_printf(c->arena, "{\"user_id\":\"%s\"}", call_param(c, "user_id"));
}

OPERATION(readUserModelGrant, .reply = &UserModelGrantRead_schema)
{
	int err = read_grant(c);

	return err == ERR_NOT_FOUND ? call_fail(c, err, "The user has no grant on this model.")
				    : err;
}

OPERATION(grantModelToUser, .reply = &UserModelGrantRead_schema)
{
	struct UserModelGrantRead *out = c->reply;
	int err = find_both(c);

	note_grant(c);
	if (err)
		return err;
	err = read_grant(c);
	c->standing = !err;
	if (err != ERR_NOT_FOUND)
		return err;
	*out = (struct UserModelGrantRead){ call_param(c, "model_id"), call_param(c, "user_id"),
		c->caller.user_id, { c->now } };
	return db_run(c->db, &sql[GRANT_ADD], NULL,
		ARGS(T(c->caller.tenant_id), T(out->user_id), T(out->model_id),
			T(out->granted_by_id), N(c->now)));
}

OPERATION(revokeModelFromUser)
{
	int64_t removed = 0;
	int err = db_run(c->db, &sql[GRANT_REMOVE], &removed,
		ARGS(T(c->caller.tenant_id), T(call_param(c, "user_id")),
			T(call_param(c, "model_id"))));

	note_grant(c);
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
RESOURCE(user_models, routes, NULL);
