/* test_mcp_post.c - what clients of the Model Context Protocol send, read without a service: messages, headers, addresses. */
#include "mcp/mcp_post.h"
#include "mcp/mcp_resources.h"
#include "t.h"

TEST(mcp_header_values_come_back_as_they_went)
{
	static const char *const texts[] = { "", "plain", " padded ", "Z\xc3\xbcrich", "a\nb",
		"=?base64?literal?=" };
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		CHECK_STR(mcp_header_plain(&a, mcp_header_value(&a, texts[i], strlen(texts[i]))),
			texts[i]);
	CHECK(!mcp_header_plain(&a, "=?base64?%%?="));
	CHECK(!mcp_header_plain(&a, "=?base64?YQ?="));
	CHECK(!mcp_header_plain(&a, "=?base64?YQBi?=")); /* it holds a NUL */
	arena_free(&a);
}

TEST(mcp_messages_are_read_member_by_member)
{
	static const char text[] =
		"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\",\"params\":{\"name\":\"n\","
		"\"arguments\":{\"a\":1},\"_meta\":{\"progressToken\":5}}}";
	struct arena a = { 0 };
	struct mcp_post post;

	mcp_post_read(&a, SLICE(text), &post);
	CHECK(!post.fault.code && post.count == 1 && !post.batch);
	CHECK_STR(post.list->id, "\"x\"");
	CHECK_STR(post.list->name, "n");
	CHECK_STR(post.list->arguments, "{\"a\":1}");
	CHECK_STR(post.list->progress_token, "5");
	CHECK(!post.list->fault.code);
	mcp_post_hold(&a, &(struct mcp_heads){ 0 }, &post);
	CHECK(!post.modern && !post.fault.code);
	arena_free(&a);
}

TEST(mcp_addresses_are_read_strictly)
{
	static const char *const none[] = { "", "lodge://", "lodge://sessions/",
		"lodge://sessions/x",
		"lodge://sessions/c00000000000000000000000a?after=c00000000000000000000000a",
		"lodge://sessions/c00000000000000000000000a?before=",
		"lodge://skills/c00000000000000000000000a/",
		"lodge://skills/c00000000000000000000000a/x",
		"lodge://skills/c00000000000000000000000a/files/",
		"lodge://skills/c00000000000000000000000a/files/%zz", "file:///etc/passwd" };
	struct arena a = { 0 };
	struct mcp_address at_;

	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		CHECK(!mcp_address_read(&a, none[i], &at_));
	CHECK(mcp_address_read(&a, "lodge://skills/c00000000000000000000000a/files/a%2Fb", &at_));
	CHECK_STR(at_.path, "a/b");
	arena_free(&a);
}
