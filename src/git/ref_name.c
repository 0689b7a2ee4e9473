/* ref_name.c - names of branches and tags, and paths in a repository, by git's rules and a little stricter. */
#include "git/bare.h"

#include <string.h>
#include <strings.h>

#include "base/utf8.h"

static bool is_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

/* One part of a name between slashes. */
static const char *part_fault(const char *part, size_t len)
{
	static const char lock[] = ".lock";
	const size_t n = sizeof lock - 1;

	if (!len)
		return "must not begin or end with a slash, or have two of them together";
	if (*part == '.')
		return "must not have a part that begins with a dot";
	if (len >= n && memcmp(part + len - n, lock, n) == 0)
		return "must not have a part that ends with .lock";
	return NULL;
}

const char *ref_name_fault(const char *name)
{
	const char *fault = NULL;
	size_t len = strlen(name);

	if (!len)
		return "must not be empty";
	if (*name == '-')
		return "must not begin with a hyphen";
	if (is_control(name) || strpbrk(name, " ~^:?*[\\"))
		return "must not have blanks, control characters, or any of ~ ^ : ? * [ \\";
	if (strstr(name, "..") || strstr(name, "@{") || strcmp(name, "@") == 0)
		return "must not have .. or @{, nor be @";
	if (name[len - 1] == '.')
		return "must not end with a dot";
	for (const char *at = name; !fault;) {
		size_t n = strcspn(at, "/");

		fault = part_fault(at, n);
		if (!at[n])
			break;
		at += n + 1;
	}
	return fault;
}

bool ref_name_is_id(const char *name)
{
	return strlen(name) == BARE_ID_LEN && strspn(name, "0123456789abcdefABCDEF") == BARE_ID_LEN;
}

/* Also as file systems that know no case, or that leave out what they cannot write, would take it. */
static bool is_git_folder(const char *part, size_t len)
{
	while (len && (part[len - 1] == '.' || part[len - 1] == ' '))
		len--;
	return (len == 4 && strncasecmp(part, ".git", 4) == 0) ||
	       (len == 5 && strncasecmp(part, "git~1", 5) == 0);
}

const char *bare_path_fault(const char *path)
{
	enum { PATH_BYTES = 1024, PATH_PARTS = 32 };
	size_t parts = 0;

	if (strlen(path) > PATH_BYTES)
		return "is too long";
	if (!utf8_valid(path, strlen(path)) || is_control(path) || strpbrk(path, "\\:"))
		return "must not have a backslash, a colon or control characters";
	for (const char *at = path;; parts++) {
		size_t n = strcspn(at, "/");

		if (!n)
			return "must not begin or end with a slash, or have two of them together";
		if ((n == 1 && *at == '.') || (n == 2 && memcmp(at, "..", 2) == 0))
			return "must not have a part . or ..";
		if (is_git_folder(at, n))
			return "must not have a part .git";
		if (!at[n])
			break;
		at += n + 1;
	}
	return parts < PATH_PARTS ? NULL : "has too many parts";
}
