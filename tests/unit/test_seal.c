/* test_seal.c - the chain of seals over the audit log: what it lets pass, and all that it must not. */
#include "fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "access/audit_chain.h"
#include "base/clock.h"
#include "base/crypto.h"

static const uint8_t *chain_key(const struct fixture *f)
{
	return f->app.chain_key;
}

static struct db *link_to(struct fixture *f)
{
	struct problem p = { 0 };
	struct db *db = NULL;

	if (store_connect(f->app.store, &db, &f->arena, &p))
		test_fail(__FILE__, __LINE__, "%s", p.detail);
	return db;
}

static void write_rows(struct fixture *f, int count)
{
	struct db *db = link_to(f);

	CHECK_INT(db_begin(db, READ_WRITE), 0);
	for (int i = 0; i < count; i++) {
		struct audit_entry e = { .action = "agent.update",
			.resource_id = "r",
			.tenant_id = f->tenant_id,
			.user_id = i % 2 ? f->admin_id : NULL,
			.agent_id = "a",
			.ip = "192.0.2.7",
			.user_agent = "test",
			.meta = "{\"n\":1}" };

		CHECK_INT(audit_write(db, &f->arena, &e), 0);
	}
	CHECK_INT(db_commit(db), 0);
	db_close(db);
}

/* Seals what waits, on a connection of its own; ERR_RETRY again, as the store would. */
static int seal_all(struct fixture *f, const uint8_t *key)
{
	struct db *db = link_to(f);
	struct problem p = { 0 };
	int64_t sealed = 1;
	int err = 0, tries = 0;

	while (!err && sealed) {
		err = db_begin(db, READ_WRITE);
		if (!err)
			err = chain_extend(db, &f->arena, key, &sealed, &p);
		if (err)
			db_rollback(db);
		else
			err = db_commit(db);
		if (err == ERR_RETRY && ++tries < 100)
			err = 0;
	}
	db_close(db);
	return err;
}

static struct chain_report check_with(struct fixture *f, const uint8_t *key)
{
	struct db *db = link_to(f);
	struct chain_report r;

	CHECK_INT(chain_check(db, &f->arena, key, &r), 0);
	db_close(db);
	return r;
}

static struct chain_report check_chain(struct fixture *f)
{
	return check_with(f, chain_key(f));
}

TEST(seal_chains_every_row_once)
{
	struct fixture *f = fixture_open();
	int64_t rows = fixture_count(f, "select count(*) from audit_logs");
	struct chain_report r = check_chain(f);

	CHECK_INT(r.sealed, 0);
	CHECK_INT(r.waiting, rows);
	CHECK(!r.fault);
	write_rows(f, 450);
	CHECK_INT(seal_all(f, chain_key(f)), 0);
	r = check_chain(f);
	CHECK(!r.fault);
	CHECK_INT(r.sealed, rows + 450);
	CHECK_INT(r.waiting, 0);
	CHECK_INT(fixture_count(f, "select max(seal_seq) from audit_logs"), rows + 450);
	CHECK_INT(fixture_count(f, "select count(distinct seal_salt) from audit_logs"), rows + 450);
	write_rows(f, 1);
	r = check_chain(f);
	CHECK_INT(r.waiting, 1);
	CHECK_INT(seal_all(f, chain_key(f)), 0);
	r = check_chain(f);
	CHECK(!r.fault && r.sealed == rows + 451);
	CHECK_INT(atoll(r.end), rows + 451);
	fixture_close(f);
}

#define BLANK "user_id = null, ip = null, user_agent = null, meta = $1, seal_salt = null"

