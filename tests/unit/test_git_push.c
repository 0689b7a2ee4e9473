/* test_git_push.c - the head of a push: lines of the wire, cut at every byte; names of refs by git's rules; what is refused, and
 * how git's clients are told. */
#include <stdlib.h>

#include "git/pkt_line.h"
#include "git/push_commands.h"
#include "git/push_ref.h"
#include "t.h"

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define ID_0 "0000000000000000000000000000000000000000"

TEST(git_pkt_lines_are_read_strictly)
{
	static const struct {
		const char *bytes;
		enum pkt what;
		size_t len;
	} rows[] = {
		{ "0000", PKT_FLUSH, 0 },
		{ "0001", PKT_DELIM, 0 },
		{ "0002", PKT_ENDS, 0 },
		{ "0003", PKT_BAD, 0 },
		{ "0004", PKT_BAD, 0 },
		{ "0005a", PKT_LINE, 1 },
		{ "000Aabcdef", PKT_LINE, 6 },
		{ "000aabcde", PKT_MORE, 0 },
		{ "fff1", PKT_BAD, 0 },
		{ "fff0", PKT_MORE, 0 },
		{ "00x0", PKT_BAD, 0 },
		{ "-001", PKT_BAD, 0 },
		{ " 005a", PKT_BAD, 0 },
		{ "x", PKT_BAD, 0 },
		{ "00", PKT_MORE, 0 },
		{ "", PKT_MORE, 0 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct pkt_reader r = { rows[i].bytes, strlen(rows[i].bytes) };
		struct slice line;

		test_step("%s", rows[i].bytes);
		CHECK_INT(pkt_next(&r, &line), rows[i].what);
		CHECK_INT(line.len, rows[i].len);
		if (rows[i].what == PKT_MORE || rows[i].what == PKT_BAD)
			CHECK(r.at == rows[i].bytes);
		else
			CHECK_INT(r.len, 0);
	}
}

TEST(git_pkt_bands_are_cut_to_their_length)
{
	char *much = calloc(1, 200000);
	struct pkt_reader r;
	struct slice line;
	struct buf b;
	size_t sum = 0, lines = 0;

	buf_init(&b, 1 << 20);
	pkt_put_band(&b, 1, much, 200000, PKT_MAX);
	r = (struct pkt_reader){ b.at, b.len };
	while (pkt_next(&r, &line) == PKT_LINE) {
		CHECK(line.at[0] == 1 && line.len <= PKT_MAX - PKT_HEAD);
		sum += line.len - 1;
		lines++;
	}
	CHECK_INT(r.len, 0);
	CHECK_INT(sum, 200000);
	CHECK_INT(lines, 4);
	buf_free(&b);
	free(much);
}

TEST(git_ref_names_are_those_of_git)
{
	static const struct {
		const char *name;
		bool good;
	} rows[] = {
		{ "refs/heads/main", true },
		{ "refs/heads/a/b.c", true },
		{ "refs/tags/v1.0", true },
		{ "refs/heads/\xc3\xa4", true },
		{ "refs/heads/a@b", true },
		{ "refs/heads/@", false },
		{ "refs/heads/", false },
		{ "refs/heads", false },
		{ "refs/notes/commits", false },
		{ "refs/meta/x", false },
		{ "HEAD", false },
		{ "refs/heads/HEAD", false },
		{ "refs/heads/../../config", false },
		{ "refs/heads/a..b", false },
		{ "refs/heads/.a", false },
		{ "refs/heads/a/.b", false },
		{ "refs/heads/a.", false },
		{ "refs/heads/a.lock", false },
		{ "refs/heads/a.lock/b", false },
		{ "refs/heads/a//b", false },
		{ "refs/heads/a/", false },
		{ "refs/heads/-x", false },
		{ "refs/heads/a b", false },
		{ "refs/heads/a\tb", false },
		{ "refs/heads/a\x7f", false },
		{ "refs/heads/a~1", false },
		{ "refs/heads/a^", false },
		{ "refs/heads/a:b", false },
		{ "refs/heads/a?", false },
		{ "refs/heads/a*", false },
		{ "refs/heads/a[", false },
		{ "refs/heads/a\\b", false },
		{ "refs/heads/a@{1}", false },
		{ "refs/heads/\xff", false },
		{ "refs/heads/a/b/c/d/e/f/g/h", true },
		{ "refs/heads/a/b/c/d/e/f/g/h/i", false },
		{ "refs/heads/" ID_A, false },
		{ "refs/tags/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA0", false },
		{ "refs/heads/" ID_A "a", true },
		{ "refs/heads/x/" ID_A, true },
	};
	char longest[PUSH_REF_MAX + 2] = "refs/heads/";

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].name);
		CHECK(!push_ref_fault(rows[i].name) == rows[i].good);
	}
	memset(longest + strlen(longest), 'a', PUSH_REF_MAX + 1 - strlen("refs/heads/"));
	CHECK(push_ref_fault(longest));
	longest[PUSH_REF_MAX] = '\0';
	CHECK(!push_ref_fault(longest));
}

