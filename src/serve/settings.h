/* settings.h - what whoever runs the program may choose, and where each choice came from.
 *
 * One table over struct settings says everything: a row's name is its key in
 * lodge.conf, --its-name is its flag, LODGE_ITS_NAME its variable.  Reading,
 * checking, --help, the manual and the tests walk the rows.  A flag outranks
 * a variable, a variable the file, the file the default.  This file knows
 * what a good value looks like, never what it is used for; passwords and the
 * like are no settings. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct problem;

/* The kind of a row comes from its member, so sizes, durations and lists are types of their own. */
struct settings_size {
	int64_t bytes;
};

struct settings_span {
	int64_t ms;
};

struct settings_network {
	uint8_t address[16]; /* IPv4 as ::ffff:a.b.c.d */
	int bits;	     /* of 128 */
};

struct settings_networks {
	const char *text; /* as given */
	const struct settings_network *at;
	size_t count;
};

struct settings_origin;

struct settings {
	const char *config; /* the file that was read, or "" */
	const char *listen, *public_url;
	const char *tls_cert, *tls_key; /* both or neither; "" for plain HTTP */
	struct settings_networks trusted_proxies;
	const char *data, *store, *store_direct, *store_replica, *master_key_file, *bucket,
		*bucket_also;
	const char *repo_folder, *image_base, *repo_host_url, *repo_host_token_file,
		*repo_host_namespace;
	int repo_host;	    /* index of its words */
	int image_pipeline; /* enum image_pipeline */
	const char *bucket_endpoint, *bucket_region, *bucket_key_id, *bucket_secret_file;
	bool bucket_path_style;
	int64_t loops, store_workers, slow_workers, tool_threads;
	int64_t jobs, agent_jobs; /* at a time */
	struct settings_span job_lease;
	struct settings_size max_body, max_head, bucket_bytes_max, repo_max_bytes;
	struct settings_size request_memory, tenant_memory, address_memory, house_memory;
	int64_t repo_keep_hour, max_headers, max_connections, address_connections, person_streams,
		tenant_streams;
	struct settings_span header_timeout, body_timeout, idle_timeout, reply_timeout;
	struct settings_span parked_timeout, patient_timeout, stop_grace;
	int log_level, log_format; /* enum log_level, enum log_format */
	bool access_log;
	bool console, open_tenants, accounting;
	const char *allow_private_addresses; /* true, false, or a list of places; see private_all */
	const char *openai_key_file, *anthropic_key_file;
	const char *oidc;
	const char *mail_domain, *mail_from;
	const char *lmtp_listen, *smtp_listen;
	const char *smtp_relay, *smtp_relay_user, *smtp_relay_password_file, *smtp_relay_ca;
	const char *mail_authserv_id, *mail_resolver;
	struct settings_size mail_max_bytes;
	int64_t mail_new_recipients_per_day;
	bool mail_provisioning;
	struct settings_span session_lifetime, session_idle, webhook_log, erase_delay, hold_max;

	bool private_all; /* allow_private_addresses is true, and no list */

	/* What came with the settings but is none: */
	bool help;		      /* --help: nothing else was checked */
	const char *const *arguments; /* what is not a flag, and the flags named in `takes` */
	size_t argument_count;
	const struct settings_origin *origins; /* one a row; see settings_given */
	/* Variables LODGE_... that are neither a setting nor anything else the program reads: sentences,
	 * NULL-terminated.  A warning and no error, because Kubernetes itself sets some for a service
	 * that is called lodge. */
	const char *const *unknown_variables;
	const struct settings_source *source; /* to read them again */
};

enum setting_kind {
	SETTING_FLAG,
	SETTING_NUMBER,
	SETTING_SIZE,
	SETTING_SPAN,
	SETTING_WORD,
	SETTING_TEXT,
	SETTING_NETWORKS,
};

/* What a setting that names a file expects of it; see files.c. */
enum setting_file {
	FILE_NONE,
	FILE_FOLDER,	  /* in which the service writes */
	FILE_CERTIFICATE, /* of tls_key */
	FILE_TLS_KEY,
	FILE_MASTER_KEY,  /* made by the first start */
	FILE_SECRET,	  /* one line */
	FILE_AUTHORITIES, /* certificates that vouch for others */
	FILE_SOCKET,	/* unix:PATH, made by the service; what is no path is looked at elsewhere */
	FILE_PROVIDERS, /* a list of OpenID providers, each with a file of its own */
};

struct setting {
	const char *name;
	size_t at; /* offset of the member */
	enum setting_kind kind;

	const char *group;   /* its heading in the help */
	const char *preset;  /* the default, as it would be written */
	const char *derived; /* what an empty value stands for, for people; or NULL */
	int64_t min, max;    /* value, bytes or ms; for text its length, for lists their items */
	const char *const *words; /* NULL-terminated; the index is the value */
	const char *shows;	  /* stands for the value in the help */
	/* Texts with a form of their own: the test, "is not <what>; give <wanted>". */
	bool (*check)(const char *text);
	const char *what, *wanted;
	bool secret;  /* a value may hold a password: never shown */
	bool no_key;  /* not in the file */
	bool or_flag; /* true or false besides a text: its flag alone says true, --no-flag false */
	enum setting_file file;
	bool reloads; /* SIGHUP brings a new value into force; the others need a restart */
	const char *doc;
};

extern const struct setting settings_table[];
extern const size_t settings_count;
/* Variables LODGE_... that are no settings; the last is NULL. */
extern const char *const settings_other_variables[];

struct settings_source {
	const char *command; /* the subcommand, for sentences */
	/* What it takes besides settings, as in the table of subcommands: "FILE" must be given,
	 * "[FILE]" may be, "[--man]" is a flag without a value.  NULL: nothing. */
	const char *takes;
	int argc; /* the words after the subcommand */
	char **argv;
	char **envp; /* NULL-terminated, or NULL */
	/* Read the first that exists when none is named; NULL-terminated.  NULL: the usual two. */
	const char *const *files;
};

/* Fills s from all places; what it points to lives in a.  0, or ERR_USAGE with one sentence in p
 * that names the setting, its place and what would be right. */
int settings_load(
	struct settings *s, struct arena *a, const struct settings_source *from, struct problem *p);
/* True unless the setting has its default. */
bool settings_given(const struct settings *s, const char *name);
/* True if the row's value is another one in b than in a. */
bool settings_differ(const struct setting *row, const struct settings *a, const struct settings *b);
/* True if the address (IPv4 or IPv6, as text) lies in one of the networks. */
bool settings_networks_hold(const struct settings_networks *n, const char *address);

/* Lets the whole process call what allow_private_addresses lists. */
void settings_open_places(const struct settings *s);

/* The settings in force, in the form of lodge.conf, each with where it came from. */
void settings_print(FILE *out, const struct settings *s);

/* The row, or NULL. */
const struct setting *setting_named(const char *name);
/* "--max-body" and "LODGE_MAX_BODY"; out has room for SETTING_NAME_MAX. */
enum { SETTING_NAME_MAX = 64 };
void setting_flag(const struct setting *row, char *out);
void setting_variable(const struct setting *row, char *out);
/* What a value may be: "bytes, or a number with k, m or g, from 1k to 1g". */
const char *setting_wanted(const struct setting *row, struct arena *a);

/* Keeps the name nearest to a mistyped word: at most two letters added, dropped or changed. */
struct settings_guess {
	size_t distance;
	char name[SETTING_NAME_MAX];
};
#define SETTINGS_NO_GUESS ((struct settings_guess){ .distance = 3 })
void settings_guess(struct settings_guess *best, const char *typed, const char *name);
