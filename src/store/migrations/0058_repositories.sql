-- The git repositories of agents, at most one for each purpose.  The files of an embedded one lie in a folder that is named after
-- its id; `tip` is the commit of the main branch when it was last looked at.
-- admits 45
create table repositories (
	tenant_id {text} not null,
	id {text} not null,
	agent_id {text} not null,
	purpose {text} not null,
	host {text} not null,
	projection {text} not null,
	tip {text},
	observed_at {int},
	last_error {text},
	next_attempt_at {int},
	failures {int} not null,
	size_bytes {int} not null,
	created_at {int} not null,
	updated_at {int} not null,
	primary key (tenant_id, id),
	foreign key (tenant_id, agent_id) references agent_rows (tenant_id, id) on delete cascade
) {rows};
create unique index repositories_by_id on repositories (id);
create unique index repositories_by_agent on repositories (tenant_id, agent_id, purpose);
create index repositories_due on repositories (next_attempt_at, id) where next_attempt_at is not null;

-- Folders that no row names any more, and when they are to go: they outlive their agent (`former`) and their tenant (`owner`).
create table repository_trash (
	id {text} not null primary key,
	owner {text} not null,
	former {text} not null,
	size_bytes {int} not null,
	since {int} not null,
	remove_at {int} not null
) {rows};
create index repository_trash_due on repository_trash (remove_at, id);
create index repository_trash_of on repository_trash (owner, former);

-- What was last taken from the repository into a prompt of the agent: its digest, from which commit, and when.
create table prompt_bases (
	tenant_id {text} not null,
	agent_id {text} not null,
	field {text} not null,
	sha256 {text} not null,
	commit_id {text} not null,
	taken_at {int} not null,
	primary key (tenant_id, agent_id, field),
	foreign key (tenant_id, agent_id) references agent_rows (tenant_id, id) on delete cascade
) {rows};
