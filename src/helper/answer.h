/* answer.h - what lodge-helper answered, read as if an enemy had written it. */
#pragma once
#include "helper/helper.h"
#include "helper/wire.h"

/* Where the bytes come from: false when there are no more. */
struct answer_source {
	bool (*pull)(struct answer_source *s, void *into, size_t len);
};

enum answer {
	ANSWER_WHOLE,
	ANSWER_FAULT,	 /* a sentence about what was to be read */
	ANSWER_MEMORY,	 /* the arena has no room for it */
	ANSWER_CUT,	 /* there was no end */
	ANSWER_NONSENSE, /* not what was asked for, or beyond a limit */
};

enum answer answer_files(struct answer_source *s, struct arena *a,
	const struct helper_limits *limits, struct helper_files *ret);
enum answer answer_tree(struct answer_source *s, struct arena *a, struct helper_tree *ret);
enum answer answer_mail(struct answer_source *s, struct arena *a, struct helper_mail *ret);

/* For the readers of answers: bytes with a NUL after them, or NULL with why; the sentence of RECORD_FAULT. */
char *answer_bytes(struct answer_source *s, struct arena *a, size_t len, enum answer *ret);
enum answer answer_fault(
	struct answer_source *s, struct arena *a, const struct helper_record *r, const char **ret);
