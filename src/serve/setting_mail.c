/* setting_mail.c - the forms that settings of mail have. */
#include <arpa/inet.h>
#include <string.h>
#include <sys/un.h>

#include "mail/address.h"
#include "outside/dns.h"
#include "outside/smtp.h"
#include "serve/setting_value.h"

bool setting_check_address(const char *text)
{
	struct mail_address address;
	const char *fault;

	return !*text || mail_address_parse(text, strlen(text), &address, &fault);
}

bool setting_check_lmtp(const char *text)
{
	static const char unix_place[] = "unix:";
	struct sockaddr_un un;
	size_t n = strlen(unix_place);

	if (!*text)
		return true;
	if (strncmp(text, unix_place, n) == 0)
		return text[n] && strlen(text + n) < sizeof un.sun_path;
	return !strchr(text, ',') && setting_check_listen(text) &&
	       (strncmp(text, "127.", 4) == 0 || strncmp(text, "[::1]:", 6) == 0);
}

bool setting_check_relay(const char *text)
{
	return !*text || !smtp_relay_fault(text);
}

bool setting_check_resolver(const char *text)
{
	return !*text || dns_server_valid(text);
}

/* One word, as it stands at the beginning of Authentication-Results. */
bool setting_check_authserv(const char *text)
{
	for (const char *c = text; *c; c++)
		if (*c <= ' ' || *c >= 0x7f || strchr("()<>@,;:\\\"/[]?=", *c))
			return false;
	return true;
}
