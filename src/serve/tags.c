/* tags.c - what the operations of each tag are about, for the document.  The tags themselves stand in the routes; the
 * lint sees to it that each has a row here and each row has routes. */
#include "contract/route.h"

static const struct tag tags[] = {
	{ "System", "Whether the service is well, what it is, and this document." },
	{ "Identity",
		"Signing in and out, one's own account, invitations, and the stream of everything one may see." },
	{ "Tenants", "Tenants, each of which is a house of its own, and finding things in one." },
	{ "API keys", "Keys by which programs act in a tenant." },
	{ "Members", "Who belongs to a tenant, and in which role." },
	{ "Groups", "Members who hold roles together." },
	{ "Allowed accounts", "Who may open an account here." },
	{ "Super administrator",
		"What concerns all tenants: plans, tenants, users, models, the queue." },
	{ "Agents", "Agents, and all that is set for one as a whole." },
	{ "Repositories",
		"An agent's git repository: its branches and tags, its files, its prompts." },
	{ "Roles", "What people and groups may do with an agent." },
	{ "Models", "Which models an agent calls, and who may call them." },
	{ "Sessions", "Conversations with agents: messages, files, subtasks, and their events." },
	{ "Approvals", "Tool calls that wait for a person's word." },
	{ "Mail", "The mailboxes of agents, and the mail in them." },
	{ "Memories", "What an agent keeps from one session to the next." },
	{ "Audit", "Who did what, and what was said." },
	{ "Billing", "What was spent, by whom and when." },
	{ "Bucket", "A tenant's own place for files of any size." },
	{ "Skills", "Skills of a tenant: instructions with files." },
	{ "Skills of an agent",
		"Which skills an agent has, in which version, and what it may do with them." },
	{ "Tools", "Tools that agents call, in bundles and alone." },
	{ "Webhooks", "Events from other services, which become sessions." },
	{ "Scanner", "The scanner of repositories, and who may use it." },
	{ "Provider keys", "A tenant's own keys at providers of models." },
	{ "OpenAI", "The same agents and models for clients of OpenAI's API." },
	{ "Anthropic", "The same agents and models for clients of Anthropic's API." },
	{ 0 },
};
const struct resource tags_resource = { .name = "tags", .tags = tags };
