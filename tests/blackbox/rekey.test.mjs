// rekey.test.mjs - a new master key while the service runs: nothing that was sealed is lost.
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { becomes, bin, equal, isRoot, match, ok, pause, psql, root, test, testBoth, until } from "./harness.mjs";

testBoth("a new master key while serving: kept replies open before, during and after it", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place);
  const { json } = await server.login();
  const tenant = json.user.memberships[0].tenant_id;
  const make = (n) =>
    server.request("POST", `/tenant/${tenant}/api-keys`, {
      body: { name: `k${n}` },
      headers: { "Idempotency-Key": `key-${n}` },
    });
  const first = [];
  for (let n = 0; n < 20; n += 1) first.push((await make(n)).text);
  const file = join(place.data, "master.key");
  const before = readFileSync(file, "utf8");
  const rekey = t.on(place, ["rekey"], { ms: 60_000 });
  for (let n = 20; n < 60; n += 1) first.push((await make(n)).text);
  const result = await rekey;
  equal(result.status, 0, `the exit status, with ${result.stderr}`);
  match(result.stdout, /The master key is new; \d+ secrets were sealed anew\./, "what it says");
  const after = readFileSync(file, "utf8");
  ok(after !== before, "the key is the same");
  match(after, /^[0-9a-f]{64}\n$/, "the key file");
  for (let n = 0; n < 60; n += 1) equal((await make(n)).text, first[n], `the kept reply ${n}`);
  const check = await t.on(place, ["check", "--audit"]);
  equal(check.status, 0, `check, with ${check.stderr}`);
});

testBoth("a new master key while serving: the secrets of tools and scanner stay what they were", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place);
  const { json } = await server.login();
  const at = `/tenant/${json.user.memberships[0].tenant_id}`;
  const config = (value) => ({ method: "GET", url: "https://api.example.org/", headers: { Authorization: value } });
  const tool = await server.request("POST", `${at}/tools`, { body: { name: "t", kind: "http", description: "d", config: config("Bearer s3cret") } });
  equal(tool.status, 201, `making a tool, with ${tool.text}`);
  const agent = (await server.request("POST", `${at}/agents`, { body: { name: "A", slug: "a" } })).json.id;
  const granted = await server.request("POST", `${at}/agents/${agent}/tools`, { body: { tool_id: tool.json.id, configuration: { key: "s3cret" } } });
  equal(granted.status, 201, "granting it");
  const scanner = { provider: "sonar", base_url: "https://scanner.example.org", organization: "o" };
  equal((await server.request("PUT", `${at}/scanner`, { body: { ...scanner, token: "s3cret" } })).status, 201, "binding a scanner");
  const result = await t.on(place, ["rekey"], { ms: 60_000 });
  equal(result.status, 0, `the exit status, with ${result.stderr}`);
  ok(!/could not be opened/.test(result.stdout), result.stdout);
  const held = await server.request("GET", `${at}/agents/${agent}/tools`);
  equal(held.json?.items[0].configuration.key, "s3cret", `the settings, in ${held.text}`);
  const kept = await server.request("PATCH", `${at}/tools/${tool.json.id}`, { body: { config: config("********") } });
  equal(kept.status, 200, `keeping a header, with ${kept.text}`);
  equal((await server.request("PUT", `${at}/scanner`, { body: scanner })).status, 200, "keeping the token");
});

test("a new master key: only one is made at a time", async (t) => {
  const place = await t.place("sqlite");
  const server = await t.serve(place);
  const { json } = await server.login();
  const at = `/tenant/${json.user.memberships[0].tenant_id}`;
  const scanner = { provider: "sonar", base_url: "https://scanner.example.org", organization: "o" };
  equal((await server.request("PUT", `${at}/scanner`, { body: { ...scanner, token: "s3cret" } })).status, 201, "binding a scanner");
  const results = await Promise.all([1, 2, 3].map(() => t.on(place, ["rekey"], { ms: 60_000 })));
  const good = results.filter((r) => r.status === 0);
  equal(good.length, 1, "those that went through at the same time");
  for (const r of results.filter((x) => x.status !== 0)) match(r.stderr, /another lodge rekey is changing the master key/, "what the others say");
  ok(!/could not be opened/.test(good[0].stdout), good[0].stdout);
  equal((await server.request("PUT", `${at}/scanner`, { body: scanner })).status, 200, "keeping the token");
});

const scannerBody = { provider: "sonar", base_url: "https://scanner.example.org", organization: "o" };
const seal = (server, at, n) => server.request("PUT", `${at}/scanner`, { body: { ...scannerBody, token: `s3cret-${n}` } });
const tenantOf = async (server) => `/tenant/${(await server.login()).json.user.memberships[0].tenant_id}`;

