/* audit_chain_check.c - walks the chain of seals from its first row to its head; see audit_chain.h.
 *
 * Beside a service that goes on sealing: each page is read in a transaction
 * together with the head, so the walk ends where the chain ends then.  It
 * changes nothing and trusts nothing but the key. */
#include <string.h>

#include "access/audit_chain_break.h"
#include "access/audit_chain_row.h"
#include "base/crypto.h"

enum { PAGE = 200 };

enum { HEAD_READ, CHAIN, WAITING };

static const struct statement sql[] = {
	[HEAD_READ] = { "chain_head_read", "select value from meta where key = 'audit_head'",
		.row = &one_text_schema },
	[CHAIN] = { "chain_chain",
		"select {*} from audit_logs where seal_seq > $1 order by seal_seq limit $2",
		.row = &sealed_row_schema, .across = ONE_CHAIN },
	[WAITING] = { "chain_waiting",
		"select count(*) from audit_logs where seal_seq is null and id > ''",
		.across = ONE_CHAIN },
};
STATEMENT_SET(chain_check_sql, sql);

struct seal_walk {
	struct db *db;
	const uint8_t *key;
	struct arena page;	/* of the rows at hand */
	struct arena *arena;	/* of the report */
	struct chain_head done; /* how far the chain has been proven */
	struct chain_head head; /* as kept, when the page was read */
	struct chain_break broken;
	struct chain_report *report;
};

static void report_seal_fault(struct seal_walk *w, int64_t seq, const char *id, const char *what)
{
	if (w->report->fault)
		return;
	w->report->seq = seq;
	w->report->id = id ? arena_strdup(w->arena, id) : NULL;
	w->report->fault = what;
}

static bool digest_is(const char *text, const digest want)
{
	return text && same_bytes(text, strlen(text), want, DIGEST_TEXT);
}

static const char *erasure_fault(const struct seal_walk *w, const struct sealed_row *row)
{
	digest want;

	if (row->seal_salt || row->user_id || row->ip || row->user_agent ||
		strcmp(row->meta, "{}") != 0)
		return "it is marked as erased (erased_at), but not all that is personal is gone";
	if (row->erased_at.us <= w->broken.at)
		return NULL; /* the key that could prove it is lost */
	chain_erasure(w->key, row->id, row->erased_at.us, want);
	return digest_is(row->erase_mac, want)
		       ? NULL
		       : "it is marked as erased (erased_at), but not by this service: its "
			 "erase_mac does not fit";
}

/* What is wrong with the personal part, or NULL. */
static const char *personal_fault(const struct seal_walk *w, const struct sealed_row *row)
{
	digest want;

	if (row->erased_at.us != NIL)
		return erasure_fault(w, row);
	if (!row->seal_salt)
		return "its seal_salt is gone, and it was not erased";
	chain_personal(row, row->seal_salt, want);
	return digest_is(row->seal_personal, want)
		       ? NULL
		       : "user_id, ip, user_agent or meta is not what seal_personal was made of";
}

static const char *row_fault(const struct seal_walk *w, const struct sealed_row *row)
{
	const char *fault;
	digest want;

	if (row->seal_seq > w->head.seq)
		return "the chain has not come to it: it was not sealed by this service";
	chain_public(row, want);
	if (!digest_is(row->seal_public, want))
		return "id, tenant_id, agent_id, action, resource_type, resource_id or created_at is "
		       "not what seal_public was made of";
	fault = personal_fault(w, row);
	if (fault)
		return fault;
	if (row->seal_seq <= w->broken.seq)
		return NULL; /* only that it is whole, and in its place by number */
	seal_mac(w->key, &w->done, row, want);
	return digest_is(row->seal_mac, want)
		       ? NULL
		       : "its seal_mac does not fit: the seal was changed, or it stands elsewhere";
}

/* False at the first row that is wrong. */
static bool check_sealed_row(struct seal_walk *w, const struct sealed_row *row)
{
	const char *fault;

	if (row->seal_seq != w->done.seq + 1) {
		if (row->seal_seq < 1 || row->seal_seq > w->head.seq)
			report_seal_fault(
				w, row->seal_seq, row->id, "no row of the chain bears this number");
		else
			report_seal_fault(w, w->done.seq + 1, NULL, "it is missing");
		return false;
	}
	fault = row_fault(w, row);
	if (fault) {
		report_seal_fault(w, row->seal_seq, row->id, fault);
		return false;
	}
	w->done.seq = row->seal_seq;
	memcpy(w->done.mac, row->seal_mac, sizeof w->done.mac);
	w->report->sealed++;
	w->report->erased += row->erased_at.us != NIL;
	return true;
}

static int read_chain_head(struct seal_walk *w)
{
	struct one_text row;
	int err = db_one(w->db, &w->page, &sql[HEAD_READ], &row, NO_ARGS);

	w->head = chain_head_first();
	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	if (!chain_head_read(w->key, row.value, &w->head))
		report_seal_fault(w, w->head.seq, NULL,
			"the head of the chain (audit_head in the table meta) was changed, or made with "
			"another master key");
	return 0;
}

static void check_chain_end(struct seal_walk *w)
{
	if (w->done.seq != w->head.seq)
		report_seal_fault(w, w->done.seq + 1, NULL, "it is missing, as is all after it");
	else if (strcmp(w->done.mac, w->head.mac) != 0)
		report_seal_fault(w, w->done.seq, NULL, "it is not the last row that was sealed");
}

/* One page, in the transaction under way; *ret_more says whether to go on. */
static int check_page(struct seal_walk *w, bool *ret_more)
{
	int64_t after = w->done.seq ? w->done.seq : -INT64_MAX;
	struct list rows = { 0 };
	int err = read_chain_head(w);

	*ret_more = false;
	if (!err && !w->report->fault)
		err = db_all(w->db, &w->page, &sql[CHAIN], &rows, PAGE, ARGS(N(after), N(PAGE)));
	if (err || w->report->fault)
		return err;
	for (size_t i = 0; i < rows.count; i++)
		if (!check_sealed_row(w, &((const struct sealed_row *)rows.at)[i]))
			return 0;
	*ret_more = rows.count == PAGE;
	if (!*ret_more)
		check_chain_end(w);
	return 0;
}

int chain_check(
	struct db *db, struct arena *a, const uint8_t key[CHAIN_KEY_LEN], struct chain_report *ret)
{
	struct seal_walk w = { .db = db, .key = key, .arena = a, .report = ret };
	bool more = true;
	int err = 0;

	*ret = (struct chain_report){ 0 };
	w.done = chain_head_first();
	err = chain_break_read(db, a, key, &w.broken);
	if (err == ERR_CONFLICT) {
		report_seal_fault(&w, 0, NULL,
			"the note of a break (audit_break in the table meta) was changed, or made with another master "
			"key");
		more = false;
		err = 0;
	}
	while (more && !err) {
		err = db_begin(db, READ_ONLY);
		if (!err)
			err = check_page(&w, &more);
		db_rollback(db);
		arena_reset(&w.page);
	}
	if (!err)
		err = db_int(db, &sql[WAITING], &ret->waiting, NO_ARGS);
	ret->end = arena_printf(a, "%lld %s", (long long)w.done.seq, w.done.mac);
	arena_free(&w.page);
	return err;
}
