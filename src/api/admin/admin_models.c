/* admin_models.c - the registry of models, kept by super administrators, and which tenants reach a
 * model that is not open to all. */
#include <string.h>

#include "call/operation.h"
#include "api/models/model_edit.h"

enum { REACH_READ, REACH_ADD, REACH_REMOVE, TENANT_THERE };

static const struct statement sql[] = {
	[REACH_READ] = { "model_tenant_read",
		"select {*} from model_tenants where tenant_id = $1 and model_id = $2",
		.row = &ModelTenantRead_schema },
	[REACH_ADD] = { "model_tenant_add",
		"insert into model_tenants (tenant_id, model_id, created_at) values ($1, $2, $3)" },
	[REACH_REMOVE] = { "model_tenant_remove",
		"delete from model_tenants where tenant_id = $1 and model_id = $2" },
	[TENANT_THERE] = { "model_tenant_there",
		"select count(*) from tenants where id = $1 and erase_at is null" },
};
STATEMENT_SET(admin_model_sql, sql);

static struct model_editor editor_of(struct call *c)
{
	return (struct model_editor){
		.db = c->db,
		.arena = c->arena,
		.vault = c->app->vault,
		.patterns = c->app->patterns,
		.allow_private = c->app->settings.allow_private_addresses,
		.problem = &c->problem,
	};
}

static int find_model(struct call *c, struct model_row *ret)
{
	int err = model_by_id(c->db, c->arena, call_param(c, "model_id"), ret);

	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such model.") : err;
}

LIST_OPERATION(listModels, NONE, ModelRead)
{
	struct ModelRead *shown;
	int err = call_list(c, model_list, NO_ARGS);

	if (err)
		return err;
	shown = arena_array(c->arena, struct ModelRead, c->items.count + 1);
	for (size_t i = 0; i < c->items.count; i++)
		model_show((const struct model_row *)c->items.at + i, c->arena, &shown[i]);
	c->items.at = shown;
	return 0;
}

OPERATION(readModel, NONE, ModelRead)
{
	struct model_row row;
	int err = find_model(c, &row);

	if (!err)
		model_show(&row, c->arena, out);
	return err;
}

CHECK_STEP(createModel, ModelCreate)
{
	const struct model_editor e = editor_of(c);

	model_check(&e, in);
}

OPERATION(createModel, ModelCreate, ModelRead, .check = createModel_check)
{
	const struct model_editor e = editor_of(c);
	struct model_row row;
	int err = model_create(&e, in, &row);

	if (err)
		return err;
	model_show(&row, c->arena, out);
	return 0;
}

CHECK_STEP(updateModel, AdminModelUpdate)
{
	const struct model_editor e = editor_of(c);
	struct model_row row;

	if (find_model(c, &row) == 0)
		model_change(&e, in, &row);
}

OPERATION(updateModel, AdminModelUpdate, ModelRead, .check = updateModel_check)
{
	const struct model_editor e = editor_of(c);
	struct model_row before, after;
	int err = find_model(c, &before);

	if (err)
		return err;
	after = before;
	err = model_change(&e, in, &after);
	if (err)
		return err;
	err = call_update(c, CHANGE(model_row, &before, &after), NULL);
	model_show(&after, c->arena, out);
	return err ? err : model_update(c->db, &after);
}

static int require_tenant(struct call *c, const char *tenant_id)
{
	int64_t there = 0;
	int err = db_int(c->db, &sql[TENANT_THERE], &there, ARGS(T(tenant_id)));

	return err || there ? err : call_fail(c, ERR_NOT_FOUND, "There is no such tenant.");
}

static void note_tenant(struct call *c, const char *model_id, const char *tenant_id)
{
	c->audit.resource_id = model_id;
	c->audit.shown_tenant_id = tenant_id;
	c->audit.meta = arena_printf(c->arena, "{\"tenant_id\":\"%s\"}", tenant_id);
}

OPERATION(giveModelToTenant, NONE, ModelTenantRead, .may_stand = true)
{
	const char *tenant_id = call_param(c, "tenant_id");
	struct model_row row;
	int err = find_model(c, &row);

	if (!err)
		err = require_tenant(c, tenant_id);
	if (err)
		return err;
	note_tenant(c, row.id, tenant_id);
	err = db_one(c->db, c->arena, &sql[REACH_READ], out, ARGS(T(tenant_id), T(row.id)));
	c->standing = !err;
	if (err != ERR_NOT_FOUND)
		return err;
	*out = (struct ModelTenantRead){ row.id, tenant_id, { c->now } };
	return db_run(c->db, &sql[REACH_ADD], NULL, ARGS(T(tenant_id), T(row.id), N(c->now)));
}

OPERATION(takeModelFromTenant, NONE, NONE)
{
	const char *tenant_id = call_param(c, "tenant_id"), *id = call_param(c, "model_id");
	int64_t removed = 0;
	int err = db_run(c->db, &sql[REACH_REMOVE], &removed, ARGS(T(tenant_id), T(id)));

	note_tenant(c, id, tenant_id);
	if (!err && !removed)
		return call_fail(c, ERR_NOT_FOUND, "The tenant has no grant on this model.");
	return err;
}

#define M "/admin/models/{model_id}"

static const struct route routes[] = {
	{ METHOD_GET, "/admin/models", &listModels, PERM_SUPER, 200, .tag = "Super administrator",
		.doc = "List all models, newest first." },
	{ METHOD_POST, "/admin/models", &createModel, PERM_SUPER, 201, "model.create",
		.tag = "Super administrator",
		.doc = "Enter a model; its key is sealed and never shown again." },
	{ METHOD_GET, M, &readModel, PERM_SUPER, 200, .tag = "Super administrator",
		.doc = "Read a model, without its key and the values of its headers." },
	{ METHOD_PATCH, M, &updateModel, PERM_SUPER, 200, "model.update",
		.tag = "Super administrator",
		.doc = "Change the fields that are sent, for all tenants." },
	{ METHOD_PUT, M "/tenants/{tenant_id}", &giveModelToTenant, PERM_SUPER, 201,
		"model.give_tenant", .tag = "Super administrator",
		.doc = "Let a tenant reach a model that is not open to all." },
	{ METHOD_DELETE, M "/tenants/{tenant_id}", &takeModelFromTenant, PERM_SUPER, 204,
		"model.take_tenant", .tag = "Super administrator",
		.doc = "Take the model from the tenant; grants inside it rest until it is given back." },
};
RESOURCE(models, routes, NULL, &admin_model_sql);
