-- Fills a PostgreSQL store that the service has made with tenants and agents, as seed.c does on SQLite:
--   psql -v tenants=10000 -v agents=1000000 -f many.sql STORE
-- Each tenant has an owner, a key and its share of the agents, which were made in turn.  The table bench_keys keeps the keys.
\set ON_ERROR_STOP on
set client_min_messages = warning;
set synchronous_commit = off;
set work_mem = '512MB';
set session_replication_role = replica; -- foreign keys hold by what is written here
begin;
-- c, eleven digits of time, thirteen of chance: of a number, so that the same one gives the same id.
create function bench_id(us bigint, salt text) returns text language sql immutable as $$
	select 'c' || string_agg(substr('0123456789abcdefghijklmnopqrstuvwxyz', (us / (36::numeric ^ k)::bigint % 36)::int + 1, 1), '' order by k desc)
		|| substr(md5(salt || us), 1, 13) from generate_series(0, 10) k
$$;
-- As token_new() of the service makes them: forty of base 62, and six of their digest.
create function bench_token(n bigint) returns text language plpgsql immutable as $$
declare
	base62 constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
	token text := 'lodge_key_' || md5('a' || n) || substr(md5('b' || n), 1, 8);
	digest numeric := ('x' || encode(substr(sha256(convert_to(token, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint;
begin
	if digest < 0 then
		digest := digest + 18446744073709551616;
	end if;
	for i in 1..6 loop
		token := token || substr(base62, (digest % 62)::int + 1, 1);
		digest := div(digest, 62);
	end loop;
	return token;
end $$;
create temp table began as select (extract(epoch from now()) * 1000000)::bigint - (:tenants + :agents + 1) * 997::bigint as us;
create table bench_keys as select n, bench_id(us + n * 997, 'tenant') as tenant_id, bench_id(us + n * 997, 'user') as user_id, us + n * 997 as at,
	bench_token(n) as token from began, generate_series(0, :tenants - 1) n;
insert into users (id, email, email_folded, name, is_super_admin, is_suspended, created_at, updated_at, email_proven_at)
select user_id, 'owner-' || n || '@example.org', 'owner-' || n || '@example.org', 'Somebody', 0, 0, at, at, at from bench_keys;
insert into tenants (id, name, slug, plan_id, plan_status, status, paid, allow_superadmin_access, default_skill_visibility_scope,
	external_mail_enabled, voicebox_enabled, require_user_model_grants, created_at, updated_at)
select tenant_id, 'tenant-' || n, 'tenant-' || n, (select id from plans limit 1), 'active', 'active', 0, 1, 'private_only', 0, 0, 1, at, at from bench_keys;
insert into members (tenant_id, user_id, role, created_at, updated_at) select tenant_id, user_id, 'OWNER', at, at from bench_keys;
insert into api_keys (tenant_id, id, user_id, name, hash, created_at)
select tenant_id, bench_id(at, 'key'), user_id, 'bench', encode(sha256(convert_to(token, 'UTF8')), 'hex'), at from bench_keys;
insert into tenant_counts (tenant_id, shard, agents, members) select tenant_id, 0, :agents / :tenants, 1 from bench_keys;
create temp table made as select k.tenant_id, k.user_id, bench_id(us + (:tenants + i) * 997, 'agent') as id, us + (:tenants + i) * 997 as at,
	'Support Desk ' || lpad(i::text, 7, '0') as name, 'support-desk-' || lpad(i::text, 7, '0') as slug
from began, generate_series(0, :agents - 1) i join bench_keys k on k.n = i % :tenants;
insert into agent_rows (tenant_id, id, name, slug, kind, resource_class, code_ref, is_active, is_admin_only, is_seed, hidden, default_role_enabled,
	can_author_skills, editor_enabled, external_mail_enabled, meeting_managed, environment_mode, skill_visibility_scope, created_by_id,
	created_at, updated_at, name_folded, description)
select tenant_id, id, name, slug, 'user', 'small', 'main', 1, 0, 0, 0, 1, 0, 0, 1, 0, 'shared', 'private_only', user_id, at, at, lower(name),
	'Answers what customers ask, and hands over what it cannot answer.' from made;
insert into directory (id, tenant_id) select id, tenant_id from made;
insert into agent_roles (tenant_id, agent_id, user_id, role, created_at, updated_at) select tenant_id, id, user_id, 'OWNER', at, at from made;
insert into search_things (tenant_id, type, id, level, label, detail, words) select tenant_id, 'agent', id, 0, name, slug, lower(name) from made;
insert into search_words (tenant_id, visibility, type, score, tail, id)
select tenant_id, 'open', 'agent', 1 + 3 * (i - 1), (regexp_match(lower(name), '(?:\S+ ){' || i - 1 || '}(.*)'))[1], id from made, generate_series(1, 3) i;
drop function bench_id, bench_token;
commit;
vacuum analyze;
