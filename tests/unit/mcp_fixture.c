/* mcp_fixture.c - see mcp_fixture.h. */
#include "mcp_fixture.h"

static void answer(struct peer *p, int fd, const char *request)
{
	struct mcp_fixture *s = (struct mcp_fixture *)p;
	const char *body = strstr(request, "\r\n\r\n") + 4, *id = strstr(body, "\"id\":");
	int number = id ? (int)strspn(id + 5, "0123456789") : 0;
	const char *arguments = strstr(body, "\"arguments\":"), *end = strstr(body, ",\"_meta\"");
	char text[65536];

	snprintf(s->last_head, sizeof s->last_head, "%.*s", (int)(body - request), request);
	if (strstr(body, "\"server/discover\""))
		snprintf(text, sizeof text,
			"{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"resultType\":\"complete\","
			"\"supportedVersions\":[\"2026-07-28\"]}}",
			number, id + 5);
	else if (strstr(body, "\"tools/list\""))
		snprintf(text, sizeof text,
			"{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"resultType\":\"complete\",\"tools\":%s}}",
			number, id + 5, s->tools);
	else if (strstr(body, "\"breaks\""))
		snprintf(text, sizeof text,
			"{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"resultType\":\"complete\","
			"\"content\":[{\"type\":\"text\",\"text\":\"the disk is gone\"}],\"isError\":true}}",
			number, id + 5);
	else
		snprintf(text, sizeof text,
			"{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"resultType\":\"complete\","
			"\"content\":[],\"structuredContent\":%.*s}}",
			number, id + 5, arguments && end ? (int)(end - arguments) - 12 : 2,
			arguments && end ? arguments + 12 : "{}");
	peer_reply(fd, 200, "application/json", text, strlen(text));
}

void mcp_fixture_open(struct mcp_fixture *s, const char *tools)
{
	*s = (struct mcp_fixture){ .tools = tools };
	peer_open(&s->peer, answer);
}

void mcp_fixture_close(struct mcp_fixture *s)
{
	peer_close(&s->peer);
}

const char *matrix_mcp(struct fixture *f)
{
	static struct mcp_fixture fixture;
	static char url[64];

	if (!url[0]) {
		mcp_fixture_open(&fixture, "[]");
		snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", fixture.peer.port);
	}
	f->app.settings.allow_private_addresses = true;
	return url;
}
