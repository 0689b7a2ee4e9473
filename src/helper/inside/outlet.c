/* outlet.c - the records of an answer; see inside.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "helper/inside/inside.h"

bool outlet_file(struct outlet *o, const char *name, const void *bytes, size_t len)
{
	struct helper_record r = {
		.kind = RECORD_FILE, .name_len = (uint32_t)strlen(name), .len = len
	};

	return o->put(o, &r, name, bytes);
}

bool outlet_fault(struct outlet *o, size_t line, const char *fmt, ...)
{
	struct helper_record r = { .kind = RECORD_FAULT, .line = line };
	char text[HELPER_FAULT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	utf8_clean(text, strlen(text));
	r.len = strlen(text);
	o->put(o, &r, "", text);
	return false;
}

bool outlet_end(struct outlet *o)
{
	return o->put(o, &(struct helper_record){ .kind = RECORD_END }, "", "");
}
