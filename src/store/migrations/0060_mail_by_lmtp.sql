-- Whether mail was handed over by a server of the same machine (LMTP), whose word about the sender may be believed.  Of what came before
-- nobody knows; it is believed nothing.
-- admits 45
alter table mail_arrivals add column by_lmtp {int} not null default 0;
