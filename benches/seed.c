/* seed.c - fills a store that the service has made with tenants and agents.
 *
 *   seed STORE TENANTS AGENTS READS LISTS
 *
 * Each tenant gets an owner, an API key and its share of the agents, which are
 * made in turn, as in life: a tenant's rows lie apart.  READS and LISTS become
 * files of lines "PATH TOKEN" over all tenants, at random. */
#include <openssl/evp.h>

#include "rows.h"

enum { READ_LINES = 10000, LIST_LINES = 1000, RANDOM_LEN = 40, CHECK_LEN = 6, STEP_US = 997 };

struct tenant {
	struct id id, user;
	char token[80];
};

static void sha256(const char *text, unsigned char out[32])
{
	EVP_Digest(text, strlen(text), out, NULL, EVP_sha256(), NULL);
}

/* As token_new() of the service makes them. */
static void make_token(char *out)
{
	static const char base62[] =
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	unsigned char digest[32];
	uint64_t n = 0;
	char *at = out + sprintf(out, "lodge_key_");

	for (int i = 0; i < RANDOM_LEN; i++)
		*at++ = base62[noise() % 62];
	*at = '\0';
	sha256(out, digest);
	for (int i = 0; i < 8; i++)
		n = n << 8 | digest[i];
	for (int i = 0; i < CHECK_LEN; i++, n /= 62)
		*at++ = base62[n % 62];
	*at = '\0';
}

static void insert_tenants(sqlite3 *db, struct tenant *tenants, int count, int64_t us)
{
	sqlite3_stmt *user = prepare(db,
		"insert into users (id, email, email_folded, name, is_super_admin, is_suspended, "
		"created_at, updated_at) values (?1, ?2, ?2, 'Somebody', 0, 0, ?3, ?3)");
	sqlite3_stmt *tenant = prepare(db,
		"insert into tenants (id, name, slug, plan_id, plan_status, status, paid, "
		"allow_superadmin_access, default_skill_visibility_scope, external_mail_enabled, "
		"voicebox_enabled, require_user_model_grants, created_at, updated_at) select ?1, ?2, "
		"?2, id, 'active', 'active', 0, 1, 'private_only', 0, 0, 1, ?3, ?3 from plans limit 1");
	sqlite3_stmt *member = prepare(db,
		"insert into members (tenant_id, user_id, role, created_at, updated_at) "
		"values (?1, ?2, 'OWNER', ?3, ?3)");
	sqlite3_stmt *key =
		prepare(db, "insert into api_keys (tenant_id, id, user_id, name, hash, created_at) "
			    "values (?1, ?2, ?3, 'bench', ?4, ?5)");
	struct index_rows index = index_rows_prepare(db);

	for (int i = 0; i < count; i++) {
		struct tenant *t = &tenants[i];
		struct id key_id = id_at(us);
		unsigned char digest[32];
		char name[64], email[64], words[64], hash[65];

		t->user = id_at(us);
		t->id = id_at(us);
		make_token(t->token);
		sha256(t->token, digest);
		for (int k = 0; k < 32; k++)
			sprintf(hash + 2 * k, "%02x", digest[k]);
		snprintf(name, sizeof name, "tenant-%d", i);
		snprintf(email, sizeof email, "owner-%d@example.org", i);
		bind_text(user, 1, t->user.text);
		bind_text(user, 2, email);
		sqlite3_bind_int64(user, 3, us);
		run(user);
		bind_text(tenant, 1, t->id.text);
		bind_text(tenant, 2, name);
		sqlite3_bind_int64(tenant, 3, us);
		run(tenant);
		bind_text(member, 1, t->id.text);
		bind_text(member, 2, t->user.text);
		sqlite3_bind_int64(member, 3, us);
		run(member);
		bind_text(key, 1, t->id.text);
		bind_text(key, 2, key_id.text);
		bind_text(key, 3, t->user.text);
		bind_text(key, 4, hash);
		sqlite3_bind_int64(key, 5, us);
		run(key);
		snprintf(words, sizeof words, "somebody owner %d example org", i);
		index_rows_insert(
			&index, t->id.text, "user", t->user.text, "Somebody", email, words);
		us += STEP_US;
	}
	sqlite3_finalize(user);
	sqlite3_finalize(tenant);
	sqlite3_finalize(member);
	sqlite3_finalize(key);
	index_rows_free(&index);
}

static FILE *create(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

int main(int argc, char **argv)
{
	static const char pragmas[] =
		"pragma journal_mode = off; pragma synchronous = off; pragma foreign_keys = off;"
		"pragma locking_mode = exclusive; pragma cache_size = -1048576; begin";
	int tenants_count = argc == 6 ? atoi(argv[2]) : 0;
	int64_t count = argc == 6 ? atoll(argv[3]) : 0, us;
	struct tenant *tenants;
	struct agent_rows rows;
	struct id *ids;
	FILE *reads, *lists;
	sqlite3 *db;

	if (tenants_count < 1 || count < 0)
		return fprintf(stderr, "seed STORE TENANTS AGENTS READS LISTS\n"), 2;
	tenants = calloc((size_t)tenants_count, sizeof *tenants);
	ids = calloc((size_t)count + 1, sizeof *ids);
	if (!tenants || !ids)
		abort();
	db = open_store(argv[1], pragmas);
	us = clock_us(CLOCK_REALTIME) - (count + tenants_count + 1) * STEP_US;
	insert_tenants(db, tenants, tenants_count, us);
	us += (int64_t)tenants_count * STEP_US;
	rows = agent_rows_prepare(db);
	for (int64_t i = 0; i < count; i++, us += STEP_US) {
		const struct tenant *t = &tenants[i % tenants_count];
		char name[64], folded[64], slug[64];

		ids[i] = id_at(us);
		snprintf(name, sizeof name, NAME " %07lld", (long long)i);
		snprintf(folded, sizeof folded, "support desk %07lld", (long long)i);
		snprintf(slug, sizeof slug, "support-desk-%07lld", (long long)i);
		agent_rows_insert(
			&rows, t->id.text, t->user.text, &ids[i], us, name, folded, slug, folded);
	}
	agent_rows_free(&rows);
	check(db,
		sqlite3_exec(db, "commit; pragma locking_mode = normal; pragma journal_mode = wal",
			NULL, NULL, NULL),
		SQLITE_OK, "commit");
	check(db, sqlite3_close(db), SQLITE_OK, "close");
	reads = create(argv[4]);
	for (int i = 0; i < READ_LINES && count; i++) {
		int64_t at = (int64_t)(noise() % (uint64_t)count);

		fprintf(reads, "/agents/%s %s\n", ids[at].text, tenants[at % tenants_count].token);
	}
	lists = create(argv[5]);
	for (int i = 0; i < LIST_LINES; i++) {
		const struct tenant *t = &tenants[noise() % (uint64_t)tenants_count];

		fprintf(lists, "/tenant/%s/agents %s\n", t->id.text, t->token);
	}
	free(tenants);
	free(ids);
	return fclose(reads) || fclose(lists);
}
