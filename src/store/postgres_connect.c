/* postgres_connect.c - making a connection to PostgreSQL: by which address, what is asked of it, and which
 * server is not taken.
 *
 * The address is libpq's and may say all that libpq understands.  What it does
 * not say is chosen here for servers that die, vanish and change places: each
 * host is given seconds, a peer that is silent is given up within ten, and
 * whoever serves is only content with a server that takes changes.  TLS is
 * closed by default: to another machine the certificate is verified, unless
 * the address says otherwise.
 *
 * After a failover the new primary is of a later timeline than the old one.  A
 * process that has seen the later takes none of an earlier any more, so that
 * an old primary that came back as one is not written to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "store/postgres.h"

enum { OPTIONS_MAX = 96, HOSTS_TEXT_MAX = 2048 };
#define SYSTEM_ROOTS "/etc/ssl/certs/ca-certificates.crt"

struct dialling {
	PQconninfoOption *options; /* as the address has them; NULL: it cannot be read */
	const char *names[OPTIONS_MAX], *values[OPTIONS_MAX];
	size_t count;
	char turned[3][HOSTS_TEXT_MAX]; /* lists of hosts, addresses and ports */
};

/* What the address or the environment says of it, or NULL. */
static const char *said_of(const PQconninfoOption *o, const char *name)
{
	for (; o->keyword; o++)
		if (strcmp(o->keyword, name) == 0) {
			const char *text = o->val ? o->val : o->envvar ? getenv(o->envvar) : NULL;

			return text && *text ? text : NULL;
		}
	return NULL;
}

static void put_option(struct dialling *d, const char *name, const char *value)
{
	if (d->count + 1 < OPTIONS_MAX) {
		d->names[d->count] = name;
		d->values[d->count++] = value;
	}
}

/* Unless it is said already. */
static void offer_option(struct dialling *d, const char *name, const char *value)
{
	if (!said_of(d->options, name))
		put_option(d, name, value);
}

static bool host_is_local(const char *host, size_t len)
{
	if (len == 0 || *host == '/' || *host == '@')
		return true;
	if (strncmp(host, "127.", 4) == 0)
		return strspn(host, "0123456789.") >= len;
	return (len == 9 && strncmp(host, "localhost", len) == 0) ||
	       (len == 3 && strncmp(host, "::1", len) == 0);
}

static const char *remote_of(const char *list, size_t *ret_len)
{
	for (; list && *list; list += strspn(list, ",")) {
		*ret_len = strcspn(list, ",");
		if (!host_is_local(list, *ret_len))
			return list;
		list += *ret_len;
	}
	return NULL;
}

/* The first of the hosts that is another machine, by its name (a tunnel to it may begin here) or by its number; NULL if
 * none is. */
static const char *remote_host(const PQconninfoOption *o, size_t *ret_len)
{
	const char *name = remote_of(said_of(o, "host"), ret_len);

	return name ? name : remote_of(said_of(o, "hostaddr"), ret_len);
}

static unsigned list_length(const char *list)
{
	unsigned n = 1;

	while (list && (list = strchr(list, ',')))
		n++, list++;
	return n;
}

static unsigned host_count(const PQconninfoOption *o)
{
	unsigned hosts = list_length(said_of(o, "host")),
		 addresses = list_length(said_of(o, "hostaddr"));

	return hosts > addresses ? hosts : addresses;
}

/* The list from another of its items on, so that libpq begins there; as it is, if it is too long. */
static const char *turn_list(char *out, const char *list, unsigned by)
{
	const char *at = list;

	if (strlen(list) + 2 > HOSTS_TEXT_MAX || !strchr(list, ','))
		return list;
	for (by %= list_length(list); by > 0; by--)
		at = strchr(at, ',') + 1;
	if (at == list)
		return list;
	snprintf(out, HOSTS_TEXT_MAX, "%s,%.*s", at, (int)(at - list - 1), list);
	return out;
}

static void dial_hosts(struct dialling *d, unsigned turn)
{
	static const char *const lists[] = { "host", "hostaddr", "port" };

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		const char *list = said_of(d->options, lists[i]);

		if (list)
			put_option(d, lists[i], turn_list(d->turned[i], list, turn));
	}
}

