/* dns.c - see dns.h.  The C library asks; what comes back is read here within its bounds. */
#include "outside/dns.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <resolv.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { ANSWER_MAX = 65535, WAIT_S = 2, TRIES = 2, PORT = 53 };

static bool server_read(const char *server, struct sockaddr_in *ret)
{
	char host[INET_ADDRSTRLEN];
	size_t n = strcspn(server, ":");
	long port = PORT;
	char *end;

	if (n >= sizeof host)
		return false;
	memcpy(host, server, n);
	host[n] = '\0';
	if (server[n]) {
		if (server[n + 1] < '1' || server[n + 1] > '9')
			return false;
		port = strtol(server + n + 1, &end, 10);
		if (*end || port > 65535)
			return false;
	}
	*ret = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	return inet_pton(AF_INET, host, &ret->sin_addr) == 1;
}

bool dns_server_valid(const char *server)
{
	struct sockaddr_in at;

	return server_read(server, &at);
}

static bool label_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

bool dns_name_valid(const char *name)
{
	size_t label = 0, n = strlen(name);

	if (!n || n > DNS_NAME_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (name[i] == '.' ? !label : !label_byte(name[i]) || label == 63)
			return false;
		label = name[i] == '.' ? 0 : label + 1;
	}
	return label > 0;
}

/* Pieces with their lengths before them, put together. */
static const char *text_of(struct arena *a, const unsigned char *at, size_t len)
{
	char *text, *to;

	if (len > DNS_TEXT_MAX)
		return NULL;
	text = to = arena_alloc(a, len + 1);
	for (size_t i = 0; i < len;) {
		size_t n = at[i++];

		if (n > len - i)
			return NULL;
		memcpy(to, at + i, n);
		to += n;
		i += n;
	}
	*to = '\0';
	return text;
}

/* A preference, which is not asked for, and a name that may lean on others of the answer. */
static const char *mail_server_of(struct arena *a, const ns_msg *m, const ns_rr *rr)
{
	char name[NS_MAXDNAME];

	if (ns_rr_rdlen(*rr) < NS_INT16SZ + 1 ||
		ns_name_uncompress(ns_msg_base(*m), ns_msg_end(*m), ns_rr_rdata(*rr) + NS_INT16SZ,
			name, sizeof name) < 0)
		return NULL;
	return arena_strdup(a, *name ? name : ".");
}

static int read_answers(
	const unsigned char *answer, size_t len, int type, struct arena *a, struct dns_texts *ret)
{
	ns_msg m;

	if (ns_initparse(answer, (int)len, &m))
		return ERR_UPSTREAM;
	for (int i = 0; i < ns_msg_count(m, ns_s_an) && ret->count < DNS_TEXTS_MAX; i++) {
		const char *text;
		ns_rr rr;

		if (ns_parserr(&m, ns_s_an, i, &rr))
			return ERR_UPSTREAM;
		if ((int)ns_rr_type(rr) != type)
			continue; /* the names that this one stands for, on the way */
		text = type == ns_t_mx ? mail_server_of(a, &m, &rr)
				       : text_of(a, ns_rr_rdata(rr), ns_rr_rdlen(rr));
		if (text)
			ret->at[ret->count++] = text;
	}
	return 0;
}

static int ask(
	const char *server, const char *name, int type, struct arena *a, struct dns_texts *ret)
{
	struct __res_state state = { 0 };
	struct sockaddr_in at;
	unsigned char *answer;
	int len, err = 0;

	*ret = (struct dns_texts){ 0 };
	if (!dns_name_valid(name))
		return ERR_INVALID;
	if (res_ninit(&state))
		return ERR_UPSTREAM;
	if (server && server_read(server, &at)) {
		state.nscount = 1;
		state.nsaddr_list[0] = at;
	}
	state.retrans = WAIT_S;
	state.retry = TRIES;
	answer = arena_alloc(a, ANSWER_MAX);
	len = res_nquery(&state, name, ns_c_in, type, answer, ANSWER_MAX);
	if (len >= 0)
		err = read_answers(
			answer, len < ANSWER_MAX ? (size_t)len : ANSWER_MAX, type, a, ret);
	else if (state.res_h_errno != HOST_NOT_FOUND && state.res_h_errno != NO_DATA)
		err = ERR_UPSTREAM;
	res_nclose(&state);
	return err;
}

int dns_texts(const char *server, const char *name, struct arena *a, struct dns_texts *ret)
{
	return ask(server, name, ns_t_txt, a, ret);
}

int dns_mail_servers(const char *server, const char *name, struct arena *a, struct dns_texts *ret)
{
	return ask(server, name, ns_t_mx, a, ret);
}
