/* settings_file.c - settings from lodge.conf: lines of key = value, # begins a comment. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "serve/settings_parts.h"

enum { FILE_MAX = 64 * 1024 };

static const char *const usual_files[] = { "lodge.conf", "/etc/lodge/lodge.conf", NULL };

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

static int refuse_key(struct settings_reading *l, const char *path, int line, const char *key)
{
	struct settings_guess best = SETTINGS_NO_GUESS;

	for (size_t i = 0; i < settings_count; i++)
		if (!settings_table[i].no_key)
			settings_guess(&best, key, settings_table[i].name);
	return problem_set(l->p, l->a, ERR_USAGE, "%s line %d: %s is not a setting; %s%s%s", path,
		line, settings_shown(l->a, NULL, key),
		*best.name ? "did you mean " : "lodge help lists them all", best.name,
		*best.name ? "?" : "");
}

static int take_setting_line(
	struct settings_reading *l, const char *path, int line, char *text, int *lines)
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
			settings_shown(l->a, NULL, text));
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
	return settings_take(l, row, o, value);
}

/* The text of the file, or NULL with the problem set, or just NULL if it may be missing and is. */
static char *file_text(struct settings_reading *l, const char *path, const char *named)
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
			*named ? " " : "", named, settings_shown(l->a, NULL, path), strerror(err));
	else if (n > FILE_MAX)
		problem_set(l->p, l->a, ERR_USAGE,
			"config: %s is larger than 64k; give a smaller file",
			settings_shown(l->a, NULL, path));
	else if (memchr(text, '\0', n))
		problem_set(l->p, l->a, ERR_USAGE,
			"config: %s is not a text file; give lines of key = value",
			settings_shown(l->a, NULL, path));
	return l->p->err ? NULL : text;
}

int settings_take_file(struct settings_reading *l)
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
