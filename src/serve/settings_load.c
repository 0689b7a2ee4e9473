/* settings_load.c - reads the settings from flags and variables, and then the file (settings_file.c).
 *
 * Every value is checked where it is read, also one that is outranked, and
 * the first fault ends the reading with its sentence.  What a good value is
 * stands in the rows and in setting_value.c, not here. */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "serve/settings_parts.h"

enum { UNKNOWN_MAX = 32 };

/* ---- flags ---- */

static int refuse_flag(struct settings_reading *l, const char *flag)
{
	struct settings_guess best = SETTINGS_NO_GUESS;
	char name[SETTING_NAME_MAX + 8];

	for (size_t i = 0; i < settings_count; i++) {
		setting_flag(&settings_table[i], name);
		settings_guess(&best, flag, name);
		if (settings_table[i].kind != SETTING_FLAG && !settings_table[i].or_flag)
			continue;
		memmove(name + 5, name + 2, strlen(name + 2) + 1);
		memcpy(name, "--no-", 5);
		settings_guess(&best, flag, name);
	}
	if (*best.name)
		return problem_set(l->p, l->a, ERR_USAGE, "%s is not a flag; did you mean %s?",
			settings_shown(l->a, NULL, flag), best.name);
	return problem_set(l->p, l->a, ERR_USAGE, "%s is not a flag; lodge help lists them all",
		settings_shown(l->a, NULL, flag));
}

/* Whether the subcommand says that it takes this word as a flag of its own, and a value after it: "[--from ADDRESS]". */
static bool own_flag_of(const struct settings_source *from, const char *word, bool *ret_value)
{
	const char *takes = from->takes ? from->takes : "";
	const char *at = *word == '-' ? strstr(takes, word) : NULL;
	char after = at ? at[strlen(word)] : 'x';

	*ret_value = after == ' ';
	return at && (at == takes || at[-1] == '[' || at[-1] == ' ') &&
	       (after == ']' || after == ' ' || after == '\0');
}

static bool own_flag(const struct settings_reading *l, const char *word)
{
	bool value;

	return own_flag_of(l->from, word, &value);
}

/* The row of a flag, or NULL; *ret_no says that it was named as --no-flag. */
static const struct setting *flag_row(const char *flag, bool *ret_no)
{
	char name[SETTING_NAME_MAX];

	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];

		setting_flag(row, name);
		*ret_no = (row->kind == SETTING_FLAG || row->or_flag) &&
			  strncmp(flag, "--no-", 5) == 0 && strcmp(flag + 5, name + 2) == 0;
		if (*ret_no || strcmp(flag, name) == 0)
			return row;
	}
	return NULL;
}

