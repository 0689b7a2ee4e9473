-- Links by which a new password is set.
create table resets (
	hash {text} not null primary key,
	user_id {text} not null references users (id) on delete cascade,
	created_by_id {text},
	created_at {int} not null,
	expires_at {int} not null
) {keyed};
create index resets_by_user on resets (user_id);
create index resets_by_end on resets (expires_at);

-- Users that are gone and whose audit entries are still to be gone through, tenant by tenant.
create table user_erasures (
	user_id {text} not null primary key,
	after_tenant {text} not null,
	created_at {int} not null
) {keyed};
