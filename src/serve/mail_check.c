/* mail_check.c - `lodge mail check`: whether mail can go out and will be believed, and what mends it.
 *
 * It goes to the relay as the service would, up to the point where a message
 * would follow, and asks the DNS for what should be published.  Each thing is a
 * line; one that is wrong says what to do. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mail/dmarc.h"
#include "mailboxes/mail_dkim.h"
#include "mailboxes/mailbox.h"
#include "outside/dns.h"
#include "outside/fetch.h"
#include "serve/mail_keys.h"
#include "serve/manual.h"
#include "serve/open.h"
#include "serve/relay.h"

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

static void check_settings(struct mail_checking *c)
{
	const struct settings *s = c->s;

	if (*s->mail_domain)
		tell(c, true, "mail_domain: agents write from TENANT.%s", s->mail_domain);
	else
		tell(c, false,
			"mail_domain is not set: no agent has an external mailbox; name a domain that is yours");
	if (*s->lmtp_listen || *s->smtp_listen)
		tell(c, true, "mail is received at %s",
			*s->lmtp_listen ? s->lmtp_listen : s->smtp_listen);
	else
		tell(c, false,
			"neither lmtp_listen nor smtp_listen is set: answers and bounces come by lodge mail intake alone, if at all");
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
	smtp_try(&relay, c->a, &said);
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

static int read_key(struct mail_errand *e, void *ctx)
{
	struct mail_dkim *key = ctx;

	return mail_dkim_read(e->db, e->a, e->vault, key->domain, false, key);
}

static void check_dkim(struct mail_checking *c)
{
	struct mail_dkim key = { .domain = c->s->mail_domain };
	int err = mail_errand_run(c->e, read_key, &key);

	if (!err)
		check_key(c, &key);
	else if (err == ERR_NOT_FOUND)
		tell(c, false, "%s has no key to sign with; lodge mail dkim %s makes one",
			c->s->mail_domain, c->s->mail_domain);
	else
		tell(c, false, "%s; lodge mail dkim makes another", c->e->problem.detail);
}

static void check_spf(struct mail_checking *c, const char *name, const char *shown)
{
	struct dns_texts texts;
	size_t found = 0;

	if (!texts_of(c, name, &texts))
		return;
	for (size_t i = 0; i < texts.count; i++)
		found += strncmp(texts.at[i], "v=spf1", 6) == 0;
	if (found == 1)
		tell(c, true, "%s says who may send for it (SPF)", shown);
	else
		tell(c, false, "%s has %s record of SPF; publish one that names your relay", shown,
			found ? "more than one" : "no");
}

static void check_dmarc(struct mail_checking *c)
{
	const char *names[2];
	size_t count = dmarc_names(c->a, c->s->mail_domain, names);
	struct dmarc_record record;
	struct dns_texts texts;

	for (size_t k = 0; k < count; k++) {
		if (!texts_of(c, names[k], &texts))
			return;
		for (size_t i = 0; i < texts.count; i++)
			if (dmarc_parse(texts.at[i], strlen(texts.at[i]), &record)) {
				tell(c, !record.strict_dkim,
					record.strict_dkim
						? "%s wants exact domains (adkim=s), but tenants' mail is signed by the domain above; say adkim=r"
						: "%s says what others do with mail that proves nothing (DMARC)",
					names[k]);
				return;
			}
	}
	tell(c, false, "%s has no record of DMARC; lodge mail dkim %s prints one",
		c->s->mail_domain, c->s->mail_domain);
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
	check_relay(&c);
	if (*s->mail_domain) {
		check_dkim(&c);
		check_spf(&c, s->mail_domain, s->mail_domain);
		/* Any name stands for those of tenants. */
		check_spf(&c, arena_printf(a, "lodge-mail-check.%s", s->mail_domain),
			arena_printf(a, "*.%s", s->mail_domain));
		check_dmarc(&c);
	}
	mail_errand_close(&e);
	return c.wrong ? 1 : 0;
}
