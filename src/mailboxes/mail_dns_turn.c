/* mail_dns_turn.c - see mail_dns_turn.h. */
#include "mailboxes/mail_dns_turn.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/crypto.h"

enum { REMEMBERED = 1024 }; /* each in the one place that its key has: another takes it over */

static struct {
	pthread_once_t once;
	pthread_mutex_t lock; /* over `known` */
	sem_t turn;
	struct {
		uint64_t key;
		int64_t until_ms;
		bool silent;
	} known[REMEMBERED];
} dns = { .once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER };

static void make_turn(void)
{
	sem_init(&dns.turn, 0, 1);
}

static uint64_t key_of(const char *server, const char *domain)
{
	uint8_t digests[2][SHA256_LEN], digest[SHA256_LEN];
	uint64_t key;

	sha256(server, strlen(server), digests[0]);
	sha256(domain, strlen(domain), digests[1]);
	sha256(digests, sizeof digests, digest);
	memcpy(&key, digest, sizeof key);
	return key;
}

static bool take_turn(void)
{
	struct timespec until;
	int got;

	pthread_once(&dns.once, make_turn);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += MAIL_DNS_TURN_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	while ((got = sem_timedwait(&dns.turn, &until)) && errno == EINTR)
		;
	return !got;
}

enum mail_dns_turn mail_dns_begin(
	const char *server, const char *domain, struct mail_dns_asking *ret)
{
	bool known, silent;
	size_t at;

	*ret = (struct mail_dns_asking){ .key = key_of(server, domain) };
	at = ret->key % REMEMBERED;
	pthread_mutex_lock(&dns.lock);
	known = dns.known[at].key == ret->key && dns.known[at].until_ms > clock_mono_ms();
	silent = known && dns.known[at].silent;
	pthread_mutex_unlock(&dns.lock);
	if (silent)
		return MAIL_DNS_SILENT;
	ret->alone = !known;
	return known || take_turn() ? MAIL_DNS_MAY : MAIL_DNS_BUSY;
}

void mail_dns_end(const struct mail_dns_asking *asking, bool answered, bool silent)
{
	size_t at = asking->key % REMEMBERED;
	int64_t s = silent ? MAIL_DNS_SILENT_S : MAIL_DNS_GOOD_S;

	pthread_mutex_lock(&dns.lock);
	if (answered || silent) {
		dns.known[at].key = asking->key;
		dns.known[at].until_ms = clock_mono_ms() + s * 1000;
		dns.known[at].silent = silent;
	}
	pthread_mutex_unlock(&dns.lock);
	if (asking->alone)
		sem_post(&dns.turn);
}
