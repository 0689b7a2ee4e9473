-- What surrounds an agent: its chat limits, the outside services it is joined to, its picture.

-- An agent without a row here has no limits and no hours.
create table chat_configs (
	tenant_id {text} not null,
	agent_id {text} not null,
	chat_rph_limit {int},
	chat_rpm_limit {int},
	working_hours_days {text},
	working_hours_enabled {int} not null,
	working_hours_start {text},
	working_hours_end {text},
	working_hours_tz {text},
	primary key (tenant_id, agent_id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
) {keyed};

create table integrations (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	agent_id {text} not null,
	provider {text} not null,
	label {text} not null,
	is_active {int} not null,
	created_at {int} not null,
	updated_at {int} not null,
	primary key (tenant_id, id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
) {rows};
create index integrations_by_agent on integrations (tenant_id, agent_id, id);

-- An agent's picture, as it is served; the bytes come last, so that reading the rest does not walk
-- over them.  agents.avatar_sha256 says the same hash.
create table agent_avatars (
	tenant_id {text} not null,
	agent_id {text} not null,
	sha256 {text} not null,
	size_bytes {int} not null,
	updated_at {int} not null,
	png {bytes} not null,
	primary key (tenant_id, agent_id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
) {rows};
