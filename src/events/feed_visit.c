/* feed_visit.c - whoever follows the feed, when its thread comes to them.
 *
 * They are asked every few seconds whether they still may, and where; then
 * they are told one turn's worth of what they have not heard, and something
 * empty when there was nothing for long. */
#include <string.h>

#include "base/clock.h"
#include "events/feed_parts.h"
#include "events/feed_batch.h"

/* Which tenants, and may they still? */
static bool check_watch(struct feed *f, struct feed_watch *w)
{
	struct followed *before[FEED_TENANTS_MAX];
	size_t count = w->tenant_count;
	struct list tenants = { 0 };
	bool good = w->watcher.check(w->watcher.ctx, f->db, &f->arena, &tenants);

	w->checked_ms = clock_mono_ms();
	if (!good)
		return false;
	memcpy(before, w->tenants, count * sizeof *before);
	pthread_mutex_lock(&f->lock);
	w->tenant_count = 0;
	for (size_t i = 0; i < tenants.count && i < FEED_TENANTS_MAX; i++)
		w->tenants[w->tenant_count++] =
			feed_follow(f, ((const char *const *)tenants.at)[i]);
	for (size_t i = 0; i < count; i++)
		feed_unfollow(f, before[i]);
	pthread_mutex_unlock(&f->lock);
	return true;
}

static void put_cursor(struct buf *b, const struct feed_cursor *p)
{
	buf_lit(b, "id: ");
	feed_cursor_write(p, b);
	buf_lit(b, "\n\n");
}

/* Where it stands at first: an id without an event moves the reader's place and shows nothing. */
static void settle_place(struct feed *f, struct feed_watch *w, const struct feed_span *span)
{
	struct feed_cursor *p = &w->place;

	if (p->base != NIL &&
		(p->base > span->horizon || (p->bound != NIL && p->bound > span->horizon))) {
		/* Of another history: a store that was put back. */
		buf_lit(&f->text, "event: " FEED_RESET "\ndata: {}\n\n");
		p->base = NIL;
	}
	if (p->base == NIL) {
		*p = (struct feed_cursor){ .base = span->horizon, .bound = NIL };
		put_cursor(&f->text, p);
	}
	if (w->until == 0)
		w->until = span->started;
}

static int turn_of(struct feed *f, struct feed_watch *w, const struct feed_span *span)
{
	const char *tenants[FEED_TENANTS_MAX];
	struct feed_batch turn = { .db = f->db,
		.arena = &f->arena,
		.horizon = span->horizon,
		.watcher = &w->watcher,
		.tenants = tenants,
		.tenant_count = w->tenant_count,
		.place = &w->place,
		.text = &f->text };
	struct feed_cursor before = w->place;
	enum hub_verdict verdict = HUB_GO_ON;
	int err;

	f->text.len = 0;
	f->text.overflow = false;
	settle_place(f, w, span);
	for (size_t i = 0; i < w->tenant_count; i++)
		tenants[i] = w->tenants[i]->id;
	err = feed_batch_run(&turn);
	if (err || f->text.overflow) {
		w->place = before;
		return err ? err : ERR_INTERNAL;
	}
	if (!f->text.len && clock_mono_ms() - w->spoke_ms >= HUB_QUIET_MS)
		put_cursor(&f->text, &w->place);
	if (f->text.len) {
		verdict = w->watcher.take(w->watcher.ctx, f->text.at, f->text.len);
		w->spoke_ms = clock_mono_ms();
	}
	w->paused = verdict == HUB_PAUSE;
	if (verdict == HUB_END ||
		(w->until != NIL && w->place.bound == NIL && w->place.base >= w->until))
		atomic_store(&w->ended, true);
	return 0;
}

static bool is_behind(const struct feed_watch *w)
{
	return w->place.bound != NIL || w->place.base < w->need || w->place.base == NIL;
}

/* Whoever has something to hear, or must be asked whether they may. */
int feed_visit(struct feed *f, struct feed_watch *w, const struct feed_span *span, bool *ret_again)
{
	int64_t now = clock_mono_ms();
	bool first = w->checked_ms == NIL; /* its place may be of another history */
	int err = 0;

	if (atomic_exchange(&w->resumed, false))
		w->paused = false;
	for (size_t i = 0; i < w->tenant_count; i++)
		if (w->tenants[i]->look)
			w->need = span->started;
	if (first || now - w->checked_ms >= HUB_CHECK_MS) {
		if (first)
			w->need = span->started;
		if (!check_watch(f, w))
			atomic_store(&w->ended, true);
	}
	if (!w->paused && !atomic_load(&w->ended) &&
		(first || is_behind(w) || now - w->spoke_ms >= HUB_QUIET_MS))
		err = turn_of(f, w, span);
	*ret_again = *ret_again || (!w->paused && !atomic_load(&w->ended) && is_behind(w));
	arena_reset(&f->arena);
	return err;
}
