-- Who may give a tool to an agent, and whether the word on its calls must be a person's.  A tool with secrets
-- is lent by those who set it up.
alter table tools add column grantable_by {text} not null default 'members';
alter table tools add column person_only {int} not null default 0;
update tools set grantable_by = 'admins' where kind <> 'builtin' and sealed <> '';
