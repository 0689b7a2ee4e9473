/* json_tree.h - a JSON text as a tree, for the few who must look at a value more than once.
 *
 * Reading is that of json.h, with all of its refusals.  The members of an
 * object are sorted by name, so that one is found quickly and two objects are
 * compared in one pass.  Nothing here knows what the values mean. */
#pragma once
#include "base/json.h"

struct json_member;

struct json_node {
	enum json_type type;
	bool flag;		     /* JSON_BOOL */
	uint32_t index;		     /* counted through the tree from 0, parents first */
	size_t count;		     /* JSON_ARRAY, JSON_OBJECT: items or members */
	const char *text;	     /* JSON_STRING, NUL-terminated; JSON_NUMBER as written */
	size_t len;		     /* of the text */
	double number;		     /* JSON_NUMBER */
	struct json_node **items;    /* JSON_ARRAY */
	struct json_member *members; /* JSON_OBJECT */
};

struct json_member {
	const char *name;
	size_t len;
	struct json_node *value;
};

/* The whole text; NULL if it is not one JSON value, *ret_fault being why.  *ret_count is how many nodes
 * there are; both may be NULL. */
struct json_node *json_tree(
	struct arena *a, const char *text, size_t len, const char **ret_fault, size_t *ret_count);
/* Only what lies at these paths, such as "repository.owner.name" or "items.0.id", and on the way to them;
 * the rest is read and checked all the same, and left out.  At most 64 paths. */
struct json_node *json_tree_pick(struct arena *a, const char *text, size_t len,
	const char *const *paths, size_t count, const char **ret_fault);
/* NULL if the object has no such member, or the node is no object. */
struct json_node *json_tree_member(const struct json_node *object, const char *name, size_t len);
/* A string member's text, or NULL. */
const char *json_tree_text(const struct json_node *object, const char *name);
/* As JSON Schema has it: numbers by value, members in any order. */
bool json_tree_same(const struct json_node *a, const struct json_node *b);
/* Equal values have equal hashes. */
uint64_t json_tree_hash(const struct json_node *n);
void json_tree_write(struct buf *out, const struct json_node *n);
