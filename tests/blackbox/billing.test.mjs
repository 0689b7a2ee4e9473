// billing.test.mjs - a tenant's own key at a provider under a new master key, and the check of the sums of
// costs.
import { equal, match, ok, testBoth } from "./harness.mjs";

testBoth("a provider key is sealed anew with the rest, and never printed", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place);
  const tenant = await server.enter();
  const path = `/tenant/${tenant}/provider-keys/openai`;
  equal((await server.request("PUT", path, { body: { api_key: "key-that-is-secret" } })).status, 201, "the first key");
  const before = await place.sql("select sealed from provider_keys");
  ok(!before.includes("secret"), "the key lies open in the store");
  const { stdout } = await t.on(place, ["rekey"], { ms: 60_000 });
  match(stdout, /3 secrets were sealed anew/, "rekey: the provider's key, that of the audit chain, and that of mail");
  ok((await place.sql("select sealed from provider_keys")) !== before, "the key is still under the old master key");
  const again = await server.request("PUT", path, { body: { api_key: "another-that-is-secret" } });
  equal(again.status, 200, again.text);
  ok(!again.text.includes("secret"), "the key was shown");
  equal((await server.request("DELETE", path)).status, 204, "its removal");
  ok(!(server.stdout + server.stderr).includes("that-is-secret"), "the key was logged");
});

testBoth("check names the first sum that differs from the ledger", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place);
  const tenant = await server.enter();
  equal((await t.on(place, ["check"])).status, 0, "check of an empty ledger");
  await place.sql(`insert into cost_days (tenant_id, day, agent_id, model_id, byok, shard, requests, input_tokens,
    cache_read_tokens, cache_write_tokens, output_tokens, cost_whole, cost_pd)
    values ('${tenant}', 20000, '', 'm', 0, 0, 3, 0, 0, 0, 0, 0, 0)`);
  const check = await t.on(place, ["check"]);
  equal(check.status, 1, "check's exit status");
  equal(check.stderr, `lodge: the sums of costs differ from the ledger: cost_days from 2024-10-04T00:00:00.000Z of tenant ${tenant}, model m: requests is 3 too high\n`, "check's line");
});
