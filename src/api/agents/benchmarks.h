/* benchmarks.h - benchmarks. */
#pragma once
#include "contract/route.h"

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

/* Those whose operations are still to come. */
extern const struct to_come benchmarks_to_come[];
