// rekey.test.mjs - a new master key while the service runs: nothing that was sealed is lost.
import { spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { bin, equal, match, ok, pause, test, testBoth } from "./harness.mjs";

testBoth("a new master key while serving: kept replies open before, during and behind it", async (t, engine) => {
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

test("a new master key: interrupted again and again, it never loses the key of the store", async (t) => {
  const place = await t.place("sqlite");
  const server = await t.serve(place);
  const { json } = await server.login();
  const at = `/tenant/${json.user.memberships[0].tenant_id}`;
  const scanner = { provider: "sonar", base_url: "https://scanner.example.org", organization: "o" };
  equal((await server.request("PUT", `${at}/scanner`, { body: { ...scanner, token: "s3cret" } })).status, 201, "binding a scanner");
  const file = join(place.data, "master.key");
  const first = readFileSync(file, "utf8").trim();
  for (let n = 0; n < 6; n += 1) {
    const before = statSync(file).ino;
    const child = spawn(bin, ["rekey", "--data", place.data, "--store", place.store], { cwd: place.folder, stdio: "ignore" });
    const ended = new Promise((done) => child.on("exit", done));
    while (child.exitCode === null && statSync(file).ino === before) await pause(5);
    child.kill("SIGKILL");
    await ended;
    ok(readFileSync(file, "utf8").includes(first), `the key of the store is gone behind ${n + 1} runs`);
  }
  const result = await t.on(place, ["rekey"], { ms: 60_000 });
  equal(result.status, 0, `the exit status, with ${result.stderr}`);
  ok(!/could not be opened/.test(result.stdout), result.stdout);
  match(readFileSync(file, "utf8"), /^[0-9a-f]{64}\n$/, "the key file");
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
