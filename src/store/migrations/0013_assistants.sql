-- What OpenAI's clients keep beside sessions and agents: see api/assistants.c, api/threads.c, api/responses.c.
-- metadata is a JSON object, tools a JSON list, as they were given.

-- What an agent has as an assistant only.  model_id: the model that was named when the chain was set.
create table assistants (
	tenant_id {text} not null,
	agent_id {text} not null,
	model_id {text},
	temperature {text},
	top_p {text},
	metadata {text} not null,
	tools {text} not null,
	primary key (tenant_id, agent_id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
) {rows};

-- Threads in which no agent was set to work yet.  The first run makes such a thread a session of the same id.
create table threads (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	created_by_id {text} not null,
	created_at {int} not null,
	metadata {text} not null,
	primary key (tenant_id, id)
) {rows};

create table thread_messages (
	tenant_id {text} not null,
	thread_id {text} not null,
	id {text} not null,
	role {text} not null,
	created_at {int} not null,
	metadata {text} not null,
	content {text} not null,
	primary key (tenant_id, thread_id, id),
	foreign key (tenant_id, thread_id) references threads (tenant_id, id) on delete cascade
) {rows};

-- What a run was asked for, to be shown again; asked is a JSON object.
create table run_notes (
	tenant_id {text} not null,
	session_id {text} not null,
	run_id {text} not null,
	metadata {text} not null,
	asked {text} not null,
	primary key (tenant_id, session_id, run_id),
	foreign key (tenant_id, session_id) references sessions (tenant_id, id) on delete cascade
) {rows};

-- An agent's response is what a run of a session wrote behind a message; a model's has its output here.
create table responses (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	created_by_id {text} not null,
	agent_id {text},
	session_id {text},
	run_id {text},
	previous_id {text},
	behind {text} not null,
	status {text} not null,
	created_at {int} not null,
	completed_at {int},
	model {text} not null,
	metadata {text} not null,
	asked {text} not null,
	usage {text},
	error {text},
	input {text} not null,
	output {text} not null,
	primary key (tenant_id, id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
	foreign key (tenant_id, session_id) references sessions (tenant_id, id) on delete cascade
) {rows};
create index responses_by_agent on responses (tenant_id, agent_id, id) where agent_id is not null;
create index responses_by_session on responses (tenant_id, session_id, id) where session_id is not null;
