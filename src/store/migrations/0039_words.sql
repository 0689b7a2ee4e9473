-- Columns by the names that the code has for them: who finds what, and the message that an answer comes after.
alter table search_words rename column shelf to visibility;
alter table responses rename column behind to after_id;
