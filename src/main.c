/* main.c - finds the subcommand, reads the settings, runs it. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/crypto.h"
#include "serve/manual.h"
#include "serve/open.h"

/* libcurl brings GnuTLS along for protocols that are never used here.  This is the name under which a program
 * tells it not to set itself up with every start; whoever does use it, sets it up then. */
int _gnutls_global_init_skip(void); /* NOLINT: the name is GnuTLS's */
int _gnutls_global_init_skip(void)
{
	return 1;
}

int main(int argc, char **argv)
{
	struct arena arena = { 0 };
	struct problem p = { 0 };
	struct settings settings;
	int next, status;
	const struct subcommand *command = subcommand_find(argc, argv, &next, &arena, &p);
	struct settings_source source; /* read again by a reload */

	umask(077);		  /* what it writes is for its owner */
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of the write */
	if (!command && argc > 1 && (argc == 2 || *argv[2] == '-') &&
		manual_print_group(stderr, argv[1]))
		return 2; /* `lodge mail`: which of them? */
	if (!command || !crypto_init())
		return complain(&p);
	source = (struct settings_source){ .command = command->name,
		.takes = command->arguments,
		.argc = argc - next,
		.argv = argv + next,
		.envp = environ };
	if (settings_load(&settings, &arena, &source, &p)) {
		status = complain(&p);
		return command->fault ? command->fault : status;
	}
	if (settings.help) {
		manual_print_help(stdout, command);
		return 0;
	}
	status = command->run(&settings, &arena);
	arena_free(&arena);
	return status;
}
