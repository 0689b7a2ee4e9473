-- Letters that the service writes to people, until the relay has them; what a letter says is found out when it is sent, and the token of
-- its link is sealed.  Accounts that are asked for, until their address is confirmed.  A link that was mailed proves the address.
-- admits 45
create table letters (
	id {text} not null primary key,
	kind {text} not null,
	user_id {text} references users (id) on delete cascade,
	about {text} not null,
	sealed {text},
	attempts {int} not null,
	send_at {int} not null,
	created_at {int} not null
) {rows};
create index letters_due on letters (send_at, id);
create index letters_by_user on letters (user_id);

create table registrations (
	id {text} not null primary key,
	hash {text},
	email {text} not null,
	email_folded {text} not null,
	name {text} not null,
	password_hash {text} not null,
	created_at {int} not null,
	expires_at {int} not null
) {rows};
create unique index registrations_by_hash on registrations (hash) where hash is not null;
create index registrations_by_email on registrations (email_folded);
create index registrations_by_end on registrations (expires_at);

alter table resets add column mailed {int} not null default 0;
alter table invitations add column mailed {int} not null default 0;
alter table approvals add column mailed_at {int};
create index approvals_to_mail on approvals (mailed_at, created_at) where status = 'pending';
