/* fuzz_zone.c - time zone files and names of zones as nobody should write them.  A file that is taken
 * gives an offset of less than 26 hours at every moment; a name that is known stays in its folder. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/tzif.h"
#include "base/zone.h"

enum { YEAR_S = 31556952, OFFSET_MAX_S = 26 * 3600 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_file(const uint8_t *data, size_t size)
{
	struct tzif *z = tzif_new(data, size);

	for (int64_t t = INT64_C(-200) * YEAR_S; z && t < INT64_C(400) * YEAR_S; t += YEAR_S / 7) {
		int64_t offset = tzif_offset_s(z, t);

		if (offset <= -OFFSET_MAX_S || offset >= OFFSET_MAX_S)
			abort();
	}
	tzif_free(z);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[ZONE_NAME_MAX + 2] = "";

	try_file(data, size);
	memcpy(name, data, size < sizeof name - 1 ? size : sizeof name - 1);
	if (zone_known(name) && (strstr(name, "..") || *name == '/'))
		abort();
	return 0;
}
