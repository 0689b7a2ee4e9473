/* builtin_tools.c - see builtin_tools.h.  A test compiles every schema in the table. */
#include "sessions/builtin_tools.h"

#include <string.h>

#define OBJECT_OF(properties, required)                                                \
	"{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required \
	"],\"additionalProperties\":false}"

#define MAIL_TO(name, doc, least)                                                          \
	"\"" name "\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1," \
	"\"maxLength\":254},\"minItems\":" #least ",\"maxItems\":50,\"description\":\"" doc "\"}"
#define MAIL_DRAFT                                                 \
	"\"draft\":{\"type\":\"boolean\",\"description\":\"true: " \
	"it is kept, and a person sends it or does not.\"}"

const struct builtin_tool builtin_tools[] = {
	{ "time", "The present date and time, in UTC or in a named time zone.",
		OBJECT_OF("\"time_zone\":{\"type\":\"string\",\"maxLength\":64,\"description\":"
			  "\"A name such as Europe/Paris; UTC when left out.\"}",
			""),
		.repeat_safe = true, .alone = true, .harmless = true },
	{ "calculator", "Works out an arithmetic expression exactly.",
		OBJECT_OF("\"expression\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":1000,"
			  "\"description\":\"Numbers, + - * / % ^ and parentheses.\"}",
			"\"expression\""),
		.repeat_safe = true, .alone = true, .harmless = true },
	{ "http_fetch", "Reads a page or document from a public web address.",
		OBJECT_OF("\"url\":{\"type\":\"string\",\"format\":\"uri\",\"minLength\":1,"
			  "\"maxLength\":4096,\"description\":\"An https address.\"},"
			  "\"max_bytes\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1048576,"
			  "\"description\":\"Where to cut a long answer.\"}",
			"\"url\""),
		.repeat_safe = true, .alone = true },
	{ "session_search", "Finds earlier sessions of this agent, and messages in them, by words.",
		OBJECT_OF("\"query\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":500},"
			  "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":50,"
			  "\"default\":10}",
			"\"query\""),
		.repeat_safe = true },
	{ "memory_write", "Keeps a note for later sessions of this agent.",
		OBJECT_OF(
			"\"content\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":8000},"
			"\"scope\":{\"type\":\"string\",\"enum\":[\"private\",\"shared\"],"
			"\"description\":\"private, if left out: only the person you work for comes "
			"across it; shared: everybody who uses this agent.\"}",
			"\"content\"") },
	{ "memory_search", "Finds notes that this agent has kept.",
		OBJECT_OF("\"query\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":500},"
			  "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":50,"
			  "\"default\":10}",
			"\"query\""),
		.repeat_safe = true },
	{ "subtask", "Gives a part of the work to a session of its own and waits for its result.",
		OBJECT_OF(
			"\"title\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":255},"
			"\"agent\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":255,"
			"\"description\":\"The slug of another agent that is to do it; left out, you "
			"do it yourself in a session of its own.\"},"
			"\"message\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":65536,"
			"\"description\":\"What is to be done, with all that is needed to do it.\"}",
			"\"title\",\"message\"") },
	{ "skill_read",
		"Reads the instructions of a skill that this agent has, or one of its files.",
		OBJECT_OF("\"skill\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":255,"
			  "\"description\":\"Its slug.\"},"
			  "\"file\":{\"type\":\"string\",\"maxLength\":1024,\"description\":"
			  "\"The path of one of its files; the instructions when left out.\"}",
			"\"skill\""),
		.repeat_safe = true, .harmless = true },
	{ "mail_search", "Finds messages in this agent's mailboxes, newest first.",
		OBJECT_OF("\"query\":{\"type\":\"string\",\"maxLength\":255,\"description\":"
			  "\"What the subject, the sender or the first words contain.\"},"
			  "\"unread\":{\"type\":\"boolean\",\"description\":"
			  "\"true: only those that nobody has read.\"},"
			  "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":50,"
			  "\"default\":10}",
			""),
		.repeat_safe = true },
	{ "mail_read", "Reads a message of this agent's mailboxes.",
		OBJECT_OF("\"message_id\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":64,"
			  "\"description\":\"As mail_search tells it.\"}",
			"\"message_id\""),
		.repeat_safe = true },
	{ "mail_send", "Writes a message as this agent, from its own address.",
		OBJECT_OF(
			MAIL_TO("to", "Whom it is for: addresses.", 1) "," MAIL_TO("cc",
				"Who else has it.",
				0) ","
				   "\"subject\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":998},"
				   "\"text\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":65536}," MAIL_DRAFT,
			"\"to\",\"subject\",\"text\""),
		.asks = true, .unless = "draft" },
	{ "mail_reply", "Answers a message of this agent's mailboxes.",
		OBJECT_OF("\"message_id\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":64},"
			  "\"text\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":65536},"
			  "\"all\":{\"type\":\"boolean\",\"description\":"
			  "\"true: to everybody who had it, not only to its sender.\"}," MAIL_DRAFT,
			"\"message_id\",\"text\""),
		.asks = true, .unless = "draft" },
};
const size_t builtin_tool_count = sizeof builtin_tools / sizeof *builtin_tools;

const struct builtin_tool *builtin_tool(const char *name)
{
	for (size_t i = 0; i < builtin_tool_count; i++)
		if (strcmp(builtin_tools[i].name, name) == 0)
			return &builtin_tools[i];
	return NULL;
}
