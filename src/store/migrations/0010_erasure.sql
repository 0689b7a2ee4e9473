-- Proof that an audit entry was erased by the service: see access/seal.c.
alter table audit_logs add column erase_mac {text};
