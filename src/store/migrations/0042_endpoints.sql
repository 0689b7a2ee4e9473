-- What a model can be asked for besides a chat, as bits: 1 chat, 2 embeddings, 4 speech, 8 transcriptions; and
-- what a character that is spoken and a second that is written down cost, in picodollars.
alter table models add column endpoints {int} not null default 1;
alter table models add column character_pd {int};
alter table models add column second_pd {int};
alter table ledger add column characters {int} not null default 0;
alter table ledger add column seconds {int} not null default 0;
alter table reservations add column characters {int} not null default 0;
alter table reservations add column seconds {int} not null default 0;
