/* benchmarks_schemas.c - the tables for benchmarks. */
#include "api/agents/benchmarks.h"

static const char *const BenchmarkHarness_list[] = {
	[BenchmarkHarness_code_agent] = "code_agent",
	[BenchmarkHarness_chat] = "chat",
	[BenchmarkHarness_tool_use] = "tool_use",
	NULL,
};
const struct words BenchmarkHarness_words = {
	.title = "BenchmarkHarness",
	.list = BenchmarkHarness_list,
	.doc = "How an agent is put through a benchmark.",
};

FIELDS(BenchmarkCreate) = {
	FIELD(BenchmarkCreate, dataset_uri, .required = true, BOUNDS(1, 512),
		.example = "\"s3://example-workspace/benchmarks/orders.jsonl\"",
		.doc = "Where its cases are read from."),
	FIELD(BenchmarkCreate, display_name, .required = true, BOUNDS(1, 128),
		.example = "\"Orders\"", .doc = "Shown to people."),
	FIELD(BenchmarkCreate, default_harness, .words = &BenchmarkHarness_words,
		.otherwise = "\"code_agent\"",
		.doc = "How runs are made unless they say otherwise."),
	FIELD(BenchmarkCreate, description, .nullable = true,
		.example = "\"Questions about orders, with known answers.\"",
		.doc = "What it measures."),
	FIELD(BenchmarkCreate, evaluator_config, .open = true, .otherwise = "{}",
		.doc = "Settings of the judge of answers."),
};
SCHEMA(BenchmarkCreate, .doc = "What it takes to make a benchmark.");

const struct to_come benchmarks_to_come[] = {
	{ &BenchmarkCreate_schema, "Nothing measures agents yet." },
	{ 0 },
};
