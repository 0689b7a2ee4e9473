/* test_git_ssh.c - the keys of agents, as OpenSSH writes them, and what a client may ask for with one. */
#include "fixture.h"
#include "git/ssh_key.h"
#include "repos/repo_ssh.h"

#define ED25519 "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPyBtclRJhn1/1yW9SSvu3w0v40fQOKRh4djz7IMVDLR"
static const char ecdsa_256[] =
	"ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBJmaGUO5xYqjKCKNw5"
	"vM/Dy0menX1hlmOO4yDzRd95qJgiNmTw/oqG5B0yZ0lHgCTk4t2NJ+iNiLiUIshtTx4NE= c";
static const char ecdsa_384[] =
	"ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBBUQ2iS9T5HCXwR+V/"
	"LYdanrEcAliwKAcx6q5mAvu8l+L5eY4RYW4/ugGj8BwR1gHsPikP4RTZeRbcBYGOsa/8xjRM80DSGVvWByEC60E8Dr"
	"ElZpriDEOyE6i9JpaJZ3cg== c";
static const char ecdsa_521[] =
	"ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAE2/PCPFFkOneWy3D"
	"zirNWsRC1GHv2vsnPw4LPCWXJTkllrWAnVpgGV+dd3c11oc3B7yrxoNQPYj7gPSDjGv5tqbgDgYwPslYUaut0RTiLf"
	"dq82cZMy35s4rcA6m6GACjBr5/V95Hl/WdtJ59zC5mmK3iHtApEwwroF/D8GDevXjNiqjA== c";
static const char rsa_3072[] =
	"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQDZkz+M1YMQ6H++CFfRd+b/mvQNyX3vZMPhBET3/02c3t1khpJCNx"
	"T0tQcMxaWIz0dgd05csIxFv45Hv8IHzcGx00615mDfCyCSwf0ou6+ZAsdSxiCK132+sdDElB+Y3OYjnU6vPzdgAq41"
	"rX8EcawmsI/jMNBWXkICQ9x7jEDSMsfIW73h+O163Re9NWVoslnIUb//bFsjQBtrzRnuchlOPIS/bXWv/R9OR1uiUF"
	"cOu4+aEPsbsRusLPopIqSaMQv9rXe/fcR6IxKxAAkmiAlk/ojQhEuuWe7kApeQBHYuGI9BtdngcaprYo8pkzQ4hO6Y"
	"qgeWqTG2elucn9tfnjqBy6Ni6iJs3ZbliJyT3C0kTWATl7MnbAxWIQZYC6/89Pm1K8/3uzqsoNzFHK3g26kWTMMQrB"
	"zltHtC9WN8Y6CEd1k9fFRGls+MwqRj5xshkOCrubRq321jx8WhQ+rWLosUKbiugcCKi/opr6sqY4v6AX0+aELJxHd3"
	"d/MhJHXG2yM= c";
static const char rsa_2048[] =
	"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC4Mw/9pZ3L1+rh+Qjgdsi81bJdRnH94sh3mZXz/cFRQ0iuTEJ100"
	"9KUSUBekBKDKTcccaGMzqwVr2U1kUsNPJdQvVYN2PQYmA5U7548QqPOuCzGVZftHYG3dSFoEj0o7mk/V+huWh+7ft+"
	"ehzYbv/CXIiun96ct2soTIXHo2Ff0QexYl3Q1he+vMcjtQqRY/ui8b7gpfD9lmB9AiRgDYrlfRHQioAbyWMzMRIcS6"
	"xU25GW8fK1PxnGMYbGs2GtbUlMiThGQ1y/6KzHXOJ0lZt3RQbfJMbeTpk/J2GD3Dac/sGNciwkUAApoOyFzOAJIgnt"
	"leowOfafDfahaU8s8pF5 c";

static const char *fault_of(struct arena *a, const char *line)
{
	const char *key = NULL, *fault = ssh_key_fault(a, line, &key);

	CHECK(!fault == !!key);
	CHECK(!key || strncmp(line, key, strlen(key)) == 0);
	return fault;
}

TEST(git_ssh_keys_are_those_of_openssh)
{
	static const char *const bad[] = { "", "k", "ssh-ed25519", "ssh-ed25519 ",
		"ssh-ed25519 AAAA", " " ED25519, "\n" ED25519, ED25519 "\nssh-ed25519 AAAA",
		ED25519 " a\x7f", "restrict " ED25519, "command=\"x\" " ED25519, ED25519 "AAAA",
		"ssh-dss AAAAB3NzaC1kc3MAAAAA", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAAA==" };
	struct arena a = { 0 };
	char cut[sizeof rsa_3072];

	CHECK(!fault_of(&a, ED25519));
	CHECK(!fault_of(&a, ED25519 " jo@example.net and more"));
	CHECK(!fault_of(&a, ecdsa_256));
	CHECK(!fault_of(&a, ecdsa_384));
	CHECK(!fault_of(&a, ecdsa_521));
	CHECK(!fault_of(&a, rsa_3072));
	CHECK_STR(fault_of(&a, rsa_2048), "is an RSA key of fewer than 3072 bits");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		test_step("%s", bad[i]);
		CHECK(fault_of(&a, bad[i]));
	}
	for (size_t n = 0; n < strcspn(rsa_3072 + 8, " ") + 8; n++) {
		memcpy(cut, rsa_3072, n);
		cut[n] = '\0';
		CHECK(fault_of(&a, cut));
	}
	arena_free(&a);
}

