-- What a tenant sees of somebody whom it has invited and who has not accepted: an id of the invitation, and the address and
-- name as they were given, whether or not there is an account.  Older invitations show the user, as they have done.
alter table members add column invited_as {text};
alter table members add column invited_email {text};
alter table members add column invited_name {text};
create index members_shown on members
	(tenant_id, (case when status = 'invited' then coalesce(invited_as, user_id) else user_id end));
