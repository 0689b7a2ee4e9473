/* scanner_schemas.c - the tables for the code scanner: which repositories an agent may look into. */
#include "api/tools/scanner.h"

FIELDS(ScannerRead) = {
	FIELD(ScannerRead, provider, .required = true, .example = "\"sonar\"",
		.doc = "Which scanner it is."),
	FIELD(ScannerRead, base_url, .required = true, .example = "\"https://scanner.example.org\"",
		.doc = "Where it answers."),
	FIELD(ScannerRead, organization, .required = true, .example = "\"example\"",
		.doc = "The organisation there that is bound to the tenant."),
	FIELD(ScannerRead, created_at, .required = true, .doc = "When one was first bound."),
	FIELD(ScannerRead, updated_at, .required = true, .doc = "When the binding last changed."),
};
SCHEMA(ScannerRead, .doc = "The scanner organisation bound to the tenant.");

FIELDS(ScannerUpdate) = {
	FIELD(ScannerUpdate, provider, .required = true, .pattern = "^[a-z0-9][a-z0-9_-]{0,63}$",
		BOUNDS(1, 64), .example = "\"sonar\"", .doc = "Which scanner it is."),
	FIELD(ScannerUpdate, base_url, .required = true, BOUNDS(1, 2048),
		.example = "\"https://scanner.example.org\"", .doc = "Where it answers."),
	FIELD(ScannerUpdate, organization, .required = true, BOUNDS(1, 255),
		.example = "\"example\"", .doc = "The organisation there."),
	FIELD(ScannerUpdate, token, .nullable = true, .secret = true, BOUNDS(1, 4096),
		.example = "\"a-token-of-the-scanner\"",
		.doc = "The credential, never shown again; may be left out to keep the one that is "
		       "stored while base_url and provider stay the same."),
};
SCHEMA(ScannerUpdate, .doc = "The scanner organisation to bind.");

FIELDS(ScannerGrantCreate) = {
	FIELD(ScannerGrantCreate, repo_name, .nullable = true, BOUNDS(0, 512),
		.example = "\"handbook\"",
		.doc = "One repository; null or absent grants the whole organisation bound to the "
		       "tenant."),
};
SCHEMA(ScannerGrantCreate, .doc = "Lets an agent see results of the code scanner.");

FIELDS(ScannerGrantRead) = {
	FIELD(ScannerGrantRead, id, .required = true, .doc = "The grant."),
	FIELD(ScannerGrantRead, tenant_id, .required = true, .doc = "The tenant."),
	FIELD(ScannerGrantRead, agent_id, .required = true, .doc = "The agent."),
	FIELD(ScannerGrantRead, repo_name, .required = true, .nullable = true,
		.example = "\"handbook\"",
		.doc = "The one repository granted; null for the whole organisation."),
	FIELD(ScannerGrantRead, granted_by_user_id, .required = true, .nullable = true,
		.doc = "Who gave it; null when no person did."),
	FIELD(ScannerGrantRead, revoked_at, .required = true, .nullable = true, .example = "null",
		.doc = "When it was taken back; null while it holds."),
	FIELD(ScannerGrantRead, created_at, .required = true, .doc = "When it was given."),
};
SCHEMA(ScannerGrantRead,
	.doc = "An agent's grant on scanner results; a revoked one keeps its row.");

FIELDS(ScannerRepositoryOption) = {
	FIELD(ScannerRepositoryOption, id, .required = true, .example = "\"8117\"",
		.doc = "As the scanner names it."),
	FIELD(ScannerRepositoryOption, name, .required = true, .example = "\"handbook\"",
		.doc = "What to put into a grant's repo_name."),
	FIELD(ScannerRepositoryOption, scanned_branch, .nullable = true, .example = "\"main\"",
		.doc = "The branch the scanner looks at; null if unknown."),
};
SCHEMA(ScannerRepositoryOption, .doc = "A repository the scanner knows.");

FIELDS(ScannerRepositoryListResponse) = {
	FIELD(ScannerRepositoryListResponse, repositories, .required = true, .item = OBJECT,
		.of = &ScannerRepositoryOption_schema, .doc = "All of them, by name."),
};
SCHEMA(ScannerRepositoryListResponse,
	.doc = "The repositories of the scanner organisation bound to the tenant.");

const struct schema *const scanner_schemas[] = {
	&ScannerRead_schema,
	&ScannerUpdate_schema,
	&ScannerGrantCreate_schema,
	&ScannerGrantRead_schema,
	&ScannerRepositoryOption_schema,
	&ScannerRepositoryListResponse_schema,
	NULL,
};
