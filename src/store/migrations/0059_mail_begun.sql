-- People whom the mailbox of an address has begun to write to within a day, so that they are counted though the agent be made again.
-- admits 45
create table mail_begun (
	tenant_id {text} not null,
	mailbox {text} not null,
	id {text} not null,
	primary key (tenant_id, mailbox, id)
) {rows};
