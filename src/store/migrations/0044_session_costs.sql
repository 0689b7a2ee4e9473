-- What the calls of one session came to is summed up when it is asked for, from these alone.
create index ledger_by_session on ledger
	(tenant_id, session_id, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_pd)
	where session_id is not null;