/** A rekey under way: what it has said, and its end. */
function begin(t, place, args = [], env = {}) {
  const child = spawn(bin, ["rekey", ...args, "--data", place.data, "--store", place.store], { cwd: place.folder, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const run = { said: "", child };
  child.stdout.on("data", (text) => (run.said += text));
  child.stderr.on("data", (text) => (run.said += text));
  run.ended = new Promise((done) => child.on("close", (status, signal) => done((run.status = status ?? signal))));
  t.onEnd(() => child.kill("SIGKILL"));
  return run;
}

test("a new master key: a process with a copy of the key file is waited for, and loses nothing", async (t) => {
  const place = await t.place("postgres");
  const first = await t.serve(place);
  const at = await tenantOf(first);
  const elsewhere = { ...place, folder: t.folder() };
  elsewhere.data = join(elsewhere.folder, "data");
  mkdirSync(elsewhere.data, { mode: 0o700 });
  const file = join(place.data, "master.key");
  const copy = join(elsewhere.data, "master.key");
  copyFileSync(file, copy);
  chmodSync(copy, 0o600);
  const second = await t.serve(elsewhere);
  await second.login();
  const old = readFileSync(file, "utf8").trim();
  const run = begin(t, place);
  await until(30_000, "whom it waits for", () => /Waiting for process \d+ on .*does not know the new key/.test(run.said) || run.status !== undefined);
  ok(run.status === undefined, `it went on without the other: ${run.said}`);
  ok(run.said.includes(`process ${second.child.pid} on`), `it names another: ${run.said}`);
  ok(readFileSync(file, "utf8").includes(old), "the former key is gone while somebody needs it");
  equal((await seal(second, at, 1)).status, 201, "sealing in the one that does not follow yet");
  equal((await seal(first, at, 2)).status, 200, "sealing in the one that does");
  equal((await second.request("PUT", `${at}/scanner`, { body: scannerBody })).status, 200, "keeping the token");

  // it goes on where it was, with the key it had begun with, also when it was killed
  run.child.kill("SIGKILL");
  await run.ended;
  const begun = readFileSync(file, "utf8");
  const again = begin(t, place);
  await until(30_000, "whom it waits for", () => /Waiting for process/.test(again.said));
  equal(readFileSync(file, "utf8"), begun, "the key file of the second run");
  copyFileSync(file, copy);
  equal(await again.ended, 0, `the exit status, with ${again.said}`);
  match(again.said, /The master key is new/, "what it says");
  match(readFileSync(file, "utf8"), /^[0-9a-f]{64}\n$/, "the key file");
  ok(!readFileSync(file, "utf8").includes(old), "the former key is still there");
  for (const server of [first, second]) {
    equal((await seal(server, at, 3)).status, 200, "sealing after it");
    equal((await server.request("GET", "/readyz")).status, 200, "being ready");
  }
  const check = await t.on(place, ["check", "--audit"]);
  equal(check.status, 0, `check, with ${check.stderr}${check.stdout.slice(-300)}`);
}, { ms: 180_000 });

test("a new master key: a process whose key file cannot be read says so, is unready and seals nothing", async (t) => {
  const place = await t.place("sqlite");
  const server = await t.serve(place);
  const at = await tenantOf(server);
  const file = join(place.data, "master.key");
  const kept = readFileSync(file);
  equal((await seal(server, at, 1)).status, 201, "binding a scanner");
  equal((await server.request("GET", "/readyz")).status, 200, "being ready");
  writeFileSync(file, "not a key\n", { mode: 0o600 });
  await server.says(/the master key file cannot be read/);
  const unready = await server.request("GET", "/readyz");
  equal(unready.status, 503, "readiness");
  match(unready.json.type, /:key_unavailable$/, "the code");
  match(unready.json.detail, /the master key file cannot be read/, "the reason");
  ok(!unready.text.includes(place.data), "a path is shown to everybody");
  const refused = await seal(server, at, 2);
  equal(refused.status, 503, `sealing, with ${refused.text}`);
  match(refused.json.type, /:key_unavailable$/, "the code");
  equal((await server.request("GET", `${at}/scanner`)).status, 200, "reading");
  writeFileSync(file, kept, { mode: 0o600 });
  await server.says(/the master key file can be read again/);
  equal((await seal(server, at, 3)).status, 200, "sealing again");
}, { ms: 90_000 });

test("a new master key: made by root, it stays the service's own", async (t) => {
  if (!isRoot) return; // only root can give files away
  const place = await t.place("sqlite");
  const user = 65534;
  for (const folder of [place.folder, place.data]) {
    mkdirSync(folder, { recursive: true });
    chownSync(folder, user, user);
    chmodSync(folder, 0o755);
  }
  const server = await t.serve(place, { as: user });
  const at = await tenantOf(server);
  const file = join(place.data, "master.key");
  equal(statSync(file).uid, user, "whose the key file is before");
  equal((await seal(server, at, 1)).status, 201, "binding a scanner");
  const result = await t.on(place, ["rekey"], { ms: 60_000 });
  equal(result.status, 0, `the exit status, with ${result.stderr}`);
  const st = statSync(file);
  equal(`${st.uid}:${st.gid} ${(st.mode & 0o777).toString(8)}`, `${user}:${user} 600`, "the new key file");
  equal((await server.request("PUT", `${at}/scanner`, { body: scannerBody })).status, 200, "keeping the token");
  equal((await seal(server, at, 2)).status, 200, "sealing");
  equal((await server.request("GET", "/readyz")).status, 200, "being ready");
  equal(await server.stop(), 0, "stopping");
  const later = await t.serve(place, { as: user });
  await later.login();
  equal((await later.request("PUT", `${at}/scanner`, { body: scannerBody })).status, 200, "keeping the token after a restart");
  const check = await t.on(place, ["check", "--audit"]);
  equal(check.status, 0, `check, with ${check.stderr}`);
}, { ms: 120_000 });

testBoth("a master key that is lost: what it sealed is given up, and all else stays", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place);
  const at = await tenantOf(server);
  const tool = await server.request("POST", `${at}/tools`, {
    headers: { "Idempotency-Key": "one" },
    body: { name: "t", kind: "http", description: "d", config: { method: "GET", url: "https://api.example.org/", headers: { Authorization: "Bearer s3cret" } } },
  });
  equal(tool.status, 201, `making a tool, with ${tool.text}`);
  const agent = (await server.request("POST", `${at}/agents`, { body: { name: "A", slug: "a" } })).json.id;
  equal((await server.request("POST", `${at}/agents/${agent}/tools`, { body: { tool_id: tool.json.id, configuration: { key: "s3cret" } } })).status, 201, "granting it");
  const hook = await server.request("POST", `${at}/integrations`, { body: { provider: "github", label: "L", agent_id: agent } });
  equal(hook.status, 201, "making an integration");
  const send = (to, id) => to.request("POST", `/hooks/${hook.json.id}`, { token: null, body: "{}", headers: { "X-GitHub-Event": "issues",
    "X-GitHub-Delivery": id, "X-Hub-Signature-256": `sha256=${createHmac("sha256", hook.json.signing_secret).update("{}").digest("hex")}` } });
  equal((await send(server, "one")).status, 202, "an event");
  equal((await server.request("GET", `${at}/integrations/${hook.json.id}`)).json.connected, true, "being connected");
  equal((await seal(server, at, 1)).status, 201, "binding a scanner");
  const living = await t.on(place, ["give-up-seals", "--yes"]);
  equal(living.status, 1, "giving up while a process lives");
  match(living.stderr, /gave a sign of life/, "why not");
  equal(await server.stop(), 0, "stopping");
  const file = join(place.data, "master.key");
  unlinkSync(file);
  match((await t.on(place, ["check"])).stderr, /is missing.*give-up-seals/, "what check says of it");

  const shown = await t.on(place, ["give-up-seals"]);
  equal(shown.status, 0, `showing, with ${shown.stderr}`);
  ok(shown.stdout.includes(`tools ${tool.json.id}: the headers of a tool cannot be opened`), shown.stdout);
  match(shown.stdout, /Nothing was changed/, "what it says");
  ok(!existsSync(file), "a key was made by looking");
  const done = await t.on(place, ["give-up-seals", "--yes"]);
  equal(done.status, 0, `giving up, with ${done.stderr}`);
  match(readFileSync(file, "utf8"), /^[0-9a-f]{64}\n$/, "the key file");
  match((await t.on(place, ["give-up-seals", "--yes"])).stdout, /nothing to give up/, "a second time");
  const check = await t.on(place, ["check", "--audit"]);
  equal(check.status, 0, `check, with ${check.stderr}`);
  match(check.stdout, /Its key was lost on .*up to row \d+/, "what check says of the audit log");
  match(check.stdout, /were given up and have not been entered anew/, "what check says of secrets");

  const back = await t.serve(place);
  await back.login();
  const held = await back.request("GET", `${at}/agents/${agent}/tools`);
  equal(held.status, 200, `listing what the agent has, with ${held.text}`);
  const masked = await back.request("PATCH", `${at}/tools/${tool.json.id}`, { body: { config: { method: "GET", url: "https://api.example.org/", headers: { Authorization: "********" } } } });
  equal(masked.status, 422, `keeping a header that is gone, with ${masked.text}`);
  match(masked.text, /send it anew/, "what it says");
  const anew = await back.request("PATCH", `${at}/tools/${tool.json.id}`, { body: { config: { method: "GET", url: "https://api.example.org/", headers: { Authorization: "Bearer n3w" } } } });
  equal(anew.status, 200, `entering it anew, with ${anew.text}`);
  const kept = await back.request("PATCH", `${at}/agents/${agent}/tools/${tool.json.id}`, { body: { is_enabled: false } });
  equal(kept.status, 409, `keeping settings that are gone, with ${kept.text}`);
  match(kept.json.type, /:secret_unopenable$/, "the code");
  equal((await back.request("PATCH", `${at}/agents/${agent}/tools/${tool.json.id}`, { body: { configuration: { key: "n" } } })).status, 200, "setting them anew");
  const token = await back.request("PUT", `${at}/scanner`, { body: scannerBody });
  equal(token.status, 422, `keeping a token that is gone, with ${token.text}`);
  equal((await seal(back, at, 2)).status, 200, "entering it anew");
  const event = await send(back, "two");
  equal(event.status, 401, `an event that nobody can verify, with ${event.text}`);
  await until(10_000, "the delivery says why", async () => (await back.request("GET", `${at}/integrations/${hook.json.id}/deliveries`)).json.items[0]?.outcome === "secret_unopenable");
  equal((await back.request("GET", `${at}/integrations/${hook.json.id}`)).json.connected, false, "being connected");
  equal((await back.request("POST", `${at}/integrations/${hook.json.id}/rotate-secret`, { body: {} })).status, 200, "a new signing secret");
  const told = await back.request("GET", `${at}/audit-logs?per_page=100`);
  ok(told.text.includes("secret.give_up"), `the audit log does not tell: ${told.text.slice(0, 500)}`);
  equal(await back.stop(), 0, "stopping");
  const last = await t.on(place, ["check", "--audit"]);
  equal(last.status, 0, `check at the end, with ${last.stderr}`);
  ok(!/have not been entered anew/.test(last.stdout), last.stdout.slice(-400));
}, { ms: 180_000 });

