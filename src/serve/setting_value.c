/* setting_value.c - reading and writing the values of settings, kind by kind; see
 * setting_value.h.  Nothing here knows where a value came from or what it is used for. */
#include "hosts/host_call.h"
#include "serve/setting_value.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "outside/address.h"

/* ---- numbers, with or without a unit ---- */

struct unit {
	const char *suffix;
	int64_t factor;
};

/* The largest first. */
static const struct unit plain_units[] = { { "", 1 }, { 0 } };
static const struct unit size_units[] = {
	{ "g", 1 << 30 },
	{ "m", 1 << 20 },
	{ "k", 1 << 10 },
	{ "", 1 },
	{ 0 },
};
static const struct unit span_units[] = {
	{ "d", 86400000 },
	{ "h", 3600000 },
	{ "m", 60000 },
	{ "s", 1000 },
	{ "ms", 1 },
	{ 0 },
};

/* What the kinds that are numbers are called, and what they take. */
static const struct number_kind {
	const struct unit *units;
	const char *fault, *wanted;
} number_kinds[] = {
	[SETTING_NUMBER] = { plain_units, "is not a whole number", "a whole number" },
	[SETTING_SIZE] = { size_units, "is not a size", "bytes, or a number with k, m or g" },
	[SETTING_SPAN] = { span_units, "is not a duration", "a number with ms, s, m, h or d" },
};

static const char *setting_number_text(const struct setting *row, struct arena *a, int64_t v)
{
	const struct unit *u = number_kinds[row->kind].units;

	while (u[1].suffix && v % u->factor != 0)
		u++;
	if (v == 0)
		return row->kind == SETTING_SPAN ? "0s" : "0";
	return arena_printf(a, "%lld%s", (long long)(v / u->factor), u->suffix);
}

static const char *number_read(const struct setting *row, const char *text, int64_t *ret)
{
	const struct unit *u = number_kinds[row->kind].units;
	bool huge = false;
	int64_t v = 0;

	if (*text < '0' || *text > '9')
		return number_kinds[row->kind].fault;
	for (; *text >= '0' && *text <= '9'; text++)
		huge |= __builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, *text - '0', &v);
	while (u->suffix && strcasecmp(text, u->suffix) != 0)
		u++;
	if (!u->suffix)
		return number_kinds[row->kind].fault;
	huge |= __builtin_mul_overflow(v, u->factor, &v);
	if (huge || v > row->max)
		return "is too large";
	if (v < row->min)
		return "is too small";
	*ret = v;
	return NULL;
}

/* ---- flags and words ---- */

static const char *flag_read(const char *text, bool *ret)
{
	static const char *const yes[] = { "true", "yes", "on", "1" };
	static const char *const no[] = { "false", "no", "off", "0" };

	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
		*ret = strcasecmp(text, yes[i]) == 0;
		if (*ret || strcasecmp(text, no[i]) == 0)
			return NULL;
	}
	return "is neither true nor false";
}

static const char *word_read(const struct setting *row, const char *text, int *ret)
{
	for (int i = 0; row->words[i]; i++) {
		if (strcasecmp(row->words[i], text) == 0) {
			*ret = i;
			return NULL;
		}
	}
	return "is not known";
}

static const char *setting_word_list(const struct setting *row, struct arena *a)
{
	const char *list = row->words[0];

	for (size_t i = 1; row->words[i]; i++)
		list = arena_printf(
			a, "%s%s%s", list, row->words[i + 1] ? ", " : " or ", row->words[i]);
	return list;
}

/* ---- texts ---- */

/* Items stand between commas; each is copied to out without the blanks around it. */
static bool next_list_item(const char **at, char *out, size_t size)
{
	size_t n = strcspn(*at, ",");
	const char *from = *at, *end = from + n;

	while (from < end && (*from == ' ' || *from == '\t'))
		from++;
	while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*at += n + ((*at)[n] == ',');
	snprintf(out, size, "%.*s", (int)(end - from), from);
	return from < end && (size_t)(end - from) < size;
}

static bool port_valid(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n > 0 && n <= 5 && !text[n] && strtol(text, NULL, 10) <= 65535;
}

bool setting_check_listen(const char *text)
{
	static const char host_chars[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
	struct in6_addr v6;
	char item[300], *colon;

	do {
		if (!next_list_item(&text, item, sizeof item))
			return false;
		colon = strrchr(item, ':');
		if (!colon || !port_valid(colon + 1))
			return false;
		*colon = '\0';
		if (*item == '[' && colon[-1] == ']') {
			colon[-1] = '\0';
			if (inet_pton(AF_INET6, item + 1, &v6) != 1)
				return false;
		} else if (!*item || item[strspn(item, host_chars)]) {
			return false;
		}
	} while (*text);
	return true;
}

bool setting_check_store(const char *text)
{
	return (strncmp(text, "sqlite:", 7) == 0 && text[7]) || setting_check_postgres(text);
}

bool setting_check_postgres(const char *text)
{
	static const char *const forms[] = { "postgres://", "postgresql://" };

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		size_t n = strlen(forms[i]);

		if (strncmp(text, forms[i], n) == 0)
			return text[n] != '\0';
	}
	return false;
}

