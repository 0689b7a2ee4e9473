-- Models, who reaches them, and which an agent or a person may call.

-- Prices are picodollars a token, null where none is set.  `secrets` is sealed: the provider's key and the
-- values of the headers.
create table models (
	id {text} not null primary key,
	name {text} not null,
	slug {text} not null unique,
	kind {text} not null,
	status {text} not null,
	description {text},
	context_window {int},
	supports_tools {int} not null,
	supports_vision {int} not null,
	is_free {int} not null,
	available_to_all_tenants {int} not null,
	prompt_pd {int},
	completion_pd {int},
	cache_read_pd {int},
	cache_write_pd {int},
	base_url {text},
	provider_model {text},
	timeout_s {int} not null,
	total_timeout_s {int} not null,
	max_tokens {int},
	has_api_key {int} not null,
	header_names {text} not null,
	secrets {text},
	failover_chain {text} not null,
	created_at {int} not null,
	updated_at {int} not null
) {rows};

-- Tenants that reach a model which is not open to all.
create table model_tenants (
	tenant_id {text} not null references tenants (id),
	model_id {text} not null references models (id),
	created_at {int} not null,
	primary key (tenant_id, model_id)
) {keyed};

-- An agent's chain: in the order of priority, then of the time of the grant.
create table agent_models (
	tenant_id {text} not null,
	agent_id {text} not null,
	model_id {text} not null references models (id),
	access {text} not null,
	priority {int} not null,
	created_at {int} not null,
	primary key (tenant_id, agent_id, model_id),
	foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete cascade
) {keyed};

-- Models that a user may have called for them.
create table user_models (
	tenant_id {text} not null,
	user_id {text} not null,
	model_id {text} not null references models (id),
	granted_by_id {text},
	created_at {int} not null,
	primary key (tenant_id, user_id, model_id),
	foreign key (tenant_id, user_id) references members (tenant_id, user_id) on delete cascade
) {keyed};
