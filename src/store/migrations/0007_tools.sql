-- Tools, bundles of them, the scanner, and what an agent holds of these.

-- config holds masks where a header has a value; `sealed` holds the values, under the row's id.
create table tools (
	tenant_id {text} not null references tenants (id),
	id {text} not null unique,
	name {text} not null,
	name_folded {text} not null,
	kind {text} not null,
	description {text} not null,
	requires_approval {int} not null,
	repeat_safe {int} not null,
	is_seed {int} not null,
	created_at {int} not null,
	updated_at {int} not null,
	sealed {text} not null,
	input_schema {text} not null,
	config {text} not null,
	primary key (tenant_id, id),
	unique (tenant_id, name)
) {rows};

-- configuration is sealed under the row's id.
create table agent_tools (
	tenant_id {text} not null,
	agent_id {text} not null,
	tool_id {text} not null,
	id {text} not null unique,
	is_enabled {int} not null,
	created_at {int} not null,
	updated_at {int} not null,
	configuration {text} not null,
	primary key (tenant_id, agent_id, tool_id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
	foreign key (tenant_id, tool_id) references tools (tenant_id, id)
) {rows};
create index agent_tools_by_tool on agent_tools (tenant_id, tool_id);

create table tool_bundles (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	name {text} not null,
	name_folded {text} not null,
	slug {text} not null,
	description {text},
	created_at {int} not null,
	updated_at {int} not null,
	primary key (tenant_id, id),
	unique (tenant_id, slug)
) {rows};

create table tool_bundle_tools (
	tenant_id {text} not null,
	bundle_id {text} not null,
	tool_id {text} not null,
	primary key (tenant_id, bundle_id, tool_id),
	foreign key (tenant_id, bundle_id) references tool_bundles (tenant_id, id) on delete cascade,
	foreign key (tenant_id, tool_id) references tools (tenant_id, id)
) {keyed};
create index tool_bundle_tools_by_tool on tool_bundle_tools (tenant_id, tool_id);

create table agent_tool_bundles (
	tenant_id {text} not null,
	agent_id {text} not null,
	bundle_id {text} not null,
	granted_by_user_id {text},
	created_at {int} not null,
	primary key (tenant_id, agent_id, bundle_id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
	foreign key (tenant_id, bundle_id) references tool_bundles (tenant_id, id)
) {keyed};
create index agent_tool_bundles_by_bundle on agent_tool_bundles (tenant_id, bundle_id);

-- One a tenant; the token is sealed under the row's id.
create table scanners (
	tenant_id {text} not null primary key references tenants (id),
	id {text} not null unique,
	provider {text} not null,
	base_url {text} not null,
	organization {text} not null,
	token {text} not null,
	created_at {int} not null,
	updated_at {int} not null
) {rows};

-- A revoked grant keeps its row.
create table scanner_grants (
	tenant_id {text} not null,
	agent_id {text} not null,
	id {text} not null,
	repo_name {text},
	granted_by_user_id {text},
	revoked_at {int},
	created_at {int} not null,
	primary key (tenant_id, agent_id, id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
) {rows};
create unique index scanner_grants_standing
	on scanner_grants (tenant_id, agent_id, coalesce(repo_name, '')) where revoked_at is null;