for (const side of ["before", "after"])
  test(`a new master key: killed ${side} any of its commits, every secret opens at every moment`, async (t) => {
    const place = await t.place("sqlite");
    const server = await t.serve(place);
    const at = await tenantOf(server);
    equal((await seal(server, at, 1)).status, 201, "binding a scanner");
    const file = join(place.data, "master.key");
    const first = readFileSync(file, "utf8").trim();
    let kills = 0;
    for (;;) {
      const run = begin(t, place, [], { LODGE_FAULT: `commit:${kills + 1}:${side}` });
      const end = await run.ended;
      if (end === 0) break;
      equal(end, "SIGKILL", `the end of run ${kills + 1}, with ${run.said}`);
      kills += 1;
      equal((await server.request("PUT", `${at}/scanner`, { body: scannerBody })).status, 200, `keeping the token after kill ${kills}`);
      const check = await t.on(place, ["check"]);
      equal(check.status, 0, `check after kill ${kills}, with ${check.stderr}${check.stdout.slice(-300)}`);
    }
    ok(kills >= 5, `it was killed ${kills} times: announcing, waiting, putting in force, sealing anew and ending have a commit each`);
    const last = readFileSync(file, "utf8");
    match(last, /^[0-9a-f]{64}\n$/, "the key file");
    ok(!last.includes(first), "the former key is still there");
    ok(!existsSync(`${file}.next`) && !existsSync(`${file}.new`), "a key is left beside the file");
    equal((await seal(server, at, 2)).status, 200, "sealing");
    equal((await t.on(place, ["check", "--audit"])).status, 0, "check");
  }, { ms: 180_000 });

