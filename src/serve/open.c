/* open.c - see open.h. */
#include "serve/open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "search/refold.h"
#include "search/search.h"
#include "base/crypto.h"
#include "base/utf8.h"
#include "bucket/bucket.h"
#include "events/feed_number.h"
#include "mailboxes/mailbox.h"
#include "outside/secret_file.h"
#include "call/call.h"
#include "repos/repo.h"
#include "repos/repo_lock.h"
#include "repos/repo_mark.h"
#include "contract/value.h"

enum { QUEUE_MAX = 10000, EMAIL_MAX = 253 };

void print_plain(FILE *to, const char *text)
{
	for (const char *c = text; *c; c++) {
		bool high = (unsigned char)*c == 0xc2 && ((unsigned char)c[1] & 0xe0) == 0x80;

		fputc(((unsigned char)*c < ' ' && *c != '\n') || *c == 0x7f || high ? '?' : *c, to);
		c += high;
	}
}

int complain(const struct problem *p)
{
	fputs("lodge: ", stderr);
	/* It may name a file or a field of somebody else's: what could steer a terminal is not sent. */
	print_plain(stderr, p->detail ? p->detail : error_row(p->err)->title);
	fputc('\n', stderr);
	return p->err == ERR_USAGE ? 2 : 1;
}

static int make_data(const struct settings *s, struct arena *a, struct problem *p)
{
	if (mkdir(s->data, 0700) && errno != EEXIST)
		return problem_set(p, a, ERR_STORE, "cannot make the data folder %s: %s", s->data,
			strerror(errno));
	if (access(s->data, W_OK | X_OK))
		return problem_set(p, a, ERR_STORE, "cannot write to the data folder %s: %s",
			s->data, strerror(errno));
	return 0;
}

int open_store(struct store **ret, const struct settings *s, enum store_open how, struct arena *a,
	struct problem *p)
{
	struct store_settings settings = {
		.where = s->store,
		.direct = *s->store_direct ? s->store_direct : NULL,
		.replica = *s->store_replica ? s->store_replica : NULL,
		.workers = (int)s->store_workers,
		.queue_max = QUEUE_MAX,
	};
	int err = how == STORE_SERVE ? make_data(s, a, p) : 0;

	mailbox_policy_set(&(struct mailbox_policy){ .domain = arena_strdup(a, s->mail_domain),
		.provisions = s->mail_provisioning,
		.relays = *s->smtp_relay,
		.house = arena_strdup(a, s->mail_from),
		.authserv_id = arena_strdup(a, s->mail_authserv_id),
		.resolver = arena_strdup(a, s->mail_resolver),
		.bytes_max = s->mail_max_bytes.bytes,
		.new_recipients_day = s->mail_new_recipients_per_day,
		.tenant_bytes_max = s->bucket_bytes_max.bytes });
	return err ? err : store_open(ret, &settings, how, a, p);
}

/* Where there is none, although one was there: the key in the data folder was made with it, or what is kept
 * beside a store is left.  A key at a place of its own may be given before the first start.  On SQLite
 * alone: over one PostgreSQL a key is given to many machines. */
static int check_store_missing(const struct settings *s, struct arena *a, struct problem *p)
{
	struct stat st;

	if (strncmp(s->store, "sqlite:", 7) != 0 || access(s->master_key_file, F_OK) ||
		(stat(s->store + 7, &st) == 0 && st.st_size > 0))
		return 0;
	if (settings_given(s, "master_key_file") &&
		access(arena_printf(a, "%s-id", s->store + 7), F_OK))
		return 0;
	return problem_set(p, a, ERR_STORE,
		"there is no store at %s, but a master key at %s: put the store back, or a copy of it with lodge restore; if "
		"a new and empty one is meant, lodge migrate --new makes it",
		s->store + 7, s->master_key_file);
}

int open_to_serve(struct store **ret, const struct settings *s, bool may_make, struct arena *a,
	struct problem *p)
{
	int err = may_make ? 0 : check_store_missing(s, a, p);

	return err ? err : open_store(ret, s, STORE_SERVE, a, p);
}

