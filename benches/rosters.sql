-- Fills a store that seed.c has filled with what the rosters of the super administrator read: five more
-- members for each tenant, thirty days of use, who was active on them, the counts, and some of the log.
pragma journal_mode = off;
pragma synchronous = off;
pragma cache_size = -400000;
begin;
create temp table mine as select row_number() over (order by id) as n, id from tenants;
create temp table five as with recursive i(k) as (select 1 union all select k + 1 from i where k < 5) select k from i;
create temp table days as with recursive i(d) as
	(select 0 union all select d + 1 from i where d < 29) select cast(unixepoch() / 86400 as integer) - d as day from i;
insert into users (id, email, email_folded, name, is_super_admin, is_suspended, email_proven_at, created_at, updated_at)
select printf('c%024d', m.n * 10 + f.k), printf('member-%d-%d@example.org', m.n, f.k), printf('member-%d-%d@example.org', m.n, f.k),
	'Somebody', 0, 0, m.n, m.n, m.n from mine m, five f;
insert into members (tenant_id, user_id, role, created_at, updated_at)
select m.id, printf('c%024d', m.n * 10 + f.k), 'MEMBER', m.n, m.n from mine m, five f;
insert into usage_days (tenant_id, day, shard, requests, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
	cost_whole, cost_pd, sessions, sessions_completed, sessions_failed, sessions_cancelled, messages, subtasks)
select m.id, d.day, 0, 170, 26000, 7000, 43000, 3000, 0, 425000000000, 8, 7, 1, 0, 104, 2 from mine m, days d order by m.id, d.day;
insert into active_days (tenant_id, day, kind, id)
select m.id, d.day, k.kind, printf('c%024d', m.n * 10 + f.k) from mine m, days d, (select 'agent' as kind union all select 'user') k, five f
order by m.id, d.day, k.kind, f.k;
delete from tenant_counts;
insert into tenant_counts (tenant_id, shard, agents, members) select id, 0, 3, 6 from mine;
insert into audit_logs (id, tenant_id, action, resource_type, meta, created_at, seal_seq)
select printf('c%024d', m.n * 10 + f.k), m.id, 'agent.update', 'agent', '{}', m.n, -(m.n * 10 + f.k) from mine m, five f;
commit;
pragma journal_mode = wal;
