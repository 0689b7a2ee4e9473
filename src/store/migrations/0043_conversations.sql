-- Conversations as OpenAI's clients keep them: items in the order in which they came, each as JSON text; see
-- openai/conversations.h.  Where an agent answers they come about in a session: `heard` is the last item that it knows;
-- response_id, run_id and after_id are the last answer there, whose items are not among the rows while `unsettled` is 1.
create table conversation_rows (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	created_by_id {text} not null,
	created_at {int} not null,
	metadata {text} not null,
	last_place {int} not null,
	session_id {text},
	heard {int} not null,
	response_id {text},
	run_id {text},
	after_id {text},
	unsettled {int} not null,
	gone_at {int},
	primary key (tenant_id, id)
) {rows};
create index conversations_gone on conversation_rows (gone_at, tenant_id, id) where gone_at is not null;
create view conversations as select * from conversation_rows where gone_at is null;

-- What was said in a session goes with it.
create table conversation_items (
	tenant_id {text} not null,
	conversation_id {text} not null,
	place {int} not null,
	id {text} not null,
	session_id {text},
	bytes {int} not null,
	item {text} not null,
	primary key (tenant_id, conversation_id, place),
	foreign key (tenant_id, conversation_id) references conversation_rows (tenant_id, id) on delete cascade,
	foreign key (tenant_id, session_id) references session_rows (tenant_id, id) on delete cascade
) {rows};
create unique index conversation_items_by_id on conversation_items (tenant_id, conversation_id, id);
create index conversation_items_by_session on conversation_items (tenant_id, session_id, conversation_id, place)
	where session_id is not null;
