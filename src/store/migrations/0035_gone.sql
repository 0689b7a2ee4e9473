-- What is deleted is gone at once, and its rows go a piece at a time: an agent, a session, a thread or an integration may
-- hold gigabytes.  The row itself stays, with the time at which it was deleted, until nothing hangs on it any more.  So
-- that no statement can forget to ask, what everybody reads under the old names are views of those that are there;
-- whoever writes, or sweeps, names the rows.  (A column that is added to such a table later: drop the view, create it anew.)
-- What belongs to an agent that is gone is gone with it, without being touched.
alter table agents rename to agent_rows;
alter table agent_rows add column gone_at {int};
create index agents_gone on agent_rows (gone_at, tenant_id, id) where gone_at is not null;
create view agents as select * from agent_rows where gone_at is null;

alter table sessions rename to session_rows;
alter table session_rows add column gone_at {int};
create index sessions_gone on session_rows (gone_at, tenant_id, id) where gone_at is not null;
create view sessions as select s.* from session_rows s where s.gone_at is null and exists
	(select 1 from agent_rows a where a.tenant_id = s.tenant_id and a.id = s.agent_id and a.gone_at is null);

alter table threads rename to thread_rows;
alter table thread_rows add column gone_at {int};
create index threads_gone on thread_rows (gone_at, tenant_id, id) where gone_at is not null;
create view threads as select * from thread_rows where gone_at is null;

alter table integrations rename to integration_rows;
alter table integration_rows add column gone_at {int};
create index integrations_gone on integration_rows (gone_at, tenant_id, id) where gone_at is not null;
create view integrations as select i.* from integration_rows i where i.gone_at is null and exists
	(select 1 from agent_rows a where a.tenant_id = i.tenant_id and a.id = i.agent_id and a.gone_at is null);
