/* token.c - see token.h. */
#include "mail/token.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/crypto.h"

enum { DIGITS = 10 };

/* The HMAC over what it is for, where, and the id; parts are parted by a byte that is in none of them. */
static void sign(const uint8_t *key, const char *purpose, const char *place, const char *id,
	char ret[DIGITS + 1])
{
	char text[32 + MAIL_ADDRESS_MAX + ID_LEN + 4];
	uint8_t hmac[SHA256_LEN];
	char hex[2 * SHA256_LEN + 1];
	int n = snprintf(text, sizeof text, "%s\n%s\n%s", purpose, place, id);

	hmac_sha256(key, MAIL_KEY_LEN, text, (size_t)n, hmac);
	hex_write(hmac, sizeof hmac, hex);
	memcpy(ret, hex, DIGITS);
	ret[DIGITS] = '\0';
}

/* "<id>.<digits>"; relays may have changed the case of letters. */
static bool read_token(const uint8_t *key, const char *purpose, const char *place,
	struct slice token, struct id *ret)
{
	char text[MAIL_TOKEN_LEN + 1], want[DIGITS + 1];

	*ret = (struct id){ 0 };
	if (!token.at || token.len != MAIL_TOKEN_LEN)
		return false;
	for (size_t i = 0; i < MAIL_TOKEN_LEN; i++)
		text[i] = (char)(token.at[i] >= 'A' && token.at[i] <= 'Z' ? token.at[i] | 0x20
									  : token.at[i]);
	if (text[ID_LEN] != '.' || !id_valid(text, ID_LEN))
		return false;
	text[ID_LEN] = text[MAIL_TOKEN_LEN] = '\0';
	sign(key, purpose, place, text, want);
	if (!same_bytes(want, DIGITS, text + ID_LEN + 1, DIGITS))
		return false;
	memcpy(ret->text, text, ID_LEN + 1);
	return true;
}

/* The address without its plus part, letters small. */
static void write_place(const struct mail_address *m, char ret[MAIL_ADDRESS_MAX + 1])
{
	struct slice base, plus;
	size_t n = 0;

	mail_address_plus(m, &base, &plus);
	for (size_t i = 0; i < base.len; i++)
		ret[n++] = base.at[i];
	ret[n++] = '@';
	for (const char *p = m->domain; *p && n < MAIL_ADDRESS_MAX; p++)
		ret[n++] = *p;
	ret[n] = '\0';
	for (; *ret; ret++)
		if (*ret >= 'A' && *ret <= 'Z')
			*ret = (char)(*ret | 0x20);
}

bool mail_verp_make(const uint8_t key[MAIL_KEY_LEN], const char *send_id, const char *domain,
	struct mail_address *ret)
{
	char text[MAIL_TOKEN_LEN + 4 + MAIL_DOMAIN_MAX], digits[DIGITS + 1];
	const char *fault;
	int n;

	*ret = (struct mail_address){ 0 };
	if (!id_valid(send_id, strlen(send_id)) || !mail_domain_valid(domain, strlen(domain)))
		return false;
	sign(key, "bounce", "", send_id, digits);
	n = snprintf(text, sizeof text, "b+%s.%s@%s", send_id, digits, domain);
	return n > 0 && (size_t)n < sizeof text && mail_address_parse(text, (size_t)n, ret, &fault);
}

bool mail_verp_read(const uint8_t key[MAIL_KEY_LEN], const struct mail_address *to,
	const char *domain, struct id *ret_send)
{
	struct slice base, plus;

	mail_address_plus(to, &base, &plus);
	*ret_send = (struct id){ 0 };
	return base.len == 1 && (*base.at == 'b' || *base.at == 'B') &&
	       strcasecmp(to->domain, domain) == 0 && read_token(key, "bounce", "", plus, ret_send);
}

bool mail_thread_make(const uint8_t key[MAIL_KEY_LEN], const struct mail_address *mailbox,
	const char *thread_id, struct mail_address *ret)
{
	char place[MAIL_ADDRESS_MAX + 1], digits[DIGITS + 1], plus[MAIL_TOKEN_LEN + 1];

	*ret = (struct mail_address){ 0 };
	if (!id_valid(thread_id, strlen(thread_id)))
		return false;
	write_place(mailbox, place);
	sign(key, "thread", place, thread_id, digits);
	snprintf(plus, sizeof plus, "%s.%s", thread_id, digits);
	return mail_address_add_plus(mailbox, plus, ret);
}

bool mail_thread_read(
	const uint8_t key[MAIL_KEY_LEN], const struct mail_address *to, struct id *ret_thread)
{
	char place[MAIL_ADDRESS_MAX + 1];
	struct slice base, plus;

	mail_address_plus(to, &base, &plus);
	write_place(to, place);
	return read_token(key, "thread", place, plus, ret_thread);
}
