/* manual.c - prints the tables of subcommands and settings for people; see manual.h.
 *
 * Two forms: plain text within 80 columns, and roff for man(1).  Neither
 * knows any setting or subcommand by name. */
#include "serve/manual.h"

#include <string.h>
#include <sysexits.h>

#include "base/arena.h"
#include "base/error.h"
#include "serve/open.h"

enum { WIDTH = 80, INDENT = 2, DOC_AT = 30 };

const struct subcommand subcommands[] = {
	{ "serve", NULL, "Run the service until it is told to stop.", command_serve },
	{ "migrate", "[--new]",
		"Bring the store up to this version and stop. Where there is a master key in the data folder and no store, "
		"serve and migrate refuse, since a store is missing then; with --new an empty one is made.",
		command_migrate },
	{ "openapi", NULL, "Print the OpenAPI document of the service.", command_openapi },
	{ "check", "[--audit] [--repositories] [--objects]",
		"Check the settings and the files they name, the store and the tables of the program, and "
		"open every sealed secret; print what is in force. Run by root, files are judged for the "
		"user to whom the data folder belongs. "
		"With --audit, prove too that no sealed row of the audit log was changed or removed. With --repositories, have git look "
		"whether all is there that the refs of each agent's repository name. With --objects, read "
		"every object of the tenants' buckets, files of sessions among them, and hold it against its row, and every object of the "
		"repositories.",
		command_check },
	{ "backup", "FILE",
		"Write a copy of the store to FILE while the service runs, and one of the agents' repositories to the folder "
		"FILE.repositories. A store that is older than the program is copied as it is. It ends with 1 if the folder of a repository is "
		"missing.",
		command_backup },
	{ "restore",
		"FILE [--repositories FOLDER] [--without-repositories] [--incomplete] [--adopt]",
		"Put a copy that backup made in the place of the SQLite store, with the service stopped. The copy is proven "
		"first, and the former store is kept beside it. A store on PostgreSQL must be empty: the rows of FILE are "
		"brought there as by copy. FILE.repositories, or FOLDER, takes the place of the agents' repositories, of which the "
		"former are kept too; without it a copy whose agents have some is refused, unless --without-repositories leaves those "
		"that are there, and so is one whose repositories are not all there and whole, unless --incomplete puts back what there is. "
		"A folder of another store's repositories is taken only with --adopt. A restore that was broken off goes on when it is run again.",
		command_restore },
	{ "copy", "--from URL --to URL [--anew] [--quiet]",
		"Copy all of a store into another that is empty, each at sqlite:PATH or postgres://..., with the service stopped. "
		"Every row is read again and held against its source; until then the target is not served. One that was "
		"broken off goes on when the same command is run again; with --anew it begins again. With --quiet it does "
		"not say how far it is. The master key stays the same.",
		command_copy },
	{ "bucket move", "--to BUCKET [--quiet]",
		"Copy the bytes of all objects that are not there yet to BUCKET, dir:PATH or s3://BUCKET/PREFIX, while the service runs, and "
		"hold each against its digest. One that was broken off goes on when it is run again. Nothing is removed; it says at the end "
		"how the processes go over (docs/bucket.md). With --quiet it does not say how far it is.",
		command_bucket_move },
	{ "bucket adopt", NULL,
		"Give the place that the setting bucket names the mark of this store, whatever mark it has so far: after its disk was "
		"lost, or a copy of it put elsewhere without the mark. The service of another store then no longer starts with it "
		"(docs/bucket.md).",
		command_bucket_adopt },
	{ "rekey", "[--anew]",
		"Make a new master key and seal every secret with it, while the service runs. It waits until every "
		"process that serves the store has taken the new key in, says for whom it waits, and "
		"goes on where it was when it is run again; with --anew it begins again after one whose key file "
		"is lost. Copies of the store that were made before open only with the former key.",
		command_rekey },
	{ "give-up-seals", "[--yes]",
		"For a master key that is lost: show what of the store cannot be opened with any key that is left, and with "
		"--yes give it up. A new key is made, what opens is sealed with it, and what does not is marked "
		"as gone, so that those who own it are told to enter it anew; kept replies and sign-ins under way are "
		"dropped, and the audit log says from where on it is proven again. The service must be stopped.",
		command_give_up_seals },
	{ "user create", NULL,
		"Make a super administrator with the address in LODGE_ADMIN_EMAIL and the password in "
		"LODGE_ADMIN_PASSWORD.",
		command_user_create },
	{ "user list", NULL,
		"Show everybody who has an account: whether the address is proven, who is super "
		"administrator or suspended, and in how many tenants they are.",
		command_user_list },
	{ "user reset-password", "ADDRESS",
		"Print a link by which the user sets a new password; good once, for 24 hours.",
		command_user_reset_password },
	{ "user unlock", "ADDRESS",
		"Forget the wrong passwords that were tried for the user, from wherever.",
		command_user_unlock },
	{ "user unlink", "ADDRESS",
		"Unlink the user from whoever they are at OpenID providers, and end every login: for an "
		"address that was given to somebody else there.",
		command_user_unlink },
	{ "user prove", "ADDRESS",
		"Say that the address is the user's own, so that they may join further tenants. If it "
		"was not proven before, their password, logins, keys and invitations' tokens end.",
		command_user_prove },
	{ "user delete", "ADDRESS",
		"Delete the user with logins, keys, memberships and roles; the service erases what is "
		"personal in the audit log. Refused for the last OWNER of a tenant.",
		command_user_delete },
	{ "models import", "FILE",
		"Make models, or bring their prices up to date, from a list in JSON: an array of what "
		"POST /admin/models takes, or LiteLLM's model_prices_and_context_window.json. Models "
		"are known by their slug. A new one without a key is disabled until it is configured, "
		"unless the list states its status.",
		command_models_import },
	{ "agents import", "TENANT_SLUG FILE [NAME] [--dry-run]",
		"Make an agent of the tenant from FILE: a bundle of Lodge, or what another platform exports "
		"(docs/import.md lists them). NAME takes the place of the name in it. The same file again is the same agent. With --dry-run, tell "
		"what would come of it and make nothing.",
		command_agents_import },
	{ "agents export", "TENANT_SLUG AGENT_SLUG FILE [--sessions] [--memories]",
		"Write an agent of the tenant as a bundle to FILE, which must not be there yet, with its "
		"sessions and shared memories if asked for. It holds no secrets.",
		command_agents_export },
	{ "skills import", "TENANT_SLUG FOLDER [--replace]",
		"Import the skill in FOLDER (SKILL.md and its files, in the Agent Skills format) into "
		"the tenant, as a private skill. With --replace, in the place of the tenant's skill of "
		"that name.",
		command_skills_import },
	{ "skills export", "TENANT_SLUG SKILL_SLUG FOLDER",
		"Write a skill of the tenant to FOLDER/SKILL_SLUG, which must not be there yet; "
		"FOLDER is made if it is not there.",
		command_skills_export },
	{ "queue list", NULL,
		"Show how many jobs wait, run and are dead, by kind, and the newest dead ones.",
		command_queue_list },
	{ "queue retry", "JOB_ID", "Try a dead job again, from its first attempt on.",
		command_queue_retry },
	{ "queue drop", "JOB_ID", "Forget a job that is not running.", command_queue_drop },
	{ "machine-key create", "--for PURPOSE [NAME]",
		"Make a credential for a scraper or a script, and print its token, which is shown only "
		"then. It is made for metrics (GET /metrics) or for admin-read (all that is read under "
		"/admin), and opens nothing else.",
		command_machine_key_create },
	{ "machine-key list", NULL, "Show the machine keys, and when each was last used.",
		command_machine_key_list },
	{ "machine-key revoke", "KEY_ID", "Take a machine key back, from the next request on.",
		command_machine_key_revoke },
	{ "ssh-keys", "[KIND KEY]",
		"For AuthorizedKeysCommand of OpenSSH: print the keys of agents as lines of authorized_keys, each of which runs git-serve "
		"and nothing else; with KIND and KEY (%t and %k) that key alone.",
		command_ssh_keys },
	{ "git-serve", "FINGERPRINT",
		"For such a line: serve one fetch or one push of the repositories of agents with that key (SHA-256 of its kind and "
		"bytes), as SSH_ORIGINAL_COMMAND asks.",
		command_git_serve },
	{ "repos adopt", NULL,
		"Give the folder that the setting repo_folder names the mark of this store, whatever mark it has so far: after its disk "
		"was lost, or a copy of it was put there by hand. The service of another store then no longer starts with it "
		"(docs/repositories.md).",
		command_repos_adopt },
	{ "repos keep", "[--all]",
		"Put the files of the repositories that changed since the last time in order, as the service does at repo_keep_hour: "
		"objects into packs, and the index by which histories are read fast. One at a time, and not one that somebody pushes to. "
		"With --all, those too that did not change.",
		command_repos_keep },
	{ "image build",
		"TENANT_SLUG AGENT_SLUG [--ref REF] [--archive FILE] [--push IMAGE] [--base IMAGE] [--as-root]",
		"Build the image of an agent from its image repository, at REF or main, with buildah; write it to FILE or push it to a "
		"registry, and print what image_ref should hold. Run by root, the user to whom the data folder belongs builds; "
		"with --as-root, root does. With --base, on another base image (docs/images.md).",
		command_image_build },
	{ "mail dkim", "DOMAIN [--rotate] [--remove]",
		"Make the key that mail from DOMAIN is signed with, if it has none, and print the records to publish in the DNS. With "
		"--rotate, make the next key; run again with --rotate when its record is in the DNS, have it used. With --remove, take "
		"its keys away (docs/operating.md).",
		command_mail_dkim },
	{ "mail check", NULL,
		"Go to the relay as the service would, without sending anything, and to the service as a mail server would, ask the DNS for what should be published, and "
		"say of each thing that is wrong what mends it. Exits with 1 if anything is.",
		command_mail_check },
	{ "mail deliver", "[--from ADDRESS] RECIPIENT...",
		"Read a message from standard input and hand it over to the service at lmtp_listen, for a mail server that calls "
		"a program. Ends with 0 when every recipient has it; with 75 when it is to be tried again, because the service is away, "
		"cannot take it now, or flags and settings are wrong; with 67 when a recipient is refused; with 65 when the message or its "
		"sender is. One line on standard error says why.",
		command_mail_deliver, .fault = EX_TEMPFAIL },
	{ "mail intake", "DOMAIN [--rotate]",
		"Make the secret with which a service signs raw mail that it sends to /hooks/mail/DOMAIN, and print it, which is "
		"done only then. With --rotate, in the place of the one that is there.",
		command_mail_intake },
	{ "version", NULL, "Print the version of the program.", command_version },
	{ "help", "[--man] [COMMAND [WORD]]",
		"Print this help, that of one command, or with --man the manual page as roff.",
		command_help },
	{ 0 },
};

