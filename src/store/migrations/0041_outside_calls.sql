-- Calls that wait for a result from outside, by the id that their model gave them: a client that keeps its
-- conversation itself names nothing else when it brings the result.
create index session_calls_outside on session_calls (tenant_id, call_id) where state = 'waiting_client';
