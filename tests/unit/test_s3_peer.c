/* test_s3_peer.c - an S3 that errs or means harm: what it says is told as its fault, whatever it is. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "bucket/bucket.h"
#include "outside/s3.h"
#include "outside/s3_call.h"
#include "peer_fixture.h"
#include "t.h"

/* What it answers; made by the test before it is asked. */
static struct {
	pthread_mutex_t lock; /* over the body, which the peer's threads read */
	struct buf body;
} said = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void answer_said(struct peer *p, int fd, const char *request)
{
	(void)p;
	(void)request;
	pthread_mutex_lock(&said.lock);
	peer_reply(fd, 200, "application/xml", said.body.at, said.body.len);
	pthread_mutex_unlock(&said.lock);
}

static struct s3 *s3_of(struct arena *a, const struct peer *p)
{
	return s3_new(
		&(struct s3_settings){ .endpoint = arena_printf(a, "http://127.0.0.1:%d", p->port),
			.bucket = "objects",
			.path_style = true,
			.region = "here",
			.key_id = "AKID",
			.secret = "secret",
			.egress = EGRESS_ANY,
			.part_bytes = 4,
			.silence_s = 5 });
}

static void say(const char *before, const char *word, size_t times, const char *after)
{
	pthread_mutex_lock(&said.lock);
	buf_clear(&said.body);
	buf_puts(&said.body, before);
	for (size_t i = 0; i < times; i++)
		buf_puts(&said.body, word);
	buf_puts(&said.body, after);
	pthread_mutex_unlock(&said.lock);
}

#define LIST "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>"
#define LIST_END "</NextContinuationToken></ListBucketResult>"
#define BEGUN "<InitiateMultipartUploadResult><UploadId>"
#define BEGUN_END "</UploadId></InitiateMultipartUploadResult>"

/* What it names is said back to it, escaped and signed: only so much of it. */
TEST(s3_peer_that_names_things_at_length_is_refused)
{
	char path[] = "/tmp/lodge-s3.XXXXXX";
	struct arena a = { 0 };
	struct peer p;
	struct s3 *s;
	struct s3_page page;
	struct problem why = { 0 };
	struct fetch_file file = { .fd = mkstemp(path), .len = 9 };

	CHECK(file.fd >= 0 && write(file.fd, "123456789", 9) == 9);
	buf_init(&said.body, 1 << 20);
	peer_open(&p, answer_said);
	s = s3_of(&a, &p);
	say(LIST, "/", 40000, LIST_END);
	CHECK_INT(s3_list(s, &a, "", NULL, &page, &why), ERR_UPSTREAM);
	CHECK(strstr(why.detail, "a list that cannot be read"));
	say(LIST, "/", S3_SAID_MAX, LIST_END);
	CHECK_INT(s3_list(s, &a, "", NULL, &page, &why), 0);
	CHECK_INT(strlen(page.next), S3_SAID_MAX);
	/* Said back, it fits; and who is sent to where they are would go round for ever. */
	CHECK_INT(s3_list(s, &a, "", page.next, &page, &why), ERR_UPSTREAM);
	say(BEGUN, "/", 40000, BEGUN_END);
	why = (struct problem){ 0 };
	CHECK_INT(s3_put(s, &a, "k", "a/b", &file, S3_EMPTY, &why), ERR_UPSTREAM);
	CHECK(strstr(why.detail, "did not say where the parts"));
	s3_free(s);
	peer_close(&p);
	buf_free(&said.body);
	close(file.fd);
	unlink(path);
	arena_free(&a);
}

/* ---- parts, and more than there is ---- */

static struct {
	const char *_Atomic head;
	atomic_llong taken; /* bytes that it could get rid of */
} sent;

static void answer_head(struct peer *p, int fd, const char *request)
{
	const char *head = sent.head;

	(void)p;
	(void)request;
	peer_say(fd, head, strlen(head));
}

static bool count_bytes(void *ctx, const char *bytes, size_t n)
{
	(void)bytes;
	*(size_t *)ctx += n;
	return true;
}

TEST(s3_peer_that_sends_another_part_is_not_believed)
{
	static const struct {
		const char *head;
		int err;
		size_t taken;
	} rows[] = {
		{ "HTTP/1.1 206 P\r\nContent-Range: bytes 5-6/10\r\nContent-Length: 2\r\n\r\n56", 0,
			2 },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789", ERR_UPSTREAM, 0 },
		{ "HTTP/1.1 206 P\r\nContent-Range: bytes 0-1/10\r\nContent-Length: 2\r\n\r\n01",
			ERR_UPSTREAM, 2 },
		{ "HTTP/1.1 206 P\r\nContent-Length: 2\r\n\r\n01", ERR_UPSTREAM, 2 },
	};
	struct arena a = { 0 };
	struct peer p;
	struct s3 *s;

	peer_open(&p, answer_head);
	s = s3_of(&a, &p);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct problem why = { 0 };
		size_t taken = 0;

		test_step("%zu", i);
		sent.head = rows[i].head;
		CHECK_INT(s3_get(s, &a, "k", 5, 2, count_bytes, &taken, &why), rows[i].err);
		CHECK_INT(taken, rows[i].taken);
		CHECK(!rows[i].err || strstr(why.detail, "another part"));
	}
	s3_free(s);
	peer_close(&p);
	arena_free(&a);
}

/* 64 MiB for an object of 13 bytes; what is in the sockets' own buffers is taken in any case. */
static void answer_much(struct peer *p, int fd, const char *request)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n";
	static char bytes[64 * 1024];

	(void)p;
	if (!peer_say(fd, head, sizeof head - 1) || strncmp(request, "HEAD", 4) == 0)
		return;
	for (int i = 0; i < 1024 && peer_say(fd, bytes, sizeof bytes); i++)
		atomic_fetch_add(&sent.taken, (long long)sizeof bytes);
}

TEST(s3_peer_that_sends_more_than_there_is_is_not_listened_to)
{
	enum { BUFFERED = 24 << 20 };
	char spool[] = "/tmp/lodge-spool.XXXXXX";
	struct arena a = { 0 };
	struct peer p;
	struct bucket *b = NULL;
	struct problem why = { 0 };
	struct bucket_row row = { .tenant_id = "t", .key = "k", .blob = "b", .size_bytes = 13 };
	int fd = -1;

	CHECK(mkdtemp(spool));
	peer_open(&p, answer_much);
	CHECK_INT(bucket_new(&b,
			  &(struct bucket_settings){ .where = "s3://objects",
				  .spool = spool,
				  .endpoint = arena_printf(&a, "http://127.0.0.1:%d", p.port),
				  .region = "here",
				  .key_id = "AKID",
				  .secret = "secret",
				  .path_style = true },
			  &a, &why),
		0);
	CHECK_INT(bucket_open(b, &row, &fd, &a, &why), ERR_STORE);
	CHECK(strstr(why.detail, "cannot be read"));
	bucket_free(b);
	peer_close(&p);
	CHECK(sent.taken < BUFFERED);
	rmdir(spool);
	arena_free(&a);
}
