/* openai_media.h - images, files and sounds in what OpenAI's clients send to an agent, for its session. */
#pragma once
#include "call/call.h"
#include "sessions/session_media.h"

/* How a message's parts are written: those of responses (input_image, ...), or of threads (image_url). */
enum media_shape { MEDIA_RESPONSES, MEDIA_THREADS };

/* Those among the parts of a message (a JSON array) that are no text, each with its place in the text that the others make,
 * a line each.  What is wrong is refused under `field`, as in "input[0].content", with the part's number. */
int openai_media(struct call *c, const char *field, const char *parts, enum media_shape shape,
	struct session_parts *ret);
