/* commands.c - the subcommands beside `serve`: short, and each ends with an exit status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/holders.h"
#include "access/audit_chain_break.h"
#include "api/people/accounts.h"
#include "serve/repo_copies.h"
#include "serve/registry.h"
#include "api/tenants/bootstrap.h"
#include "search/search.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "broker/ledger_check.h"
#include "contract/lint.h"
#include "contract/value.h"
#include "helper/helper.h"
#include "http/listen.h"
#include "letterbox/letterbox.h"
#include "mailboxes/mail_domains.h"
#include "serve/files.h"
#include "serve/host_place.h"
#include "serve/manual.h"
#include "bucket/bucket.h"
#include "sessions/session_file.h"
#include "serve/master_key.h"
#include "serve/open.h"
#include "serve/seals.h"

enum { DOCUMENT_MAX = 16 * 1024 * 1024 };

int command_version(const struct settings *s, struct arena *a)
{
	(void)s;
	(void)a;
	printf("lodge %s\n", LODGE_VERSION);
	return 0;
}

/* An index that differs from what it describes, although this program made it, is made anew as well: nothing else
 * would. */
static int mend_index(struct db *db)
{
	struct store_version v = { 0 };
	int64_t wrong = 0;
	int err = db_begin(db, READ_WRITE);

	if (!err)
		err = db_store_version(db, &v);
	if (!err && !store_version_newer(&v))
		err = search_check(db, &wrong);
	if (!err && wrong)
		err = search_remake(db);
	if (err)
		db_rollback(db);
	else
		err = db_commit(db);
	if (!err && wrong)
		printf("The index of words was made anew.\n");
	return err;
}

static int ensure_derived_rows(struct store *store, struct arena *a, struct problem *p)
{
	struct db *db;
	int err = store_connect(store, &db, a, p);

	if (err)
		return err;
	err = open_derived(db, a);
	if (!err)
		err = mend_index(db);
	if (err)
		problem_set(p, a, err, "the store: %s", db_error(db));
	db_close(db);
	return err;
}

int command_migrate(const struct settings *s, struct arena *a)
{
	struct store *store = NULL;
	struct problem p = { 0 };
	int from, to, err = open_to_serve(&store, s, s->argument_count > 0, a, &p);

	if (!err)
		err = store_migrate(store, &from, &to, a, &p);
	if (!err)
		err = ensure_derived_rows(store, a, &p);
	store_close(store);
	if (err)
		return complain(&p);
	if (from == to)
		printf("The store %s is at version %d already.\n", store_said(s->store, a), to);
	else if (!from)
		printf("Made the store %s, at version %d.\n", store_said(s->store, a), to);
	else
		printf("The store %s was brought from version %d to %d.\n", store_said(s->store, a),
			from, to);
	return 0;
}

int command_openapi(const struct settings *s, struct arena *a)
{
	struct buf out;
	const char *sentence;

	if (contract_lint(api_resources, api_resource_count, permission_name, a, &sentence)) {
		fprintf(stderr, "lodge: the tables are wrong: %s\n", sentence);
		return 1;
	}
	buf_init(&out, DOCUMENT_MAX);
	operations_document(&out, api_resources, api_resource_count, s->public_url);
	fwrite(out.at, 1, out.len, stdout);
	printf("\n");
	buf_free(&out);
	return ferror(stdout) ? 1 : 0;
}

/* Is it the store's, and does it open every secret? */
static int check_master_key(
	const struct settings *s, struct store *store, struct arena *a, struct problem *p)
{
	struct vault_keys keys;
	struct db *db;
	int err = master_key_connect(s->master_key_file, store, &db, &keys, a, p);

	if (err)
		return err;
	err = seals_check(db, &keys, a, p);
	wipe(&keys, sizeof keys);
	db_close(db);
	return err;
}

