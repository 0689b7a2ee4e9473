/* openai_fixture.c - see openai_fixture.h. */
#include "openai_fixture.h"

#include <poll.h>
#include <stdarg.h>

void openai_open(struct openai_fixture *s)
{
	struct answer r;

	*s = (struct openai_fixture){ .f = fixture_open() };
	r = ask(s->f, s->f->admin, "{\"model\":\"demo\",\"name\":\"Helper\"}",
		"POST /v1/assistants");
	STATUS(r, 200);
	s->agent_id = text_at(&r, "id");
	r = ask(s->f, s->f->admin, NULL, "GET /agents/%s", s->agent_id);
	s->slug = text_at(&r, "slug");
}

void openai_close(struct openai_fixture *s)
{
	fixture_close(s->f);
}

struct answer openai_ask(struct openai_fixture *s, const char *body, const char *request, ...)
{
	va_list ap;
	const char *line;

	va_start(ap, request);
	line = arena_vprintf(&s->f->arena, request, ap);
	va_end(ap);
	return ask(s->f, s->f->admin, body, "%s", line);
}

struct answer openai_rest(struct openai_fixture *s, const char *thread_id, const char *run_id)
{
	struct answer r = { 0 };

	for (int i = 0; i < 2000; i++) {
		const char *status;

		r = openai_ask(s, NULL, "GET /v1/threads/%s/runs/%s", thread_id, run_id);
		status = text_at(&r, "status");
		if (r.status != 200 ||
			(strcmp(status, "queued") != 0 && strcmp(status, "in_progress") != 0))
			return r;
		poll(NULL, 0, 5);
	}
	test_fail(__FILE__, __LINE__, "the run does not rest: %s", r.body);
	return r;
}

const char *openai_told(struct openai_fixture *s, const struct answer *r)
{
	const char *out = "", *last = "";

	for (char *p = answer_unchunked(s->f, r); (p = strstr(p, "event: ")) != NULL;) {
		size_t len = strcspn(p += 7, "\n");

		if (strlen(last) != len || strncmp(last, p, len) != 0)
			out = arena_printf(
				&s->f->arena, "%s%s%.*s", out, *out ? " " : "", (int)len, p);
		last = arena_strndup(&s->f->arena, p, len);
	}
	return out;
}

static void drop(void *v)
{
	json_decref(v);
}

json_t *openai_event(struct openai_fixture *s, const struct answer *r, const char *name)
{
	const char *mark = arena_printf(&s->f->arena, "event: %s\ndata: ", name);
	const char *found = NULL;
	json_t *v;

	for (const char *p = answer_unchunked(s->f, r); (p = strstr(p, mark)) != NULL;)
		found = p += strlen(mark);
	if (!found)
		return NULL;
	v = json_loadb(found, strcspn(found, "\n"), 0, NULL);
	if (v)
		arena_defer(&s->f->arena, drop, v);
	return v;
}
