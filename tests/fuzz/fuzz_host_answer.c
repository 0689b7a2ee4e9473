/* fuzz_host_answer.c - any bytes as what a GitLab or a Gitea answers: whatever is asked ends in one of the ways there are, with a sentence
 * unless it is well, and what is taken of it may stand in a path. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hosts/host_call.h"
#include "setup.h"

static const uint8_t *given;
static size_t given_len;

/* The first byte of each piece says how the request ends; a piece goes up to a zero. */
static int answer(
	const struct fetch *in, struct arena *a, struct fetched *out, const char **ret_why)
{
	static const int statuses[] = { 200, 201, 204, 302, 400, 401, 403, 404, 409, 422, 429, 500,
		204 };
	const uint8_t *end = given_len ? memchr(given, 0, given_len) : NULL;
	size_t n = end ? (size_t)(end - given) : given_len;
	uint8_t how = n ? given[0] : 0xff;

	(void)in;
	*out = (struct fetched){ .max_age_s = -1, .length = -1 };
	if (how == 0xff) {
		*ret_why = "nobody is there";
		return ERR_UPSTREAM;
	}
	out->status = statuses[how % (sizeof statuses / sizeof *statuses)];
	out->body = arena_strndup(a, (const char *)given + 1, n - 1);
	out->len = n - 1;
	given += n + (end != NULL);
	given_len -= n + (end != NULL);
	return 0;
}

static void check(struct remote_said said)
{
	if ((said.end != REMOTE_OK) != (said.why != NULL))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char id[] = "c0ho6d97t6l8x7yr7ckzrx0wu";
	struct host h = { .url = "https://git.example.org", .token = "t", .fetch = answer };
	struct host_project project = { 0 };
	struct host_user user = { 1, "u" };
	struct host_about about;
	struct arena a = { 0 };
	struct host_wanted want;
	struct remote_said said;

	if (size < 2)
		return 0;
	h.kind = data[0] & 1 ? &host_gitlab : &host_gitea;
	h.space = data[0] & 2 ? "g" : "";
	given = data + 2;
	given_len = size - 2;
	switch (data[1] % 7) {
	case 0:
		check(h.kind->look(&h, &a, &about));
		break;
	case 1:
		want = host_project_of(&a, "t", "a", id);
		said = host_make(&h, &a, &want, &project);
		check(said);
		if (!said.end && (!host_path_valid(project.path) || !project.clone_url))
			abort();
		break;
	case 2:
		want = host_user_of(&a, "A", id);
		check(h.kind->ensure_user(&h, &a, &want, &user));
		break;
	case 3:
		check(h.kind->put_avatar(&h, &a, &user, "png", 3));
		break;
	case 4:
		check(h.kind->put_key(&h, &a, &user, "k", "ssh-ed25519 AAAA x"));
		break;
	case 5:
		check(h.kind->let_in(&h, &a, "g/p", &user));
		break;
	default:
		check(h.kind->put_hook(&h, &a, "g/p", "https://lodge.example.org/h", "s"));
		break;
	}
	arena_free(&a);
	return 0;
}
