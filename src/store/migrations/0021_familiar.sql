-- Where people have signed in from, as digests: see access/throttle.h.
create table familiar (
	account {text} not null,
	mark {text} not null,
	seen_at {int} not null,
	primary key (account, mark)
) {keyed};
create index familiar_by_age on familiar (seen_at);
create index familiar_by_account on familiar (account, seen_at);
