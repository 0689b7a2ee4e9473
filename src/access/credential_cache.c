/* credential_cache.c - see credential_cache.h.  One table a connection, each place holding the last credential that fell on it. */
#include "access/credential_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { PLACES = 1024, HASH_LEN = 64, ROW_MAX = 160, TEXTS_MAX = 512 };

struct credential_cache_slot {
	const struct schema *schema;
	int64_t version;
	char hash[HASH_LEN + 1];
	_Alignas(8) char row[ROW_MAX]; /* its texts point into `texts` */
	char texts[TEXTS_MAX];
};

static struct credential_cache_slot *credential_cache_slot_of(struct db *db, const char *hash)
{
	struct credential_cache_slot *places = db_attached(db);
	uint32_t at = 0;

	if (!places) {
		places = calloc(PLACES, sizeof *places);
		if (!places)
			return NULL;
		db_attach(db, places, free);
	}
	INVARIANT(!hash[HASH_LEN]);
	for (int i = 0; i < 8; i++)
		at = at * 31 + (unsigned char)hash[i];
	return &places[at % PLACES];
}

static const char **text_at(const struct field *f, void *row)
{
	return f->kind == TEXT ? (const char **)((char *)row + f->at) : NULL;
}

bool credential_cache_find(
	struct db *db, struct arena *a, const struct schema *s, const char *hash, void *row)
{
	int64_t version = db_version(db);
	struct credential_cache_slot *p =
		version == NIL ? NULL : credential_cache_slot_of(db, hash);

	if (!p || p->schema != s || p->version != version || memcmp(p->hash, hash, HASH_LEN) != 0)
		return false;
	INVARIANT(s->size <= ROW_MAX);
	memcpy(row, p->row, s->size);
	for (size_t i = 0; i < s->count; i++) {
		const char **text = text_at(&s->fields[i], row);

		if (text && *text)
			*text = arena_strdup(a, *text);
	}
	return true;
}

void credential_cache_keep(struct db *db, const struct schema *s, const char *hash, const void *row)
{
	int64_t version = db_version(db);
	struct credential_cache_slot *p =
		version == NIL || s->size > ROW_MAX ? NULL : credential_cache_slot_of(db, hash);
	size_t used = 0;

	if (!p)
		return;
	p->schema = NULL;
	memcpy(p->row, row, s->size);
	for (size_t i = 0; i < s->count; i++) {
		const char **text = text_at(&s->fields[i], p->row);
		size_t len = text && *text ? strlen(*text) + 1 : 0;

		if (!len)
			continue;
		if (used + len > TEXTS_MAX)
			return; /* too long to keep */
		memcpy(p->texts + used, *text, len);
		*text = p->texts + used;
		used += len;
	}
	memcpy(p->hash, hash, HASH_LEN);
	p->version = version;
	p->schema = s;
}