/* Texts that are in both forms: a term, and what it means. */
struct manual_note {
	const char *term, *doc;
};

static const struct manual_note variables[] = {
	{ "LODGE_NAME",
		"The setting of that name: LODGE_MAX_BODY is max_body. One that is set to nothing "
		"counts as not set. One that nothing reads is named in the log at start and by check, "
		"and changes nothing." },
	{ "LODGE_ADMIN_EMAIL, LODGE_ADMIN_PASSWORD",
		"The first super administrator, made by serve if there is no user yet, or by user "
		"create. Without them serve takes admin@localhost and a random password, and prints "
		"it once. A password has 8 to 1024 characters. They are not flags, so that no list of processes shows them." },
	{ 0 },
};

static const struct manual_note files[] = {
	{ "lodge.conf", "Settings, in the folder the program is started in." },
	{ "/etc/lodge/lodge.conf", "Settings, if there is no lodge.conf in that folder." },
	{ "<data>/lodge.db", "The store, unless the setting store names another." },
	{ "<data>/bucket",
		"The bytes of tenants' buckets, unless the setting bucket names another folder." },
	{ "<data>/repositories",
		"The git repositories of agents, unless the setting repo_folder names another folder." },
	{ "<data>/master.key", "The key that seals stored secrets. Keep a copy apart." },
	{ 0 },
};

