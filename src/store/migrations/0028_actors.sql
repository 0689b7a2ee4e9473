-- As whom runs act: key_id is the key they were begun with, hook_id the integration that began them where no
-- person did.
alter table session_runs add column key_id {text};
alter table session_runs add column hook_id {text};
update session_runs set hook_id = (select max(d.integration_id) from deliveries d
	where d.tenant_id = session_runs.tenant_id and d.made_session_id = session_runs.session_id)
	where user_id is null and status in ('queued', 'in_progress', 'requires_action');
create index session_runs_waiting on session_runs (tenant_id, session_id, id) where status = 'queued';

-- Who answers for an integration, and the key they set it up with.
alter table integrations add column acts_as_id {text};
alter table integrations add column key_id {text};
update integrations set acts_as_id = created_by_id;

-- Where a message stands in what the model reads, if that is not where it was said: z and the run that will hear it
-- while it waits for one, the id of its place from then on.
alter table messages add column heard_id {text};
create index messages_heard on messages (tenant_id, session_id, heard_id) where heard_id is not null;
