/* zone.c - see zone.h.
 *
 * A name is let through only if it looks like one, so that it cannot walk
 * the file system; the file of that name in the system's folder must then be
 * a sound one.  One lock guards the zones that are kept; it is held for the
 * time of a look into a table, or of reading one small file. */
#include "base/zone.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/tzif.h"

enum { ZONES_MAX = 64 /* kept at a time */, DAY_S = 86400 };

#define FOLDER "/usr/share/zoneinfo"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	char name[ZONE_NAME_MAX + 1];
	struct tzif *zone;
} kept[ZONES_MAX];
static unsigned next; /* whose place the next one takes */

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Parts of letters, digits and _ + - that begin with a letter: no dot, so no way up or out. */
static bool looks_like_one(const char *name)
{
	/* In the folder, but not places on earth: copies that count leap seconds or not, and this
	 * machine's own settings. */
	static const char *const others[] = { "posix/", "right/", "localtime", "posixrules",
		"Factory", "leapseconds" };

	if (strlen(name) > ZONE_NAME_MAX)
		return false;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strncmp(name, others[i], strlen(others[i])) == 0)
			return false;
	for (const char *p = name; *p || p == name; p++) {
		bool begins = p == name || p[-1] == '/';

		if (begins ? !is_letter(*p)
			   : !is_letter(*p) && !(*p >= '0' && *p <= '9') && !strchr("_+-/", *p))
			return false;
	}
	return name[strlen(name) - 1] != '/';
}

static struct tzif *read_zone(const char *name)
{
	char path[sizeof FOLDER + 1 + ZONE_NAME_MAX];
	uint8_t bytes[TZIF_FILE_MAX];
	size_t len = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, FOLDER "/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	while (len < sizeof bytes && (n = read(fd, bytes + len, sizeof bytes - len)) > 0)
		len += (size_t)n;
	close(fd);
	return tzif_new(bytes, len);
}

/* With the lock held; NULL if it is not known. */
static const struct tzif *find_zone(const char *name)
{
	struct tzif *zone;

	for (unsigned i = 0; i < ZONES_MAX && kept[i].zone; i++)
		if (strcmp(kept[i].name, name) == 0)
			return kept[i].zone;
	zone = looks_like_one(name) ? read_zone(name) : NULL;
	if (!zone)
		return NULL;
	tzif_free(kept[next].zone);
	strcpy(kept[next].name, name);
	kept[next].zone = zone;
	next = (next + 1) % ZONES_MAX;
	return zone;
}

bool zone_offset_s(const char *name, int64_t utc_s, int64_t *ret)
{
	const struct tzif *zone;

	pthread_mutex_lock(&lock);
	zone = find_zone(name);
	if (zone)
		*ret = tzif_offset_s(zone, utc_s);
	pthread_mutex_unlock(&lock);
	return zone != NULL;
}

bool zone_known(const char *name)
{
	int64_t offset;

	return zone_offset_s(name, 0, &offset);
}

bool zone_local(const char *name, int64_t us, struct zone_time *ret)
{
	int64_t utc_s = us / SECOND_US - (us % SECOND_US < 0), offset, day, second;

	if (!zone_offset_s(name, utc_s, &offset))
		return false;
	second = (utc_s + offset) % DAY_S;
	second += second < 0 ? DAY_S : 0;
	day = (utc_s + offset - second) / DAY_S;
	ret->minute = (int)(second / 60);
	ret->weekday = (int)(((day + 3) % 7 + 7) % 7); /* 1970 began on a Thursday */
	return true;
}
