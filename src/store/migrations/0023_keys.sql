-- The processes that seal secrets: which master keys each knows by name, and with which one it seals.  See access/holders.h.
create table key_holders (
	id {text} primary key,
	name {text} not null,
	sealing {text} not null,
	knows {text} not null,
	fault {text} not null,
	beat {int} not null,
	seen_at {int} not null
) {rows};
