/* benchmarks.h - benchmarks. */
#pragma once
#include "contract/schema.h"

enum BenchmarkHarness {
	BenchmarkHarness_code_agent,
	BenchmarkHarness_chat,
	BenchmarkHarness_tool_use
};
extern const struct words BenchmarkHarness_words;

struct BenchmarkCreate {
	const char *dataset_uri, *display_name;
	int default_harness;
	const char *description;
	struct json evaluator_config;
};
SCHEMA_DECLARED(BenchmarkCreate);

/* NULL-terminated: all of the above. */
extern const struct schema *const benchmarks_schemas[];
