// models.test.mjs - `lodge models import` beside a serving process, and the keys it seals under a new
// master key.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { equal, match, ok, testBoth } from "./harness.mjs";

const prices = {
  sample_spec: { mode: "one of: chat, embedding" },
  "claude-x": {
    litellm_provider: "anthropic", mode: "chat", max_input_tokens: 200000, input_cost_per_token: 3e-6,
    output_cost_per_token: 1.5e-5, supports_function_calling: true,
  },
  "azure/x": { litellm_provider: "azure", mode: "chat" },
};
const own = [
  {
    name: "Own", slug: "own", kind: "openai",
    config: { base_url: "https://own.example.org/v1", model: "m", api_key: "key-that-is-secret" },
  },
  { name: "Bad", slug: "bad", kind: "openai", pricing: { prompt: 1 } },
];

testBoth("models are imported beside a serving process, and their keys outlive a new master key", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place);
  await server.login();
  const list = join(place.data, "list.json");
  const load = (what) => {
    writeFileSync(list, typeof what === "string" ? what : JSON.stringify(what));
    return t.on(place, ["models", "import", list]);
  };
  const first = await load(prices);
  equal(first.status, 0, `the exit status, with ${first.stderr}`);
  match(first.stdout, /^made claude-x: anthropic, disabled until it has a key\n1 made, 0 changed, [^\n]*\n$/, "what it says");
  match((await load(prices)).stdout, /^0 made, 0 changed, 1 as they were/, "the second time");
  const second = await load(own);
  equal(second.status, 1, "the exit status with an entry refused");
  match(second.stdout, /^made own: openai, active\nrefused bad: pricing\.prompt must be a decimal string/, "what it says");
  match(second.stderr, /^lodge: 1 of the entries were refused\n$/, "the line");
  ok(!second.stdout.includes("secret"), "the key was printed");
  const { json } = await server.request("GET", "/admin/models");
  const one = Object.fromEntries(json.items.map((m) => [m.slug, m]));
  equal(one["claude-x"].pricing.prompt, "0.000003", "the price");
  equal(one.own.config.api_key_set, true, "api_key_set");
  const { stdout } = await t.on(place, ["rekey"], { ms: 60_000 });
  match(stdout, /3 secrets were sealed anew/, "rekey: the model's key, that of the audit chain, and that of mail");
  const changed = await server.request("PATCH", `/admin/models/${one.own.id}`, {
    body: { config: { base_url: "https://two.example.org", model: "m", headers: { "X-A": "b" } } },
  });
  equal(changed.status, 200, changed.text);
  equal(changed.json.config.api_key_set, true, "the key after the new master key");
  const audit = await server.request("GET", "/admin/audit-logs");
  equal(audit.json.items.filter((row) => row.action === "model.import").length, 2, "rows of the audit log");
});

testBoth("a list that cannot be read changes nothing and is told in one line", async (t, engine) => {
  const place = await t.place(engine);
  await t.serve(place);
  const list = join(place.data, "list.json");
  for (const [text, says] of [["{", /at byte 1/], ["7", /neither an array/], ["", /not JSON/]]) {
    writeFileSync(list, text);
    const result = await t.on(place, ["models", "import", list]);
    equal(result.status, 1, "the exit status");
    match(result.stderr, /^lodge: the list is [^\n]+\n$/, "the line");
    match(result.stderr, says, "the line");
  }
  const none = await t.on(place, ["models", "import", join(place.data, "none.json")]);
  equal(none.status, 1, "the exit status");
  match(none.stderr, /^lodge: cannot read [^\n]+\n$/, "the line");
});
