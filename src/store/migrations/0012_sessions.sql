-- Sessions as agents work in them: runs, messages, calls of tools, approvals, events, files, memories.
-- metadata is a JSON object as text; empty: none.

drop table messages;
drop table sessions;

-- job_id is the job that works in it now, writing_id the message that a model is writing.  Both are empty while
-- it waits for people or subtasks.
create table sessions (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	agent_id {text} not null,
	parent_session_id {text},
	parent_call_id {text},
	depth {int} not null default 0,
	title {text},
	title_folded {text},
	status {text} not null,
	origin {text} not null,
	created_by_id {text},
	run_id {text},
	job_id {text},
	writing_id {text},
	iteration_count {int} not null,
	message_count {int} not null,
	last_message_id {text} not null default '',
	last_event_id {int} not null,
	error {text},
	created_at {int} not null,
	started_at {int},
	completed_at {int},
	updated_at {int} not null,
	metadata {text} not null default '',
	primary key (tenant_id, id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
) {rows};
create index sessions_by_agent on sessions (tenant_id, agent_id, id);
create index sessions_by_user on sessions (tenant_id, created_by_id, id);
create index sessions_by_status on sessions (tenant_id, status, id);
create index sessions_by_parent on sessions (tenant_id, parent_session_id, id) where parent_session_id is not null;

-- Who takes part in a session: those who began it, wrote in it, or decided in it.
create table session_people (
	tenant_id {text} not null,
	user_id {text} not null,
	session_id {text} not null,
	primary key (tenant_id, user_id, session_id),
	foreign key (tenant_id, session_id) references sessions (tenant_id, id) on delete cascade
) {keyed};
create index session_people_by_user on session_people (user_id, session_id);
create index session_people_by_session on session_people (tenant_id, session_id);

-- One setting to work of the agent: from a message (or a call) to its answer.  options is what was asked for
-- besides the agent's own settings, as JSON.  bad_calls and empty_answers count those in a row.
create table session_runs (
	tenant_id {text} not null,
	session_id {text} not null,
	id {text} not null,
	user_id {text},
	status {text} not null,
	model_id {text},
	iteration_count {int} not null,
	bad_calls {int} not null default 0,
	empty_answers {int} not null default 0,
	prompt_tokens {int} not null,
	completion_tokens {int} not null,
	cache_read_tokens {int} not null,
	cache_write_tokens {int} not null,
	cost_pd {int} not null,
	error_code {text},
	error {text},
	created_at {int} not null,
	started_at {int},
	ended_at {int},
	options {text} not null,
	primary key (tenant_id, session_id, id),
	foreign key (tenant_id, session_id) references sessions (tenant_id, id) on delete cascade
) {rows};

-- thoughts is what a provider wants back of what its model thought, as JSON; detail is what is shown to
-- nobody but the run that is under way.
create table messages (
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
	metadata {text} not null default '',
	tool_calls {text} not null,
	thoughts {text} not null default '',
	content {text} not null,
	primary key (tenant_id, session_id, id),
	foreign key (tenant_id, session_id) references sessions (tenant_id, id) on delete cascade
) {rows};

-- A call of a tool: what became of it, so that none that was completed is made again.
create table session_calls (
	tenant_id {text} not null,
	session_id {text} not null,
	message_id {text} not null,
	position {int} not null,
	id {text} not null,
	run_id {text} not null,
	call_id {text} not null,
	tool_id {text},
	name {text} not null,
	state {text} not null,
	child_session_id {text},
	created_at {int} not null,
	started_at {int},
	ended_at {int},
	arguments {text} not null,
	primary key (tenant_id, session_id, message_id, position),
	unique (tenant_id, id),
	foreign key (tenant_id, session_id) references sessions (tenant_id, id) on delete cascade
) {rows};

create table approvals (
	tenant_id {text} not null,
	id {text} not null,
	session_id {text} not null,
	call_id {text} not null,
	tool_name {text} not null,
	status {text} not null,
	decided_by_id {text},
	created_at {int} not null,
	decided_at {int},
	arguments {text} not null,
	primary key (tenant_id, id),
	foreign key (tenant_id, session_id) references sessions (tenant_id, id) on delete cascade
) {rows};
create index approvals_by_session on approvals (tenant_id, session_id, id);
create index approvals_pending on approvals (tenant_id, id) where status = 'pending';

-- What happened in a session, numbered; data is a JSON object.  Written far more often than read: kept in the
-- order of writing, so that a commit does not touch a page for each session.
create table session_events (
	tenant_id {text} not null,
	session_id {text} not null,
	seq {int} not null,
	kind {text} not null,
	created_at {int} not null,
	data {text} not null,
	primary key (tenant_id, session_id, seq),
	foreign key (tenant_id, session_id) references sessions (tenant_id, id) on delete cascade
) {rows};

-- What is too long for a message: whole answers of tools.
create table session_files (
	tenant_id {text} not null,
	session_id {text} not null,
	id {text} not null,
	name {text} not null,
	content_type {text} not null,
	size_bytes {int} not null,
	created_at {int} not null,
	content {bytes} not null,
	primary key (tenant_id, session_id, id),
	foreign key (tenant_id, session_id) references sessions (tenant_id, id) on delete cascade
) {rows};

-- What stands for the messages up to one, once a session has outgrown its model's window.
create table session_summaries (
	tenant_id {text} not null,
	session_id {text} not null,
	last_message_id {text} not null,
	created_at {int} not null,
	content {text} not null,
	primary key (tenant_id, session_id, last_message_id),
	foreign key (tenant_id, session_id) references sessions (tenant_id, id) on delete cascade
) {rows};

-- What an agent keeps between sessions.
create table memories (
	tenant_id {text} not null,
	agent_id {text} not null,
	id {text} not null,
	source_session_id {text},
	created_by_id {text},
	created_at {int} not null,
	content {text} not null,
	content_folded {text} not null,
	primary key (tenant_id, agent_id, id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
) {rows};
