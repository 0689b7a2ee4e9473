/* sql_words.c - whether a statement begins like one that reads.
 *
 * The database holds it to that by a transaction that only reads; this refuses
 * before what would not be in one: COPY to a program, SET, CALL, LISTEN. */
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "outside/sql/sql.h"

/* After blanks, comments (which may lie in each other) and opening parentheses. */
static const char *first_word(const char *at)
{
	for (;;) {
		at += strspn(at, " \t\r\n\f\v(");
		if (strncmp(at, "--", 2) == 0) {
			at += strcspn(at, "\r\n");
		} else if (strncmp(at, "/*", 2) == 0) {
			size_t depth = 1;

			for (at += 2; *at && depth; at++) {
				if (strncmp(at, "/*", 2) == 0)
					depth++, at++;
				else if (strncmp(at, "*/", 2) == 0)
					depth--, at++;
			}
		} else {
			return at;
		}
	}
}

const char *sql_reads_fault(const char *statement)
{
	static const char *const words[] = { "select", "with", "values", "table", "explain",
		"show" };
	const char *at = first_word(statement);
	size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (n == strlen(words[i]) && strncasecmp(at, words[i], n) == 0)
			return NULL;
	return "This tool only reads: a statement begins with SELECT, WITH, VALUES, TABLE, EXPLAIN or SHOW.";
}
