/* test_mail_room.c - who may fill the bucket of a tenant with mail: nobody who is blocked, and nobody by announcing it. */
#include "mailboxes/mail_intake.h"

#include <stdio.h>
#include <string.h>

#include "mail_fixture.h"

struct finding {
	struct mail_house *h;
	const char *sender;
	struct mail_found found;
};

static int find(struct db *db, void *data)
{
	struct finding *v = data;
	struct mail_address to;
	const char *fault;

	mail_address_parse(v->h->address, strlen(v->h->address), &to, &fault);
	return mail_find(db, &v->h->f->arena, v->sender, &to, 1 << 20, 0, &v->found);
}

static enum mail_taking taking_of(struct mail_house *h, const char *sender)
{
	struct finding v = { .h = h, .sender = sender };

	CHECK_INT(fixture_work(h->f, find, &v), 0);
	return v.found.recipient.taking;
}

TEST(mail_of_a_blocked_envelope_is_not_taken)
{
	struct mail_house h;

	mail_house_open(&h);
	CHECK_INT(taking_of(&h, "Jo@Spam.example"), MAIL_TAKES);
	STATUS(ask(h.f, h.f->admin, "{\"block_from\":[\"@spam.example\"]}",
		       "PUT /agents/%s/mail/rules", h.agent_id),
		200);
	CHECK_INT(taking_of(&h, "Jo@Spam.example"), MAIL_BARRED);
	CHECK_INT(taking_of(&h, "jo@spam.example.org"), MAIL_TAKES);
	CHECK_INT(taking_of(&h, ""), MAIL_TAKES);
	test_step("nor what the tenant blocks");
	STATUS(ask(h.f, h.f->admin, "{\"block_from\":[\"kim@example.org\"]}",
		       "PUT /tenant/%s/mail/rules", h.f->tenant_id),
		200);
	CHECK_INT(taking_of(&h, "kim@example.org"), MAIL_BARRED);
	CHECK_INT(taking_of(&h, "lee@example.org"), MAIL_TAKES);
	mail_house_close(&h);
}

TEST(mail_of_a_blocked_sender_is_kept_without_copies_of_its_files)
{
	static const char letter[] =
		"From: jo@spam.example\nTo: desk@demo.mail.test\n"
		"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nhi\n--b\n"
		"Content-Disposition: attachment; filename=a.txt\n\nA file.\n--b--\n";
	struct mail_house h;
	struct answer r;

	mail_house_open(&h);
	r = mail_comes(&h, "x@example.org", letter);
	CHECK_INT((int64_t)json_array_size(at(&r, "attachments")), 1);
	CHECK_INT(fixture_count(h.f, "select count(*) from bucket_objects"), 2);
	STATUS(ask(h.f, h.f->admin, "{\"block_from\":[\"@spam.example\"]}",
		       "PUT /agents/%s/mail/rules", h.agent_id),
		200);
	r = mail_comes(&h, "x@example.org", arena_printf(&h.f->arena, "Subject: 2\n%s2", letter));
	CHECK_STR(text_at(&r, "state"), "blocked");
	CHECK_INT((int64_t)json_array_size(at(&r, "attachments")), 0);
	CHECK(strstr(text_at(&r, "error"), "in its raw bytes only"));
	CHECK_INT(fixture_count(h.f, "select count(*) from bucket_objects"), 3);
	mail_house_close(&h);
}

TEST(mail_that_is_announced_and_does_not_come_takes_no_room)
{
	struct mail_house h;
	struct mail_found found = { 0 };
	struct mail_incoming *l[3];
	int64_t all;

	mail_house_open(&h);
	all = bucket_tenant_max(h.f->service.bucket);
	snprintf(found.recipient.tenant_id, sizeof found.recipient.tenant_id, "%s", h.f->tenant_id);
	for (int i = 0; i < 3; i++)
		l[i] = mail_incoming_new(h.f->service.bucket, "jo@example.org", all, false);
	CHECK_INT(mail_incoming_add(l[0], &found), MAIL_TAKES);
	CHECK_INT(mail_incoming_add(l[1], &found), MAIL_TAKES);
	mail_incoming_write(l[1], "x", 1);
	test_step("once it comes it has it");
	CHECK_INT(mail_incoming_add(l[2], &found), MAIL_FULL);
	for (int i = 0; i < 3; i++)
		mail_incoming_free(l[i], NULL);
	mail_house_close(&h);
}
