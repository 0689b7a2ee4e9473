/* mailbox_job.h - the mailboxes of a whole tenant brought in line with its flags: the job "mail.converge". */
#pragma once
#include "queue/runner.h"

/* In the transaction that changes the tenant's flag. */
int mailbox_job_add(struct db *db, struct arena *a, const char *tenant_id, int64_t now);
/* For the runner's table. */
struct job_kind mailbox_job_kind(struct store **store);
