-- Texts of skills by which agents work although the skill has gone on: see api/skill_versions.c.  They lie with the
-- skill, once for all who hold them.  Long text comes last.
create table skill_versions (
	tenant_id {text} not null,
	skill_id {text} not null,
	digest {text} not null,
	created_at {int} not null,
	name {text} not null,
	slug {text} not null,
	description {text} not null,
	allowed_tools {text} not null,
	metadata {text} not null,
	files {text} not null,
	instructions {text} not null,
	primary key (tenant_id, skill_id, digest),
	foreign key (tenant_id, skill_id) references skills (tenant_id, id) on delete cascade
) {rows};

create table skill_version_files (
	tenant_id {text} not null,
	skill_id {text} not null,
	digest {text} not null,
	path {text} not null,
	size_bytes {int} not null,
	sha256 {text} not null,
	content {text} not null,
	primary key (tenant_id, skill_id, digest, path),
	foreign key (tenant_id, skill_id, digest) references skill_versions (tenant_id, skill_id, digest) on delete cascade
) {rows};

-- The version an agent works by; null follows the skill.
alter table agent_skills add column digest {text};

-- What other tenants' agents hold is pinned as it is now, under a name of its own.
insert into skill_versions (tenant_id, skill_id, digest, created_at, name, slug, description, allowed_tools, metadata,
	files, instructions)
	select tenant_id, id, 'before', updated_at, name, slug, description, allowed_tools, metadata, files, instructions
	from skills s where exists (select 1 from agent_skills g where g.skill_tenant_id = s.tenant_id
	and g.skill_id = s.id and g.tenant_id <> s.tenant_id);
insert into skill_version_files (tenant_id, skill_id, digest, path, size_bytes, sha256, content)
	select f.tenant_id, f.skill_id, 'before', f.path, f.size_bytes, f.sha256, f.content from skill_files f
	join skill_versions v on v.tenant_id = f.tenant_id and v.skill_id = f.skill_id;
update agent_skills set digest = 'before' where tenant_id <> skill_tenant_id;
