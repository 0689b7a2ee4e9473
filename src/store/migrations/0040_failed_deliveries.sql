-- What could not be delivered, of all integrations of a tenant.
create index deliveries_failed on deliveries (tenant_id, id) where status = 'failed';
