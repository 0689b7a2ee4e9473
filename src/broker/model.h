/* model.h - the words about models that the broker and the API share. */
#pragma once
#include "contract/schema.h"

enum ModelKind {
	ModelKind_openai,
	ModelKind_openai_responses,
	ModelKind_anthropic,
	ModelKind_demo,
	ModelKind_router
};
extern const struct words ModelKind_words;

enum ModelStatus {
	ModelStatus_active,
	ModelStatus_disabled,
	ModelStatus_experimental,
	ModelStatus_deprecated
};
extern const struct words ModelStatus_words;

/* What a model can be asked for. */
enum ModelEndpoint {
	ModelEndpoint_chat,
	ModelEndpoint_embeddings,
	ModelEndpoint_speech,
	ModelEndpoint_transcriptions
};
extern const struct words ModelEndpoint_words;
/* As a bit of a model's `endpoints`. */
#define ENDPOINT_BIT(endpoint) (INT64_C(1) << (endpoint))

enum ModelAccess { ModelAccess_full, ModelAccess_read_only };
extern const struct words ModelAccess_words;

/* True for kinds that are called over the network, and so need an address. */
bool model_kind_is_hosted(int kind);
/* True for what catalogs list and people may choose. */
bool model_status_is_offered(int status);
