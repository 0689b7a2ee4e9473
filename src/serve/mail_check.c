/* mail_check.c - `lodge mail check`: whether mail can go out, will be believed and can be answered, and what mends it.
 *
 * It goes to the relay as the service would, up to the sender of a message, to
 * the place where the service takes mail as a mail server would, and asks the DNS for what should be published of every domain
 * that mail goes out from: mail_domain, those of tenants that have a key of
 * their own, and that of mail_from.  Each thing is a line; one that is wrong
 * says what to do. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fold.h"
#include "mail/dmarc.h"
#include "mail/spf.h"
#include "mailboxes/mail_dkim.h"
#include "mailboxes/mail_domains.h"
#include "mailboxes/mailbox.h"
#include "outside/address.h"
#include "outside/dns.h"
#include "outside/fetch.h"
#include "serve/mail_keys.h"
#include "serve/mail_place.h"
#include "serve/manual.h"
#include "serve/open.h"
#include "serve/relay.h"

enum { GREETING_S = 10 };

struct mail_checking {
	const struct settings *s;
	struct mail_errand *e;
	struct arena *a;
	int wrong;
};

static void __attribute__((format(printf, 3, 4)))
tell(struct mail_checking *c, bool well, const char *fmt, ...)
{
	va_list args;

	c->wrong += !well;
	printf("%s  ", well ? "ok   " : "WRONG");
	va_start(args, fmt);
	print_plain(stdout, arena_vprintf(c->a, fmt, args));
	va_end(args);
	printf("\n");
}

/* As a mail server would, up to its greeting. */
static void check_place(struct mail_checking *c, const char *setting, const char *places)
{
	while (*places) {
		size_t n = strcspn(places, ",");
		const char *place = arena_printf(c->a, "%.*s", (int)n, places);
		const char *fault = mail_place_greets(place, GREETING_S, c->a);

		if (fault)
			tell(c, false, "nobody takes mail at %s, %s (%s); does the service run?",
				setting, place, fault);
		else
			tell(c, true, "mail is taken at %s, %s", setting, place);
		places += n;
		places += strspn(places, ", ");
	}
}

static void check_settings(struct mail_checking *c)
{
	const struct settings *s = c->s;

	if (*s->mail_domain)
		tell(c, true, "mail_domain: agents write from TENANT.%s", s->mail_domain);
	else
		tell(c, false,
			"mail_domain is not set: no agent has an external mailbox; name a domain that is yours");
	if (*s->lmtp_listen || *s->smtp_listen) {
		check_place(c, "lmtp_listen", s->lmtp_listen);
		check_place(c, "smtp_listen", s->smtp_listen);
	} else {
		tell(c, false,
			"neither lmtp_listen nor smtp_listen is set: answers and bounces come by lodge mail intake alone, if at all");
	}
}

/* Nothing here can see whether that server removes what comes in. */
static void check_front(struct mail_checking *c)
{
	const struct settings *s = c->s;

	if (!*s->mail_authserv_id)
		tell(c, true,
			"nobody's word about a sender is believed: signatures are looked at here");
	else if (!*s->lmtp_listen)
		tell(c, false,
			"mail_authserv_id is %s, but nothing comes by LMTP, and nobody else is believed; set lmtp_listen, or leave it "
			"out",
			s->mail_authserv_id);
	else
		tell(c, true,
			"whatever comes by LMTP with Authentication-Results of %s is believed: see that this server removes those that "
			"come in",
			s->mail_authserv_id);
}

/* Letters to people have links. */
static void check_links(struct mail_checking *c)
{
	const char *host = strstr(c->s->public_url, "://"), *end;
	const char *name;

	if (!*c->s->smtp_relay || !host)
		return;
	host += 3;
	end = *host == '[' ? strchr(host, ']') : NULL;
	name = arena_printf(
		c->a, "%.*s", (int)(end ? end + 1 - host : (long)strcspn(host, ":/")), host);
	if (address_kind_of_host(name) == ADDRESS_LOOPBACK || strcmp(name, "localhost") == 0)
		tell(c, false,
			"public_url is %s: the links in letters lead to the reader's own machine; set it to where people reach the "
			"service",
			c->s->public_url);
	else
		tell(c, true, "links in letters begin with %s", c->s->public_url);
}