static int open_at(struct store **ret, const struct settings *s, enum store_open how, bool older,
	struct arena *a, struct problem *p)
{
	struct store_version v = { 0 };
	int err = check_store_missing(s, a, p); /* serve and migrate would not make it */

	if (!err)
		err = open_store(ret, s, how, a, p);
	if (err)
		return err;
	err = store_version(*ret, &v, a, p);
	if (!err && !store_version_admits(&v))
		err = store_version_refuse(&v, "the store", a, p);
	else if (!err && !v.tables)
		err = problem_set(p, a, ERR_STORE,
			"there is no store yet: lodge serve makes it when it starts first, lodge migrate makes it now");
	else if (!err && v.tables < store_version_wanted() && !(older && v.tables > 0))
		err = problem_set(p, a, ERR_STORE,
			"the store is at version %lld and this program needs %d: run lodge migrate",
			(long long)v.tables, store_version_wanted());
	if (err) {
		store_close(*ret);
		*ret = NULL;
	}
	return err;
}

int open_current(struct store **ret, const struct settings *s, enum store_open how, struct arena *a,
	struct problem *p)
{
	return open_at(ret, s, how, false, a, p);
}

int open_older(struct store **ret, const struct settings *s, struct arena *a, struct problem *p)
{
	return open_at(ret, s, STORE_BESIDE, true, a, p);
}

int open_derived(struct db *db, struct arena *a)
{
	struct store_version v = { 0 };
	int tries = 10, err;

	do { /* another process may do the same */
		err = db_begin(db, READ_WRITE);
		if (!err)
			err = db_store_version(db, &v);
		/* A newer program may have other rules for what is folded and found, and makes it by them. */
		if (!err && !store_version_newer(&v))
			err = refold_ensure(db, a);
		if (!err && !store_version_newer(&v))
			err = search_ensure(db, a);
		if (!err)
			err = feed_repair(db);
		if (err)
			db_rollback(db);
		else
			err = db_commit(db);
	} while ((err == ERR_RETRY || err == ERR_DUPLICATE) && --tries);
	return err;
}

/* By the rules that hold for everybody who sets a password. */
const char *first_admin_fault(void)
{
	const char *email = getenv("LODGE_ADMIN_EMAIL"), *password = getenv("LODGE_ADMIN_PASSWORD");
	size_t email_len = email ? strlen(email) : 0, len = password ? strlen(password) : 0;

	if (email_len && (email_len > EMAIL_MAX || !email_valid(email, email_len)))
		return "LODGE_ADMIN_EMAIL is not an address";
	if (len && !utf8_valid(password, len))
		return "LODGE_ADMIN_PASSWORD is not UTF-8";
	if (len && (utf8_count(password, len) < PASSWORD_MIN ||
			   utf8_count(password, len) > PASSWORD_MAX))
		return "LODGE_ADMIN_PASSWORD must have 8 to 1024 characters, as every password";
	return NULL;
}

_Static_assert(PASSWORD_MIN == 8 && PASSWORD_MAX == 1024, "the sentence above names them");

static int bucket_settings_of(const struct settings *s, const char *where,
	struct bucket_settings *ret, struct arena *a, struct problem *p)
{
	const char *fault = NULL;

	*ret = (struct bucket_settings){ .where = where,
		.spool = arena_printf(a, "%s/spool", s->data),
		.data = s->data,
		.endpoint = s->bucket_endpoint,
		.region = s->bucket_region,
		.key_id = s->bucket_key_id,
		.secret = "",
		.path_style = s->bucket_path_style,
		.tenant_max = s->bucket_bytes_max.bytes };
	if (!*s->bucket_secret_file ||
		(!bucket_where_is_s3(where) && !bucket_where_is_s3(s->bucket_also)))
		return 0;
	ret->secret = secret_file_read(a, s->bucket_secret_file, &fault);
	return ret->secret ? 0
			   : problem_set(p, a, ERR_USAGE, "bucket_secret_file %s: %s",
				     s->bucket_secret_file, fault);
}