/* Each way of tampering with the row of number 3, and what the check must find. */
static const struct {
	const char *sql;
	int64_t seq;
	const char *fault;
} tampers[] = {
	{ "update audit_logs set id = 'c00000000000000000000000z' where seal_seq = 3", 3,
		"seal_public" },
	{ "update audit_logs set tenant_id = null where seal_seq = 3", 3, "seal_public" },
	{ "update audit_logs set agent_id = 'b' where seal_seq = 3", 3, "seal_public" },
	{ "update audit_logs set agent_id = '' where seal_seq = 3", 3, "seal_public" },
	{ "update audit_logs set action = 'agent.create' where seal_seq = 3", 3, "seal_public" },
	{ "update audit_logs set resource_type = 'user' where seal_seq = 3", 3, "seal_public" },
	{ "update audit_logs set resource_id = 'ra' where seal_seq = 3", 3, "seal_public" },
	{ "update audit_logs set created_at = created_at + 1 where seal_seq = 3", 3,
		"seal_public" },
	{ "update audit_logs set user_id = 'somebody' where seal_seq = 3", 3, "seal_personal" },
	{ "update audit_logs set ip = '192.0.2.8' where seal_seq = 3", 3, "seal_personal" },
	{ "update audit_logs set user_agent = null where seal_seq = 3", 3, "seal_personal" },
	{ "update audit_logs set meta = '[]' where seal_seq = 3", 3, "seal_personal" },
	{ "update audit_logs set seal_salt = 'ab' where seal_seq = 3", 3, "seal_personal" },
	{ "update audit_logs set seal_salt = null where seal_seq = 3", 3, "seal_salt" },
	{ "update audit_logs set erased_at = 1 where seal_seq = 3", 3, "erased_at" },
	{ "update audit_logs set erased_at = 1, seal_salt = null where seal_seq = 3", 3,
		"erased_at" },
	{ "update audit_logs set " BLANK ", erased_at = 1 where seal_seq = 3", 3, "erase_mac" },
	{ "update audit_logs set " BLANK ", erased_at = 1, erase_mac = seal_mac where seal_seq = 3",
		3, "erase_mac" },
	{ "update audit_logs set seal_public = seal_personal where seal_seq = 3", 3,
		"seal_public" },
	{ "update audit_logs set seal_public = null where seal_seq = 3", 3, "seal_public" },
	{ "update audit_logs set seal_personal = seal_public where seal_seq = 3", 3,
		"seal_personal" },
	{ "update audit_logs set seal_mac = seal_public where seal_seq = 3", 3, "seal_mac" },
	{ "update audit_logs set seal_mac = null where seal_seq = 3", 3, "seal_mac" },
	{ "update audit_logs set seal_seq = null where seal_seq = 3", 3, "missing" },
	{ "update audit_logs set seal_seq = 1000 where seal_seq = 3", 3, "missing" },
	{ "update audit_logs set seal_seq = -3 where seal_seq = 3", -3, "no row of the chain" },
	{ "update audit_logs set seal_seq = 0 where seal_seq = 3", 0, "no row of the chain" },
	{ "delete from audit_logs where seal_seq = 3", 3, "missing" },
	{ "delete from audit_logs where seal_seq = 1", 1, "missing" },
	{ "delete from audit_logs where seal_seq = 10", 10, "missing" },
	{ "delete from audit_logs where seal_seq > 5", 6, "missing" },
	{ "delete from audit_logs", 1, "missing" },
	{ "update audit_logs set seal_seq = case seal_seq when 3 then -4 else -3 end where seal_seq in (3, 4);"
	  "update audit_logs set seal_seq = -seal_seq where seal_seq < 0",
		3, "seal_mac" },
	{ "insert into audit_logs (id, action, resource_type, meta, created_at, seal_seq, seal_salt, "
	  "seal_public, seal_personal, seal_mac) select 'c0000000000000000000000zz', action, "
	  "resource_type, meta, created_at, 11, seal_salt, seal_public, seal_personal, seal_mac "
	  "from audit_logs where seal_seq = 10",
		11, "not come to it" },
	{ "delete from audit_logs where seal_seq = 10; update meta set value = (select '9 ' || a.seal_mac "
	  "from audit_logs a where a.seal_seq = 9) || substr(value, 68) where key = 'audit_head'",
		9, "audit_head" },
	{ "update meta set value = 'nonsense' where key = 'audit_head'", 0, "audit_head" },
	{ "delete from meta where key = 'audit_head'", 1, "not come to it" },
};

