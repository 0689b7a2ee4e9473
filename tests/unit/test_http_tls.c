/* test_http_tls.c - the server over TLS, with a certificate made for the occasion. */
#include <openssl/ssl.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "certificate.h"
#include "http_fixture.h"

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

static SSL *dial_tls(struct http_fixture *s, SSL_CTX *ctx, const char *protocol)
{
	SSL *ssl = SSL_new(ctx);

	SSL_set_fd(ssl, http_fixture_dial(s));
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
	struct http_fixture s;
	struct buf in, plain = { 0 };
	SSL *ssl;

	certificate_make(cert, key, -60, 3600);
	certificate_make(cert2, key2, -60, 3600);
	test_step("a certificate that will not do is named");
	CHECK_INT(http_fixture_try(&s, &fixture_limits, "127.0.0.1:0", "/nowhere.pem", key, &p),
		ERR_USAGE);
	CHECK_STR(p.detail, "cannot use the certificate /nowhere.pem: No such file or directory");
	arena_free(&s.arena);
	p = (struct problem){ 0 };
	CHECK_INT(http_fixture_try(&s, &fixture_limits, "127.0.0.1:0", cert, key2, &p), ERR_USAGE);
	CHECK(p.detail && strstr(p.detail, key2));
	arena_free(&s.arena);
	p = (struct problem){ 0 };
	CHECK_INT(http_fixture_try(&s, &fixture_limits, "127.0.0.1:0", cert, key, &p), 0);
	CHECK_INT(http_server_start(s.server), 0);
	pthread_create(&s.worker, NULL, http_fixture_work, &s);

	test_step("requests, at once and kept");
	buf_init(&in, 64 << 20);
	ssl = dial_tls(&s, ctx, "\x02h2\x08http/1.1");
	CHECK_INT(SSL_connect(ssl), 1);
	CHECK_INT(SSL_write(ssl, GET("/a") GET("/kept") GET_CLOSE("/big"),
			  sizeof(GET("/a") GET("/kept") GET_CLOSE("/big")) - 1),
		sizeof(GET("/a") GET("/kept") GET_CLOSE("/big")) - 1);
	hear_tls(ssl, &in);
	CHECK(http_fixture_contains(&in, "GET /a? 0 tls:") &&
		http_fixture_contains(&in, "GET /kept? 0 tls:"));
	CHECK(in.len > 4000000 && strcmp(http_fixture_text(&in) + in.len - 10, "000399999\n") == 0);
	CHECK(SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN);
	hang_up(ssl);
	test_step("a fault closes with goodbye");
	in.len = 0;
	ssl = dial_tls(&s, ctx, "\x08http/1.1");
	CHECK_INT(SSL_connect(ssl), 1);
	SSL_write(ssl, "BAD\r\n\r\n", 7);
	hear_tls(ssl, &in);
	CHECK(http_fixture_starts(&in, "HTTP/1.1 400 "));
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
	http_fixture_ask(&s, GET("/"), &plain);
	CHECK(!http_fixture_contains(&plain, "HTTP/1.1"));
	http_fixture_close(&s);
	SSL_CTX_free(ctx);
	buf_free(&in);
	buf_free(&plain);
	unlink(cert);
	unlink(key);
	unlink(cert2);
	unlink(key2);
}
