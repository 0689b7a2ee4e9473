/* dkim.h - signatures of domains on messages (RFC 6376, RFC 8463): checked, and made.
 *
 * Only what proves something counts: rsa-sha256 with 1024 bits or more and
 * ed25519-sha256, over the whole body (a length, l=, is refused) and over
 * From.  Checking goes in two steps, because keys are in the DNS and nothing
 * here waits: the signatures with the names of their keys first, then each
 * with its key's record.  A message is given whole, with CR LF, as it came. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/crypto.h"
#include "base/slice.h"
#include "mail/address.h"
#include "mail/authres.h"

enum {
	DKIM_SIGNATURES_MAX = 8, /* that are looked at, from the top */
	DKIM_NAMES_MAX = 200,	 /* of headers in h= */
	DKIM_HEADERS_MAX = 1000, /* of the message */
	DKIM_RECORD_MAX = 4096,	 /* of a key in the DNS */
	DKIM_BITS_MIN = 1024,
	DKIM_BITS_MAX = 8192,
};

struct dkim_signature {
	const char *domain, *selector; /* d= and s=, letters small */
	const char *key_name; /* the name in the DNS; NULL: no key is needed, it is bad already */
	const char *fault;    /* a sentence, or NULL */
	enum mail_verdict verdict;
	/* Of the check. */
	struct slice field, b_value; /* the header itself; where its b= stands in it */
	struct slice bytes;	     /* b=, read */
	const char *names;	     /* h= */
	const char *identity_domain; /* of i= */
	int64_t signed_at_s;	     /* t=; -1: it does not say */
	bool ed25519, relaxed_head, relaxed_body;
	uint8_t body_hash[SHA256_LEN];
};

struct dkim_check {
	struct dkim_signature *at;
	size_t count;
	/* Of the message. */
	struct slice *fields; /* its headers, from the top, without the CR LF that ends each */
	size_t field_count;
	struct slice body;
};

/* Finds the signatures and holds them against the body; `now_s` for those that have ended. */
void dkim_check_begin(
	struct arena *a, const char *message, size_t len, int64_t now_s, struct dkim_check *ret);
/* The record that the DNS has under key_name; NULL: there is none. */
void dkim_check_key(struct arena *a, struct dkim_check *c, size_t which, const char *record);

/* How many headers of this name, in small letters, the message has; and whether the signature covers all of them. */
size_t dkim_fields_named(const struct dkim_check *c, const char *name);
bool dkim_covers(const struct dkim_check *c, size_t which, const char *name);
/* Whether it also covers that there is none, so that one that was taken away would be missed. */
bool dkim_holds(const struct dkim_check *c, size_t which, const char *name);

struct dkim_key;
/* A private key in PEM, RSA of 1024 bits or more or Ed25519; NULL with a sentence. */
struct dkim_key *dkim_key_read(const char *pem, size_t len, const char **ret_fault);
void dkim_key_free(struct dkim_key *k);
/* What is published under <selector>._domainkey.<domain>. */
const char *dkim_key_record(struct arena *a, const struct dkim_key *k);
/* "DKIM-Signature: …" CR LF, to be put before the message; NULL where the message has no From. */
const char *dkim_sign(struct arena *a, const struct dkim_key *k, const char *domain,
	const char *selector, int64_t now_s, const char *message, size_t len);
