// oidc.test.mjs - signing in at a real OpenID provider on this machine, step by step as a browser would.
import { randomUUID } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { equal, here, match, ok, short, test, testBoth, within } from "./harness.mjs";

const home = join(here, "oidc/node_modules/oidc-provider");
const installed = existsSync(home);
if (!installed) console.log("note: the packages of tests/blackbox/oidc are not installed: signing in at a provider is not tried");

const SECRET = "s3cret of the client: with /?& and more";
const people = {
  ada: { email: "Ada@example.org", email_verified: true, name: "Ada Example" },
  eve: { email: "eve@example.org", email_verified: true },
  shy: { email: "shy@example.org", email_verified: false },
  sue: { email: "sue@example.org", email_verified: true },
};

// ---- the provider ----

const tools = async () => ({
  Provider: (await import(pathToFileURL(join(home, "lib/index.js")).href)).default,
  Memory: (await import(pathToFileURL(join(home, "lib/adapters/memory_adapter.js")).href)).default,
  jose: await import(pathToFileURL(join(here, "oidc/node_modules/jose/dist/node/esm/index.js")).href),
});

async function freshKey(jose, alg) {
  const { privateKey } = await jose.generateKeyPair(alg, { extractable: true });
  return { ...(await jose.exportJWK(privateKey)), kid: randomUUID(), alg, use: "sig" };
}

/** A provider that signs in whoever the test names: {issuer, port, as, stop, restart}. */
async function provider(t, { alg = "RS256", userinfo = false } = {}) {
  const { Provider, Memory, jose } = await tools();
  const self = { as: "ada", port: 0, client: null };
  const start = async () => {
    const server = http.createServer((request, reply) => self.handle(request, reply));
    await new Promise((done) => server.listen(self.port, "127.0.0.1", done));
    self.port = server.address().port;
    self.issuer = `http://127.0.0.1:${self.port}`;
    const key = await freshKey(jose, alg);
    const op = new Provider(self.issuer, {
      clients: self.client ? [self.client] : [],
      jwks: { keys: [key, await freshKey(jose, "ES256")] },
      pkce: { required: () => true, methods: ["S256"] },
      conformIdTokenClaims: userinfo,
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
      cookies: { keys: ["k"] },
      adapter: class extends Memory {},
      ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
      features: { devInteractions: { enabled: false } },
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
      interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
      loadExistingGrant: async (ctx) => {
        const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
        grant.addOIDCScope("openid email profile");
        await grant.save();
        return grant;
      },
    });
    op.on("server_error", (_, err) => console.log(`note: the provider says ${err.stack}`));
    self.handle = (request, reply) => (request.url.startsWith("/interaction/")
      ? op.interactionFinished(request, reply, self.as === "nobody"
        ? { error: "access_denied" }
        : { login: { accountId: self.as } }, { mergeWithLastSubmission: false })
      : op.callback()(request, reply));
    self.server = server;
  };
  self.stop = async () => {
    self.server.closeAllConnections();
    await new Promise((done) => self.server.close(done));
  };
  self.restart = async () => {
    await self.stop();
    await start();
  };
  await start();
  t.onEnd(() => self.stop().catch(() => {}));
  return self;
}

// ---- the browser ----

class Browser {
  cookies = new Map();

