-- Skills, their files, and what an agent may do with them.

-- `files` lists path, size and digest of what skill_files holds, so that a list of skills is one read.
-- Long text comes last.
create table skills (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	name {text} not null,
	slug {text} not null,
	visibility {text} not null,
	license {text},
	compatibility {text},
	is_seed {int} not null,
	created_by_id {text},
	created_by_agent_id {text},
	created_at {int} not null,
	updated_at {int} not null,
	name_folded {text} not null,
	description {text} not null,
	description_folded {text} not null,
	allowed_tools {text} not null,
	metadata {text} not null,
	files {text} not null,
	instructions {text} not null,
	primary key (tenant_id, id),
	unique (tenant_id, slug)
) {rows};
create unique index skills_by_id on skills (id);
create index skills_by_visibility on skills (visibility, id);

-- The bytes of a file as base64, which both engines keep as text.
create table skill_files (
	tenant_id {text} not null,
	skill_id {text} not null,
	path {text} not null,
	size_bytes {int} not null,
	sha256 {text} not null,
	content {text} not null,
	primary key (tenant_id, skill_id, path),
	foreign key (tenant_id, skill_id) references skills (tenant_id, id) on delete cascade
) {rows};

-- The skills an agent holds; a public one may be another tenant's.  The configuration is sealed, with the
-- row's own id as its context.
create table agent_skills (
	tenant_id {text} not null,
	agent_id {text} not null,
	skill_id {text} not null,
	skill_tenant_id {text} not null,
	id {text} not null unique,
	is_enabled {int} not null,
	created_at {int} not null,
	config_sealed {text},
	primary key (tenant_id, agent_id, skill_id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
	foreign key (skill_tenant_id, skill_id) references skills (tenant_id, id) on delete cascade
) {rows};
create index agent_skills_by_skill on agent_skills (skill_tenant_id, skill_id);

create table agent_skill_permissions (
	tenant_id {text} not null,
	agent_id {text} not null,
	skill_id {text} not null,
	skill_tenant_id {text} not null,
	action {text} not null,
	allowed {int} not null,
	created_at {int} not null,
	primary key (tenant_id, agent_id, skill_id, action),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
	foreign key (skill_tenant_id, skill_id) references skills (tenant_id, id) on delete cascade
) {keyed};
create index agent_skill_permissions_by_skill on agent_skill_permissions (skill_tenant_id, skill_id);
