/* json_schema_multiple.h - whether one number is a whole multiple of another, in the decimals they are
 * written in: 19.99 is a multiple of 0.01, which no division of doubles will tell. */
#pragma once
#include "base/json_tree.h"

bool json_number_is_multiple(const struct json_node *n, const struct json_node *of);
