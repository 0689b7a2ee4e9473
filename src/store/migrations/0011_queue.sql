-- Work that is waiting to be done: see queue/jobs.h.

-- A job that was done has no row any more.  waiting: may be taken now; delayed: from run_at on; held: as
-- soon as its lane has room; running: by `owner`; dead: not again, unless somebody asks for it.  Of one
-- lane (an agent) only so many run at once.
create table jobs (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	kind {text} not null,
	subject {text} not null,
	lane {text} not null,
	state {text} not null,
	priority {int} not null,
	run_at {int} not null,
	attempts {int} not null,
	max_attempts {int} not null,
	owner {text},
	created_at {int} not null,
	updated_at {int} not null,
	error {text},
	payload {text} not null,
	primary key (tenant_id, id)
) {rows};

-- Each state has its own index, so that taking the next never passes by what cannot be taken.
create index jobs_waiting on jobs (tenant_id, priority desc, run_at, id) where state = 'waiting';
create index jobs_delayed on jobs (run_at, tenant_id, id) where state = 'delayed';
create index jobs_held on jobs (tenant_id, lane, priority desc, run_at, id) where state = 'held';
create index jobs_running on jobs (tenant_id, lane, owner) where state = 'running';
create index jobs_dead on jobs (id) where state = 'dead';
-- For those who watch over the queue: they know a job by its id alone.
create unique index jobs_by_id on jobs (id);

-- Those who run jobs, and until when they are believed to live.
create table job_runners (
	owner {text} primary key,
	lease_until {int} not null
) {rows};
