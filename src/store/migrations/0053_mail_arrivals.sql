-- Mail from outside from the moment it was taken: its raw bytes lie in the bucket, and a job reads them.  What was read stays
-- for a while without its bytes, so that a message which comes twice is known.
-- admits 45
create table mail_arrivals (
	tenant_id {text} not null,
	id {text} not null,
	agent_id {text} not null,
	mailbox_id {text} not null,
	known_by {text} not null,
	sender {text} not null,
	recipient {text} not null,
	thread_id {text},
	bounced_id {text},
	object_key {text},
	size_bytes {int} not null,
	read_at {int},
	created_at {int} not null,
	primary key (tenant_id, id),
	foreign key (tenant_id, agent_id) references agent_rows (tenant_id, id) on delete cascade
) {rows};
create unique index mail_arrivals_known on mail_arrivals (tenant_id, mailbox_id, known_by);
create index mail_arrivals_by_agent on mail_arrivals (tenant_id, agent_id, id);
create index mail_arrivals_by_object on mail_arrivals (tenant_id, object_key) where object_key is not null;
create index mail_arrivals_read on mail_arrivals (read_at) where read_at is not null;
