/* test_s3_peer.c - an S3 that errs or means harm: what it says is told as its fault, whatever it is. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "outside/s3.h"
#include "outside/s3_call.h"
#include "peer_fixture.h"
#include "t.h"

/* What it answers; made by the test before it is asked. */
static struct {
	struct buf body;
} said;

static void answer_said(struct peer *p, int fd, const char *request)
{
	(void)p;
	(void)request;
	peer_reply(fd, 200, "application/xml", said.body.at, said.body.len);
}

static struct s3 *s3_of(struct arena *a, const struct peer *p)
{
	return s3_new(&(struct s3_settings){
		.endpoint = arena_printf(a, "http://127.0.0.1:%d", p->port),
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
	buf_clear(&said.body);
	buf_puts(&said.body, before);
	for (size_t i = 0; i < times; i++)
		buf_puts(&said.body, word);
	buf_puts(&said.body, after);
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
