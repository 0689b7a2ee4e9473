-- What waits for room: see broker/room.h.

-- A job that waits for its lane's hours, rate or budget, and since when; both empty for all others.
alter table jobs add column waits_for {text};
alter table jobs add column waits_since {int};
create index jobs_waits on jobs (tenant_id, lane, waits_since, id) where waits_for is not null;

-- What it waits for, as people see it, and when it is tried next; empty: no time would help.
alter table sessions add column waiting_for {text};
alter table sessions add column waiting_until {int};

-- admitted: it was counted against the agent's rate, or needs not be.  refuses: what it fails for instead of
-- waiting, a bit each: 1 hours, 2 budget.
alter table session_runs add column priority {int} not null default 0;
alter table session_runs add column admitted {int} not null default 1;
alter table session_runs add column refuses {int} not null default 0;
