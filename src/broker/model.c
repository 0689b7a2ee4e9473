/* model.c - see model.h. */
#include "broker/model.h"

static const char *const ModelKind_list[] = {
	[ModelKind_openai] = "openai",
	[ModelKind_openai_responses] = "openai_responses",
	[ModelKind_anthropic] = "anthropic",
	[ModelKind_demo] = "demo",
	[ModelKind_router] = "router",
	NULL,
};
const struct words ModelKind_words = {
	.title = "ModelKind",
	.list = ModelKind_list,
	.doc = "openai is any address that speaks OpenAI's chat completions, openai_responses its "
	       "Responses API, anthropic the Messages API; demo answers offline, for trying things "
	       "out; router lets an agent call every model its tenant reaches.",
};

static const char *const ModelStatus_list[] = {
	[ModelStatus_active] = "active",
	[ModelStatus_disabled] = "disabled",
	[ModelStatus_experimental] = "experimental",
	[ModelStatus_deprecated] = "deprecated",
	NULL,
};
const struct words ModelStatus_words = {
	.list = ModelStatus_list,
	.doc = "Only active and experimental models are listed in catalogs.",
};

static const char *const ModelEndpoint_list[] = {
	[ModelEndpoint_chat] = "chat",
	[ModelEndpoint_embeddings] = "embeddings",
	[ModelEndpoint_speech] = "speech",
	[ModelEndpoint_transcriptions] = "transcriptions",
	NULL,
};
const struct words ModelEndpoint_words = {
	.title = "ModelEndpoint",
	.list = ModelEndpoint_list,
	.doc = "What a model can be asked for. All but chat is for models of the kind openai.",
};

static const char *const ModelAccess_list[] = {
	[ModelAccess_full] = "full",
	[ModelAccess_read_only] = "read_only",
	NULL,
};
const struct words ModelAccess_words = {
	.list = ModelAccess_list,
	.doc = "full may call the model; read_only shows it without calling it.",
};

bool model_kind_is_hosted(int kind)
{
	return kind == ModelKind_openai || kind == ModelKind_openai_responses ||
	       kind == ModelKind_anthropic;
}

bool model_status_is_offered(int status)
{
	return status == ModelStatus_active || status == ModelStatus_experimental;
}
