-- What a call sends: `sent` is its arguments with the agent's configuration in their places and secrets masked, empty
-- where they are the model's own; `mark` is a digest of that and of the tool as it was, by which a call that was approved
-- is known to be the same one when it is made.
alter table session_calls add column sent {text};
alter table session_calls add column mark {text};

-- Names of the arguments that the agent's configuration sets, as a JSON list.
alter table approvals add column pinned {text} not null default '[]';
