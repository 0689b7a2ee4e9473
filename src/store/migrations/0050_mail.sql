-- The mail of agents.  A message is a row on each side: one with whoever sent it, one with each agent that got it.  Threads are
-- a mailbox's own.  by_user_id and by_key_id are as whom an agent is woken by it.
-- admits 45
create table mail_threads (
	tenant_id {text} not null,
	agent_id {text} not null,
	id {text} not null,
	mailbox_id {text} not null,
	subject {text} not null,
	participants {text} not null,
	message_count {int} not null,
	unread_count {int} not null,
	last_message_id {text} not null,
	last_message_at {int} not null,
	session_id {text},
	created_at {int} not null,
	primary key (tenant_id, agent_id, id),
	foreign key (tenant_id, agent_id) references agent_rows (tenant_id, id) on delete cascade
) {rows};
create unique index mail_threads_by_last on mail_threads (tenant_id, agent_id, last_message_id);
create index mail_threads_by_session on mail_threads (tenant_id, session_id) where session_id is not null;

create table mail_messages (
	tenant_id {text} not null,
	agent_id {text} not null,
	id {text} not null,
	mailbox_id {text} not null,
	thread_id {text} not null,
	direction {text} not null,
	state {text} not null,
	verdict {text} not null,
	sender {text} not null,
	recipients {text} not null,
	cc {text} not null,
	bcc {text} not null,
	subject {text} not null,
	preview {text} not null,
	body {text} not null,
	extracted_text {text},
	html {text},
	html_text {text},
	labels {text} not null,
	unread {int} not null,
	message_id_header {text} not null,
	in_reply_to {text},
	refs {text} not null,
	size_bytes {int} not null,
	attachments {text} not null,
	object_key {text},
	hops {int} not null,
	automatic {int} not null,
	by_user_id {text},
	by_key_id {text},
	session_id {text},
	run_id {text},
	error {text},
	subject_folded {text} not null,
	preview_folded {text} not null,
	created_at {int} not null,
	sent_at {int},
	primary key (tenant_id, agent_id, id),
	foreign key (tenant_id, agent_id) references agent_rows (tenant_id, id) on delete cascade
) {rows};
create index mail_messages_by_thread on mail_messages (tenant_id, agent_id, thread_id, id);
create index mail_messages_by_header on mail_messages (tenant_id, mailbox_id, message_id_header);
create index mail_messages_by_object on mail_messages (tenant_id, object_key) where object_key is not null;
create index mail_messages_by_run on mail_messages (tenant_id, run_id) where run_id is not null;
create index mail_messages_automatic on mail_messages (tenant_id, agent_id, recipients, created_at) where automatic = 1;

create table mail_attachments (
	tenant_id {text} not null,
	agent_id {text} not null,
	id {text} not null,
	message_id {text} not null,
	filename {text} not null,
	content_type {text} not null,
	size_bytes {int} not null,
	object_key {text} not null,
	created_at {int} not null,
	primary key (tenant_id, agent_id, id),
	foreign key (tenant_id, agent_id) references agent_rows (tenant_id, id) on delete cascade
) {rows};
create index mail_attachments_by_message on mail_attachments (tenant_id, agent_id, message_id, id);
create index mail_attachments_by_object on mail_attachments (tenant_id, object_key);

-- Who may write to an agent and whom it may write to, and what follows; those of a tenant hold for all of its agents.
create table mail_rules (
	tenant_id {text} not null,
	agent_id {text} not null,
	allow_from {text} not null,
	block_from {text} not null,
	allow_to {text} not null,
	reply {text} not null,
	wake {text} not null,
	primary key (tenant_id, agent_id),
	foreign key (tenant_id, agent_id) references agent_rows (tenant_id, id) on delete cascade
) {rows};
create table tenant_mail_rules (
	tenant_id {text} not null references tenants (id),
	allow_from {text} not null,
	block_from {text} not null,
	allow_to {text} not null,
	reply {text} not null,
	wake {text} not null,
	primary key (tenant_id)
) {rows};

-- Addresses that nothing is sent to any more: they bounced hard or complained.
create table mail_suppressions (
	tenant_id {text} not null references tenants (id),
	id {text} not null,
	address {text} not null,
	reason {text} not null,
	created_at {int} not null,
	primary key (tenant_id, id)
) {rows};
create unique index mail_suppressions_by_address on mail_suppressions (tenant_id, address);
