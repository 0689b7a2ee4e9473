-- One order for what happens in a tenant, so that a single stream can tell it and be resumed: see call/feed_number.h.
alter table session_events add column feed {int} not null default 0;
create index session_events_feed on session_events (tenant_id, feed, session_id, seq);

-- The pieces of messages, which are dropped by their age.
create index session_events_deltas on session_events (created_at) where kind = 'delta';

-- What changes beside sessions: agents, by now perhaps gone.
create table tenant_events (
	tenant_id {text} not null,
	feed {int} not null,
	id {text} not null,
	kind {text} not null,
	about_id {text} not null,
	created_at {int} not null,
	data {text} not null,
	primary key (tenant_id, feed, id)
) {keyed};
create index tenant_events_by_age on tenant_events (created_at);

-- One row.  On SQLite the last number given; on PostgreSQL what is added to the number of a transaction.
create table feed (
	id {int} not null primary key,
	n {int} not null
) {keyed};
insert into feed (id, n) values (1, 0);
