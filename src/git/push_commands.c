/* push_commands.c - see push_commands.h. */
#include "git/push_commands.h"

#include <string.h>

#include "git/pkt_line.h"
#include "git/push_ref.h"

enum {
	REPORT_MAX = 1024 * 1024, /* bytes of a report */
	NAME_TOLD = 4096,	  /* of a name that is none, but can be told back */
	ABILITIES_MAX = 4096,
	/* "old new r": the shortest line that a command can have. */
	COMMAND_MIN = 2 * (GIT_ID_LEN + 1) + 1,
};

static const char no_id[] = "0000000000000000000000000000000000000000";

static bool is_id(const char *at)
{
	for (size_t i = 0; i < GIT_ID_LEN; i++)
		if (!((at[i] >= '0' && at[i] <= '9') || (at[i] >= 'a' && at[i] <= 'f')))
			return false;
	return true;
}

static bool is_word(struct slice s, const char *word)
{
	return s.len == strlen(word) && memcmp(s.at, word, s.len) == 0;
}

static bool begins(struct slice s, const char *word)
{
	return s.len >= strlen(word) && memcmp(s.at, word, strlen(word)) == 0;
}

/* ---- the head ---- */

/* As git looks for one: it may have a value, which says nothing. */
static bool is_ability(struct slice s, const char *word)
{
	size_t n = strlen(word);

	return s.len >= n && memcmp(s.at, word, n) == 0 && (s.len == n || s.at[n] == '=');
}

/* What the client can do, behind the first command: words with spaces between.  Git reads to the next NUL and takes any white space
 * for one; what has either is none that git writes, and would be read otherwise here than there. */
static const char *read_abilities(struct push *p, struct slice all)
{
	if (all.len > ABILITIES_MAX)
		return "A command of the push is none that git writes.";
	for (size_t i = 0; i < all.len; i++)
		if ((unsigned char)all.at[i] < ' ' || all.at[i] == 0x7f)
			return "What the client says that it can do has a control character in it: no git writes that.";
	while (all.len) {
		const char *space = memchr(all.at, ' ', all.len);
		struct slice one = { all.at, space ? (size_t)(space - all.at) : all.len };

		if (is_ability(one, "report-status") || is_ability(one, "report-status-v2"))
			p->reports = true;
		else if (is_ability(one, "side-band-64k"))
			p->band_line = PKT_MAX;
		else if (begins(one, "object-format=") && !is_word(one, "object-format=sha1"))
			return "Objects have SHA-1 names here: other kinds of repositories are not taken.";
		else if (is_ability(one, "atomic"))
			p->atomic = true;
		else if (is_ability(one, "push-options"))
			return "Options of a push are not taken here.";
		all.at += one.len + (space ? 1 : 0);
		all.len -= one.len + (space ? 1 : 0);
	}
	return NULL;
}

/* What a push may not do, whoever pushes. */
static const char *judge(const struct push_command *one)
{
	const char *fault = push_ref_fault(one->ref);

	if (fault)
		return fault;
	if (strcmp(one->new_id, no_id) == 0)
		return push_ref_is_tag(one->ref) ? "tags are not deleted by a push"
						 : "branches are not deleted by a push";
	if (push_ref_is_tag(one->ref) && strcmp(one->old_id, no_id) != 0)
		return "a tag that is there is not moved";
	return NULL;
}

static const char *read_command(struct push *p, struct arena *a, struct slice line)
{
	struct push_command *one = &p->commands[p->count];
	const char *nul;
	struct slice name;

	if (begins(line, "push-cert"))
		return "Signed pushes are not taken here.";
	if (line.len > GIT_ID_LEN && line.at[GIT_ID_LEN] != ' ' && line.len >= 64 + 1 &&
		line.at[64] == ' ')
		return "Objects have SHA-1 names here: other kinds of repositories are not taken.";
	if (line.len < COMMAND_MIN || !is_id(line.at) || line.at[GIT_ID_LEN] != ' ' ||
		!is_id(line.at + GIT_ID_LEN + 1) || line.at[2 * GIT_ID_LEN + 1] != ' ')
		return "A command of the push is none that git writes.";
	memcpy(one->old_id, line.at, GIT_ID_LEN);
	memcpy(one->new_id, line.at + GIT_ID_LEN + 1, GIT_ID_LEN);
	name = (struct slice){ line.at + 2 * (GIT_ID_LEN + 1), line.len - 2 * (GIT_ID_LEN + 1) };
	nul = memchr(name.at, '\0', name.len);
	if (nul && p->count)
		return "A command of the push is none that git writes.";
	if (nul) {
		const char *fault = read_abilities(
			p, (struct slice){ nul + 1, name.len - (size_t)(nul - name.at) - 1 });

		if (fault)
			return fault;
		name.len = (size_t)(nul - name.at);
	}
	if (name.len > NAME_TOLD || memchr(name.at, '\n', name.len))
		return "A command of the push names a ref as nobody does.";
	one->ref = arena_strndup(a, name.at, name.len);
	one->refused = judge(one);
	p->refused = p->refused || one->refused;
	p->count++;
	return NULL;
}

