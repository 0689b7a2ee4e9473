/* settings_load.c - reads the settings from flags, variables and the file.
 *
 * Every value is checked where it is read, also one that is outranked, and
 * the first fault ends the reading with its sentence.  What a good value is
 * stands in the rows and in setting_value.c, not here. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "serve/setting_value.h"
#include "serve/settings.h"

enum { FILE_MAX = 64 * 1024, SHOWN_MAX = 60, UNKNOWN_MAX = 32 };

static const char *const usual_files[] = { "lodge.conf", "/etc/lodge/lodge.conf", NULL };

/* One reading of the settings. */
struct load {
	struct settings *s;
	struct arena *a;
	struct problem *p;
	const struct settings_source *from;
	struct settings_origin *origins;
	const char **arguments;
	bool only_arguments; /* after -- */
};

/* ---- sentences ---- */

/* A value as it may stand in a sentence: one line, not too long. */
static const char *shown_value(struct arena *a, const struct setting *row, const char *value)
{
	char text[SHOWN_MAX + 1];
	size_t n = 0;

	if (row && row->secret)
		return "the value";
	for (; value[n] && n < SHOWN_MAX; n++)
		text[n] = (unsigned char)value[n] < ' ' || value[n] == 0x7f ? '?' : value[n];
	text[n] = '\0';
	return arena_printf(a, "\"%s\"%s", text, value[n] ? "..." : "");
}

static int refuse_setting(struct load *l, const struct setting *row,
	const struct settings_origin *o, const char *value, const char *fault)
{
	return problem_set(l->p, l->a, ERR_USAGE, "%s %s: %s %s; give %s", row->name, o->words,
		shown_value(l->a, row, value), fault, setting_wanted(row, l->a));
}

/* Checks a value and keeps it, unless the setting has one from a place of higher rank. */
static int take_setting(
	struct load *l, const struct setting *row, struct settings_origin o, const char *value)
{
	struct settings_origin *had = &l->origins[row - settings_table];
	struct settings outranked;
	const char *fault;

	value = arena_strdup(l->a, value);
	fault = setting_read(row, l->a, value, had->place > o.place ? &outranked : l->s);
	if (fault)
		return refuse_setting(l, row, &o, value, fault);
	if (had->place <= o.place)
		*had = o;
	return 0;
}

/* ---- flags ---- */

static int refuse_flag(struct load *l, const char *flag)
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
			shown_value(l->a, NULL, flag), best.name);
	return problem_set(l->p, l->a, ERR_USAGE, "%s is not a flag; lodge help lists them all",
		shown_value(l->a, NULL, flag));
}

/* True if the subcommand says that it takes this word as a flag of its own. */
static bool own_flag(const struct load *l, const char *word)
{
	const char *takes = l->from->takes ? l->from->takes : "";
	const char *at = strstr(takes, word);
	char after = at ? at[strlen(word)] : 'x';

	return at && (at == takes || at[-1] == '[' || at[-1] == ' ') &&
	       (after == ']' || after == ' ' || after == '\0');
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
static int take_flag(struct load *l, int i)
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
	err = take_setting(l, row, o, value);
	return err ? err : i;
}

static bool asks_for_help(const struct settings_source *from)
{
	for (int i = 0; i < from->argc && strcmp(from->argv[i], "--") != 0; i++)
		if (strcmp(from->argv[i], "--help") == 0 || strcmp(from->argv[i], "-h") == 0)
			return true;
	return false;
}

static int take_flags(struct load *l)
{
	const struct settings_source *from = l->from;

	for (int i = 0; i < from->argc; i++) {
		const char *word = from->argv[i], *value = strchr(word, '=');
		const char *name = value ? arena_strndup(l->a, word, (size_t)(value - word)) : "";

		if (!l->only_arguments && *name == '-' && own_flag(l, name)) { /* --from=URL */
			l->arguments[l->s->argument_count++] = name;
			l->arguments[l->s->argument_count++] = value + 1;
		} else if (l->only_arguments || *word != '-' || !word[1] || own_flag(l, word)) {
			l->arguments[l->s->argument_count++] = word;
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
static int check_arguments(struct load *l)
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
			shown_value(l->a, NULL, last), most ? takes : "only ", most ? " and " : "");
	return 0;
}

/* ---- variables ---- */

/* A variable that is set to nothing counts as not set. */
static int take_variables(struct load *l)
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
			err = take_setting(l, &settings_table[i], o, *e + n + 1);
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
static void find_unknown(struct load *l)
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
			shown_value(l->a, NULL, name), *best.name ? "; did you mean " : "",
			best.name, *best.name ? "?" : "");
	}
	l->s->unknown_variables = list;
}

/* ---- the file ---- */

static char *trim_blanks(char *text)
{
	size_t n;

	text += strspn(text, " \t\r");
	n = strlen(text);
	while (n && strchr(" \t\r", text[n - 1]))
		text[--n] = '\0';
	return text;
}

