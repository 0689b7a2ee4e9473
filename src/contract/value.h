/* value.h - one value against one row of a table; shared by the readers of bodies and of queries. */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "contract/pattern.h"
#include "contract/schema.h"

struct check {
	const struct patterns *patterns;
	struct arena *arena;
	struct problem *problem;
	bool over; /* the list under way is longer than it may be */
};

/* An address that mail can be sent to (mail/address.h), without quotes, whoever it is taken from.
 * ASCII only, so that what looks the same is the same account once it is folded: no letters of other scripts or widths,
 * none that do not show, no second kind of full stop. */
bool email_valid(const char *text, size_t len);
/* "a, b, c" of the words a, b and c. */
const char *words_listed(struct arena *a, const struct words *w);
/* "a.b" from "a" and "b". */
const char *value_path(struct check *k, const char *path, const char *name);
/* TEXT, CHOICE and MOMENT. */
void value_from_text(struct check *k, const struct field *f, void *at, const char *path,
	const char *text, size_t len);
/* INTEGER, NUMBER and MONEY. */
void value_from_number(struct check *k, const struct field *f, void *at, const char *path,
	const struct json_number *n);
/* A list's items as a field of their own, at offset 0. */
struct field value_item_field(const struct field *list);
size_t value_item_size(const struct field *list);
void value_check_list(
	struct check *k, const struct field *f, const struct list *list, const char *path);
/* A copy of valid JSON text without white space. */
const char *value_compact(struct arena *a, const char *text, size_t len);
/* Sets the member to a preset, which lint has found valid. */
void value_preset(struct arena *a, const struct field *f, void *object, const char *json);
