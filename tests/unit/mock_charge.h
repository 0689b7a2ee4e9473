/* mock_charge.h - a provider that does as it is told and charges for all of it, in the shape of whichever API
 * is asked: OpenAI's chat completions and responses, Anthropic's messages.
 *
 * It reads every byte of a request as prompt, but for the data of images,
 * writes as much as the greatest limit in it allows (a great deal if there is
 * none), as often as it is asked to, and adds for each member that costs
 * extra.  Or it answers a word and says of it what cannot be. */
#pragma once
#include "http/http.h"

enum { MOCK_UNLIMITED = 200000 }; /* tokens of an answer without a limit */

/* How many ways there are to say what cannot be; -1 in place of one is the honest charge. */
int mock_figures(void);
const char *mock_figure_name(int way);
enum http_verdict mock_charge(struct http_exchange *x, bool stream, int way);
