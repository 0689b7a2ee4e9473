-- The key that another was made with: revoking it revokes both.
alter table api_keys add column made_with_id {text};
create index api_keys_made_with on api_keys (tenant_id, made_with_id) where made_with_id is not null;
