-- Everything about who may come in, and proof of what they did.

-- Somebody who was invited and has not answered is a member whose status is `invited`.
alter table members add column status {text} not null default 'active';

create table invitations (
	hash {text} not null primary key,
	tenant_id {text} not null,
	user_id {text} not null,
	created_by_id {text},
	created_at {int} not null,
	expires_at {int} not null,
	foreign key (tenant_id, user_id) references members (tenant_id, user_id) on delete cascade
) {keyed};
create index invitations_by_user on invitations (tenant_id, user_id);
create index invitations_by_end on invitations (expires_at);

create table allowed_accounts (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	email {text} not null,
	email_folded {text} not null,
	created_at {int} not null,
	primary key (tenant_id, id),
	unique (tenant_id, email_folded)
) {rows};
create index allowed_accounts_by_email on allowed_accounts (email_folded, tenant_id);

-- Failed logins, counted by account and by address, so that every process counts together.
create table attempts (
	subject {text} not null primary key,
	failures {int} not null,
	since {int} not null
) {keyed};
create index attempts_by_age on attempts (since);

-- A sign-in at a provider that is under way, and who signed in there before.
create table oidc_flows (
	hash {text} not null primary key,
	provider {text} not null,
	sealed {text} not null,
	created_at {int} not null
) {keyed};
create index oidc_flows_by_age on oidc_flows (created_at);

create table identities (
	provider {text} not null,
	subject {text} not null,
	user_id {text} not null references users (id) on delete cascade,
	created_at {int} not null,
	primary key (provider, subject)
) {keyed};
create index identities_by_user on identities (user_id);

-- The chain of seals: see access/seal.c.
alter table audit_logs add column seal_seq {int};
alter table audit_logs add column seal_salt {text};
alter table audit_logs add column seal_public {text};
alter table audit_logs add column seal_personal {text};
alter table audit_logs add column seal_mac {text};
alter table audit_logs add column erased_at {int};
create index audit_logs_unsealed on audit_logs (id) where seal_seq is null;
create unique index audit_logs_by_seal on audit_logs (seal_seq);
create index audit_logs_by_user on audit_logs (tenant_id, user_id, id);
create index audit_logs_by_agent on audit_logs (tenant_id, agent_id, id);
create index audit_logs_by_action on audit_logs (tenant_id, action, id);

-- What a tenant used on a day; added to as it happens, so that nobody has to scan for it.
create table usage_days (
	tenant_id {text} not null references tenants (id),
	day {int} not null,
	requests {int} not null,
	input_tokens {int} not null,
	output_tokens {int} not null,
	cache_read_tokens {int} not null,
	cache_write_tokens {int} not null,
	cost_usd_whole {int} not null,
	cost_usd_pd {int} not null,
	sessions {int} not null,
	sessions_completed {int} not null,
	sessions_failed {int} not null,
	sessions_cancelled {int} not null,
	messages {int} not null,
	subtasks {int} not null,
	primary key (tenant_id, day)
) {keyed};
create table active_days (
	tenant_id {text} not null references tenants (id),
	day {int} not null,
	kind {text} not null,
	id {text} not null,
	primary key (tenant_id, day, kind, id)
) {keyed};

-- How many agents and members a tenant has: added to as they come and go.  A tenant has several rows, of
-- which a writer takes one by chance, so that writers seldom meet; the sum is what counts.
create table tenant_counts (
	tenant_id {text} not null references tenants (id),
	shard {int} not null,
	agents {int} not null,
	members {int} not null,
	primary key (tenant_id, shard)
) {keyed};
insert into tenant_counts (tenant_id, shard, agents, members)
select t.id, 0, (select count(*) from agents a where a.tenant_id = t.id),
	(select count(*) from members m where m.tenant_id = t.id) from tenants t;

-- Agents with an id behind this one are beyond the tenant's plan and only read; null: none is.
alter table tenants add column read_only_after {text};
create index tenants_by_plan on tenants (plan_id, id);

-- What has been removed so far of tenants that are being erased.
create table erasures (
	tenant_id {text} not null,
	what {text} not null,
	removed {int} not null,
	primary key (tenant_id, what)
) {keyed};
