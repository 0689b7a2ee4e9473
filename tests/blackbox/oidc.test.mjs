// oidc.test.mjs - signing in at a real OpenID provider on this machine, step by step as a browser would.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { equal, match, ok, test, testBoth, within } from "./harness.mjs";
import { allow, Browser, installed, leads, SECRET, setUp } from "./oidc_stage.mjs";

if (!installed) console.log("note: the packages of tests/blackbox/oidc are not installed: signing in at a provider is not tried");

const me = (server, browser) => server.request("GET", "/me", { token: "", headers: { Cookie: `lodge_session=${browser.session(server)}` } });

const audit = (place, where) => place.sql(`select count(*) from audit_logs where ${where}`);

const tryOut = (name, run, options) => installed && test(name, run, options);

if (installed) testBoth("an allowed account joins as MEMBER, and comes again as the same user", async (t, engine) => {
  const { op, place, server, tenant } = await setUp(t, { engine, leaks: engine === "sqlite" });
  await allow(server, tenant, "ada@example.org");
  const browser = new Browser();
  const reply = await browser.signIn(server, "/auth/oidc/sso/start?return_to=/agents%3Fx%3D1");
  equal(reply.status, 200, `the callback says ${reply.text}`);
  equal(leads(reply), `${server.origin}/agents?x=1`, "where it ends");
  equal(reply.location, undefined, "a redirect, behind which the cookie would not be sent");
  match(reply.headers["content-type"], /^text\/html/, "the type");
  equal(reply.headers["cache-control"], "no-store", "Cache-Control");
  match(browser.first.headers["set-cookie"][0], /^lodge_oidc=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/, "the flow's cookie");
  match(reply.headers["set-cookie"].join("\n"), /^lodge_session=\S+; Path=\/; HttpOnly; SameSite=Strict$/m, "the login's cookie");
  match(browser.first.location, /[?&]code_challenge_method=S256(&|$)/, "PKCE");
  const { json } = await me(server, browser);
  equal(json.email, "Ada@example.org", "email");
  equal(json.name, "Ada Example", "name");
  equal(json.memberships[0].role, "MEMBER", "role");
  equal(json.memberships.length, 1, "memberships");
  const again = new Browser();
  equal(leads(await again.signIn(server)), `${server.origin}/`, "where it ends by default");
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
  equal(added.json.status, "invited", "nobody joins by another's word");
  equal((await server.request("POST", "/auth/accept-invite", { token: "", body: { token: added.json.invite_token, name: "Ada", password: "Another-password-1" } })).status,
    401, "the token sets no password on an account that is there");
  ok(!server.stderr.includes("s3cret"), "the secret is in the log");
  await op.stop();
  equal(await server.stop(), 0, "the exit status");
});

tryOut("a new secret of the client counts after a reload", async (t) => {
  const { op, place, server, tenant } = await setUp(t);
  await allow(server, tenant, "ada@example.org");
  op.client.client_secret = "another secret";
  await op.restart();
  equal((await new Browser().signIn(server)).status, 401, "with the former secret");
  writeFileSync(join(place.folder, "sso.secret"), "another secret\n", { mode: 0o600 });
  server.signal("SIGHUP");
  await server.says(/the settings were read again changed="?oidc/);
  equal((await new Browser().signIn(server)).status, 200, "with the new one");
});

if (installed) testBoth("the same person comes five times at the same moment", async (t, engine) => {
  const { place, server, tenant } = await setUp(t, { engine });
  await allow(server, tenant, "ada@example.org");
  const browsers = Array.from({ length: 5 }, () => new Browser());
  const callbacks = [];
  for (const browser of browsers) callbacks.push(await browser.toCallback(server));
  const replies = await Promise.all(browsers.map((browser, i) => browser.get(callbacks[i])));
  for (const reply of replies) equal(reply.status, 200, reply.text);
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
    equal((await new Browser().signIn(server)).status, 200, "the callback");
  });

tryOut("an address that only userinfo tells", async (t) => {
  const { server, tenant } = await setUp(t, { userinfo: true });
  await allow(server, tenant, "ada@example.org");
  const reply = await new Browser().signIn(server);
  equal(reply.status, 200, reply.text);
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
  equal((await new Browser().signIn(server)).status, 200, "sue");
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
  equal((await new Browser().signIn(server)).status, 200, "with the first keys");
  await op.restart();
  equal((await new Browser().signIn(server)).status, 200, "with other keys");
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
  equal((await browser.get(`${callback}&unknown=1`)).status, 200, "in its own browser");
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
    const reply = await within(20_000, server.request("GET", `/auth/oidc/${name}/start`), name);
    equal(reply.status, 502, `${name}: ${reply.text}`);
  }
  match(server.stderr, /may be called/, "the log");
});
