/* ssh_key.c - see ssh_key.h, and RFC 4253, 5656 and 8709 for what the bytes are. */
#include "git/ssh_key.h"

#include <stdint.h>
#include <string.h>

#include "base/base64.h"
#include "base/crypto.h"
#include "base/slice.h"

enum {
	RSA_LEAST = 3072, /* bits */
	RSA_MOST = 16384,
	ED25519_LEN = 32,
	UNCOMPRESSED = 4, /* how the point of a curve begins */
};

#define NOT_A_KEY "is not a public key as OpenSSH writes it"

/* The curves, and the bytes of a point of each. */
static const struct {
	const char *kind, *curve;
	size_t point;
} curves[] = {
	{ "ecdsa-sha2-nistp256", "nistp256", 65 },
	{ "ecdsa-sha2-nistp384", "nistp384", 97 },
	{ "ecdsa-sha2-nistp521", "nistp521", 133 },
};

/* Takes a string with its length before it off. */
static bool take_string(struct slice *from, struct slice *ret)
{
	const unsigned char *at = (const unsigned char *)from->at;
	size_t len;

	if (from->len < 4)
		return false;
	len = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
	if (len > from->len - 4)
		return false;
	*ret = (struct slice){ from->at + 4, len };
	from->at += 4 + len;
	from->len -= 4 + len;
	return true;
}

static bool is_text(struct slice s, const char *text)
{
	return s.len == strlen(text) && memcmp(s.at, text, s.len) == 0;
}

/* Of a number above zero, written as short as it can be. */
static size_t bits_of(struct slice number)
{
	const unsigned char *at = (const unsigned char *)number.at;
	size_t bits;

	if (number.len && !at[0]) { /* so that it is not below zero */
		at++;
		number.len--;
		if (!number.len || !(at[0] & 0x80))
			return 0;
	} else if (!number.len || at[0] & 0x80) {
		return 0;
	}
	bits = number.len * 8;
	for (unsigned char first = at[0]; !(first & 0x80); first = (unsigned char)(first << 1))
		bits--;
	return bits;
}

static const char *rsa_fault(struct slice rest)
{
	struct slice exponent, modulus;
	size_t bits;

	if (!take_string(&rest, &exponent) || !take_string(&rest, &modulus) || rest.len ||
		!bits_of(exponent))
		return NOT_A_KEY;
	bits = bits_of(modulus);
	if (bits < RSA_LEAST)
		return "is an RSA key of fewer than 3072 bits";
	return bits > RSA_MOST ? "is an RSA key of more than 16384 bits" : NULL;
}

static const char *ecdsa_fault(const char *kind, struct slice rest)
{
	struct slice curve, point;

	for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
		if (strcmp(kind, curves[i].kind) != 0)
			continue;
		return take_string(&rest, &curve) && take_string(&rest, &point) && !rest.len &&
				       is_text(curve, curves[i].curve) &&
				       point.len == curves[i].point && point.at[0] == UNCOMPRESSED
			       ? NULL
			       : NOT_A_KEY;
	}
	return "is of a kind that is not taken: ed25519, ecdsa, and rsa from 3072 bits on are";
}

static const char *bytes_fault(const char *kind, struct slice bytes)
{
	struct slice inside, key;

	if (!take_string(&bytes, &inside) || !is_text(inside, kind))
		return NOT_A_KEY;
	if (strcmp(kind, "ssh-rsa") == 0)
		return rsa_fault(bytes);
	if (strcmp(kind, "ssh-ed25519") != 0)
		return ecdsa_fault(kind, bytes);
	return take_string(&bytes, &key) && !bytes.len && key.len == ED25519_LEN ? NULL : NOT_A_KEY;
}

static bool has_control(const char *line)
{
	for (; *line; line++)
		if ((unsigned char)*line < ' ' || *line == 0x7f)
			return true;
	return false;
}

const char *ssh_key_fault(struct arena *a, const char *line, const char **ret_key)
{
	size_t len = strlen(line), kind_len = strcspn(line, " "), code_len, n;
	const char *kind, *code, *fault;
	unsigned char *bytes;

	if (len > SSH_KEY_MAX || has_control(line) || !kind_len || !line[kind_len])
		return NOT_A_KEY;
	kind = arena_strndup(a, line, kind_len);
	code = line + kind_len + 1;
	code_len = strcspn(code, " ");
	bytes = arena_alloc(a, base64_bytes(code_len) + 1);
	if (!code_len || code_len % 4 || !base64_decode(code, code_len, bytes, &n))
		return NOT_A_KEY;
	fault = bytes_fault(kind, (struct slice){ (const char *)bytes, n });
	if (!fault)
		*ret_key = arena_strndup(a, line, kind_len + 1 + code_len);
	return fault;
}

void ssh_key_print(const char *key, char ret[SSH_KEY_PRINT_LEN + 1])
{
	uint8_t digest[SHA256_LEN];

	sha256(key, strlen(key), digest);
	hex_write(digest, sizeof digest, ret);
}
