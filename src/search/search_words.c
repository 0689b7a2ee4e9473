/* search_words.c - see search_words.h.
 *
 * A thing has a row for each of its words and each visibility on which it may
 * be found, in the order in which a list shows them.  On PostgreSQL they are
 * inserted by one statement: each has its own cost there, and the title that
 * an event gives its session has some twenty words. */
#include "search/search_words.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/utf8.h"
#include "store/row.h"

enum { WORDS_JSON_MAX = 512 * 1024 };

static const char *const MentionType_list[] = {
	[MentionType_agent] = "agent",
	[MentionType_user] = "user",
	[MentionType_skill] = "skill",
	[MentionType_tool] = "tool",
	[MentionType_session] = "session",
	NULL,
};
const struct words MentionType_words = {
	.title = "MentionType",
	.list = MentionType_list,
	.doc = "What a mention in a message can point to.",
};

struct search_word {
	const char *tenant_id, *visibility, *tail, *id;
	int type;
	int64_t score;
};

FIELDS(search_word) = {
	ROW_FIELDS(search_word, tenant_id, visibility, tail, id, score),
	FIELD(search_word, type, .words = &MentionType_words),
};
static SCHEMA(search_word, .internal = true);

#define THE_WORD                                                                                   \
	"tenant_id = :tenant_id and visibility = :visibility and type = :type and score = :score " \
	"and tail = :tail and id = :id"

enum { WORD_INSERT, WORDS_INSERT, WORD_REMOVE, WORD_COUNT };

static const struct statement sql[] = {
	[WORD_INSERT] = { "search_word_insert", "insert into search_words ({*}) values ({$})",
		.row = &search_word_schema },
	/* All of a thing at once, where each statement is a message: [visibility, tail, score] of each. */
	[WORDS_INSERT] = { "search_words_insert",
		"insert into search_words (tenant_id, type, id, visibility, tail, score) select $1, $2, $3, "
		"value ->> 0, value ->> 1, value ->> 2 from json_each($4)",
		.postgres =
			"insert into search_words (tenant_id, type, id, visibility, tail, score) select $1, $2, $3, "
			"value ->> 0, value ->> 1, cast(value ->> 2 as bigint) "
			"from json_array_elements(cast($4 as json))",
		.scan = "the list that is given" },
	[WORD_REMOVE] = { "search_word_remove", "delete from search_words where " THE_WORD,
		.row = &search_word_schema },
	[WORD_COUNT] = { "search_word_count", "select count(*) from search_words where " THE_WORD,
		.args = &search_word_schema },
};
STATEMENT_SET(search_words_sql, sql);

int64_t search_score(const char *label, size_t position)
{
	size_t points = utf8_count(label, strlen(label));

	return (position < 2 ? (int64_t)position : 2) * 3 + (points <= 16	   ? 0
								    : points <= 32 ? 1
										   : 2);
}

/* Each word and each visibility of a thing, one after the other. */
struct word_walk {
	const struct search_thing *thing;
	const char *visibilities[3], *tail;
	size_t position;
	int at; /* among the visibilities */
};

static struct word_walk walk_words(const struct search_thing *t)
{
	struct word_walk w = { .thing = t, .tail = t->words, .visibilities = { VISIBILITY_OPEN } };

	if (t->level != SEARCH_OPEN) {
		w.visibilities[0] = VISIBILITY_CLOSED;
		w.visibilities[1] = t->agent_id;
		w.visibilities[2] = t->owner_id;
	}
	return w;
}

static bool next_word(struct word_walk *w, struct search_word *ret)
{
	for (; w->tail; w->at = 0, w->position++) {
		while (w->at < 3) {
			const char *visibility = w->visibilities[w->at++];

			if (!visibility)
				continue;
			*ret = (struct search_word){ .tenant_id = w->thing->tenant_id,
				.visibility = visibility,
				.tail = w->tail,
				.id = w->thing->id,
				.type = w->thing->type,
				.score = search_score(w->thing->label, w->position) };
			return true;
		}
		w->tail = strchr(w->tail, ' ');
		w->tail = w->tail ? w->tail + 1 : NULL;
	}
	return false;
}

/* Runs a statement for each word; what it counts is added up. */
static int each_word(
	struct db *db, const struct search_thing *t, const struct statement *st, int64_t *ret_count)
{
	struct word_walk w = walk_words(t);
	struct search_word word;
	int err = 0;

	while (!err && next_word(&w, &word)) {
		int64_t n = 0;

		err = ret_count ? db_int(db, st, &n, BY_NAME(search_word, &word))
				: db_put(db, st, &word);
		if (ret_count && n != 1)
			++*ret_count;
	}
	return err;
}

int search_words_insert(struct db *db, const struct search_thing *t)
{
	struct word_walk w = walk_words(t);
	struct search_word word;
	struct buf list;
	int err;

	if (db_is_sqlite(db)) /* where a statement costs nothing of its own */
		return each_word(db, t, &sql[WORD_INSERT], NULL);
	buf_init(&list, WORDS_JSON_MAX);
	while (next_word(&w, &word)) {
		buf_putc(&list, list.len ? ',' : '[');
		buf_putc(&list, '[');
		json_write_string(&list, word.visibility, strlen(word.visibility));
		buf_putc(&list, ',');
		json_write_string(&list, word.tail, strlen(word.tail));
		buf_printf(&list, ",%lld]", (long long)word.score);
	}
	buf_lit(&list, "]");
	buf_putc(&list, '\0');
	err = list.overflow ? ERR_INTERNAL
			    : db_run(db, &sql[WORDS_INSERT], NULL,
				      ARGS(T(t->tenant_id), T(MentionType_words.list[t->type]),
					      T(t->id), T(list.at)));
	buf_free(&list);
	return err;
}

int search_words_remove(struct db *db, const struct search_thing *t)
{
	return each_word(db, t, &sql[WORD_REMOVE], NULL);
}

int search_words_count(struct db *db, const struct search_thing *t, int64_t *ret_wrong)
{
	return each_word(db, t, &sql[WORD_COUNT], ret_wrong);
}
