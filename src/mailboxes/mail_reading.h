/* mail_reading.h - mail that was taken from outside is read: the job "mail.read", from an arrival to a message.
 *
 * Reading waits for the disk, for the parser in its own process and for the
 * DNS, so that it has threads of its own, few, and tenants take turns on them.
 * What follows is one transaction, which takes the job off. */
#pragma once
#include "queue/runner.h"

struct bucket;
struct helper;
struct pool;
struct mail_reader;

struct mail_reader *mail_reader_new(struct store *store);
/* What it works with, before the first job begins; they outlive it. */
void mail_reader_join(
	struct mail_reader *r, struct bucket *bucket, struct helper *helper, struct pool *disk);
struct job_kind mail_reader_job_kind(struct mail_reader *r);
/* Waits for what is being read.  Behind the runner's stop, and before the store's. */
void mail_reader_stop(struct mail_reader *r);
void mail_reader_free(struct mail_reader *r);