static void dial_tls(struct dialling *d)
{
	const char *mode = said_of(d->options, "sslmode");
	size_t len;

	if (!remote_host(d->options, &len) || (mode && strncmp(mode, "verify", 6) != 0))
		return; /* with a list of authorities libpq would verify what is said not to be */
	offer_option(d, "sslmode", "verify-full");
	/* libpq looks in the home for a list of authorities; one that is not there is the system's. */
	if (!said_of(d->options, "sslrootcert") && access(SYSTEM_ROOTS, R_OK) == 0) {
		const char *home = getenv("HOME");
		char own[4096];

		if (!home ||
			(size_t)snprintf(own, sizeof own, "%s/.postgresql/root.crt", home) >=
				sizeof own ||
			access(own, R_OK))
			put_option(d, "sslrootcert", SYSTEM_ROOTS);
	}
}

static void dial_options(struct dialling *d, struct db *db)
{
	for (const PQconninfoOption *o = d->options; o->keyword; o++)
		if (o->val && strcmp(o->keyword, "client_encoding") != 0 &&
			strncmp(o->keyword, "host", 4) != 0 && strcmp(o->keyword, "port") != 0)
			put_option(d, o->keyword, o->val);
	dial_hosts(d, pg_impl(db)->turn);
	put_option(d, "client_encoding", "UTF8");
	offer_option(d, "connect_timeout", "5"); /* seconds, for each host */
	/* Whoever waits for an answer, and whoever sends, notices within ten seconds that the other side is gone. */
	offer_option(d, "keepalives_idle", "3");
	offer_option(d, "keepalives_interval", "2");
	offer_option(d, "keepalives_count", "2");
	offer_option(d, "tcp_user_timeout", "8000");
	/* Where several are named, and wherever something is served: a name may lead to several as well. */
	if (db->way != WAY_REPLICA && (host_count(d->options) > 1 || db->store->how == STORE_SERVE))
		offer_option(d, "target_session_attrs", "read-write");
	dial_tls(d);
}

static PGconn *dial(struct db *db, const char *where, char *error, size_t size)
{
	struct dialling d = { 0 };
	char *fault = NULL, name[64];
	PGconn *conn = NULL;

	d.options = PQconninfoParse(where, &fault);
	if (d.options) {
		snprintf(name, sizeof name, "lodge %s %d", way_name(db->way), (int)getpid());
		dial_options(&d, db);
		offer_option(&d, "fallback_application_name", name);
		pg_impl(db)->hosts = host_count(d.options);
		conn = PQconnectdbParams(d.names, d.values, 0);
		PQconninfoFree(d.options);
	} else {
		snprintf(error, size, "%.*s", fault ? (int)strcspn(fault, "\n") : 0,
			fault ? fault : "");
		PQfreemem(fault);
	}
	return conn;
}

/* What the server says beside its answers.  That somebody ended the wait for a standby is a mere warning there, with
 * a commit that looks as any other; its words are translated and its state is that of every warning, but not where it comes from. */
static void on_server_notice(void *arg, const PGresult *r)
{
	struct postgres *p = arg;
	const char *file = PQresultErrorField(r, PG_DIAG_SOURCE_FILE);

	if (file && strcmp(file, "syncrep.c") == 0)
		p->unwaited = true;
}

/* Of a connection that is the session's own.  One that does not tell is taken: not every server that speaks the protocol has a log
 * with timelines. */
static int pg_refuse_old(struct db *db, bool *ret_old)
{
	static const char ask[] =
		"select s.system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8)"
		" from pg_control_system() s";
	struct store *s = db->store;
	PGresult *r = PQexec(pg_impl(db)->conn, ask);
	int err = 0;

	if (PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) == 1) {
		uint64_t system = strtoull(PQgetvalue(r, 0, 0), NULL, 10);
		unsigned timeline = (unsigned)strtoul(PQgetvalue(r, 0, 1), NULL, 16);
		unsigned seen = atomic_exchange(&s->server.system, system) == system
					? atomic_load(&s->server.timeline)
					: 0;

		*ret_old = timeline < seen;
		if (*ret_old)
			err = db_fail(db, ERR_STORE,
				"the server is an old primary: it is of timeline %u, and %u was served before",
				timeline, seen);
		else
			atomic_store(&s->server.timeline, timeline);
	}
	PQclear(r);
	return err;
}

