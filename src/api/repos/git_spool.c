/* git_spool.c - see git_spool.h. */
#include "api/repos/git_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <strings.h>
#include <unistd.h>
#include <zlib.h>

enum { AT_ONCE = 64 * 1024, GZIP_ONLY = 16 + MAX_WBITS };

struct git_spool {
	const char *folder;
	int fd;
	int64_t size, most;
	bool packed, begun, ended;
	z_stream z;
};

static void end_spool(void *data)
{
	struct git_spool *s = data;

	if (s->fd >= 0)
		close(s->fd);
	if (s->begun)
		inflateEnd(&s->z);
}

struct git_spool *git_spool_new(struct arena *a, const char *folder, int64_t most)
{
	struct git_spool *s = arena_new(a, struct git_spool);

	s->folder = folder;
	s->most = most;
	s->fd = -1;
	arena_defer(a, end_spool, s);
	return s;
}

const char *git_spool_coding(struct git_spool *s, const char *coding)
{
	s->packed =
		coding && (strcasecmp(coding, "gzip") == 0 || strcasecmp(coding, "x-gzip") == 0);
	return s->packed || !coding || strcasecmp(coding, "identity") == 0
		       ? NULL
		       : "Send the body as it is, or with Content-Encoding: gzip.";
}

static int write_out(
	struct git_spool *s, const void *bytes, size_t n, struct arena *a, struct problem *p)
{
	const char *at = bytes;

	s->size += (int64_t)n;
	if (s->size > s->most)
		return problem_set(p, a, ERR_TOO_LARGE,
			"A request of git may have %lld bytes here.", (long long)s->most);
	if (s->fd < 0)
		s->fd = open(s->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->fd < 0) /* a file system that has no files without a name */
		s->fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); /* NOLINT: likewise */
	while (n && s->fd >= 0) {
		ssize_t wrote = write(s->fd, at, n);

		if (wrote < 0 && errno != EINTR)
			break;
		at += wrote > 0 ? wrote : 0;
		n -= wrote > 0 ? (size_t)wrote : 0;
	}
	return n ? problem_set(p, a, ERR_STORE, "What was sent cannot be kept just now.") : 0;
}

static int unpack(
	struct git_spool *s, const void *bytes, size_t n, struct arena *a, struct problem *p)
{
	char out[AT_ONCE];
	int err = 0;

	if (!s->begun && inflateInit2(&s->z, GZIP_ONLY) != Z_OK)
		return ERR_BUSY;
	s->begun = true;
	s->z.next_in = (Bytef *)bytes; /* it only reads them */
	s->z.avail_in = (uInt)n;
	do {
		int z;

		s->z.next_out = (Bytef *)out;
		s->z.avail_out = AT_ONCE;
		z = s->ended ? Z_DATA_ERROR : inflate(&s->z, Z_NO_FLUSH);
		if (z != Z_OK && z != Z_STREAM_END && z != Z_BUF_ERROR)
			return problem_set(
				p, a, ERR_MALFORMED, "The body is not gzip, as it says.");
		s->ended = z == Z_STREAM_END;
		err = write_out(s, out, AT_ONCE - s->z.avail_out, a, p);
	} while (!err && (s->z.avail_in || (!s->z.avail_out && !s->ended)));
	return err;
}

int git_spool_add(
	struct git_spool *s, const void *bytes, size_t n, struct arena *a, struct problem *p)
{
	return (s->packed ? unpack : write_out)(s, bytes, n, a, p);
}

bool git_spool_whole(const struct git_spool *s)
{
	return !s->packed || !s->begun || s->ended;
}

int git_spool_read(const struct git_spool *s)
{
	return s->fd >= 0 && lseek(s->fd, 0, SEEK_SET) == 0 ? s->fd : -1;
}
