/* smtp.c - see smtp.h.  libcurl speaks SMTP; this file watches how far it came, for that says what a refusal means. */
#include "outside/smtp.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "outside/address.h"
#include "outside/why.h"

enum {
	CONNECT_MS = 10000,
	TOTAL_MS = 10 * 60 * 1000, /* of one message, however slow the relay is */
	SILENCE_S = 60,
	SAID_MAX = 400,
	PATH_MAX_BYTES = 320,
};

/* What was said last, by us. */
enum smtp_stage { STAGE_RELAY, STAGE_MAIL, STAGE_RCPT, STAGE_DATA, STAGE_END };

struct smtp_state {
	const struct smtp_mail *mail;
	const _Atomic int *stopping;
	size_t given;
	enum smtp_stage stage;
	bool over;    /* we take our leave; what is said to that is of no interest */
	bool signing; /* it says that it can be told who we are */
	int code;
	char said[SAID_MAX];
};

/* ---- where, and to whom ---- */

struct relay_parts {
	bool tls; /* from the first byte */
	bool here;
};

static bool relay_read(const char *url, struct relay_parts *ret, const char **ret_fault)
{
	CURLU *u = curl_url();
	char *scheme = NULL, *host = NULL, *port = NULL, *other = NULL;
	const char *fault = NULL;

	if (!u)
		abort();
	if (curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) ||
		curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) ||
		(strcmp(scheme, "smtp") != 0 && strcmp(scheme, "smtps") != 0))
		fault = "must be smtp://HOST:PORT or smtps://HOST:PORT";
	else if (curl_url_get(u, CURLUPART_HOST, &host, 0) || !*host)
		fault = "names no host";
	else if (curl_url_get(u, CURLUPART_PORT, &port, 0))
		fault = "names no port: 587 and 465 are usual";
	else if (!curl_url_get(u, CURLUPART_USER, &other, 0) ||
		 !curl_url_get(u, CURLUPART_PASSWORD, &other, 0))
		fault = "must not hold a name or a password: they have settings of their own";
	else if (!curl_url_get(u, CURLUPART_QUERY, &other, 0) ||
		 !curl_url_get(u, CURLUPART_FRAGMENT, &other, 0) ||
		 (!curl_url_get(u, CURLUPART_PATH, &other, 0) && strcmp(other, "/") != 0))
		fault = "must end after its port";
	else
		*ret = (struct relay_parts){ strcmp(scheme, "smtps") == 0,
			address_kind_of_host(host) == ADDRESS_LOOPBACK };
	curl_free(scheme);
	curl_free(host);
	curl_free(port);
	curl_free(other);
	curl_url_cleanup(u);
	*ret_fault = fault;
	return !fault;
}

const char *smtp_relay_fault(const char *url)
{
	struct relay_parts parts;
	const char *fault;

	relay_read(url, &parts, &fault);
	return fault;
}

bool smtp_path_is_plain(const char *address)
{
	size_t n = strlen(address);

	if (n > PATH_MAX_BYTES)
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)address[i];

		if (c <= ' ' || c == 0x7f || c == '<' || c == '>')
			return false;
	}
	return true;
}

/* ---- under way ---- */

static size_t give_message(char *bytes, size_t size, size_t n, void *ctx)
{
	struct smtp_state *s = ctx;
	size_t left = s->mail->len - s->given, most = size * n < left ? size * n : left;

	if (most)
		memcpy(bytes, s->mail->bytes + s->given, most);
	s->given += most;
	if (s->given == s->mail->len)
		s->stage = STAGE_END;
	return most;
}

static bool begins(const char *bytes, size_t n, const char *word)
{
	return n >= strlen(word) && strncasecmp(bytes, word, strlen(word)) == 0;
}

/* libcurl tells what it says before it says it. */
static int see_command(CURL *h, curl_infotype type, char *bytes, size_t n, void *ctx)
{
	static const struct {
		const char *word;
		enum smtp_stage stage;
	} commands[] = { { "MAIL FROM", STAGE_MAIL }, { "RCPT TO", STAGE_RCPT },
		{ "DATA", STAGE_DATA } };
	struct smtp_state *s = ctx;

	(void)h;
	if (type != CURLINFO_HEADER_OUT)
		return 0;
	s->over = s->over || begins(bytes, n, "QUIT");
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (begins(bytes, n, commands[i].word))
			s->stage = commands[i].stage;
	return 0;
}

