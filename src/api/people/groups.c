/* groups.c - groups of members, which hold roles on agents. */
#include <string.h>

#include "call/operation.h"
#include "api/people/members.h"
#include "store/listing.h"
#include "store/row.h"

#define MEMBER_COUNT                                                             \
	"(select count(*) from group_members x where x.tenant_id = g.tenant_id " \
	"and x.group_id = g.id) as member_count"
#define GROUPS_FROM "groups g where g.tenant_id = $1"
#define IN_GROUP_FROM                                                                            \
	"group_members x join members m on m.tenant_id = x.tenant_id and m.user_id = x.user_id " \
	"join users u on u.id = m.user_id where x.tenant_id = $1 and x.group_id = $2"
#define IN_GROUP_COLUMNS "m.user_id, u.email, u.name, m.role, m.status, m.created_at"

enum {
	LIST_OF(GROUP_LIST),
	LIST_OF(IN_GROUP_LIST),
	GROUP_READ,
	GROUP_INSERT,
	GROUP_UPDATE,
	GROUP_REMOVE,
	IN_GROUP_READ,
	IN_GROUP_INSERT,
	IN_GROUP_REMOVE,
};

struct group_row {
	const char *tenant_id, *id, *name, *description;
	int64_t created_at, updated_at;
};

FIELDS(group_row) = {
	ROW_FIELDS(group_row, tenant_id, id, name, created_at, updated_at),
	ROW_NULLABLE(group_row, description),
};
static SCHEMA(group_row, .internal = true);

static const struct statement sql[] = {
	LISTING(GROUP_LIST, "group_list", &GroupRead_schema, "{g.*}, " MEMBER_COUNT, GROUPS_FROM,
		"g.id"),
	LISTING(IN_GROUP_LIST, "in_group_list", &MemberRead_schema, IN_GROUP_COLUMNS, IN_GROUP_FROM,
		"x.user_id"),
	[GROUP_READ] = { "group_read",
		"select {g.*}, " MEMBER_COUNT " from " GROUPS_FROM " and g.id = $2",
		.row = &GroupRead_schema },
	[GROUP_INSERT] = { "group_insert", "insert into groups ({*}) values ({$})",
		.row = &group_row_schema },
	[GROUP_UPDATE] = { "group_update",
		"update groups set name = :name, description = :description, "
		"updated_at = :updated_at where tenant_id = :tenant_id and id = :id",
		.row = &group_row_schema },
	[GROUP_REMOVE] = { "group_remove", "delete from groups where tenant_id = $1 and id = $2" },
	[IN_GROUP_READ] = { "in_group_read",
		"select " IN_GROUP_COLUMNS " from " IN_GROUP_FROM " and x.user_id = $3",
		.row = &MemberRead_schema },
	[IN_GROUP_INSERT] = { "in_group_insert",
		"insert into group_members (tenant_id, group_id, user_id, created_at) "
		"select m.tenant_id, $2, m.user_id, $4 from members m "
		"where m.tenant_id = $1 and m.user_id = $3 and m.status = 'active'" },
	[IN_GROUP_REMOVE] = { "in_group_remove",
		"delete from group_members where tenant_id = $1 and group_id = $2 and user_id = $3" },
};
STATEMENT_SET(group_sql, sql);

static int find_group(struct call *c, struct GroupRead *ret)
{
	int err = db_one(c->db, c->arena, &sql[GROUP_READ], ret,
		ARGS(T(c->caller.tenant_id), T(call_param(c, "group_id"))));

	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "There is no such group.");
	return err;
}

static int group_name_taken(struct call *c, int err, const char *name)
{
	if (err != ERR_DUPLICATE)
		return err;
	return call_fail(c, ERR_TAKEN, "This tenant has a group named %s already.", name);
}

LIST_OPERATION(listGroups, NONE, GroupRead)
{
	return call_list(c, &sql[GROUP_LIST], ARGS(T(c->caller.tenant_id)));
}

OPERATION(readGroup, NONE, GroupRead)
{
	return find_group(c, out);
}

OPERATION(createGroup, GroupCreate, GroupRead)
{
	struct id id = id_new(&out->created_at.us);

	out->id = arena_strdup(c->arena, id.text);
	out->name = in->name;
	out->description = in->description;
	return group_name_taken(c,
		db_put(c->db, &sql[GROUP_INSERT],
			&(struct group_row){ .tenant_id = c->caller.tenant_id,
				.id = out->id,
				.name = in->name,
				.description = in->description,
				.created_at = out->created_at.us,
				.updated_at = out->created_at.us }),
		in->name);
}

