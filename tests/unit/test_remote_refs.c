/* test_remote_refs.c - the refs of another git server: its lines cut at every byte, what git itself says, limits, and every way in
 * which a host may fail. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"
#include "git/bare.h"
#include "git/ls_refs.h"
#include "git/pkt_line.h"
#include "outside/remote_refs.h"
#include "peer_fixture.h"

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define ID_0 "0000000000000000000000000000000000000000"

static const struct ls_ask all = { { "refs/heads/", "refs/tags/" }, 2 };

/* Each text is a line; "|" in one stands for NUL, and a text of "0" for the mark at an end. */
static void write_lines(struct buf *b, const char *const *lines)
{
	buf_init(b, 16 << 20);
	for (; *lines; lines++) {
		char line[512];
		size_t n = strlen(*lines);

		if (strcmp(*lines, "0") == 0) {
			pkt_flush(b);
			continue;
		}
		memcpy(line, *lines, n);
		for (size_t i = 0; i < n; i++)
			line[i] = line[i] == '|' ? '\0' : line[i];
		pkt_put(b, line, n);
	}
}
#define LINES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* In pieces of so many bytes. */
static const char *feed(struct ls_refs *r, const struct buf *b, size_t piece)
{
	for (size_t at = 0; at < b->len; at += piece)
		if (!ls_refs_feed(r, b->at + at, piece < b->len - at ? piece : b->len - at))
			break;
	return ls_refs_end(r);
}

static const char *const able[] = { "version 2\n", "agent=git/2.39.5\n", "ls-refs=unborn\n",
	"fetch=shallow\n", "object-format=sha1\n", "0", NULL };

TEST(ls_refs_reads_version_2_in_any_pieces)
{
	struct buf advert, answer, question;

	write_lines(&advert, able);
	write_lines(&answer,
		LINES(ID_A " HEAD symref-target:refs/heads/main\n", ID_A " refs/heads/main\n",
			ID_B " refs/heads/next\n", ID_A " refs/tags/v1 peeled:" ID_B "\n",
			ID_A " refs/pull/1/head\n", "0"));
	for (size_t piece = 1; piece <= answer.len; piece = piece < 8 ? piece + 1 : piece * 3) {
		struct arena a = { 0 };
		struct ls_refs r;

		test_step("pieces of %zu", piece);
		ls_refs_begin(&r, &a, &all);
		CHECK(!feed(&r, &advert, piece));
		CHECK_INT(r.version, 2);
		buf_init(&question, 4096);
		ls_refs_write(&r, &question);
		CHECK(memmem(question.at, question.len, "0014command=ls-refs\n", 20));
		CHECK(memmem(question.at, question.len,
			"0001"
			"0009peel\n"
			"000csymrefs\n"
			"000bunborn\n"
			"0014ref-prefix HEAD\n"
			"001bref-prefix refs/heads/\n"
			"001aref-prefix refs/tags/\n"
			"0000",
			4 + 9 + 12 + 11 + 20 + 27 + 26 + 4));
		buf_free(&question);
		ls_refs_again(&r);
		CHECK(!feed(&r, &answer, piece));
		CHECK_INT(r.count, 3);
		CHECK(r.complete);
		CHECK_STR(r.head, "refs/heads/main");
		CHECK_STR(ls_refs_find(&r, "refs/heads/next")->id, ID_B);
		CHECK_STR(ls_refs_find(&r, "refs/tags/v1")->peeled, ID_B);
		CHECK(!ls_refs_find(&r, "refs/heads/nex") && !ls_refs_find(&r, "refs/pull/1/head"));
		ls_refs_drop(&r);
		arena_free(&a);
	}
	test_step("cut at every byte");
	for (size_t cut = 0; cut < answer.len; cut++) {
		struct buf part = { .at = answer.at, .len = cut };
		struct arena a = { 0 };
		struct ls_refs r;

		ls_refs_begin(&r, &a, &all);
		feed(&r, &advert, 100);
		ls_refs_again(&r);
		CHECK_STR(feed(&r, &part, 100), "it breaks off");
		ls_refs_drop(&r);
		arena_free(&a);
	}
	buf_free(&advert);
	buf_free(&answer);
}

