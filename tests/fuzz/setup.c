/* setup.c - see setup.h; linked to every target.  One that needs another beginning brings its own. */
#include "setup.h"

#include "serve/registry.h"
#include "base/crypto.h"
#include "base/log.h"

struct service service;
struct arena forever;

__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct problem p = { 0 };

	(void)argc;
	(void)argv;
	log_setup(LOG_ERROR, LOG_TEXT);
	if (!crypto_init() || api_setup(&service, &forever, &p))
		abort();
	return 0;
}
