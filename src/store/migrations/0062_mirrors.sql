-- Repositories on other hosts, of which a mirror lies where the files of an embedded one would.  `sealed` holds the token and the
-- secret of the host's push hook; `refs_sha256` says which branches and tags the mirror has; `asked_at` is when somebody last wanted
-- it looked at.  One whose next_attempt_at is null has a job of the queue.
-- admits 45
alter table repositories add column url {text};
alter table repositories add column web_url {text};
alter table repositories add column sealed {text};
alter table repositories add column refs_sha256 {text};
alter table repositories add column complete {int} not null default 0;
alter table repositories add column asked_at {int} not null default 0;
