-- What a message holds besides its text, as a JSON list; null where it is text alone.  The bytes are files of the
-- session.  A thread that has no session yet keeps them apart.
alter table messages add column parts {text};
alter table deleted_messages add column parts {text};
alter table thread_messages add column parts {text};
create table thread_files (
	tenant_id {text} not null,
	thread_id {text} not null,
	id {text} not null,
	name {text} not null,
	content_type {text} not null,
	size_bytes {int} not null,
	created_at {int} not null,
	content {bytes} not null,
	primary key (tenant_id, thread_id, id),
	foreign key (tenant_id, thread_id) references thread_rows (tenant_id, id) on delete cascade
) {rows};