static const struct manual_note signals[] = {
	{ "SIGTERM, SIGINT", "End: requests under way are answered within stop_grace." },
	{ "SIGHUP",
		"Read the settings and the certificate again, from the same flags, variables and file. "
		"Settings marked \"reloads\" change at once; others that differ are named in the log "
		"and wait for a restart. If anything is wrong, all stays as it is, and the log says "
		"why. A terminal that is closed ends the program." },
	{ "SIGUSR1, SIGUSR2", "Nothing." },
	{ 0 },
};

static const struct manual_note statuses[] = {
	{ "0", "All went well." },
	{ "1", "Something failed; a line on standard error says what." },
	{ "2", "The command or a setting was not understood." },
	{ "65, 67, 75", "Of mail deliver alone: see there." },
	{ 0 },
};

static const char about[] =
	"Lodge hosts AI agents for many tenants: one program, one folder of data, PostgreSQL when "
	"one machine is not enough.";
static const char rules[] =
	"Every setting can be given as a flag, as a variable (LODGE_MAX_BODY for --max-body) or as "
	"a line of lodge.conf (max_body = 8m). A flag outranks a variable, and a variable the file. "
	"Durations take ms, s, m, h or d, sizes k, m or g.";

/* ---- the subcommand that is meant ---- */

static const struct subcommand *subcommand_named(const char *name)
{
	for (const struct subcommand *c = subcommands; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

const struct subcommand *subcommand_find(
	int argc, char **argv, int *ret_next, struct arena *a, struct problem *p)
{
	const char *word = argc > 1 ? argv[1] : "";
	struct settings_guess best = SETTINGS_NO_GUESS;
	const struct subcommand *c = NULL;

	*ret_next = 2;
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return subcommand_named("help");
	if (strcmp(word, "--version") == 0)
		return subcommand_named("version");
	if (argc > 2) {
		c = subcommand_named(arena_printf(a, "%s %s", word, argv[2]));
		*ret_next = c ? 3 : 2;
	}
	if (!c)
		c = subcommand_named(word);
	if (c)
		return c;
	for (c = subcommands; c->name; c++) {
		settings_guess(&best, word, c->name);
		/* The first of two words alone is not far off either. */
		if (strncmp(c->name, word, strlen(word)) == 0 && c->name[strlen(word)] == ' ')
			settings_guess(&best, c->name, c->name);
	}
	if (!*word)
		problem_set(p, a, ERR_USAGE, "no command is given; lodge help lists them");
	else if (*best.name)
		problem_set(p, a, ERR_USAGE, "\"%.60s\" is not a command; did you mean lodge %s?",
			word, best.name);
	else
		problem_set(
			p, a, ERR_USAGE, "\"%.60s\" is not a command; lodge help lists them", word);
	return NULL;
}

/* ---- plain text ---- */

/* Writes text from column `at` on, breaking at blanks; further lines begin at column `indent`. */
static void wrap_text(FILE *out, const char *text, size_t at, size_t indent)
{
	bool fresh = true;

	while (*(text += strspn(text, " "))) {
		size_t n = strcspn(text, " ");

		if (!fresh && at + 1 + n > WIDTH) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
			fresh = true;
		}
		fprintf(out, "%s%.*s", fresh ? "" : " ", (int)n, text);
		at += n + !fresh;
		fresh = false;
		text += n;
	}
	fputc('\n', out);
}

/* A term on the left, its meaning on the right. */
static void print_pair(FILE *out, const char *term, const char *doc)
{
	size_t n = strlen(term);

	if (INDENT + n > WIDTH) {
		fprintf(out, "%*s", INDENT, "");
		wrap_text(out, term, INDENT, 2 * INDENT);
		fprintf(out, "%*s", DOC_AT, "");
		wrap_text(out, doc, DOC_AT, DOC_AT);
		return;
	}
	fprintf(out, "%*s%s", INDENT, "", term);
	if (INDENT + n + 2 > DOC_AT)
		fprintf(out, "\n%*s", DOC_AT, "");
	else
		fprintf(out, "%*s", (int)(DOC_AT - INDENT - n), "");
	wrap_text(out, doc, DOC_AT, DOC_AT);
}

static void print_notes(FILE *out, const char *heading, const struct manual_note *notes)
{
	fprintf(out, "\n%s\n", heading);
	for (; notes->term; notes++)
		print_pair(out, notes->term, notes->doc);
}

/* "--max-body SIZE", "--[no-]access-log" */
static const char *flag_form(const struct setting *row, struct arena *a)
{
	static const char *const kinds[] = {
		[SETTING_NUMBER] = "NUMBER",
		[SETTING_SIZE] = "SIZE",
		[SETTING_SPAN] = "DURATION",
		[SETTING_WORD] = "WORD",
		[SETTING_TEXT] = "TEXT",
		[SETTING_NETWORKS] = "LIST",
	};
	char flag[SETTING_NAME_MAX];

	setting_flag(row, flag);
	if (row->kind == SETTING_FLAG)
		return arena_printf(a, "--[no-]%s", flag + 2);
	if (row->or_flag)
		return arena_printf(a, "--[no-]%s[=%s]", flag + 2, row->shows);
	return arena_printf(a, "%s %s", flag, row->shows ? row->shows : kinds[row->kind]);
}

static const char *preset_text(const struct setting *row)
{
	return row->derived ? row->derived : *row->preset ? row->preset : "none";
}

void settings_print_help(FILE *out)
{
	struct arena a = { 0 };
	const char *group = "";

	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];
		const char *words = "";

		if (strcmp(group, row->group) != 0)
			fprintf(out, "\n%s\n", row->group);
		group = row->group;
		if (row->words)
			words = arena_printf(&a, " One of %s.", setting_wanted(row, &a));
		print_pair(out, flag_form(row, &a),
			arena_printf(&a, "%s%s [%s%s]", row->doc, words, preset_text(row),
				row->reloads ? "; reloads" : ""));
	}
	arena_free(&a);
}