test("a new master key: two with different key files do not work against each other", async (t) => {
  const place = await t.place("postgres");
  const server = await t.serve(place);
  const at = await tenantOf(server);
  equal((await seal(server, at, 1)).status, 201, "binding a scanner");
  const other = { ...place, folder: t.folder() };
  other.data = join(other.folder, "data");
  mkdirSync(other.data, { mode: 0o700 });
  copyFileSync(join(place.data, "master.key"), join(other.data, "master.key"));
  chmodSync(join(other.data, "master.key"), 0o600);
  // the server does not have the key of the other file: that run waits
  const waits = begin(t, other);
  await until(30_000, "whom it waits for", () => /Waiting for process/.test(waits.said));
  const refused = await t.on(place, ["rekey"], { ms: 60_000 });
  equal(refused.status, 1, "a second one");
  match(refused.stderr, /was begun with another key file/, "why not");
  const anew = await t.on(place, ["rekey", "--anew"], { ms: 90_000 });
  equal(anew.status, 0, `beginning again, with ${anew.stderr}${anew.stdout}`);
  waits.child.kill("SIGKILL");
  await waits.ended;
  equal((await server.request("PUT", `${at}/scanner`, { body: scannerBody })).status, 200, "keeping the token");
  const check = await t.on(place, ["check", "--audit"]);
  equal(check.status, 0, `check, with ${check.stderr}`);
}, { ms: 180_000 });

