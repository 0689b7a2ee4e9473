/* start.c - how long a service takes from exec to its first 200.
 *
 *   start TIMES PORT PATH COMMAND...
 *
 * Prints the microseconds of each start, one a line. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_NS = 50000, GIVE_UP_US = 10000000 };

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int answers(const struct sockaddr_in *where, const char *path)
{
	char text[1024];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), good = 0;
	int len = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: bench\r\n\r\n", path);

	if (fd < 0)
		exit(1);
	if (!connect(fd, (const struct sockaddr *)where, sizeof *where) &&
		send(fd, text, (size_t)len, MSG_NOSIGNAL) == len &&
		recv(fd, text, 12, MSG_WAITALL) == 12)
		good = memcmp(text, "HTTP/1.1 200", 12) == 0;
	close(fd);
	return good;
}

static pid_t launch(char **command)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	dup2(open("/dev/null", O_RDWR), 1);
	dup2(1, 2);
	execv(command[0], command);
	_exit(127);
}

int main(int argc, char **argv)
{
	struct sockaddr_in where = { .sin_family = AF_INET };

	if (argc < 5)
		return fprintf(stderr, "start TIMES PORT PATH COMMAND...\n"), 2;
	where.sin_port = htons((uint16_t)atoi(argv[2]));
	where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int times = atoi(argv[1]); times > 0; times--) {
		int64_t began = now_us(), took = 0;
		pid_t pid = launch(argv + 4);

		while (!answers(&where, argv[3]) && took < GIVE_UP_US) {
			nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
			took = now_us() - began;
		}
		took = now_us() - began;
		kill(pid, SIGTERM);
		waitpid(pid, NULL, 0);
		if (took >= GIVE_UP_US)
			return fprintf(stderr, "%s does not start\n", argv[4]), 1;
		printf("%lld\n", (long long)took);
	}
	return 0;
}
