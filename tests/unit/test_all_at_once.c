/* test_all_at_once.c - a body that the tables refuse is told what its operation would refuse besides, and no field
 * is blamed for what another lacks. */
#include "serve/registry.h"
#include "fixture.h"

struct refused_body {
	const char *request, *body;
	const char *fields[8]; /* all that are named, NULL-terminated */
};

#define T_ "/tenant/%s"

static const struct refused_body bodies[] = {
	{ "POST " T_ "/api-keys",
		"{\"name\":\"k\",\"zz\":1,\"scopes\":[\"nope\"],\"expires_at\":\"2020-01-01T00:00:00Z\"}",
		{ "zz", "scopes[0]", "expires_at" } },
	{ "POST " T_ "/api-keys", "{\"name\":\"\",\"scopes\":[5]}", { "name", "scopes[0]" } },
	{ "POST " T_ "/api-keys", "[]", { "" } },
	{ "POST " T_ "/tools",
		"{\"name\":\"no name!\",\"kind\":\"http\",\"input_schema\":{\"type\":\"array\"},"
		"\"config\":{\"method\":\"FETCH\",\"url\":\"ftp://x\"}}",
		{ "name", "description", "input_schema", "config.method", "config.url" } },
	{ "POST " T_ "/tools",
		"{\"name\":\"n\",\"kind\":\"http\",\"description\":5,\"input_schema\":5,\"config\":5}",
		{ "description", "input_schema", "config" } },
	{ "POST " T_ "/tools", "{\"name\":\"no name!\",\"kind\":\"builtin\"}", { "name" } },
	{ "POST " T_ "/tools", "{\"name\":\"n\",\"kind\":\"none\"}", { "kind" } },
	{ "POST " T_ "/skills",
		"{\"name\":\"S\",\"slug\":\"No Slug\",\"description\":\"d\",\"instructions\":\"i\","
		"\"metadata\":{\"a\":1},\"allowed_tools\":[\"\"]}",
		{ "slug", "metadata.a", "allowed_tools[0]" } },
	{ "POST /admin/models",
		"{\"name\":\"\",\"slug\":\"m\",\"kind\":\"openai\",\"pricing\":{\"prompt\":\"x\"},"
		"\"config\":{\"model\":\"m\",\"base_url\":\"ftp://x\"}}",
		{ "name", "pricing.prompt", "config.base_url" } },
	{ "POST /admin/models", "{\"name\":\"\",\"slug\":\"m\",\"kind\":\"openai\"}",
		{ "name", "config" } },
	{ "POST /admin/models",
		"{\"name\":\"n\",\"slug\":\"m\",\"kind\":\"openai\",\"config\":{\"model\":5}}",
		{ "config.model" } },
	{ "POST " T_ "/integrations",
		"{\"provider\":\"github\",\"label\":\"\",\"agent_id\":\"c00000000000000000000000x\","
		"\"delivery_id_header\":\"X-Id\"}",
		{ "label", "agent_id", "delivery_id_header" } },
	{ "POST " T_ "/integrations",
		"{\"provider\":\"none\",\"label\":\"l\",\"agent_id\":5,\"signing_secret\":\"12345678\"}",
		{ "provider", "agent_id" } },
	{ "PUT " T_ "/provider-keys/openai", "{\"api_key\":\"\",\"base_url\":\"ftp://x\"}",
		{ "api_key", "base_url" } },
	{ "POST " T_ "/tool-bundles",
		"{\"name\":\"\",\"slug\":\"b\",\"tools\":[\"c00000000000000000000000x\"]}",
		{ "name", "tools[0]" } },
	{ "POST /tenants",
		"{\"name\":\"\",\"slug\":\"new\",\"plan_id\":\"c00000000000000000000000x\"}",
		{ "name", "plan_id" } },
	{ "PATCH /admin/"
	  "tenants/%s",
		"{\"zz\":1,\"plan_id\":\"c00000000000000000000000x\"}", { "zz", "plan_id" } },
	{ "PUT " T_ "/mail/rules", "{\"zz\":1,\"allow_to\":[\"@a.b\",\"x\"]}",
		{ "zz", "allow_to[1]" } },
	{ "POST " T_ "/agents", "{\"name\":\"\",\"slug\":\"postmaster\"}", { "name", "slug" } },
	{ "PUT " T_ "/scanner",
		"{\"provider\":\"p\",\"organization\":\"\",\"base_url\":\"ftp://x\"}",
		{ "organization", "base_url", "token" } },
};

