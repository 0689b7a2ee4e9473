/* tasks.c - what lodge-helper reads: archives, YAML. */
#include "helper/inside/inside.h"

void task_prepare(void)
{
}

uint64_t task_longest(uint32_t kind)
{
	return kind == HELPER_YAML ? HELPER_YAML_MAX : HELPER_PACKED_MAX;
}

bool task_run(struct arena *a, const struct helper_task *t, const char *bytes, struct outlet *o)
{
	switch (t->kind) {
	case HELPER_UNPACK:
		return unpack_archive(a, t, bytes, o);
	case HELPER_YAML:
		return read_yaml(a, bytes, t->len, o);
	default:
#ifdef LODGE_FAULTS
		if (t->kind == HELPER_ACT)
			misdeed_do(bytes, o);
#endif
		return outlet_fault(o, 0, "There is no such task.");
	}
}
