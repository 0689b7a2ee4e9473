-- What model calls cost: promised, entered, and summed up.

-- A call that is under way, and the most it can cost.  A process that dies leaves its own behind until
-- their lease is over.
create table reservations (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	agent_id {text} not null,
	model_id {text} not null,
	user_id {text},
	session_id {text},
	byok {int} not null,
	amount_pd {int} not null,
	input_tokens {int} not null,
	output_tokens {int} not null,
	lease_until {int} not null,
	primary key (tenant_id, agent_id, id)
) {keyed};

-- One row a call.  Its id holds the moment it was entered.  agent_id is empty where no agent called.
create table ledger (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	agent_id {text} not null,
	model_id {text} not null,
	user_id {text},
	session_id {text},
	byok {int} not null,
	outcome {text} not null,
	estimated {int} not null,
	input_tokens {int} not null,
	cache_read_tokens {int} not null,
	cache_write_tokens {int} not null,
	output_tokens {int} not null,
	reasoning_tokens {int} not null,
	cost_pd {int} not null,
	primary key (tenant_id, id)
) {keyed};
-- What agents have spent; a call that cost nothing has no part in that.
create index ledger_by_agent on ledger (tenant_id, agent_id, id, cost_pd) where cost_pd > 0;

-- The ledger summed up, added to in the transaction that enters a row.  A sum of money is whole dollars and
-- picodollars below one.  Writers take a shard by chance, so that on a server they seldom meet.
create table cost_days (
	tenant_id {text} not null references tenants (id),
	day {int} not null,
	agent_id {text} not null,
	model_id {text} not null,
	byok {int} not null,
	shard {int} not null,
	requests {int} not null,
	input_tokens {int} not null,
	cache_read_tokens {int} not null,
	cache_write_tokens {int} not null,
	output_tokens {int} not null,
	cost_whole {int} not null,
	cost_pd {int} not null,
	primary key (tenant_id, day, agent_id, model_id, byok, shard)
) {keyed};
create table cost_hours (
	tenant_id {text} not null references tenants (id),
	hour {int} not null,
	agent_id {text} not null,
	model_id {text} not null,
	byok {int} not null,
	shard {int} not null,
	requests {int} not null,
	input_tokens {int} not null,
	cache_read_tokens {int} not null,
	cache_write_tokens {int} not null,
	output_tokens {int} not null,
	cost_whole {int} not null,
	cost_pd {int} not null,
	primary key (tenant_id, hour, agent_id, model_id, byok, shard)
) {keyed};
create table spend_minutes (
	tenant_id {text} not null references tenants (id),
	agent_id {text} not null,
	minute {int} not null,
	shard {int} not null,
	cost_pd {int} not null,
	primary key (tenant_id, agent_id, minute, shard)
) {keyed};
create index spend_minutes_by_age on spend_minutes (minute);

-- Calls begun by agents that have a limit on them: in slots of a second, and of a minute.
create table rate_slots (
	tenant_id {text} not null references tenants (id),
	agent_id {text} not null,
	seconds {int} not null,
	slot {int} not null,
	calls {int} not null,
	primary key (tenant_id, agent_id, seconds, slot)
) {keyed};
create index rate_slots_by_age on rate_slots (seconds, slot);

-- The names of agents that are gone, for the reports in which they still stand.
create table former_agents (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	name {text} not null,
	primary key (tenant_id, id)
) {keyed};

drop table usage_days;
create table usage_days (
	tenant_id {text} not null references tenants (id),
	day {int} not null,
	shard {int} not null,
	requests {int} not null,
	input_tokens {int} not null,
	output_tokens {int} not null,
	cache_read_tokens {int} not null,
	cache_write_tokens {int} not null,
	cost_whole {int} not null,
	cost_pd {int} not null,
	sessions {int} not null,
	sessions_completed {int} not null,
	sessions_failed {int} not null,
	sessions_cancelled {int} not null,
	messages {int} not null,
	subtasks {int} not null,
	primary key (tenant_id, day, shard)
) {keyed};

-- A tenant's own keys at providers, sealed.
create table provider_keys (
	tenant_id {text} not null references tenants (id),
	provider {text} not null,
	id {text} not null,
	base_url {text},
	sealed {text} not null,
	created_at {int} not null,
	updated_at {int} not null,
	primary key (tenant_id, provider)
) {keyed};
create unique index provider_keys_by_id on provider_keys (id);
