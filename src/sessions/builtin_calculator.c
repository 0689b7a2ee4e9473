/* builtin_calculator.c - the calculator as a tool. */
#include "sessions/builtin_run.h"
#include "sessions/calculator.h"
#include "sessions/tool_text.h"

int builtin_calculator(struct builtin_call *c)
{
	const char *text = tool_argument_text(&c->in, "expression", BUILTIN_NAME_MAX);
	bool failed;

	if (!builtin_arguments_read(c))
		return 0;
	text = calculator_run(c->arena, text, &failed);
	if (failed)
		tool_answer_fail(c->arena, c->answer, "%s", text);
	else
		tool_answer_text(c->arena, text, c->answer);
	return 0;
}
