/* endpoints_schemas.c - see endpoints.h. */
#include "openai/endpoints.h"

#include "broker/endpoint.h"
#include "contract/shape.h"

enum { BODY_MAX = 32 << 20 };

#define MODEL_DOC "agent: and an agent's slug, an agent's id, or a model's slug."

#define TOKENS "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}"
#define TEXTS "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"

static const struct shape embedding_input_shape = { "EmbeddingInput",
	"A text, tokens, or up to 2,048 of either.",
	.json = "{\"anyOf\":[{\"type\":\"string\"}," TEXTS "," TOKENS
		",{\"type\":\"array\",\"items\":" TOKENS "}]}" };
static const struct shape vector_shape = {
	.json = "{\"anyOf\":[{\"type\":\"array\",\"items\":{\"type\":\"number\"}},{\"type\":\"string\"}]}"
};

FIELDS(EmbeddingCreate) = {
	FIELD(EmbeddingCreate, model, .required = true, .example = "\"text-embedding-3-small\"",
		.doc = MODEL_DOC),
	FIELD(EmbeddingCreate, input, .shape = &embedding_input_shape, .required = true,
		.any = true, .ceiling = BODY_MAX, .example = "\"Where is my parcel?\"",
		.doc = "A text, tokens, or up to 2,048 of either."),
	FIELD(EmbeddingCreate, dimensions, .nullable = true, BOUNDS(1, 1 << 20), .example = "null",
		.doc = "How long a vector is, where the model can."),
	FIELD(EmbeddingCreate, encoding_format, .nullable = true, .example = "\"float\"",
		.doc = "float or base64."),
	FIELD(EmbeddingCreate, user, .nullable = true, .example = "null",
		.doc = "Passed on to the provider."),
};
SCHEMA(EmbeddingCreate, .doc = "Texts to turn into vectors. What is not listed is passed on.");

FIELDS(EmbeddingUsage) = {
	FIELD(EmbeddingUsage, prompt_tokens, .required = true, .example = "6",
		.doc = "Tokens of the texts."),
	FIELD(EmbeddingUsage, total_tokens, .required = true, .example = "6", .doc = "The same."),
};
SCHEMA(EmbeddingUsage, .doc = "What was used.");

FIELDS(Embedding) = {
	TOLD(TEXT, object, .required = true, .constant = "embedding", .doc = "Always embedding."),
	TOLD(INTEGER, index, .required = true, .doc = "Which of the texts it is of."),
	TOLD(JSON, embedding, .required = true, .any = true, .shape = &vector_shape,
		.doc = "The vector, as numbers or in base64."),
};
static TOLD_SCHEMA(Embedding, .doc = "The vector of a text.");
static const struct shape embedding_shape = { OBJECTS(&Embedding_schema) };

FIELDS(EmbeddingList) = {
	FIELD(EmbeddingList, object, .required = true, .constant = "list", .doc = "Always list."),
	FIELD(EmbeddingList, data, .shape = &embedding_shape, .required = true, .array = true,
		.ceiling = BODY_MAX,
		.example = "[{\"object\":\"embedding\",\"index\":0,\"embedding\":[0.25,-0.5]}]",
		.doc = "{object, index, embedding} for each text; the vector as numbers or in "
		       "base64."),
	FIELD(EmbeddingList, model, .required = true, .example = "\"text-embedding-3-small\"",
		.doc = "What was asked: an agent or a model."),
	FIELD(EmbeddingList, usage, .required = true, .of = &EmbeddingUsage_schema,
		.doc = "What was used."),
};
SCHEMA(EmbeddingList, .doc = "Vectors.");

FIELDS(SpeechVoice) = {
	TOLD(TEXT, id, .required = true, .doc = "A voice that the provider keeps."),
};
static TOLD_SCHEMA(SpeechVoice, .doc = "A voice, by its id.");
static const struct shape voice_shape = { .text = true, OBJECTS(&SpeechVoice_schema) };

FIELDS(SpeechCreate) = {
	FIELD(SpeechCreate, model, .required = true, .example = "\"agent:assistant\"",
		.doc = MODEL_DOC),
	FIELD(SpeechCreate, input, .required = true, BOUNDS(1, ENDPOINT_CHARACTERS_MAX),
		.example = "\"Your parcel is on its way.\"", .doc = "What is to be said."),
	FIELD(SpeechCreate, voice, .shape = &voice_shape, .nullable = true, .any = true,
		.example = "\"alloy\"",
		.doc = "The name of a voice, or {id}; the agent's voice unless said."),
	FIELD(SpeechCreate, instructions, .nullable = true, .example = "null",
		.doc = "How it is to be said, where the model can."),
	FIELD(SpeechCreate, response_format, .nullable = true, .example = "\"mp3\"",
		.doc = "mp3, opus, aac, flac, wav or pcm."),
	FIELD(SpeechCreate, speed, .nullable = true, BOUNDS(0.25, 4), .example = "1",
		.doc = "How fast."),
	FIELD(SpeechCreate, stream_format, .nullable = true, .example = "\"audio\"",
		.doc = "audio, or sse for events, where the model can."),
};
SCHEMA(SpeechCreate, .doc = "A text to be spoken. What is not listed is passed on.");

FIELDS(TranscriptionCreate) = {
	FIELD(TranscriptionCreate, model, .required = true, .example = "\"whisper-1\"",
		.doc = MODEL_DOC),
	FIELD(TranscriptionCreate, file, .required = true, .ceiling = ENDPOINT_FILE_MAX,
		.example = "\"...\"", .doc = "The sound, as a file."),
	FIELD(TranscriptionCreate, response_format, .nullable = true, .example = "\"json\"",
		.doc = "json, verbose_json, diarized_json, text, srt or vtt."),
	FIELD(TranscriptionCreate, language, .nullable = true, .example = "\"en\"",
		.doc = "The language that is spoken."),
	FIELD(TranscriptionCreate, prompt, .nullable = true, .example = "null",
		.doc = "What goes before it, or how names are spelled."),
	FIELD(TranscriptionCreate, temperature, .nullable = true, BOUNDS(0, 1), .example = "0",
		.doc = "How freely it chooses its words."),
	FIELD(TranscriptionCreate, stream, .nullable = true, .example = "false",
		.doc = "True for events while it is written down, where the model can."),
};
SCHEMA(TranscriptionCreate, .doc = "Sound to be written down. What is not listed is passed on.");

/* Some say it in words. */
static const struct shape duration_shape = {
	.json = "{\"anyOf\":[{\"type\":\"number\"},{\"type\":\"string\"}]}"
};

FIELDS(Transcription) = {
	FIELD(Transcription, text, .required = true, .example = "\"Good morning.\"",
		.doc = "What was heard."),
	FIELD(Transcription, task, .example = "\"transcribe\"", .doc = "With verbose_json."),
	FIELD(Transcription, language, .example = "\"english\"",
		.doc = "With verbose_json: what is spoken."),
	FIELD(Transcription, duration, .shape = &duration_shape, .any = true, .example = "2.95",
		.doc = "With verbose_json: how long it is, in seconds."),
	FIELD(Transcription, segments, .open = true, .array = true, .example = "[]",
		.doc = "With verbose_json and diarized_json: its parts with their times."),
	FIELD(Transcription, words, .open = true, .array = true, .example = "[]",
		.doc = "Its words with their times, where they were asked for."),
	FIELD(Transcription, usage, .open = true, .nullable = true,
		.example = "{\"type\":\"duration\",\"seconds\":3}",
		.doc = "What was used, as the provider says it."),
};
SCHEMA(Transcription, .doc = "What was heard; verbose_json has more, as the provider gives it.");
