-- Case is folded by the whole of Unicode, and of addresses by ASCII alone.  What is stored folded was folded by these rules; it
-- is folded anew by the program that finds another version here (search/refold.c).
insert into meta (key, value) values ('fold_version', '1');
