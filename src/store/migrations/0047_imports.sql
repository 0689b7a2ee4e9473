-- Which agent was made of which file: the same file again is the same agent, for as long as it is there.
-- admits 45
create table agent_imports (
	tenant_id {text} not null,
	sha256 {text} not null,
	agent_id {text} not null,
	source_platform {text} not null,
	created_at {int} not null,
	primary key (tenant_id, sha256),
	foreign key (tenant_id, agent_id) references agent_rows (tenant_id, id) on delete cascade
) {rows};
create index agent_imports_agent on agent_imports (tenant_id, agent_id);