/* A line of a reply; the last of a reply has a space after its code. */
static size_t see_reply(const char *bytes, size_t size, size_t n, void *ctx)
{
	struct smtp_state *s = ctx;
	size_t len = size * n, kept = 0;

	if (s->over || len < 3 || bytes[0] < '2' || bytes[0] > '5')
		return len;
	s->code = (bytes[0] - '0') * 100 + (bytes[1] - '0') * 10 + (bytes[2] - '0');
	s->signing |= s->stage == STAGE_RELAY && s->code == 250 && len > 8 &&
		      begins(bytes + 4, len - 4, "AUTH");
	for (size_t i = 0; i < len && kept < sizeof s->said - 1; i++)
		if (bytes[i] >= ' ' && bytes[i] < 0x7f)
			s->said[kept++] = bytes[i];
	s->said[kept] = '\0';
	return len;
}

/* Of a message that it has, its answer is worth waiting for. */
static int see_stop(void *ctx, curl_off_t down, curl_off_t got, curl_off_t up, curl_off_t given)
{
	const struct smtp_state *s = ctx;
	int stopping = *s->stopping;

	(void)down;
	(void)got;
	(void)up;
	(void)given;
	return stopping > 1 || (stopping && s->stage != STAGE_END);
}

static void set_relay(
	CURL *h, const struct smtp_relay *relay, const struct relay_parts *parts, struct arena *a)
{
	curl_easy_setopt(h, CURLOPT_URL,
		arena_printf(a, "%.*s/%s", (int)strcspn(relay->url + 8, "/") + 8, relay->url,
			relay->hello));
	curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, parts->tls ? "smtps" : "smtp");
	curl_easy_setopt(h, CURLOPT_USE_SSL,
		(long)(parts->tls || !parts->here ? CURLUSESSL_ALL : CURLUSESSL_NONE));
	curl_easy_setopt(h, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(h, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(h, CURLOPT_SSL_VERIFYHOST, 2L);
	if (relay->authorities)
		curl_easy_setopt(h, CURLOPT_CAINFO, relay->authorities);
	if (relay->user) {
		curl_easy_setopt(h, CURLOPT_USERNAME, relay->user);
		curl_easy_setopt(h, CURLOPT_PASSWORD, relay->password);
	}
	curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(h, CURLOPT_PROXY, "");
	curl_easy_setopt(h, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, (long)TOTAL_MS);
	curl_easy_setopt(h, CURLOPT_SERVER_RESPONSE_TIMEOUT,
		(long)(relay->silence_s ? relay->silence_s : SILENCE_S));
}

static void set_watch(CURL *h, struct smtp_state *s)
{
	if (s->stopping) {
		curl_easy_setopt(h, CURLOPT_XFERINFOFUNCTION, see_stop);
		curl_easy_setopt(h, CURLOPT_XFERINFODATA, s);
		curl_easy_setopt(h, CURLOPT_NOPROGRESS, 0L);
	}
	curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, see_reply);
	curl_easy_setopt(h, CURLOPT_HEADERDATA, s);
	curl_easy_setopt(h, CURLOPT_VERBOSE, 1L);
	curl_easy_setopt(h, CURLOPT_DEBUGFUNCTION, see_command);
	curl_easy_setopt(h, CURLOPT_DEBUGDATA, s);
}

