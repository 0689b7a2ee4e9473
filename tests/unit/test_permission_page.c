/* test_permission_page.c - the tables of docs/permissions.md against the permission matrix, both ways. */
#include "t.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/permission.h"
#include "base/arena.h"

enum { PAGE_MAX = 256 * 1024 };

/* The tests run from the root of the repository or from a folder in it. */
static const char *page(struct arena *a)
{
	FILE *file = fopen("docs/permissions.md", "r");
	char *text = arena_alloc(a, PAGE_MAX + 1);

	if (!file)
		file = fopen("../docs/permissions.md", "r");
	if (!file)
		test_fail(__FILE__, __LINE__, "docs/permissions.md cannot be read");
	else {
		text[fread(text, 1, PAGE_MAX, file)] = 0;
		fclose(file);
	}
	return text;
}

/* How a row of the page begins: the name, and who holds it. */
static const char *row(struct arena *a, int p)
{
	permissions tenant[] = { permissions_of_tenant_role(ROLE_OWNER),
		permissions_of_tenant_role(ROLE_ADMIN), permissions_of_tenant_role(ROLE_MEMBER),
		permissions_of_tenant_role(ROLE_GUEST) };
	permissions agent[] = { permissions_of_agent_role(AGENT_OWNER),
		permissions_of_agent_role(AGENT_MANAGER), permissions_of_agent_role(AGENT_VIEWER),
		permissions_of_baseline(ROLE_MEMBER), permissions_of_baseline(ROLE_GUEST) };
	bool in_tenant = permission_scope(p) == SCOPE_TENANT;
	const permissions *held = in_tenant ? tenant : agent;
	size_t count = in_tenant ? sizeof tenant / sizeof *tenant : sizeof agent / sizeof *agent;
	const char *text = arena_printf(a, "\n| `%s` |", permission_name(p));

	for (size_t i = 0; i < count; i++)
		text = arena_printf(a, "%s%s |", text, held[i] >> p & 1 ? " yes" : "");
	return text;
}

TEST(permission_page_has_the_matrix)
{
	struct arena a = { 0 };
	const char *text = page(&a);
	int named = 0, rows = 0;

	for (int p = PERM_NONE + 1; p < PERM_COUNT; p++) {
		const char *found;

		if (permission_scope(p) < SCOPE_TENANT)
			continue;
		named++;
		found = strstr(text, row(&a, p));
		test_step("%s", permission_name(p));
		if (!found)
			test_fail(__FILE__, __LINE__, "the page has no row%s WORDS |", row(&a, p));
		else
			CHECK(strcspn(found + strlen(row(&a, p)), "|\n") > 3);
	}
	for (const char *at = strstr(text, "\n| `"); at; at = strstr(at + 1, "\n| `"))
		rows += strchr(at, ':') < strchr(at + 5, '`');
	CHECK_INT(rows, named);
	arena_free(&a);
}