static void print_commands(FILE *out, const char *word, struct arena *a)
{
	size_t n = strlen(word);

	for (const struct subcommand *c = subcommands; c->name; c++)
		if (!n || (strncmp(c->name, word, n) == 0 && c->name[n] == ' '))
			print_pair(out,
				arena_printf(a, "%s%s%s", c->name, c->arguments ? " " : "",
					c->arguments ? c->arguments : ""),
				c->doc);
}

static bool is_group(const char *word)
{
	size_t n = strlen(word);

	for (const struct subcommand *c = subcommands; n && c->name; c++)
		if (strncmp(c->name, word, n) == 0 && c->name[n] == ' ')
			return true;
	return false;
}

bool manual_print_group(FILE *out, const char *word)
{
	struct arena a = { 0 };

	if (!is_group(word))
		return false;
	fprintf(out, "Usage: lodge %s COMMAND [FLAG...]\n\nCommands\n", word);
	print_commands(out, word, &a);
	print_notes(out, "Exit status", statuses);
	arena_free(&a);
	return true;
}

void manual_print_help(FILE *out, const struct subcommand *one)
{
	struct arena a = { 0 };

	if (one) {
		fprintf(out, "Usage: lodge %s%s%s [FLAG...]\n\n", one->name,
			one->arguments ? " " : "", one->arguments ? one->arguments : "");
		wrap_text(out, one->doc, 0, 0);
	} else {
		fprintf(out, "Usage: lodge COMMAND [FLAG...]\n\n");
		wrap_text(out, about, 0, 0);
		fprintf(out, "\nCommands\n");
		print_commands(out, "", &a);
	}
	fputc('\n', out);
	wrap_text(out, rules, 0, 0);
	settings_print_help(out);
	print_notes(out, "Environment", variables);
	print_notes(out, "Files", files);
	print_notes(out, "Signals", signals);
	print_notes(out, "Exit status", statuses);
	arena_free(&a);
}