static void check_relay(struct mail_checking *c)
{
	struct problem p = { 0 };
	struct smtp_relay relay;
	struct smtp_said said;

	if (relay_of(&relay, c->s, c->a, &p)) {
		tell(c, false, "%s", p.detail);
		return;
	}
	if (!relay.url) {
		tell(c, false,
			"smtp_relay is not set: nothing is sent to the outside; name the server that takes your mail, such as "
			"smtp://HOST:587");
		return;
	}
	smtp_try(&relay,
		*c->s->mail_domain ? arena_printf(c->a, "lodge-mail-check@%s", c->s->mail_domain)
				   : c->s->mail_from,
		c->a, &said);
	if (said.outcome == SMTP_SENT)
		tell(c, true, "the relay %s takes us%s%s", relay.url, relay.user ? " as " : "",
			relay.user ? relay.user : "");
	else
		tell(c, false,
			"the relay %s: %s; see smtp_relay, smtp_relay_user and smtp_relay_ca",
			relay.url, said.text);
}

/* The texts of a name; false, said, if they cannot be had. */
static bool texts_of(struct mail_checking *c, const char *name, struct dns_texts *ret)
{
	const char *server = *c->s->mail_resolver ? c->s->mail_resolver : NULL;

	*ret = (struct dns_texts){ 0 };
	if (!dns_texts(server, name, c->a, ret))
		return true;
	tell(c, false, "%s: the DNS does not answer; see mail_resolver", name);
	return false;
}

static void check_key(struct mail_checking *c, const struct mail_dkim *key)
{
	const char *name = mail_dkim_name(c->a, key), *record = mail_dkim_record(c->a, key);
	struct dns_texts texts;

	if (!record || !texts_of(c, name, &texts))
		return;
	for (size_t i = 0; i < texts.count; i++)
		if (mail_dkim_same(texts.at[i], record)) {
			tell(c, true, "%s has the key that mail is signed with", name);
			return;
		}
	tell(c, false, "%s %s; lodge mail dkim %s prints what to publish", name,
		texts.count ? "has another key than mail is signed with" : "is not in the DNS",
		key->domain);
}

/* What mail from this domain is signed with. */
static int read_key(struct mail_errand *e, void *ctx)
{
	struct mail_dkim *key = ctx;

	return mail_dkim_for(e->db, e->a, e->vault, key->domain, key);
}

static void check_dkim(struct mail_checking *c, const char *domain)
{
	struct mail_dkim key = { .domain = domain };
	int err = mail_errand_run(c->e, read_key, &key);

	if (!err)
		check_key(c, &key);
	else if (err == ERR_NOT_FOUND)
		tell(c, false, "%s has no key to sign with; lodge mail dkim %s makes one", domain,
			domain);
	else
		tell(c, false,
			"%s; lodge mail dkim %s --remove takes it away, and without --remove it makes another",
			c->e->problem.detail, domain);
}

static void check_spf(struct mail_checking *c, const char *name, const char *shown)
{
	const char *record = NULL, *fault;
	struct dns_texts texts;
	size_t found = 0;

	if (!texts_of(c, name, &texts))
		return;
	for (size_t i = 0; i < texts.count; i++)
		if (spf_is_record(texts.at[i])) {
			record = texts.at[i];
			found++;
		}
	fault = found == 1 ? spf_fault(c->a, record) : NULL;
	if (fault)
		tell(c, false, "the record of SPF of %s %s; publish one that names your relay",
			shown, fault);
	else if (found == 1)
		tell(c, true, "%s says who may send for it (SPF)", shown);
	else
		tell(c, false, "%s has %s record of SPF; publish one that names your relay", shown,
			found ? "more than one" : "no");
}

static void check_mx(struct mail_checking *c, const char *name, const char *shown)
{
	const char *server = *c->s->mail_resolver ? c->s->mail_resolver : NULL;
	struct dns_texts names = { 0 };

	if (dns_mail_servers(server, name, c->a, &names))
		tell(c, false, "%s: the DNS does not answer; see mail_resolver", shown);
	else if (!names.count)
		tell(c, false,
			"%s has no record MX: answers and bounces find no way; publish one that names the server that takes "
			"them",
			shown);
	else if (!strchr(names.at[0], '.') || strcmp(names.at[0], ".") == 0)
		tell(c, false,
			"the record MX of %s names \"%s\", where there is nobody; name the server that takes answers and "
			"bounces",
			shown, names.at[0]);
	else
		tell(c, true, "mail for %s goes to %s (MX)", shown, names.at[0]);
}

/* The one record among these texts: true if there is just one; more are as good as none to others. */
static bool one_record(const struct dns_texts *texts, struct dmarc_record *ret, size_t *ret_count)
{
	struct dmarc_record record;

	*ret_count = 0;
	for (size_t i = 0; i < texts->count; i++)
		if (dmarc_parse(texts->at[i], strlen(texts->at[i]), &record)) {
			*ret = record;
			++*ret_count;
		}
	return *ret_count == 1;
}

