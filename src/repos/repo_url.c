/* repo_url.c - the addresses by which git reaches the repositories of agents; see repo.h. */
#include "repos/repo.h"

enum { TENANT_SLUG, URLS_FOLLOW };

static const struct statement sql[] = {
	[TENANT_SLUG] = { "repo_tenant_slug", "select slug as value from tenants where id = $1",
		.row = &one_text_schema },
	[URLS_FOLLOW] = { "repo_urls_follow",
		"update agent_rows set repo_url = $1 || '/git/' || (select t.slug from tenants t "
		"where t.id = agent_rows.tenant_id) || '/' || slug || '.git' "
		"where gone_at is null and repo_url not like $1 || '/git/%' and exists "
		"(select 1 from repositories r where r.tenant_id = agent_rows.tenant_id and "
		"r.agent_id = agent_rows.id and r.purpose = 'code' and r.host = 'embedded')",
		.across = "of every tenant", .scan = "once, at the start" },
};
STATEMENT_SET(repo_url_sql, sql);

const char *repo_url(struct arena *a, const char *base, const char *tenant_slug,
	const char *agent_slug, enum RepoPurpose purpose)
{
	return arena_printf(a, "%s/git/%s/%s%s.git", base, tenant_slug, agent_slug,
		purpose == RepoPurpose_image ? ".image" : "");
}

int repo_tenant_slug(struct db *db, struct arena *a, const char *tenant_id, const char **ret)
{
	struct one_text slug;
	int err = db_one(db, a, &sql[TENANT_SLUG], &slug, ARGS(T(tenant_id)));

	*ret = err ? NULL : slug.value;
	return err;
}

int repo_url_of(struct db *db, struct arena *a, const char *base, const char *tenant_id,
	const char *agent_slug, enum RepoPurpose purpose, const char **ret)
{
	const char *slug;
	int err = repo_tenant_slug(db, a, tenant_id, &slug);

	if (!err)
		*ret = repo_url(a, base, slug, agent_slug, purpose);
	return err;
}

int repo_urls_follow(struct db *db, const char *base)
{
	return db_run(db, &sql[URLS_FOLLOW], NULL, ARGS(T(base)));
}
