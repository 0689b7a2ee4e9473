-- Stores that were made before version 11 have promises and one index in an earlier shape; here they get the one
-- that all others have.
create table reservations_kept as select * from reservations;
drop table reservations;
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
insert into reservations (tenant_id, id, agent_id, model_id, user_id, session_id, byok, amount_pd, input_tokens,
	output_tokens, lease_until)
	select tenant_id, id, agent_id, model_id, user_id, session_id, byok, amount_pd, input_tokens, output_tokens,
	lease_until from reservations_kept;
drop table reservations_kept;

drop index ledger_by_agent;
create index ledger_by_agent on ledger (tenant_id, agent_id, id, cost_pd) where cost_pd > 0;
