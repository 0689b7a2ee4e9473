/* git_spool.c - see git_spool.h. */
#include "api/repos/git_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/log.h"

enum {
	AT_ONCE = 64 * 1024,
	MEMORY_MAX = 1024 * 1024,
	GZIP_ONLY = 16 + MAX_WBITS,
	FRONT = 64, /* bytes before the body, for a head that becomes longer */
	/* What a compressed body may come to: requests of git, which are names of commits, come to three times their bytes. */
	RATIO_MAX = 100,
	RATIO_FROM = 1024 * 1024,
};

struct git_spool {
	struct repos *repos;
	const char *folder, *tenant_id;
	int fd;
	int64_t size, most;
	int64_t came; /* of a compressed body, as it is sent */
	int64_t held; /* of what all bodies may have */
	int64_t from; /* where it begins in the file */
	bool packed, begun, ended, may_be_memory;
	z_stream z;
};

static void end_spool(void *data)
{
	struct git_spool *s = data;

	if (s->fd >= 0)
		close(s->fd);
	if (s->begun)
		inflateEnd(&s->z);
	repo_bodies_give(s->repos, s->tenant_id, s->held);
}

struct git_spool *git_spool_new(struct arena *a, const struct git_spool_setup *setup)
{
	struct git_spool *s = arena_new(a, struct git_spool);

	s->repos = setup->repos;
	s->tenant_id = setup->tenant_id;
	s->folder = setup->folder;
	s->from = FRONT;
	s->most = setup->most;
	s->may_be_memory = setup->may_be_memory;
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

/* Where they stand in the body. */
static bool write_all(int fd, const char *bytes, size_t n, int64_t at)
{
	while (n) {
		ssize_t wrote = pwrite(fd, bytes, n, FRONT + at);

		if (wrote < 0 && errno != EINTR)
			return false;
		bytes += wrote > 0 ? wrote : 0;
		at += wrote > 0 ? wrote : 0;
		n -= wrote > 0 ? (size_t)wrote : 0;
	}
	return true;
}

/* What is in the file so far, of which the first `size` bytes count, goes into memory; false: it is too much, or there is none. */
static bool move_to_memory(struct git_spool *s, int64_t size, int64_t coming)
{
	char part[4096];
	int fd = s->may_be_memory && size + coming <= MEMORY_MAX
			 ? memfd_create("lodge", MFD_CLOEXEC)
			 : -1;
	int64_t at = 0;

	while (fd >= 0 && at < size) {
		size_t most = size - at < (int64_t)sizeof part ? (size_t)(size - at) : sizeof part;
		ssize_t n = pread(s->fd, part, most, FRONT + at);

		if (n <= 0 || !write_all(fd, part, (size_t)n, at)) {
			close(fd);
			fd = -1;
		}
		at += n;
	}
	if (fd < 0)
		return false;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = fd;
	s->may_be_memory = false;
	return true;
}

static int write_out(
	struct git_spool *s, const void *bytes, size_t n, struct arena *a, struct problem *p)
{
	int64_t at = s->size;
	int why;

	s->size += (int64_t)n;
	if (s->size > s->most)
		return problem_set(p, a, ERR_TOO_LARGE,
			"A request of git may have %lld bytes here.", (long long)s->most);
	if (!repo_bodies_take(s->repos, s->tenant_id, (int64_t)n))
		return problem_set(p, a, ERR_BUSY,
			"As much is being sent to repositories as may be at once: try again in a moment.");
	s->held += (int64_t)n;
	if (s->fd < 0)
		s->fd = open(s->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->fd < 0) /* a file system that has no files without a name */
		s->fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); /* NOLINT: likewise */
	if (s->fd >= 0 && write_all(s->fd, bytes, n, at))
		return 0;
	why = errno;
	if (move_to_memory(s, at, (int64_t)n) && write_all(s->fd, bytes, n, at))
		return 0;
	log_warn("a request of git cannot be kept", LOG_S("folder", s->folder),
		LOG_S("why", strerrorname_np(why)));
	return why == ENOSPC || why == EDQUOT
		       ? problem_set(p, a, ERR_NO_SPACE,
				 "What was sent cannot be kept: the disk of repositories has no room.")
		       : problem_set(p, a, ERR_STORE, "What was sent cannot be kept just now.");
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
	s->came += (int64_t)n;
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
		if (!err && s->size > RATIO_FROM && s->size / RATIO_MAX > s->came)
			err = problem_set(p, a, ERR_TOO_LARGE,
				"The body comes to more than %d times what is sent of it.",
				RATIO_MAX);
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
	return s->fd >= 0 && lseek(s->fd, s->from, SEEK_SET) == s->from ? s->fd : -1;
}

ssize_t git_spool_peek(const struct git_spool *s, void *ret, size_t most)
{
	return s->fd >= 0 ? pread(s->fd, ret, most, s->from) : 0;
}

bool git_spool_begin_with(struct git_spool *s, const char *head, size_t n, size_t instead_of)
{
	int64_t from = s->from + (int64_t)instead_of - (int64_t)n;

	if (s->fd < 0 || from < 0)
		return false;
	s->from = from;
	return write_all(s->fd, head, n, from - FRONT);
}
