-- What can be found by the beginning of a word: see api/search.c.

-- A thing that can be mentioned.  Its words are folded and stand in a row.  A level of 0 shows it to
-- everybody in the tenant; 1 to 3 to those who hold a role of that rank on the agent; 4 to OWNER and ADMIN.
create table search_things (
	tenant_id {text} not null references tenants (id),
	type {text} not null,
	id {text} not null,
	level {int} not null,
	agent_id {text},
	owner_id {text},
	label {text} not null,
	detail {text},
	words {text} not null,
	primary key (tenant_id, type, id)
) {keyed};
create index search_things_by_agent on search_things (tenant_id, agent_id, id) where agent_id is not null;

-- A row for each word and each shelf: all that a caller may see or not see as a whole stands together,
-- best first.  The tail is the thing's words from this one on.
create table search_words (
	tenant_id {text} not null,
	shelf {text} not null,
	type {text} not null,
	score {int} not null,
	tail {text} not null,
	id {text} not null,
	primary key (tenant_id, shelf, type, score, tail, id)
) {keyed};
