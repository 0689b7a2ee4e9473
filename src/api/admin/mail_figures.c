/* mail_figures.c - see mail_figures.h. */
#include "api/admin/mail_figures.h"

#include "api/service.h"
#include "base/clock.h"
#include "call/metrics.h"
#include "letterbox/letterbox.h"
#include "mailboxes/letters.h"
#include "mailboxes/mail_counts.h"
#include "mailboxes/mail_send.h"
#include "queue/queue_admin.h"

static void write_coming(const struct service *service, struct buf *out)
{
	struct letterbox_stats m = service->letterbox ? letterbox_stats(service->letterbox)
						      : (struct letterbox_stats){ 0 };
	const struct figure figures[] = {
		{ "lodge_mail_connections_total", "counter",
			"Connections over which mail was handed over, or was to be.",
			m.connections },
		{ "lodge_mail_connections_refused_total", "counter",
			"Such connections beyond as many as there may be at once.", m.turned_away },
		{ "lodge_mail_connections_gave_way_total", "counter",
			"Such connections that were closed for others, because they said nothing.",
			m.gave_way },
		{ "lodge_mail_connections_open", "gauge", "Such connections open now.", m.open },
		{ "lodge_mail_taken_total", "counter",
			"Mail taken from outside by LMTP or SMTP, one for each recipient.",
			m.taken },
		{ "lodge_mail_known_total", "counter",
			"Mail that came again and was there already.", m.known },
		{ "lodge_mail_refused_total", "counter",
			"Recipients that were refused: no such mailbox, or one that takes no mail.",
			m.refused },
		{ "lodge_mail_later_total", "counter",
			"Recipients whose mail is to come later, for want of room or of the store.",
			m.later },
		{ "lodge_mail_unreadable_total", "counter",
			"Mail that was taken and could not be read.",
			mail_counted(MAIL_COUNT_UNREADABLE) },
	};

	metrics_figures(figures, sizeof figures / sizeof *figures, out);
}

static void write_going(const struct service *service, struct buf *out)
{
	const struct figure figures[] = {
		{ "lodge_mail_relay_up", "gauge",
			"1 if a relay is set, and took mail when it was last asked or was not asked yet.",
			service->relay && service->relay->url && !mail_relay_is_away() },
		{ "lodge_mail_sent_total", "counter",
			"Mail of agents that the relay took, one for each recipient.",
			mail_counted(MAIL_COUNT_SENT) },
		{ "lodge_mail_deferred_total", "counter",
			"Tries at sending mail of agents that are followed by another.",
			mail_counted(MAIL_COUNT_DEFERRED) },
		{ "lodge_mail_failed_total", "counter",
			"Mail of agents that was refused or given up, one for each recipient.",
			mail_counted(MAIL_COUNT_FAILED) },
		{ "lodge_letters_sent_total", "counter", "Letters to people that the relay took.",
			mail_counted(MAIL_COUNT_LETTERS_SENT) },
		{ "lodge_letters_deferred_total", "counter",
			"Tries at letters to people that are followed by another.",
			mail_counted(MAIL_COUNT_LETTERS_DEFERRED) },
		{ "lodge_letters_given_up_total", "counter",
			"Letters to people that were refused or given up.",
			mail_counted(MAIL_COUNT_LETTERS_GIVEN_UP) },
	};

	metrics_figures(figures, sizeof figures / sizeof *figures, out);
}

static uint64_t seconds_since(int64_t then, int64_t now)
{
	return then && now > then ? (uint64_t)((now - then) / SECOND_US) : 0;
}

static void write_waiting(const struct queue_kind *mail, const struct letters_waiting *letters,
	int64_t now, struct buf *out)
{
	const struct figure figures[] = {
		{ "lodge_mail_waiting", "gauge",
			"Recipients of agents' mail for whom the relay is still to take it.",
			(uint64_t)mail->jobs },
		{ "lodge_mail_oldest_seconds", "gauge", "How long the oldest of these has waited.",
			seconds_since(mail->oldest, now) },
		{ "lodge_letters_waiting", "gauge", "Letters to people on their way to the relay.",
			(uint64_t)letters->count },
		{ "lodge_letters_oldest_seconds", "gauge",
			"How long the oldest of these has waited.",
			seconds_since(letters->oldest, now) },
	};

	metrics_figures(figures, sizeof figures / sizeof *figures, out);
}

int mail_figures(struct call *c, struct buf *out)
{
	struct queue_kind mail = { 0 };
	struct letters_waiting letters = { 0 };
	int err = c->db ? queue_kind(c->db, c->arena, MAIL_SEND_JOB, &mail) : ERR_STORE;

	if (!err)
		err = letters_waiting(c->db, c->arena, &letters);
	if (err && err != ERR_STORE)
		return err;
	write_coming(service_of(c->app), out);
	write_going(service_of(c->app), out);
	if (!err)
		write_waiting(&mail, &letters, c->now, out);
	return 0;
}
