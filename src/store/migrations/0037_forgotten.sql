-- Words of messages that were deleted before deleting took them out of the log of events and out of summaries.  An event
-- begins with the id of its message.
delete from session_events where kind = 'message' and exists (select 1 from deleted_messages d
	where d.tenant_id = session_events.tenant_id and d.session_id = session_events.session_id
	and d.id = substr(session_events.data, 8, 25));
delete from session_events where kind = 'delta' and exists (select 1 from deleted_messages d
	where d.tenant_id = session_events.tenant_id and d.session_id = session_events.session_id
	and d.id = substr(session_events.data, 16, 25));
delete from session_summaries where exists (select 1 from deleted_messages d
	where d.tenant_id = session_summaries.tenant_id and d.session_id = session_summaries.session_id
	and d.id <= session_summaries.last_message_id);
