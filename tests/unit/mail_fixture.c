/* mail_fixture.c - see mail_fixture.h. */
#include "mail_fixture.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/id.h"
#include "bucket/bucket.h"
#include "mailboxes/mail_objects.h"

void mail_wait(struct mail_house *h, const char *sql, int64_t wanted)
{
	for (int i = 0; i < 10000 && fixture_count(h->f, sql) != wanted; i++)
		usleep(2000);
	CHECK_INT(fixture_count(h->f, sql), wanted);
}

const char *mail_house_box(
	struct mail_house *h, const char *tenant_id, const char *agent_id, const char *address)
{
	const char *id = fixture_id(h->f);

	fixture_sql(h->f,
		"insert into mailboxes (tenant_id, id, agent_id, kind, address, enabled, paused, "
		"message_count, created_at) values ($1, $2, $3, 'external', $4, 1, 0, 0, 1)",
		ARGS(T(tenant_id), T(id), T(agent_id), T(address)));
	return id;
}

void mail_house_open(struct mail_house *h)
{
	struct mailbox_policy policy = *mailbox_policy();

	h->before = policy;
	h->doomed = false;
	policy.domain = "mail.test";
	policy.authserv_id = "mx.test";
	policy.resolver = "127.0.0.1:1";
	mailbox_policy_set(&policy);
	h->f = fixture_open();
	h->agent_id = fixture_agent(h->f, "desk");
	h->address = "desk@demo.mail.test";
	h->mailbox_id = mail_house_box(h, h->f->tenant_id, h->agent_id, h->address);
}

void mail_house_close(struct mail_house *h)
{
	fixture_close(h->f);
	mailbox_policy_set(&h->before);
}

struct arriving {
	struct mail_house *h;
	struct mail_arrival_row row;
	struct bucket_stored stored;
	bool known;
};

static int take(struct db *db, void *data)
{
	static const struct statement doom = { "test",
		"update jobs set deaths = 4, doomed = 1 where subject = $1", .scan = "a test" };
	struct arriving *v = data;
	struct arena a = { 0 };
	struct bucket_row row;
	bool stood;
	int err = bucket_row_find(db, &a, v->row.tenant_id, v->row.object_key, &row);

	if (err == ERR_NOT_FOUND)
		err = bucket_row_put(db, &a,
			&(struct bucket_putting){ .tenant_id = v->row.tenant_id,
				.key = v->row.object_key,
				.content_type = "message/rfc822",
				.stored = &v->stored,
				.tenant_max = bucket_tenant_max(v->h->f->service.bucket),
				.now = v->row.created_at },
			&row, &stood);
	if (!err)
		err = mail_arrival_add(db, &a, &v->row, &v->known);
	if (!err && v->h->doomed)
		err = db_run(db, &doom, NULL, ARGS(T(v->row.id)));
	arena_free(&a);
	return err;
}

static char *with_cr(struct arena *a, const char *raw, size_t len, size_t *ret_len)
{
	char *out = arena_alloc(a, 2 * len + 1);
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (raw[i] == '\n')
			out[n++] = '\r';
		out[n++] = raw[i];
	}
	*ret_len = n;
	return out;
}

const char *mail_arrive(
	struct mail_house *h, const struct mail_arrival_row *as, const char *raw, size_t len)
{
	struct arena *a = &h->f->arena;
	struct arriving v = { .h = h, .row = *as };
	struct bucket_upload *u;
	struct problem p = { 0 };
	uint8_t digest[SHA256_LEN];
	char hex[2 * SHA256_LEN + 1];
	const char *bytes = with_cr(a, raw, len, &len);

	v.row.tenant_id = as->tenant_id ? as->tenant_id : h->f->tenant_id;
	v.row.agent_id = as->agent_id ? as->agent_id : h->agent_id;
	v.row.mailbox_id = as->mailbox_id ? as->mailbox_id : h->mailbox_id;
	v.row.recipient = as->recipient ? as->recipient : h->address;
	v.row.id = arena_strdup(a, id_new(NULL).text);
	sha256(bytes, len, digest);
	hex_write(digest, sizeof digest, hex);
	v.row.object_key = mail_object_key(a, hex);
	random_bytes(digest, sizeof digest);
	hex_write(digest, sizeof digest, hex);
	v.row.known_by = arena_strdup(a, hex);
	v.row.size_bytes = (int64_t)len;
	v.row.created_at = clock_now_us();
	v.row.read_at = NIL;
	u = bucket_upload_new(h->f->service.bucket, v.row.tenant_id);
	CHECK_INT(bucket_store(u, bytes, len, &v.stored, a, &p), 0);
	CHECK_INT(fixture_work(h->f, take, &v), 0);
	bucket_upload_keep(u, true);
	bucket_upload_end(u, NULL);
	return v.row.id;
}

struct answer mail_await(struct mail_house *h, const char *id)
{
	mail_wait(h,
		arena_printf(&h->f->arena,
			"select count(*) from mail_arrivals where id = '%s' and read_at is not null",
			id),
		1);
	return ask(h->f, h->f->admin, NULL, "GET /agents/%s/mail/%s", h->agent_id, id);
}

struct answer mail_comes(struct mail_house *h, const char *sender, const char *raw)
{
	struct answer r = mail_await(
		h, mail_arrive(h, &(struct mail_arrival_row){ .sender = sender, .by_lmtp = true },
			   raw, strlen(raw)));

	STATUS(r, 200);
	return r;
}
