-- The objects of each tenant's bucket.  The bytes lie elsewhere, under the name `blob`, which no other bytes ever have: so
-- that an object is replaced by changing its row.
-- admits 45
create table bucket_objects (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	key {text} not null,
	blob {text} not null,
	size_bytes {int} not null,
	sha256 {text} not null,
	content_type {text} not null,
	created_at {int} not null,
	updated_at {int} not null,
	primary key (tenant_id, id)
) {rows};
create unique index bucket_objects_by_key on bucket_objects (tenant_id, key);
create unique index bucket_objects_by_blob on bucket_objects (tenant_id, blob);

-- What they come to.
create table bucket_usage (
	tenant_id {text} not null references tenants (id),
	size_bytes {int} not null,
	primary key (tenant_id)
) {rows};

-- Bytes that no row names any more, on their way out; the folder outlives its tenant for as long as that takes.
create table bucket_trash (
	folder {text} not null,
	blob {text} not null,
	since {int} not null,
	primary key (folder, blob)
) {rows};
create index bucket_trash_since on bucket_trash (since, folder, blob);
