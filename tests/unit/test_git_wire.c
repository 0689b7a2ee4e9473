/* test_git_wire.c - git's requests as bytes: what there is, a fetch, a push and what it leaves in the store, and refusals.  Whole
 * clients are in tests/blackbox/git_wire.test.mjs. */
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "fixture.h"
#include "queue_fixture.h"

#define ID "c0000000000000000000000g1"
#define NO_ID "0000000000000000000000000000000000000000"
#define WIRE "/git/demo/desk.git/"

struct wired {
	struct fixture *f;
	const char *folder; /* of the repository */
	const char *tip;    /* of a commit that is not there */
};

static const char *shell(struct fixture *f, const char *line)
{
	FILE *from = popen(line, "r"); /* NOLINT: a fixed line */
	char *text = arena_alloc(&f->arena, 1 << 20);
	size_t n = from ? fread(text, 1, (1 << 20) - 1, from) : 0;

	CHECK_INT(from ? pclose(from) : -1, 0);
	if (n && text[n - 1] == '\n')
		text[n - 1] = '\0';
	return text;
}

#define GIT                                                                                 \
	"env -i PATH=/usr/bin:/bin HOME=/nonexistent GIT_AUTHOR_NAME=j GIT_AUTHOR_EMAIL=j " \
	"GIT_COMMITTER_NAME=j GIT_COMMITTER_EMAIL=j git "

static struct wired open_wired(void)
{
	struct wired w = { .f = fixture_open() };
	struct fixture *f = w.f;
	const char *agent = fixture_agent(f, "desk");

	w.folder = arena_printf(&f->arena, "%s/" ID ".git", f->repos);
	shell(f, arena_printf(&f->arena,
			 GIT "init -q --bare --initial-branch=main %s && " GIT
			     "init -q --bare --initial-branch=main %s/work",
			 w.folder, f->repos));
	w.tip = shell(f, arena_printf(&f->arena,
				 "cd %s/work && " GIT "commit-tree -m one $(" GIT
				 "mktree </dev/null) && " GIT "config gc.auto 0",
				 f->repos));
	fixture_sql(f,
		"insert into repositories (tenant_id, id, agent_id, purpose, host, projection, failures, "
		"size_bytes, created_at, updated_at) values ($1, $2, $3, 'code', 'embedded', 'off', 0, 0, 1, 1)",
		ARGS(T(f->tenant_id), T(ID), T(agent)));
	return w;
}

static struct answer push(const struct wired *w, const char *old, const char *new, const char *ref)
{
	struct fixture *f = w->f;
	const char *body = arena_printf(&f->arena, "%s/body", f->repos);
	size_t len = 4 + 40 + 1 + 40 + 1 + strlen(ref) + 1 + strlen(" report-status");
	struct answer r;
	FILE *file;
	char *bytes = arena_alloc(&f->arena, 1 << 20);

	shell(f,
		arena_printf(&f->arena,
			"cd %s/work && { printf '%04zx%s %s %s\\0 report-status0000'; printf %s | " GIT
			"pack-objects --revs --stdout -q; } > %s",
			f->repos, len, old, new, ref, w->tip, body));
	file = fopen(body, "r");
	len = file ? fread(bytes, 1, 1 << 20, file) : 0;
	if (file)
		fclose(file);
	r = ask_bytes(f, f->admin, bytes, len,
		"POST " WIRE
		"git-receive-pack\nContent-Type: application/x-git-receive-pack-request");
	return r;
}