/* Takes off quotes, or a comment after a blank; NULL if a quote is not closed or not the end. */
static char *unquote_value(char *value)
{
	if (*value == '"' || *value == '\'') {
		char *end = strchr(value + 1, *value);

		if (!end)
			return NULL;
		*end = '\0';
		end = trim_blanks(end + 1);
		return *end && *end != '#' ? NULL : value + 1;
	}
	for (char *c = value; *c; c++)
		if (*c == '#' && (c == value || c[-1] == ' ' || c[-1] == '\t'))
			*c = '\0';
	return trim_blanks(value);
}

static int refuse_key(struct load *l, const char *path, int line, const char *key)
{
	struct settings_guess best = SETTINGS_NO_GUESS;

	for (size_t i = 0; i < settings_count; i++)
		if (!settings_table[i].no_key)
			settings_guess(&best, key, settings_table[i].name);
	return problem_set(l->p, l->a, ERR_USAGE, "%s line %d: %s is not a setting; %s%s%s", path,
		line, shown_value(l->a, NULL, key),
		*best.name ? "did you mean " : "lodge help lists them all", best.name,
		*best.name ? "?" : "");
}

static int take_setting_line(struct load *l, const char *path, int line, char *text, int *lines)
{
	struct settings_origin o = { .place = IN_FILE };
	const struct setting *row;
	char *value;

	text = trim_blanks(text);
	if (!*text || *text == '#')
		return 0;
	value = strchr(text, '=');
	if (!value)
		return problem_set(l->p, l->a, ERR_USAGE,
			"%s line %d: %s has no equals sign; write key = value", path, line,
			shown_value(l->a, NULL, text));
	*value++ = '\0';
	text = trim_blanks(text);
	row = setting_named(text);
	if (!row || row->no_key)
		return refuse_key(l, path, line, text);
	value = unquote_value(trim_blanks(value));
	o.words = arena_printf(l->a, "in %s line %d", path, line);
	if (!value)
		return problem_set(l->p, l->a, ERR_USAGE,
			"%s %s: the quotes are not right; write %s = \"value\"", row->name, o.words,
			row->name);
	if (lines[row - settings_table])
		return problem_set(l->p, l->a, ERR_USAGE,
			"%s %s: it is given in line %d already; keep one of the two", row->name,
			o.words, lines[row - settings_table]);
	lines[row - settings_table] = line;
	return take_setting(l, row, o, value);
}

/* The text of the file, or NULL with the problem set, or just NULL if it may be missing and is. */
static char *file_text(struct load *l, const char *path, const char *named)
{
	FILE *f = fopen(path, "re");
	char *text;
	size_t n;
	int err;

	if (!f && !*named && (errno == ENOENT || errno == ENOTDIR))
		return NULL;
	text = arena_alloc(l->a, FILE_MAX + 1);
	n = f ? fread(text, 1, FILE_MAX + 1, f) : 0;
	err = !f || ferror(f) ? errno : 0;
	if (f)
		fclose(f);
	if (err)
		problem_set(l->p, l->a, ERR_USAGE,
			"config%s%s: %s cannot be read (%s); give a file of settings that can",
			*named ? " " : "", named, shown_value(l->a, NULL, path), strerror(err));
	else if (n > FILE_MAX)
		problem_set(l->p, l->a, ERR_USAGE,
			"config: %s is larger than 64k; give a smaller file",
			shown_value(l->a, NULL, path));
	else if (memchr(text, '\0', n))
		problem_set(l->p, l->a, ERR_USAGE,
			"config: %s is not a text file; give lines of key = value",
			shown_value(l->a, NULL, path));
	return l->p->err ? NULL : text;
}

static int take_file(struct load *l)
{
	const struct settings_origin *o = &l->origins[setting_named("config") - settings_table];
	const char *const *files = l->from->files ? l->from->files : usual_files;
	const char *const only[] = { l->s->config, NULL };
	int *lines = arena_array(l->a, int, settings_count);
	char *text = NULL, *next;
	int line = 0, err;

	if (*l->s->config)
		files = only;
	for (; *files && !text && !l->p->err; files++) {
		text = file_text(l, *files, *l->s->config ? o->words : "");
		if (text)
			l->s->config = arena_strdup(l->a, *files);
	}
	for (; text; text = next) {
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		err = take_setting_line(l, l->s->config, ++line, text, lines);
		if (err)
			return err;
	}
	return l->p->err;
}

/* ---- all of it ---- */

int settings_load(
	struct settings *s, struct arena *a, const struct settings_source *from, struct problem *p)
{
	struct load l = { .s = s, .a = a, .from = from, .p = p };
	struct settings_origin nowhere = { .words = "by default" };
	int err = 0;

	*s = (struct settings){ .source = from };
	l.origins = arena_array(a, struct settings_origin, settings_count);
	l.arguments = arena_array(a, const char *, 2 * (size_t)from->argc + 1);
	s->origins = l.origins;
	s->arguments = l.arguments;
	for (size_t i = 0; i < settings_count && !err; i++)
		err = take_setting(&l, &settings_table[i], nowhere, settings_table[i].preset);
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
		err = take_file(&l);
	if (!err)
		err = settings_check_together(s, a, p);
	if (!err)
		settings_derive(s, a);
	return err;
}
