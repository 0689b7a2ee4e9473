/* test_manual.c - the help and the manual page name everything, and commands are found. */
#include "t.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "serve/manual.h"

/* All that a function prints, to be freed. */
static char *printed(void (*print)(FILE *))
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	print(f);
	fclose(f);
	return text;
}

static void print_whole_help(FILE *out)
{
	manual_print_help(out, NULL);
}

TEST(manual_help_lists_everything_in_80_columns)
{
	char *help = printed(print_whole_help);
	char flag[SETTING_NAME_MAX];

	for (size_t i = 0; i < settings_count; i++) {
		setting_flag(&settings_table[i], flag);
		if (!strstr(help, flag + 2))
			test_fail(__FILE__, __LINE__, "%s is not in the help", flag);
	}
	for (const struct subcommand *c = subcommands; c->name; c++)
		if (!strstr(help, c->name))
			test_fail(__FILE__, __LINE__, "%s is not in the help", c->name);
	CHECK(strstr(help, "LODGE_ADMIN_PASSWORD"));
	for (const char *line = help, *end; (end = strchr(line, '\n')); line = end + 1)
		if (end - line > 80)
			test_fail(__FILE__, __LINE__, "too wide: %.*s", (int)(end - line), line);
	free(help);
}

TEST(manual_page_names_every_flag_variable_and_key)
{
	char *page = printed(manual_print_page);
	char variable[SETTING_NAME_MAX];

	CHECK(strncmp(page, ".TH LODGE 1 ", 12) == 0);
	for (size_t i = 0; i < settings_count; i++) {
		setting_variable(&settings_table[i], variable);
		test_step("%s", variable);
		CHECK(strstr(page, variable));
		CHECK(strstr(page, settings_table[i].name));
	}
	/* A line that begins with a dot is a request, never text. */
	for (const char *dot = page; (dot = strstr(dot, "\n.")); dot += 2)
		CHECK((dot[2] >= 'A' && dot[2] <= 'Z') || strncmp(dot + 2, "br\n", 3) == 0 ||
			strncmp(dot + 2, "nh\n", 3) == 0 || strncmp(dot + 2, "ad l\n", 5) == 0);
	free(page);
}

TEST(manual_subcommand_is_found)
{
	static const struct {
		const char *one, *two, *name;
		int next;
		const char *says;
	} cases[] = {
		{ "serve", NULL, "serve", 2, NULL },
		{ "serve", "--loops", "serve", 2, NULL },
		{ "user", "create", "user create", 3, NULL },
		{ "skills", "import", "skills import", 3, NULL },
		{ "--help", NULL, "help", 2, NULL },
		{ "-h", NULL, "help", 2, NULL },
		{ "--version", NULL, "version", 2, NULL },
		{ NULL, NULL, NULL, 0, "no command" },
		{ "sevre", NULL, NULL, 0, "did you mean lodge serve?" },
		{ "user", NULL, NULL, 0, "did you mean lodge user create?" },
		{ "turnips", NULL, NULL, 0, "lodge help lists them" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *argv[] = { "lodge", (char *)cases[i].one, (char *)cases[i].two, NULL };
		struct arena a = { 0 };
		struct problem p = { 0 };
		const struct subcommand *c;
		int next;

		test_step("%s", cases[i].one ? cases[i].one : "nothing");
		c = subcommand_find(!cases[i].one ? 1 : !cases[i].two ? 2 : 3, argv, &next, &a, &p);
		CHECK(!c == !cases[i].name);
		if (c && cases[i].name) {
			CHECK_STR(c->name, cases[i].name);
			CHECK_INT(next, cases[i].next);
			CHECK(c->run != NULL);
		} else {
			CHECK_INT(p.err, ERR_USAGE);
			CHECK(p.detail && strstr(p.detail, cases[i].says));
		}
		arena_free(&a);
	}
}
