// voice.test.mjs - the official openai package, unmodified, for embeddings, speech and transcriptions; a message
// read aloud; what each costs; and a caller who goes in the middle.
import { existsSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { equal, here, match, ok, shared, testBoth, until } from "./harness.mjs";

const home = join(here, "sdk/node_modules/openai");
const installed = existsSync(home);
if (!installed) console.log("note: the packages of tests/blackbox/sdk are not installed: the official client is not tried for speech");
const FLAGS = ["--no-access-log", "--allow-private-addresses"];
const SOUND = Buffer.alloc(300_000, "sound");
const HEARD = "Good morning.";

/** A provider of all three; under /endless its sound does not end, under /cut it breaks off. */
async function provider(t) {
  const seen = { asked: 0, closed: 0 };
  const server = http.createServer(async (req, res) => {
    const pieces = [];
    for await (const piece of req) pieces.push(piece);
    seen.asked++;
    seen.body = Buffer.concat(pieces).toString("latin1");
    res.on("close", () => (seen.closed += !res.writableFinished));
    const json = (value) => res.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(value));
    const events = (list) => res.writeHead(200, { "Content-Type": "text/event-stream" }).end(list.map((e) => `data: ${JSON.stringify(e)}\n\n`).join(""));
    const [, script, , ...rest] = req.url.split("/"), path = rest.join("/");
    if (path === "embeddings") {
      const { input, encoding_format } = JSON.parse(seen.body), list = Array.isArray(input) && typeof input[0] !== "number" ? input : [input];
      const vector = new Float32Array([0.5, -0.25]);
      const embedding = encoding_format === "base64" ? Buffer.from(vector.buffer).toString("base64") : [...vector];
      return json({ object: "list", model: "m", data: list.map((_, index) => ({ object: "embedding", index, embedding })), usage: { prompt_tokens: 7, total_tokens: 7 } });
    }
    if (path === "audio/speech") {
      if (JSON.parse(seen.body).stream_format === "sse")
        return events([{ type: "speech.audio.delta", audio: "SUQz" }, { type: "speech.audio.done", usage: { input_tokens: 3, output_tokens: 20, total_tokens: 23 } }]);
      res.writeHead(200, { "Content-Type": "audio/mpeg" });
      if (script === "cut") return res.write(SOUND, () => res.destroy());
      if (script !== "endless") return res.end(SOUND);
      const more = () => { while (!res.destroyed && res.write(SOUND)); };
      res.on("drain", more);
      return more();
    }
    if (/\r\n\r\ntrue\r\n/.test(seen.body))
      return events([{ type: "transcript.text.delta", delta: "Good " }, { type: "transcript.text.done", text: HEARD, usage: { type: "tokens", input_tokens: 14, output_tokens: 45, total_tokens: 59 } }]);
    if (/\r\n\r\nvtt\r\n/.test(seen.body))
      return res.writeHead(200, { "Content-Type": "text/plain" }).end(`WEBVTT\n\n00:00.000 --> 00:12.500\n${HEARD}\n`);
    json({ text: HEARD, usage: { type: "duration", seconds: 13 } });
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

const model = (lodge, slug, base_url, endpoints, pricing) =>
  made(lodge.request("POST", "/admin/models", { body: { name: slug, slug, kind: "openai", available_to_all_tenants: true, pricing,
    config: { base_url, model: "m", api_key: "sk-upstream", endpoints } } }), "a model");

const sum = async (lodge) => Number(await lodge.place.sql("select coalesce(sum(cost_pd), 0) from ledger"));
const costs = async (lodge, pd, run) => {
  const before = await sum(lodge), result = await run();
  await until(10_000, `a cost of ${pd} pd`, async () =>
    (await lodge.place.sql("select count(*) from reservations")) === "0" && (await sum(lodge)) === before + pd);
  return result;
};

const lodges = Object.fromEntries(["sqlite", "postgres"].map((engine) => [engine, shared(async (t) => {
  const mock = await provider(t);
  const lodge = await t.serve(await t.place(engine), { flags: FLAGS });
  await lodge.enter();
  await made(lodge.request("PATCH", `/admin/tenants/${lodge.tenant}`, { body: { voicebox_enabled: true } }), "the tenant", 200);
  await model(lodge, "vectors", mock.url("ok"), ["embeddings"], { prompt: "0.00000002" });
  const speaker = await model(lodge, "speaker", mock.url("ok"), ["speech"], { character: "0.000015" });
  await model(lodge, "writer", mock.url("ok"), ["transcriptions"], { second: "0.0001" });
  await model(lodge, "tokens", mock.url("ok"), ["speech", "transcriptions"], { prompt: "0.0000025", completion: "0.00001" });
  await model(lodge, "endless", mock.url("endless"), ["speech"], { character: "0.000015" });
  await model(lodge, "cut", mock.url("cut"), ["speech"], { character: "0.000015" });
  const demo = (await made(lodge.request("GET", "/admin/models"), "models", 200)).items.find((m) => m.slug === "demo");
  const { id } = await made(lodge.request("POST", `/tenant/${lodge.tenant}/agents`, { body: { name: "talker", slug: "talker", voice: "coral" } }), "an agent");
  await made(lodge.request("PUT", `/agents/${id}/models`, { body: { model_ids: [demo.id, speaker.id] } }), "its chain", 200);
  const { default: OpenAI, toFile } = await import(pathToFileURL(join(home, "index.mjs")).href);
  const { key } = await made(lodge.request("POST", `/tenant/${lodge.tenant}/api-keys`, { body: { name: "sdk" } }), "a key");
  return { mock, lodge, agent: id, OpenAI, toFile, openai: new OpenAI({ apiKey: key, baseURL: `${lodge.origin}/v1`, maxRetries: 0 }) };
})]));

const trial = (name, run) => installed && testBoth(name, (t, engine) => run(t, () => lodges[engine]()), { ms: 90_000 });

trial("the openai package gets vectors, as numbers and as it likes them best", async (t, make) => {
  const { lodge, mock, openai } = await make();
  const { data, usage, model } = await costs(lodge, 140_000, () => openai.embeddings.create({ model: "vectors", input: ["a", "b"] }));
  equal(data[1].embedding.join(), "0.5,-0.25", "the second vector");
  match(mock.seen.body, /"encoding_format":"base64"/, "the package asks for base64, and decodes it");
  equal(usage.total_tokens, 7, "usage");
  equal(model, "vectors", "the model");
  const plain = await costs(lodge, 140_000, () => openai.embeddings.create({ model: "vectors", input: [1, 2, 3], encoding_format: "float", dimensions: 2 }));
  equal(plain.data[0].embedding.join(), "0.5,-0.25", "the vector of tokens");
});

trial("the openai package has a text spoken, by a model and by an agent in its voice", async (t, make) => {
  const { lodge, mock, openai } = await make();
  const reply = await costs(lodge, 6 * 15_000_000, () => openai.audio.speech.create({ model: "speaker", voice: "alloy", input: "Grüße!", response_format: "mp3" }));
  equal(reply.headers.get("content-type"), "audio/mpeg", "the type");
  ok(Buffer.from(await reply.arrayBuffer()).equals(SOUND), "the sound is what the provider sent");
  await costs(lodge, 2 * 15_000_000, () => openai.audio.speech.create({ model: "agent:talker", input: "hi" }).then((r) => r.arrayBuffer()));
  match(mock.seen.body, /"voice":"coral"/, "the agent's voice");
  const events = await costs(lodge, 3 * 2_500_000 + 20 * 10_000_000, async () =>
    (await openai.audio.speech.create({ model: "tokens", voice: "alloy", input: "hi", stream_format: "sse" })).text());
  match(events, /"type":"speech.audio.done"/, "the last event");
});

trial("the openai package has sound written down in each form", async (t, make) => {
  const { lodge, openai, toFile } = await make();
  const file = () => toFile(Buffer.alloc(70_000, 7), "a.mp3", { type: "audio/mpeg" });
  const ask = async (more) => openai.audio.transcriptions.create({ model: "writer", file: await file(), ...more });
  equal((await costs(lodge, 13 * 100_000_000, () => ask({}))).text, HEARD, "json");
  equal(await costs(lodge, 13 * 100_000_000, () => ask({ response_format: "text" })), `${HEARD}\n`, "text");
  match(await costs(lodge, 13 * 100_000_000, () => ask({ response_format: "vtt" })), /^WEBVTT/, "vtt");
  const types = [];
  await costs(lodge, 14 * 2_500_000 + 45 * 10_000_000, async () => {
    for await (const event of await openai.audio.transcriptions.create({ model: "tokens", file: await file(), stream: true })) types.push(event.type);
  });
  equal(types.join(), "transcript.text.delta,transcript.text.done", "the events");
});

trial("what a model does not do is refused in the package's own classes", async (t, make) => {
  const { OpenAI, openai, mock } = await make();
  const { asked } = mock.seen;
  const refused = async (promise) => promise.then(() => ok(false, "it was not refused"), (error) => error);
  const wrong = await refused(openai.embeddings.create({ model: "speaker", input: "a" }));
  ok(wrong instanceof OpenAI.BadRequestError && wrong.param === "model", `the model: ${wrong}`);
  match(wrong.message, /embeddings in its config\.endpoints/, "the sentence");
  const chat = await refused(openai.chat.completions.create({ model: "vectors", messages: [{ role: "user", content: "a" }] }));
  ok(chat instanceof OpenAI.BadRequestError, `a chat: ${chat}`);
  const missing = await refused(openai.audio.speech.create({ model: "nobody", voice: "alloy", input: "a" }));
  ok(missing instanceof OpenAI.NotFoundError, `nobody: ${missing}`);
  equal(mock.seen.asked, asked, "calls of the provider");
});

trial("sound that breaks off breaks off, and who goes ends the call", async (t, make) => {
  const { lodge, mock, openai } = await make();
  const broken = await openai.audio.speech.create({ model: "cut", voice: "alloy", input: "abc" });
  await broken.arrayBuffer().then(() => ok(false, "what is cut looks whole"), () => {});
  const { closed } = mock.seen, before = await sum(lodge), aside = new AbortController();
  const endless = await openai.audio.speech.create({ model: "endless", voice: "alloy", input: "abc" }, { signal: aside.signal });
  const reader = endless.body.getReader();
  ok((await reader.read()).value.length > 0, "the first of it came");
  aside.abort();
  await until(20_000, "the provider's connection closed", () => mock.seen.closed > closed);
  await until(20_000, "its characters entered", async () => (await sum(lodge)) >= before + 3 * 15_000_000);
});

trial("a message is read aloud in the agent's voice, where the tenant has speech", async (t, make) => {
  const { lodge, mock, agent } = await make();
  const session = await made(lodge.request("POST", `/agents/${agent}/sessions`, { body: {} }), "a session");
  const path = `/tenant/${lodge.tenant}/sessions/${session.id}/messages`;
  await made(lodge.request("POST", path, { body: { content: "count to 3" } }), "a message", 202);
  let said;
  await until(20_000, "an answer", async () =>
    (said = (await lodge.request("GET", path)).json.items.find((m) => m.role === "assistant" && m.status === "complete")));
  const reply = await costs(lodge, said.content.length * 15_000_000, () => lodge.request("GET", `${path}/${said.id}/speech`));
  equal(reply.status, 200, "the status");
  match(mock.seen.body, /"voice":"coral"/, "the agent's voice");
  await made(lodge.request("PATCH", `/admin/tenants/${lodge.tenant}`, { body: { voicebox_enabled: false } }), "the tenant", 200);
  const closed = await lodge.request("GET", `${path}/${said.id}/speech`);
  equal(closed.status, 403, `without speech it says ${closed.text}`);
  match(closed.text, /voicebox_enabled/, "the sentence");
  await made(lodge.request("PATCH", `/admin/tenants/${lodge.tenant}`, { body: { voicebox_enabled: true } }), "the tenant", 200);
});
