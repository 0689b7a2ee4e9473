/* test_s3_sign.c - signatures of S3 against those that Amazon publishes; tests/blackbox/s3.test.mjs holds many more against
 * its own library. */
#include "t.h"

#include "outside/s3_sign.h"

enum { MOMENT = 1369353600 }; /* 2013-05-24 */

static const struct s3_signer example = { .region = "us-east-1",
	.key_id = "AKIAIOSFODNN7EXAMPLE",
	.secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };

#define HOST "examplebucket.s3.amazonaws.com"

static const char *signature_in(const struct s3_signed *s)
{
	for (size_t i = 0; i < s->header_count; i++)
		if (strcmp(s->headers[i].name, "authorization") == 0)
			return strstr(s->headers[i].value, "Signature=") + strlen("Signature=");
	return "none";
}

TEST(s3_signs_as_amazon_does)
{
	static const struct s3_pair range[] = { { "range", "bytes=0-9" } },
				    stored[] = { { "date", "Fri, 24 May 2013 00:00:00 GMT" },
					    { "x-amz-storage-class", "REDUCED_REDUNDANCY" } },
				    lifecycle[] = { { "lifecycle", "" } },
				    listed[] = { { "prefix", "J" }, { "max-keys", "2" } };
	static const struct {
		struct s3_request request;
		const char *target, *signature;
	} cases[] = {
		{ { "GET", HOST, "/test.txt", .headers = range, .header_count = 1,
			  .digest = S3_EMPTY },
			"/test.txt",
			"f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41" },
		{ { "PUT", HOST, "/test$file.text", .headers = stored, .header_count = 2,
			  .digest = "44ce7dd67c959e0d3524ffac1771dfbb"
				    "a87d2b6b4b4e99e42034a8b803f8b072" },
			"/test%24file.text",
			"98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd" },
		{ { "GET", HOST, "/", .query = lifecycle, .query_count = 1, .digest = S3_EMPTY },
			"/?lifecycle=",
			"fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543" },
		{ { "GET", HOST, "/", .query = listed, .query_count = 2, .digest = S3_EMPTY },
			"/?max-keys=2&prefix=J",
			"34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7" },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct s3_signed s;

		test_step("%s", cases[i].target);
		s3_sign(&example, &a, &cases[i].request, MOMENT, &s);
		CHECK_STR(s.target, cases[i].target);
		CHECK_STR(signature_in(&s), cases[i].signature);
	}
	arena_free(&a);
}

TEST(s3_presigns_as_amazon_does)
{
	struct arena a = { 0 };

	CHECK_STR(s3_presign(&example, &a, &(struct s3_request){ "GET", HOST, "/test.txt" }, MOMENT,
			  86400),
		"/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&"
		"X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&"
		"X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&"
		"X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
	arena_free(&a);
}
