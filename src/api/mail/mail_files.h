/* mail_files.h - the files that come with a message that is written, from the request into the tenant's bucket. */
#pragma once
#include "call/operation.h"
#include "mailboxes/mail_post.h"

/* The steps of an operation with `attachments`, of which each takes the next on; c->own is theirs.  What is wrong with the list. */
void mail_check_files(struct call *c, const struct list *attachments);
/* Of `look`: which files they are, whether the bucket has their bytes, and room for those that it has not. */
int mail_look_at_files(struct call *c, const struct list *attachments);
/* `prepare`, on a thread for disks: brings what is not there. */
int mail_bring_files(struct call *c);
/* Of `apply`: the rows that name the bytes, and the files into the posting. */
int mail_keep_files(struct call *c, struct mail_posting *o);
