/* delivery.h - what a mail server says of one recipient that it could not reach, or could (RFC 3464). */
#pragma once

struct mail_delivery {
	const char *recipient;	/* an address, or "" */
	const char *action;	/* "failed", "delayed", … */
	const char *status;	/* "5.1.1" */
	const char *diagnostic; /* or "" */
};