/* The head of a push as a client writes it: each text is one line. */
static void write_head(struct buf *b, const char *const *lines)
{
	buf_init(b, 1 << 20);
	for (; *lines; lines++) {
		const char *bar =
			strchr(*lines, '|'); /* stands for the NUL before what a client can do */
		char line[512];
		size_t n = strlen(*lines);

		memcpy(line, *lines, n);
		if (bar)
			line[bar - *lines] = '\0';
		pkt_put(b, line, n);
	}
	pkt_flush(b);
}

struct outcome {
	struct arena arena;
	struct push push;
	enum push_head head;
	const char *fault;
};

static void read_lines(struct outcome *o, const char *const *lines)
{
	struct buf b;

	*o = (struct outcome){ 0 };
	write_head(&b, lines);
	for (size_t n = 0; n < b.len; n++) {
		enum push_head part = push_head_read(&o->push, &o->arena, b.at, n, &o->fault);

		CHECK(part == PUSH_BREAKS_OFF || part == PUSH_REFUSED);
	}
	o->head = push_head_read(&o->push, &o->arena, b.at, b.len, &o->fault);
	buf_free(&b);
}
#define LINES(...) ((const char *const[]){ __VA_ARGS__, NULL })

TEST(git_push_heads_are_read)
{
	struct outcome o;

	read_lines(&o, LINES("shallow " ID_A,
			       ID_0 " " ID_A " refs/heads/main| report-status-v2 side-band-64k "
				    "object-format=sha1 agent=git/2.39.5\n",
			       ID_A " " ID_B " refs/heads/next\n"));
	CHECK_INT(o.head, PUSH_READ);
	CHECK_INT(o.push.count, 2);
	CHECK(!o.push.refused && o.push.reports);
	CHECK_INT(o.push.band_line, PKT_MAX);
	CHECK_STR(o.push.commands[0].old_id, ID_0);
	CHECK_STR(o.push.commands[0].new_id, ID_A);
	CHECK_STR(o.push.commands[0].ref, "refs/heads/main");
	CHECK_STR(o.push.commands[1].ref, "refs/heads/next");
	arena_free(&o.arena);
	CHECK_INT(push_head_read(&o.push, &o.arena, "0000", 4, &o.fault), PUSH_READ);
	CHECK_INT(o.push.count, 0);
	arena_free(&o.arena);
}

/* Whatever the client can do, git hears that it is all of it or nothing, and the rest as it was. */
TEST(git_push_heads_bind_their_commands_together)
{
	static const char *const firsts[] = { ID_0 " " ID_A " refs/heads/a| report-status\n",
		ID_0 " " ID_A " refs/heads/a|report-status", ID_0 " " ID_A " refs/heads/a\n",
		ID_0 " " ID_A " refs/heads/a", ID_0 " " ID_A " refs/heads/a| atomic" };

	for (size_t i = 0; i < 2 * sizeof firsts / sizeof *firsts; i++) {
		const char *first = firsts[i / 2], *fault;
		struct arena a = { 0 };
		struct buf head, bound;
		struct push was, is;

		test_step("%zu", i);
		if (i % 2)
			write_head(&head,
				LINES("shallow " ID_B, first, ID_A " " ID_B " refs/heads/b"));
		else
			write_head(&head, LINES(first, ID_A " " ID_B " refs/heads/b"));
		buf_lit(&head, "PACKed");
		CHECK_INT(push_head_read(&was, &a, head.at, head.len, &fault), PUSH_READ);
		CHECK(was.atomic == (i / 2 == 4));
		buf_init(&bound, 1 << 20);
		push_head_bind(&was, head.at, head.len, &bound);
		CHECK(bound.len <= head.len + PUSH_BIND_MAX);
		CHECK_INT(push_head_read(&is, &a, bound.at, bound.len, &fault), PUSH_READ);
		CHECK(is.atomic && is.reports == was.reports);
		CHECK_INT(is.count, 2);
		CHECK_STR(is.commands[0].ref, "refs/heads/a");
		CHECK_STR(is.commands[1].ref, "refs/heads/b");
		CHECK(memcmp(bound.at + bound.len - 6, "PACKed", 6) == 0);
		buf_free(&bound);
		buf_free(&head);
		arena_free(&a);
	}
}

