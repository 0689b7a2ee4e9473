-- Whether an address was proven to be its user's, and the tenant through whose invitation the password was set while it
-- was not: see docs/accounts.md.
alter table users add column email_proven_at {int};
alter table users add column password_tenant_id {text};

-- Those whom the operator made, and those who have only ever signed in at a provider that vouched for the address.
update users set email_proven_at = created_at where is_super_admin = 1 or (password_hash is null
	and exists (select 1 from identities i where i.user_id = users.id));
-- For anybody else the oldest membership stands for the invitation that set the password.
update users set password_tenant_id = (select m.tenant_id from members m where m.user_id = users.id
	order by m.created_at, m.tenant_id limit 1)
	where email_proven_at is null and password_hash is not null;
-- Into their further tenants they were taken without having proven the address: they are invited there, as they would
-- be now.  A tenant is left an OWNER.
update members set status = 'invited' where status = 'active'
	and exists (select 1 from users u where u.id = members.user_id and u.email_proven_at is null
		and u.password_tenant_id <> members.tenant_id)
	and (role <> 'OWNER' or exists (select 1 from members o join users p on p.id = o.user_id
		where o.tenant_id = members.tenant_id and o.user_id <> members.user_id and o.role = 'OWNER'
		and o.status = 'active' and (p.email_proven_at is not null or p.password_tenant_id = o.tenant_id)));