/* A chain of ten. */
static struct fixture *chain_of_ten(void)
{
	struct fixture *f = fixture_open();

	fixture_sql(f, "delete from audit_logs", NO_ARGS);
	write_rows(f, 10);
	CHECK_INT(seal_all(f, chain_key(f)), 0);
	return f;
}

/* Each statement of the text by itself; $1 is what an erased entry has for its meta. */
static void run_each(struct fixture *f, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, ";");

		fixture_sql(f, arena_strndup(&f->arena, text, len), ARGS(T("{}")));
		text += len + (text[len] == ';');
	}
}

static void keep_copies(struct fixture *f)
{
	fixture_sql(f, "create table kept_rows as select * from audit_logs", NO_ARGS);
	fixture_sql(f, "create table kept_meta as select * from meta", NO_ARGS);
}

static void put_back(struct fixture *f)
{
	run_each(f, "delete from audit_logs;insert into audit_logs select * from kept_rows;"
		    "delete from meta;insert into meta select * from kept_meta");
}

TEST(seal_finds_all_tampering)
{
	struct fixture *f = chain_of_ten();
	struct chain_report r = check_chain(f);

	CHECK(!r.fault && r.sealed == 10);
	keep_copies(f);
	for (size_t i = 0; i < sizeof tampers / sizeof *tampers; i++) {
		test_step("%s", tampers[i].sql);
		run_each(f, tampers[i].sql);
		r = check_chain(f);
		CHECK(r.fault && strstr(r.fault, tampers[i].fault));
		CHECK_INT(r.seq, tampers[i].seq);
		if (r.fault && !strstr(r.fault, "missing") && !strstr(r.fault, "audit_head"))
			CHECK(r.id && strlen(r.id) == 25);
		put_back(f);
		r = check_chain(f);
		CHECK(!r.fault);
	}
	fixture_close(f);
}

TEST(seal_refuses_to_go_on_from_what_was_tampered_with)
{
	static const char *const ways[] = {
		"update meta set value = 'nonsense' where key = 'audit_head'",
		"delete from meta where key = 'audit_head'",
		"delete from meta where key = 'audit_head';delete from audit_logs where seal_seq < 10",
		"update audit_logs set seal_seq = 11 where seal_seq = 10"
	};
	struct fixture *f = chain_of_ten();

	write_rows(f, 1);
	keep_copies(f);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		test_step("%s", ways[i]);
		run_each(f, ways[i]);
		CHECK_INT(seal_all(f, chain_key(f)), ERR_CONFLICT);
		CHECK_INT(
			fixture_count(f, "select count(*) from audit_logs where seal_seq is null"),
			1);
		put_back(f);
	}
	test_step("the wrong key");
	CHECK_INT(seal_all(f, f->master_key), ERR_CONFLICT);
	CHECK(strstr(check_with(f, f->master_key).fault, "another master key"));
	CHECK_INT(seal_all(f, chain_key(f)), 0);
	CHECK(!check_chain(f).fault);
	fixture_close(f);
}

static void erase(struct fixture *f, const char *user_id, const char *row_id, int64_t want)
{
	struct audit_eraser e = { link_to(f), &f->arena, chain_key(f), clock_now_us() };
	int64_t erased = -1;

	CHECK_INT(db_begin(e.db, READ_WRITE), 0);
	if (row_id)
		CHECK_INT(audit_erase_row(&e, row_id, &erased), 0);
	else
		CHECK_INT(audit_erase_user(&e, f->tenant_id, user_id, &erased), 0);
	CHECK_INT(erased, want);
	CHECK_INT(db_commit(e.db), 0);
	db_close(e.db);
}

