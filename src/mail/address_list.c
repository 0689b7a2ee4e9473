/* address_list.c - lists of addresses with names, as people and header lines write them; see address.h.
 *
 * One pass and no recursion: a group is a name and a colon before addresses,
 * and a semicolon behind them; groups do not nest. */
#include "mail/address.h"

#include <string.h>

#include "base/utf8.h"

struct list_reader {
	struct arena *arena;
	const char *at, *end;
	size_t most;
	struct mail_people *people;
	size_t cap;
	const char *fault;
	/* Of the address under way. */
	char name[MAIL_NAME_MAX + 1];
	size_t name_len;
	bool blank; /* due before the next word of the name */
};

static bool list_fault(struct list_reader *r, const char *fault)
{
	r->fault = fault;
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* ---- what stands around an address ---- */

/* Keeps as much as there is room for, and of that whole characters. */
static void name_put(struct list_reader *r, const char *bytes, size_t len)
{
	if (r->name_len + len <= MAIL_NAME_MAX) {
		memcpy(r->name + r->name_len, bytes, len);
		r->name_len += len;
	}
}

static void name_word(struct list_reader *r, const char *bytes, size_t len)
{
	if (r->blank && r->name_len)
		name_put(r, " ", 1);
	r->blank = false;
	while (len) {
		size_t n = utf8_step(bytes, bytes + len);

		n = n ? n : 1;
		if (n > 1 || (unsigned char)*bytes >= ' ')
			name_put(r, bytes, n);
		bytes += n;
		len -= n;
	}
}

/* After the ( of a comment, whose brackets nest. */
static bool skip_comment(struct list_reader *r)
{
	for (size_t depth = 1; r->at < r->end; r->at++) {
		if (*r->at == '\\' && r->at + 1 < r->end)
			r->at++;
		else if (*r->at == '(')
			depth++;
		else if (*r->at == ')' && --depth == 0) {
			r->at++;
			return true;
		}
	}
	return list_fault(r, "A bracket is not closed.");
}

static bool skip_blanks(struct list_reader *r)
{
	while (r->at < r->end) {
		if (is_blank(*r->at)) {
			r->blank = true;
			r->at++;
		} else if (*r->at == '(') {
			r->at++;
			if (!skip_comment(r))
				return false;
		} else {
			break;
		}
	}
	return true;
}

/* After the " of a quoted text; its end, or NULL. */
static const char *quoted_end(const char *p, const char *end)
{
	for (; p < end; p++) {
		if (*p == '\\')
			p++;
		else if (*p == '"')
			return p;
	}
	return NULL;
}

static void name_quoted(struct list_reader *r, const char *p, const char *end)
{
	if (r->blank && r->name_len)
		name_put(r, " ", 1);
	r->blank = false;
	while (p < end) {
		size_t n;

		if (*p == '\\' && p + 1 < end)
			p++;
		n = utf8_step(p, end);
		name_word(r, p, n ? n : 1);
		p += n ? n : 1;
	}
}

/* ---- addresses ---- */

static bool add_person(struct list_reader *r, const char *text, size_t len)
{
	struct mail_people *all = r->people;
	struct mail_person person;
	const char *fault;

	if (all->count == r->most)
		return list_fault(r, "There are too many addresses.");
	if (!mail_address_parse(text, len, &person.address, &fault))
		return list_fault(r, fault);
	person.name = arena_strndup(r->arena, r->name, r->name_len);
	if (all->count == r->cap) {
		struct mail_person *more =
			arena_array(r->arena, struct mail_person, 2 * r->cap + 4);

		if (r->cap)
			memcpy(more, all->at, r->cap * sizeof *more);
		all->at = more;
		r->cap = 2 * r->cap + 4;
	}
	all->at[all->count++] = person;
	return true;
}

/* After the <. */
static bool read_angle(struct list_reader *r)
{
	const char *from = r->at;

	while (r->at < r->end && *r->at != '>') {
		if (*r->at == '"') {
			r->at = quoted_end(r->at + 1, r->end);
			if (!r->at) {
				r->at = r->end;
				return list_fault(r, "A quoted text is not closed.");
			}
		}
		r->at++;
	}
	if (r->at == r->end)
		return list_fault(r, "An address is not closed with >.");
	return add_person(r, from, (size_t)(r->at++ - from));
}

/* Words up to what ends them: the end of the piece of text, which is the address itself if it has an @. */
static const char *word_end(const struct list_reader *r)
{
	const char *p = r->at;

	while (p < r->end && !is_blank(*p) && !strchr("<>,;:()", *p)) {
		if (*p == '"') {
			p = quoted_end(p + 1, r->end);
			if (!p)
				return NULL;
		}
		p++;
	}
	return p;
}

/* One address, or the name of a group with its colon; *in_group says which list is open. */
static bool read_one(struct list_reader *r, bool *in_group)
{
	const char *bare = NULL;
	size_t bare_len = 0;

	r->name_len = 0;
	r->blank = false;
	for (;;) {
		const char *stop;

		if (!skip_blanks(r))
			return false;
		if (r->at == r->end || *r->at == ',' || *r->at == ';')
			break;
		if (*r->at == '<') {
			r->at++;
			if (bare)
				return list_fault(r, "An address stands before another one.");
			return read_angle(r) && skip_blanks(r) &&
			       (r->at == r->end || *r->at == ',' || *r->at == ';' ||
				       list_fault(r, "Something follows an address."));
		}
		if (*r->at == ':') {
			if (*in_group || bare)
				return list_fault(r, "A colon stands where none can.");
			*in_group = true;
			r->at++;
			r->name_len = 0;
			r->blank = false;
			continue;
		}
		if (*r->at == '>' || *r->at == ')')
			return list_fault(r, "A bracket is closed that was not open.");
		stop = word_end(r);
		if (!stop)
			return list_fault(r, "A quoted text is not closed.");
		if (bare)
			return list_fault(r, "Something follows an address.");
		if (memchr(r->at, '@', (size_t)(stop - r->at)) && stop[-1] != '"') {
			bare = r->at;
			bare_len = (size_t)(stop - r->at);
		} else if (*r->at == '"' && stop[-1] == '"') {
			name_quoted(r, r->at + 1, stop - 1);
		} else {
			name_word(r, r->at, (size_t)(stop - r->at));
		}
		r->at = stop;
	}
	if (bare) {
		if (r->name_len)
			return list_fault(r, "An address behind a name must stand in < and >.");
		return add_person(r, bare, bare_len);
	}
	return !r->name_len || list_fault(r, "A name has no address.");
}

static bool read_list(struct list_reader *r)
{
	bool in_group = false;

	while (r->at < r->end) {
		if (!read_one(r, &in_group))
			return false;
		if (r->at == r->end)
			break;
		if (*r->at == ';') {
			if (!in_group)
				return list_fault(r, "Addresses are parted by commas.");
			in_group = false;
		}
		r->at++;
	}
	return !in_group || list_fault(r, "A group is not closed with a semicolon.");
}

bool mail_people_parse(struct arena *a, const char *text, size_t len, size_t most,
	struct mail_people *ret, const char **ret_fault)
{
	struct list_reader r = { .arena = a,
		.at = text,
		.end = text + len,
		.most = most < MAIL_LIST_MAX ? most : MAIL_LIST_MAX,
		.people = ret };
	bool ok;

	*ret = (struct mail_people){ 0 };
	if (len > MAIL_LIST_BYTES_MAX)
		ok = list_fault(&r, "The list of addresses is too long.");
	else if (memchr(text, '\0', len) || !utf8_valid(text, len))
		ok = list_fault(&r, "The list of addresses is not UTF-8.");
	else
		ok = read_list(&r);
	*ret_fault = ok ? NULL : r.fault;
	if (!ok)
		*ret = (struct mail_people){ 0 };
	return ok;
}
