/* mail_rules.h - who may write to an agent, whom it may write to, and what follows from a message. */
#pragma once
#include "mailboxes/mail_rows.h"

enum MailReply { MailReply_auto, MailReply_draft, MailReply_off, MailReply_always };
enum MailWake { MailWake_auto, MailWake_never };
extern const struct words MailReply_words, MailWake_words;

enum { MAIL_RULES_MAX = 1000 }; /* of each list */

struct MailRules {
	struct list allow_from, block_from, allow_to; /* const char *: addresses, or @domain */
	int reply, wake;
};
SCHEMA_DECLARED(MailRules);

/* Of the agent, or where that is NULL of the tenant; those that say nothing where none are set. */
int mail_rules_read(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct MailRules *ret);
int mail_rules_write(
	struct db *db, const char *tenant_id, const char *agent_id, const struct MailRules *rules);
/* What holds for the agent: of reply and wake the stricter, and lists of both. */
struct mail_rules_held {
	struct MailRules tenant, agent;
};
int mail_rules_held(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct mail_rules_held *ret);
bool mail_rules_block(const struct mail_rules_held *r, const char *sender);
bool mail_rules_name(const struct mail_rules_held *r, const char *sender); /* in allow_from */
/* True where allow_to has nothing in it, too. */
bool mail_rules_reach(const struct mail_rules_held *r, const char *recipient);
/* off and draft of either hold; then always, which one of them has to say; else auto. */
int mail_rules_reply(const struct mail_rules_held *r);
bool mail_rules_wake(const struct mail_rules_held *r);

extern const struct statement_set mail_rule_sql;
