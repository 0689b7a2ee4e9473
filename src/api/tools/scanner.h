/* scanner.h - the code scanner: which repositories an agent may look into. */
#pragma once
#include "contract/schema.h"

struct ScannerRead {
	const char *provider, *base_url, *organization;
	struct moment created_at, updated_at;
};
SCHEMA_DECLARED(ScannerRead);

struct ScannerUpdate {
	const char *provider, *base_url, *organization, *token;
};
SCHEMA_DECLARED(ScannerUpdate);

struct ScannerGrantCreate {
	const char *repo_name;
};
SCHEMA_DECLARED(ScannerGrantCreate);

struct ScannerGrantRead {
	const char *id, *tenant_id, *agent_id, *repo_name, *granted_by_user_id;
	struct moment revoked_at, created_at;
};
SCHEMA_DECLARED(ScannerGrantRead);

struct ScannerRepositoryOption {
	const char *id, *name, *scanned_branch;
};
SCHEMA_DECLARED(ScannerRepositoryOption);

struct ScannerRepositoryListResponse {
	struct list repositories;
};
SCHEMA_DECLARED(ScannerRepositoryListResponse);