/* ---- roff ---- */

/* Text in which roff sees no request and no escape. */
static void roff_text(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			fputc(*text, out);
	}
}

static void roff_line(FILE *out, const char *text)
{
	roff_text(out, text);
	fputc('\n', out);
}

/* A macro with one argument in quotes. */
static void roff_macro(FILE *out, const char *macro, const char *argument)
{
	fprintf(out, ".%s \"", macro);
	roff_text(out, argument);
	fputs("\"\n", out);
}

static void roff_pair(FILE *out, const char *term, const char *doc)
{
	fputs(".TP\n", out);
	roff_macro(out, "B", term);
	roff_line(out, doc);
}

static void roff_notes(FILE *out, const char *heading, const struct manual_note *notes)
{
	roff_macro(out, "SH", heading);
	for (; notes->term; notes++)
		roff_pair(out, notes->term, notes->doc);
}

static void roff_settings(FILE *out, struct arena *a)
{
	const char *group = "";
	char variable[SETTING_NAME_MAX];

	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];

		if (strcmp(group, row->group) != 0)
			roff_macro(out, "SS", row->group);
		group = row->group;
		setting_variable(row, variable);
		roff_pair(out, flag_form(row, a), row->doc);
		fputs(".br\n", out);
		roff_line(out, arena_printf(a, "Takes %s.", setting_wanted(row, a)));
		roff_line(out, arena_printf(a, "Default: %s.", preset_text(row)));
		roff_line(out,
			row->no_key ? arena_printf(a, "Variable %s.", variable)
				    : arena_printf(a, "Variable %s, key %s.", variable, row->name));
		if (row->reloads)
			roff_line(out, "A reload (SIGHUP) brings a new value into force.");
	}
}

