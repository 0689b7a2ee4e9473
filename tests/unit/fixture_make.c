/* fixture_make.c - what most tests begin with, made by asking as a client does; see fixture.h. */
#include "base/id.h"
#include "fixture.h"

const char *fixture_created(
	struct fixture *f, const char *token, const char *body, const char *request, ...)
{
	struct answer r;
	const char *text;
	va_list ap;

	va_start(ap, request);
	text = arena_vprintf(&f->arena, request, ap);
	va_end(ap);
	r = ask(f, token, body, "%s", text);
	if (r.status != 201)
		test_fail(__FILE__, __LINE__, "%s: status %d, not 201: %s", text, r.status, r.body);
	return text_at(&r, "id");
}

const char *fixture_agent_of(
	struct fixture *f, const char *token, const char *tenant_id, const char *slug)
{
	return fixture_created(f, token,
		arena_printf(&f->arena, "{\"name\":\"A\",\"slug\":\"%s\"}", slug),
		"POST /tenant/%s/agents", tenant_id);
}

const char *fixture_agent(struct fixture *f, const char *slug)
{
	return fixture_agent_of(f, f->admin, f->tenant_id, slug);
}

const char *fixture_tool(struct fixture *f, const char *body)
{
	return fixture_created(f, f->admin, body, "POST /tenant/%s/tools", f->tenant_id);
}

const char *fixture_session(
	struct fixture *f, const char *token, const char *agent_id, const char *body)
{
	return fixture_created(f, token, body, "POST /agents/%s/sessions", agent_id);
}

struct answer fixture_sign_in(struct fixture *f, const char *email, const char *password)
{
	return ask(f, NULL,
		arena_printf(&f->arena, "{\"email\":\"%s\",\"password\":\"%s\"}", email, password),
		"POST /auth/login");
}

const char *fixture_id(struct fixture *f)
{
	struct id id = id_new(NULL);

	return arena_strdup(&f->arena, id.text);
}
