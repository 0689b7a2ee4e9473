/* mime_task.c - what lodge-mime reads: messages. */
#include "helper/inside/inside.h"

void task_prepare(void)
{
	mime_prepare();
}

uint64_t task_longest(uint32_t kind)
{
	return kind == HELPER_MIME ? HELPER_MIME_MAX : 0;
}

bool task_run(struct arena *a, const struct helper_task *t, const char *bytes, struct outlet *o)
{
	(void)a;
	return t->kind == HELPER_MIME ? read_mime(bytes, t->len, o)
				      : outlet_fault(o, 0, "There is no such task.");
}