/* A word after a flag that needs none: --console off. */
static bool says_whether(const char *word)
{
	static const char *const words[] = { "on", "off", "true", "false" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return false;
}

/* Reads argv[i], a flag, and returns the index of the last word it used; or a negative code. */
static int take_flag(struct settings_reading *l, int i)
{
	const char *word = l->from->argv[i], *value = strchr(word, '=');
	const char *flag = value ? arena_strndup(l->a, word, (size_t)(value - word)) : word;
	struct settings_origin o = { .place = IN_FLAGS };
	const struct setting *row;
	bool no;
	int err;

	row = flag_row(flag, &no);
	if (!row)
		return refuse_flag(l, flag);
	o.words = arena_printf(l->a, "from %s", flag);
	if (no && value)
		return problem_set(l->p, l->a, ERR_USAGE,
			"%s %s: the flag takes no value; give %s alone", row->name, o.words, flag);
	if (value)
		value++;
	else if (!no && row->kind == SETTING_FLAG && i + 1 < l->from->argc &&
		 says_whether(l->from->argv[i + 1]))
		value = l->from->argv[++i];
	else if (row->kind == SETTING_FLAG || row->or_flag)
		value = no ? "false" : "true";
	else if (i + 1 < l->from->argc)
		value = l->from->argv[++i];
	else
		return problem_set(l->p, l->a, ERR_USAGE, "%s %s: the value is missing; give %s",
			row->name, o.words, setting_wanted(row, l->a));
	err = settings_take(l, row, o, value);
	return err ? err : i;
}

static bool asks_for_help(const struct settings_source *from)
{
	bool value;

	for (int i = 0; i < from->argc && strcmp(from->argv[i], "--") != 0; i++)
		if (strcmp(from->argv[i], "--help") == 0 || strcmp(from->argv[i], "-h") == 0)
			return true;
		else if (own_flag_of(from, from->argv[i], &value) && value)
			i++; /* whatever it is, it is the value */
	return false;
}

/* A flag of the subcommand's own, argv[i], with the word after it if it takes one, whatever that begins with: a sender may be
 * "-a@example.org".  Returns the index of the last word, or a negative code. */
static int take_own_flag(struct settings_reading *l, int i, bool value)
{
	const struct settings_source *from = l->from;

	if (value && (i + 1 == from->argc || own_flag(l, from->argv[i + 1])))
		return problem_set(l->p, l->a, ERR_USAGE, "the value of %s is missing: lodge %s %s",
			from->argv[i], from->command, from->takes);
	l->arguments[l->s->argument_count++] = from->argv[i];
	if (value)
		l->arguments[l->s->argument_count++] = from->argv[++i];
	return i;
}

static int take_flags(struct settings_reading *l)
{
	const struct settings_source *from = l->from;

	for (int i = 0; i < from->argc; i++) {
		const char *word = from->argv[i], *value = strchr(word, '=');
		const char *name = value ? arena_strndup(l->a, word, (size_t)(value - word)) : "";
		bool takes_value;

		if (!l->only_arguments && own_flag(l, name)) { /* --from=URL */
			l->arguments[l->s->argument_count++] = name;
			l->arguments[l->s->argument_count++] = value + 1;
		} else if (l->only_arguments || *word != '-' || !word[1]) {
			l->arguments[l->s->argument_count++] = word;
		} else if (own_flag_of(from, word, &takes_value)) {
			i = take_own_flag(l, i, takes_value);
			if (i < 0)
				return i;
		} else if (strcmp(word, "--") == 0) {
			l->only_arguments = true;
		} else {
			i = take_flag(l, i);
			if (i < 0)
				return i;
		}
	}
	return 0;
}

/* Holds the arguments against what the subcommand takes. */
static int check_arguments(struct settings_reading *l)
{
	const char *takes = l->from->takes ? l->from->takes : "";
	const char *command = l->from->command ? l->from->command : "";
	size_t least = 0, most = 0, n = 0;
	const char *first_missing = NULL;
	const char *last = NULL;

	for (size_t i = 0; i < l->s->argument_count; i++) {
		if (strncmp(l->arguments[i], "--", 2) == 0 && own_flag(l, l->arguments[i]))
			continue;
		last = l->arguments[i];
		n++;
	}
	for (const char *at = takes; *(at += strspn(at, " ")); at += strcspn(at, " ")) {
		size_t len = strcspn(at, " ");

		if (strncmp(at, "--", 2) == 0 || strncmp(at, "[--", 3) == 0)
			continue;
		most += most < SIZE_MAX;
		if (strncmp(at + strcspn(at, " .]"), "...", 3) == 0)
			most = SIZE_MAX; /* as many as there are */
		if (*at == '[' ||
			at[len - 1] == ']') /* the latter: the value of a flag that may be given */
			continue;
		if (++least == n + 1)
			first_missing = at;
	}
	if (first_missing)
		return problem_set(l->p, l->a, ERR_USAGE, "lodge %s needs %.*s: lodge %s %s",
			command, (int)strcspn(first_missing, " "), first_missing, command, takes);
	if (n > most)
		return problem_set(l->p, l->a, ERR_USAGE,
			"lodge %s does not take %s; it takes %s%sflags: see lodge help", command,
			settings_shown(l->a, NULL, last), most ? takes : "only ",
			most ? " and " : "");
	return 0;
}

/* ---- variables ---- */

/* A variable that is set to nothing counts as not set. */
static int take_variables(struct settings_reading *l)
{
	char name[SETTING_NAME_MAX];

	for (size_t i = 0; i < settings_count; i++) {
		setting_variable(&settings_table[i], name);
		for (char **e = l->from->envp; e && *e; e++) {
			size_t n = strlen(name);
			struct settings_origin o = { .place = IN_ENVIRONMENT };
			int err;

			if (strncmp(*e, name, n) != 0 || (*e)[n] != '=' || !(*e)[n + 1])
				continue;
			o.words = arena_printf(l->a, "from %s", name);
			err = settings_take(l, &settings_table[i], o, *e + n + 1);
			if (err)
				return err;
			break;
		}
	}
	return 0;
}

static bool variable_known(const char *typed, struct settings_guess *best)
{
	char setting[SETTING_NAME_MAX];

	for (size_t i = 0; i < settings_count; i++) {
		setting_variable(&settings_table[i], setting);
		if (strcmp(setting, typed) == 0)
			return true;
		settings_guess(best, typed, setting);
	}
	for (const char *const *other = settings_other_variables; *other; other++) {
		if (strcmp(*other, typed) == 0)
			return true;
		settings_guess(best, typed, *other);
	}
	return false;
}

/* What looks like ours and is read by nobody: most likely a slip of the pen.  Values are not shown. */
static void find_unknown(struct settings_reading *l)
{
	static const char ours[] = "LODGE_";
	const char **list = arena_array(l->a, const char *, UNKNOWN_MAX + 1);
	size_t count = 0;

	for (char **e = l->from->envp; e && *e && count < UNKNOWN_MAX; e++) {
		struct settings_guess best = SETTINGS_NO_GUESS;
		const char *name;

		if (strncmp(*e, ours, sizeof ours - 1) != 0)
			continue;
		name = arena_strndup(l->a, *e, strcspn(*e, "="));
		if (variable_known(name, &best))
			continue;
		list[count++] = arena_printf(l->a, "%s is no variable of this program%s%s%s",
			settings_shown(l->a, NULL, name), *best.name ? "; did you mean " : "",
			best.name, *best.name ? "?" : "");
	}
	l->s->unknown_variables = list;
}

/* ---- all of it ---- */

int settings_load(
	struct settings *s, struct arena *a, const struct settings_source *from, struct problem *p)
{
	struct settings_reading l = { .s = s, .a = a, .from = from, .p = p };
	struct settings_origin nowhere = { .words = "by default" };
	int err = 0;

	*s = (struct settings){ .source = from };
	l.origins = arena_array(a, struct settings_origin, settings_count);
	l.arguments = arena_array(a, const char *, 2 * (size_t)from->argc + 1);
	s->origins = l.origins;
	s->arguments = l.arguments;
	for (size_t i = 0; i < settings_count && !err; i++)
		err = settings_take(&l, &settings_table[i], nowhere, settings_table[i].preset);
	s->help = asks_for_help(from);
	if (err || s->help)
		return err;
	err = take_flags(&l);
	if (!err)
		err = check_arguments(&l);
	if (!err)
		err = take_variables(&l);
	find_unknown(&l);
	if (!err)
		err = settings_take_file(&l);
	if (!err)
		err = settings_check_together(s, a, p);
	if (!err)
		settings_derive(s, a);
	return err;
}
