/* oidc_fixture.c - see oidc_fixture.h. */
#include "oidc_fixture.h"

#include "base/clock.h"
#include "base/crypto.h"
#include "outside/oidc.h"

struct provider_says provider;

static int answer_with(struct arena *a, struct fetched *out, const char *text)
{
	*out = (struct fetched){ .status = 200, .body = arena_strdup(a, text), .max_age_s = 3600 };
	out->len = strlen(out->body);
	return 0;
}

static const char *id_token(void)
{
	int64_t now = clock_now_us() / SECOND_US;

	return signer_token(provider.arena, &provider.signer, NULL,
		arena_printf(provider.arena,
			"{\"iss\":\"" PROVIDER_ISSUER
			"\",\"sub\":\"%s\",\"aud\":\"lodge\",\"nonce\":\"%s\","
			"\"iat\":%lld,\"exp\":%lld,\"email\":\"%s\",\"email_verified\":%s}",
			provider.sub, provider.nonce, (long long)now, (long long)now + 60,
			provider.email, provider.verified ? "true" : "false"));
}

/* The verifier in the form must be the one whose digest came with the browser. */
static bool proves(struct arena *a, const char *form)
{
	const char *verifier = strstr(form, "code_verifier=") + 14;
	uint8_t digest[SHA256_LEN];

	sha256(verifier, strcspn(verifier, "&"), digest);
	return strcmp(base64url_write(a, digest, sizeof digest), provider.challenge) == 0;
}

static int fake_fetch(
	const struct fetch *in, struct arena *a, struct fetched *out, const char **ret_why)
{
	*ret_why = "it is down";
	if (provider.down)
		return ERR_UPSTREAM;
	if (strcmp(in->url, PROVIDER_ISSUER "/.well-known/openid-configuration") == 0) {
		provider.facts_asked++;
		return answer_with(a, out,
			arena_printf(a,
				"{\"issuer\":\"%s\",\"authorization_endpoint\":\"" PROVIDER_ISSUER
				"/go\","
				"\"token_endpoint\":\"" PROVIDER_ISSUER
				"/token\",\"jwks_uri\":\"" PROVIDER_ISSUER "/keys\",\"more\":[]}",
				provider.wrong_issuer ? "https://elsewhere.test"
						      : PROVIDER_ISSUER));
	}
	if (strcmp(in->url, PROVIDER_ISSUER "/keys") == 0) {
		provider.keys_asked++;
		return answer_with(a, out,
			arena_printf(a, "{\"keys\":[%s]}",
				signer_jwk(provider.arena, &provider.signer, "")));
	}
	CHECK_STR(in->url, PROVIDER_ISSUER "/token");
	CHECK_STR(in->user, "lodge");
	CHECK_STR(in->password, "se%20cret");
	provider.tokens_asked++;
	if (!strstr(in->form, "&code=good&") || !proves(a, in->form)) {
		*out = (struct fetched){ .status = 400, .body = "{}", .len = 2 };
		return 0;
	}
	return answer_with(a, out,
		arena_printf(a, "{\"access_token\":\"x\",\"id_token\":\"%s\"}", id_token()));
}

struct fixture *provider_open(void)
{
	struct fixture *f = fixture_open();
	struct oidc_config config = {
		.name = "sso", .issuer = PROVIDER_ISSUER, .client_id = "lodge", .secret = "se cret"
	};

	memset(&provider, 0, sizeof provider);
	provider.arena = &f->arena;
	provider.signer = signer_new(&f->arena, "ES256", "k1");
	provider.sub = "s1";
	provider.email = "Ada@example.org";
	provider.verified = true;
	f->service.oidc = oidc_new(&config, 1, false, fake_fetch);
	return f;
}

void provider_close(struct fixture *f)
{
	struct oidc *o = f->service.oidc;

	fixture_close(f);
	oidc_free(o);
}

static const char *part_of(struct fixture *f, const char *url, const char *name)
{
	const char *at = strstr(url, name) + strlen(name);

	return arena_strndup(&f->arena, at, strcspn(at, "&"));
}

struct begun provider_begin_at(struct fixture *f, const char *target)
{
	struct answer r = ask(f, NULL, NULL, "GET /auth/oidc/sso/start?return_to=%s", target);
	const char *cookie, *url;

	STATUS(r, 302);
	if (r.status != 302)
		return (struct begun){ "", "" };
	cookie = header_of(f, &r, "Set-Cookie");
	url = header_of(f, &r, "Location");
	CHECK(strncmp(url,
		      PROVIDER_ISSUER "/go?response_type=code&client_id=lodge&redirect_uri="
				      "http%3A%2F%2Flodge.test%2Fauth%2Foidc%2Fsso%2Fcallback&",
		      60) == 0);
	provider.nonce = part_of(f, url, "nonce=");
	provider.challenge = part_of(f, url, "code_challenge=");
	return (struct begun){ arena_strndup(&f->arena, cookie, strcspn(cookie, ";")),
		part_of(f, url, "state=") };
}

struct begun provider_begin(struct fixture *f)
{
	return provider_begin_at(f, "/x");
}

struct answer provider_finish(struct fixture *f, const struct begun *b, const char *code)
{
	return ask(f, NULL, NULL,
		"GET /auth/oidc/sso/callback?state=%s&code=%s&more=1\nCookie: a=b; %s", b->state,
		code, b->cookie);
}

struct answer provider_sign_in(struct fixture *f)
{
	struct begun b = provider_begin(f);

	return provider_finish(f, &b, "good");
}

const char *provider_allow(struct fixture *f, const char *tenant_id, const char *email)
{
	return fixture_created(f, f->admin, arena_printf(&f->arena, "{\"email\":\"%s\"}", email),
		"POST /tenant/%s/allowed-accounts", tenant_id);
}
