/* endpoints.h - what embeddings, speech and transcriptions take and give; for the document, because the bodies pass
 * through as they came. */
#pragma once
#include "contract/schema.h"

struct EmbeddingCreate {
	const char *model;
	struct json input;
	int64_t dimensions;
	const char *encoding_format, *user;
};
SCHEMA_DECLARED(EmbeddingCreate);

struct EmbeddingUsage {
	int64_t prompt_tokens, total_tokens;
};
SCHEMA_DECLARED(EmbeddingUsage);

struct EmbeddingList {
	const char *object;
	struct json data;
	const char *model;
	const struct EmbeddingUsage *usage;
};
SCHEMA_DECLARED(EmbeddingList);

struct SpeechCreate {
	const char *model, *input;
	struct json voice;
	const char *instructions, *response_format;
	double speed;
	const char *stream_format;
};
SCHEMA_DECLARED(SpeechCreate);

struct TranscriptionCreate {
	const char *model, *file, *response_format, *language, *prompt;
	double temperature;
	tri stream;
};
SCHEMA_DECLARED(TranscriptionCreate);

struct Transcription {
	const char *text, *task, *language;
	struct json duration, segments, words;
	struct json usage;
};
SCHEMA_DECLARED(Transcription);
