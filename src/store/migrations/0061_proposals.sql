-- What a repository would make of an agent's prompts, where a person decides on it: at most one of an agent waits.  `files` says for
-- each prompt the digests of its text then and of the file, and how they differ.
-- admits 45
create table prompt_proposals (
	tenant_id {text} not null,
	id {text} not null,
	agent_id {text} not null,
	commit_id {text} not null,
	title {text} not null,
	author_name {text},
	status {text} not null,
	fields {text} not null,
	files {text} not null,
	created_at {int} not null,
	decided_at {int},
	decided_by_id {text},
	primary key (tenant_id, id),
	foreign key (tenant_id, agent_id) references agent_rows (tenant_id, id) on delete cascade
) {rows};
create unique index prompt_proposals_pending on prompt_proposals (tenant_id, agent_id) where status = 'pending';
create index prompt_proposals_waiting on prompt_proposals (tenant_id, id) where status = 'pending';
create index prompt_proposals_of on prompt_proposals (tenant_id, agent_id, id);

-- The text of a file that a person did not want as the prompt: it is not asked for again until the file has another.
create table prompt_refusals (
	tenant_id {text} not null,
	agent_id {text} not null,
	field {text} not null,
	sha256 {text} not null,
	commit_id {text} not null,
	refused_at {int} not null,
	primary key (tenant_id, agent_id, field),
	foreign key (tenant_id, agent_id) references agent_rows (tenant_id, id) on delete cascade
) {rows};

-- When the files of a repository were last put in order; null: never.
alter table repositories add column kept_at {int};

-- By the first 80 signs of a key, with which it is found out of all agents: an ed25519 key whole, and more than chance of the others.
create index agents_by_ssh_key on agent_rows (substr(ssh_public_key, 1, 80)) where ssh_public_key is not null;
