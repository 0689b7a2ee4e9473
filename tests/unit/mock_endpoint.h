/* mock_endpoint.h - a provider of embeddings, speech and transcriptions for the mock, good or in a way that it is told:
 *
 *   request-0  as it should be
 *   request-1  sound that breaks off, and a stream without its end
 *   request-2  a web page;  request-3: nothing is said of what was used
 *   request-4  an error in the middle of a stream, and JSON of another shape
 *   request-5  sound without end;  request-6: figures that cannot be
 *   request-8 and on, of vectors: one too few, one too many, a place twice, two lengths, no numbers, no place, figures
 *              that nobody believes (14) */
#pragma once
#include "mock_fixture.h"

enum { MOCK_SECONDS = 13, MOCK_VECTOR_TOKENS = 7, MOCK_SOUND = 5000 };

enum http_verdict mock_endpoint(struct mock *m, struct http_exchange *x, int way);
/* How often the sound without end was asked for more. */
extern _Atomic int mock_sound_pieces;