static void check_body(struct fixture *f, const struct refused_body *b)
{
	struct answer r = ask(f, f->admin, b->body, b->request, f->tenant_id);
	size_t wanted = 0, named = json_array_size(at(&r, "errors"));

	test_step("%s %s", b->request, b->body);
	STATUS(r, 422);
	while (b->fields[wanted])
		wanted++;
	for (size_t i = 0; i < wanted; i++) {
		bool found = false;

		for (size_t n = 0; n < named; n++)
			found |= strcmp(text_at(&r, arena_printf(&f->arena, "errors.%zu.field", n)),
					 b->fields[i]) == 0;
		if (!found)
			test_fail(__FILE__, __LINE__, "%s is not named: %s", b->fields[i], r.body);
	}
	if (named != wanted)
		test_fail(__FILE__, __LINE__, "%zu fields are named: %s", named, r.body);
}

TEST(all_at_once_every_offending_field_is_named)
{
	struct fixture *f = fixture_open();

	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
		check_body(f, &bodies[i]);
	fixture_close(f);
}

TEST(all_at_once_changes_are_held_against_what_is_stored)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a");
	struct answer r;

	r = ask(f, f->admin,
		"{\"zz\":1,\"working_hours_start\":\"10:00\",\"working_hours_end\":\"09:00\"}",
		"PUT /agents/%s/chat-config", agent);
	CHECK(refuses(&r, "zz", "unknown_field"));
	CHECK(refuses(&r, "working_hours_end", "order"));
	r = ask(f, f->admin,
		"{\"name\":\"t\",\"kind\":\"http\",\"description\":\"d\","
		"\"config\":{\"method\":\"GET\",\"url\":\"https://example.org/\"}}",
		"POST /tenant/%s/tools", f->tenant_id);
	STATUS(r, 201);
	r = ask(f, f->admin,
		"{\"zz\":1,\"config\":{\"method\":\"FETCH\",\"url\":\"https://example.org/\"}}",
		"PATCH /tenant/%s/tools/%s", f->tenant_id, text_at(&r, "id"));
	CHECK(refuses(&r, "zz", "unknown_field"));
	CHECK(refuses(&r, "config.method", "choice"));
	test_step("what was refused changed nothing");
	CHECK_INT(fixture_count(f, "select count(*) from tools where config like '%FETCH%'"), 0);
	test_step("a stranger is told nothing of it");
	STATUS(ask(f, NULL, "{\"zz\":1}", "POST /tenant/%s/tools", f->tenant_id), 401);
	fixture_close(f);
}

/* ---- changes of what hangs on an agent ---- */

static void both(struct fixture *f, const struct answer *r, const char *field)
{
	(void)f;
	STATUS(*r, 422);
	CHECK(refuses(r, "zz", "unknown_field"));
	for (size_t n = 0; n < json_array_size(at(r, "errors")); n++)
		if (strcmp(json_string_value(
				   json_object_get(json_array_get(at(r, "errors"), n), "field")),
			    field) == 0)
			return;
	test_fail(__FILE__, __LINE__, "%s is not named: %s", field, r->body);
}

#define NOBODY "c00000000000000000000000x"

