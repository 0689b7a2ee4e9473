/* files.h - the files that settings name: are they there, can the service read them, are they closed to
 * others, do they hold what they should?
 *
 * The rows of the settings say what each file is for.  Nothing here changes a file or keeps a secret. */
#pragma once
#include "serve/settings.h"

enum { FILES_FAULTS_MAX = 64 };

struct files_report {
	const char *faults[FILES_FAULTS_MAX]; /* sentences that begin with the setting's name */
	size_t fault_count;
	const char *warnings[FILES_FAULTS_MAX];
	size_t warning_count;
};

/* Looks at all of them.  Run by root, it judges for the user to whom the data folder belongs. */
void files_look(const struct settings *s, struct arena *a, struct files_report *ret);
/* At the certificate and its key alone, with our own eyes. */
void files_look_tls(const struct settings *s, struct arena *a, struct files_report *ret);
