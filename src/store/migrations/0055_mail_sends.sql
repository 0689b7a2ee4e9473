-- Mail on its way to the outside: a row for each recipient of a message, whose job hands it to the relay; it goes with the message.
-- Whom an agent has written to outside, and when first, so that new ones can be counted.
-- admits 45
create table mail_sends (
	tenant_id {text} not null,
	id {text} not null,
	agent_id {text} not null,
	message_id {text} not null,
	address {text} not null,
	state {text} not null,
	attempts {int} not null,
	said {text},
	created_at {int} not null,
	primary key (tenant_id, id),
	foreign key (tenant_id, agent_id) references agent_rows (tenant_id, id) on delete cascade,
	foreign key (tenant_id, agent_id, message_id) references mail_messages (tenant_id, agent_id, id) on delete cascade
) {rows};
create unique index mail_sends_by_message on mail_sends (tenant_id, message_id, address);
create index mail_sends_by_agent on mail_sends (tenant_id, agent_id, id);

create table mail_correspondents (
	tenant_id {text} not null,
	agent_id {text} not null,
	address {text} not null,
	first_at {int} not null,
	primary key (tenant_id, agent_id, address),
	foreign key (tenant_id, agent_id) references agent_rows (tenant_id, id) on delete cascade
) {rows};
create index mail_correspondents_by_time on mail_correspondents (tenant_id, agent_id, first_at);
create index mail_messages_by_sender on mail_messages (tenant_id, mailbox_id, sender) where direction = 'in';
