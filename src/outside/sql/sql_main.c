/* sql_main.c - lodge-sql: one task from the socket that is its descriptor 0, its answer, and the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "outside/sql/sql.h"

static bool sql_read_all(void *into, size_t len)
{
	for (char *at = into; len;) {
		ssize_t n = read(STDIN_FILENO, at, len);

		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static void sql_write_all(const char *from, size_t len)
{
	while (len) {
		ssize_t n = write(STDIN_FILENO, from, len);

		if (n <= 0)
			_exit(6);
		from += n;
		len -= (size_t)n;
	}
}

/* The next text; NULL if there is none that ends. */
static const char *next_text(const char **at, const char *end)
{
	const char *text = *at, *nul = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;

	*at = nul ? nul + 1 : end;
	return nul ? text : NULL;
}

static bool read_texts(struct sql_asked *in, const char *at, const char *end)
{
	for (int i = 0; i < SQL_TEXTS; i++)
		if (!(in->text[i] = next_text(&at, end)))
			return false;
	for (uint32_t i = 0; i < in->task.params; i++) {
		const char *text = next_text(&at, end);

		if (!text || (*text != SQL_GIVEN && *text != SQL_NULL))
			return false;
		in->params[i] = *text == SQL_GIVEN ? text + 1 : NULL;
	}
	return at == end;
}

int main(int argc, char **argv)
{
	struct sql_asked in = { 0 };
	struct buf out;
	char *texts, kind = SQL_FAULT;
	bool jailed;

	(void)argv;
	if (argc != 1) {
		fputs("lodge-sql sends a statement to a database, for lodge, which starts it.\n",
			stderr);
		return 2;
	}
	jailed = sql_jail();
	if (!sql_read_all(&in.task, sizeof in.task) || in.task.mark != SQL_MARK)
		_exit(4);
	if (in.task.len > SQL_TEXTS_MAX || in.task.params > SQL_PARAMS_MAX ||
		in.task.rows_max > SQL_ROWS_MAX || !(texts = malloc(in.task.len + 1)) ||
		!sql_read_all(texts, in.task.len) || !read_texts(&in, texts, texts + in.task.len))
		_exit(5);
	buf_init(&out, in.task.bytes_max);
	if (jailed)
		kind = sql_talk(&in, &out);
	else
		buf_lit(&out,
			"Databases are not spoken to: a filter of system calls around the service forbids landlock_create_ruleset, with which it keeps files from the program that does. Whoever runs the service must let it through.");
	sql_write_all(&kind, 1);
	sql_write_all(out.len ? out.at : "", out.len);
	_exit(0);
}
