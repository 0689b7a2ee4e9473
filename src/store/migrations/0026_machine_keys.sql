-- Credentials of scrapers and operators' scripts, which belong to nobody and to no tenant.
create table machine_keys (
	id {text} not null primary key,
	name {text} not null,
	purpose {text} not null,
	hash {text} not null unique,
	created_at {int} not null,
	last_used_at {int}
) {rows};
