/* test_http_tls.c - the server over TLS, with a certificate made for the occasion. */
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "http_stage.h"

/* A key and a certificate for it, self-signed, in two new files. */
static void make_certificate(char cert[], char key[])
{
	EVP_PKEY *pair = EVP_EC_gen("P-256");
	X509 *x = X509_new();
	FILE *f;

	ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
	X509_gmtime_adj(X509_getm_notBefore(x), -60);
	X509_gmtime_adj(X509_getm_notAfter(x), 3600);
	X509_set_pubkey(x, pair);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
		(const unsigned char *)"localhost", -1, -1, 0);
	X509_set_issuer_name(x, X509_get_subject_name(x));
	X509_sign(x, pair, EVP_sha256());
	f = fdopen(mkstemp(cert), "w");
	PEM_write_X509(f, x);
	fclose(f);
	f = fdopen(mkstemp(key), "w");
	PEM_write_PrivateKey(f, pair, NULL, NULL, 0, NULL, NULL);
	fclose(f);
	X509_free(x);
	EVP_PKEY_free(pair);
}

static void hear_tls(SSL *ssl, struct buf *in)
{
	int n;

	do {
		buf_room(in, 16384);
		n = SSL_read(ssl, in->at + in->len, 16383);
		if (n > 0)
			in->len += (size_t)n;
	} while (n > 0);
}

static SSL *dial_tls(struct stage *s, SSL_CTX *ctx, const char *protocol)
{
	SSL *ssl = SSL_new(ctx);

	SSL_set_fd(ssl, stage_dial(s));
	SSL_set_alpn_protos(ssl, (const unsigned char *)protocol, (unsigned)strlen(protocol));
	return ssl;
}

static void hang_up(SSL *ssl)
{
	close(SSL_get_fd(ssl));
	SSL_free(ssl);
}

TEST(http_server_speaks_tls)
{
	char cert[] = "/tmp/lodge-cert-XXXXXX", key[] = "/tmp/lodge-key-XXXXXX";
	char cert2[] = "/tmp/lodge-cert-XXXXXX", key2[] = "/tmp/lodge-key-XXXXXX";
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	struct problem p = { 0 };
	struct stage s;
	struct buf in, plain = { 0 };
	SSL *ssl;

	make_certificate(cert, key);
	make_certificate(cert2, key2);
	test_step("a certificate that will not do is named");
	CHECK_INT(stage_try(&s, &stage_limits, "127.0.0.1:0", "/nowhere.pem", key, &p), ERR_USAGE);
	CHECK_STR(p.detail, "cannot use the certificate /nowhere.pem: No such file or directory");
	arena_free(&s.arena);
	p = (struct problem){ 0 };
	CHECK_INT(stage_try(&s, &stage_limits, "127.0.0.1:0", cert, key2, &p), ERR_USAGE);
	CHECK(p.detail && strstr(p.detail, key2));
	arena_free(&s.arena);
	p = (struct problem){ 0 };
	CHECK_INT(stage_try(&s, &stage_limits, "127.0.0.1:0", cert, key, &p), 0);
	CHECK_INT(http_server_start(s.server), 0);
	pthread_create(&s.worker, NULL, stage_work, &s);

	test_step("requests, at once and kept");
	buf_init(&in, 64 << 20);
	ssl = dial_tls(&s, ctx, "\x02h2\x08http/1.1");
	CHECK_INT(SSL_connect(ssl), 1);
	CHECK_INT(SSL_write(ssl, GET("/a") GET("/kept") GET_CLOSE("/big"),
			  sizeof(GET("/a") GET("/kept") GET_CLOSE("/big")) - 1),
		sizeof(GET("/a") GET("/kept") GET_CLOSE("/big")) - 1);
	hear_tls(ssl, &in);
	CHECK(stage_contains(&in, "GET /a? 0 tls:") && stage_contains(&in, "GET /kept? 0 tls:"));
	CHECK(in.len > 4000000 && strcmp(stage_text(&in) + in.len - 10, "000399999\n") == 0);
	CHECK(SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN);
	hang_up(ssl);
	test_step("a fault closes with goodbye");
	in.len = 0;
	ssl = dial_tls(&s, ctx, "\x08http/1.1");
	CHECK_INT(SSL_connect(ssl), 1);
	SSL_write(ssl, "BAD\r\n\r\n", 7);
	hear_tls(ssl, &in);
	CHECK(stage_starts(&in, "HTTP/1.1 400 "));
	hang_up(ssl);
	test_step("neither old versions nor other protocols");
	ssl = dial_tls(&s, ctx, "\x02h2");
	CHECK(SSL_connect(ssl) != 1);
	hang_up(ssl);
	ssl = dial_tls(&s, ctx, "\x08http/1.1");
	SSL_set_security_level(ssl, 0);
	SSL_set_min_proto_version(ssl, TLS1_VERSION);
	SSL_set_max_proto_version(ssl, TLS1_1_VERSION);
	CHECK(SSL_connect(ssl) != 1);
	hang_up(ssl);
	test_step("plain text is no handshake");
	stage_ask(&s, GET("/"), &plain);
	CHECK(!stage_contains(&plain, "HTTP/1.1"));
	stage_close(&s);
	SSL_CTX_free(ctx);
	buf_free(&in);
	buf_free(&plain);
	unlink(cert);
	unlink(key);
	unlink(cert2);
	unlink(key2);
}
