/* fuzz_tool_arguments.c - what a model may pass to the tools that are built in.  The first byte says which
 * tool, the rest are its arguments.  Each is run twice: as the service runs it, and past the check of its
 * schema, as a tool must bear it too.  Whatever they are, the model is told something, in valid text. */
#include "setup.h"

#include <unistd.h>

#include "serve/registry.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/id.h"
#include "base/json.h"
#include "base/log.h"
#include "sessions/builtin_run.h"
#include "sessions/builtin_tools.h"
#include "store/store.h"

static struct db *db;

/* A store of its own, whose work is never committed; its folder goes with the first look at it. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct store_settings settings = { .workers = 1, .queue_max = 10 };
	struct problem p = { 0 };
	char folder[] = "/tmp/lodge-fuzz-XXXXXX";
	struct store *store = NULL;
	int from, to;

	(void)argc;
	(void)argv;
	log_setup(LOG_ERROR, LOG_TEXT);
	if (!crypto_init() || api_setup(&service, &forever, &p) || !mkdtemp(folder))
		abort();
	settings.where = arena_printf(&forever, "sqlite:%s/fuzz.db", folder);
	if (store_open(&store, &settings, STORE_SERVE, &forever, &p) ||
		store_migrate(store, &from, &to, &forever, &p) ||
		store_connect(store, &db, &forever, &p))
		abort();
	return 0;
}

static void check_answer(const struct tool_answer *r)
{
	if (!r->text || strlen(r->text) > TOOL_OUTPUT_MAX ||
		!utf8_valid(r->text, strlen(r->text)) || (r->failed && !*r->text))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char call_id[] = "c0ho6fbjz4rk8ltejr9ixk2uu";
	const struct builtin_tool *b = size ? &builtin_tools[*data % builtin_tool_count] : NULL;
	struct held_tool tool;
	struct tool_answer answer = { .text = "" };
	struct tool_asked in = { .tenant_id = "t",
		.agent_id = "a",
		.session_id = "s",
		.call_id = call_id,
		.tool = &tool,
		.now = INT64_C(1767225600000000) };
	struct arena a = { 0 };

	if (!b || !builtin_run_of(b->name))
		return 0;
	tool = (struct held_tool){
		.id = b->name, .name = b->name, .kind = "builtin", .input_schema = b->input_schema
	};
	in.arguments = arena_strndup(&a, (const char *)data + 1, size - 1);
	if (db_begin(db, READ_WRITE))
		abort();
	if (!tool_run_quick(db, &a, &in, &answer))
		check_answer(&answer);
	{
		struct builtin_call call = {
			.db = db, .arena = &a, .asked = &in, .answer = &answer
		};

		answer = (struct tool_answer){ .text = "" };
		call.in = tool_arguments_open(&a, in.arguments);
		if (!builtin_run_of(b->name)(&call))
			check_answer(&answer);
	}
	db_rollback(db);
	arena_free(&a);
	return 0;
}
