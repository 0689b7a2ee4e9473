/* s3_parts.c - an object that is put in parts: begun, each part sent, then made whole; or given up, so that no part stays and
 * costs. */
#include "outside/s3_call.h"

#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "base/buf.h"
#include "base/crypto.h"

enum { PARTS_MAX = 10000, READ_MOST = 64 * 1024, WHOLE_MAX = 4 << 20 };

struct putting {
	struct s3 *s;
	struct arena *a;
	const char *key, *upload;
	struct buf parts; /* the list that makes it whole */
	struct problem *p;
};

/* Of a part of a file, in hexadecimal; false if it cannot be read. */
static bool digest_part(const struct fetch_file *f, char out[2 * SHA256_LEN + 1])
{
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	uint8_t digest[SHA256_LEN];
	char bytes[READ_MOST];
	uint64_t done = 0;
	bool good = c && EVP_DigestInit_ex(c, EVP_sha256(), NULL);

	while (good && done < f->len) {
		size_t most = f->len - done < sizeof bytes ? (size_t)(f->len - done) : sizeof bytes;
		ssize_t n = pread(f->fd, bytes, most, (off_t)(f->at + done));

		good = n > 0 && EVP_DigestUpdate(c, bytes, (size_t)n);
		done += n > 0 ? (uint64_t)n : 0;
	}
	good = good && EVP_DigestFinal_ex(c, digest, NULL);
	EVP_MD_CTX_free(c);
	if (good)
		hex_write(digest, sizeof digest, out);
	return good;
}

static int begin_parts(struct putting *t, const char *content_type)
{
	struct s3_pair query = { "uploads", "" }, kind = { "x-amz-checksum-algorithm", "SHA256" };
	struct s3_call c = { .method = "POST",
		.key = t->key,
		.query = &query,
		.query_count = 1,
		.headers = &kind,
		.header_count = 1,
		.digest = S3_EMPTY,
		.body = "",
		.content_type = content_type };
	struct fetched out;
	int err = s3_send(t->s, t->a, &c, &out, t->p);

	if (err)
		return err;
	t->upload = s3_said(&out, t->a, "UploadId");
	return t->upload ? 0
			 : problem_set(t->p, t->a, ERR_UPSTREAM,
				   "The bucket did not say where the parts of an object go.");
}

static int send_part(struct putting *t, int number, const struct fetch_file *file)
{
	char digest[2 * SHA256_LEN + 1];
	struct s3_pair query[] = { { "partNumber", arena_printf(t->a, "%d", number) },
		{ "uploadId", t->upload } };
	struct s3_pair checksum = { "x-amz-checksum-sha256", NULL };
	struct s3_call c = { .method = "PUT",
		.key = t->key,
		.query = query,
		.query_count = 2,
		.headers = &checksum,
		.header_count = 1,
		.digest = digest,
		.file = file,
		.wanted = "etag" };
	struct fetched out;
	int err;

	if (!digest_part(file, digest))
		return problem_set(t->p, t->a, ERR_STORE, "A file cannot be read.");
	checksum.value = s3_checksum(t->a, digest);
	err = s3_send(t->s, t->a, &c, &out, t->p);
	if (!err && (!out.header || strlen(out.header) > S3_SAID_MAX))
		err = problem_set(t->p, t->a, ERR_UPSTREAM,
			"The bucket did not confirm a part of an object.");
	if (!err)
		buf_printf(&t->parts,
			"<Part><ChecksumSHA256>%s</ChecksumSHA256><ETag>%s</ETag>"
			"<PartNumber>%d</PartNumber></Part>",
			checksum.value, s3_xml_escape(t->a, out.header), number);
	return err;
}

/* It may say 200 and an error in the answer. */
static int make_whole(struct putting *t)
{
	struct s3_pair query = { "uploadId", t->upload };
	struct s3_xml error, all;
	char digest[2 * SHA256_LEN + 1];
	uint8_t bytes[SHA256_LEN];
	struct s3_call c = {
		.method = "POST", .key = t->key, .query = &query, .query_count = 1, .digest = digest
	};
	struct fetched out;
	int err;

	buf_puts(&t->parts, "</CompleteMultipartUpload>");
	buf_putc(&t->parts, '\0');
	if (t->parts.overflow)
		return problem_set(t->p, t->a, ERR_TOO_LARGE, "The object has too many parts.");
	c.body = t->parts.at;
	sha256(c.body, strlen(c.body), bytes);
	hex_write(bytes, sizeof bytes, digest);
	err = s3_send(t->s, t->a, &c, &out, t->p);
	if (err)
		return err;
	all = (struct s3_xml){ out.body, out.body + out.len };
	return s3_xml_element(&all, "Error", &error)
		       ? problem_set(t->p, t->a, ERR_UPSTREAM,
				 "The bucket could not make an object of its parts.")
		       : 0;
}

static void give_up(struct putting *t)
{
	struct s3_pair query = { "uploadId", t->upload };
	struct s3_call c = { .method = "DELETE", .key = t->key, .query = &query, .query_count = 1 };
	struct problem ignored = { 0 }; /* why it failed is what counts */
	struct fetched out;

	s3_send(t->s, t->a, &c, &out, &ignored);
}

int s3_put_parts(struct s3 *s, struct arena *a, const char *key, const char *content_type,
	const struct fetch_file *file, struct problem *p)
{
	struct putting t = { .s = s, .a = a, .key = key, .p = p };
	uint64_t part = (uint64_t)s3_part_bytes(s), sent = 0;
	int err, number = 0;

	while (file->len / part >= PARTS_MAX)
		part *= 2;
	err = begin_parts(&t, content_type);
	if (err)
		return err;
	buf_init(&t.parts, WHOLE_MAX);
	buf_puts(&t.parts,
		"<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
	while (!err && sent < file->len) {
		uint64_t left = file->len - sent;
		struct fetch_file piece = { file->fd, file->at + sent, left < part ? left : part };

		err = send_part(&t, ++number, &piece);
		sent += piece.len;
	}
	if (!err)
		err = make_whole(&t);
	if (err)
		give_up(&t);
	buf_free(&t.parts);
	return err;
}
