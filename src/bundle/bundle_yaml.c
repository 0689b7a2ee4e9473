/* bundle_yaml.c - YAML as the tree that readers look into, in one place: read by the helper's process. */
#include <string.h>

#include "base/frontmatter.h"
#include "bundle/format_parts.h"
#include "helper/helper.h"

int bundle_yaml(struct bundle_reading *r, const char *text, size_t len,
	const struct json_node **ret, const char **ret_fault)
{
	struct json_node *root = NULL;
	int err;

	if (!r->helper) {
		*ret_fault = "there is nothing here that reads YAML";
		return ERR_INVALID;
	}
	err = helper_yaml(r->helper, r->a, text, len, &root, ret_fault);
	*ret = root;
	return err;
}

int bundle_head(struct bundle_reading *r, const char *text, size_t len,
	const struct json_node **ret, struct slice *ret_body, const char **ret_fault)
{
	struct frontmatter f;

	if (!front_split(text, len, &f)) {
		*ret_fault = f.fault_line ? arena_printf(r->a, "line %d: %s", f.fault_line, f.fault)
					  : f.fault;
		return ERR_INVALID;
	}
	*ret_body = (struct slice){ f.body, f.body_len };
	return bundle_yaml(r, f.head, f.head_len, ret, ret_fault);
}
