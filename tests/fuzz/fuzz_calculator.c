/* fuzz_calculator.c - any text as an expression: it ends, with a result or with a sentence, and the result is
 * an expression that gives itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sessions/calculator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	const char *text = arena_strndup(&a, (const char *)data, size), *result, *again;
	bool failed;

	result = calculator_run(&a, text, &failed);
	if (!result || !*result)
		abort();
	if (!failed && !strchr(result, '(')) {
		again = calculator_run(&a, result, &failed);
		/* more digits than can be read: only of a fraction that ends late */
		if (failed ? strlen(result) < 1200 : strcmp(result, again) != 0)
			abort();
	}
	arena_free(&a);
	return 0;
}
