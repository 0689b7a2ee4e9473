/* tls.c - the transport over TLS 1.2 and 1.3, by OpenSSL.
 *
 * One context for the server, one session a connection.  OpenSSL writes to
 * the socket without MSG_NOSIGNAL, so the process ignores SIGPIPE (the server
 * sees to it when it starts).  Nothing here knows HTTP beyond its ALPN name. */
#include "http/transport.h"
#include "base/arena.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct http_tls {
	SSL_CTX *ctx;
};

/* Why the last call failed: what was found first is nearest to the cause. */
static const char *reason(void)
{
	unsigned long first = ERR_peek_error();
	const char *text = ERR_SYSTEM_ERROR(first) ? strerror(ERR_GET_REASON(first))
						   : ERR_reason_error_string(first);

	return text ? text : "unknown reason";
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
	const unsigned char *in, unsigned in_len, void *arg)
{
	static const unsigned char ours[] = "\x08http/1.1";

	(void)ssl;
	(void)arg;
	return SSL_select_next_proto((unsigned char **)out, out_len, ours, sizeof ours - 1, in,
		       in_len) == OPENSSL_NPN_NEGOTIATED
		       ? SSL_TLSEXT_ERR_OK
		       : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static void set_options(SSL_CTX *ctx)
{
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	SSL_CTX_set_options(ctx,
		SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
				      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_read_ahead(ctx, 1);
	SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
	SSL_CTX_set_session_id_context(ctx, (const unsigned char *)"lodge", 5);
}

int http_tls_new(struct http_tls **ret, const char *cert, const char *key, struct arena *a,
	struct problem *p)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	struct http_tls *t;

	if (!ctx)
		return problem_set(p, a, ERR_USAGE, "TLS does not start: %s.", reason());
	set_options(ctx);
	ERR_clear_error();
	if (SSL_CTX_use_certificate_chain_file(ctx, cert) != 1) {
		problem_set(p, a, ERR_USAGE, "cannot use the certificate %s: %s", cert, reason());
	} else if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1) {
		problem_set(p, a, ERR_USAGE, "cannot use the key %s: %s", key, reason());
	} else if (SSL_CTX_check_private_key(ctx) != 1) {
		problem_set(p, a, ERR_USAGE, "the key %s does not belong to the certificate %s",
			key, cert);
	} else if ((t = calloc(1, sizeof *t))) {
		t->ctx = ctx;
		*ret = t;
		return 0;
	}
	ERR_clear_error();
	SSL_CTX_free(ctx);
	return p->err ? p->err : ERR_INTERNAL;
}

void http_tls_free(struct http_tls *t)
{
	if (!t)
		return;
	SSL_CTX_free(t->ctx);
	free(t);
}

bool http_tls_attach(struct http_tls *t, struct http_link *l)
{
	SSL *ssl = SSL_new(t->ctx);

	if (!ssl || SSL_set_fd(ssl, l->fd) != 1) {
		SSL_free(ssl);
		ERR_clear_error();
		return false;
	}
	SSL_set_accept_state(ssl);
	l->state = ssl;
	l->transport = &http_secure;
	return true;
}

/* A session may have to write in order to read and the other way round: then the flag asked for
 * stays set, and the next event of either kind tries again. */
static int verdict(struct http_link *l, int ret)
{
	switch (SSL_get_error(l->state, ret)) {
	case SSL_ERROR_WANT_READ:
		l->readable = false;
		return HTTP_AGAIN;
	case SSL_ERROR_WANT_WRITE:
		l->writable = false;
		return HTTP_AGAIN;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	default:
		ERR_clear_error();
		SSL_set_quiet_shutdown(l->state, 1); /* a broken session says no goodbye */
		return HTTP_DEAD;
	}
}

static int secure_handshake(struct http_link *l)
{
	int ret;

	ERR_clear_error();
	ret = SSL_do_handshake(l->state);
	if (ret == 1)
		return 0;
	ret = verdict(l, ret);
	return ret ? ret : HTTP_DEAD;
}

static ssize_t secure_read(struct http_link *l, void *at, size_t n)
{
	size_t got;
	int ret;

	ERR_clear_error();
	ret = SSL_read_ex(l->state, at, n, &got);
	return ret == 1 ? (ssize_t)got : verdict(l, ret);
}

static ssize_t secure_write(struct http_link *l, const struct iovec *iov, int count)
{
	ssize_t all = 0;

	for (int i = 0; i < count; i++) {
		size_t put;
		int ret;

		if (!iov[i].iov_len)
			continue;
		ERR_clear_error();
		ret = SSL_write_ex(l->state, iov[i].iov_base, iov[i].iov_len, &put);
		if (ret != 1) {
			ret = verdict(l, ret);
			return all ? all : ret ? ret : HTTP_DEAD;
		}
		all += (ssize_t)put;
		if (put < iov[i].iov_len)
			break;
	}
	return all;
}

static void secure_shut(struct http_link *l)
{
	ERR_clear_error();
	SSL_shutdown(l->state);
	ERR_clear_error();
	shutdown(l->fd, SHUT_WR);
}

static ssize_t secure_drain(struct http_link *l, void *at, size_t n)
{
	return http_plain.drain(l, at, n);
}

static void secure_close(struct http_link *l)
{
	if (SSL_is_init_finished(l->state)) {
		ERR_clear_error();
		SSL_shutdown(l->state);
		ERR_clear_error();
	}
	SSL_free(l->state);
	l->state = NULL;
	http_plain.close(l);
}

const struct http_transport http_secure = {
	.lingers = true,
	.handshake = secure_handshake,
	.read = secure_read,
	.write = secure_write,
	.shut = secure_shut,
	.drain = secure_drain,
	.close = secure_close,
};