/* Every statement must prepare on the store's engine. */
static int check_statements(struct store *store, struct arena *a, struct problem *p)
{
	struct set_walk walk = { 0 };
	const struct statement_set *set;
	struct db *db = NULL;
	int err = store_connect(store, &db, a, p);

	while (!err && (set = api_next_set(&walk)))
		for (size_t j = 0; !err && j < set->count; j++) {
			err = db_try(db, &set->list[j]);
			if (err)
				problem_set(p, a, err, "the statement %s: %s", set->list[j].name,
					db_error(db));
		}
	db_close(db);
	return err;
}

/* The index of words must say what the rows say. */
static int check_index(struct store *store, struct arena *a, struct problem *p)
{
	int64_t wrong = 0;
	struct db *db = NULL;
	int err = store_connect(store, &db, a, p);

	if (err)
		return err;
	err = db_begin(db, READ_ONLY);
	if (!err)
		err = search_check(db, &wrong);
	if (err)
		problem_set(p, a, err, "the index of words cannot be read: %s", db_error(db));
	else if (wrong)
		err = problem_set(p, a, ERR_CONFLICT,
			"the index of words differs from what it describes in %lld places; lodge migrate, with the "
			"service stopped, makes it anew",
			(long long)wrong);
	db_rollback(db);
	db_close(db);
	return err;
}

/* The sums of what calls cost must be those of the ledger. */
static int check_costs(struct store *store, struct arena *a, struct problem *p)
{
	const char *found = NULL;
	struct db *db = NULL;
	int err = store_connect(store, &db, a, p);

	if (err)
		return err;
	err = db_begin(db, READ_ONLY);
	if (!err)
		err = ledger_check(db, a, &found);
	if (err)
		problem_set(p, a, err, "the ledger cannot be read: %s", db_error(db));
	else if (found)
		err = problem_set(
			p, a, ERR_CONFLICT, "the sums of costs differ from the ledger: %s", found);
	db_rollback(db);
	db_close(db);
	return err;
}

enum { ACCOUNTS_PAGE = 200 };

/* Accounts of before, whose addresses may look like others': they stay, and somebody should look at them. */
static int check_addresses(struct store *store, struct arena *a, struct problem *p)
{
	struct list page = { .count = ACCOUNTS_PAGE };
	const char *after = "";
	struct db *db = NULL;
	int err = store_connect(store, &db, a, p);

	if (err)
		return err;
	err = db_begin(db, READ_ONLY);
	while (!err && page.count == ACCOUNTS_PAGE) {
		const struct account_row *row;

		err = account_list(db, a, after, ACCOUNTS_PAGE, &page);
		row = page.at;
		for (size_t i = 0; !err && i < page.count; i++) {
			after = row[i].email;
			if (!email_valid(after, strlen(after)))
				printf("# warning: the address %s of the account %s is not in plain letters "
				       "and may look like another; it would not be taken today\n",
					after, row[i].id);
		}
	}
	if (err)
		problem_set(p, a, err, "the accounts cannot be read: %s", db_error(db));
	db_rollback(db);
	db_close(db);
	return err;
}

/* Mailboxes that a change of mail_domain, or of what is reserved, left behind. */
static int check_mail_domain(struct store *store, struct arena *a, struct problem *p)
{
	const char *left = NULL, *reserved = NULL, *bare = NULL;
	struct db *db = NULL;
	int err = store_connect(store, &db, a, p);

	if (err)
		return err;
	err = db_begin(db, READ_ONLY);
	if (!err)
		err = mail_domain_left(db, a, &left);
	if (!err)
		err = mail_domain_reserved(db, a, &reserved);
	if (!err)
		err = mail_domain_unsigned(db, a, &bare);
	if (err)
		problem_set(p, a, err, "the mailboxes cannot be read: %s", db_error(db));
	else if (left)
		printf("# warning: %s\n", left);
	if (!err && reserved)
		printf("# warning: %s\n", reserved);
	if (!err && bare)
		printf("# warning: %s\n", bare);
	db_rollback(db);
	db_close(db);
	return err;
}

