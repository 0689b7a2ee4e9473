/* broker_recordings.c - replies of providers, in the shapes in which they are sent; see broker_fixture.h. */
#include "broker_fixture.h"

#define STREAM "text/event-stream; charset=utf-8"
#define JSON "application/json"

const struct recording recordings[] = {
	{ "openai text", &provider_openai, STREAM,
		"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":173160"
		"0000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\""
		",\"content\":\"\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":null}],\"usa"
		"ge\":null}\n\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"cr"
		"eated\":1731600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"conten"
		"t\":\"Hel\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n"
		"\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1731"
		"600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo, \\"
		"\"you\\\"\\n\303\251\344\275\240\360\237\230\200\"},\"logprobs\":null,\"finish_reaso"
		"n\":null}],\"usage\":null}\n\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.complet"
		"ion.chunk\",\"created\":1731600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"d"
		"elta\":{},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":null}\n"
		"\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1731"
		"600000,\"model\":\"gpt-x\",\"choices\":[],\"usage\":{\"prompt_tokens\":19,\"completi"
		"on_tokens\":10,\"total_tokens\":29,\"prompt_tokens_details\":{\"cached_tokens\":0,\""
		"audio_tokens\":0},\"completion_tokens_details\":{\"reasoning_tokens\":0}}}\n"
		"\ndata: [DONE]\n\n",
		"start chatcmpl-1 gpt-x\ntext Hel\ntext lo, \\\"you\\\"\\n\303\251\344\275\240\360\237"
		"\230\200\nusage 19 0 0 10 0\nfinish stop\n" },
	{ "openai tools in parallel", &provider_openai, STREAM,
		"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":173160"
		"0000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\""
		",\"content\":null},\"logprobs\":null,\"finish_reason\":null}]}\n"
		"\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1731"
		"600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"i"
		"ndex\":0,\"id\":\"call_a\",\"type\":\"function\",\"function\":{\"name\":\"weather\","
		"\"arguments\":\"\"}}]},\"logprobs\":null,\"finish_reason\":null}]}\n"
		"\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1731"
		"600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"i"
		"ndex\":0,\"function\":{\"arguments\":\"{\\\"city\\\":\"}}]},\"logprobs\":null,\"fini"
		"sh_reason\":null}]}\n\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chu"
		"nk\",\"created\":1731600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":"
		"{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"Oslo\\\"}\"}}]},\"lo"
		"gprobs\":null,\"finish_reason\":null}]}\n"
		"\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1731"
		"600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"i"
		"ndex\":1,\"id\":\"call_b\",\"type\":\"function\",\"function\":{\"name\":\"time\",\"a"
		"rguments\":\"\"}}]},\"logprobs\":null,\"finish_reason\":null}]}\n"
		"\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1731"
		"600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"i"
		"ndex\":1,\"function\":{\"arguments\":\"{}\"}}]},\"logprobs\":null,\"finish_reason\":"
		"null}]}\n\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"creat"
		"ed\":1731600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{},\"logprob"
		"s\":null,\"finish_reason\":\"tool_calls\"}]}\n"
		"\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1731"
		"600000,\"model\":\"gpt-x\",\"choices\":[],\"usage\":{\"prompt_tokens\":19,\"completi"
		"on_tokens\":10,\"total_tokens\":29,\"prompt_tokens_details\":{\"cached_tokens\":0,\""
		"audio_tokens\":0},\"completion_tokens_details\":{\"reasoning_tokens\":0}}}\n"
		"\ndata: [DONE]\n\n",
		"start chatcmpl-1 gpt-x\ncall 0 call_a weather\n"
		"args 0 {\\\"city\\\":\nargs 0 \\\"Oslo\\\"}\n"
		"call 1 call_b time\nargs 1 {}\nend 0\nend 1\n"
		"usage 19 0 0 10 0\nfinish tool_calls\n" },
	{ "llama.cpp: no usage, reasoning, CRLF and comments", &provider_openai, STREAM,
		": ping\r\n\r\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"cr"
		"eated\":1731600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"role\""
		":\"assistant\",\"content\":null},\"logprobs\":null,\"finish_reason\":null}]}\r\n"
		"\r\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":17"
		"31600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"reasoning_conten"
		"t\":\"Let me see.\"},\"logprobs\":null,\"finish_reason\":null}]}\r\n"
		"\r\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":17"
		"31600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Four"
		".\"},\"logprobs\":null,\"finish_reason\":null}]}\r\n"
		"\r\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":17"
		"31600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":nul"
		"l,\"finish_reason\":\"length\"}]}\r\n\r\n"
		"data: [DONE]\r\n\r\n",
		"start chatcmpl-1 gpt-x\nthought Let me see.\n"
		"text Four.\nusage 100 0 0 5 3 estimated\n"
		"finish length\n" },
	{ "vLLM: usage in every chunk, and in the last with choices", &provider_openai, STREAM,
		"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":173160"
		"0000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\""
		",\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":{\"prompt_to"
		"kens\":5,\"total_tokens\":5,\"completion_tokens\":0}}\n"
		"\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1731"
		"600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"A\"},\""
		"logprobs\":null,\"finish_reason\":null}],\"usage\":{\"prompt_tokens\":5,\"total_toke"
		"ns\":6,\"completion_tokens\":1}}\n\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.c"
		"ompletion.chunk\",\"created\":1731600000,\"model\":\"gpt-x\",\"choices\":[{\"index\""
		":0,\"delta\":{\"content\":\"B\"},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"us"
		"age\":{\"prompt_tokens\":5,\"total_tokens\":7,\"completion_tokens\":2}}\n"
		"\ndata: [DONE]\n\n",
		"start chatcmpl-1 gpt-x\ntext A\ntext B\nusage 5 0 0 2 0\n"
		"finish stop\n" },
	{ "Ollama: a call whole, without index or id, arguments an object, stop", &provider_openai,
		STREAM,
		"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":173160"
		"0000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\""
		",\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"add\",\"arguments\":{\"a"
		"\":1}}},{\"function\":{\"name\":\"sub\",\"arguments\":\"{\\\"a\\\":2}\"}}]},\"logpro"
		"bs\":null,\"finish_reason\":null}]}\n\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"cha"
		"t.completion.chunk\",\"created\":1731600000,\"model\":\"gpt-x\",\"choices\":[{\"inde"
		"x\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,\"finish"
		"_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"start chatcmpl-1 gpt-x\ncall 0 call_t1_0 add\n"
		"args 0 {\\\"a\\\":1}\ncall 1 call_t1_1 sub\n"
		"args 1 {\\\"a\\\":2}\nend 0\nend 1\nusage 100 0 0 9 0 estimated\n"
		"finish tool_calls\n" },
	{ "openai cached, written and reasoning tokens", &provider_openai, STREAM,
		"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":173160"
		"0000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\""
		",\"content\":\"ok\"},\"logprobs\":null,\"finish_reason\":null}]}\n"
		"\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1731"
		"600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,"
		"\"finish_reason\":\"stop\"}]}\n\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.comp"
		"letion.chunk\",\"created\":1731600000,\"model\":\"gpt-x\",\"choices\":[],\"usage\":{"
		"\"prompt_tokens\":130213,\"completion_tokens\":550,\"total_tokens\":130763,\"prompt_"
		"tokens_details\":{\"cached_tokens\":128955,\"cache_write_tokens\":1253},\"completion"
		"_tokens_details\":{\"reasoning_tokens\":64}}}\n"
		"\ndata: [DONE]\n\n",
		"start chatcmpl-1 gpt-x\ntext ok\nusage 5 128955 1253 550 64\n"
		"finish stop\n" },
	{ "an error inside the stream", &provider_openai, STREAM,
		"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":173160"
		"0000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\""
		",\"content\":\"Par\"},\"logprobs\":null,\"finish_reason\":null}]}\n"
		"\ndata: {\"error\":{\"message\":\"Overloaded\",\"type\":\"server_error\",\"code\":nu"
		"ll}}\n\n",
		"start chatcmpl-1 gpt-x\ntext Par\nusage 100 0 0 1 0 estimated\n"
		"error server\n" },
	{ "[DONE] without a reason is no end", &provider_openai, STREAM,
		"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":173160"
		"0000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\""
		",\"content\":\"Par\"},\"logprobs\":null,\"finish_reason\":null}]}\n"
		"\ndata: [DONE]\n\n",
		"start chatcmpl-1 gpt-x\ntext Par\nusage 100 0 0 1 0 estimated\n"
		"error cut\n" },
	{ "a reason without [DONE] is no end", &provider_openai, STREAM,
		"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":173160"
		"0000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\""
		",\"content\":\"Par\"},\"logprobs\":null,\"finish_reason\":null}]}\n"
		"\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1731"
		"600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,"
		"\"finish_reason\":\"stop\"}]}\n\n",
		"start chatcmpl-1 gpt-x\ntext Par\nusage 100 0 0 1 0 estimated\n"
		"error cut\n" },
	{ "usage below nothing", &provider_openai, STREAM,
		"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":173160"
		"0000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"l"
		"ogprobs\":null,\"finish_reason\":null}]}\n"
		"\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1731"
		"600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,"
		"\"finish_reason\":\"stop\"}]}\n\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.comp"
		"letion.chunk\",\"created\":1731600000,\"model\":\"gpt-x\",\"choices\":[],\"usage\":{"
		"\"prompt_tokens\":-1,\"completion_tokens\":2}}\n"
		"\ndata: [DONE]\n\n",
		"start chatcmpl-1 gpt-x\ntext a\nusage 100 0 0 2 0 estimated\n"
		"finish stop\n" },
	{ "usage beyond belief", &provider_openai, STREAM,
		"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":173160"
		"0000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"l"
		"ogprobs\":null,\"finish_reason\":null}]}\n"
		"\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1731"
		"600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,"
		"\"finish_reason\":\"stop\"}]}\n\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.comp"
		"letion.chunk\",\"created\":1731600000,\"model\":\"gpt-x\",\"choices\":[],\"usage\":{"
		"\"prompt_tokens\":1,\"completion_tokens\":2000000000000}}\n"
		"\ndata: [DONE]\n\n",
		"start chatcmpl-1 gpt-x\ntext a\nusage 1 0 0 1 0 estimated\n"
		"finish stop\n" },
	{ "more cached than read", &provider_openai, STREAM,
		"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":173160"
		"0000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"l"
		"ogprobs\":null,\"finish_reason\":null}]}\n"
		"\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1731"
		"600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,"
		"\"finish_reason\":\"stop\"}]}\n\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.comp"
		"letion.chunk\",\"created\":1731600000,\"model\":\"gpt-x\",\"choices\":[],\"usage\":{"
		"\"prompt_tokens\":10,\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tok"
		"ens\":25}}}\n\ndata: [DONE]\n\n",
		"start chatcmpl-1 gpt-x\ntext a\nusage 0 10 0 2 0 estimated\n"
		"finish stop\n" },
	{ "thinking left out of the output", &provider_openai, STREAM,
		"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":173160"
		"0000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"l"
		"ogprobs\":null,\"finish_reason\":null}]}\n"
		"\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1731"
		"600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,"
		"\"finish_reason\":\"stop\"}]}\n\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.comp"
		"letion.chunk\",\"created\":1731600000,\"model\":\"gpt-x\",\"choices\":[],\"usage\":{"
		"\"prompt_tokens\":10,\"completion_tokens\":2,\"total_tokens\":42,\"completion_tokens"
		"_details\":{\"reasoning_tokens\":30}}}\n\n"
		"data: [DONE]\n\n",
		"start chatcmpl-1 gpt-x\ntext a\nusage 10 0 0 32 30\n"
		"finish stop\n" },
	{ "openai whole", &provider_openai, JSON,
		"{\"id\": \"chatcmpl-2\", \"object\": \"chat.completion\", \"created\": 1, \"model\":"
		" \"gpt-x\", \"choices\": [{\"index\": 0, \"finish_reason\": \"stop\", \"message\": {"
		"\"role\": \"assistant\", \"content\": \"Hi\\n\", \"refusal\": null}, \"logprobs\": {"
		"\"content\": []}}], \"usage\": {\"prompt_tokens\": 19, \"completion_tokens\": 10, \""
		"total_tokens\": 29, \"prompt_tokens_details\": {\"cached_tokens\": 0, \"audio_tokens"
		"\": 0}, \"completion_tokens_details\": {\"reasoning_tokens\": 0}}}",
		"start chatcmpl-2 gpt-x\ntext Hi\\n logprobs {\"content\": []}\n"
		"usage 19 0 0 10 0\nfinish stop\n" },
	{ "openai whole with calls", &provider_openai, JSON,
		"{\"id\": \"x\", \"model\": \"m\", \"choices\": [{\"index\": 0, \"message\": {\"role\""
		": \"assistant\", \"content\": null, \"tool_calls\": [{\"id\": \"c1\", \"type\": \"fu"
		"nction\", \"function\": {\"name\": \"f\", \"arguments\": \"{\\\"a\\\": 1}\"}}, {\"id"
		"\": \"c2\", \"type\": \"function\", \"function\": {\"name\": \"g\", \"arguments\": \""
		"\"}}]}, \"finish_reason\": \"tool_calls\"}], \"usage\": {\"prompt_tokens\": 19, \"co"
		"mpletion_tokens\": 10, \"total_tokens\": 29, \"prompt_tokens_details\": {\"cached_to"
		"kens\": 0, \"audio_tokens\": 0}, \"completion_tokens_details\": {\"reasoning_tokens\""
		": 0}}}",
		"start x m\ncall 0 c1 f\nargs 0 {\\\"a\\\": 1}\n"
		"call 1 c2 g\nend 0\nargs 1 {}\nend 1\nusage 19 0 0 10 0\n"
		"finish tool_calls\n" },
	{ "openai whole, nothing in it", &provider_openai, JSON, "{}",
		"start\nusage 100 0 0 0 0 estimated\nerror malformed\n" },
	{ "openai whole, not JSON", &provider_openai, JSON, "<html>",
		"start\nusage 100 0 0 0 0 estimated\nerror malformed\n" },
	{ "openai whole, an error with status 200", &provider_openai, JSON,
		"{\"error\":{\"message\":\"maximum context length is 10\",\"type\":\"invalid_request_"
		"error\"}}",
		"error context_length\n" },
	{ "a web page", &provider_openai, "text/html; charset=utf-8", "<html></html>",
		"error malformed\n" },
	{ "neither", &provider_openai, "image/png", "PNG", "error malformed\n" },
	{ "nothing at all", &provider_openai, JSON, "", "error cut\n" },
	{ "nothing at all, as a stream", &provider_openai, STREAM, "", "error cut\n" },
	{ "malformed event", &provider_openai, STREAM,
		"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":173160"
		"0000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"l"
		"ogprobs\":null,\"finish_reason\":null}]}\n"
		"\ndata: {\"choices\":[{\n\ndata: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion"
		".chunk\",\"created\":1731600000,\"model\":\"gpt-x\",\"choices\":[{\"index\":0,\"delt"
		"a\":{},\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n"
		"\ndata: [DONE]\n\n",
		"start chatcmpl-1 gpt-x\ntext a\nusage 100 0 0 1 0 estimated\n"
		"error malformed\n" },
	{ "anthropic text", &provider_anthropic, STREAM,
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\""
		",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\""
		"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":25,\"cache_cre"
		"ation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n"
		"\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\""
		"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n"
		"\nevent: ping\ndata: {\"type\":\"ping\"}\n"
		"\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\""
		"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n"
		"\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\""
		"delta\":{\"type\":\"text_delta\",\"text\":\" \303\251!\"}}\n"
		"\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n"
		"\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\""
		":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":15}}\n"
		"\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n"
		"\n",
		"start msg_1 claude-x\ntext Hello\ntext  \303\251!\n"
		"usage 25 0 0 15 0\nfinish stop\n" },
	{ "anthropic thinking, then tools in parallel", &provider_anthropic, STREAM,
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\""
		",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\""
		"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":5,\"cache_crea"
		"tion_input_tokens\":1253,\"cache_read_input_tokens\":128955,\"output_tokens\":1}}}\n"
		"\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\""
		"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n"
		"\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\""
		"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"Hm.\"}}\n"
		"\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\""
		"delta\":{\"type\":\"signature_delta\",\"signature\":\"EqQB\"}}\n"
		"\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n"
		"\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\""
		"content_block\":{\"type\":\"redacted_thinking\",\"data\":\"EmwK\"}}\n"
		"\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n"
		"\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\""
		"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n"
		"\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\""
		"delta\":{\"type\":\"text_delta\",\"text\":\"Checking.\"}}\n"
		"\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n"
		"\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":3,\""
		"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"weather\",\"inp"
		"ut\":{}}}\n\nevent: content_block_delta\n"
		"data: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json"
		"_delta\",\"partial_json\":\"\"}}\n\nevent: content_block_delta\n"
		"data: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json"
		"_delta\",\"partial_json\":\"{\\\"city\\\": \\\"Os\"}}\n"
		"\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\""
		"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"lo\\\"}\"}}\n"
		"\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":3}\n"
		"\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":4,\""
		"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_2\",\"name\":\"now\",\"input\""
		":{}}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\""
		":4}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_rea"
		"son\":\"tool_use\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":89,\"output_"
		"tokens_details\":{\"thinking_tokens\":12}}}\n"
		"\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n"
		"\n",
		"start msg_1 claude-x\nthought Hm.\nseal EqQB\n"
		"seal EmwK redacted\ntext Checking.\ncall 0 toolu_1 weather\n"
		"args 0 {\\\"city\\\": \\\"Os\nargs 0 lo\\\"}\n"
		"end 0\ncall 1 toolu_2 now\nargs 1 {}\nend 1\n"
		"usage 5 128955 1253 89 12\nfinish tool_calls\n" },
	{ "anthropic overloaded in the middle", &provider_anthropic, STREAM,
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\""
		",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\""
		"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":25,\"cache_cre"
		"ation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n"
		"\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\""
		"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n"
		"\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\""
		"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n"
		"\nevent: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\""
		"message\":\"Overloaded\"}}\n\n",
		"start msg_1 claude-x\ntext Hello\nusage 25 0 0 2 0 estimated\n"
		"error server\n" },
	{ "anthropic at the limit, with news unknown to us", &provider_anthropic, STREAM,
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\""
		",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\""
		"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":25,\"cache_cre"
		"ation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n"
		"\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\""
		"content_block\":{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"web\"}}\n"
		"\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\""
		"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}\n"
		"\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n"
		"\nevent: later_event\ndata: {\"type\":\"later_event\",\"x\":1}\n"
		"\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\""
		"content_block\":{\"type\":\"text\",\"text\":\"Ab\"}}\n"
		"\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n"
		"\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\""
		":\"max_tokens\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":7,\"input_token"
		"s\":30,\"cache_read_input_tokens\":null}}\n"
		"\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n"
		"\n",
		"start msg_1 claude-x\ntext Ab\nusage 30 0 0 7 0\n"
		"finish length\n" },
	{ "anthropic refuses", &provider_anthropic, STREAM,
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\""
		",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\""
		"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":25,\"cache_cre"
		"ation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n"
		"\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\""
		":\"refusal\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":3}}\n"
		"\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n"
		"\n",
		"start msg_1 claude-x\nusage 25 0 0 3 0\nfinish content_filter\n" },
	{ "anthropic whole", &provider_anthropic, JSON,
		"{\"id\": \"msg_2\", \"type\": \"message\", \"role\": \"assistant\", \"model\": \"cla"
		"ude-x\", \"content\": [{\"type\": \"thinking\", \"thinking\": \"T\", \"signature\": "
		"\"S\"}, {\"type\": \"text\", \"text\": \"Hi\"}, {\"type\": \"tool_use\", \"id\": \"t"
		"oolu_3\", \"name\": \"f\", \"input\": {\"a\": [1]}}], \"stop_reason\": \"tool_use\","
		" \"usage\": {\"input_tokens\": 3, \"cache_creation_input_tokens\": 12304, \"cache_re"
		"ad_input_tokens\": 0, \"output_tokens\": 550}}",
		"start msg_2 claude-x\nthought T\nseal S\n"
		"text Hi\ncall 0 toolu_3 f\nargs 0 {\\\"a\\\": [1]}\n"
		"end 0\nusage 3 0 12304 550 0\nfinish tool_calls\n" },
	{ "anthropic whole, an error", &provider_anthropic, JSON,
		"{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow\"}}",
		"error rate_limited\n" },
	{ "anthropic whole, something else", &provider_anthropic, JSON, "{\"completion\":\"x\"}",
		"start\nusage 100 0 0 0 0 estimated\nerror malformed\n" },
	{ "responses text", &provider_openai_responses, STREAM,
		"event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,"
		"\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\""
		"model\":\"gpt-r\",\"error\":null,\"incomplete_details\":null,\"output\":[],\"usage\""
		":null}}\n\nevent: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"r"
		"esponse\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\"mo"
		"del\":\"gpt-r\",\"error\":null,\"incomplete_details\":null,\"output\":[],\"usage\":n"
		"ull}}\n\nevent: response.output_item.added\n"
		"data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"id\":\""
		"msg_1\",\"type\":\"message\",\"status\":\"in_progress\",\"role\":\"assistant\",\"con"
		"tent\":[]}}\n\nevent: response.content_part.added\n"
		"data: {\"type\":\"response.content_part.added\",\"item_id\":\"msg_1\",\"output_index"
		"\":0,\"content_index\":0,\"part\":{\"type\":\"output_text\",\"text\":\"\",\"annotati"
		"ons\":[]}}\n\nevent: response.output_text.delta\n"
		"data: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\"output_index\""
		":0,\"content_index\":0,\"delta\":\"Hi \"}\n"
		"\nevent: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\","
		"\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\"there\"}\n"
		"\nevent: response.output_text.done\ndata: {\"type\":\"response.output_text.done\",\""
		"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"text\":\"Hi there\"}\n"
		"\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\""
		"output_index\":0,\"item\":{\"id\":\"msg_1\",\"type\":\"message\",\"status\":\"comple"
		"ted\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hi th"
		"ere\",\"annotations\":[]}]}}\n\nevent: response.completed\n"
		"data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"object\":\""
		"response\",\"status\":\"completed\",\"model\":\"gpt-r\",\"error\":null,\"incomplete_"
		"details\":null,\"output\":[{\"id\":\"msg_1\",\"type\":\"message\",\"status\":\"compl"
		"eted\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hi t"
		"here\",\"annotations\":[]}]}],\"usage\":{\"input_tokens\":130213,\"input_tokens_deta"
		"ils\":{\"cached_tokens\":128955,\"cache_write_tokens\":1253},\"output_tokens\":20,\""
		"output_tokens_details\":{\"reasoning_tokens\":8},\"total_tokens\":130233}}}\n"
		"\n",
		"start resp_1 gpt-r\ntext Hi \ntext there\n"
		"usage 5 128955 1253 20 8\nfinish stop\n" },
	{ "responses reasoning and tools", &provider_openai_responses, STREAM,
		"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\""
		"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\"model\":\"gpt-r\",\"er"
		"ror\":null,\"incomplete_details\":null,\"output\":[],\"usage\":null}}\n"
		"\nevent: response.output_item.added\ndata: {\"type\":\"response.output_item.added\","
		"\"output_index\":0,\"item\":{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[]}}"
		"\n\nevent: response.reasoning_summary_text.delta\n"
		"data: {\"type\":\"response.reasoning_summary_text.delta\",\"item_id\":\"rs_1\",\"out"
		"put_index\":0,\"summary_index\":0,\"delta\":\"Thinking\"}\n"
		"\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\""
		"output_index\":0,\"item\":{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[{\"ty"
		"pe\":\"summary_text\",\"text\":\"Thinking\"}],\"encrypted_content\":\"gAAA\"}}\n"
		"\nevent: response.output_item.added\ndata: {\"type\":\"response.output_item.added\","
		"\"output_index\":1,\"item\":{\"id\":\"fc_1\",\"type\":\"function_call\",\"status\":\""
		"in_progress\",\"call_id\":\"call_1\",\"name\":\"weather\",\"arguments\":\"\"}}\n"
		"\nevent: response.function_call_arguments.delta\n"
		"data: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_1\",\"ou"
		"tput_index\":1,\"delta\":\"{\\\"city\\\":\"}\n"
		"\nevent: response.function_call_arguments.delta\n"
		"data: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_1\",\"ou"
		"tput_index\":1,\"delta\":\"\\\"Oslo\\\"}\"}\n"
		"\nevent: response.function_call_arguments.done\n"
		"data: {\"type\":\"response.function_call_arguments.done\",\"item_id\":\"fc_1\",\"out"
		"put_index\":1,\"arguments\":\"{\\\"city\\\":\\\"Oslo\\\"}\"}\n"
		"\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\""
		"output_index\":1,\"item\":{\"id\":\"fc_1\",\"type\":\"function_call\",\"status\":\"c"
		"ompleted\",\"call_id\":\"call_1\",\"name\":\"weather\",\"arguments\":\"{\\\"city\\\""
		":\\\"Oslo\\\"}\"}}\n\nevent: response.output_item.added\n"
		"data: {\"type\":\"response.output_item.added\",\"output_index\":2,\"item\":{\"id\":\""
		"fc_2\",\"type\":\"function_call\",\"status\":\"completed\",\"call_id\":\"call_2\",\""
		"name\":\"now\",\"arguments\":\"\"}}\n\nevent: response.output_item.done\n"
		"data: {\"type\":\"response.output_item.done\",\"output_index\":2,\"item\":{\"id\":\""
		"fc_2\",\"type\":\"function_call\",\"status\":\"completed\",\"call_id\":\"call_2\",\""
		"name\":\"now\",\"arguments\":\"{}\"}}\n\n"
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id"
		"\":\"resp_1\",\"object\":\"response\",\"status\":\"completed\",\"model\":\"gpt-r\",\""
		"error\":null,\"incomplete_details\":null,\"output\":[{\"id\":\"rs_1\",\"type\":\"rea"
		"soning\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"Thinking\"}],\"encrypted"
		"_content\":\"gAAA\"},{\"id\":\"fc_1\",\"type\":\"function_call\",\"status\":\"comple"
		"ted\",\"call_id\":\"call_1\",\"name\":\"weather\",\"arguments\":\"{\\\"city\\\":\\\""
		"Oslo\\\"}\"},{\"id\":\"fc_2\",\"type\":\"function_call\",\"status\":\"completed\",\""
		"call_id\":\"call_2\",\"name\":\"now\",\"arguments\":\"{}\"}],\"usage\":{\"input_toke"
		"ns\":130213,\"input_tokens_details\":{\"cached_tokens\":128955,\"cache_write_tokens\""
		":1253},\"output_tokens\":20,\"output_tokens_details\":{\"reasoning_tokens\":8},\"tot"
		"al_tokens\":130233}}}\n\n",
		"start resp_1 gpt-r\nthought Thinking\nseal rs_1 gAAA\n"
		"call 0 call_1 weather\nargs 0 {\\\"city\\\":\n"
		"args 0 \\\"Oslo\\\"}\nend 0\ncall 1 call_2 now\n"
		"args 1 {}\nend 1\nusage 5 128955 1253 20 8\n"
		"finish tool_calls\n" },
	{ "responses cut short by the limit", &provider_openai_responses, STREAM,
		"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\""
		"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\"model\":\"gpt-r\",\"er"
		"ror\":null,\"incomplete_details\":null,\"output\":[],\"usage\":null}}\n"
		"\nevent: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\","
		"\"output_index\":0,\"delta\":\"Hi\"}\n\nevent: response.incomplete\n"
		"data: {\"type\":\"response.incomplete\",\"response\":{\"id\":\"resp_1\",\"object\":\""
		"response\",\"status\":\"incomplete\",\"model\":\"gpt-r\",\"error\":null,\"incomplete"
		"_details\":{\"reason\":\"max_output_tokens\"},\"output\":[],\"usage\":{\"input_token"
		"s\":130213,\"input_tokens_details\":{\"cached_tokens\":128955,\"cache_write_tokens\""
		":1253},\"output_tokens\":20,\"output_tokens_details\":{\"reasoning_tokens\":8},\"tot"
		"al_tokens\":130233}}}\n\n",
		"start resp_1 gpt-r\ntext Hi\nusage 5 128955 1253 20 8\n"
		"finish length\n" },
	{ "responses that failed", &provider_openai_responses, STREAM,
		"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\""
		"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\"model\":\"gpt-r\",\"er"
		"ror\":null,\"incomplete_details\":null,\"output\":[],\"usage\":null}}\n"
		"\nevent: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\""
		"resp_1\",\"object\":\"response\",\"status\":\"failed\",\"model\":\"gpt-r\",\"error\""
		":{\"code\":\"server_error\",\"message\":\"The model failed\"},\"incomplete_details\""
		":null,\"output\":[],\"usage\":null}}\n\n",
		"start resp_1 gpt-r\nusage 100 0 0 0 0 estimated\n"
		"error server\n" },
	{ "responses, an error event", &provider_openai_responses, STREAM,
		"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\""
		"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\"model\":\"gpt-r\",\"er"
		"ror\":null,\"incomplete_details\":null,\"output\":[],\"usage\":null}}\n"
		"\nevent: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message"
		"\":\"Slow\",\"param\":null,\"sequence_number\":3}\n"
		"\n",
		"start resp_1 gpt-r\nusage 100 0 0 0 0 estimated\n"
		"error rate_limited\n" },
	{ "responses whole", &provider_openai_responses, JSON,
		"{\"id\": \"resp_1\", \"object\": \"response\", \"status\": \"completed\", \"model\":"
		" \"gpt-r\", \"error\": null, \"incomplete_details\": null, \"output\": [{\"id\": \"r"
		"s_1\", \"type\": \"reasoning\", \"summary\": [{\"type\": \"summary_text\", \"text\":"
		" \"Thinking\"}], \"encrypted_content\": \"gAAA\"}, {\"id\": \"msg_1\", \"type\": \"m"
		"essage\", \"status\": \"completed\", \"role\": \"assistant\", \"content\": [{\"type\""
		": \"output_text\", \"text\": \"Hi there\", \"annotations\": []}]}, {\"id\": \"fc_1\""
		", \"type\": \"function_call\", \"status\": \"completed\", \"call_id\": \"call_1\", \""
		"name\": \"weather\", \"arguments\": \"{\\\"city\\\":\\\"Oslo\\\"}\"}], \"usage\": {\""
		"input_tokens\": 130213, \"input_tokens_details\": {\"cached_tokens\": 128955, \"cach"
		"e_write_tokens\": 1253}, \"output_tokens\": 20, \"output_tokens_details\": {\"reason"
		"ing_tokens\": 8}, \"total_tokens\": 130233}}",
		"start resp_1 gpt-r\nthought Thinking\nseal rs_1 gAAA\n"
		"text Hi there\ncall 0 call_1 weather\nargs 0 {\\\"city\\\":\\\"Oslo\\\"}\n"
		"end 0\nusage 5 128955 1253 20 8\nfinish tool_calls\n" },
	{ "responses whole, failed", &provider_openai_responses, JSON,
		"{\"id\": \"resp_1\", \"object\": \"response\", \"status\": \"failed\", \"model\": \""
		"gpt-r\", \"error\": {\"code\": \"server_error\", \"message\": \"x\"}, \"incomplete_d"
		"etails\": null, \"output\": [], \"usage\": null}",
		"error server\n" },
	{ "responses whole, something else", &provider_openai_responses, JSON, "{\"a\":1}",
		"start\nusage 100 0 0 0 0 estimated\nerror malformed\n" },
};
const size_t recording_count = sizeof recordings / sizeof *recordings;
