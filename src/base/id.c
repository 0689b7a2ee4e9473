/* id.c - see id.h. */
#include "base/id.h"
#include "base/clock.h"
#include "base/crypto.h"

#include <stdatomic.h>
#include <string.h>

enum { TIME_DIGITS = 11, RANDOM_DIGITS = 13, NOISE = 16 };

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

/* The clock, but never the same moment twice and never backwards. */
static int64_t next_moment(void)
{
	static _Atomic int64_t last;
	int64_t before = atomic_load_explicit(&last, memory_order_relaxed), now;

	do {
		now = clock_now_us();
		if (now <= before)
			now = before + 1;
	} while (!atomic_compare_exchange_weak_explicit(
		&last, &before, now, memory_order_relaxed, memory_order_relaxed));
	return now;
}

/* Random bytes are fetched many ids at a time: a system call costs more than all the rest. */
static void noise_take(uint8_t out[NOISE])
{
	static _Thread_local uint8_t pool[NOISE * 64];
	static _Thread_local size_t left;

	if (!left) {
		random_bytes(pool, sizeof pool);
		left = sizeof pool;
	}
	left -= NOISE;
	memcpy(out, pool + left, NOISE);
	wipe(pool + left, NOISE);
}

static void write_moment(struct id *id, int64_t us)
{
	id->text[0] = 'c';
	for (int i = TIME_DIGITS; i > 0; i--, us /= 36)
		id->text[i] = digits[us % 36];
}

struct id id_at(int64_t us)
{
	struct id id;
	uint8_t noise[NOISE];
	unsigned __int128 n = 0;

	write_moment(&id, us);
	noise_take(noise);
	for (size_t i = 0; i < sizeof noise; i++)
		n = n << 8 | noise[i];
	for (int i = 0; i < RANDOM_DIGITS; i++, n /= 36)
		id.text[1 + TIME_DIGITS + i] = digits[(unsigned)(n % 36)];
	id.text[ID_LEN] = '\0';
	return id;
}

struct id id_new(int64_t *ret_us)
{
	int64_t us = next_moment();

	if (ret_us)
		*ret_us = us;
	return id_at(us);
}

struct id id_least(int64_t us)
{
	static const int64_t last = INT64_C(131621703842267135); /* eleven times z */
	struct id id;

	write_moment(&id, us < 0 ? 0 : us > last ? last : us);
	memset(id.text + 1 + TIME_DIGITS, '0', RANDOM_DIGITS);
	id.text[ID_LEN] = '\0';
	return id;
}

int64_t id_moment(const char *text)
{
	int64_t us = 0;

	for (int i = 1; i <= TIME_DIGITS && text[i]; i++)
		us = us * 36 + (text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
	return us;
}

bool id_valid(const char *text, size_t len)
{
	if (len != ID_LEN || text[0] != 'c')
		return false;
	for (size_t i = 1; i < ID_LEN; i++)
		if (!((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9')))
			return false;
	return true;
}