static int claim_bucket(struct bucket **ret, const struct bucket_settings *in, struct db *db,
	enum bucket_claim how, struct arena *a, struct problem *p)
{
	struct bucket *b = NULL;
	int err = bucket_new(&b, in, a, p);

	if (!err)
		err = bucket_claim(b, db, how, a, p);
	if (err)
		bucket_free(b);
	else
		*ret = b;
	return err;
}

int open_bucket(struct bucket **ret, const struct settings *s, struct db *db, enum bucket_claim how,
	struct arena *a, struct problem *p)
{
	struct bucket_settings in;
	struct bucket *b = NULL;
	const char *who = NULL;
	int err = bucket_settings_of(s, s->bucket, &in, a, p);

	in.also = *s->bucket_also ? s->bucket_also : NULL;
	in.makes_spool = how == BUCKET_SERVES;
	if (!err)
		err = claim_bucket(&b, &in, db, how, a, p);
	if (!err && how == BUCKET_SERVES && store_served_as(db, a, &who))
		err = problem_set(p, a, ERR_STORE, "the store: %s", db_error(db));
	if (!err && how == BUCKET_SERVES)
		err = bucket_serve(b, who, a, p);
	if (err)
		bucket_free(b);
	else
		*ret = b;
	return err;
}

int open_bucket_at(struct bucket **ret, const struct settings *s, const char *where, struct db *db,
	struct arena *a, struct problem *p)
{
	struct bucket_settings in;
	int err = bucket_settings_of(s, where, &in, a, p);

	return err ? err : claim_bucket(ret, &in, db, BUCKET_JOINS, a, p);
}

int open_repos_apart(const struct settings *s, struct arena *a, struct problem *p)
{
	struct stat repos, bucket;

	if (bucket_where_is_s3(s->bucket) || stat(s->repo_folder, &repos) ||
		stat(s->bucket + strlen("dir:"), &bucket) || repos.st_dev != bucket.st_dev ||
		repos.st_ino != bucket.st_ino)
		return 0;
	return problem_set(p, a, ERR_USAGE,
		"repo_folder: %s is the folder of the bucket too; give the repositories a folder of their own",
		s->repo_folder);
}

static int claim_repos(struct repos *r, const struct settings *s, struct db *db, struct arena *a,
	struct problem *p)
{
	const char *who = NULL;
	int err = open_repos_apart(s, a, p);

	if (!err)
		err = repo_claim(r, db, REPOS_SERVE, a, p);
	if (!err && store_served_as(db, a, &who))
		err = problem_set(p, a, ERR_STORE, "the store: %s", db_error(db));
	if (!err && !repo_lock_serving(r, a, who))
		err = problem_set(p, a, ERR_USAGE,
			"the repositories in %s are being served by another lodge, of another store (it may be one that this is a copy "
			"of), or a copy is being put there (lodge restore): stop that one, or name another folder with repo_folder",
			s->repo_folder);
	return err;
}

int open_repos(struct repos **ret, const struct settings *s, struct db *db, struct arena *a,
	struct problem *p)
{
	struct repos *r = NULL;
	int err = repos_new(&r,
		&(struct repos_settings){ .folder = s->repo_folder,
			.bytes_max = s->repo_max_bytes.bytes,
			.keep_hour = s->repo_keep_hour,
			.makes = true,
			.image = { s->image_base, s->image_pipeline } },
		a, p);

	if (!err)
		err = claim_repos(r, s, db, a, p);
	if (err)
		repos_free(r);
	else
		*ret = r;
	return err;
}

/* Other processes may be writing. */
int open_repo_urls(const struct app *app, struct arena *a, struct problem *p)
{
	struct db *db = NULL;
	int tries = 10, err = store_connect(app->store, &db, a, p);

	if (err)
		return err;
	do {
		err = db_begin(db, READ_WRITE);
		if (!err)
			err = repo_urls_follow(db, app->settings.public_url);
		if (err)
			db_rollback(db);
		else
			err = db_commit(db);
	} while (err == ERR_RETRY && --tries);
	if (err)
		problem_set(p, a, err, "the store: %s", db_error(db));
	db_close(db);
	return err;
}
