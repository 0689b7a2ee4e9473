/* mail_verdict.c - see mail_verdict.h. */
#include "mailboxes/mail_verdict.h"

#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/error.h"
#include "mail/dkim.h"
#include "mail/dmarc.h"
#include "mail/replay.h"
#include "mailboxes/mailbox.h"
#include "outside/dns.h"

/* The questions of one message. */
struct asking {
	struct arena *a;
	const char *resolver; /* NULL: the system's */
	const char *domain;   /* of the From, about whose organisation all of them are */
	int64_t until_ms;
	bool away; /* one was not answered */
	bool began, answered, silent;
	enum mail_dns_turn turn;
	struct mail_dns_asking asking;
};

/* Whether anything may be asked, which is found out with the first question. */
static bool may_ask(struct asking *q)
{
	char organisation[MAIL_DOMAIN_MAX + 1];

	if (!q->began) {
		dmarc_organisation(q->domain, organisation);
		q->turn = mail_dns_begin(q->resolver ? q->resolver : "", organisation, &q->asking);
		q->began = true;
		q->until_ms = clock_mono_ms() + MAIL_VERDICT_MS;
	}
	return q->turn == MAIL_DNS_MAY && !q->silent;
}

static void end_asking(const struct asking *q)
{
	if (q->began && q->turn == MAIL_DNS_MAY)
		mail_dns_end(&q->asking, q->answered, q->silent);
}

/* False: nobody has answered. */
static bool ask_dns(struct asking *q, const char *name, struct dns_texts *ret)
{
	bool away = q->away;
	int64_t began;

	*ret = (struct dns_texts){ 0 };
	q->away = true;
	if (!may_ask(q) || clock_mono_ms() >= q->until_ms)
		return false;
	began = clock_mono_ms();
	if (dns_texts(q->resolver, name, q->a, ret) == ERR_UPSTREAM) {
		q->silent = clock_mono_ms() - began >= MAIL_DNS_SLOW_MS;
		return false;
	}
	q->away = away;
	q->answered = true;
	return true;
}

static const char *key_among(const struct dns_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		if (strstr(texts->at[i], "p="))
			return texts->at[i];
	return NULL;
}

static void check_signatures(struct asking *q, struct dkim_check *dkim, const char *domain)
{
	struct dns_texts texts;

	for (size_t i = 0; i < dkim->count; i++)
		if (dkim->at[i].key_name && dkim->at[i].domain &&
			dmarc_aligned(domain, dkim->at[i].domain, false) &&
			ask_dns(q, dkim->at[i].key_name, &texts))
			dkim_check_key(q->a, dkim, i, key_among(&texts));
}

/* The one record of this name; of two none counts.  False: nobody has answered. */
static bool ask_record(
	struct asking *q, const char *name, struct dmarc_record *ret, bool *ret_found)
{
	struct dns_texts texts;
	size_t found = 0;

	*ret_found = false;
	if (!ask_dns(q, name, &texts))
		return false;
	for (size_t i = 0; i < texts.count; i++)
		found += dmarc_parse(texts.at[i], strlen(texts.at[i]), ret);
	for (size_t i = 0; i < texts.count && found == 1; i++)
		if (dmarc_parse(texts.at[i], strlen(texts.at[i]), ret))
			*ret_found = true;
	return true;
}

/* NULL: there is none, or nobody has answered. */
static const struct dmarc_record *find_record(
	struct asking *q, const char *domain, struct dmarc_record *room)
{
	const char *names[2];
	size_t count = dmarc_names(q->a, domain, names);
	bool found = false;

	for (size_t i = 0; i < count && !found; i++)
		if (!ask_record(q, names[i], room, &found))
			return NULL;
	return found ? room : NULL;
}

/* A good signature of the very domain is enough, whatever its record says. */
static bool is_proven_itself(const struct dkim_check *dkim, const char *domain)
{
	for (size_t i = 0; i < dkim->count; i++)
		if (dkim->at[i].verdict == MAIL_PASS && dkim->at[i].domain &&
			strcasecmp(dkim->at[i].domain, domain) == 0)
			return true;
	return false;
}

/* Where no signature of the organisation was found to be good or bad, no record makes a difference. */
static bool is_silent(const struct dkim_check *dkim, const char *domain)
{
	for (size_t i = 0; i < dkim->count; i++)
		if (dkim->at[i].verdict != MAIL_NONE && dkim->at[i].domain &&
			dmarc_aligned(domain, dkim->at[i].domain, false))
			return false;
	return true;
}

/* A good signature that leaves open what the letter is judged by proves nothing; the reason of the first such one. */
static const char *doubt_signatures(
	struct dkim_check *dkim, const struct mail_read *m, int64_t now_s)
{
	const char *first = NULL;

