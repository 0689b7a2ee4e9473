-- The session that was given the agent's bootstrap_instructions; null until one is.  Agents that have been at
-- work were given them in every session.
alter table agents add column bootstrap_session_id {text};
update agents set bootstrap_session_id = '' where exists
	(select 1 from sessions s where s.tenant_id = agents.tenant_id and s.agent_id = agents.id);

-- When a session had taken as many turns as its agent's iteration_warn_threshold.
alter table sessions add column attention_at {int};