TEST(git_wire_takes_a_push_and_gives_it_out)
{
	struct wired w = open_wired();
	struct fixture *f = w.f;
	struct answer r;
	const char *want;

	fixture_sql(f, "update repositories set projection = 'auto'", NO_ARGS);
	r = push(&w, NO_ID, w.tip, "refs/heads/main");
	STATUS(r, 200);
	CHECK_STR(header_of(f, &r, "Content-Type"), "application/x-git-receive-pack-result");
	CHECK_STR(header_of(f, &r, "Cache-Control"), "no-cache");
	CHECK_STR(r.body, "000eunpack ok\n0017ok refs/heads/main\n0000");
	CHECK_INT(fixture_count(
			  f, arena_printf(&f->arena,
				     "select count(*) from audit_logs where action = 'repo.push' "
				     "and resource_id = '" ID
				     "' and meta like '%%refs/heads/main%%%s%%'",
				     w.tip)),
		1);
	CHECK_INT(fixture_count(f, "select count(*) from repositories where size_bytes > 100"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from jobs where kind = 'repo.converge'"), 1);

	test_step("what there is");
	r = ask(f, f->admin, NULL, "GET " WIRE "info/refs?service=git-upload-pack");
	STATUS(r, 200);
	CHECK(memmem(r.body, r.body_len, w.tip, 40));
	r = ask(f, f->admin, NULL, "GET " WIRE "info/refs?service=git-receive-pack");
	STATUS(r, 200);
	CHECK_STR(header_of(f, &r, "Content-Type"), "application/x-git-receive-pack-advertisement");
	CHECK(!memmem(r.body, r.body_len, "push-options", 12));

	test_step("a fetch");
	want = arena_printf(&f->arena, "0032want %s\n00000009done\n", w.tip);
	r = ask_bytes(f, f->admin, want, strlen(want),
		"POST " WIRE
		"git-upload-pack\nContent-Type: application/x-git-upload-pack-request");
	STATUS(r, 200);
	CHECK(memmem(r.body, r.body_len, "0008NAK\nPACK", 12));
	fixture_close(f);
}

TEST(git_wire_notes_where_the_main_branch_stands_after_a_push)
{
	struct wired w = open_wired();
	struct fixture *f = w.f;

	STATUS(push(&w, NO_ID, w.tip, "refs/heads/main"), 200);
	UNTIL_TRUE(fixture_count(
			   f, arena_printf(&f->arena,
				      "select count(*) from repositories where projection = 'off' "
				      "and tip = '%s' and observed_at > 1",
				      w.tip)) == 1);
	fixture_close(f);
}

TEST(git_wire_leaves_nothing_of_what_it_refuses)
{
	struct wired w = open_wired();
	struct fixture *f = w.f;
	struct answer r = push(&w, NO_ID, w.tip, "refs/notes/x");

	STATUS(r, 200);
	CHECK(strstr(r.body, "ng refs/notes/x only branches and tags may be pushed"));
	test_step("a branch that moved meanwhile");
	r = push(&w, w.tip, w.tip, "refs/heads/main");
	STATUS(r, 200);
	CHECK(strstr(r.body, "ng refs/heads/main"));
	test_step("a client that asks whether it may");
	r = ask_bytes(f, f->admin, "0000", 4,
		"POST " WIRE
		"git-receive-pack\nContent-Type: application/x-git-receive-pack-request");
	STATUS(r, 200);
	CHECK_INT(r.body_len, 0);
	test_step("no room");
	fixture_sql(f, "update repositories set size_bytes = 8388608", NO_ARGS);
	STATUS(push(&w, NO_ID, w.tip, "refs/heads/main"), 507);
	CHECK_INT(
		fixture_count(f, "select count(*) from audit_logs where action = 'repo.push'"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from jobs where kind = 'repo.converge'"), 0);
	test_step("for another purpose");
	fixture_sql(f, "update repositories set size_bytes = 0, purpose = 'image'", NO_ARGS);
	STATUS(push(&w, NO_ID, w.tip, "refs/heads/main"), 404);
	STATUS(ask(f, f->admin, NULL,
		       "GET /git/demo/desk.image.git/info/refs?service=git-upload-pack"),
		200);
	test_step("without its files");
	shell(f, arena_printf(&f->arena, "rm -r %s", w.folder));
	STATUS(ask(f, f->admin, NULL,
		       "GET /git/demo/desk.image.git/info/refs?service=git-upload-pack"),
		502);
	r = ask_bytes(f, f->admin, "0000", 4,
		"POST /git/demo/desk.image.git/git-receive-pack\nContent-Type: application/x-git-receive-pack-request");
	STATUS(r, 502);
	fixture_close(f);
}

/* What comes small stays small: no object has a file of its own, however few come. */
TEST(git_wire_keeps_packed_what_comes_packed)
{
	struct wired w = open_wired();
	struct fixture *f = w.f;

	STATUS(push(&w, NO_ID, w.tip, "refs/heads/main"), 200);
	CHECK_STR(
		shell(f, arena_printf(&f->arena, "ls %s/objects/pack | grep -c 'pack$'", w.folder)),
		"1");
	CHECK_STR(
		shell(f, arena_printf(&f->arena,
				 "cd %s/objects && find ?? -type f 2>/dev/null | wc -l", w.folder)),
		"0");
	test_step("its size is that of blocks and folders");
	shell(f,
		arena_printf(&f->arena,
			"cd %s/refs/heads && for i in 1 2 3 4 5 6 7 8 9; do mkdir -p $i/a/b/c/d/e/f/g && "
			"cp main $i/a/b/c/d/e/f/g/h; done",
			w.folder));
	STATUS(push(&w, NO_ID, w.tip, "refs/heads/next"), 200);
	CHECK_INT(
		fixture_count(f, "select count(*) from repositories where size_bytes > 300000"), 1);
	fixture_close(f);
}

/* A push of many commands, each "OLD NEW REF"; the pack that goes with it has the tip. */
static struct answer push_all(const struct wired *w, const char *lines)
{
	struct fixture *f = w->f;
	const char *body = arena_printf(&f->arena, "%s/body", f->repos);
	char *bytes = arena_alloc(&f->arena, 1 << 20);
	FILE *file;
	size_t len;

	shell(f,
		arena_printf(&f->arena,
			"cd %s/work && { first=1; { %s; } | while read -r line; do if [ $first ]; then "
			"printf '%%04x%%s\\0 report-status' $((${#line} + 19)) \"$line\"; first=; else "
			"printf '%%04x%%s' $((${#line} + 4)) \"$line\"; fi; done; printf 0000; printf %s | " GIT
			"pack-objects --revs --stdout -q; } > %s",
			f->repos, lines, w->tip, body));
	file = fopen(body, "r");
	len = file ? fread(bytes, 1, 1 << 20, file) : 0;
	if (file)
		fclose(file);
	return ask_bytes(f, f->admin, bytes, len,
		"POST " WIRE
		"git-receive-pack\nContent-Type: application/x-git-receive-pack-request");
}

TEST(git_wire_does_all_of_a_push_or_nothing)
{
	struct wired w = open_wired();
	struct fixture *f = w.f;
	const char *other;
	struct answer r;

	STATUS(push(&w, NO_ID, w.tip, "refs/heads/main"), 200);
	other = shell(f, arena_printf(&f->arena,
				 "cd %s && " GIT "commit-tree -m other $(" GIT "mktree </dev/null)",
				 w.folder));
	test_step("one is no fast forward");
	r = push_all(&w, arena_printf(&f->arena,
				 "echo " NO_ID " %s refs/heads/new; echo %s %s refs/heads/main",
				 w.tip, w.tip, other));
	STATUS(r, 200);
	CHECK(strstr(r.body, "ng refs/heads/main non-fast-forward"));
	CHECK(strstr(r.body, "ng refs/heads/new "));
	CHECK_STR(
		shell(f, arena_printf(&f->arena, "cd %s && " GIT "for-each-ref | wc -l", w.folder)),
		"1");
	test_step("many are packed, and there are not too many");
	r = push_all(&w, arena_printf(&f->arena,
				 "for i in $(seq 40); do echo " NO_ID
				 " %s refs/heads/a/b/c/d/e/f/g/$i; done",
				 w.tip));
	STATUS(r, 200);
	CHECK(strstr(r.body, "ok refs/heads/a/b/c/d/e/f/g/40"));
	CHECK_STR(shell(f, arena_printf(&f->arena, "find %s/refs/heads | wc -l", w.folder)), "1");
	shell(f, arena_printf(&f->arena,
			 "cd %s && seq -f '%s refs/heads/s%%06.0f' 49950 >> packed-refs", w.folder,
			 w.tip));
	STATUS(push(&w, NO_ID, w.tip, "refs/heads/z1"), 200);
	r = push_all(&w,
		arena_printf(&f->arena,
			"for i in $(seq 40); do echo " NO_ID " %s refs/heads/y$i; done", w.tip));
	STATUS(r, 200);
	CHECK(strstr(r.body, "ng refs/heads/y1 the repository has as many refs as it may have"));
	fixture_close(f);
}

/* Git has taken the objects in before it looks whether a branch moves forward. */
TEST(git_wire_keeps_nothing_of_a_push_that_moves_nothing)
{
	struct wired w = open_wired();
	struct fixture *f = w.f;
	const char *other, *packs = arena_printf(&f->arena, "ls %s/objects/pack | wc -l", w.folder);
	struct answer r;

	other = shell(
		f, arena_printf(&f->arena,
			   "cd %s && mkdir -p objects/tmp_objdir-incoming-x/pack && "
			   "c=$(" GIT "commit-tree -m other $(" GIT "mktree </dev/null)) && " GIT
			   "update-ref refs/heads/main $c && echo $c",
			   w.folder));
	r = push(&w, other, w.tip, "refs/heads/main");
	STATUS(r, 200);
	CHECK(strstr(r.body, "ng refs/heads/main non-fast-forward"));
	CHECK_STR(shell(f, packs), "0");
	CHECK_STR(
		shell(f, arena_printf(&f->arena, "ls %s/objects | grep -c tmp || true", w.folder)),
		"0");
	CHECK_INT(
		fixture_count(f, "select count(*) from audit_logs where action = 'repo.push'"), 0);

	test_step("one that moves something stays, and what was there before");
	STATUS(push(&w, NO_ID, w.tip, "refs/heads/next"), 200);
	CHECK_STR(shell(f, packs), "2");
	r = push(&w, other, w.tip, "refs/heads/main");
	CHECK(strstr(r.body, "ng refs/heads/main non-fast-forward"));
	CHECK_STR(shell(f, packs), "2");
	CHECK_STR(shell(f, arena_printf(&f->arena, "cd %s && " GIT "fsck --strict", w.folder)), "");
	CHECK_INT(
		fixture_count(f, "select count(*) from audit_logs where action = 'repo.push'"), 1);

	test_step("what counts is what the disk has, whatever the row says");
	fixture_sql(f, "update repositories set size_bytes = 0", NO_ARGS);
	shell(f, arena_printf(&f->arena, "head -c 9000000 /dev/zero > %s/objects/much", w.folder));
	STATUS(push(&w, NO_ID, w.tip, "refs/heads/last"), 507);
	fixture_close(f);
}
