-- Addresses that were invited, became no account, and that nobody invites any more.
delete from users where is_suspended = 0 and is_super_admin = 0 and password_hash is null
	and email_proven_at is null
	and not exists (select 1 from identities i where i.user_id = users.id)
	and not exists (select 1 from members m where m.user_id = users.id);
