-- Fills the mailbox of a agent in `how_many` with as many messages as that says, ten in each thread.
create temp table box as select m.tenant_id, m.agent_id, m.id from mailboxes m where m.kind = 'internal' and m.agent_id = (select agent_id from how_many);
create temp table one as with recursive i(n) as (select 0 union all select n + 1 from i where n + 1 < (select n from how_many)) select n from i;
insert into mail_threads (tenant_id, agent_id, id, mailbox_id, subject, participants, message_count, unread_count, last_message_id, last_message_at, created_at)
select b.tenant_id, b.agent_id, printf('c%024d', o.n), b.id, 'Invoices of May', '["ann@example.org"]', 10, 10, printf('c%024d', o.n + 9), o.n + 9, o.n
from box b, one o where o.n % 10 = 0;
insert into mail_messages (tenant_id, agent_id, id, mailbox_id, thread_id, direction, state, verdict, sender, recipients, cc, bcc, subject, preview, body,
	labels, unread, message_id_header, refs, size_bytes, attachments, hops, automatic, subject_folded, preview_folded, created_at)
select b.tenant_id, b.agent_id, printf('c%024d', o.n), b.id, printf('c%024d', o.n - o.n % 10), 'in', 'received', 'pass', 'ann@example.org', '["desk@example.org"]', '[]', '[]',
	'Invoices of May', 'Please check them, all of them, before the end of the week.', 'Please check them, all of them, before the end of the week.',
	'[]', 1, o.n || '@example.org', '[]', 2000, '[]', 0, 0, 'invoices of may', 'please check them', o.n
from box b, one o;