	for (size_t i = 0; i < dkim->count; i++) {
		struct dkim_signature *s = &dkim->at[i];
		const char *doubt =
			s->verdict == MAIL_PASS ? replay_doubt_signature(dkim, i, m, now_s) : NULL;

		if (!doubt)
			continue;
		s->verdict = MAIL_NONE;
		s->fault = doubt;
		first = first ? first : doubt;
	}
	return first;
}

/* The server in front does not say which signature it has found good.  Whichever it was is still there: so each of the From's
 * organisation must cover what the letter is judged by, though none is checked again, since that server may have written
 * into the letter. */
static const char *doubt_vouched(
	const struct dkim_check *dkim, const struct mail_read *m, int64_t now_s)
{
	const char *doubt =
		dkim_fields_named(dkim, "dkim-signature") > dkim->count
			? "Its sender is not taken for proven: it has more signatures than are looked at."
			: NULL;

	for (size_t i = 0; i < dkim->count && !doubt; i++) {
		const struct dkim_signature *s = &dkim->at[i];

		if (s->domain && dmarc_aligned(m->from->address.domain, s->domain, false))
			doubt = s->names ? replay_doubt_signature(dkim, i, m, now_s) : s->fault;
	}
	return doubt;
}

/* Whether each signature that has proven it, or may have, holds what joins it to others. */
static bool holds_thread(
	const struct dkim_check *dkim, const struct mail_read *m, const struct authres *server)
{
	const char *domain = m->from->address.domain;
	bool vouched = authres_vouches(server, domain), holds = true;

	for (size_t i = 0; i < dkim->count; i++)
		if (dkim->at[i].domain && dmarc_aligned(domain, dkim->at[i].domain, false) &&
			(vouched || dkim->at[i].verdict == MAIL_PASS))
			holds &= replay_holds_thread(dkim, i, m);
	return holds;
}

/* By its signatures, and then by what the server in front says. */
static int judge(struct asking *q, const struct mail_read *m, const struct authres *server,
	struct dkim_check *dkim, enum mail_verdict *ret)
{
	const char *domain = m->from->address.domain;
	const struct dmarc_record *record;
	struct dmarc_record room;
	bool keys_away = q->away;

	*ret = MAIL_PASS;
	if (is_proven_itself(dkim, domain))
		return 0;
	q->away = false;
	record = is_silent(dkim, domain) ? NULL : find_record(q, domain, &room);
	*ret = q->away ? MAIL_NONE : dmarc_judge(domain, record, dkim, server);
	if (!q->away && (!keys_away || *ret == MAIL_PASS))
		return 0;
	*ret = MAIL_NONE;
	return ERR_UPSTREAM;
}

int mail_verdict(struct arena *a, const struct mail_read *m, const char *raw, size_t len,
	const struct mail_coming *how, struct mail_judged *ret)
{
	const struct mailbox_policy *policy = mailbox_policy();
	struct asking q = { .a = a,
		.resolver = *policy->resolver ? policy->resolver : NULL,
		.domain = m->from ? m->from->address.domain : "" };
	struct authres server = authres_read(
		m->headers, m->header_count, how->by_lmtp ? policy->authserv_id : NULL);
	int64_t now_s = how->at / SECOND_US;
	const char *fault, *open = NULL;
	struct mail_address to = { 0 };
	struct dkim_check dkim;
	int err = 0;

	*ret = (struct mail_judged){ .verdict = MAIL_NONE };
	if (!m->from)
		return 0;
	dkim_check_begin(a, raw, len, now_s, &dkim);
	if (server.found &&
		server.dmarc == MAIL_FAIL) { /* whatever its signatures are: nobody is asked */
		ret->verdict = MAIL_FAIL;
	} else if (authres_vouches(&server, m->from->address.domain)) {
		open = doubt_vouched(&dkim, m, now_s);
		ret->verdict = open ? MAIL_NONE : MAIL_PASS;
	} else {
		check_signatures(&q, &dkim, m->from->address.domain);
		open = doubt_signatures(&dkim, m, now_s);
		err = judge(&q, m, &server, &dkim, &ret->verdict);
		end_asking(&q);
		/* One that has gone silent is put off like those behind it. */
		ret->turn = q.silent ? MAIL_DNS_SILENT : q.turn;
	}
	if (ret->verdict != MAIL_PASS) {
		ret->doubt = err ? NULL : open;
		return err;
	}
	/* One that cannot be read is "", which nobody names. */
	mail_address_parse(how->recipient, strlen(how->recipient), &to, &fault);
	ret->doubt = replay_doubt(m, &to, now_s);
	ret->verdict = ret->doubt ? MAIL_NONE : MAIL_PASS;
	ret->open_references = !ret->doubt && !holds_thread(&dkim, m, &server);
	ret->open_address = !ret->doubt && !replay_is_to(m, &to);
	return 0;
}
