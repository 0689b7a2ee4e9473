/* manual.h - the subcommands as a table, and the help and the man page that follow from it.
 *
 * What is printed comes from the two tables, subcommands and settings, so it
 * cannot fall behind them.  What a subcommand does stands elsewhere. */
#pragma once
#include <stdio.h>

#include "serve/settings.h"

struct arena;
struct problem;

struct subcommand {
	const char *name;      /* one word or two */
	const char *arguments; /* as settings_source.takes: "FILE", "[--man]"; or NULL */
	const char *doc;
	/* Returns the exit status of the program. */
	int (*run)(const struct settings *s, struct arena *a);
	int fault; /* its exit status where flags or settings are wrong; 0: the usual one */
};

extern const struct subcommand subcommands[]; /* the last has no name */

int command_serve(const struct settings *s, struct arena *a);
int command_migrate(const struct settings *s, struct arena *a);
int command_openapi(const struct settings *s, struct arena *a);
int command_check(const struct settings *s, struct arena *a);
int command_backup(const struct settings *s, struct arena *a);
int command_restore(const struct settings *s, struct arena *a);
int command_copy(const struct settings *s, struct arena *a);
int command_bucket_move(const struct settings *s, struct arena *a);
int command_bucket_adopt(const struct settings *s, struct arena *a);
int command_rekey(const struct settings *s, struct arena *a);
int command_give_up_seals(const struct settings *s, struct arena *a);
int command_user_create(const struct settings *s, struct arena *a);
int command_user_list(const struct settings *s, struct arena *a);
int command_user_reset_password(const struct settings *s, struct arena *a);
int command_user_unlock(const struct settings *s, struct arena *a);
int command_user_unlink(const struct settings *s, struct arena *a);
int command_user_prove(const struct settings *s, struct arena *a);
int command_user_delete(const struct settings *s, struct arena *a);
int command_models_import(const struct settings *s, struct arena *a);
int command_skills_import(const struct settings *s, struct arena *a);
int command_skills_export(const struct settings *s, struct arena *a);
int command_agents_import(const struct settings *s, struct arena *a);
int command_agents_export(const struct settings *s, struct arena *a);
int command_queue_list(const struct settings *s, struct arena *a);
int command_queue_retry(const struct settings *s, struct arena *a);
int command_queue_drop(const struct settings *s, struct arena *a);
int command_machine_key_create(const struct settings *s, struct arena *a);
int command_machine_key_list(const struct settings *s, struct arena *a);
int command_machine_key_revoke(const struct settings *s, struct arena *a);
int command_ssh_keys(const struct settings *s, struct arena *a);
int command_git_serve(const struct settings *s, struct arena *a);
int command_repos_adopt(const struct settings *s, struct arena *a);
int command_repos_keep(const struct settings *s, struct arena *a);
int command_image_build(const struct settings *s, struct arena *a);
int command_mail_dkim(const struct settings *s, struct arena *a);
int command_mail_check(const struct settings *s, struct arena *a);
int command_mail_deliver(const struct settings *s, struct arena *a);
int command_mail_intake(const struct settings *s, struct arena *a);
int command_version(const struct settings *s, struct arena *a);
int command_help(const struct settings *s, struct arena *a);

/* The row that argv names after the program, and where the words after its name begin.
 * NULL with ERR_USAGE and a sentence in p. */
const struct subcommand *subcommand_find(
	int argc, char **argv, int *ret_next, struct arena *a, struct problem *p);

/* Every setting with its flag and default, grouped, within 80 columns. */
void settings_print_help(FILE *out);
/* The help of one subcommand, or of the whole program (NULL). */
void manual_print_help(FILE *out, const struct subcommand *one);
/* Of those that begin with this word; false if none does. */
bool manual_print_group(FILE *out, const char *word);
/* The man page lodge(1), as roff. */
void manual_print_page(FILE *out);
