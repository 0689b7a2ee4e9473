/* fuzz_prices.c - money, pricing objects and lists of prices as anybody could write them.  What is read as
 * money is written back as text that means the same; what a list yields as a model is JSON again, and
 * its prices are ones that pricing takes. */
#include "setup.h"

#include "api/models/price_list.h"
#include "base/json.h"
#include "broker/price.h"

static void check_money(const char *text, size_t len)
{
	char room[MONEY_TEXT_MAX];
	const char *out;
	int64_t pd, number, back;
	int plain = money_parse(text, len, &pd), wide = money_parse_number(text, len, &number);

	/* Every decimal text is a number too, and the same. */
	if (!plain && (wide || number != pd))
		abort();
	if (wide)
		return;
	out = money_text(number, room);
	if (number < 0 || money_parse(out, strlen(out), &back) || back != number)
		abort();
}

static void check_pricing(struct arena *a, const char *text, size_t len)
{
	struct problem p = { 0 };
	struct price price, again;
	const char *json;

	if (price_read(text, len, "pricing", &price, a, &p))
		return;
	json = price_json(&price, a);
	if (price_read(json, strlen(json), "pricing", &again, a, &p) ||
		memcmp(&price, &again, sizeof price) != 0)
		abort();
}

/* The value of the member `pricing` of an object, or NULL. */
static const char *pricing_of(struct arena *a, const char *json, size_t *ret_len)
{
	const char *name, *text, *found = NULL;
	struct json_reader r;
	size_t n, len;

	json_open(&r, a, json, strlen(json));
	json_enter_object(&r);
	while (json_next_key(&r, &name, &n))
		if (json_skip(&r, &text, &len) && strcmp(name, "pricing") == 0) {
			found = text;
			*ret_len = len;
		}
	if (!json_end(&r))
		abort();
	return found;
}

struct walk {
	struct arena *a;
	bool composed; /* of the form whose entries are put together by us */
};

static int each(void *ctx, const struct price_entry *entry)
{
	struct walk *w = ctx;
	struct problem p = { 0 };
	struct price price;
	const char *pricing;
	size_t len;

	if (entry->kind == PRICE_FAULTY && !entry->fault)
		abort();
	if (entry->kind != PRICE_ENTRY)
		return 0;
	pricing = pricing_of(w->a, entry->create, &len);
	if (w->composed && (!pricing || price_read(pricing, len, "pricing", &price, w->a, &p)))
		abort();
	pricing_of(w->a, entry->update, &len);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct walk w = { &a, size && *text == '{' };

	check_money(text, size);
	check_pricing(&a, text, size);
	if (price_list_read(text, size, &a, each, &w, &p) && !p.detail)
		abort();
	arena_free(&a);
	return 0;
}
