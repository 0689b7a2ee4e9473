-- A tenant that is deleted is closed at once; its rows go from erase_at on.  Until then it can be restored to
-- status_before.  Closing alone sets neither.
alter table tenants add column erase_at {int};
alter table tenants add column status_before {text};
create index tenants_to_erase on tenants (erase_at) where erase_at is not null;

-- Closed was deleted until now.  What has lost rows loses the rest; the others get the thirty days.
update tenants set erase_at = updated_at +
	case when exists (select 1 from erasures e where e.tenant_id = tenants.id) then 0 else 2592000000000 end
	where status = 'closed';
