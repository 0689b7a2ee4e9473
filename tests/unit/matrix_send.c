/* matrix_send.c - from a row and a target to a request; see matrix.h. */
#include "matrix.h"
#include "mcp_fixture.h"

bool set_has(const char *set, const char *name, size_t len)
{
	for (const char *p = set; *p; p++)
		if (*p == ' ' && strncmp(p + 1, name, len) == 0 && p[1 + len] == ' ')
			return true;
	return false;
}

bool of_agent(const char *name)
{
	return strncmp(name, "agent:", 6) == 0 || strncmp(name, "session:", 8) == 0;
}

const char *path_shape(struct fixture *f, const char *path)
{
	char *out = arena_strdup(&f->arena, path), *to = out;

	for (const char *p = path; *p; p++) {
		*to++ = *p;
		if (*p == '{')
			p += strcspn(p, "}") - 1;
	}
	*to = '\0';
	return out;
}

const char **target_slot(struct target *t, const char *path, const char *brace)
{
	const struct {
		const char *segment;
		const char **slot;
	} slots[] = {
		{ "/tenant/", &t->tenant_id },
		{ "/tenants/", &t->tenant_id },
		{ "/mcp/", &t->tenant_id },
		{ "/agents/", &t->agent_id },
		{ "/assistants/", &t->agent_id },
		{ "/members/", &t->user_id },
		{ "/users/", &t->user_id },
		{ "/roles/", &t->user_id },
		{ "/access/", &t->user_id },
		{ "/groups/", &t->group_id },
		{ "/group-roles/", &t->group_id },
		{ "/allowed-accounts/", &t->allowed_id },
		{ "/api-keys/", &t->key_id },
		{ "/plans/", &t->plan_id },
		{ "/sessions/", &t->session_id },
		{ "/mail/threads/", &t->mail_thread_id },
		{ "/threads/", &t->session_id },
		{ "/responses/", &t->response_id },
		{ "/conversations/", &t->conversation_id },
		{ "/models/", &t->model_id },
		{ "/catalog/", &t->model_id },
		{ "/skills/", &t->skill_id },
		{ "/tools/", &t->tool_id },
		{ "/tool-bundles/", &t->bundle_id },
		{ "/scanner-grants/", &t->scanner_grant_id },
		{ "/provider-keys/", &t->provider },
		{ "/integrations/", &t->integration_id },
		{ "/deliveries/", &t->delivery_id },
		{ "/webhooks/", &t->webhook_id },
		{ "/hooks/", &t->integration_id },
		{ "/approvals/", &t->approval_id },
		{ "/prompt-proposals/", &t->proposal_id },
		{ "/files/", &t->file_id },
		{ "/memories/", &t->memory_id },
		{ "/mail/", &t->mail_id },
		{ "/git/", &t->tenant_slug },
		{ "/attachments/", &t->attachment_id },
		/* of none: their rows say that they may lack */
		{ "/mailboxes/", &t->agent_id },
		{ "/suppressions/", &t->agent_id },
	};

	if (strncmp(brace, "{repository}", strlen("{repository}")) == 0)
		return &t->repository;
	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
		size_t len = strlen(slots[i].segment);

		if ((size_t)(brace - path) >= len &&
			strncmp(brace - len, slots[i].segment, len) == 0)
			return slots[i].slot;
	}
	return NULL;
}

const char *path_fill(struct fixture *f, const char *path, struct target *t)
{
	const char *out = "", *brace;

	for (const char *p = path; *p; p = brace) {
		const char **slot;

		brace = p + strcspn(p, "{");
		out = arena_printf(&f->arena, "%s%.*s", out, (int)(brace - p), p);
		if (!*brace)
			break;
		slot = target_slot(t, path, brace);
		if (!slot || !*slot)
			return NULL;
		out = arena_printf(&f->arena, "%s%s", out, *slot);
		brace += strcspn(brace, "}") + 1;
	}
	return out;
}

const char *body_fill(struct fixture *f, const char *body, const struct target *t)
{
	const struct {
		const char *name, *value;
	} marks[] = {
		{ "$tenant", t->tenant_id },
		{ "$user", t->user_id },
		{ "$agent", t->agent_id },
		{ "$group", t->group_id },
		{ "$plan", t->plan_id },
		{ "$model", t->model_id },
		{ "$skill", t->skill_id },
		{ "$tool", t->tool_id },
		{ "$bundle", t->bundle_id },
		{ "$mcp", body && strstr(body, "$mcp") ? matrix_mcp(f) : "" },
		{ "$invite", t->invite ? t->invite : "lodge_invite_none" },
		{ "$off", t->default_on ? "true" : "false" },
		{ "$n", arena_printf(&f->arena, "%d", next_number()) },
	};

	for (size_t i = 0; body && i < sizeof marks / sizeof *marks; i++) {
		const char *p;

		while ((p = strstr(body, marks[i].name)) != NULL)
			body = arena_printf(&f->arena, "%.*s%s%s", (int)(p - body), body,
				marks[i].value, p + strlen(marks[i].name));
	}
	return body;
}
