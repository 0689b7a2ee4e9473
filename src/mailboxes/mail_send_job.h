/* mail_send_job.h - hands mail to the relay: the job "mail.send", on threads of its own that may wait. */
#pragma once
#include "access/vault.h"
#include "queue/runner.h"

struct bucket;
struct mail_sender;
struct smtp_relay;

/* The last two are looked at when a message is sent. */
struct mail_sender_settings {
	struct store *store;
	struct vault *vault;
	struct bucket *const *bucket;
	const struct smtp_relay *const *relay;
};

struct mail_sender *mail_sender_new(const struct mail_sender_settings *settings);
/* After the runner has stopped: what is under way is broken off, and will be tried again. */
void mail_sender_free(struct mail_sender *s);
/* For the runner's table. */
struct job_kind mail_sender_kind(struct mail_sender *s);
