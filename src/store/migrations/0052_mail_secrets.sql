-- Keys that the house's mail has, sealed: what signs the addresses that bounces and answers come back to, and others by name.
-- admits 45
create table mail_secrets (
	name {text} not null,
	sealed {text} not null,
	created_at {int} not null,
	primary key (name)
) {rows};
