-- What the texts of mail come to, of each message and of a tenant: they count towards what its bucket may hold.
-- admits 45
alter table mail_messages add column held_bytes {int} not null default 0;
alter table bucket_usage add column mail_bytes {int} not null default 0;
