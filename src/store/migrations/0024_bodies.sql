-- Digests of bodies that were taken, so that they are not taken again under another id; only where that is asked for.
create table delivery_bodies (
	tenant_id {text} not null,
	integration_id {text} not null,
	digest {text} not null,
	seen_at {int} not null,
	primary key (tenant_id, integration_id, digest),
	foreign key (tenant_id, integration_id) references integrations (tenant_id, id) on delete cascade
) {keyed};
create index delivery_bodies_by_age on delivery_bodies (seen_at);
