/* bucket_room.c - the room that bytes on their way in claim, so that all of a tenant's together stay below what it may have.
 *
 * Rows decide in the end (bucket_row_put()); this keeps the disk from being
 * filled by what they would refuse.  What the rows come to is known from the
 * last who asked: whoever claims says it to all of the tenant's, and so does
 * whoever ends with a row of their own. */
#include "bucket/bucket_parts.h"

#include <string.h>

void bucket_room_enter(struct bucket_upload *u)
{
	struct bucket *b = u->bucket;

	u->came_to = NIL;
	pthread_mutex_lock(&b->lock);
	u->next = b->uploads;
	u->at = &b->uploads;
	if (u->next)
		u->next->at = &u->next;
	b->uploads = u;
	pthread_mutex_unlock(&b->lock);
}

/* Under the lock, as the next. */
static void tell_used(struct bucket_upload *u, int64_t used)
{
	for (struct bucket_upload *o = u->bucket->uploads; o; o = o->next)
		if (strcmp(o->tenant_id, u->tenant_id) == 0)
			o->used = used - o->stands;
}

static int64_t room_of(const struct bucket_upload *u)
{
	int64_t room = u->bucket->tenant_max - u->used;

	for (const struct bucket_upload *o = u->bucket->uploads; o; o = o->next)
		if (o != u && strcmp(o->tenant_id, u->tenant_id) == 0)
			room -= o->claimed;
	return room;
}

void bucket_room_leave(struct bucket_upload *u)
{
	pthread_mutex_lock(&u->bucket->lock);
	*u->at = u->next;
	if (u->next)
		u->next->at = u->at;
	if (u->kept && u->came_to != NIL)
		tell_used(u, u->came_to);
	pthread_mutex_unlock(&u->bucket->lock);
}

int bucket_upload_claim(
	struct bucket_upload *u, int64_t used, int64_t stands, int64_t bytes, int64_t *ret_room)
{
	int64_t room;

	pthread_mutex_lock(&u->bucket->lock);
	u->limited = true;
	u->stands = stands;
	tell_used(u, used);
	room = room_of(u);
	u->claimed = bytes <= room && bytes > 0 ? bytes : 0;
	pthread_mutex_unlock(&u->bucket->lock);
	*ret_room = room > 0 ? room : 0;
	return bytes <= room ? 0 : ERR_NO_SPACE;
}

void bucket_upload_came_to(struct bucket_upload *u, int64_t used)
{
	u->came_to = used;
}

int bucket_room_grow(struct bucket_upload *u, int64_t n, struct arena *a, struct problem *p)
{
	int64_t bytes = u->size_bytes + n;
	bool fits;

	pthread_mutex_lock(&u->bucket->lock);
	fits = bytes <= u->claimed || !u->limited || bytes <= room_of(u);
	if (fits && u->claimed < bytes)
		u->claimed = bytes;
	pthread_mutex_unlock(&u->bucket->lock);
	return fits ? 0
		    : problem_set(p, a, ERR_NO_SPACE,
			      "The bucket of a tenant holds %lld bytes, and these would be more.",
			      (long long)u->bucket->tenant_max);
}