TEST(seal_holds_when_personal_data_is_erased)
{
	struct fixture *f = chain_of_ten();
	struct chain_report r;

	write_rows(f, 2); /* one of the user's, not sealed yet */
	erase(f, f->admin_id, NULL, 6);
	erase(f, f->admin_id, NULL, 0);
	CHECK_INT(
		fixture_count(f,
			"select count(*) from audit_logs where erased_at is not null and user_id is null "
			"and ip is null and user_agent is null and length(meta) = 2 and seal_salt is null"),
		6);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where user_id is not null"), 0);
	r = check_chain(f);
	CHECK(!r.fault && r.sealed == 10 && r.erased == 5 && r.waiting == 2);
	CHECK_INT(seal_all(f, chain_key(f)), 0);
	r = check_chain(f);
	CHECK(!r.fault && r.sealed == 12 && r.erased == 6);
	test_step("the digest that stands for it");
	fixture_sql(
		f, "update audit_logs set seal_personal = seal_public where seal_seq = 2", NO_ARGS);
	r = check_chain(f);
	CHECK(r.fault && r.seq == 2);
	fixture_close(f);
}

/* The mac of an erasure is good for its row and its time alone. */
TEST(seal_finds_a_forged_erasure)
{
	static const char *const ways[] = {
		/* erased by hand, with the mac of a true erasure */
		"update audit_logs set " BLANK
		", erased_at = (select b.erased_at from audit_logs b "
		"where b.seal_seq = 2), erase_mac = (select b.erase_mac from audit_logs b "
		"where b.seal_seq = 2) where seal_seq = 3",
		"update audit_logs set " BLANK ", erased_at = 5 where seal_seq = 3",
		"update audit_logs set erased_at = erased_at + 1 where seal_seq = 2",
		"update audit_logs set erase_mac = null where seal_seq = 2",
		"update audit_logs set erase_mac = (select b.erase_mac from audit_logs b "
		"where b.seal_seq = 4) where seal_seq = 2",
		/* before it was sealed */
		"update audit_logs set " BLANK ", erased_at = 5 where seal_seq is null",
	};
	static const int64_t seqs[] = { 3, 3, 2, 2, 2, 11 };
	struct fixture *f = chain_of_ten();
	struct chain_report r;

	erase(f, f->admin_id, NULL, 5); /* those with an even number */
	write_rows(f, 1);
	CHECK(!check_chain(f).fault);
	keep_copies(f);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		test_step("%s", ways[i]);
		run_each(f, ways[i]);
		CHECK_INT(seal_all(f, chain_key(f)), 0);
		r = check_chain(f);
		CHECK(r.fault && strstr(r.fault, "not by this service"));
		CHECK_INT(r.seq, seqs[i]);
		CHECK(r.id && strlen(r.id) == 25);
		put_back(f);
	}
	CHECK_INT(seal_all(f, chain_key(f)), 0);
	r = check_chain(f);
	CHECK(!r.fault && r.sealed == 11 && r.erased == 5);
	fixture_close(f);
}

TEST(seal_erases_a_tenant_in_bounded_steps)
{
	struct fixture *f = chain_of_ten();
	struct audit_eraser e = { link_to(f), &f->arena, chain_key(f), clock_now_us() };
	const char *at = "", *other = fixture_tenant(f, "other", f->admin_id);
	int64_t erased = 0, all = 0, steps = 0;

	write_rows(f, 450);
	fixture_sql(f,
		"update audit_logs set tenant_id = $1 where seal_seq is null and id in "
		"(select b.id from audit_logs b where b.seal_seq is null order by b.id limit 50)",
		ARGS(T(other)));
	CHECK_INT(seal_all(f, chain_key(f)), 0);
	while (at && ++steps < 100) {
		CHECK_INT(db_begin(e.db, READ_WRITE), 0);
		CHECK_INT(audit_erase_tenant(&e, f->tenant_id, &at, &erased), 0);
		CHECK(erased <= CHAIN_BATCH);
		all += erased;
		CHECK_INT(db_commit(e.db), 0);
	}
	db_close(e.db);
	CHECK_INT(steps, 4);
	CHECK_INT(all, 410);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where erased_at is null"), 50);
	CHECK(!check_chain(f).fault);
	CHECK_INT(check_chain(f).erased, 410);
	fixture_close(f);
}

