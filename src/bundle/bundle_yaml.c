/* bundle_yaml.c - YAML as the tree that readers look into, in one place: read by the helper's process. */
#include <string.h>

#include "base/frontmatter.h"
#include "bundle/format_parts.h"
#include "helper/helper.h"

#define NO_READER "there is nothing here that reads YAML"

int bundle_yaml(struct bundle_reading *r, const char *text, size_t len,
	const struct json_node **ret, const char **ret_fault)
{
	struct json_node *root = NULL;
	int err;

	if (!r->helper) {
		*ret_fault = NO_READER;
		return ERR_INVALID;
	}
	err = helper_yaml(r->helper, r->a, text, len, &root, ret_fault);
	*ret = root;
	return err;
}

int bundle_head(struct bundle_reading *r, const char *text, size_t len,
	const struct json_node **ret, struct slice *ret_body, const char **ret_fault)
{
	struct helper_tree tree;
	struct frontmatter f;
	int err;

	if (!front_split(text, len, &f)) {
		*ret_fault = f.fault_line ? arena_printf(r->a, "line %d: %s", f.fault_line, f.fault)
					  : f.fault;
		return ERR_INVALID;
	}
	*ret_body = (struct slice){ f.body, f.body_len };
	if (!r->helper) {
		*ret_fault = NO_READER;
		return ERR_INVALID;
	}
	err = helper_yaml_lines(r->helper, r->a, f.head, f.head_len, &tree);
	*ret = tree.root;
	*ret_fault = tree.fault_line /* the head's first line is the file's second */
			     ? arena_printf(r->a, "line %zu: %s", tree.fault_line + 1, tree.fault)
			     : tree.fault;
	return err;
}
