/* operation.c - see operation.h. */
#include "call/operation.h"

#include "contract/openapi.h"

void operations_document(struct buf *out, const struct resource *const *resources, size_t count,
	const char *public_url)
{
	openapi_write(out, &(struct contract_parts){ .resources = resources,
				   .count = count,
				   .version = LODGE_VERSION,
				   .public_url = public_url,
				   .cookie = COOKIE_NAME,
				   .permission_name = permission_name,
				   .permission_public = PERM_PUBLIC });
}