/* As others ask for mail from this domain: at the domain itself, then at its organisation's.  Where tenants are signed for by
 * the domain above them, exact domains would not do. */
static void check_dmarc(
	struct mail_checking *c, const char *domain, const char *shown, bool for_tenants)
{
	const char *names[2];
	size_t count = dmarc_names(c->a, domain, names), found;
	struct dmarc_record record;
	struct dns_texts texts;

	for (size_t k = 0; k < count; k++) {
		const char *where =
			k || !for_tenants ? names[k] : arena_printf(c->a, "_dmarc.%s", shown);

		if (!texts_of(c, names[k], &texts))
			return;
		if (one_record(&texts, &record, &found)) {
			bool strict = record.strict_dkim && for_tenants;

			tell(c, !strict,
				strict ? "%s wants exact domains (adkim=s), but mail from %s is signed by the domain above; say adkim=r"
				       : "%s says what others do with mail from %s that proves nothing (DMARC)",
				where, shown);
			return;
		}
		if (found) {
			tell(c, false, "%s has %zu records of DMARC, of which others take none",
				where, found);
			return;
		}
	}
	tell(c, false,
		"mail from %s has no record of DMARC, neither at itself nor at %s; lodge mail dkim prints one",
		shown, names[count - 1]);
}

static void check_domain(struct mail_checking *c, const char *domain)
{
	bool house = strcmp(domain, c->s->mail_domain) == 0;

	check_dkim(c, domain);
	check_spf(c, domain, domain);
	check_mx(c, domain, domain);
	if (house) { /* any name stands for those of tenants */
		const char *any = arena_printf(c->a, "lodge-mail-check.%s", domain),
			   *shown = arena_printf(c->a, "*.%s", domain);

		check_spf(c, any, shown);
		check_mx(c, any, shown);
		check_dmarc(c, any, shown, true);
	}
	check_dmarc(c, domain, domain, false);
}

static int read_domains(struct mail_errand *e, void *ctx)
{
	return mail_domains_signing(e->db, e->a, ctx);
}

/* Those that mail goes out from, each once. */
static void check_domains(struct mail_checking *c)
{
	const char *house = c->s->mail_domain, *at = strrchr(c->s->mail_from, '@');
	const char *from = at ? fold_ascii(c->a, at + 1) : "";
	const struct one_text *row;
	struct list own = { 0 };

	if (mail_errand_run(c->e, read_domains, &own))
		tell(c, false, "%s", c->e->problem.detail);
	if (*house)
		check_domain(c, house);
	if (*from && strcmp(from, house) != 0)
		check_domain(c, from);
	row = own.at;
	for (size_t i = 0; i < own.count && i < MAIL_DOMAINS_MAX; i++) {
		const char *domain = row[i].value;

		if (strcmp(domain, house) == 0 || strcmp(domain, from) == 0)
			continue;
		if (mail_domain_is_ours(domain))
			check_domain(c, domain);
		else
			tell(c, true, "%s has a key, but no mail goes out from there", domain);
	}
	if (own.count > MAIL_DOMAINS_MAX)
		tell(c, false, "more than %d domains have a key; the others were not looked at",
			MAIL_DOMAINS_MAX);
}

static int read_left(struct mail_errand *e, void *ctx)
{
	return mail_domain_left(e->db, e->a, ctx);
}

static int read_reserved(struct mail_errand *e, void *ctx)
{
	return mail_domain_reserved(e->db, e->a, ctx);
}

static void check_addresses(struct mail_checking *c)
{
	int (*const reads[])(struct mail_errand *, void *) = { read_left, read_reserved };

	for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
		const char *sentence = NULL;

		if (mail_errand_run(c->e, reads[i], (void *)&sentence))
			tell(c, false, "%s", c->e->problem.detail);
		else if (sentence)
			tell(c, false, "%s", sentence);
	}
}

int command_mail_check(const struct settings *s, struct arena *a)
{
	struct mail_errand e;
	struct mail_checking c = { .s = s, .e = &e, .a = a };
	int err = mail_errand_open(&e, s, a);

	if (err) {
		mail_errand_close(&e);
		return complain(&e.problem);
	}
	settings_open_places(s);
	fetch_init();
	check_settings(&c);
	check_front(&c);
	check_addresses(&c);
	check_relay(&c);
	check_links(&c);
	check_domains(&c);
	mail_errand_close(&e);
	return c.wrong ? 1 : 0;
}