TEST(git_push_heads_that_git_does_not_write_are_refused)
{
	static const char *const rows[] = {
		"hello",
		ID_A " " ID_B,
		ID_A " " ID_B " ",
		ID_A "  " ID_B " refs/heads/a",
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA " ID_B " refs/heads/a",
		ID_A "aaaaaaaaaaaaaaaaaaaaaaaa " ID_B "bbbbbbbbbbbbbbbbbbbbbbbb refs/heads/a",
		ID_A " " ID_B " refs/heads/a| object-format=sha256",
		ID_A " " ID_B " refs/heads/a| report-status push-options",
		ID_A " " ID_B " refs/heads/a\nb",
		"push-cert|report-status",
		ID_A " " ID_B " refs/heads/a|x\treport-status",
		ID_A " " ID_B " refs/heads/a|x\rreport-status",
		ID_A " " ID_B " refs/heads/a|x\nreport-status",
	};
	struct outcome o;
	struct buf b;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i]);
		read_lines(&o, LINES(rows[i]));
		CHECK_INT(o.head, PUSH_REFUSED);
		CHECK(o.fault && *o.fault);
		arena_free(&o.arena);
	}
	test_step("a NUL among what it can do, at which git ends");
	buf_init(&b, 4096);
	pkt_put(&b, ID_0 " " ID_A " refs/heads/a\0x\0 report-status atomic",
		sizeof ID_0 " " ID_A " refs/heads/a\0x\0 report-status atomic" - 1);
	pkt_flush(&b);
	o = (struct outcome){ 0 };
	CHECK_INT(push_head_read(&o.push, &o.arena, b.at, b.len, &o.fault), PUSH_REFUSED);
	CHECK(o.fault && strstr(o.fault, "control character"));
	arena_free(&o.arena);
	buf_free(&b);
	test_step("a side band that git does not know of a push, and one that has a value");
	read_lines(&o, LINES(ID_0 " " ID_A " refs/heads/a|side-band report-status=1"));
	CHECK_INT(o.head, PUSH_READ);
	CHECK(o.push.reports && !o.push.band_line);
	arena_free(&o.arena);
	test_step("what is able to do comes twice");
	read_lines(&o, LINES(ID_0 " " ID_A " refs/heads/a| x", ID_0 " " ID_A " refs/heads/b| x"));
	CHECK_INT(o.head, PUSH_REFUSED);
	arena_free(&o.arena);
	test_step("more than 64 kB");
	buf_init(&b, 4 << 20);
	while (b.len < PUSH_HEAD_MAX)
		pkt_puts(&b, ID_0 " " ID_A " refs/heads/a");
	pkt_flush(&b);
	CHECK_INT(push_head_read(&o.push, &o.arena, b.at, b.len, &o.fault), PUSH_REFUSED);
	CHECK(strstr(o.fault, "64 kB"));
	arena_free(&o.arena);
	buf_free(&b);
}

TEST(git_pushes_that_delete_or_move_are_refused_by_name)
{
	static const struct {
		const char *line, *why;
	} rows[] = {
		{ ID_A " " ID_0 " refs/heads/main", "branches are not deleted by a push" },
		{ ID_A " " ID_0 " refs/tags/v1", "tags are not deleted by a push" },
		{ ID_A " " ID_B " refs/tags/v1", "a tag that is there is not moved" },
		{ ID_0 " " ID_B " refs/notes/x", "only branches and tags may be pushed" },
	};
	struct outcome o;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].line);
		read_lines(&o, LINES(rows[i].line));
		CHECK_INT(o.head, PUSH_READ);
		CHECK(o.push.refused);
		CHECK_STR(o.push.commands[0].refused, rows[i].why);
		arena_free(&o.arena);
	}
}

TEST(git_refusals_and_reports_are_as_clients_read_them)
{
	struct outcome o;
	struct buf b, banded;

	read_lines(&o,
		LINES(ID_0 " " ID_A " refs/heads/a| report-status", ID_A " " ID_0 " refs/heads/b"));
	buf_init(&b, 1 << 20);
	push_write_refusal(&o.push, &b);
	CHECK(memcmp(b.at,
		      "000eunpack ok\n0037ng refs/heads/a another ref of the push is refused\n",
		      69) == 0);
	CHECK(memmem(b.at, b.len, "ng refs/heads/b branches are not deleted by a push\n", 51));
	push_read_report(&o.push, b.at, b.len);
	CHECK(!o.push.commands[0].done && !o.push.commands[1].done);
	buf_clear(&b);
	pkt_puts(&b, "unpack ok\n");
	pkt_puts(&b, "ok refs/heads/a\n");
	pkt_puts(&b, "ng refs/heads/b failed\n");
	pkt_flush(&b);
	push_read_report(&o.push, b.at, b.len);
	CHECK(o.push.commands[0].done && !o.push.commands[1].done);

	test_step("in a side band");
	o.push.commands[0].done = false;
	o.push.band_line = PKT_MAX;
	buf_init(&banded, 1 << 20);
	pkt_put_band(&banded, 2, "counting", 8, PKT_MAX);
	pkt_put_band(&banded, 1, b.at, b.len, 20);
	pkt_flush(&banded);
	push_read_report(&o.push, banded.at, banded.len);
	CHECK(o.push.commands[0].done && !o.push.commands[1].done);
	buf_free(&banded);
	buf_free(&b);
	arena_free(&o.arena);
}
