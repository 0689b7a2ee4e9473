-- What the user of an agent on another host of repositories (`host`, its address) has of the agent: the picture and the key that were
-- last brought there.  `job_id` is the job that brings what is missing.
-- admits 45
create table agent_host_users (
	tenant_id {text} not null,
	agent_id {text} not null,
	host {text} not null,
	avatar_sha256 {text},
	ssh_public_key {text},
	job_id {text},
	failures {int} not null,
	last_error {text},
	updated_at {int} not null,
	primary key (tenant_id, agent_id),
	foreign key (tenant_id, agent_id) references agent_rows (tenant_id, id) on delete cascade
) {rows};
