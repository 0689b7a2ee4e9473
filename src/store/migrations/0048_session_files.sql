-- The bytes of a session's files may lie in the tenant's bucket: the object that has them, which several files may name.
-- `content` is empty then.
-- admits 45
alter table session_files add column object_id {text};
create index session_files_by_object on session_files (tenant_id, object_id) where object_id is not null;
-- Those whose bytes are still to be moved there.
create index session_files_in_store on session_files (tenant_id, session_id, id)
	where object_id is null and size_bytes > 16384;
-- From when on, in microseconds: at once where nobody has been served yet; else whoever serves first says it.
insert into meta (key, value) select 'session_files_move_at', '0' where not exists (select 1 from tenants);
