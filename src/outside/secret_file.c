/* secret_file.c - see secret_file.h. */
#include "outside/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"

/* A second line, above all. */
static bool secret_has_control(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return true;
	return false;
}

const char *secret_file_read(struct arena *a, const char *path, const char **ret_fault)
{
	char text[SECRET_FILE_MAX + 2];
	const char *secret = NULL;
	struct stat st;
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) || (n = read(fd, text, sizeof text)) < 0) {
		*ret_fault = strerror(errno);
	} else if (st.st_mode & 07) {
		*ret_fault = "everybody on this machine can read or write it; chmod 600 it";
	} else {
		while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
			n--;
		if (n < 1 || n > SECRET_FILE_MAX || secret_has_control(text, (size_t)n))
			*ret_fault = "it must hold the secret in one line of at most 512 bytes";
		else
			secret = arena_strndup(a, text, (size_t)n);
	}
	if (fd >= 0)
		close(fd);
	wipe(text, sizeof text);
	return secret;
}