/* Walks the chain of seals over the audit log, and says how far it reaches. */
static int check_audit(
	const struct settings *s, struct store *store, struct arena *a, struct problem *p)
{
	uint8_t key[CHAIN_KEY_LEN] = { 0 };
	struct vault_keys keys;
	struct vault *vault;
	struct chain_report r;
	struct chain_break broken = { 0 };
	char when[TIME_TEXT_LEN + 1] = "";
	struct db *db;
	int err = master_key_connect(s->master_key_file, store, &db, &keys, a, p);

	if (err)
		return err;
	if (keys.count) {
		vault = vault_new(&keys, NULL);
		err = audit_key_load(db, a, vault, keys.key[0], key);
		vault_free(vault);
	}
	if (!err)
		err = chain_check(db, a, key, &r);
	if (!err && chain_break_read(db, a, key, &broken) == 0 && broken.seq)
		time_write(broken.at, when);
	wipe(&keys, sizeof keys);
	wipe(key, sizeof key);
	if (err)
		problem_set(p, a, err, "the audit log cannot be read: %s", db_error(db));
	db_close(db);
	if (err)
		return err;
	printf("The audit log has %lld sealed rows (%lld erased); %lld wait to be sealed.\n",
		(long long)r.sealed, (long long)r.erased, (long long)r.waiting);
	if (*when)
		printf("Its key was lost on %s: up to row %lld it can be seen to be whole, but not proven.\n",
			when, (long long)broken.seq);
	if (r.fault)
		return problem_set(p, a, ERR_CONFLICT,
			"the audit log is broken at row %lld%s%s: %s", (long long)r.seq,
			r.id ? ", " : "", r.id ? r.id : "", r.fault);
	printf("It ends at %s (note this elsewhere to notice an older store put in place).\n",
		r.end);
	return 0;
}

/* Every file that a setting names, all faults at once. */
static int check_setting_files(const struct settings *s, struct arena *a, struct problem *p)
{
	struct files_report report;
	const char *all = NULL;

	settings_open_places(s);
	files_look(s, a, &report);
	for (size_t i = 0; i < report.warning_count; i++)
		printf("# warning: %s\n", report.warnings[i]);
	for (size_t i = 0; i < report.fault_count; i++)
		all = arena_printf(
			a, "%s%s%s", all ? all : "", all ? "\nlodge: " : "", report.faults[i]);
	return all ? problem_set(p, a, ERR_CONFLICT, "%s", all) : 0;
}

/* Could mail be taken where it should?  Root may take what the service's user may not. */
static int check_mail_places(const struct settings *s, struct arena *a, struct problem *p)
{
	const struct letterbox_settings places = {
		.lmtp = s->lmtp_listen, .smtp = s->smtp_listen, .host = s->mail_domain
	};
	struct stat data;
	int low = geteuid() == 0 && !stat(s->data, &data) && data.st_uid != 0
			  ? letterbox_low_port(&places)
			  : 0;

	if (low)
		printf("# warning: port %d, at which mail is to be taken, is open to root alone unless the unit grants "
		       "CAP_NET_BIND_SERVICE; the service is another user's\n",
			low);
	return letterbox_check(&places, a, p);
}

/* Tables of another version beside the store's own are no fault by themselves, but a later version may stumble. */
static int check_shape(struct store *store, struct arena *a, struct problem *p)
{
	const char *beyond;
	int err = store_fits(store, &beyond, a, p);

	if (!err && beyond)
		printf("# warning: the store has what this version does not make: %s\n", beyond);
	if (!err && store_version_seen(store) > store_version_wanted())
		printf("# warning: the store is at version %d, and this program only knows %d; it is still admitted, "
		       "but should be replaced\n",
			store_version_seen(store), store_version_wanted());
	return err;
}