void manual_print_page(FILE *out)
{
	struct arena a = { 0 };

	fputs(".TH LODGE 1 \"\" \"lodge " LODGE_VERSION "\" \"User Commands\"\n.nh\n.ad l\n", out);
	fputs(".SH NAME\nlodge \\- host AI agents for many tenants\n", out);
	fputs(".SH SYNOPSIS\n", out);
	for (const struct subcommand *c = subcommands; c->name; c++) {
		roff_macro(out, "B", arena_printf(&a, "lodge %s", c->name));
		if (c->arguments)
			roff_macro(out, "I", c->arguments);
		roff_line(out, "[FLAG...]");
		fputs(".br\n", out);
	}
	fputs(".SH DESCRIPTION\n", out);
	roff_line(out, about);
	fputs(".SH COMMANDS\n", out);
	for (const struct subcommand *c = subcommands; c->name; c++)
		roff_pair(out,
			c->arguments ? arena_printf(&a, "%s %s", c->name, c->arguments) : c->name,
			c->doc);
	fputs(".SH SETTINGS\n", out);
	roff_line(out, rules);
	roff_settings(out, &a);
	roff_notes(out, "ENVIRONMENT", variables);
	roff_notes(out, "FILES", files);
	roff_notes(out, "SIGNALS", signals);
	roff_notes(out, "EXIT STATUS", statuses);
	arena_free(&a);
}

/* `lodge help X` is `lodge X --help`. */
int command_help(const struct settings *s, struct arena *a)
{
	char *words[] = { "lodge", NULL, NULL };
	const struct subcommand *one = NULL;
	struct problem p = { 0 };
	int count = 1, next = 1;

	for (size_t i = 0; i < s->argument_count; i++) {
		if (strcmp(s->arguments[i], "--man") == 0) {
			manual_print_page(stdout);
			return 0;
		}
		words[count++] = arena_strdup(a, s->arguments[i]);
	}
	if (count == 2 && manual_print_group(stdout, words[1]))
		return 0;
	if (count > 1) {
		one = subcommand_find(count, words, &next, a, &p);
		if (one && next < count)
			problem_set(&p, a, ERR_USAGE,
				"\"%s %s\" is not a command; lodge help lists them", words[1],
				words[2]);
		if (p.err)
			return complain(&p);
	}
	manual_print_help(stdout, one);
	return 0;
}