bool setting_check_url(const char *text)
{
	if (strncmp(text, "https://", 8) == 0)
		text += 8;
	else if (strncmp(text, "http://", 7) == 0)
		text += 7;
	else
		return false;
	return *text && *text != '/' && *text != ':' && !text[strcspn(text, " ?#@\"<>\\^`{|}")];
}

bool setting_check_space(const char *text)
{
	return !*text || host_path_valid(text);
}

bool setting_is_flag(const char *text, bool *ret)
{
	return !flag_read(text, ret);
}

bool setting_check_private(const char *text)
{
	bool ignored;

	return setting_is_flag(text, &ignored) || egress_list_valid(text);
}

static const char *text_read(
	const struct setting *row, struct arena *a, const char *text, const char **ret)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return "holds a control character";
	if ((int64_t)n < row->min)
		return "is empty";
	if ((int64_t)n > row->max)
		return "is too long";
	if (n && row->check && !row->check(text))
		return arena_printf(a, "is not %s", row->what);
	*ret = text;
	return NULL;
}

/* ---- networks ---- */

static bool network_read(char *text, struct settings_network *ret)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char *slash = strchr(text, '/');
	int most = 128;

	if (slash)
		*slash++ = '\0';
	if (inet_pton(AF_INET6, text, ret->address) != 1) {
		memcpy(ret->address, mapped, sizeof mapped);
		if (inet_pton(AF_INET, text, ret->address + sizeof mapped) != 1)
			return false;
		most = 32;
	}
	ret->bits = 128;
	if (!slash)
		return true;
	if (!*slash || strlen(slash) > 3 || slash[strspn(slash, "0123456789")])
		return false;
	ret->bits = 128 - most + (int)strtol(slash, NULL, 10);
	return ret->bits <= 128;
}

static const char *networks_read(
	const struct setting *row, struct arena *a, const char *text, struct settings_networks *ret)
{
	struct settings_network *list = arena_array(a, struct settings_network, (size_t)row->max);
	const char *at = text;
	char item[64];
	size_t n = 0;

	while (*at) {
		if ((int64_t)n == row->max)
			return arena_printf(a, "has more than %d items", (int)row->max);
		if (!next_list_item(&at, item, sizeof item) || !network_read(item, &list[n++]))
			return arena_printf(a, "is not %s", row->what);
	}
	*ret = (struct settings_networks){ .text = text, .at = list, .count = n };
	return NULL;
}

bool settings_networks_hold(const struct settings_networks *n, const char *address)
{
	struct settings_network one;
	char text[64];

	if (strlen(address) >= sizeof text || strchr(address, '/'))
		return false;
	if (!network_read(strcpy(text, address), &one))
		return false;
	for (size_t i = 0; i < n->count; i++) {
		size_t whole = (size_t)n->at[i].bits / 8, rest = (size_t)n->at[i].bits % 8;
		const uint8_t *net = n->at[i].address;

		if (memcmp(net, one.address, whole) != 0)
			continue;
		if (!rest || ((net[whole] ^ one.address[whole]) >> (8 - rest)) == 0)
			return true;
	}
	return false;
}

/* ---- any kind ---- */

const char *setting_read(
	const struct setting *row, struct arena *a, const char *text, struct settings *s)
{
	void *to = (char *)s + row->at;

	switch (row->kind) {
	case SETTING_FLAG:
		return flag_read(text, to);
	case SETTING_NUMBER:
		return number_read(row, text, to);
	case SETTING_SIZE:
		return number_read(row, text, &((struct settings_size *)to)->bytes);
	case SETTING_SPAN:
		return number_read(row, text, &((struct settings_span *)to)->ms);
	case SETTING_WORD:
		return word_read(row, text, to);
	case SETTING_NETWORKS:
		return networks_read(row, a, text, to);
	case SETTING_TEXT:
		break;
	}
	return text_read(row, a, text, to);
}

const char *setting_text(const struct setting *row, struct arena *a, const struct settings *s)
{
	const void *at = (const char *)s + row->at;

	switch (row->kind) {
	case SETTING_FLAG:
		return *(const bool *)at ? "true" : "false";
	case SETTING_NUMBER:
		return setting_number_text(row, a, *(const int64_t *)at);
	case SETTING_SIZE:
		return setting_number_text(row, a, ((const struct settings_size *)at)->bytes);
	case SETTING_SPAN:
		return setting_number_text(row, a, ((const struct settings_span *)at)->ms);
	case SETTING_WORD:
		return row->words[*(const int *)at];
	case SETTING_NETWORKS:
		return ((const struct settings_networks *)at)->text;
	case SETTING_TEXT:
		break;
	}
	return *(const char *const *)at;
}

const char *setting_wanted(const struct setting *row, struct arena *a)
{
	switch (row->kind) {
	case SETTING_FLAG:
		return "true or false";
	case SETTING_WORD:
		return setting_word_list(row, a);
	case SETTING_NUMBER:
	case SETTING_SIZE:
	case SETTING_SPAN:
		return arena_printf(a, "%s, from %s to %s", number_kinds[row->kind].wanted,
			setting_number_text(row, a, row->min),
			setting_number_text(row, a, row->max));
	case SETTING_TEXT:
	case SETTING_NETWORKS:
		break;
	}
	if (row->wanted)
		return row->wanted;
	return arena_printf(a, "a path of at most %d bytes", (int)row->max);
}