OPERATION(updateGroup, GroupUpdate, GroupRead)
{
	struct GroupRead before;
	int err = find_group(c, &before);

	if (err)
		return err;
	call_merge(c, CHANGE(GroupRead, &before, out));
	err = call_update(c, CHANGE(GroupRead, &before, out), NULL);
	if (!err)
		err = db_put(c->db, &sql[GROUP_UPDATE],
			&(struct group_row){ .tenant_id = c->caller.tenant_id,
				.id = out->id,
				.name = out->name,
				.description = out->description,
				.updated_at = c->now });
	return group_name_taken(c, err, out->name);
}

OPERATION(deleteGroup, NONE, NONE)
{
	struct GroupRead before;
	int err = find_group(c, &before);

	if (err)
		return err;
	return db_run(c->db, &sql[GROUP_REMOVE], NULL, ARGS(T(c->caller.tenant_id), T(before.id)));
}

LIST_OPERATION(listGroupMembers, NONE, MemberRead, .key = "user_id")
{
	struct GroupRead group;
	int err = find_group(c, &group);

	return err ? err
		   : call_list(c, &sql[IN_GROUP_LIST], ARGS(T(c->caller.tenant_id), T(group.id)));
}

OPERATION(addGroupMember, NONE, MemberRead, .may_stand = true)
{
	const char *user_id = call_param(c, "user_id");
	struct GroupRead group;
	int64_t added = 0;
	int err = find_group(c, &group);

	c->audit.resource_id = group.id;
	c->audit.meta = arena_printf(c->arena, "{\"user_id\":\"%s\"}", user_id);
	if (!err)
		err = db_one(c->db, c->arena, &sql[IN_GROUP_READ], out,
			ARGS(T(c->caller.tenant_id), T(group.id), T(user_id)));
	c->standing = !err;
	if (err != ERR_NOT_FOUND || c->problem.err)
		return err;
	err = db_run(c->db, &sql[IN_GROUP_INSERT], &added,
		ARGS(T(c->caller.tenant_id), T(group.id), T(user_id), N(c->now)));
	if (!err && !added)
		return call_fail(c, ERR_NOT_FOUND, "There is no such member of the tenant.");
	if (!err)
		err = db_one(c->db, c->arena, &sql[IN_GROUP_READ], out,
			ARGS(T(c->caller.tenant_id), T(group.id), T(user_id)));
	return err;
}

OPERATION(removeGroupMember, NONE, NONE)
{
	const char *user_id = call_param(c, "user_id"), *group_id = call_param(c, "group_id");
	int64_t removed = 0;
	int err = db_run(c->db, &sql[IN_GROUP_REMOVE], &removed,
		ARGS(T(c->caller.tenant_id), T(group_id), T(user_id)));

	c->audit.resource_id = group_id;
	c->audit.meta = arena_printf(c->arena, "{\"user_id\":\"%s\"}", user_id);
	if (!err && !removed)
		return call_fail(c, ERR_NOT_FOUND, "There is no such member of the group.");
	return err;
}

#define G "/tenant/{tenant_id}/groups"

static const struct route routes[] = {
	{ METHOD_GET, G, &listGroups, PERM_MEMBERS_READ, 200, .tag = "Groups",
		.doc = "List the groups, newest first." },
	{ METHOD_POST, G, &createGroup, PERM_GROUPS_WRITE, 201, "group.create", .tag = "Groups",
		.doc = "Make a group." },
	{ METHOD_GET, G "/{group_id}", &readGroup, PERM_MEMBERS_READ, 200, .tag = "Groups",
		.doc = "Read a group." },
	{ METHOD_PATCH, G "/{group_id}", &updateGroup, PERM_GROUPS_WRITE, 200, "group.update",
		.tag = "Groups", .doc = "Rename or describe a group." },
	{ METHOD_DELETE, G "/{group_id}", &deleteGroup, PERM_GROUPS_WRITE, 204, "group.delete",
		.tag = "Groups", .doc = "Delete a group and the roles it holds." },
	{ METHOD_GET, G "/{group_id}/members", &listGroupMembers, PERM_MEMBERS_READ, 200,
		.tag = "Groups", .doc = "List who is in a group." },
	{ METHOD_PUT, G "/{group_id}/members/{user_id}", &addGroupMember, PERM_GROUPS_WRITE, 201,
		"group.add_member", .tag = "Groups", .doc = "Put a member into a group." },
	{ METHOD_DELETE, G "/{group_id}/members/{user_id}", &removeGroupMember, PERM_GROUPS_WRITE,
		204, "group.remove_member", .tag = "Groups",
		.doc = "Take a member out of a group." },
};
RESOURCE(groups, routes, NULL, &group_sql);
