// rekey.test.mjs - a new master key while the service runs: nothing that was sealed is lost.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { equal, match, ok, testBoth } from "./harness.mjs";

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