TEST(git_ssh_commands_are_those_of_git)
{
	static const struct {
		const char *line;
		bool good, pushes, image;
	} rows[] = {
		{ "git-upload-pack 'demo/desk.git'", true, false, false },
		{ "git-upload-pack '/demo/desk.git'", true, false, false },
		{ "git-receive-pack '/git/demo/desk.image.git'", true, true, true },
		{ "git receive-pack 'demo/desk.git'", true, true, false },
		{ "git-upload-archive 'demo/desk.git'", false },
		{ "git-upload-pack demo/desk.git", false },
		{ "git-upload-pack 'demo/desk.git' ", false },
		{ "git-upload-pack 'demo/desk.git'; id", false },
		{ "git-upload-pack 'demo/../desk.git'", false },
		{ "git-upload-pack '../demo/desk.git'", false },
		{ "git-upload-pack 'demo/desk'", false },
		{ "git-upload-pack 'demo/desk.git/'", false },
		{ "git-upload-pack '--upload-pack=x/desk.git'", false },
		{ "git-upload-pack 'Demo/desk.git'", false },
		{ "git-upload-pack ''\\''demo/desk.git'", false },
		{ "sh", false },
		{ "", false },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct repo_ssh_asked asked = { 0 };

		test_step("%s", rows[i].line);
		CHECK(repo_ssh_read(&a, rows[i].line, &asked) == rows[i].good);
		if (!rows[i].good)
			continue;
		CHECK_STR(asked.tenant_slug, "demo");
		CHECK_STR(asked.agent_slug, "desk");
		CHECK(asked.service == (rows[i].pushes ? GIT_RECEIVE_PACK : GIT_UPLOAD_PACK));
		CHECK(asked.purpose == (rows[i].image ? RepoPurpose_image : RepoPurpose_code));
	}
	arena_free(&a);
}

TEST(git_ssh_keys_of_agents_are_validated)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "desk");
	struct answer r = ask(f, f->admin, "{\"ssh_public_key\":\"k\"}", "PATCH /agents/%s", agent);

	STATUS(r, 422);
	CHECK(refuses(&r, "ssh_public_key", "ssh_key"));
	r = ask(f, f->admin, "{\"ssh_public_key\":\"k\",\"name\":\"\"}", "PATCH /agents/%s", agent);
	STATUS(r, 422);
	CHECK(refuses(&r, "ssh_public_key", "ssh_key"));
	r = ask(f, f->admin, "{\"ssh_public_key\":\"" ED25519 " desk\"}", "PATCH /agents/%s",
		agent);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "ssh_public_key"), ED25519 " desk");
	STATUS(ask(f, f->admin, "{\"ssh_public_key\":null}", "PATCH /agents/%s", agent), 200);
	fixture_close(f);
}

struct keys_asked {
	struct fixture *f;
	const char *key;
	struct list found;
};

static int find_keys(struct db *db, void *data)
{
	struct keys_asked *asked = data;

	return repo_ssh_keys(db, &asked->f->arena, asked->key, &asked->found);
}

/* With a comment or without, of every kind; the first 80 signs find them. */
TEST(git_ssh_a_key_is_found_among_all_agents)
{
	static const char *const lines[] = { ED25519 " jo@example.net", ecdsa_256, ecdsa_384,
		ecdsa_521, rsa_3072 };
	struct fixture *f = fixture_open();
	struct keys_asked asked = { .f = f };

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		const char *agent = fixture_agent(f, arena_printf(&f->arena, "agent-%zu", i));

		STATUS(ask(f, f->admin,
			       arena_printf(&f->arena, "{\"ssh_public_key\":\"%s\"}", lines[i]),
			       "PATCH /agents/%s", agent),
			200);
	}
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		const struct repo_ssh_key *found;

		test_step("%zu", i);
		CHECK(!ssh_key_fault(&f->arena, lines[i], &asked.key));
		CHECK_INT(fixture_work(f, find_keys, &asked), 0);
		found = asked.found.at;
		CHECK_INT((int64_t)asked.found.count, 1);
		if (asked.found.count)
			CHECK_STR(found->ssh_public_key, lines[i]);
	}
	asked.key =
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPyBtclRJhn1/1yW9SSvu3w0v40fQOKRh4djz7IMVDLQ";
	CHECK_INT(fixture_work(f, find_keys, &asked), 0);
	CHECK_INT((int64_t)asked.found.count, 0);
	asked.key = NULL;
	CHECK_INT(fixture_work(f, find_keys, &asked), 0);
	CHECK_INT((int64_t)asked.found.count, 5);
	fixture_sql(f, "update agent_rows set is_active = 0", NO_ARGS);
	CHECK_INT(fixture_work(f, find_keys, &asked), 0);
	CHECK_INT((int64_t)asked.found.count, 0);
	fixture_close(f);
}
