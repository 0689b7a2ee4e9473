/* scanner_schemas.c - the tables for the code scanner: which repositories an agent may look into.
 * */
#include "api/scanner.h"

FIELDS(ScannerGrantCreate) = {
	FIELD(ScannerGrantCreate, repo_name, .nullable = true, BOUNDS(0, 512),
		.example = "\"handbook\"",
		.doc = "One repository; null or absent grants the whole organisation bound to the "
		       "tenant."),
};
SCHEMA(ScannerGrantCreate, .doc = "Lets an agent see results of the code scanner.");

FIELDS(ScannerGrantRead) = {
	FIELD(ScannerGrantRead, id, .need = true, .doc = "The grant."),
	FIELD(ScannerGrantRead, tenant_id, .need = true, .doc = "The tenant."),
	FIELD(ScannerGrantRead, agent_id, .need = true, .doc = "The agent."),
	FIELD(ScannerGrantRead, repo_name, .need = true, .nullable = true,
		.example = "\"handbook\"",
		.doc = "The one repository granted; null for the whole organisation."),
	FIELD(ScannerGrantRead, granted_by_user_id, .need = true, .nullable = true,
		.doc = "Who gave it; null when no person did."),
	FIELD(ScannerGrantRead, revoked_at, .need = true, .nullable = true, .example = "null",
		.doc = "When it was taken back; null while it holds."),
	FIELD(ScannerGrantRead, created_at, .need = true, .doc = "When it was given."),
};
SCHEMA(ScannerGrantRead,
	.doc = "An agent's grant on scanner results; a revoked one keeps its row.");

FIELDS(ScannerRepositoryOption) = {
	FIELD(ScannerRepositoryOption, id, .need = true, .example = "\"8117\"",
		.doc = "As the scanner names it."),
	FIELD(ScannerRepositoryOption, name, .need = true, .example = "\"handbook\"",
		.doc = "What to put into a grant's repo_name."),
	FIELD(ScannerRepositoryOption, scanned_branch, .nullable = true, .example = "\"main\"",
		.doc = "The branch the scanner looks at; null if unknown."),
};
SCHEMA(ScannerRepositoryOption, .doc = "A repository the scanner knows.");

FIELDS(ScannerRepositoryListResponse) = {
	FIELD(ScannerRepositoryListResponse, repositories, .need = true, .item = OBJECT,
		.of = &ScannerRepositoryOption_schema, .doc = "All of them, by name."),
};
SCHEMA(ScannerRepositoryListResponse,
	.doc = "The repositories of the scanner organisation bound to the tenant.");

const struct schema *const scanner_schemas[] = {
	&ScannerGrantCreate_schema,
	&ScannerGrantRead_schema,
	&ScannerRepositoryOption_schema,
	&ScannerRepositoryListResponse_schema,
	NULL,
};
