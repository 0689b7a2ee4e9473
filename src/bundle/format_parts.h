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

/* The file of an archive that describes an agent in Markdown; NULL if none does. */
const struct bundle_file *markdown_in(const struct bundle_reading *r);

/* format_skills.c: folders with a SKILL.md in an archive; one at the top holds all of the archive's files. */
bool skills_in(const struct bundle_reading *r);
bool skills_at_top(const struct bundle_reading *r);
/* All of them but the file that is the agent (NULL: none is), and a warning with the names of what is in none. */
void skills_take(struct bundle_reading *r, const struct bundle_file *agent);

/* A document of YAML as a tree: 0, ERR_INVALID with its fault, or another error with ours. */
int bundle_yaml(struct bundle_reading *r, const char *text, size_t len,
	const struct json_node **ret, const char **ret_fault);
/* The head of a Markdown file, and what follows it; the same. */
int bundle_head(struct bundle_reading *r, const char *text, size_t len,
	const struct json_node **ret, struct slice *ret_body, const char **ret_fault);
