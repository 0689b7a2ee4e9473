/* mail_commands.c - `lodge mail dkim`: the key that a domain signs its mail with, and the records to publish.
 *
 * A domain whose mail nothing signs is given a key that is used at once: until its
 * record is published its mail is as good as unsigned.  One whose mail is signed,
 * by its own key or by that of a domain above, changes in two steps, because
 * whoever checks a signature must find its key: the next key is made, with
 * --rotate where it has one of its own, and once its record is in the DNS
 * --rotate has it used.  --remove takes the domain's keys away. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fold.h"
#include "mailboxes/mail_dkim.h"
#include "mailboxes/mail_domains.h"
#include "mailboxes/mailbox.h"
#include "outside/dns.h"
#include "serve/mail_keys.h"
#include "serve/manual.h"
#include "serve/open.h"

#define SPF_HINT "v=spf1 include:YOUR-RELAY -all"
#define DMARC_HINT "v=DMARC1; p=quarantine; adkim=r; aspf=r"

enum { STRING_MAX = 255 }; /* of a text in the DNS, which has as many as it needs */

struct dkim_errand {
	const struct settings *s;
	const char *domain;
	bool rotate, remove;
	struct mail_dkim key, next; /* the one in use may be of a domain above */
	bool has_key, has_next, made, turned;
	bool own; /* the one in use is its own */
};

