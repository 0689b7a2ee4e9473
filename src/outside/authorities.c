/* authorities.c - see authorities.h. */
#include "outside/authorities.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

const char *authorities_fault(const char *path)
{
	BIO *file = BIO_new_file(path, "r");
	size_t all = 0, good = 0;
	unsigned long end;
	X509 *one;

	if (!file)
		return "it cannot be read";
	while ((one = PEM_read_bio_X509(file, NULL, NULL, NULL))) {
		all++;
		good += X509_cmp_current_time(X509_get0_notAfter(one)) > 0;
		X509_free(one);
	}
	end = ERR_peek_last_error();
	ERR_clear_error();
	BIO_free(file);
	if (ERR_GET_LIB(end) != ERR_LIB_PEM || ERR_GET_REASON(end) != PEM_R_NO_START_LINE)
		return "a certificate in it is broken";
	if (!all)
		return "it holds no certificate in PEM";
	return good ? NULL : "its certificates have ended";
}