TEST(ls_refs_reads_the_older_versions)
{
	struct arena a = { 0 };
	struct ls_refs r;
	struct buf b;

	write_lines(
		&b, LINES("# service=git-upload-pack\n", "0",
			    ID_A " HEAD|multi_ack symref=HEAD:refs/heads/main object-format=sha1\n",
			    ID_A " refs/heads/main\n", ID_A " refs/tags/v1\n",
			    ID_B " refs/tags/v1^{}\n", "shallow " ID_A "\n", "0"));
	ls_refs_begin(&r, &a, &all);
	CHECK(!feed(&r, &b, 7));
	CHECK_INT(r.version, 0);
	CHECK_INT(r.count, 2);
	CHECK_STR(r.head, "refs/heads/main");
	CHECK_STR(r.at[1].peeled, ID_B);
	ls_refs_drop(&r);
	buf_free(&b);
	test_step("version 1, without a ref");
	write_lines(&b, LINES("version 1\n", ID_0 " capabilities^{}|agent=x\n", "0"));
	ls_refs_begin(&r, &a, &all);
	CHECK(!feed(&r, &b, 1));
	CHECK_INT(r.count, 0);
	CHECK(r.complete && !r.head);
	ls_refs_drop(&r);
	buf_free(&b);
	arena_free(&a);
}

