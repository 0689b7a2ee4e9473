/* mail_intake_command.c - `lodge mail intake`: the secret of a service that hands mail over by HTTP, while the service runs. */
#include <stdio.h>
#include <string.h>

#include "access/audit.h"
#include "base/clock.h"
#include "mailboxes/mail_domains.h"
#include "mailboxes/mail_secret.h"
#include "outside/webhook.h"
#include "serve/mail_keys.h"
#include "serve/manual.h"
#include "serve/open.h"

struct intake_errand {
	const char *domain, *name, *secret;
	bool rotate;
};

static int make_intake(struct mail_errand *e, void *ctx)
{
	const struct intake_errand *in = ctx;
	const char *former;
	size_t len;
	int err = mail_domain_known(e->db, e->a, in->domain);

	if (err == ERR_NOT_FOUND)
		return problem_set(&e->problem, e->a, err,
			"there is no tenant \"%.100s\", for which mail could come",
			mail_tenant_label(e->a, in->domain));
	if (err)
		return err;
	err = mail_secret_read(e->db, e->a, e->vault, in->name, &former, &len);
	if (!err && !in->rotate)
		return problem_set(&e->problem, e->a, ERR_TAKEN,
			"there is a secret for %s; --rotate makes another, and the former opens nothing any more",
			in->domain);
	if (err && err != ERR_NOT_FOUND && err != ERR_SECRET)
		return err;
	err = mail_secret_write(
		e->db, e->a, e->vault, in->name, in->secret, strlen(in->secret), clock_now_us());
	return err ? err
		   : audit_write(e->db, e->a,
			     &(struct audit_entry){
				     .action = "mail.intake", .resource_id = in->domain });
}

static int check_domain(struct mail_errand *e, const struct settings *s, const char *domain)
{
	if (mail_domain_is_ours(domain))
		return 0;
	return problem_set(&e->problem, e->a, ERR_USAGE,
		*s->mail_domain
			? "\"%.200s\" is neither mail_domain nor a name below it, as mail of a tenant has"
			: "mail_domain is not set, and nobody has an address under \"%.200s\"",
		domain);
}

int command_mail_intake(const struct settings *s, struct arena *a)
{
	struct intake_errand in = { .domain = "" };
	struct mail_errand e = { 0 };
	int err;

	for (size_t i = 0; i < s->argument_count; i++)
		if (strcmp(s->arguments[i], "--rotate") == 0)
			in.rotate = true;
		else
			in.domain = s->arguments[i];
	in.name = arena_printf(a, "intake:%s", in.domain);
	in.secret = webhook_secret_new(&webhook_providers[WEBHOOK_STANDARD], a);
	err = mail_errand_open(&e, s, a);
	if (!err)
		err = check_domain(&e, s, in.domain);
	if (!err)
		err = mail_errand_run(&e, make_intake, &in);
	mail_errand_close(&e);
	if (err)
		return complain(&e.problem);
	fprintf(stderr,
		"Mail for %s is taken at /hooks/mail/%s, signed with this secret, which is shown only now.\n",
		in.domain, in.domain);
	printf("%s\n", in.secret);
	return 0;
}
