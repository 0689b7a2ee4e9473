/* remote_refs.c - see remote_refs.h. */
#include "outside/remote_refs.h"

#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/error.h"

enum { TOTAL_MS = 10000, COMPLAINT_MAX = 4096, QUESTION_MAX = 16 * 1024 };

#define SERVICE "git-upload-pack"
static const char advert_path[] = "/info/refs?service=" SERVICE;

/* One listing under way. */
struct listing {
	const struct remote *remote;
	struct arena *a;
	struct ls_refs *refs;
	const char *base; /* of the repository, without a slash at its end */
	int64_t until_ms;
};

static bool take_refs(void *ctx, const char *bytes, size_t n)
{
	return ls_refs_feed(ctx, bytes, n);
}

static bool has_type(const struct fetched *got, const char *type)
{
	size_t n = strlen(type);

	return got->content_type && strncasecmp(got->content_type, type, n) == 0 &&
	       (!got->content_type[n] || strchr("; \t", got->content_type[n]));
}

/* The type is not told of an answer that was not read to its end, which is no matter: it was read as what it should be. */
static struct remote_said ask(
	struct listing *l, struct fetch *in, const char *type, struct fetched *got)
{
	const struct remote *r = l->remote;
	const char *why = NULL;
	int64_t left = l->until_ms - clock_mono_ms();

	if (left <= 0)
		return remote_unreached(l->a, "it did not answer in time");
	in->egress = r->egress;
	in->user = r->token ? r->user ? r->user : "oauth2" : NULL;
	in->password = r->token;
	in->answer_max = COMPLAINT_MAX;
	in->cut = true;
	in->total_ms = (int)left;
	in->wanted = "retry-after";
	in->stop = r->stop;
	in->line = r->line;
	in->take = take_refs;
	in->take_status = 200;
	in->take_ctx = l->refs;
	if ((r->fetch ? r->fetch : fetch_run)(in, l->a, got, &why)) {
		if (l->refs->state < LS_ENOUGH)
			return remote_unreached(l->a, why);
		return (struct remote_said){ REMOTE_OK, -1, NULL };
	}
	if (got->status == 200 && !has_type(got, type))
		return remote_garbage(l->a, "it is not that of a git server");
	if (got->status > 200 && got->status < 300)
		return remote_garbage(l->a, "its status is none of a git server");
	return remote_said_of(l->a, got, r->token != NULL, clock_now_us() / SECOND_US);
}

static struct remote_said read_end(struct listing *l, struct remote_said said)
{
	const char *fault = said.end ? NULL : ls_refs_end(l->refs);

	return fault ? remote_garbage(l->a, fault) : said;
}

/* The address before what is asked for; NULL if that is not its end. */
static const char *base_of(struct arena *a, const char *url)
{
	size_t len = strlen(url), end = sizeof advert_path - 1;

	return len > end && strcmp(url + len - end, advert_path) == 0
		       ? arena_strndup(a, url, len - end)
		       : NULL;
}

static struct remote_said ask_advert(struct listing *l)
{
	static const struct fetch_header headers[] = { { "Git-Protocol", "version=2" } };
	struct fetched got = { 0 };
	struct remote_said said = { 0 };

	for (int times = 0; times < 2; times++) {
		const char *url = arena_printf(l->a, "%s%s", l->base, advert_path), *moved;

		said = ask(l, &(struct fetch){ .url = url, .headers = headers, .header_count = 1 },
			"application/x-" SERVICE "-advertisement", &got);
		moved = remote_moved_to(l->a, url, &got);
		moved = moved ? base_of(l->a, moved) : NULL;
		if (!moved)
			break;
		l->base = moved;
	}
	return read_end(l, said);
}

static struct remote_said ask_list(struct listing *l)
{
	static const struct fetch_header headers[] = { { "Git-Protocol", "version=2" },
		{ "Content-Type", "application/x-" SERVICE "-request" },
		{ "Accept", "application/x-" SERVICE "-result" } };
	struct remote_said said;
	struct fetched got = { 0 };
	struct buf question;

	buf_init(&question, QUESTION_MAX);
	ls_refs_write(l->refs, &question);
	ls_refs_again(l->refs);
	said = ask(l,
		&(struct fetch){ .url = arena_printf(l->a, "%s/" SERVICE, l->base),
			.body = question.at,
			.body_len = question.len,
			.headers = headers,
			.header_count = 3 },
		"application/x-" SERVICE "-result", &got);
	buf_free(&question);
	return read_end(l, said);
}

/* Without its advertisement. */
static struct remote_said ask_at_once(struct listing *l)
{
	l->refs->version = 2;
	return ask_list(l);
}

static struct remote_said ask_both(struct listing *l)
{
	struct remote_said said = ask_advert(l);

	return !said.end && l->refs->version == 2 ? ask_list(l) : said;
}

static struct remote_said list_refs(
	const struct remote *r, struct arena *a, const struct ls_ask *wanted, struct ls_refs *ret)
{
	struct listing l = { .remote = r,
		.a = a,
		.refs = ret,
		.base = fetch_base_trimmed(a, r->url),
		.until_ms = clock_mono_ms() + (r->total_ms ? r->total_ms : TOTAL_MS) };
	struct remote_said said;

	ls_refs_begin(ret, a, wanted);
	said = r->known ? ask_at_once(&l) : ask_both(&l);
	if (r->known && (said.end == REMOTE_GARBAGE || said.end == REMOTE_MISSING)) {
		/* It is another server by now, or has moved. */
		ls_refs_drop(ret);
		ls_refs_begin(ret, a, wanted);
		said = ask_both(&l);
	}
	ls_refs_drop(ret);
	if (r->ret_url)
		*r->ret_url = l.base;
	if (said.end) {
		ret->count = 0;
		ret->complete = false;
		ret->head = NULL;
	}
	return said;
}

const char *remote_url_fault(const char *url, enum egress egress)
{
	/* Git takes HTTPS: for a scheme of its own. */
	if (url[strspn(url, "htps")] != ':')
		return "must begin with https://, in small letters";
	return fetch_base_fault(url, egress);
}

struct remote_said remote_refs_list(const struct remote *r, struct arena *a, struct ls_refs *ret)
{
	static const struct ls_ask all = { { "refs/heads/", "refs/tags/" }, 2 };

	return list_refs(r, a, &all, ret);
}

struct remote_said remote_ref_exact(
	const struct remote *r, struct arena *a, const char *name, struct remote_ref *ret)
{
	const struct ls_ask one = {
		{ arena_printf(a, "refs/heads/%s", name), arena_printf(a, "refs/tags/%s", name) }, 2
	};
	struct ls_refs refs;
	const struct ls_ref *branch, *tag;
	struct remote_said said;

	*ret = (struct remote_ref){ 0 };
	if (strlen(name) > LS_REF_NAME_MAX / 2)
		return (struct remote_said){ REMOTE_OK, -1, NULL }; /* no host has it */
	said = list_refs(r, a, &one, &refs);
	if (said.end)
		return said;
	branch = ls_refs_find(&refs, one.prefixes[0]);
	tag = ls_refs_find(&refs, one.prefixes[1]);
	if (!branch && !tag && refs.state == LS_ENOUGH)
		return remote_garbage(a, "it lists more than the one ref that it was asked for");
	ret->is_branch = branch != NULL;
	ret->is_tag = tag != NULL;
	if (branch)
		memcpy(ret->branch_id, branch->id, sizeof branch->id);
	if (tag)
		memcpy(ret->tag_id, *tag->peeled ? tag->peeled : tag->id, sizeof tag->id);
	return said;
}
