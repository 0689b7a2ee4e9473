// gateway.test.mjs - the official openai package, unmodified, against the gateway: completions, streams, tools,
// models, errors as its own classes, failover; and two processes that share a budget.
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { equal, here, makeFolder, match, ok, pause, shared, test, testBoth, until } from "./harness.mjs";

const home = join(here, "sdk/node_modules/openai");
const installed = existsSync(home);
if (!installed) console.log("note: the packages of tests/blackbox/sdk are not installed: the official client is not tried at the gateway");
const FLAGS = ["--no-access-log", "--allow-private-addresses"];

/** A provider that answers "one two three" with 9 tokens read and 3 written, or fails as its path says. */
async function provider(t) {
  const seen = { asked: 0, open: 0, closed: 0 };
  const server = http.createServer(async (req, res) => {
    let body = "";
    for await (const piece of req) body += piece;
    const script = req.url.split("/")[1], { stream } = JSON.parse(body);
    seen.asked++;
    seen.body = body;
    seen.key = req.headers.authorization;
    if (script === "down") return res.writeHead(500).end("{}");
    if (script === "busy") return res.writeHead(429, { "Retry-After": "1" }).end("{}");
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
    if (!stream)
      return res.writeHead(200, { "Content-Type": "application/json" })
        .end(JSON.stringify({ id: "x", object: "chat.completion", model: "m", choices: [{ index: 0, message: { role: "assistant", content: "one two three" }, finish_reason: "stop" }], usage }));
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    const say = (delta, finish_reason = null) => res.write(`data: ${JSON.stringify({ id: "x", model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    seen.open++;
    res.on("close", () => (seen.closed++));
    for (const content of ["one", " two", " three"]) say({ content });
    if (script === "hang") return;
    if (script === "cut") return setTimeout(() => res.destroy(), 50);
    say({}, "stop");
    res.write(`data: ${JSON.stringify({ id: "x", choices: [], usage })}\n\n`);
    res.end("data: [DONE]\n\n");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.onEnd(() => new Promise((done) => (server.closeAllConnections(), server.close(done))));
  return { seen, url: (script) => `http://127.0.0.1:${server.address().port}/${script}/v1` };
}

async function made(promise, what, status = 201) {
  const reply = await promise;
  equal(reply.status, status, `${what} says ${reply.text}`);
  return reply.json;
}

const model = (lodge, slug, base_url, more = {}) =>
  made(lodge.request("POST", "/admin/models", { body: { name: slug, slug, kind: "openai", available_to_all_tenants: true, supports_tools: true,
    pricing: { prompt: "0.000001", completion: "0.000002" }, config: { base_url, model: "m", api_key: "sk-upstream" }, ...more } }), "a model");

async function agent(lodge, slug, ...models) {
  const { id } = await made(lodge.request("POST", `/tenant/${lodge.tenant}/agents`, { body: { name: slug, slug, description_prompt: "You count." } }), "an agent");
  await made(lodge.request("PUT", `/agents/${id}/models`, { body: { model_ids: models.map((m) => m.id) } }), "its chain", 200);
  return id;
}

async function client(lodge, more = {}) {
  const { default: OpenAI } = await import(pathToFileURL(join(home, "index.mjs")).href);
  const { key } = await made(lodge.request("POST", `/tenant/${lodge.tenant}/api-keys`, { body: { name: "sdk" } }), "a key");
  return { OpenAI, openai: new OpenAI({ apiKey: key, baseURL: `${lodge.origin}/v1`, maxRetries: 0, ...more }) };
}

const ledger = (lodge) => lodge.place.sql("select count(*) || ' ' || coalesce(sum(cost_pd), 0) from ledger");
const settled = (lodge, wanted) => until(5000, `the ledger as ${wanted}`, async () =>
  (await lodge.place.sql("select count(*) from reservations")) === "0" && (await ledger(lodge)) === wanted);

const lodges = Object.fromEntries(["sqlite", "postgres"].map((engine) => [engine, shared(async (t) => {
  const mock = await provider(t);
  const lodge = await t.serve(await t.place(engine), { flags: FLAGS });
  await lodge.enter();
  const good = await model(lodge, "good", mock.url("ok"));
  const down = await model(lodge, "down", mock.url("down"));
  const cut = await model(lodge, "cut", mock.url("cut"));
  const busy = await model(lodge, "busy", mock.url("busy"));
  const hang = await model(lodge, "hang", mock.url("hang"));
  await agent(lodge, "counter", down, good);
  await agent(lodge, "broken", cut, good);
  return { mock, lodge, busy, hang, ...(await client(lodge)) };
})]));

const trial = (name, run) => installed && testBoth(name, (t, engine) => run(t, () => lodges[engine]()), { ms: 60_000 });
const messages = [{ role: "user", content: "count" }];

trial("the openai package gets a completion of an agent, whose next model takes over", async (t, make) => {
  const { lodge, mock, openai } = await make();
  const before = (await ledger(lodge)).split(" ").map(Number);
  const { choices, usage, model } = await openai.chat.completions.create({ model: "agent:counter", messages });
  equal(choices[0].message.content, "one two three", "the text");
  equal(model, "agent:counter", "the model");
  equal(usage.total_tokens, 12, "usage");
  match(mock.seen.body, /"role":"system","content":"You count\."/, "the agent's words");
  equal(mock.seen.key, "Bearer sk-upstream", "the model's key");
  await settled(lodge, `${before[0] + 1} ${before[1] + 15_000_000}`);
});

trial("the openai package reads a stream, with usage where it asked", async (t, make) => {
  const { openai } = await make();
  for (const include_usage of [true, false]) {
    const chunks = [];
    for await (const chunk of await openai.chat.completions.create({ model: "good", messages, stream: true, stream_options: { include_usage } })) chunks.push(chunk);
    equal(chunks.map((c) => c.choices[0]?.delta.content ?? "").join(""), "one two three", "the text");
    equal(chunks.filter((c) => c.usage).length, include_usage ? 1 : 0, "chunks with usage");
    equal(chunks.find((c) => c.choices[0]?.finish_reason)?.choices[0].finish_reason, "stop", "the reason");
  }
});

trial("the openai package calls tools through the model inside the program", async (t, make) => {
  const { openai } = await make();
  const tools = [{ type: "function", function: { name: "add", parameters: { type: "object" } } }];
  const ask = { model: "demo", tools, messages: [{ role: "user", content: 'use tool add with {"a":1}' }] };
  const whole = await openai.chat.completions.create(ask);
  equal(whole.choices[0].finish_reason, "tool_calls", "the reason");
  equal(whole.choices[0].message.tool_calls[0].function.arguments, '{"a":1}', "the arguments");
  const streamed = await openai.chat.completions.stream(ask).finalMessage();
  equal(streamed.tool_calls[0].function.name, "add", "the name");
  const answered = await openai.chat.completions.create({ ...ask, messages: [...ask.messages, whole.choices[0].message,
    { role: "tool", tool_call_id: whole.choices[0].message.tool_calls[0].id, content: "2" }] });
  match(answered.choices[0].message.content, /The tool add answered: 2/, "the answer");
});

trial("the openai package lists models and reads one", async (t, make) => {
  const { openai } = await make();
  const ids = [];
  for await (const { id } of openai.models.list()) ids.push(id);
  for (const id of ["agent:counter", "agent:broken", "good", "demo"]) {
    ok(ids.includes(id), `${id} is listed in ${ids}`);
    equal((await openai.models.retrieve(id)).id, id, "the one");
  }
});

trial("the openai package sees errors as its own classes", async (t, make) => {
  const { openai, OpenAI, lodge } = await make();
  const fails = async (promise, kind, code) => {
    const err = await promise.then(() => null, (e) => e);
    ok(err instanceof kind, `${err?.constructor.name}: ${err?.message}`);
    if (code) equal(err.code, code, err.message);
    ok(!/sk-/.test(JSON.stringify(err.error ?? "")), "no key in an error");
    return err;
  };
  const { completions } = openai.chat;
  await fails(completions.create({ model: "nothing/here", messages }), OpenAI.NotFoundError, "model_not_found");
  await fails(completions.create({ model: "good", messages: 7 }), OpenAI.BadRequestError);
  await fails(completions.create({ model: "down", messages }), OpenAI.InternalServerError, "server");
  const busy = await fails(completions.create({ model: "busy", messages }), OpenAI.RateLimitError, "rate_limited");
  equal(busy.headers.get("retry-after"), "1", "Retry-After");
  ok(busy.requestID, "x-request-id");
  const stranger = new OpenAI({ apiKey: "lodge_key_nonsense", baseURL: `${lodge.origin}/v1`, maxRetries: 0 });
  await fails(stranger.models.list(), OpenAI.AuthenticationError);
});

trial("the openai package sees a stream that breaks off as an error", async (t, make) => {
  const { openai, OpenAI } = await make();
  let text = "", fault = null;
  try {
    for await (const chunk of await openai.chat.completions.create({ model: "agent:broken", messages, stream: true })) text += chunk.choices[0]?.delta.content ?? "";
  } catch (err) {
    fault = err;
  }
  equal(text, "one two three", "what came before");
  ok(fault instanceof OpenAI.APIError, `the end: ${fault}`);
});

trial("a caller who goes away has the call cancelled and settled", async (t, make) => {
  const { openai, lodge, mock } = await make();
  const stream = await openai.chat.completions.create({ model: "hang", messages, stream: true });
  const { closed } = mock.seen;
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content === " three") break;
  await until(15_000, "the provider's connection closed", () => mock.seen.closed > closed);
  await until(5000, "the settlement", async () =>
    (await lodge.place.sql("select count(*) from reservations")) === "0" && Number(await lodge.place.sql("select count(*) from ledger where outcome = 'cancelled' and estimated = 1")) >= 1);
});

installed && testBoth("a stop cancels and settles what is under way", async (t, engine) => {
  const mock = await provider(t);
  const lodge = await t.serve(await t.place(engine), { flags: [...FLAGS, "--stop-grace", "300ms"] });
  await lodge.enter();
  await model(lodge, "hang", mock.url("hang"));
  const { openai } = await client(lodge);
  const stream = await openai.chat.completions.create({ model: "hang", messages, stream: true });
  const read = (async () => { for await (const _ of stream); })().then(() => "an end", (err) => `an error: ${err.message}`);
  await until(5000, "the call", () => mock.seen.open === 1);
  equal(await lodge.stop(), 0, "the exit");
  match(await read, /an error/, "what the caller saw");
  equal(await lodge.place.sql("select (select count(*) from reservations) || ' ' || (select count(*) from ledger where outcome = 'cancelled')"), "0 1", "reservations and entries");
});

installed && test("two processes on PostgreSQL share a budget", async (t) => {
  const mock = await provider(t);
  const place = await t.place("postgres");
  const key = `${randomBytes(32).toString("hex")}\n`;
  const places = [0, 1].map(() => {
    const folder = t.folder(), data = join(folder, "data");
    makeFolder(data, 0o700);
    writeFileSync(join(data, "master.key"), key, { mode: 0o600 });
    return { ...place, folder, data };
  });
  const [a, b] = [await t.serve(places[0], { flags: FLAGS }), await t.serve(places[1], { flags: FLAGS })];
  await a.enter();
  const id = await agent(a, "counter", await model(a, "good", mock.url("ok")));
  await made(a.request("PUT", `/tenant/${a.tenant}/agents/${id}/budget`, { body: { hourly_limit_usd: 0.0003 } }), "a budget", 200);
  const { openai, OpenAI } = await client(a);
  const other = new OpenAI({ apiKey: openai.apiKey, baseURL: `${b.origin}/v1`, maxRetries: 0 });
  const calls = Array.from({ length: 64 }, (_, i) =>
    (i % 2 ? openai : other).chat.completions.create({ model: id, messages: [{ role: "user", content: "count, and count again until you are there" }], max_tokens: 3 }).then(() => 200, (err) => err));
  const outcomes = await Promise.all(calls);
  const answered = outcomes.filter((o) => o === 200).length;
  const refused = outcomes.filter((o) => o instanceof OpenAI.RateLimitError && o.code === "budget_exhausted").length;
  equal(answered + refused, 64, `every call is answered or refused: ${outcomes.filter((o) => o !== 200 && !(o instanceof OpenAI.RateLimitError))}`);
  ok(answered >= 4 && answered <= 20, `${answered} calls of 15 millionths, each booked with some 45, within 300`);
  await settled(a, `${answered} ${answered * 15_000_000}`);
  await pause(0);
}, { ms: 120_000 });
