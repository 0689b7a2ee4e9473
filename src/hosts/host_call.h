/* host_call.h - one request to the REST of a host, and its answer as structs; what the kinds of hosts share. */
#pragma once
#include "base/buf.h"
#include "contract/schema.h"
#include "hosts/host.h"

enum { HOST_BODY_MAX = 2 << 20, HOST_ITEMS_MAX = 200 };

struct host_call {
	const char *method; /* NULL: GET */
	const char *path;   /* behind the URL, with the API's own beginning */
	const struct buf *body;
	const char *type;		  /* of the body; NULL: JSON */
	const struct fetch_header *auth;  /* who asks */
	const struct fetch_header *extra; /* one more, or NULL */
};

struct host_answer {
	int status; /* 0: none came */
	const char *body;
	size_t len;
};

/* A redirect of a GET is followed once, to the same host. */
struct remote_said host_ask(const struct host *h, struct arena *a, const struct host_call *call,
	struct host_answer *ret);
/* The same, and the answer is an object of that schema. */
struct remote_said host_ask_one(const struct host *h, struct arena *a, const struct host_call *call,
	const struct schema *s, void *ret, struct host_answer *ret_answer);

/* NULL, or what is wrong with it. */
const char *host_read_one(
	struct arena *a, const struct schema *s, const char *text, size_t len, void *ret);
/* The same of an array, of which at most HOST_ITEMS_MAX are read. */
const char *host_read_list(struct arena *a, const struct schema *s, const char *text, size_t len,
	size_t item_size, struct list *ret);

/* Goes through the pages of a list until one holds what is sought, or is not full; of at most HOST_PAGES_MAX. */
struct host_search {
	const struct fetch_header *auth;
	const char *path;  /* up to the number of the page */
	size_t page_items; /* that were asked for */
	const struct schema *s;
	size_t item_size;
	bool (*is_it)(const void *item, const void *sought);
	const void *sought;
};
struct remote_said host_find(
	const struct host *h, struct arena *a, const struct host_search *in, const void **ret);

/* ---- bodies ---- */

/* An object is begun with "{", and its members are put one after the other. */
void host_put_text(struct buf *b, const char *name, const char *value);
void host_put_raw(struct buf *b, const char *name, const char *json);
void host_end(struct buf *b);

/* ---- answers ---- */

/* The host refused for a reason of its own: "The host did not ... (400)." */
struct remote_said host_refused(struct arena *a, const char *what, const struct host_answer *answer,
	struct remote_said said);
struct remote_said host_taken(struct arena *a, const char *what, const char *name);
/* Letters, digits, - _ . and slashes between parts. */
bool host_path_valid(const char *path);
/* Whether two public keys are the same, whatever is said behind them. */
bool host_key_same(const char *one, const char *other);
void host_set_project(const struct host *h, struct arena *a, const char *path, const char *main,
	struct host_project *ret);
