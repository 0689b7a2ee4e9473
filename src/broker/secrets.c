/* secrets.c - see secrets.h.  Inside the seal: a JSON object with the key and the headers. */
#include "broker/secrets.h"

#include <string.h>
#include <strings.h>

#include "base/crypto.h"
#include "base/json.h"

enum { PLAIN_MAX = 512 * 1024 };

const struct model_header *model_header_find(const struct model_secrets *s, const char *name)
{
	for (size_t i = 0; i < s->header_count; i++)
		if (strcasecmp(s->headers[i].name, name) == 0)
			return &s->headers[i];
	return NULL;
}

int model_secrets_seal(struct vault *v, struct arena *a, const char *model_id,
	const struct model_secrets *s, const char **ret)
{
	struct buf b;

	*ret = NULL;
	if (!s->api_key && !s->header_count)
		return 0;
	buf_init(&b, PLAIN_MAX);
	buf_lit(&b, "{\"api_key\":");
	if (s->api_key)
		json_write_string(&b, s->api_key, strlen(s->api_key));
	else
		buf_lit(&b, "null");
	buf_lit(&b, ",\"headers\":{");
	for (size_t i = 0; i < s->header_count; i++) {
		if (i)
			buf_putc(&b, ',');
		json_write_string(&b, s->headers[i].name, strlen(s->headers[i].name));
		buf_putc(&b, ':');
		json_write_string(&b, s->headers[i].value, strlen(s->headers[i].value));
	}
	buf_lit(&b, "}}");
	*ret = vault_seal(v, a, SEALED_MODEL, model_id, b.at, b.len);
	wipe(b.at, b.len);
	buf_free(&b);
	return *ret ? 0 : ERR_KEY;
}

static void read_secret_headers(struct json_reader *r, struct model_secrets *s)
{
	const char *name, *value;
	size_t len;

	json_enter_object(r);
	while (json_next_key(r, &name, &len) && json_read_string(r, &value, &len))
		if (s->header_count < MODEL_HEADERS_MAX)
			s->headers[s->header_count++] = (struct model_header){ name, value };
}

int model_secrets_open(struct vault *v, struct arena *a, const char *model_id, const char *text,
	struct model_secrets *ret)
{
	struct json_reader r;
	const char *key;
	size_t n;
	const char *plain;

	*ret = (struct model_secrets){ 0 };
	if (!text || !*text)
		return 0;
	plain = vault_open(v, a, model_id, text, &n);
	if (!plain)
		return ERR_SECRET;
	json_open(&r, a, plain, n);
	json_enter_object(&r);
	while (json_next_key(&r, &key, &n)) {
		if (strcmp(key, "headers") == 0)
			read_secret_headers(&r, ret);
		else if (json_peek(&r) == JSON_NULL)
			json_read_null(&r);
		else
			json_read_string(&r, &ret->api_key, &n);
	}
	return json_end(&r) ? 0 : ERR_SECRET;
}
