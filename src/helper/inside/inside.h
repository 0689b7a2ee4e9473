/* inside.h - the parts of lodge-helper and lodge-mime, the programs in which formats of strangers are read.
 *
 * There are two, because the libraries that MIME takes cost 2 ms to load, which
 * a head of YAML should not wait for.  One is started for one task, locks itself in before it reads a byte, answers
 * in records (helper/wire.h) and ends.  Nothing here is linked into the server. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "helper/wire.h"

/* jail.c: after it the program can read and write its one socket and have memory, and nothing else.  False if the
 * machine does not let it; then nothing must be read. */
bool jail_enter(unsigned long cpu_seconds, unsigned long memory_bytes);

/* Whoever takes what was found: the socket, or a test. */
struct outlet {
	bool (*put)(struct outlet *o, const struct helper_record *r, const char *name,
		const void *bytes);
};
bool outlet_file(struct outlet *o, const char *name, const void *bytes, size_t len);
/* Always false, so that a reader can end with it. */
bool outlet_fault(struct outlet *o, size_t line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool outlet_end(struct outlet *o);

/* tasks.c of lodge-helper, mime_task.c of lodge-mime: what must be done while there still are files; how long the bytes of a
 * task may be; the task itself. */
void task_prepare(void);
uint64_t task_longest(uint32_t kind);
bool task_run(struct arena *a, const struct helper_task *t, const char *bytes, struct outlet *o);

/* unpack.c, tar.c, yaml.c: true if the answer was whole, false if it ended with a fault or nobody takes it. */
bool unpack_archive(
	struct arena *a, const struct helper_task *t, const void *bytes, struct outlet *o);
bool unpack_tar(struct arena *a, const struct helper_task *t, const void *bytes, struct outlet *o);
bool read_yaml(struct arena *a, const char *text, size_t len, struct outlet *o);

/* mime.c: what the library has to load from files, before there are none any more; a message. */
void mime_prepare(void);
bool read_mime(const char *bytes, size_t len, struct outlet *o);

#ifdef LODGE_FAULTS
/* misdeeds.c */
void misdeed_do(const char *what, struct outlet *o);
#endif
