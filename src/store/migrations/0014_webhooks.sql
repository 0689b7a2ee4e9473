-- Inbound webhooks: what may send events here, what was sent, and what became of it.

drop table integrations;

-- A row is one address to which events are sent: of a service, or (with skill_id) of a skill of an agent.
-- sealed holds the signing secrets: the one that counts, and the one before it until before_until.
-- revision changes with every change of the row.
create table integrations (
	tenant_id {text} not null references tenants (id),
	id {text} not null unique,
	agent_id {text} not null,
	skill_id {text},
	provider {text} not null,
	label {text} not null,
	is_active {int} not null,
	revision {int} not null default 1,
	before_until {int},
	last_event_at {int},
	created_by_id {text},
	created_at {int} not null,
	updated_at {int} not null,
	token_hash {text},
	delivery_id_header {text},
	sealed {text} not null default '',
	guardrails {text} not null default '',
	instructions {text},
	primary key (tenant_id, id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade,
	foreign key (tenant_id, agent_id, skill_id) references agent_skills (tenant_id, agent_id, skill_id) on delete cascade
) {rows};
create index integrations_by_agent on integrations (tenant_id, agent_id, id);

-- The calls.  delivery_key is the id under which the sender's event is not taken a second time; null while
-- it may be.  A row of calls that were refused may stand for many.  made_session_id outlives its session.
create table deliveries (
	tenant_id {text} not null,
	integration_id {text} not null,
	id {text} not null,
	delivery_key {text},
	delivery_id {text} not null,
	status {text} not null,
	outcome {text} not null,
	event {text},
	action {text},
	caller_ip {text},
	user_agent {text},
	calls {int} not null,
	attempts {int} not null,
	created_at {int} not null,
	delivered_at {int},
	made_session_id {text},
	error {text},
	summary {text},
	body {text} not null,
	primary key (tenant_id, integration_id, id),
	unique (tenant_id, integration_id, delivery_key),
	foreign key (tenant_id, integration_id) references integrations (tenant_id, id) on delete cascade
) {rows};
create index deliveries_refused on deliveries (tenant_id, integration_id, id) where status in ('rejected', 'blocked');

-- Events that were taken and whose rows have been forgotten: not taken again all the same.
create table deliveries_past (
	tenant_id {text} not null,
	integration_id {text} not null,
	delivery_key {text} not null,
	id {text} not null,
	primary key (tenant_id, integration_id, delivery_key),
	foreign key (tenant_id, integration_id) references integrations (tenant_id, id) on delete cascade
) {keyed};

-- When the next event would come if all of them kept to the rate; only where there is one.
create table integration_rates (
	tenant_id {text} not null,
	integration_id {text} not null,
	due_at {int} not null,
	primary key (tenant_id, integration_id),
	foreign key (tenant_id, integration_id) references integrations (tenant_id, id) on delete cascade
) {keyed};
