-- Whose runs find a memory: everybody's (shared), or those of one person; private without a person are those that
-- runs without one have kept.
alter table memories add column scope {text} not null default 'shared';
alter table memories add column user_id {text};
create index memories_of on memories (user_id) where user_id is not null;
