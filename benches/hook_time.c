/* hook_time.c - does the time of a refused signature tell where it is wrong?
 *
 * Signatures that differ from the right one in the first or in the last digit
 * are checked in turn by chance, many times; of each kind the slowest tenth is
 * dropped, as the machine's.  Prints Welch's t of the two means: beyond 4.5
 * they would differ, as the practice of such tests has it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/crypto.h"
#include "outside/webhook.h"

enum { TIMES = 200000, CODE_AT = 7, CODE_LEN = 64 };

static const char *header(const void *ctx, const char *name, size_t *ret_count)
{
	*ret_count = strcmp(name, "x-hub-signature-256") == 0;
	return *ret_count ? ctx : NULL;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void mean_of(double *list, size_t n, double *ret_mean, double *ret_error)
{
	double sum = 0, squares = 0;

	qsort(list, n, sizeof *list, by_size);
	n = n * 9 / 10;
	for (size_t i = 0; i < n; i++)
		sum += list[i];
	*ret_mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (list[i] - *ret_mean) * (list[i] - *ret_mean);
	*ret_error = squares / (double)(n - 1) / (double)n;
}

int main(void)
{
	static double took[2][TIMES];
	static const char *const secret[] = { "a secret that nobody knows" };
	const char *body = "{\"zen\":\"Keep it logically awesome.\"}";
	char code[2][CODE_AT + CODE_LEN + 1] = { "sha256=", "sha256=" };
	char sent[sizeof code[0]]; /* one place for both: another would have times of its own */
	size_t counts[2] = { 0 };
	struct arena a = { 0 };
	uint8_t mac[SHA256_LEN];
	double mean[2], error[2];

	if (!crypto_init())
		return 1;
	hmac_sha256(secret[0], strlen(secret[0]), body, strlen(body), mac);
	for (int k = 0; k < 2; k++) {
		size_t wrong = CODE_AT + (k ? CODE_LEN - 1 : 0);

		hex_write(mac, sizeof mac, code[k] + CODE_AT);
		code[k][wrong] = code[k][wrong] == '0' ? '1' : '0';
	}
	for (size_t i = 0; i < 2 * (size_t)TIMES; i++) {
		uint8_t chance;
		int k;
		struct timespec from, to;
		struct webhook_in in = { .body = body, .len = strlen(body), .header = header };

		random_bytes(&chance, 1);
		k = chance & 1;
		if (counts[k] == TIMES)
			continue;
		memcpy(sent, code[k], sizeof sent);
		in.ctx = sent;
		clock_gettime(CLOCK_MONOTONIC, &from);
		if (webhook_verify(&webhook_providers[WEBHOOK_GITHUB], &a, &in, secret, 1))
			return 1;
		clock_gettime(CLOCK_MONOTONIC, &to);
		took[k][counts[k]++] = (double)(to.tv_sec - from.tv_sec) * 1e9 +
				       (double)(to.tv_nsec - from.tv_nsec);
		arena_reset(&a);
	}
	for (int k = 0; k < 2; k++)
		mean_of(took[k], counts[k], &mean[k], &error[k]);
	printf("%.2f\n", (mean[0] - mean[1]) / sqrt(error[0] + error[1]));
	arena_free(&a);
	return 0;
}