TEST(all_at_once_changes_of_an_agent_are_named_whole)
{
	static const struct {
		const char *request, *body, *field;
	} rows[] = {
		{ "PUT /agents/%s/models", "{\"zz\":1,\"model_ids\":[\"" NOBODY "\"]}",
			"model_ids[0]" },
		{ "PUT /agents/%s/skills/permissions",
			"{\"zz\":1,\"permissions\":[{\"skill_id\":\"" NOBODY
			"\",\"action\":\"see\",\"allowed\":true}]}",
			"permissions[0].skill_id" },
		{ "POST /agents/%s/skills", "{\"zz\":1,\"skill_id\":\"" NOBODY "\"}", "skill_id" },
		{ "POST /agents/%s/users",
			"{\"zz\":1,\"user_id\":\"" NOBODY "\",\"role\":\"KING\"}", "role" },
		{ "POST /agents/%s/transfer-ownership",
			"{\"zz\":1,\"new_owner_id\":\"" NOBODY "\"}", "new_owner_id" },
		{ "PUT /agents/%s/budget", "{\"zz\":1,\"hourly_limit_usd\":0.0000000000001}",
			"hourly_limit_usd" },
	};
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *id;
	struct answer r;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].request);
		r = ask(f, f->admin, rows[i].body, rows[i].request, agent);
		both(f, &r, rows[i].field);
	}
	test_step("an integration");
	r = ask(f, f->admin,
		arena_printf(&f->arena,
			"{\"provider\":\"github\",\"label\":\"l\",\"agent_id\":\"%s\"}", agent),
		"POST /tenant/%s/integrations", f->tenant_id);
	STATUS(r, 201);
	id = text_at(&r, "id");
	r = ask(f, f->admin,
		"{\"zz\":1,\"agent_id\":\"" NOBODY
		"\",\"delivery_id_header\":\"X-Id\",\"acts_as_id\":\"" NOBODY "\"}",
		"PATCH /tenant/%s/integrations/%s", f->tenant_id, id);
	both(f, &r, "agent_id");
	both(f, &r, "delivery_id_header");
	both(f, &r, "acts_as_id");
	test_step("a bundle");
	r = ask(f, f->admin, "{\"name\":\"B\",\"slug\":\"b\"}", "POST /tenant/%s/tool-bundles",
		f->tenant_id);
	STATUS(r, 201);
	r = ask(f, f->admin, "{\"zz\":1,\"tools\":[\"" NOBODY "\"]}",
		"PATCH /tenant/%s/tool-bundles/%s", f->tenant_id, text_at(&r, "id"));
	both(f, &r, "tools[0]");
	fixture_close(f);
}

/* ---- and none is forgotten ---- */

/* Operations with a body and nothing to say of it beyond the tables, or why they do not. */
static const struct {
	const char *why, *names;
} plain[] = {
	{ "the tables say all",
		"acceptInvite addMember allowAccount answerInvitation branchSession cancelSession cloneAgent confirmRegister confirmReset "
		"createGroup createMemory createMessage createPlan createSession "
		"createSkillWebhook createSubtask decideApproval decidePromptProposal grantAgent grantAgentToolBundle "
		"grantModelToAgent healMailboxes login registerAccount requestReset setAgentCanAuthorSkills setAgentDefaultRole "
		"setAgentGroupRole setAgentRole setAgentSkillConfig setAgentSkillVersion "
		"setAgentSkillVisibilityScope updateAgentBudget updateAgentSkill updateAnyUser updateGroup "
		"tryTool updateAnyMailbox updateMailbox updateMe updateMember updatePlan updateSession updateTenant " },
	{ "whether a password is right costs a guess", "changePassword " },
	{ "the other side is asked first", "importMcpTools setAgentCodeRef " },
	{ "whose bucket it must be is known with the permission",
		"exportAgentToBucket importAgentFromBucket tryAgentFromBucket " },
	{ "one fault is all that OpenAI's form tells",
		"createAssistant createConversation createConversationItems createResponse createRun createThread createThreadAndRun "
		"createThreadMessage submitToolOutputs updateAssistant updateConversation updateRun updateThread "
		"updateThreadMessage " },
};

static bool is_plain(const char *id, size_t *ret_seen)
{
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
		const char *found = plain[i].names;
		size_t len = strlen(id);

		for (; (found = strstr(found, id)); found += len)
			if (found[len] == ' ' && (found == plain[i].names || found[-1] == ' ')) {
				++*ret_seen;
				return true;
			}
	}
	return false;
}

TEST(all_at_once_every_operation_with_a_body_has_a_check_or_needs_none)
{
	size_t seen = 0, listed = 0;

	for (size_t i = 0; i < api_resource_count; i++)
		for (size_t k = 0; k < api_resources[i]->route_count; k++) {
			const struct operation *op = api_resources[i]->routes[k].op;

			if (!op->body || op->check)
				continue;
			if (!is_plain(op->id, &seen))
				test_fail(__FILE__, __LINE__,
					"%s has no .check: if it refuses fields itself give it one, else "
					"enter it above",
					op->id);
		}
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		for (const char *p = plain[i].names; *p; p++)
			listed += *p == ' ';
	CHECK_INT((int64_t)seen, (int64_t)listed);
}
