/* fuzz_helper_yaml.c - YAML as a stranger could write it, through lodge-helper's reader and then the server's reading of
 * its answer: what the one makes of any text the other takes, with a line for each node. */
#include <stdint.h>
#include <stdlib.h>

#include "answered.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct answered answer;
	struct helper_tree tree;
	enum answer got;

	answered_begin(&answer);
	read_yaml(&a, (const char *)data, size, &answer.outlet);
	got = answer_tree(&answer.source, &a, &tree);
	if (got != ANSWER_WHOLE && got != ANSWER_FAULT)
		abort();
	if (got == ANSWER_FAULT ? !tree.fault : !tree.root || !tree.lines[tree.root->index])
		abort();
	answered_end(&answer);
	arena_free(&a);
	return 0;
}