test("a sealed text lies nowhere but where rekey, check and give-up-seals look", async (t) => {
  const place = await t.place("sqlite");
  const server = await t.serve(place, { flags: ["--smtp-relay", "smtp://127.0.0.1:1", "--mail-from", "lodge@example.org"] });
  const at = await tenantOf(server);
  const put = async (method, path, body, status = 201, headers = {}) => {
    const r = await server.request(method, path, { body, headers });
    equal(r.status, status, `${method} ${path}, with ${r.text}`);
    return r.json;
  };
  const model = { name: "L", slug: "l", kind: "openai", config: { base_url: "https://models.example.org/v1", model: "l", api_key: "s3cret" } };
  await put("POST", "/admin/models", model, 201, { "Idempotency-Key": "k" });
  await put("PUT", `${at}/provider-keys/openai`, { api_key: "s3cret" });
  const agent = (await put("POST", `${at}/agents`, { name: "A", slug: "a" })).id;
  const tool = await put("POST", `${at}/tools`, { name: "t", kind: "http", description: "d", config: { method: "GET", url: "https://api.example.org/", headers: { Authorization: "s3cret" } } });
  await put("POST", `${at}/agents/${agent}/tools`, { tool_id: tool.id, configuration: { key: "s3cret" } });
  await put("POST", `${at}/integrations`, { provider: "github", label: "L", agent_id: agent });
  equal((await seal(server, at, 1)).status, 201, "binding a scanner");
  const skill = await put("POST", `${at}/skills`, { name: "S", slug: "s", description: "d", instructions: "i" });
  await put("POST", `/agents/${agent}/skills`, { skill_id: skill.id });
  await put("PATCH", `/agents/${agent}/skills/${skill.id}/config`, { config: { key: "s3cret" } }, 200);
  await put("POST", `/agents/${agent}/repo`);
  await place.sql("update repositories set host = 'git', url = 'https://git.example.org/a.git'");
  await put("POST", `/agents/${agent}/repo/push-hook`);
  await put("POST", `${at}/members`, { email: "grace@example.org" });
  await becomes(() => place.sql("select count(*) from letters where sealed is not null"), "1", "letters that nobody takes");
  equal(await server.stop(), 0, "stopping");

  const listed = readFileSync(join(root, "src/access/sealed.h"), "utf8").replaceAll(/\\\n\s*/g, "");
  const places = new Set([...listed.matchAll(/X\([A-Z_]+, "(\w+)", "\w+", "\w+", "(\w+)"/g)].map((m) => `${m[1]}.${m[2]}`));
  ok(places.size >= 10, `the places that are listed: ${[...places]}`);
  const found = new Set();
  for (const table of (await place.sql("select name from sqlite_master where type = 'table'")).split("\n"))
    for (const row of (await place.sql(`pragma table_info(${table})`)).split("\n")) {
      const column = row.split("|")[1];
      const n = await place.sql(`select count(*) from "${table}" where "${column}" glob '[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f].*' and length("${column}") > 60`);
      if (Number(n)) found.add(`${table}.${column}`);
    }
  for (const name of found) ok(places.has(name), `${name} holds sealed texts and is not listed`);
  for (const name of places) ok(found.has(name) || name === "oidc_flows.sealed", `nothing was sealed in ${name}`);
}, { ms: 90_000 });

test("a database that is not in UTF8 is refused", async (t) => {
  const url = process.env.LODGE_TEST_POSTGRES;
  const name = `latin_${process.pid}`;
  await psql(url, `create database ${name} encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0`);
  t.onEnd(() => psql(url, `drop database ${name}`));
  const folder = t.folder();
  const result = await t.run(["migrate", "--data", join(folder, "data"), "--store", url.replace(/\/\w+$/, `/${name}`)], { cwd: folder });
  equal(result.status, 1, "the exit status");
  match(result.stderr, /the database has the encoding LATIN1 and must have UTF8/, "what it says");
});
