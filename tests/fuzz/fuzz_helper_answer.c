/* fuzz_helper_answer.c - answers as a lodge-helper could give them that somebody has taken over.  What is taken keeps to
 * the limits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answered.h"
#include "base/entry_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct helper_limits limits = {
	.one = 64, .all = 128, .entries = 4, .path = 32, .depth = 3
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct helper_files files;
	struct helper_tree tree;
	struct helper_mail mail;
	struct answered answer;
	size_t total = 0;

	answered_begin(&answer);
	buf_put(&answer.bytes, data, size);
	if (answer_files(&answer.source, &a, &limits, &files) == ANSWER_WHOLE) {
		for (size_t i = 0; i < files.count; i++) {
			total += files.at[i].len;
			if (files.at[i].len > limits.one ||
				!entry_name_valid(files.at[i].name, strlen(files.at[i].name),
					limits.path, limits.depth))
				abort();
		}
		if (files.count > limits.entries || total > limits.all)
			abort();
	}
	answer.read = 0;
	if (answer_tree(&answer.source, &a, &tree) == ANSWER_WHOLE && !tree.lines[tree.root->index])
		abort();
	answer.read = 0;
	if (answer_mail(&answer.source, &a, &mail) == ANSWER_WHOLE)
		for (size_t i = 0; i < mail.part_count; i++)
			if (!entry_name_valid(mail.parts[i].name, strlen(mail.parts[i].name),
				    HELPER_MIME_NAME_MAX, 1))
				abort();
	answered_end(&answer);
	arena_free(&a);
	return 0;
}