static void set_mail(CURL *h, struct smtp_state *s, struct curl_slist *to, struct arena *a)
{
	curl_easy_setopt(h, CURLOPT_MAIL_FROM, arena_printf(a, "<%s>", s->mail->from));
	curl_easy_setopt(h, CURLOPT_MAIL_RCPT, to);
	curl_easy_setopt(h, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(h, CURLOPT_INFILESIZE_LARGE, (curl_off_t)s->mail->len);
	curl_easy_setopt(h, CURLOPT_READFUNCTION, give_message);
	curl_easy_setopt(h, CURLOPT_READDATA, s);
	set_watch(h, s);
}

/* ---- what came of it ---- */

/* "550 5.1.1 No such user": the second word, where it has that form. */
static void read_enhanced(const char *said, char out[12])
{
	size_t n = 0;
	int dots = 0;

	*out = '\0';
	if (strlen(said) < 5)
		return;
	said += 4;
	if ((*said != '2' && *said != '4' && *said != '5') || said[1] != '.')
		return;
	while (n < 11 && ((said[n] >= '0' && said[n] <= '9') || said[n] == '.'))
		dots += said[n++] == '.';
	if (dots != 2 || said[n - 1] == '.' || (said[n] && said[n] != ' '))
		return;
	memcpy(out, said, n);
	out[n] = '\0';
}

/* At RCPT a server says of the recipient, of its policy, or that it does not know us ("554 5.7.1 Relay access denied"): which
 * of the last two only whoever runs it can tell.  Exim has no code for it, but a word. */
static bool is_unclear(const struct smtp_state *s, const char *enhanced)
{
	if (s->stage != STAGE_RCPT || s->code < 500)
		return false;
	if (*enhanced)
		return strncmp(enhanced, "5.7.", 4) == 0;
	return s->code == 554 || strcasestr(s->said, "relay");
}

/* A refusal is the recipient's or the message's once these were named; before that it is ours.  Of the sender only the size,
 * which MAIL announces, is the message's. */
static bool is_final(const struct smtp_state *s, const char *enhanced)
{
	if (s->code < 500 || is_unclear(s, enhanced))
		return false;
	if (s->code == 530 || s->code == 535 || s->code == 538)
		return false; /* we are to say who we are, wherever it says so */
	if (strcmp(enhanced, "5.1.7") == 0 || strcmp(enhanced, "5.1.8") == 0)
		return false; /* of our own address, which many servers say at RCPT */
	return s->stage >= STAGE_RCPT || (s->stage == STAGE_MAIL && s->code == 552);
}

static void tell_outcome(
	CURL *h, CURLcode code, const struct smtp_state *s, struct arena *a, struct smtp_said *ret)
{
	bool answered = s->code >= 400;
	char why[WHY_TEXT_MAX];

	*ret = (struct smtp_said){ .outcome = SMTP_SENT, .code = s->code };
	read_enhanced(s->said, ret->enhanced);
	ret->text = arena_strdup(a, s->said);
	if (!code)
		return;
	ret->outcome = is_final(s, ret->enhanced) ? SMTP_REFUSED : SMTP_LATER;
	ret->unclear = answered && is_unclear(s, ret->enhanced);
	if (answered)
		return;
	ret->code = 0;
	*ret->enhanced = '\0';
	ret->unsure = s->stage == STAGE_END;
	why_tell(h, code, why);
	ret->text = code == CURLE_USE_SSL_FAILED ? "the relay offers no TLS" : arena_strdup(a, why);
}

static void tell_bad_relay(const char *fault, struct arena *a, struct smtp_said *ret)
{
	*ret = (struct smtp_said){ .outcome = SMTP_LATER,
		.text = arena_printf(a, "the relay's address %s", fault) };
}

void smtp_send(const struct smtp_relay *relay, const struct smtp_mail *mail, struct arena *a,
	struct smtp_said *ret)
{
	struct smtp_state s = { .mail = mail, .stopping = relay->stopping };
	struct curl_slist *to;
	struct relay_parts parts;
	const char *fault;
	CURLcode code;
	CURL *h;

	if (!smtp_path_is_plain(mail->from) || !smtp_path_is_plain(mail->to) || !*mail->to) {
		*ret = (struct smtp_said){ .outcome = SMTP_REFUSED, .text = SMTP_NOT_PLAIN };
		return;
	}
	to = curl_slist_append(NULL, arena_printf(a, "<%s>", mail->to));
	h = curl_easy_init();
	if (!h || !to)
		abort();
	if (relay_read(relay->url, &parts, &fault)) {
		set_relay(h, relay, &parts, a);
		set_mail(h, &s, to, a);
		code = curl_easy_perform(h);
		tell_outcome(h, code, &s, a, ret);
	} else {
		tell_bad_relay(fault, a, ret);
	}
	curl_slist_free_all(to);
	curl_easy_cleanup(h);
}

/* MAIL is as far as it goes without a recipient: a server that wants to know first who we are says so there.  The leave that
 * libcurl takes ends it.  Who has a password and is not asked for it is taken by libcurl for somebody who needs none. */
void smtp_try(
	const struct smtp_relay *relay, const char *from, struct arena *a, struct smtp_said *ret)
{
	static const struct smtp_mail nothing;
	struct smtp_state s = { .mail = &nothing, .stopping = relay->stopping };
	CURL *h = curl_easy_init();
	struct relay_parts parts;
	const char *fault;
	CURLcode code;

	INVARIANT(smtp_path_is_plain(from));
	if (!h)
		abort();
	if (relay_read(relay->url, &parts, &fault)) {
		set_relay(h, relay, &parts, a);
		set_watch(h, &s);
		curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, arena_printf(a, "MAIL FROM:<%s>", from));
		curl_easy_setopt(h, CURLOPT_NOBODY, 1L); /* the answer is no output */
		code = curl_easy_perform(h);
		if (!code && s.code >= 400)
			code = CURLE_WEIRD_SERVER_REPLY; /* some it takes for good */
		tell_outcome(h, code, &s, a, ret);
		if (!code && relay->user && !s.signing)
			*ret = (struct smtp_said){
				.outcome = SMTP_LATER,
				.text = "it does not ask who we are (no AUTH), although smtp_relay_user is set"
			};
	} else {
		tell_bad_relay(fault, a, ret);
	}
	curl_easy_cleanup(h);
}
