/* transport.c - the plain socket and the in-process server's memory; tls.c is their sibling.
 *
 * The sockets are watched edge-triggered: a read that brings less than was
 * asked for has emptied the socket, so the next one waits for the next edge
 * instead of asking the kernel in vain. */
#include "http/transport.h"

#include <errno.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t plain_read(struct http_link *l, void *at, size_t n)
{
	ssize_t got;

	do
		got = recv(l->fd, at, n, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0) {
		l->readable = false;
		return errno == EAGAIN || errno == EWOULDBLOCK ? HTTP_AGAIN : HTTP_DEAD;
	}
	if ((size_t)got < n && !l->ending)
		l->readable = false;
	return got;
}

static ssize_t plain_write(struct http_link *l, const struct iovec *iov, int count)
{
	struct msghdr m = { .msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)count };
	ssize_t put;

	do
		put = count == 1 ? send(l->fd, iov->iov_base, iov->iov_len, MSG_NOSIGNAL)
				 : sendmsg(l->fd, &m, MSG_NOSIGNAL);
	while (put < 0 && errno == EINTR);
	if (put >= 0)
		return put;
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return HTTP_DEAD;
	l->writable = false;
	return HTTP_AGAIN;
}

static ssize_t plain_send_file(struct http_link *l, int fd, off_t at, size_t n)
{
	ssize_t put;

	do
		put = sendfile(l->fd, fd, &at, n);
	while (put < 0 && errno == EINTR);
	if (put >= 0)
		return put;
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return HTTP_DEAD;
	l->writable = false;
	return HTTP_AGAIN;
}

static void plain_shut(struct http_link *l)
{
	shutdown(l->fd, SHUT_WR);
}

static void plain_close(struct http_link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

const struct http_transport http_plain = {
	.lingers = true,
	.read = plain_read,
	.write = plain_write,
	.send_file = plain_send_file,
	.shut = plain_shut,
	.drain = plain_read,
	.close = plain_close,
};

static ssize_t memory_read(struct http_link *l, void *at, size_t n)
{
	struct http_memory *m = l->state;

	if (!m->len) {
		l->readable = m->shut;
		return m->shut ? 0 : HTTP_AGAIN;
	}
	if (n > m->len)
		n = m->len;
	memcpy(at, m->at, n);
	m->at += n;
	m->len -= n;
	return (ssize_t)n;
}

static ssize_t memory_write(struct http_link *l, const struct iovec *iov, int count)
{
	struct http_memory *m = l->state;
	ssize_t n = 0;

	for (int i = 0; i < count; i++) {
		buf_put(m->out, iov[i].iov_base, iov[i].iov_len);
		n += (ssize_t)iov[i].iov_len;
	}
	return n;
}

static void memory_nothing(struct http_link *l)
{
	(void)l;
}

const struct http_transport http_memory = {
	.read = memory_read,
	.write = memory_write,
	.shut = memory_nothing,
	.drain = memory_read,
	.close = memory_nothing,
};