/* Has each file of a session its object, each such object a file, and is all counted? */
static int tell_files(const struct session_files_report *f, struct arena *a, struct problem *p)
{
	printf("Of sessions there are %lld files; the bytes of the large ones are %lld of these objects.\n",
		(long long)f->files, (long long)f->objects);
	if (f->unnamed)
		printf("# warning: %lld of them belong to no file any more\n",
			(long long)f->unnamed);
	if (f->lost || f->miscounted)
		return problem_set(p, a, ERR_CONFLICT,
			"of %lld files of sessions the object is not there, and of %lld tenants the objects do not come to "
			"what is counted",
			(long long)f->lost, (long long)f->miscounted);
	return 0;
}

/* Are all objects there, and as they were put? */
static int check_bucket(
	const struct settings *s, struct store *store, struct arena *a, struct problem *p)
{
	struct session_files_report files = { 0 };
	struct bucket_report r = { 0 };
	struct bucket *b = NULL;
	struct db *db = NULL;
	int err = store_connect(store, &db, a, p);

	if (err)
		return err;
	err = open_bucket(&b, s, db, BUCKET_LOOKS, a, p);
	if (!err) {
		err = bucket_check(b, db, a, &r);
		if (!err)
			err = session_files_check(db, &files);
		if (err)
			problem_set(p, a, err, "the bucket cannot be read: %s",
				r.why ? r.why : db_error(db));
	}
	bucket_free(b);
	db_close(db);
	if (err)
		return err;
	printf("The buckets have %lld objects of %lld bytes.\n", (long long)r.objects,
		(long long)r.size_bytes);
	if (r.unnamed)
		printf("# warning: %lld files of %lld bytes belong to no object; the service removes them a week after "
		       "it found them\n",
			(long long)r.unnamed, (long long)r.unnamed_bytes);
	if (r.unread)
		return problem_set(p, a, ERR_CONFLICT,
			"of %lld objects the bytes cannot be read now, so that nobody knows (%s); of %lld they are missing, "
			"and of %lld not those that were put; the first is %s",
			(long long)r.unread, r.why, (long long)r.missing, (long long)r.torn,
			r.first);
	if (r.first)
		return problem_set(p, a, ERR_CONFLICT,
			"of %lld objects the bytes are missing, and of %lld they are not those that were put; the first is "
			"%s",
			(long long)r.missing, (long long)r.torn, r.first);
	return tell_files(&files, a, p);
}

/* Would the service start with it?  Whoever looks as root may open what the service's user may not. */
static int check_place(
	const struct settings *s, struct store *store, struct arena *a, struct problem *p)
{
	struct bucket *b = NULL;
	struct stat data, folder;
	struct db *db = NULL;
	int err = store_connect(store, &db, a, p);

	if (!err)
		err = open_bucket(&b, s, db, BUCKET_LOOKS, a, p);
	bucket_free(b);
	db_close(db);
	if (err == ERR_UPSTREAM || err == ERR_TOO_SLOW) {
		printf("# warning: %s\n", p->detail);
		*p = (struct problem){ 0 };
		return 0; /* the service starts all the same */
	}
	if (!err && geteuid() == 0 && !bucket_where_is_s3(s->bucket) && !stat(s->data, &data) &&
		!stat(s->bucket + strlen("dir:"), &folder) && data.st_uid != folder.st_uid)
		printf("# warning: the folder of the bucket, %s, belongs to another user than the data folder, %s; the "
		       "service's user may not be let in\n",
			s->bucket + strlen("dir:"), s->data);
	return err;
}

static bool has_argument(const struct settings *s, const char *word)
{
	for (size_t i = 0; i < s->argument_count; i++)
		if (strcmp(s->arguments[i], word) == 0)
			return true;
	return false;
}

/* A bucket that is not to be had does not hide what is wrong with repositories. */
static int check_places(
	const struct settings *s, struct store *store, struct arena *a, struct problem *p)
{
	struct problem repos = { 0 };
	int err = check_place(s, store, a, p);
	int also = repo_check_place(s, store, has_argument(s, "--repositories"),
		has_argument(s, "--objects"), a, &repos);

	if (err && also)
		complain(&repos);
	else if (also)
		*p = repos;
	return err ? err : also;
}

