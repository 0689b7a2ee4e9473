/* api_setup.c - the runtime made from the tables; see registry.h. */
#include "serve/registry.h"

#include <stdlib.h>

#include "access/scrapers.h"
#include "api/erasure/gone.h"
#include "api/people/accounts.h"
#include "api/service.h"
#include "api/tenants/erase.h"
#include "helper/helper.h"
#include "mailboxes/mail_answer.h"
#include "mailboxes/mail_entry.h"
#include "mailboxes/mail_send.h"
#include "mailboxes/mail_tools.h"
#include "openai/gateway.h"
#include "webhooks/hook_deliver.h"
#include "webhooks/hook_log.h"
#include "call/held.h"
#include "call/listeners.h"
#include "call/metrics.h"
#include "contract/lint.h"
#include "contract/types.h"
#include "search/search.h"
#include "sessions/session.h"

/* Sessions are found by their titles, and know nothing of who finds them. */
static int index_session(
	struct db *db, struct arena *a, const char *tenant_id, const char *session_id)
{
	return search_refresh(db, a, tenant_id, MentionType_session, session_id);
}

static struct batches *(*const removals[REMOVALS])(struct app *app) = {
	[REMOVE_GONE] = gone_new,
	[REMOVE_TENANTS] = erase_new,
	[REMOVE_ACCOUNTS] = accounts_erase_new,
};

/* What is wrong with the text of a statement, or NULL. */
static const char *faulty_statement(struct arena *a)
{
	struct arena scratch = { 0 };
	struct set_walk walk = { 0 };
	const struct statement_set *set;
	const char *fault = NULL;

	while (!fault && (set = api_next_set(&walk)))
		for (size_t i = 0; !fault && i < set->count; i++) {
			fault = statement_fault(&scratch, &set->list[i]);
			fault = fault ? arena_strdup(a, fault) : NULL;
			arena_reset(&scratch);
		}
	arena_free(&scratch);
	return fault;
}

int api_setup(struct service *service, struct arena *a, struct problem *p)
{
	struct app *app = &service->app;
	struct types types = { 0 };
	const char *sentence = NULL;

	if (contract_lint(api_resources, api_resource_count, permission_name, a, &sentence))
		return problem_set(p, a, ERR_INTERNAL, "the tables are wrong: %s", sentence);
	sentence = faulty_statement(a);
	if (sentence)
		return problem_set(p, a, ERR_INTERNAL, "the statements are wrong: %s", sentence);
	session_on_title(index_session);
	session_on_answer(mail_answer);
	mail_on_bounce(mail_bounced);
	builtin_run_more(mail_tools, mail_tool_count);
	app->resources = api_resources;
	app->resource_count = api_resource_count;
	types_collect(&types, a, api_resources, api_resource_count);
	types_add(&types, a, &page_query_schema, TYPE_QUERIED);
	app->patterns = patterns_new(types_schemas(&types, a), types.count, &sentence);
	if (!app->patterns)
		return problem_set(p, a, ERR_INTERNAL, "the pattern %s does not compile", sentence);
	app->router = router_new(api_resources, api_resource_count);
	app->metrics = metrics_new(router_route_count(app->router));
	app->held = held_new(&app->settings);
	app->listeners = listeners_new();
	app->scrapers = scrapers_new();
	service->helper = helper_new(NULL);
	service->hook_log = hook_log_new();
	app->loop_begins = gateway_loop_begins;
	app->loop_ends = gateway_loop_ends;
	service->hook_post = hook_post_new();
	if (!service->hook_log || !service->hook_post)
		return problem_set(p, a, ERR_INTERNAL, "not enough memory for webhooks");
	for (int i = 0; i < REMOVALS; i++) {
		service->removals[i] = removals[i](app);
		if (!service->removals[i])
			return problem_set(p, a, ERR_INTERNAL, "not enough memory to start");
	}
	return 0;
}

void api_teardown(struct service *service)
{
	struct app *app = &service->app;

	for (int i = 0; i < REMOVALS; i++)
		free(service->removals[i]);
	helper_free(service->helper);
	hook_log_free(service->hook_log);
	hook_post_free(service->hook_post);
	metrics_free(app->metrics);
	held_free(app->held);
	listeners_free(app->listeners);
	scrapers_free(app->scrapers);
	router_free(app->router);
	patterns_free(app->patterns);
}
