/* fuzz_git_push.c - any bytes as the head of a push and as git's report of one: what is taken has names that git takes, a refusal
 * is lines of the wire, and what is read of a cut head is nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "git/pkt_line.h"
#include "git/push_commands.h"
#include "git/push_ref.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refusal(const struct push *p)
{
	struct pkt_reader r;
	struct slice line;
	struct buf b;
	enum pkt last;

	buf_init(&b, 4 << 20);
	push_write_refusal(p, &b);
	if (b.overflow)
		abort();
	r = (struct pkt_reader){ b.at, b.len };
	while ((last = pkt_next(&r, &line)) == PKT_LINE)
		;
	if (last != PKT_FLUSH || r.len)
		abort();
	buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data, *fault;
	struct arena a = { 0 };
	struct push p;

	if (push_head_read(&p, &a, bytes, size, &fault) == PUSH_READ) {
		for (size_t i = 0; i < p.count; i++) {
			const struct push_command *one = &p.commands[i];

			if (!one->refused && push_ref_fault(one->ref))
				abort();
		}
		check_refusal(&p);
		push_read_report(&p, bytes, size);
		p.band_line = PKT_MAX;
		push_read_report(&p, bytes, size);
	}
	arena_free(&a);
	return 0;
}
