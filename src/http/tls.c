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
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "http/http.h"

struct http_tls {
	pthread_mutex_t
		lock; /* over ctx, which a new certificate replaces; sessions keep the one they have */
	SSL_CTX *ctx;
};

/* What OpenSSL says to those who know it, for those who do not. */
static const struct {
	const char *openssl, *words;
} plain[] = {
	{ "no start line",
		"it holds no PEM text of that kind (a line that begins with -----BEGIN)" },
	{ "bad end line", "its PEM text is cut off" },
	{ "bad base64 decode", "its PEM text is damaged" },
	{ "bad decrypt", "it is under a password; give a file without one" },
	{ "bad password read", "it is under a password; give a file without one" },
	{ "unsupported", "it holds no private key that can be read" },
	{ "ee key too small", "its key is too short to be safe; make a longer one" },
	{ "ca md too weak", "it is signed in a way that is not safe any more" },
};

/* Why the last call failed: what was found first is nearest to the cause. */
static const char *tls_reason(void)
{
	unsigned long first = ERR_peek_error();
	const char *text = ERR_SYSTEM_ERROR(first) ? strerror(ERR_GET_REASON(first))
						   : ERR_reason_error_string(first);

	for (size_t i = 0; text && i < sizeof plain / sizeof *plain; i++)
		if (strcmp(text, plain[i].openssl) == 0)
			return plain[i].words;
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

/* A key under a password cannot be used: nobody is there to be asked for it. */
static int no_password(char *out, int room, int writing, void *ctx)
{
	(void)writing;
	(void)ctx;
	if (room)
		*out = '\0';
	return 0;
}

static SSL_CTX *load_tls_context(
	const char *cert, const char *key, struct arena *a, struct problem *p)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

	if (!ctx) {
		problem_set(p, a, ERR_USAGE, "TLS does not start: %s.", tls_reason());
		return NULL;
	}
	set_options(ctx);
	SSL_CTX_set_default_passwd_cb(ctx, no_password);
	ERR_clear_error();
	if (SSL_CTX_use_certificate_chain_file(ctx, cert) != 1)
		problem_set(
			p, a, ERR_USAGE, "cannot use the certificate %s: %s", cert, tls_reason());
	else if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1)
		problem_set(p, a, ERR_USAGE, "cannot use the key %s: %s", key, tls_reason());
	else if (SSL_CTX_check_private_key(ctx) != 1)
		problem_set(p, a, ERR_USAGE, "the key %s does not belong to the certificate %s",
			key, cert);
	else
		return ctx;
	ERR_clear_error();
	SSL_CTX_free(ctx);
	return NULL;
}

int http_tls_new(struct http_tls **ret, const char *cert, const char *key, struct arena *a,
	struct problem *p)
{
	SSL_CTX *ctx = load_tls_context(cert, key, a, p);
	struct http_tls *t = ctx ? calloc(1, sizeof *t) : NULL;

	if (!t) {
		SSL_CTX_free(ctx);
		return p->err ? p->err : ERR_INTERNAL;
	}
	t->ctx = ctx;
	pthread_mutex_init(&t->lock, NULL);
	*ret = t;
	return 0;
}

int http_tls_renew(
	struct http_tls *t, const char *cert, const char *key, struct arena *a, struct problem *p)
{
	SSL_CTX *ctx = load_tls_context(cert, key, a, p), *former;

	if (!ctx)
		return p->err;
	pthread_mutex_lock(&t->lock);
	former = t->ctx;
	t->ctx = ctx;
	pthread_mutex_unlock(&t->lock);
	SSL_CTX_free(former);
	return 0;
}

static int64_t seconds_of(const ASN1_TIME *at)
{
	struct tm tm;

	return at && ASN1_TIME_to_tm(at, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}

int http_certificate_read(const char *cert, const char *key, struct http_certificate *ret,
	struct arena *a, struct problem *p)
{
	SSL_CTX *ctx = load_tls_context(cert, key, a, p);
	const X509 *x = ctx ? SSL_CTX_get0_certificate(ctx) : NULL;

	if (!x) {
		SSL_CTX_free(ctx);
		return p->err ? p->err : ERR_INTERNAL;
	}
	ret->from_s = seconds_of(X509_get0_notBefore(x));
	ret->until_s = seconds_of(X509_get0_notAfter(x));
	SSL_CTX_free(ctx);
	return 0;
}

void http_tls_free(struct http_tls *t)
{
	if (!t)
		return;
	SSL_CTX_free(t->ctx);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

bool http_tls_attach(struct http_tls *t, struct http_link *l)
{
	SSL *ssl;

	pthread_mutex_lock(&t->lock);
	ssl = SSL_new(t->ctx);
	pthread_mutex_unlock(&t->lock);
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
static int tls_verdict(struct http_link *l, int ret)
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
	ret = tls_verdict(l, ret);
	return ret ? ret : HTTP_DEAD;
}

static ssize_t secure_read(struct http_link *l, void *at, size_t n)
{
	size_t got;
	int ret;

	ERR_clear_error();
	ret = SSL_read_ex(l->state, at, n, &got);
	return ret == 1 ? (ssize_t)got : tls_verdict(l, ret);
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
			ret = tls_verdict(l, ret);
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
