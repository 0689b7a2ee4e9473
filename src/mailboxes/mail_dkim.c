/* mail_dkim.c - see mail_dkim.h.  A key is kept as its selector, a line end, and the private key in PEM. */
#include "mailboxes/mail_dkim.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "mailboxes/mailbox.h"

enum { KEY_BITS = 2048, SELECTOR_MAX = 40 };

enum { FORGET };

static const struct statement sql[] = {
	[FORGET] = { "mail_dkim_forget", "delete from mail_secrets where name = $1" },
};
STATEMENT_SET(mail_dkim_sql, sql);

static const char *name_of(struct arena *a, const char *domain, bool next)
{
	return arena_printf(a, "%s:%s", next ? "dkim-next" : "dkim", domain);
}

int mail_dkim_read(struct db *db, struct arena *a, struct vault *vault, const char *domain,
	bool next, struct mail_dkim *ret)
{
	const char *text = NULL, *end;
	size_t len = 0;
	int err = mail_secret_read(db, a, vault, name_of(a, domain, next), &text, &len);

	if (err)
		return err;
	end = strchr(text, '\n');
	if (!end || end == text || end - text > SELECTOR_MAX)
		return ERR_SECRET;
	*ret = (struct mail_dkim){ .domain = arena_strdup(a, domain),
		.selector = arena_printf(a, "%.*s", (int)(end - text), text),
		.pem = end + 1 };
	return 0;
}

int mail_dkim_write(struct db *db, struct arena *a, struct vault *vault,
	const struct mail_dkim *key, bool next, int64_t now)
{
	const char *text = arena_printf(a, "%s\n%s", key->selector, key->pem);

	return mail_secret_write(
		db, a, vault, name_of(a, key->domain, next), text, strlen(text), now);
}

int mail_dkim_turn(
	struct db *db, struct arena *a, struct vault *vault, const char *domain, int64_t now)
{
	struct mail_dkim key;
	int err = mail_dkim_read(db, a, vault, domain, true, &key);

	if (!err)
		err = mail_dkim_write(db, a, vault, &key, false, now);
	return err ? err : db_run(db, &sql[FORGET], NULL, ARGS(T(name_of(a, domain, true))));
}

int mail_dkim_forget(struct db *db, struct arena *a, const char *domain)
{
	int64_t used = 0, next = 0;
	int err = db_run(db, &sql[FORGET], &used, ARGS(T(name_of(a, domain, false))));

	if (!err)
		err = db_run(db, &sql[FORGET], &next, ARGS(T(name_of(a, domain, true))));
	return err || used || next ? err : ERR_NOT_FOUND;
}

/* Is it this domain, or one under it? */
static bool lies_in(const char *domain, const char *above)
{
	size_t len = strlen(domain), n = strlen(above);

	return n && len >= n && strcmp(domain + len - n, above) == 0 &&
	       (len == n || domain[len - n - 1] == '.');
}

int mail_dkim_for(struct db *db, struct arena *a, struct vault *vault, const char *from_domain,
	struct mail_dkim *ret)
{
	const char *house = mailbox_policy()->domain, *dot = from_domain;
	int err = mail_dkim_read(db, a, vault, from_domain, false, ret);

	while (err == ERR_NOT_FOUND && (dot = strchr(dot, '.')) && lies_in(++dot, house))
		err = mail_dkim_read(db, a, vault, dot, false, ret);
	return err;
}

/* ---- without a store ---- */

int mail_dkim_make(
	struct arena *a, const char *domain, const char *taken, int64_t now, struct mail_dkim *ret)
{
	EVP_PKEY *pkey = EVP_RSA_gen(KEY_BITS);
	BIO *bio = BIO_new(BIO_s_mem());
	time_t day = (time_t)(now / SECOND_US);
	struct tm at;
	char *pem = NULL, selector[SELECTOR_MAX + 1];
	long len = 0;
	size_t n;

	gmtime_r(&day, &at);
	n = strftime(selector, sizeof selector - 1, "lodge%Y%m%d%H%M%S", &at);
	if (taken && strncmp(taken, selector, n) == 0) { /* another one in the same second */
		selector[n] = taken[n] >= 'b' && taken[n] < 'z' ? (char)(taken[n] + 1) : 'b';
		selector[n + 1] = '\0';
	}
	if (pkey && bio && PEM_write_bio_PrivateKey(bio, pkey, NULL, NULL, 0, NULL, NULL) == 1)
		len = BIO_get_mem_data(bio, &pem);
	*ret = (struct mail_dkim){ .domain = arena_strdup(a, domain),
		.selector = arena_strdup(a, selector),
		.pem = arena_printf(a, "%.*s", (int)len, pem ? pem : "") };
	BIO_free(bio);
	EVP_PKEY_free(pkey);
	return len > 0 ? 0 : ERR_INTERNAL;
}

const char *mail_dkim_record(struct arena *a, const struct mail_dkim *key)
{
	const char *fault, *record = NULL;
	struct dkim_key *k = dkim_key_read(key->pem, strlen(key->pem), &fault);

	if (k)
		record = dkim_key_record(a, k);
	dkim_key_free(k);
	return record;
}

const char *mail_dkim_name(struct arena *a, const struct mail_dkim *key)
{
	return arena_printf(a, "%s._domainkey.%s", key->selector, key->domain);
}

const char *mail_dkim_sign(
	struct arena *a, const struct mail_dkim *key, const char *message, size_t len, int64_t now)
{
	const char *fault, *header = NULL;
	struct dkim_key *k = dkim_key_read(key->pem, strlen(key->pem), &fault);

	if (k)
		header = dkim_sign(a, k, key->domain, key->selector, now / SECOND_US, message, len);
	dkim_key_free(k);
	return header;
}

/* The value of p=, which begins the text or stands after a semicolon. */
static const char *key_in(const char *text)
{
	for (const char *at = text; at; at = strchr(at, ';')) {
		at += *at == ';';
		at += strspn(at, " \t");
		if (strncmp(at, "p", 1) == 0 && at[1 + strspn(at + 1, " \t")] == '=')
			return at + 1 + strspn(at + 1, " \t") + 1;
	}
	return NULL;
}

bool mail_dkim_same(const char *text, const char *record)
{
	const char *one = key_in(text), *other = key_in(record);

	while (one && other) {
		one += strspn(one, " \t");
		other += strspn(other, " \t");
		if (!*one || *one == ';' || !*other || *other == ';')
			return (!*one || *one == ';') && (!*other || *other == ';');
		if (*one++ != *other++)
			return false;
	}
	return false;
}
