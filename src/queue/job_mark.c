/* job_mark.c - what every change of a job needs: whose it is, what becomes of it, and telling those who wait; see
 * parts.h. */
#include <stdio.h>
#include <string.h>

#include "base/utf8_cut.h"
#include "queue/parts.h"

int jobs_tell(struct db *db, const char *tenant_id, int64_t run_at, int64_t now)
{
	char text[32];

	if (run_at <= now)
		return db_notice(db, JOBS_CHANNEL, tenant_id);
	snprintf(text, sizeof text, "@%lld", (long long)run_at);
	return db_notice(db, JOBS_CHANNEL, text);
}

const char *job_owner(const struct job *job)
{
	return ((const struct claimed *)job->own)->owner;
}

void job_note(const struct job *job, int how)
{
	((struct claimed *)job->own)->how = how;
}

const char *job_error_cut(char to[JOB_ERROR_MAX + 1], const char *text)
{
	size_t len = text ? utf8_cut(text, strlen(text), JOB_ERROR_MAX) : 0;

	if (!text)
		return NULL;
	memcpy(to, text, len);
	to[len] = '\0';
	return to;
}
