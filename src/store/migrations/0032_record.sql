-- Who wrote a message of a thread in which no agent was set to work yet; unknown for those that are older than this.
alter table thread_messages add column author_id {text};
alter table thread_messages add column deleted_at {int};
alter table thread_messages add column deleted_by_id {text};

-- Messages that were deleted from a conversation.  Nobody but auditors reads them, and so they lie apart: whoever
-- reads messages does not have to think of them.
create table deleted_messages (
	tenant_id {text} not null,
	session_id {text} not null,
	id {text} not null,
	run_id {text},
	author_id {text},
	role {text} not null,
	status {text} not null,
	tool_call_id {text},
	model_id {text},
	prompt_tokens {int} not null,
	completion_tokens {int} not null,
	cache_read_tokens {int} not null,
	cache_write_tokens {int} not null,
	cost_pd {int} not null,
	created_at {int} not null,
	metadata {text} not null,
	tool_calls {text} not null,
	content {text} not null,
	deleted_at {int} not null,
	deleted_by_id {text},
	primary key (tenant_id, session_id, id),
	foreign key (tenant_id, session_id) references sessions (tenant_id, id) on delete cascade
) {rows};