TEST(ls_refs_refuses_what_no_git_server_says)
{
	static const struct {
		const char *lines[4];
		bool listed; /* it is the answer, and not the advertisement */
		const char *fault;
	} rows[] = {
		{ { "0", "0" }, false, "something follows its end" },
		{ { "hello" }, false, "a line of the list is none of a ref" },
		{ { "version 2\n", "fetch\n", "0" }, false, "the server does not list refs" },
		{ { "version 2\n", "ls-refs\n", "object-format=sha256\n", "0" }, false,
			"its objects are not named by SHA-1" },
		{ { "ERR access denied" }, false, "the server says that something is wrong" },
		{ { ID_A " HEAD|symref=HEAD:\n" }, false,
			"HEAD stands for something that is no ref" },
		{ { ID_A " refs/heads/a\tb\n" }, true, "a line of the list is none of a ref" },
		{ { ID_A "\n" }, true, "a line of the list is none of a ref" },
		{ { "xyz refs/heads/a\n" }, true, "a line of the list is none of a ref" },
		{ { ID_A " refs/tags/v peeled:1\n" }, true,
			"a tag stands for something that is no object" },
		{ { ID_A " refs/heads/a\n", ID_A " refs/heads/a\n", "0" }, true,
			"it lists a ref twice" },
		{ { ID_A " refs/heads/a\n", "0", "0" }, true, "something follows its end" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena a = { 0 };
		struct ls_refs r;
		struct buf b, advert;
		const char *lines[5] = { 0 };

		test_step("%s", rows[i].lines[0]);
		memcpy(lines, rows[i].lines, sizeof rows[i].lines);
		write_lines(&b, lines);
		write_lines(&advert, able);
		ls_refs_begin(&r, &a, &all);
		if (rows[i].listed) {
			CHECK(!feed(&r, &advert, 50));
			ls_refs_again(&r);
		}
		CHECK_STR(feed(&r, &b, 50), rows[i].fault);
		ls_refs_drop(&r);
		buf_free(&b);
		buf_free(&advert);
		arena_free(&a);
	}
}

TEST(ls_refs_ends_at_its_limits)
{
	static const struct {
		const char *form;
		size_t lines, listed;
		bool complete;
	} rows[] = {
		{ ID_A " refs/heads/%06d\n", LS_REFS_MAX, LS_REFS_MAX, true },
		{ ID_A " refs/heads/%06d\n", LS_REFS_MAX + 1, LS_REFS_MAX, false },
		{ ID_A " refs/pull/%06d/head\n", 90000, 0, false }, /* more than 4 MiB */
		{ ID_A " refs/heads/\xff%06d\n", 3, 0, false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena a = { 0 };
		struct ls_refs r;
		struct buf b, advert;

		test_step("%zu of %s", rows[i].lines, rows[i].form);
		write_lines(&advert, able);
		ls_refs_begin(&r, &a, &all);
		CHECK(!feed(&r, &advert, 50));
		ls_refs_again(&r);
		buf_init(&b, 16 << 20);
		for (size_t n = 0; n < rows[i].lines; n++) {
			char line[128];

			snprintf(line, sizeof line, rows[i].form, (int)n);
			pkt_puts(&b, line);
		}
		pkt_flush(&b);
		CHECK(!feed(&r, &b, 16384));
		CHECK_INT(r.count, rows[i].listed);
		CHECK_INT(r.complete, rows[i].complete);
		ls_refs_drop(&r);
		buf_free(&b);
		buf_free(&advert);
		arena_free(&a);
	}
}

/* ---- over HTTP ---- */

/* How the host behaves; made by the test, read by the peer's threads. */
static struct {
	enum {
		AS_GIT,
		OLD_GIT,
		STATUS,
		MOVED,
		ELSEWHERE,
		DUMB,
		GARBAGE,
		CUT,
		HANG,
		PLAIN_LIST
	} how;
	int status;
	bool relative;	  /* of MOVED */
	const char *more; /* headers */
	const char *repo; /* of git's own */
	struct peer other;
	char asked[8192]; /* the last request */
} host;

static void reply_head(int fd, int status, const char *more, const char *type, size_t len)
{
	char head[1024];

	snprintf(head, sizeof head,
		"HTTP/1.1 %d X\r\n%sContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
		status, more, type, len);
	peer_say(fd, head, strlen(head));
}

/* As git itself answers: the body of the request goes into a file, and so into it. */
static void reply_git(int fd, const char *request, bool is_old)
{
	bool advertises =
		strstr(request, "GET /r/x.git/info/refs?service=git-upload-pack ") != NULL;
	const char *body = strstr(request, "\r\n\r\n") + 4;
	char command[1024], *said = calloc(1, 1 << 20);
	FILE *f;
	size_t n;

	snprintf(command, sizeof command,
		"cat <<'END' | %s git upload-pack --stateless-rpc %s '%s'\n%s\nEND",
		is_old ? "" : "GIT_PROTOCOL=version=2",
		advertises ? "--http-backend-info-refs" : "", host.repo, body);
	f = popen(command, "r");
	n = fread(said, 1, 1 << 20, f);
	pclose(f);
	reply_head(fd, 200, "",
		advertises ? "application/x-git-upload-pack-advertisement"
			   : "application/x-git-upload-pack-result",
		n);
	peer_say(fd, said, n);
	free(said);
}

static void answer_host(struct peer *p, int fd, const char *request)
{
	static const char garbage[] = "<html>hello</html>", cut[] = "000eversion 2\n00";
	static const char type[] = "application/x-git-upload-pack-advertisement";
	char more[256];

	snprintf(host.asked, sizeof host.asked, "%s", request);
	switch (host.how) {
	case AS_GIT:
	case OLD_GIT:
		reply_git(fd, request, host.how == OLD_GIT);
		break;
	case STATUS:
		reply_head(fd, host.status, host.more ? host.more : "", "text/plain", 0);
		break;
	case MOVED:
		if (strstr(request, "GET /r/x.git/") || strstr(request, "POST ")) {
			reply_git(fd, request, false);
			break;
		}
		if (host.relative) /* as Gitea says it, and GitLab behind some proxies */
			snprintf(more, sizeof more,
				"Location: /r/x.git/info/refs?service=git-upload-pack\r\n");
		else
			snprintf(more, sizeof more,
				"Location: http://127.0.0.1:%d/r/x.git/info/refs?service=git-upload-pack\r\n",
				p->port);
		reply_head(fd, 301, more, "text/plain", 0);
		break;
	case ELSEWHERE:
		snprintf(more, sizeof more,
			"Location: http://127.0.0.1:%d/r/x.git/info/refs?service=git-upload-pack\r\n",
			host.other.port);
		reply_head(fd, 302, more, "text/plain", 0);
		break;
	case DUMB:
		reply_head(fd, 200, "", "text/plain", 0);
		break;
	case GARBAGE:
		peer_reply(fd, 200, type, garbage, sizeof garbage - 1);
		break;
	case CUT:
		peer_reply(fd, 200, type, cut, sizeof cut - 1);
		break;
	case PLAIN_LIST:
		if (strstr(request, "POST "))
			peer_reply(fd, 200, "text/html", garbage, sizeof garbage - 1);
		else
			reply_git(fd, request, false);
		break;
	case HANG:
		peer_hang(p, fd);
		break;
	}
}

static void answer_other(struct peer *p, int fd, const char *request)
{
	(void)p;
	(void)request;
	peer_reply(fd, 200, "text/plain", "caught", 6);
}

static void make_repo(struct arena *a, const char *folder)
{
	const char *command = arena_printf(a,
		"cd '%s' && export HOME=/nowhere GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Ada "
		"GIT_AUTHOR_EMAIL=ada@example.org GIT_COMMITTER_NAME=Ada "
		"GIT_COMMITTER_EMAIL=ada@example.org && git init -q --bare -b main x.git && cd x.git && "
		"c=$(git commit-tree -m one $(git mktree </dev/null)) && git update-ref refs/heads/main $c && "
		"git update-ref refs/heads/mainly $c && git tag light && git tag -a -m x v1 && "
		"git update-ref refs/pull/1/head $c",
		folder);

	CHECK_INT(system(command), 0); // NOLINT(cert-env33-c,bugprone-command-processor)
	host.repo = arena_printf(a, "%s/x.git", folder);
}

TEST(remote_refs_are_those_of_a_real_server)
{
	struct arena a = { 0 };
	const char *folder = mkdtemp(arena_strdup(&a, "/tmp/lodge-remote.XXXXXX"));
	struct remote_said said;
	struct remote_ref one;
	struct ls_refs refs;
	struct peer p;
	struct remote r = { .token = "s3cret", .egress = EGRESS_LOOPBACK };

	make_repo(&a, folder);
	peer_open(&p, answer_host);
	for (int i = 0; i < 4; i++) {
		const char *moved = NULL;

		host.relative = i == 3;
		r.ret_url = &moved;
		host.how = i == 0 ? AS_GIT : i == 1 ? OLD_GIT : MOVED;
		test_step("way %d", i);
		r.url = arena_printf(
			&a, "http://127.0.0.1:%d/r/x%s", p.port, host.how == MOVED ? "/" : ".git");
		said = remote_refs_list(&r, &a, &refs);
		CHECK_INT(said.end, REMOTE_OK);
		CHECK(!said.why);
		CHECK_STR(moved, arena_printf(&a, "http://127.0.0.1:%d/r/x.git", p.port));
		CHECK_INT(refs.count, 4);
		CHECK(refs.complete);
		CHECK_STR(refs.head, "refs/heads/main");
		CHECK(*ls_refs_find(&refs, "refs/tags/v1")->peeled);
		CHECK(strstr(host.asked, "Authorization: Basic b2F1dGgyOnMzY3JldA==\r\n"));
		CHECK(strstr(host.asked, "Git-Protocol: version=2\r\n"));
		said = remote_ref_exact(&r, &a, "main", &one);
		CHECK(!said.end && one.is_branch && !one.is_tag && one.branch_id[0]);
		said = remote_ref_exact(&r, &a, "v1", &one);
		CHECK(!said.end && !one.is_branch && one.is_tag);
		CHECK_STR(one.tag_id, ls_refs_find(&refs, "refs/tags/v1")->peeled);
		said = remote_ref_exact(&r, &a, "mai", &one);
		CHECK(!said.end && !one.is_branch && !one.is_tag);
	}
	peer_close(&p);
	fixture_remove_folder(folder);
	arena_free(&a);
}

TEST(remote_refs_say_what_is_wrong_with_a_host)
{
	static const struct {
		int how, status;
		const char *more;
		enum remote_end end;
		int64_t wait;
		const char *why;
	} rows[] = {
		{ STATUS, 401, NULL, REMOTE_REFUSED, -1, "The host refused the token (401)." },
		{ STATUS, 403, NULL, REMOTE_REFUSED, -1, "The host refused the token (403)." },
		{ STATUS, 404, NULL, REMOTE_MISSING, -1,
			"The project is missing on the host, or the token may not see it (404)." },
		{ STATUS, 429, "Retry-After: 30\r\n", REMOTE_LIMITED, 30,
			"The host asks for fewer requests, and to wait for 30 seconds (429)." },
		{ STATUS, 429, "Retry-After: 999999\r\n", REMOTE_LIMITED, 3600, NULL },
		{ STATUS, 429, "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n", REMOTE_LIMITED, 0,
			NULL },
		{ STATUS, 429, "Retry-After: soon\r\n", REMOTE_LIMITED, -1,
			"The host asks for fewer requests (429)." },
		{ STATUS, 503, "Retry-After: 5\r\n", REMOTE_UNREACHABLE, 5,
			"The host is out of order: it answered 503." },
		{ STATUS, 418, NULL, REMOTE_GARBAGE, -1,
			"The host's answer cannot be read: its status is 418." },
		{ STATUS, 204, NULL, REMOTE_GARBAGE, -1, NULL },
		{ ELSEWHERE, 0, NULL, REMOTE_MISSING, -1,
			"The project is missing at its address: the host points to another one." },
		{ DUMB, 0, NULL, REMOTE_GARBAGE, -1,
			"The host's answer cannot be read: it is not that of a git server." },
		{ GARBAGE, 0, NULL, REMOTE_GARBAGE, -1,
			"The host's answer cannot be read: it is not made of git's lines." },
		{ CUT, 0, NULL, REMOTE_GARBAGE, -1,
			"The host's answer cannot be read: it breaks off." },
		{ PLAIN_LIST, 0, NULL, REMOTE_GARBAGE, -1, NULL },
		{ HANG, 0, NULL, REMOTE_UNREACHABLE, -1,
			"The host cannot be reached: it did not answer in time." },
	};
	struct arena a = { 0 };
	const char *folder = mkdtemp(arena_strdup(&a, "/tmp/lodge-remote.XXXXXX"));
	struct remote_said said;
	struct ls_refs refs;
	struct peer p;
	struct remote r = { .token = "s3cret", .egress = EGRESS_LOOPBACK, .total_ms = 3000 };

	make_repo(&a, folder);
	peer_open(&p, answer_host);
	peer_open(&host.other, answer_other);
	r.url = arena_printf(&a, "http://127.0.0.1:%d/r/x.git", p.port);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("row %zu", i);
		host.how = rows[i].how;
		host.status = rows[i].status;
		host.more = rows[i].more;
		r.total_ms = host.how == HANG ? 200 : 3000;
		said = remote_refs_list(&r, &a, &refs);
		CHECK_INT(said.end, rows[i].end);
		CHECK_INT(said.retry_after_s, rows[i].wait);
		CHECK(said.why && refs.count == 0 && !refs.complete);
		if (rows[i].why)
			CHECK_STR(said.why, rows[i].why);
	}
	CHECK_INT(host.other.asked, 0);
	peer_close(&host.other);
	peer_close(&p);
	test_step("nobody listens, and a private address is not called");
	said = remote_refs_list(&r, &a, &refs);
	CHECK_STR(said.why, "The host cannot be reached: the connection was refused.");
	r.egress = EGRESS_PUBLIC;
	said = remote_refs_list(&r, &a, &refs);
	CHECK_STR(
		said.why, "The host cannot be reached: the address is not one that may be called.");
	r.token = NULL;
	CHECK_STR(remote_said_of(&a, &(struct fetched){ .status = 401 }, false, 0).why,
		"The host wants a token, and there is none (401).");
	fixture_remove_folder(folder);
	arena_free(&a);
}
