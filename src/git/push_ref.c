/* push_ref.c - see push_ref.h. */
#include "git/push_ref.h"

#include <string.h>

#include "base/utf8.h"
#include "git/bare.h"

static const char branches[] = "refs/heads/", tags[] = "refs/tags/";

/* What follows, or NULL. */
static const char *after(const char *name, const char *root)
{
	size_t n = strlen(root);

	return strncmp(name, root, n) == 0 ? name + n : NULL;
}

static size_t parts_of(const char *name)
{
	size_t parts = 1;

	for (; *name; name++)
		parts += *name == '/';
	return parts;
}

const char *push_ref_fault(const char *name)
{
	const char *own = after(name, branches);

	if (!own)
		own = after(name, tags);
	if (!own)
		return "only branches and tags may be pushed";
	if (strlen(name) > PUSH_REF_MAX)
		return "the name is longer than 250 bytes";
	if (!utf8_valid(name, strlen(name)))
		return "the name is not UTF-8";
	if (parts_of(own) > PUSH_REF_PARTS) /* each is a folder */
		return "the name has more than 8 parts";
	if (ref_name_is_id(own)) /* whoever asks for it means a commit */
		return "the name is that of a commit";
	/* A part may end with a dot to git, but not to all file systems. */
	return ref_name_fault(own) || strstr(own, "./") || strcmp(own, "HEAD") == 0
		       ? "the name is none that git takes"
		       : NULL;
}

bool push_ref_is_tag(const char *name)
{
	return after(name, tags) != NULL;
}