/* Locks and notices bear its name; without one, nothing that is asked for is there either. */
static int pg_find_schema(struct db *db)
{
	PGresult *r = PQexec(pg_impl(db)->conn, "select current_schema()");
	int err = PQresultStatus(r) == PGRES_TUPLES_OK ? 0 : pg_fail(db, r);

	if (!err && PQgetisnull(r, 0, 0))
		err = db_fail(db, ERR_STORE,
			"none of the schemas of search_path is there, or may be used: make one with create schema, or "
			"name another");
	PQclear(r);
	return err;
}

static int pg_set_up(struct db *db, bool *ret_old)
{
	/* What is acknowledged must be on the disk: a server told to commit without waiting for it is
	 * asked to wait here; one that waits for more, a standby perhaps, keeps its way. */
	static const char setup[] = "set client_min_messages = warning;"
				    "set plan_cache_mode = force_generic_plan;"
				    "set timezone = 'UTC';"
				    "set statement_timeout = '60s';"
				    "set idle_in_transaction_session_timeout = '60s';"
				    /* a machine that is gone keeps no locks for hours */
				    "set tcp_keepalives_idle = 20;"
				    "set tcp_keepalives_interval = 5;"
				    "set tcp_keepalives_count = 3;"
				    "select set_config('synchronous_commit', 'on', false)"
				    " where current_setting('synchronous_commit') = 'off'";
	struct postgres *p = pg_impl(db);
	/* Every text is UTF-8: another encoding would refuse some only when they come, or change them. */
	const char *encoding = PQparameterStatus(p->conn, "server_encoding");
	int err;

	if (!encoding || strcmp(encoding, "UTF8") != 0)
		return db_fail(db, ERR_STORE,
			"the database has the encoding %s and must have UTF8: make one with createdb --encoding=UTF8 "
			"--template=template0",
			encoding ? encoding : "that is not told");
	if (p->pooled) /* the session is the pooler's: see flight_begin */
		return 0;
	err = pg_simple(db, setup);
	if (!err)
		err = pg_find_schema(db);
	if (!err && db->way != WAY_REPLICA)
		err = pg_refuse_old(db, ret_old);
	return err;
}

static int pg_connect_once(struct db *db, bool *ret_old)
{
	struct postgres *p = pg_impl(db);
	char fault[256] = "there is no memory";
	int err;

	p->conn = dial(db, p->where, fault, sizeof fault);
	if (PQstatus(p->conn) != CONNECTION_OK) {
		const char *text = p->conn ? PQerrorMessage(p->conn) : fault;

		return db_fail(
			db, ERR_STORE, "cannot connect: %.*s", (int)strcspn(text, "\n"), text);
	}
	PQsetNoticeReceiver(p->conn, on_server_notice, p);
	err = pg_set_up(db, ret_old);
	p->gone = err != 0; /* what is not set up is not used, but made anew */
	return err;
}

int pg_connect(struct db *db)
{
	struct postgres *p = pg_impl(db);
	bool old = false;
	int err = pg_connect_once(db, &old);

	/* libpq was content with it: the next time it begins with the host after. */
	for (unsigned tries = 1; old && tries < p->hosts; tries++) {
		PQfinish(p->conn);
		old = false;
		p->turn++;
		err = pg_connect_once(db, &old);
	}
	return err;
}

void pg_warn_of_address(const char *setting, const char *where)
{
	PQconninfoOption *o = PQconninfoParse(where, NULL);
	size_t len = 0;
	const char *host = o ? remote_host(o, &len) : NULL;
	const char *mode = o ? said_of(o, "sslmode") : NULL;

	if (host && mode && strcmp(mode, "verify-full") != 0) {
		char name[256];

		snprintf(name, sizeof name, "%.*s", (int)len, host);
		log_warn(
			"the database's certificate and name are not verified: whoever is between can read and change "
			"everything; say sslmode=verify-full",
			LOG_S("setting", setting), LOG_S("host", name), LOG_S("sslmode", mode));
	}
	PQconninfoFree(o);
}
