-- How many bytes wait to be removed: for each tenant they count towards a limit of their own.
-- admits 45
alter table bucket_trash add column size_bytes {int} not null default 0;
alter table bucket_usage add column trash_bytes {int} not null default 0;
