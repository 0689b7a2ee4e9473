-- A job whose process died with it: how often, and whether it is why (queue/jobs.h).

-- doomed: the process that ran it alone died.
alter table jobs add column deaths {int} not null default 0;
alter table jobs add column doomed {int} not null default 0;

-- Those that may be why their processes died run alone, and are few.
create index jobs_suspect on jobs (run_at, id) where state = 'waiting' and deaths >= 3 and doomed = 0;
