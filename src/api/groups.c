/* groups.c - groups of members, which hold roles on agents. */
#include <string.h>

#include "api/api.h"
#include "api/members.h"
#include "store/listing.h"

#define MEMBER_COUNT                                                             \
	"(select count(*) from group_members x where x.tenant_id = g.tenant_id " \
	"and x.group_id = g.id) as member_count"
#define GROUPS_FROM "groups g where g.tenant_id = $1"
#define IN_GROUP_FROM                                                                            \
	"group_members x join members m on m.tenant_id = x.tenant_id and m.user_id = x.user_id " \
	"join users u on u.id = m.user_id where x.tenant_id = $1 and x.group_id = $2"
#define IN_GROUP_COLUMNS "m.user_id, u.email, u.name, m.role, m.status, m.created_at"

enum {
	GROUP_LIST,
	IN_GROUP_LIST = GROUP_LIST + LIST_SORTS,
	GROUP_READ = IN_GROUP_LIST + LIST_SORTS,
	GROUP_INSERT,
	GROUP_UPDATE,
	GROUP_REMOVE,
	IN_GROUP_READ,
	IN_GROUP_INSERT,
	IN_GROUP_REMOVE,
};

static const struct statement sql[] = {
	LIST_STATEMENTS("group_list", &GroupRead_schema, "{g.*}, " MEMBER_COUNT, GROUPS_FROM,
		"g.id", "2", "3"),
	LIST_STATEMENTS("in_group_list", &MemberRead_schema, IN_GROUP_COLUMNS, IN_GROUP_FROM,
		"x.user_id", "3", "4"),
	[GROUP_READ] = { "group_read",
		"select {g.*}, " MEMBER_COUNT " from " GROUPS_FROM " and g.id = $2",
		.row = &GroupRead_schema },
	[GROUP_INSERT] = { "group_insert",
		"insert into groups (tenant_id, id, name, description, created_at, updated_at) "
		"values ($1, $2, $3, $4, $5, $5)" },
	[GROUP_UPDATE] = { "group_update",
		"update groups set name = $3, description = $4, updated_at = $5 "
		"where tenant_id = $1 and id = $2" },
	[GROUP_REMOVE] = { "group_remove", "delete from groups where tenant_id = $1 and id = $2" },
	[IN_GROUP_READ] = { "in_group_read",
		"select " IN_GROUP_COLUMNS " from " IN_GROUP_FROM " and x.user_id = $3",
		.row = &MemberRead_schema },
	[IN_GROUP_INSERT] = { "in_group_insert",
		"insert into group_members (tenant_id, group_id, user_id, created_at) "
		"select m.tenant_id, $2, m.user_id, $4 from members m "
		"where m.tenant_id = $1 and m.user_id = $3" },
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

static int name_taken(struct call *c, int err, const char *name)
{
	if (err != ERR_DUPLICATE)
		return err;
	return call_fail(c, ERR_TAKEN, "This tenant has a group named %s already.", name);
}

OPERATION(listGroups, .list = true, .reply = &GroupRead_schema)
{
	return call_list(c, &sql[GROUP_LIST], ARGS(T(c->caller.tenant_id)));
}

OPERATION(readGroup, .reply = &GroupRead_schema)
{
	return find_group(c, c->reply);
}

OPERATION(createGroup, .body = &GroupCreate_schema, .reply = &GroupRead_schema)
{
	const struct GroupCreate *in = c->body;
	struct GroupRead *out = c->reply;
	struct id id = id_new(&out->created_at.us);

	out->id = c->audit.resource_id = arena_strdup(c->arena, id.text);
	out->name = in->name;
	out->description = in->description;
	c->location = arena_printf(c->arena, "/tenant/%s/groups/%s", c->caller.tenant_id, out->id);
	return name_taken(c,
		db_run(c->db, &sql[GROUP_INSERT], NULL,
			ARGS(T(c->caller.tenant_id), T(out->id), T(in->name), T(in->description),
				N(out->created_at.us))),
		in->name);
}

OPERATION(updateGroup, .body = &GroupUpdate_schema, .reply = &GroupRead_schema)
{
	struct GroupRead before, *after = c->reply;
	int err = find_group(c, &before);

	if (err)
		return err;
	*after = before;
	schema_patch(&GroupUpdate_schema, c->body, &GroupRead_schema, after);
	call_changed(c, &GroupRead_schema, &before, after);
	c->audit.resource_id = after->id;
	return name_taken(c,
		db_run(c->db, &sql[GROUP_UPDATE], NULL,
			ARGS(T(c->caller.tenant_id), T(after->id), T(after->name),
				T(after->description), N(c->now))),
		after->name);
}

OPERATION(deleteGroup)
{
	struct GroupRead before;
	int err = find_group(c, &before);

	c->audit.resource_id = call_param(c, "group_id");
	if (err)
		return err;
	return db_run(c->db, &sql[GROUP_REMOVE], NULL, ARGS(T(c->caller.tenant_id), T(before.id)));
}

OPERATION(listGroupMembers, .list = true, .key = "user_id", .reply = &MemberRead_schema)
{
	struct GroupRead group;
	int err = find_group(c, &group);

	return err ? err
		   : call_list(c, &sql[IN_GROUP_LIST], ARGS(T(c->caller.tenant_id), T(group.id)));
}

OPERATION(addGroupMember, .reply = &MemberRead_schema)
{
	const char *user_id = call_param(c, "user_id");
	struct GroupRead group;
	int64_t added = 0;
	int err = find_group(c, &group);

	c->audit.resource_id = group.id;
	c->audit.meta = arena_printf(c->arena, "{\"user_id\":\"%s\"}", user_id);
	if (!err)
		err = db_one(c->db, c->arena, &sql[IN_GROUP_READ], c->reply,
			ARGS(T(c->caller.tenant_id), T(group.id), T(user_id)));
	c->standing = !err;
	if (err != ERR_NOT_FOUND || c->problem.err)
		return err;
	err = db_run(c->db, &sql[IN_GROUP_INSERT], &added,
		ARGS(T(c->caller.tenant_id), T(group.id), T(user_id), N(c->now)));
	if (!err && !added)
		return call_fail(c, ERR_NOT_FOUND, "There is no such member of the tenant.");
	if (!err)
		err = db_one(c->db, c->arena, &sql[IN_GROUP_READ], c->reply,
			ARGS(T(c->caller.tenant_id), T(group.id), T(user_id)));
	return err;
}

OPERATION(removeGroupMember)
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
RESOURCE(groups, routes, NULL);