/* A client without all of the history says where its own ends; git judges that. */
static bool is_shallow_line(struct slice line)
{
	return begins(line, "shallow ") && line.len == strlen("shallow ") + GIT_ID_LEN &&
	       is_id(line.at + strlen("shallow "));
}

enum push_head push_head_read(
	struct push *ret, struct arena *a, const char *bytes, size_t len, const char **ret_fault)
{
	struct pkt_reader r = { bytes, len < PUSH_HEAD_MAX ? len : PUSH_HEAD_MAX };
	struct slice line;

	*ret = (struct push){ .commands = arena_array(a, struct push_command,
				      r.len / (COMMAND_MIN + PKT_HEAD) + 1) };
	*ret_fault = NULL;
	for (;;) {
		switch (pkt_next(&r, &line)) {
		case PKT_LINE:
			line = pkt_text(line);
			if (!is_shallow_line(line) || ret->count)
				*ret_fault = read_command(ret, a, line);
			break;
		case PKT_FLUSH:
			return PUSH_READ;
		case PKT_MORE:
			if (len < PUSH_HEAD_MAX)
				return PUSH_BREAKS_OFF;
			*ret_fault = "A push has at most 64 kB of commands: push fewer at a time.";
			break;
		default:
			*ret_fault = "The push does not begin with commands as git writes them.";
		}
		if (*ret_fault)
			return PUSH_REFUSED;
	}
}

void push_head_bind(const struct push *p, const char *bytes, size_t len, struct buf *out)
{
	static const char word[] = "\0 atomic ";
	struct pkt_reader r = { bytes, len };
	struct slice line = { bytes, 0 };
	const char *nul, *end;

	do {
		if (p->atomic || pkt_next(&r, &line) != PKT_LINE) {
			buf_put(out, bytes, len);
			return;
		}
	} while (is_shallow_line(pkt_text(line)));
	nul = memchr(line.at, '\0', line.len);
	end = nul ? nul : line.at + pkt_text(line).len;
	buf_put(out, bytes, (size_t)(line.at - bytes) - PKT_HEAD);
	buf_printf(out, "%04zx", PKT_HEAD + line.len + PUSH_BIND_MAX - (nul ? 1 : 0));
	buf_put(out, line.at, (size_t)(end - line.at));
	buf_put(out, word, PUSH_BIND_MAX);
	end += nul ? 1 : 0;
	buf_put(out, end, len - (size_t)(end - bytes));
}

/* ---- the report ---- */

void push_write_refusal(const struct push *p, struct buf *out)
{
	struct buf report;

	buf_init(&report, REPORT_MAX);
	pkt_puts(&report, "unpack ok\n");
	for (size_t i = 0; i < p->count; i++) {
		const struct push_command *one = &p->commands[i];
		const char *why =
			one->refused ? one->refused : "another ref of the push is refused";

		buf_printf(&report, "%04zxng %s %s\n",
			PKT_HEAD + strlen("ng  \n") + strlen(one->ref) + strlen(why), one->ref,
			why);
	}
	pkt_flush(&report);
	if (p->band_line) {
		pkt_put_band(out, 1, report.at, report.len, p->band_line);
		pkt_flush(out);
	} else {
		buf_put(out, report.at, report.len);
	}
	out->overflow = out->overflow || report.overflow;
	buf_free(&report);
}

static void note_done(struct push *p, struct slice ref)
{
	for (size_t i = 0; i < p->count; i++)
		if (is_word(ref, p->commands[i].ref))
			p->commands[i].done = true;
}

static void read_statuses(struct push *p, const char *bytes, size_t len)
{
	struct pkt_reader r = { bytes, len };
	struct slice line;

	while (pkt_next(&r, &line) == PKT_LINE) {
		line = pkt_text(line);
		if (begins(line, "ok "))
			note_done(p, (struct slice){ line.at + 3, line.len - 3 });
	}
}

void push_read_report(struct push *p, const char *bytes, size_t len)
{
	struct pkt_reader r = { bytes, len };
	struct slice line;
	struct buf said;

	if (!p->band_line) {
		read_statuses(p, bytes, len);
		return;
	}
	buf_init(&said, REPORT_MAX);
	while (pkt_next(&r, &line) == PKT_LINE)
		if (line.at[0] == 1)
			buf_put(&said, line.at + 1, line.len - 1);
	if (!said.overflow)
		read_statuses(p, said.at, said.len);
	buf_free(&said);
}
