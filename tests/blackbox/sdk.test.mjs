// sdk.test.mjs - the official clients of OpenAI and Anthropic against the broker's formats: they read
// what we write, and where both read a provider's reply, they find in it what we find.
import { existsSync } from "node:fs";
import http from "node:http";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { bin, command, equal, here, match, ok, test } from "./harness.mjs";

const home = join(here, "sdk/node_modules");
const installed = existsSync(join(home, "openai"));
if (!installed) console.log("note: the packages of tests/blackbox/sdk are not installed: the official clients are not tried");
const trial = (name, run) => installed && test(name, run);

const say = async (what, input) => {
  const env = { ...process.env, ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ""}:detect_leaks=0` };
  const { status, stdout, stderr } = await command(join(dirname(bin), "tests/broker-say"), [what], { input, env });
  equal(status, 0, `broker-say ${what} says ${stderr.slice(0, 2000)}`);
  return stdout;
};

const load = async (path) => (await import(pathToFileURL(join(home, path)).href)).default;

/** A server that gives each request what answer(body) says, in pieces of a few bytes. */
async function serve(t, answer) {
  const server = http.createServer(async (req, res) => {
    let body = "";
    for await (const piece of req) body += piece;
    const bytes = Buffer.from(await answer(body, req));
    const stream = !bytes.subarray(0, 1).equals(Buffer.from("{"));
    res.writeHead(bytes.subarray(0, 9).equals(Buffer.from('{"error":')) ? 400 : 200,
      { "Content-Type": stream ? "text/event-stream" : "application/json" });
    for (let at = 0; at < bytes.length; at += 37) res.write(bytes.subarray(at, at + 37));
    res.end();
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.onEnd(() => new Promise((done) => (server.closeAllConnections(), server.close(done))));
  return `http://127.0.0.1:${server.address().port}`;
}

const openai = async (t, answer) =>
  new (await load("openai/index.mjs"))({ apiKey: "k", baseURL: `${await serve(t, answer)}/v1`, maxRetries: 0 });

const tools = [{ type: "function", function: { name: "add", parameters: { type: "object" } } },
  { type: "function", function: { name: "now", parameters: { type: "object" } } }];
const ask = (content, more = {}) => ({ model: "demo", messages: [{ role: "user", content }], tools, ...more });

trial("the openai package reads a whole completion", async (t) => {
  const client = await openai(t, (body) => say("chat", body));
  const { choices, usage, object } = await client.chat.completions.create(ask("count to 5"));
  equal(object, "chat.completion", "object");
  equal(choices[0].message.content, "1 2 3 4 5", "the text");
  equal(choices[0].finish_reason, "stop", "finish_reason");
  equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens, "the sum of the tokens");
});

trial("the openai package reads a stream, with usage only where it asked", async (t) => {
  const client = await openai(t, (body) => say("chat", body));
  for (const include_usage of [true, false]) {
    const chunks = [];
    for await (const chunk of await client.chat.completions.create(ask('say "é\n你 😀"', { stream: true, stream_options: { include_usage } }))) chunks.push(chunk);
    equal(chunks[0].choices[0].delta.role, "assistant", "the role");
    match(chunks.map((c) => c.choices[0]?.delta.content ?? "").join(""), /You wrote 4 words: "say "é\n你 😀""$/, "the text");
    equal(chunks.filter((c) => c.usage).length, include_usage ? 1 : 0, "chunks with usage");
    equal(chunks.filter((c) => c.choices[0]?.finish_reason).length, 1, "chunks with a reason");
  }
});

trial("the openai package puts streamed tool calls together", async (t) => {
  const client = await openai(t, (body) => say("chat", body));
  const message = await client.chat.completions.stream(ask('use tool add with {"a": [1, "x"]} and use tool now')).finalMessage();
  equal(message.tool_calls.length, 2, "the calls");
  equal(message.tool_calls[0].function.name, "add", "the first name");
  equal(JSON.stringify(JSON.parse(message.tool_calls[0].function.arguments)), '{"a":[1,"x"]}', "its arguments");
  equal(message.tool_calls[1].function.arguments, "{}", "the arguments of the second");
});

