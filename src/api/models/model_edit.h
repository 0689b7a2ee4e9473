/* model_edit.h - making and changing models, by a request or by an import: what is asked for is checked
 * and put into a row.  Every offending field is listed in the problem. */
#pragma once
#include "api/models/model_row.h"

struct model_editor {
	struct db *db;
	struct arena *arena;
	struct vault *vault;
	const struct patterns *patterns;
	bool allow_private;   /* addresses that are not on the Internet */
	bool may_lack_config; /* a hosted model may be entered before it is configured */
	struct problem *problem;
};

/* Fills the row from what was sent and stores it; ERR_INVALID, or ERR_TAKEN for the slug. */
int model_create(const struct model_editor *e, const struct ModelCreate *in, struct model_row *ret);
/* Adds what is wrong with it to a problem that is set already; fields that are null for that are left alone. */
void model_check(const struct model_editor *e, const struct ModelCreate *in);
/* Changes a row that was read, in place, without storing it. */
int model_change(
	const struct model_editor *e, const struct AdminModelUpdate *in, struct model_row *row);

/* model_config.c */
/* Puts the way to the model into the row.  What the row has of secrets may be kept by it. */
int model_configure(
	const struct model_editor *e, const struct ModelConfig *in, struct model_row *row);

extern const struct statement_set model_edit_sql;
