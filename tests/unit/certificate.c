/* certificate.c - see certificate.h. */
#include "certificate.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>

#include "t.h"

static void write_files(char cert[], char key[], X509 *x, EVP_PKEY *pair)
{
	FILE *f = fdopen(mkstemp(cert), "w");

	PEM_write_X509(f, x);
	fclose(f);
	f = fdopen(mkstemp(key), "w");
	PEM_write_PrivateKey(f, pair, NULL, NULL, 0, NULL, NULL);
	fclose(f);
}

void certificate_make(char cert[], char key[], long from, long until)
{
	EVP_PKEY *pair = EVP_EC_gen("P-256");
	X509 *x = X509_new();

	ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
	X509_gmtime_adj(X509_getm_notBefore(x), from);
	X509_gmtime_adj(X509_getm_notAfter(x), until);
	X509_set_pubkey(x, pair);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
		(const unsigned char *)"localhost", -1, -1, 0);
	X509_set_issuer_name(x, X509_get_subject_name(x));
	CHECK(X509_sign(x, pair, EVP_sha256()) > 0);
	write_files(cert, key, x, pair);
	X509_free(x);
	EVP_PKEY_free(pair);
}
