-- Mail that waits for a person, of all agents of a tenant: an index of few rows.
-- admits 45
create index mail_messages_waiting on mail_messages (tenant_id, id) where state in ('draft', 'held');
