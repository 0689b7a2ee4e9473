-- Sessions and their messages.

create table sessions (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	agent_id {text} not null,
	parent_session_id {text},
	title {text},
	title_folded {text},
	status {text} not null,
	origin {text} not null,
	created_by_id {text},
	iteration_count {int} not null,
	message_count {int} not null,
	last_event_id {int} not null,
	error {text},
	created_at {int} not null,
	started_at {int},
	completed_at {int},
	updated_at {int} not null,
	primary key (tenant_id, id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
) {rows};
create index sessions_by_agent on sessions (tenant_id, agent_id, id);
create index sessions_by_user on sessions (tenant_id, created_by_id, id);
create index sessions_by_status on sessions (tenant_id, status, id);

create table messages (
	tenant_id {text} not null,
	id {text} not null,
	session_id {text} not null,
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
	tool_calls {text} not null,
	content {text} not null,
	primary key (tenant_id, session_id, id),
	foreign key (tenant_id, session_id) references sessions (tenant_id, id) on delete cascade
) {rows};