struct crowd {
	struct fixture *f;
	struct chain_writer *sealers[2];
	_Atomic bool over;
};

static void *seal_on(void *arg)
{
	struct crowd *c = arg;

	while (!c->over) {
		for (int i = 0; i < 2; i++)
			chain_writer_wake(c->sealers[i]);
		usleep(2000);
	}
	return NULL;
}

static void *ask_on(void *arg)
{
	struct crowd *c = arg;

	for (int i = 0; i < 20; i++)
		write_rows(c->f, 25);
	return NULL;
}

static void await_sealed(struct crowd *c)
{
	for (int i = 0;
		i < 5000 &&
		fixture_count(c->f, "select count(*) from audit_logs where seal_seq is null");
		i++)
		usleep(2000);
}

/* Two writers of the chain stand for two processes; on PostgreSQL they run at the same time. */
TEST(seal_leaves_no_gap_under_writers)
{
	struct fixture *f = fixture_open();
	struct crowd c = { .f = f };
	struct fixture views[3] = { *f, *f, *f };
	struct crowd writers[3];
	pthread_t sealing, writing[3];
	struct chain_report r;

	for (int i = 0; i < 2; i++)
		c.sealers[i] = chain_writer_new(f->app.store, chain_key(f));
	fixture_sql(f, "delete from audit_logs", NO_ARGS);
	pthread_create(&sealing, NULL, seal_on, &c);
	for (int i = 0; i < 3; i++) {
		views[i].arena = (struct arena){ 0 };
		writers[i] = (struct crowd){ .f = &views[i] };
		pthread_create(&writing[i], NULL, ask_on, &writers[i]);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(writing[i], NULL);
	await_sealed(&c);
	c.over = true;
	pthread_join(sealing, NULL);
	r = check_chain(f);
	CHECK(!r.fault);
	if (r.fault)
		printf("%lld %s %s\n", (long long)r.seq, r.id, r.fault);
	CHECK_INT(r.sealed, 1500);
	CHECK_INT(r.waiting, 0);
	for (int i = 0; i < 3; i++)
		arena_free(&views[i].arena);
	fixture_close(f);
	for (int i = 0; i < 2; i++)
		chain_writer_free(c.sealers[i]);
}

TEST(seal_goes_on_in_a_copy)
{
	struct fixture *f = chain_of_ten();
	struct store_settings settings = { .workers = 1, .queue_max = 10 };
	struct problem p = { 0 };
	struct fixture copy = *f;
	const char *folder = arena_strdup(&f->arena, "/tmp/lodge-unit.XXXXXX"), *path;

	copy.arena = (struct arena){ 0 };
	CHECK(mkdtemp((char *)folder) != NULL);
	path = arena_printf(&f->arena, "%s/copy.db", folder);
	CHECK_INT(store_backup(f->app.store, path, &f->arena, &p), 0);
	settings.where = arena_printf(&f->arena, "sqlite:%s", path);
	CHECK_INT(store_open(&copy.app.store, &settings, STORE_SERVE, &f->arena, &p), 0);
	write_rows(&copy, 3);
	CHECK_INT(seal_all(&copy, chain_key(f)), 0);
	CHECK(!check_chain(&copy).fault);
	CHECK_INT(check_chain(&copy).sealed, 13);
	CHECK_INT(check_chain(f).sealed, 10);
	store_close(copy.app.store);
	arena_free(&copy.arena);
	CHECK_INT(system(arena_printf(&f->arena, "rm -rf '%s'", folder)), 0);
	fixture_close(f);
}
