-- An agent's mailboxes, at most one of each kind.  `enabled` follows the flags of tenant and agent, `paused` is what somebody
-- said; mail goes in and out where both allow it.  What hangs on the agent goes with it.
-- admits 45
create table mailboxes (
	tenant_id {text} not null,
	id {text} not null,
	agent_id {text} not null,
	kind {text} not null,
	address {text} not null,
	enabled {int} not null,
	paused {int} not null,
	message_count {int} not null,
	last_message_at {int},
	created_at {int} not null,
	primary key (tenant_id, id),
	foreign key (tenant_id, agent_id) references agent_rows (tenant_id, id) on delete cascade
) {rows};
create unique index mailboxes_by_id on mailboxes (id);
create unique index mailboxes_by_address on mailboxes (address);
create unique index mailboxes_by_agent on mailboxes (tenant_id, agent_id, kind);