static int find_keys(struct mail_errand *e, void *ctx)
{
	struct dkim_errand *d = ctx;
	int err = mail_dkim_for(e->db, e->a, e->vault, d->domain, &d->key);

	d->has_key = !err;
	d->own = !err && strcmp(d->key.domain, d->domain) == 0;
	if (err && err != ERR_NOT_FOUND)
		return err;
	err = mail_dkim_read(e->db, e->a, e->vault, d->domain, true, &d->next);
	d->has_next = !err;
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* A key is of use where mail goes out from: the domains of tenants, the one above them, and that of mail_from. */
static int check_domain(struct mail_errand *e, const struct dkim_errand *d)
{
	const char *at = strrchr(d->s->mail_from, '@');
	int err = mail_domain_known(e->db, e->a, d->domain);

	if (err == ERR_NOT_FOUND)
		return problem_set(&e->problem, e->a, err,
			"there is no tenant \"%.100s\", from whose domain mail could go out",
			mail_tenant_label(e->a, d->domain));
	if (err != ERR_INVALID || (at && strcmp(fold_ascii(e->a, at + 1), d->domain) == 0))
		return err == ERR_INVALID ? 0 : err;
	return problem_set(&e->problem, e->a, ERR_USAGE,
		"no mail goes out from \"%.200s\": it is neither mail_domain (%s), nor a tenant's name under it, nor the domain of "
		"mail_from",
		d->domain, *d->s->mail_domain ? d->s->mail_domain : "not set");
}

/* Another command may have been first. */
static int make_key(struct mail_errand *e, void *ctx)
{
	struct dkim_errand *d = ctx;
	struct mail_dkim fresh;
	int err = check_domain(e, d);

	if (!err)
		err = find_keys(e, ctx);
	d->made = !err && !d->has_next && (d->rotate || !d->own);
	if (err || !d->made)
		return err;
	err = mail_dkim_make(
		e->a, d->domain, d->has_key ? d->key.selector : NULL, clock_now_us(), &fresh);
	if (!err)
		err = mail_dkim_write(e->db, e->a, e->vault, &fresh, d->has_key, clock_now_us());
	if (d->has_key)
		d->next = fresh;
	else
		d->key = fresh;
	d->has_next = d->has_key;
	d->own |= !d->has_key;
	d->has_key = true;
	return err;
}

/* Of a domain that was somebody's once, too. */
static int remove_keys(struct mail_errand *e, void *ctx)
{
	struct dkim_errand *d = ctx;
	int err = mail_dkim_forget(e->db, e->a, d->domain);

	if (err == ERR_NOT_FOUND)
		return problem_set(
			&e->problem, e->a, err, "%.200s has no key of its own", d->domain);
	if (!err)
		err = mail_dkim_for(e->db, e->a, e->vault, d->domain, &d->key);
	d->has_key = !err;
	return err == ERR_NOT_FOUND || err == ERR_SECRET ? 0 : err;
}

static int turn_key(struct mail_errand *e, void *ctx)
{
	struct dkim_errand *d = ctx;

	return mail_dkim_turn(e->db, e->a, e->vault, d->domain, clock_now_us());
}

/* ---- what is printed ---- */

static void print_text(const char *name, const char *text)
{
	printf("%s. IN TXT", name);
	for (size_t len = strlen(text), at = 0; at < len; at += STRING_MAX)
		printf(" \"%.*s\"", STRING_MAX, text + at);
	printf("\n");
}

static void print_key(const char *what, const struct mail_dkim *key, struct arena *a)
{
	const char *record = mail_dkim_record(a, key);

	printf("; %s\n", what);
	print_text(mail_dkim_name(a, key), record ? record : "");
}

static void print_records(const struct dkim_errand *d, const struct settings *s, struct arena *a)
{
	bool house = strcmp(d->domain, s->mail_domain) == 0;

	if (d->has_key)
		print_key(!d->own	? "the key in use, of the domain above"
			  : d->has_next ? "the key in use"
					: "the key that mail is signed with",
			&d->key, a);
	if (d->has_next)
		print_key(
			"the next key: publish it, then run this again with --rotate", &d->next, a);
	printf("; who may send for the domain%s: name what your relay sends from\n",
		house ? " and for those of the tenants, to which bounces come back" : "");
	print_text(d->domain, SPF_HINT);
	if (house)
		print_text(arena_printf(a, "*.%s", d->domain), SPF_HINT);
	printf("; what others do with mail that proves nothing\n");
	print_text(arena_printf(a, "_dmarc.%s", d->domain), DMARC_HINT);
	if (house) { /* others ask at _dmarc.TENANT.DOMAIN, where the wildcard answers; of its texts they take the one of DMARC */
		printf("; and with mail of the tenants: beside the other text of the same name\n");
		print_text(arena_printf(a, "*.%s", d->domain), DMARC_HINT);
	}
	printf("; where answers and bounces come to: your mail server%s\n%s. IN MX 10 YOUR-MAIL-SERVER.\n",
		house ? ", for the domain and for those of the tenants under it" : "", d->domain);
	if (house)
		printf("*.%s. IN MX 10 YOUR-MAIL-SERVER.\n"
		       "; tenants need no keys of their own: TENANT.%s is signed as %s\n",
			d->domain, d->domain, d->domain);
}

/* ---- the command ---- */

static bool is_published(const struct settings *s, const struct mail_dkim *key, struct arena *a)
{
	const char *record = mail_dkim_record(a, key);
	struct dns_texts texts = { 0 };

	if (dns_texts(
		    *s->mail_resolver ? s->mail_resolver : NULL, mail_dkim_name(a, key), a, &texts))
		return false;
	for (size_t i = 0; i < texts.count; i++)
		if (record && mail_dkim_same(texts.at[i], record))
			return true;
	return false;
}

static int rotate_keys(struct mail_errand *e, struct dkim_errand *d, const struct settings *s)
{
	int err;

	if (!d->rotate || !d->has_next || d->made)
		return 0;
	if (!is_published(s, &d->next, e->a))
		return problem_set(&e->problem, e->a, ERR_CONFLICT,
			"the record of the next key is not in the DNS yet, at %s: it is used when it is there",
			mail_dkim_name(e->a, &d->next));
	err = mail_errand_run(e, turn_key, d);
	if (!err) {
		d->key = d->next;
		d->has_next = false;
		d->own = d->turned = true;
	}
	return err;
}

static void read_arguments(struct dkim_errand *d, struct arena *a)
{
	for (size_t i = 0; i < d->s->argument_count; i++) {
		const char *word = d->s->arguments[i];

		d->rotate |= strcmp(word, "--rotate") == 0;
		d->remove |= strcmp(word, "--remove") == 0;
		if (*word != '-')
			d->domain = fold_ascii(a, word);
	}
}

static int check_order(const struct dkim_errand *d, struct arena *a, struct problem *p)
{
	if (!*d->domain || !mailbox_domain_valid(d->domain) ||
		strlen(d->domain) > MAILBOX_DOMAIN_MAX)
		return problem_set(p, a, ERR_USAGE, "\"%.100s\" is no domain", d->domain);
	if (d->rotate && d->remove)
		return problem_set(p, a, ERR_USAGE, "give --rotate or --remove, not both");
	return 0;
}

static void tell_removed(const struct dkim_errand *d)
{
	if (d->has_key)
		fprintf(stderr,
			"%s has no key of its own any more: its mail is signed as %s. Leave the record for a week.\n",
			d->domain, d->key.domain);
	else
		fprintf(stderr, "%s has no key any more: its mail goes out unsigned.\n", d->domain);
}

int command_mail_dkim(const struct settings *s, struct arena *a)
{
	struct dkim_errand d = { .s = s, .domain = "" };
	struct mail_errand e = { 0 };
	int err;

	read_arguments(&d, a);
	if (check_order(&d, a, &e.problem))
		return complain(&e.problem);
	err = mail_errand_open(&e, s, a);
	if (!err)
		err = mail_errand_run(&e, d.remove ? remove_keys : make_key, &d);
	if (!err && !d.remove)
		err = rotate_keys(&e, &d, s);
	mail_errand_close(&e);
	if (err)
		return complain(&e.problem);
	if (d.remove) {
		tell_removed(&d);
		return 0;
	}
	if (d.made)
		fprintf(stderr, "Made %s for %s.\n", d.has_next ? "the next key" : "a key",
			d.domain);
	if (d.turned)
		fprintf(stderr,
			"Mail from %s is signed with the next key now. Leave the record of the former one for a week.\n",
			d.domain);
	print_records(&d, s, a);
	return 0;
}
