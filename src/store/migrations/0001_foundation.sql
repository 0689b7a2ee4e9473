-- The tables everything stands on.  Every tenant table leads its key with tenant_id.
-- Times are microseconds, flags 0 or 1, choices their words, lists and objects JSON text.

create table meta (
	key {text} not null primary key,
	value {text} not null
) {keyed};
insert into meta (key, value) values ('schema_version', '0');

create table plans (
	id {text} not null primary key,
	name {text} not null,
	slug {text} not null unique,
	monthly_price_pd {int} not null,
	max_agents {int},
	max_members {int},
	max_sessions_per_day {int},
	created_at {int} not null
) {rows};

create table tenants (
	{place}
	id {text} not null unique,
	name {text} not null,
	slug {text} not null unique,
	plan_id {text} not null references plans (id),
	plan_status {text} not null,
	status {text} not null,
	billing_email {text},
	paid {int} not null,
	allow_superadmin_access {int} not null,
	default_skill_visibility_scope {text} not null,
	external_mail_enabled {int} not null,
	voicebox_enabled {int} not null,
	require_user_model_grants {int} not null,
	abandoned_warning_sent_at {int},
	created_at {int} not null,
	updated_at {int} not null
) {rows};

create table users (
	id {text} not null primary key,
	email {text} not null,
	email_folded {text} not null unique,
	name {text},
	password_hash {text},
	is_super_admin {int} not null,
	is_suspended {int} not null,
	created_at {int} not null,
	updated_at {int} not null,
	last_login_at {int}
) {rows};

create table members (
	tenant_id {text} not null references tenants (id),
	user_id {text} not null references users (id),
	role {text} not null,
	created_at {int} not null,
	updated_at {int} not null,
	primary key (tenant_id, user_id)
) {keyed};
create index members_by_user on members (user_id, tenant_id);

create table groups (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	name {text} not null,
	description {text},
	created_at {int} not null,
	updated_at {int} not null,
	primary key (tenant_id, id),
	unique (tenant_id, name)
) {rows};

create table group_members (
	tenant_id {text} not null,
	group_id {text} not null,
	user_id {text} not null,
	created_at {int} not null,
	primary key (tenant_id, group_id, user_id),
	foreign key (tenant_id, group_id) references groups (tenant_id, id) on delete cascade,
	foreign key (tenant_id, user_id) references members (tenant_id, user_id) on delete cascade
) {keyed};
create index group_members_by_user on group_members (tenant_id, user_id, group_id);

-- Login tokens and keys are kept as hashes only.
create table logins (
	hash {text} not null primary key,
	user_id {text} not null references users (id) on delete cascade,
	ip {text},
	user_agent {text},
	created_at {int} not null,
	expires_at {int} not null,
	last_used_at {int} not null
) {keyed};
create index logins_by_user on logins (user_id);
create index logins_by_end on logins (expires_at);

create table api_keys (
	tenant_id {text} not null,
	id {text} not null,
	user_id {text} not null,
	name {text} not null,
	hash {text} not null unique,
	scopes {text},
	created_at {int} not null,
	expires_at {int},
	last_used_at {int},
	primary key (tenant_id, id),
	foreign key (tenant_id, user_id) references members (tenant_id, user_id) on delete cascade
) {rows};
create index api_keys_by_user on api_keys (tenant_id, user_id, id);

-- Long text comes last, so that reading the rest does not walk over it.  On SQLite a row's place keeps
-- the agents of a tenant together in the file, however the tenants' creations mix in time.
create table agents (
	{place}
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	name {text} not null,
	slug {text} not null,
	kind {text} not null,
	resource_class {text} not null,
	code_ref {text} not null,
	image_ref {text},
	repo_url {text},
	is_active {int} not null,
	is_admin_only {int} not null,
	is_seed {int} not null,
	hidden {int} not null,
	default_role_enabled {int} not null,
	can_author_skills {int} not null,
	editor_enabled {int} not null,
	external_mail_enabled {int} not null,
	meeting_managed {int} not null,
	environment_mode {text} not null,
	skill_visibility_scope {text} not null,
	iteration_warn_threshold {int},
	hourly_limit_pd {int},
	voice {text},
	avatar_sha256 {text},
	created_by_id {text},
	created_by_agent_id {text},
	created_at {int} not null,
	updated_at {int} not null,
	name_folded {text} not null,
	ssh_public_key {text},
	description {text},
	initial_greeting {text},
	description_prompt {text},
	bootstrap_instructions {text},
	unique (tenant_id, id),
	unique (tenant_id, slug)
) {rows};
create index agents_shown on agents (tenant_id, hidden);
create index agents_by_name on agents (tenant_id, name, id);
create index agents_by_update on agents (tenant_id, updated_at, id);

create table agent_roles (
	tenant_id {text} not null,
	agent_id {text} not null,
	user_id {text} not null,
	role {text} not null,
	created_at {int} not null,
	updated_at {int} not null,
	primary key (tenant_id, agent_id, user_id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
	foreign key (tenant_id, user_id) references members (tenant_id, user_id) on delete cascade
) {keyed};
create index agent_roles_by_user on agent_roles (tenant_id, user_id, agent_id);

create table agent_group_roles (
	tenant_id {text} not null,
	agent_id {text} not null,
	group_id {text} not null,
	role {text} not null,
	created_at {int} not null,
	updated_at {int} not null,
	primary key (tenant_id, agent_id, group_id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
	foreign key (tenant_id, group_id) references groups (tenant_id, id) on delete cascade
) {keyed};
create index agent_group_roles_by_group on agent_group_roles (tenant_id, group_id, agent_id);

create table favorites (
	tenant_id {text} not null,
	user_id {text} not null,
	agent_id {text} not null,
	created_at {int} not null,
	primary key (tenant_id, user_id, agent_id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
) {keyed};
create index favorites_by_agent on favorites (tenant_id, agent_id);

-- Which tenant an id belongs to, for paths that come without one.
create table directory (
	id {text} not null primary key,
	tenant_id {text} not null
) {keyed};

create table audit_logs (
	id {text} not null primary key,
	tenant_id {text},
	user_id {text},
	agent_id {text},
	action {text} not null,
	resource_type {text} not null,
	resource_id {text},
	ip {text},
	user_agent {text},
	meta {text} not null,
	created_at {int} not null
) {rows};
create index audit_logs_by_tenant on audit_logs (tenant_id, id);

-- What was answered to a request that carried an Idempotency-Key, sealed.
create table idempotency (
	hash {text} not null primary key,
	body_hash {text} not null,
	status {int} not null,
	reply {text} not null,
	created_at {int} not null
) {keyed};
create index idempotency_by_age on idempotency (created_at);
