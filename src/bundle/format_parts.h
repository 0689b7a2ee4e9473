/* format_parts.h - the readers that the table of formats names; for this room alone. */
#pragma once
#include "base/slice.h"
#include "bundle/bundle.h"

#define MANIFEST "lodge-agent.json"

bool lodge_sniff(const struct bundle_reading *r);
int lodge_read(struct bundle_reading *r);
bool letta_sniff(const struct bundle_reading *r);
int letta_read(struct bundle_reading *r);
bool openai_sniff(const struct bundle_reading *r);
int openai_read(struct bundle_reading *r);
bool card_sniff(const struct bundle_reading *r);
int card_read(struct bundle_reading *r);
bool flowise_sniff(const struct bundle_reading *r);
int flowise_read(struct bundle_reading *r);
bool dify_sniff(const struct bundle_reading *r);
int dify_read(struct bundle_reading *r);
bool markdown_sniff(const struct bundle_reading *r);
int markdown_read(struct bundle_reading *r);

/* A document of YAML as a tree: 0, ERR_INVALID with its fault, or another error with ours. */
int bundle_yaml(struct bundle_reading *r, const char *text, size_t len,
	const struct json_node **ret, const char **ret_fault);
/* The head of a Markdown file, and what follows it; the same. */
int bundle_head(struct bundle_reading *r, const char *text, size_t len,
	const struct json_node **ret, struct slice *ret_body, const char **ret_fault);
