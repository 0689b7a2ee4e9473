/* why.c - see why.h. */
#include "outside/why.h"

#include <errno.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <string.h>

const char *const why_words[WHY_COUNT] = {
#define X(name, word) [WHY_##name] = word,
	WHYS(X)
#undef X
};

static const struct code_row {
	CURLcode code;
	enum why why;
	bool before; /* a request is sent */
	const char *text;
} codes[] = {
	{ CURLE_COULDNT_RESOLVE_HOST, WHY_DNS, true, "its name cannot be resolved (DNS)" },
	{ CURLE_COULDNT_CONNECT, WHY_UNREACHABLE, true, "no connection to it can be made" },
	{ CURLE_OPERATION_TIMEDOUT, WHY_TIMED_OUT, true, "it did not answer in time" },
	{ CURLE_PEER_FAILED_VERIFICATION, WHY_CERTIFICATE, true,
		"its certificate is not accepted" },
	{ CURLE_SSL_ISSUER_ERROR, WHY_CERTIFICATE, true,
		"the issuer of its certificate is not accepted" },
	{ CURLE_SSL_CACERT_BADFILE, WHY_CERTIFICATE, true,
		"its certificate cannot be checked, because this machine has no certificates of "
		"authorities (the package ca-certificates)" },
	{ CURLE_SSL_CONNECT_ERROR, WHY_TLS, true, "it does not agree on TLS with us" },
	{ CURLE_SSL_CIPHER, WHY_TLS, true, "it does not agree on a cipher with us" },
	{ CURLE_SSL_ENGINE_INITFAILED, WHY_TLS, true, "TLS does not start here" },
	{ CURLE_URL_MALFORMAT, WHY_NOT_ALLOWED, true, WHY_ADDRESS_NOT_ALLOWED },
	/* What is no HTTP at all is taken for its oldest version.  Addresses were looked at before. */
	{ CURLE_UNSUPPORTED_PROTOCOL, WHY_NOT_HTTP, false, "its answer is not HTTP" },
	{ CURLE_SEND_ERROR, WHY_BROKEN_OFF, false, "the connection broke off while sending" },
	{ CURLE_RECV_ERROR, WHY_BROKEN_OFF, false, "the connection broke off" },
	{ CURLE_PARTIAL_FILE, WHY_BROKEN_OFF, false,
		"the connection broke off before the answer's end" },
	{ CURLE_GOT_NOTHING, WHY_BROKEN_OFF, false, "it closed the connection without an answer" },
	{ CURLE_SSL_SHUTDOWN_FAILED, WHY_BROKEN_OFF, false, "the connection broke off" },
	{ CURLE_HTTP2, WHY_NOT_HTTP, false, "its HTTP/2 is not right" },
	{ CURLE_HTTP2_STREAM, WHY_NOT_HTTP, false, "its HTTP/2 is not right" },
	{ CURLE_WEIRD_SERVER_REPLY, WHY_NOT_HTTP, false, "its answer is not HTTP" },
	{ CURLE_BAD_CONTENT_ENCODING, WHY_NOT_HTTP, false, "its answer's encoding is not right" },
	{ CURLE_FILESIZE_EXCEEDED, WHY_TOO_LARGE, false, "its answer is too large" },
};

/* What the system says of a connection that could not be made. */
static const struct {
	int error;
	enum why why;
	const char *text;
} errors[] = {
	{ ECONNREFUSED, WHY_REFUSED, "the connection was refused" },
	{ ENETUNREACH, WHY_UNREACHABLE, "no network leads to its address" },
	{ EHOSTUNREACH, WHY_UNREACHABLE, "no way leads to its address" },
	{ ETIMEDOUT, WHY_TIMED_OUT, "no connection to it was made in time" },
	{ ECONNRESET, WHY_BROKEN_OFF, "the connection was reset" },
	{ EMFILE, WHY_OTHER, "this service has no more descriptors for connections" },
	{ ENFILE, WHY_OTHER, "this machine has no more descriptors for connections" },
};

static const struct code_row *code_row_of(CURLcode code)
{
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (codes[i].code == code)
			return &codes[i];
	return NULL;
}

bool why_is_before(CURLcode code)
{
	const struct code_row *row = code_row_of(code);

	return row && row->before;
}

static enum why tell_connect(CURL *handle, const struct code_row *row, char out[WHY_TEXT_MAX])
{
	long error = 0;

	curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &error);
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].error == error) {
			snprintf(out, WHY_TEXT_MAX, "%s", errors[i].text);
			return errors[i].why;
		}
	snprintf(out, WHY_TEXT_MAX, "%s", row->text);
	return row->why;
}

/* How far it came in its time. */
static enum why tell_timeout(CURL *handle, char out[WHY_TEXT_MAX])
{
	curl_off_t named = 0, connected = 0, secured = 0;
	const char *scheme = NULL;

	curl_easy_getinfo(handle, CURLINFO_NAMELOOKUP_TIME_T, &named);
	curl_easy_getinfo(handle, CURLINFO_CONNECT_TIME_T, &connected);
	curl_easy_getinfo(handle, CURLINFO_APPCONNECT_TIME_T, &secured);
	curl_easy_getinfo(handle, CURLINFO_SCHEME, &scheme);
	if (!named && !connected) {
		snprintf(out, WHY_TEXT_MAX, "its name was not resolved in time (DNS)");
		return WHY_DNS;
	}
	snprintf(out, WHY_TEXT_MAX, "%s",
		!connected ? "no connection to it was made in time"
		: !secured && scheme && strcasecmp(scheme, "https") == 0
			? "TLS was not agreed on in time"
			: "it did not answer in time");
	return WHY_TIMED_OUT;
}

static enum why tell_certificate(CURL *handle, const struct code_row *row, char out[WHY_TEXT_MAX])
{
	long verdict = X509_V_OK;

	curl_easy_getinfo(handle, CURLINFO_SSL_VERIFYRESULT, &verdict);
	/* The name is compared by libcurl, after OpenSSL's verdict. */
	snprintf(out, WHY_TEXT_MAX, "%s: %s", row->text,
		verdict == X509_V_OK ? "it is for another name"
				     : X509_verify_cert_error_string(verdict));
	return row->why;
}

enum why why_tell(CURL *handle, CURLcode code, char out[WHY_TEXT_MAX])
{
	const struct code_row *row = code_row_of(code);

	if (code == CURLE_COULDNT_CONNECT)
		return tell_connect(handle, row, out);
	if (code == CURLE_OPERATION_TIMEDOUT)
		return tell_timeout(handle, out);
	if (code == CURLE_PEER_FAILED_VERIFICATION)
		return tell_certificate(handle, row, out);
	snprintf(out, WHY_TEXT_MAX, "%s", row ? row->text : curl_easy_strerror(code));
	return row ? row->why : WHY_OTHER;
}
