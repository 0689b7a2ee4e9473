/* skill_config.h - what of a skill's configuration the model may read: the values its instructions name. */
#pragma once
#include "access/vault.h"
#include "sessions/skillset.h"

/* The member of a skill's metadata that names, with blanks or commas between, the keys of its configuration
 * that are no secrets. */
#define SKILL_CONFIG_OPEN "config"

/* The instructions with each {{config.KEY}} replaced: by the value, if the key is open and set; else by a
 * note that says why not. */
const char *skill_config_fill(
	struct arena *a, struct vault *vault, const struct chosen_skill *skill);