  get(url) {
    const { hostname, port, pathname, search } = new URL(url);
    const origin = `${hostname}:${port}`;
    const jar = this.cookies.get(origin) ?? this.cookies.set(origin, new Map()).get(origin);
    const headers = jar.size ? { Cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") } : {};
    return within(15_000, new Promise((done, no) => {
      http.get({ hostname, port, path: pathname + search, headers, agent: false }, (reply) => {
        const parts = [];
        reply.on("data", (part) => parts.push(part));
        reply.on("end", () => {
          for (const line of reply.headers["set-cookie"] ?? []) {
            const [pair] = line.split(";");
            const at = pair.indexOf("=");
            if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(pair.slice(0, at));
            else jar.set(pair.slice(0, at), pair.slice(at + 1));
          }
          const text = Buffer.concat(parts).toString();
          done({ status: reply.statusCode, headers: reply.headers, text, location: reply.headers.location && new URL(reply.headers.location, url).href });
        });
      }).on("error", no);
    }), `GET ${url}`);
  }

  /** Follows redirects until one leads to the callback, which is not called yet. */
  async toCallback(server, path = "/auth/oidc/sso/start") {
    let reply = await this.get(server.origin + path);
    equal(reply.status, 302, `start says ${reply.text}`);
    this.first = reply;
    for (let step = 0; step < 10; step++) {
      if (reply.location?.startsWith(`${server.origin}/auth/oidc/`)) return reply.location;
      ok(reply.location, `the provider stops at ${reply.status} ${short(reply.text)}`);
      reply = await this.get(reply.location);
    }
    throw new Error("the provider never leads back");
  }

  async signIn(server, path) {
    return this.get(await this.toCallback(server, path));
  }

  session(server) {
    return this.cookies.get(new URL(server.origin).host)?.get("lodge_session");
  }
}

// ---- the service ----

async function stage(t, { engine = "sqlite", op, flags = [], leaks = false } = {}) {
  const place = await t.place(engine);
  const file = join(place.folder, "sso.secret");
  writeFileSync(file, `${SECRET}\n`, { mode: 0o600 });
  const server = await t.serve(place, { flags: ["--oidc", `sso=${op.issuer},lodge:client,${file}`, ...flags], leaks });
  const tenant = await server.enter();
  op.client = { client_id: "lodge:client", client_secret: SECRET, grant_types: ["authorization_code"], response_types: ["code"],
    redirect_uris: [`${server.origin}/auth/oidc/sso/callback`], id_token_signed_response_alg: op.alg };
  await op.restart();
  return { place, server, tenant };
}

async function setUp(t, options = {}) {
  const op = await provider(t, options);
  op.alg = options.alg ?? "RS256";
  return { op, ...(await stage(t, { ...options, op })) };
}

const allow = async (server, tenant, email) =>
  equal((await server.request("POST", `/tenant/${tenant}/allowed-accounts`, { body: { email } })).status, 201, `allowing ${email}`);

const me = (server, browser) => server.request("GET", "/me", { token: "", headers: { Cookie: `lodge_session=${browser.session(server)}` } });

const audit = (place, where) => place.sql(`select count(*) from audit_logs where ${where}`);

const tryOut = (name, run, options) => installed && test(name, run, options);

if (installed) testBoth("an allowed account joins as MEMBER, and comes again as the same user", async (t, engine) => {
  const { op, place, server, tenant } = await setUp(t, { engine, leaks: engine === "sqlite" });
  await allow(server, tenant, "ada@example.org");
  const browser = new Browser();
  const reply = await browser.signIn(server, "/auth/oidc/sso/start?return_to=/agents%3Fx%3D1");
  equal(reply.status, 303, `the callback says ${reply.text}`);
  equal(reply.location, `${server.origin}/agents?x=1`, "where it ends");
  equal(reply.text, "", "the body");
  match(browser.first.headers["set-cookie"][0], /^lodge_oidc=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/, "the flow's cookie");
  match(reply.headers["set-cookie"].join("\n"), /^lodge_session=\S+; Path=\/; HttpOnly; SameSite=Strict$/m, "the login's cookie");
  match(browser.first.location, /[?&]code_challenge_method=S256(&|$)/, "PKCE");
  const { json } = await me(server, browser);
  equal(json.email, "Ada@example.org", "email");
  equal(json.name, "Ada Example", "name");
  equal(json.memberships[0].role, "MEMBER", "role");
  equal(json.memberships.length, 1, "memberships");
  const again = new Browser();
  equal((await again.signIn(server)).location, `${server.origin}/`, "where it ends by default");
  equal((await me(server, again)).json.id, json.id, "the user");
  equal(await place.sql("select count(*) from users"), "2", "users");
  equal(await place.sql("select count(*) from identities"), "1", "identities");
  equal(await place.sql("select count(*) from oidc_flows"), "0", "flows left over");
  equal(await audit(place, `action = 'login.succeed' and meta like '%"provider":"sso"%'`), "2", "audited logins");
  equal(await audit(place, `action = 'member.join' and tenant_id = '${tenant}'`), "1", "audited joins");
  const members = await server.request("GET", `/tenant/${tenant}/members`);
  equal(members.json.total, 2, "members");
  const taken = await server.request("POST", "/tenants", { body: { name: "Other", slug: "other" } });
  const added = await server.request("POST", `/tenant/${taken.json.id}/members`, { body: { email: "ada@example.org" } });
  equal(added.status, 201, added.text);
  equal(added.json.status, "active", "no invitation for whoever signs in at a provider");
  equal(added.json.invite_token ?? null, null, "the token that would set a password");
  ok(!server.stderr.includes("s3cret"), "the secret is in the log");
  await op.stop();
  equal(await server.stop(), 0, "the exit status");
});

if (installed) testBoth("the same person comes five times at the same moment", async (t, engine) => {
  const { place, server, tenant } = await setUp(t, { engine });
  await allow(server, tenant, "ada@example.org");
  const browsers = Array.from({ length: 5 }, () => new Browser());
  const callbacks = [];
  for (const browser of browsers) callbacks.push(await browser.toCallback(server));
  const replies = await Promise.all(browsers.map((browser, i) => browser.get(callbacks[i])));
  for (const reply of replies) equal(reply.status, 303, reply.text);
  equal(await place.sql("select count(*) from users"), "2", "users");
  equal(await place.sql("select count(*) from identities"), "1", "identities");
  equal(await place.sql("select sum(members) from tenant_counts"), "2", "members counted");
  const twins = await Promise.all(Array.from({ length: 3 }, () => browsers[0].get(callbacks[0])));
  for (const reply of twins) equal(reply.status, 401, "a state that is used up");
});

for (const alg of ["PS256", "ES256", "EdDSA"])
  tryOut(`ID tokens signed by ${alg}`, async (t) => {
    const { server, tenant } = await setUp(t, { alg });
    await allow(server, tenant, "ada@example.org");
    equal((await new Browser().signIn(server)).status, 303, "the callback");
  });

tryOut("an address that only userinfo tells", async (t) => {
  const { server, tenant } = await setUp(t, { userinfo: true });
  await allow(server, tenant, "ada@example.org");
  const reply = await new Browser().signIn(server);
  equal(reply.status, 303, reply.text);
});

tryOut("whoever is not allowed, not proven or suspended stays outside", async (t) => {
  const { op, place, server, tenant } = await setUp(t);
  await allow(server, tenant, "shy@example.org");
  await allow(server, tenant, "sue@example.org");
  for (const [who, status, sentence] of [["eve", 403, /ask to be invited/], ["shy", 403, /proven/], ["nobody", 401, /did not sign you in/]]) {
    op.as = who;
    const browser = new Browser();
    const reply = await browser.signIn(server);
    equal(reply.status, status, `${who}: ${reply.text}`);
    match(reply.headers["content-type"], /problem\+json/, "the type");
    match(JSON.parse(reply.text).detail, sentence, who);
    equal(browser.session(server), undefined, `${who}: a session`);
  }
  op.as = "sue";
  equal((await new Browser().signIn(server)).status, 303, "sue");
  await place.sql("update users set is_suspended = 1 where email = 'sue@example.org'");
  const reply = await new Browser().signIn(server);
  equal(reply.status, 403, reply.text);
  equal(JSON.parse(reply.text).type, "urn:lodge:problem:suspended", "the type");
  equal(await place.sql("select count(*) from users"), "2", "users");
  equal(await audit(place, "action = 'login.fail'"), "4", "audited failures");
});

tryOut("keys change at the provider", async (t) => {
  const { op, server, tenant } = await setUp(t);
  await allow(server, tenant, "ada@example.org");
  equal((await new Browser().signIn(server)).status, 303, "with the first keys");
  await op.restart();
  equal((await new Browser().signIn(server)).status, 303, "with other keys");
  await op.restart();
  equal((await new Browser().signIn(server)).status, 401, "a minute has not passed");
});

tryOut("a state is good once, in its browser, for its provider", async (t) => {
  const { place, server, tenant } = await setUp(t);
  await allow(server, tenant, "ada@example.org");
  const browser = new Browser();
  const callback = await browser.toCallback(server);
  equal((await new Browser().get(callback)).status, 401, "in another browser");
  const other = new Browser();
  await other.toCallback(server);
  equal((await other.get(callback)).status, 401, "in a browser with a flow of its own");
  const wrong = new URL(callback);
  wrong.searchParams.set("state", "A".repeat(43));
  equal((await browser.get(wrong.href)).status, 401, "with a wrong state");
  wrong.searchParams.delete("state");
  equal((await browser.get(wrong.href)).status, 401, "without a state");
  wrong.searchParams.set("state", new URL(callback).searchParams.get("state"));
  const kept = new Map(browser.cookies.get(new URL(server.origin).host));
  equal((await browser.get(`${callback}&unknown=1`)).status, 303, "in its own browser");
  browser.cookies.set(new URL(server.origin).host, kept);
  equal((await browser.get(callback)).status, 401, "a second time");
  const late = new Browser();
  const lateCallback = await late.toCallback(server);
  await place.sql("update oidc_flows set created_at = created_at - 601000000");
  equal((await late.get(lateCallback)).status, 401, "after ten minutes");
  const foreign = new Browser();
  const from = new URL(await foreign.toCallback(server));
  from.searchParams.set("iss", "https://elsewhere.example.com");
  equal((await foreign.get(from.href)).status, 401, "from another issuer");
  equal((await foreign.get(await foreign.toCallback(server) + "x")).status, 401, "with a broken parameter at its end");
});

tryOut("only paths of our own are ends", async (t) => {
  const { server } = await setUp(t);
  for (const to of ["//evil.example", "/\\evil.example", "https://evil.example", "evil", "/a b", "/\r\nX-A: b", ""])
    equal((await new Browser().get(`${server.origin}/auth/oidc/sso/start?return_to=${encodeURIComponent(to)}`)).status, 422, to);
  equal((await new Browser().get(`${server.origin}/auth/oidc/other/start`)).status, 404, "a provider that is none");
  equal((await server.request("HEAD", "/auth/oidc/sso/start")).status, 405, "HEAD");
});

tryOut("a provider that is away is a clear problem", async (t) => {
  const { op, server, tenant } = await setUp(t);
  await allow(server, tenant, "ada@example.org");
  const browser = new Browser();
  const callback = await browser.toCallback(server);
  await op.stop();
  const reply = await browser.get(callback);
  equal(reply.status, 502, reply.text);
  match(JSON.parse(reply.text).detail, /try again later/, "the sentence");
  equal((await browser.get(callback)).status, 401, "its state is used up");
  const second = await t.serve(await t.place("sqlite"), { flags: ["--oidc", `sso=${op.issuer},lodge,${join(server.place.folder, "sso.secret")}`] });
  const start = await new Browser().get(`${second.origin}/auth/oidc/sso/start`);
  equal(start.status, 502, start.text);
  match(second.stderr, /discovery/, "the log");
  await second.healthy();
});

test("a wrong list of providers or a wrong file is one clear line", async (t) => {
  const place = await t.place("sqlite");
  const open = join(place.folder, "open.secret");
  const empty = join(place.folder, "empty.secret");
  writeFileSync(open, "x", { mode: 0o644 });
  writeFileSync(empty, "\n", { mode: 0o600 });
  const cases = [
    ["sso", /give NAME=ISSUER,CLIENT_ID,SECRET_FILE/],
    ["sso=https://sso.example.com,lodge", /give NAME=/],
    ["SSO=https://sso.example.com,lodge,/x", /give NAME=/],
    ["sso=ftp://sso.example.com,lodge,/x", /give NAME=/],
    ["a=https://a.example,l,/x a=https://b.example,l,/x", /name of its own/],
    [`sso=https://sso.example.com,lodge,${open}`, /chmod 600/],
    [`sso=https://sso.example.com,lodge,${empty}`, /one line/],
    ["sso=https://sso.example.com,lodge,/does/not/exist", /exist of the provider sso: No such file/],
  ];
  for (const [value, pattern] of cases) {
    const result = await t.on(place, ["serve", "--listen", "127.0.0.1:0", "--oidc", value]);
    match(result.stderr, /^lodge: [^\n]+\n$/, `${value}: standard error is one line`);
    match(result.stderr, pattern, value);
    ok(result.status === 1 || result.status === 2, `${value}: the exit status is ${result.status}`);
  }
});

test("plain HTTP and private addresses are refused unless allowed", async (t) => {
  const place = await t.place("sqlite");
  const file = join(place.folder, "sso.secret");
  writeFileSync(file, SECRET, { mode: 0o600 });
  const list = ["plain=http://sso.example.com", "ten=https://10.0.0.1", "mapped=https://[::ffff:10.0.0.1]", "link=https://169.254.169.254"]
    .map((one) => `${one},lodge,${file}`).join(" ");
  const server = await t.serve(place, { flags: ["--oidc", list] });
  for (const name of ["plain", "ten", "mapped", "link"]) {
    const reply = await within(3000, server.request("GET", `/auth/oidc/${name}/start`), name);
    equal(reply.status, 502, `${name}: ${reply.text}`);
  }
  match(server.stderr, /may be called/, "the log");
});