trial("the openai package sees a broken stream as an error, never as an end", async (t) => {
  const client = await openai(t, (body) => say("cut", body));
  const stream = await client.chat.completions.create(ask("count to 50", { stream: true }));
  let text = "", fault = null;
  try {
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  } catch (err) {
    fault = err;
  }
  match(text, /^1 2 3/, "what came before");
  match(String(fault?.message ?? fault?.error?.message), /ended too early/, "the error");
});

trial("the openai package reads our refusals", async (t) => {
  const { BadRequestError } = await import(pathToFileURL(join(home, "openai/index.mjs")).href);
  const client = await openai(t, (body) => say("chat", body));
  const fault = await client.chat.completions.create({ model: "demo", messages: [{ role: "king", content: "x" }] }).catch((err) => err);
  ok(fault instanceof BadRequestError, `it is ${fault}`);
  equal(fault.param, "messages[0].role", "param");
  equal(fault.type, "invalid_request_error", "type");
});

// ---- the same bytes through their reader and through ours ----

const lines = async () => (await say("recordings")).trimEnd().split("\n").map((line) => JSON.parse(line));

/** Text, calls (with their arguments parsed) and finish reason, for comparing. */
const gist = (text, calls) => JSON.stringify([text ?? "", calls.map(([name, args]) => [name, typeof args === "string" ? JSON.parse(args || "{}") : args])]);
const ours = ({ whole }) => {
  const { message } = JSON.parse(whole).choices[0];
  return gist(message.content, (message.tool_calls ?? []).map((c) => [c.function.name, c.function.arguments]));
};

trial("every reply we pass on, the openai package reads as we mean it", async (t) => {
  for (const rec of await lines()) {
    const client = await openai(t, () => rec.streamed);
    const done = await client.chat.completions.stream({ ...ask("x"), stream: true }).finalMessage().catch((err) => err);
    if (!rec.good) {
      ok(done instanceof Error, `${rec.name}: it finished`);
      continue;
    }
    ok(!(done instanceof Error), `${rec.name}: ${done}`);
    equal(gist(done.content, (done.tool_calls ?? []).map((c) => [c.function.name, c.function.arguments])), ours(rec), rec.name);
  }
});

trial("the anthropic package reads Anthropic's recordings as we do", async (t) => {
  const Anthropic = await load("@anthropic-ai/sdk/index.mjs");
  const wanted = (await lines()).filter((r) => r.kind === "anthropic" && r.good);
  ok(wanted.length > 3, "there are no recordings");
  for (const rec of wanted) {
    const client = new Anthropic({ apiKey: "k", baseURL: await serve(t, () => rec.bytes), maxRetries: 0 });
    const body = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "x" }] };
    const done = rec.stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
    const text = done.content.filter((b) => b.type === "text").map((b) => b.text).join("");
    equal(gist(text, done.content.filter((b) => b.type === "tool_use").map((b) => [b.name, b.input])), ours(rec), rec.name);
    const { usage } = JSON.parse(rec.whole);
    equal(usage.completion_tokens, done.usage.output_tokens, `${rec.name}: the output`);
  }
});

trial("the openai package reads the recordings of responses as we do", async (t) => {
  const wanted = (await lines()).filter((r) => r.kind === "openai_responses" && r.good && !r.stream);
  ok(wanted.length > 0, "there are no recordings");
  for (const rec of wanted) {
    const client = await openai(t, () => rec.bytes);
    const done = await client.responses.create({ model: "m", input: "x" });
    equal(gist(done.output_text, done.output.filter((i) => i.type === "function_call").map((i) => [i.name, i.arguments])), ours(rec), rec.name);
    equal(JSON.parse(rec.whole).usage.prompt_tokens, done.usage.input_tokens, `${rec.name}: the input`);
  }
});
