/* gate.h - may this agent, driven by this user, call this model now?
 *
 * One answer for all who ask: the broker before it calls, and the catalog
 * that shows people what they could choose.  The facts of a model come from the
 * store in one statement, those of the agent's moment (its hours, its rates, its
 * budget) in a few more, once for all models.  The rules are a table, walked in
 * order, and none of them reads anything but the facts. */
#pragma once
#include "broker/budget.h"
#include "broker/model.h"
#include "store/store.h"

/* What whoever would have a tenant work is told while it does not. */
#define TENANT_STANDS_STILL                                                     \
	"The tenant is abandoned, suspended or closed, and nothing of it runs " \
	"until a super administrator changes that."

/* How an agent stands at one moment, whatever it calls. */
struct gate_moment {
	int64_t wait_s; /* until its working hours begin, 0 in them; WAIT_FOR_EVER */
	struct budget_left left;
};

struct gate_facts {
	/* the model */
	const char *model_id, *name, *slug, *description;
	int kind, status;
	int64_t context_window;
	bool supports_tools, supports_vision, is_free;
	int64_t endpoints; /* what it can be asked for: a bit for each of ModelEndpoint */
	/* a token, a character, a second; NIL: not set */
	int64_t prompt_pd, completion_pd, cache_read_pd, cache_write_pd, character_pd, second_pd;
	bool has_address; /* base_url and the provider's name for it are set */
	/* the way to it, for its candidates: loaded where one model or a chain is asked for */
	const char *base_url, *provider_model, *secrets;
	int64_t timeout_s, total_timeout_s, max_tokens;
	struct list failover_chain;
	const char *key_id, *key_base_url, *key_sealed; /* the tenant's own; NULL: it has none */
	/* the tenant and the agent */
	bool tenant_runs, reached, plan_read_only, agent_active;
	int access;		      /* of the direct grant; -1: there is none */
	int64_t priority, granted_at; /* of the direct grant */
	bool router_granted;	      /* the agent may call a router that the tenant reaches */
	/* who drives the agent */
	bool driven; /* false: nobody does, and nothing below counts */
	bool user_suspended, user_super;
	int user_role; /* in the tenant; -1: none */
	bool grants_required, user_grant;
	/* when; NULL: not asked, and no rule about it refuses */
	const struct gate_moment *moment;
};
SCHEMA_DECLARED(gate_facts);

struct gate_rule {
	int err; /* what a call that it refuses ends with */
	const char *code, *sentence;
	bool of_grant; /* the agent may not call this model, whatever state it is in */
	bool (*refuses)(const struct gate_facts *f);
};

/* Who asks; user_id is NULL where nobody drives the agent, agent_id where no agent calls. */
struct gate_who {
	const char *tenant_id, *agent_id, *user_id;
};

/* ERR_NOT_FOUND if there is no such model, or no such agent in the tenant. */
int gate_load(struct db *db, struct arena *a, const struct gate_who *who, const char *model_id,
	struct gate_facts *ret);
/* The same for the models of the agent's chain, in its order, as a list of gate_facts. */
int gate_load_chain(struct db *db, struct arena *a, const struct gate_who *who, struct list *ret);
/* Only looks: what it tells of rates and budget may be gone when a call is reserved. */
int gate_moment_load(struct db *db, struct arena *a, const struct gate_who *who, int64_t now,
	struct gate_moment *ret);
/* The same for all models that the tenant reaches and may choose, as a list of gate_facts. */
int gate_load_all(struct db *db, struct arena *a, const struct gate_who *who, struct list *ret);
/* The statements of a list (store/listing.h) of gate_facts: what the tenant reaches and may choose.
 * Arguments: tenant, agent, user.  The key is model_id. */
extern const struct statement *const gate_catalog;

/* More are not looked at by gate_load_all() and gate_load_chain(): a registry is some hundreds long. */
enum { GATE_MODELS_MAX = 2000 };

/* The first rule that refuses the call, or NULL: it may be made. */
const struct gate_rule *gate_refusal(const struct gate_facts *f);
/* The prices of the model. */
struct price gate_price(const struct gate_facts *f);
/* The agent reaches the model through a router it may call. */
bool gate_via_router(const struct gate_facts *f);
/* Does the driving user hold the grant on the model?  -1 where none is asked for. */
tri gate_user_granted(const struct gate_facts *f);

extern const struct statement_set gate_sql;