int command_check(const struct settings *s, struct arena *a)
{
	struct store *store = NULL;
	struct problem p = { 0 };
	const char *sentence;
	int err = 0;

	settings_print(stdout, s);
	for (const char *const *u = s->unknown_variables; *u; u++)
		printf("# warning: %s\n", *u);
	if (*s->mail_authserv_id)
		printf("# warning: mail by LMTP that has Authentication-Results of %s on top is believed to be from whom it "
		       "says; the server of that name must remove those that come in\n",
			s->mail_authserv_id);
	if (first_admin_fault())
		printf("# warning: %s; serve and user create refuse to make a super administrator of it\n",
			first_admin_fault());
	if (contract_lint(api_resources, api_resource_count, permission_name, a, &sentence))
		err = problem_set(&p, a, ERR_INTERNAL, "the tables are wrong: %s", sentence);
	helper_free(helper_new(NULL)); /* says if its program is missing */
	if (!err)
		err = check_setting_files(s, a, &p);
	if (!err)
		err = http_listen_check(s->listen, a, &p);
	if (!err)
		err = check_mail_places(s, a, &p);
	if (!err)
		err = open_current(&store, s, STORE_BESIDE, a, &p);
	if (!err)
		err = check_shape(store, a, &p);
	if (!err)
		err = store_check(store, a, &p);
	if (!err)
		err = check_statements(store, a, &p);
	if (!err)
		err = check_index(store, a, &p);
	if (!err)
		err = check_costs(store, a, &p);
	if (!err)
		err = check_addresses(store, a, &p);
	if (!err)
		err = check_mail_domain(store, a, &p);
	if (!err)
		err = check_master_key(s, store, a, &p);
	if (!err && has_argument(s, "--audit"))
		err = check_audit(s, store, a, &p);
	if (!err)
		err = check_places(s, store, a, &p);
	if (!err)
		err = host_check(s, a, &p);
	if (!err && has_argument(s, "--objects"))
		err = check_bucket(s, store, a, &p);
	store_close(store);
	if (err)
		return complain(&p);
	printf("The settings, their files, the tables and the store are sound.\n");
	return 0;
}

static int make_user(
	struct store *store, struct arena *a, const struct new_user *in, struct problem *p)
{
	const char *id;
	struct db *db;
	int err = store_connect(store, &db, a, p);

	if (err)
		return err;
	err = db_begin(db, READ_WRITE);
	if (!err)
		err = user_make(db, a, in, &id);
	if (err)
		db_rollback(db);
	else
		err = db_commit(db);
	if (err == ERR_DUPLICATE)
		problem_set(p, a, err, "there is a user with the address %s already", in->email);
	else if (err)
		problem_set(p, a, err, "the store: %s", db_error(db));
	db_close(db);
	return err;
}

int command_user_create(const struct settings *s, struct arena *a)
{
	const char *password = getenv("LODGE_ADMIN_PASSWORD");
	char hash[PASSWORD_HASH_MAX];
	struct new_user in = { .email = getenv("LODGE_ADMIN_EMAIL"),
		.password_hash = hash,
		.is_super_admin = true,
		.proven = true };
	struct store *store = NULL;
	struct problem p = { 0 };
	int err = 0;

	if (!in.email || !*in.email || !password || !*password || first_admin_fault()) {
		problem_set(&p, a, ERR_USAGE, "%s",
			first_admin_fault() ? first_admin_fault()
					    : "set LODGE_ADMIN_EMAIL to an address and "
					      "LODGE_ADMIN_PASSWORD to a password");
		return complain(&p);
	}
	if (!password_hash(password, strlen(password), hash))
		err = problem_set(&p, a, ERR_INTERNAL, "not enough memory to hash a password");
	if (!err)
		err = open_current(&store, s, STORE_BESIDE, a, &p);
	if (!err)
		err = make_user(store, a, &in, &p);
	store_close(store);
	if (err)
		return complain(&p);
	printf("Made the super administrator %s.\n", in.email);
	return 0;
}
