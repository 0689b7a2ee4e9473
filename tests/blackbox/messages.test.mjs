// messages.test.mjs - the official package of Anthropic, unmodified, against /v1/messages: whole and streamed answers,
// tools, images, documents, thoughts, counting, models, errors as its own classes; and one conversation by chat
// completions, responses and messages to every kind of provider, which says the same and costs the same.
import { existsSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { equal, here, match, ok, shared, testBoth, until } from "./harness.mjs";

const home = join(here, "sdk/node_modules/@anthropic-ai/sdk");
const installed = existsSync(home);
if (!installed) console.log("note: the packages of tests/blackbox/sdk are not installed: the official client is not tried at /v1/messages");
const FLAGS = ["--no-access-log", "--allow-private-addresses"];

/** What every kind of provider says: it thinks, says two pieces, or calls a tool where it is offered one and was not answered. */
const USED = { read: 3, written: 12304, cached: 7, out: 550 };
const sse = (res, events) => {
  res.writeHead(200, { "Content-Type": "text/event-stream" });
  for (const [name, data] of events) res.write(`${name ? `event: ${name}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  res.end();
};
const json = (res, body, status = 200, headers = {}) => res.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));

function anthropicAnswer(res, asked, script) {
  const usage = { input_tokens: USED.read, cache_creation_input_tokens: USED.written, cache_read_input_tokens: USED.cached, output_tokens: USED.out };
  const calls = asked.tools?.some((t) => t.name === "add") && !JSON.stringify(asked.messages).includes("tool_result");
  const content = [
    ...(asked.thinking ? [{ type: "thinking", thinking: "hm", signature: "c2ln" }, { type: "redacted_thinking", data: "cmVk" }] : []),
    ...(script === "hosted" ? [{ type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
      { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [{ type: "web_search_result", url: "https://example.org", title: "T", encrypted_content: "e" }] },
      { type: "text", text: "cited", citations: [{ type: "web_search_result_location", url: "https://example.org", title: "T", encrypted_index: "i", cited_text: "c" }] }] : []),
    { type: "text", text: "one two" },
    ...(calls ? [{ type: "tool_use", id: "toolu_1", name: "add", input: { a: 1, b: 2 } }] : []),
  ];
  const stop = script === "stopped" ? "stop_sequence" : script === "paused" ? "pause_turn" : script === "refused" ? "refusal" : script === "short" ? "max_tokens" : calls ? "tool_use" : "end_turn";
  const stop_sequence = script === "stopped" ? "END" : null;
  const head = { id: "msg_up", type: "message", role: "assistant", model: "m" };
  if (!asked.stream) return json(res, { ...head, content, stop_reason: stop, stop_sequence, usage });
  const events = [["message_start", { type: "message_start", message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } } }]];
  content.forEach((block, index) => {
    const { text, thinking, signature, input, citations, ...rest } = block;
    const begin = { ...rest, ...(text !== undefined && { text: "" }), ...(thinking !== undefined && { thinking: "", signature: "" }), ...(input !== undefined && { input: {} }) };
    const more = (delta) => events.push(["content_block_delta", { type: "content_block_delta", index, delta }]);
    events.push(["content_block_start", { type: "content_block_start", index, content_block: begin }], ["ping", { type: "ping" }]);
    for (const word of text?.split(/(?<= )/) ?? []) more({ type: "text_delta", text: word });
    for (const citation of citations ?? []) more({ type: "citations_delta", citation });
    if (thinking) more({ type: "thinking_delta", thinking });
    if (signature) more({ type: "signature_delta", signature });
    if (input) for (const piece of JSON.stringify(input).match(/.{1,4}/g)) more({ type: "input_json_delta", partial_json: piece });
    events.push(["content_block_stop", { type: "content_block_stop", index }]);
  });
  events.push(["message_delta", { type: "message_delta", delta: { stop_reason: stop, stop_sequence }, usage }], ["message_stop", { type: "message_stop" }]);
  sse(res, events);
}

function chatAnswer(res, asked, script) {
  const usage = { prompt_tokens: USED.read + USED.written + USED.cached, completion_tokens: USED.out, prompt_tokens_details: { cached_tokens: USED.cached, cache_write_tokens: USED.written } };
  const calls = asked.tools && !asked.messages.some((m) => m.role === "tool");
  const tool_calls = calls ? [{ index: 0, id: "call_1", type: "function", function: { name: "add", arguments: '{"a":1,"b":2}' } }] : undefined;
  const finish_reason = script === "refused" ? "content_filter" : script === "short" ? "length" : calls ? "tool_calls" : "stop";
  const message = { role: "assistant", reasoning_content: "hm", content: "one two", tool_calls };
  if (!asked.stream) return json(res, { id: "x", object: "chat.completion", model: "m", choices: [{ index: 0, message, finish_reason }], usage });
  const piece = (delta, finish = null) => [null, { id: "x", model: "m", choices: [{ index: 0, delta, finish_reason: finish }] }];
  sse(res, [piece({ reasoning_content: "hm" }), piece({ content: "one" }), piece({ content: " two" }), ...(calls ? [piece({ tool_calls })] : []), piece({}, finish_reason),
    [null, { id: "x", choices: [], usage }], [null, "[DONE]"]]);
}

function responsesAnswer(res, asked) {
  const usage = { input_tokens: USED.read + USED.written + USED.cached, output_tokens: USED.out, input_tokens_details: { cached_tokens: USED.cached, cache_write_tokens: USED.written } };
  const calls = asked.tools && !asked.input.some((i) => i.type === "function_call_output");
  const output = [{ type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "ZW5j" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "one two" }] },
    ...(calls ? [{ type: "function_call", id: "fc_1", call_id: "call_1", name: "add", arguments: '{"a":1,"b":2}' }] : [])];
  const whole = { id: "resp_1", model: "m", status: "completed", output, usage };
  if (!asked.stream) return json(res, whole);
  sse(res, [["response.created", { type: "response.created", response: { id: "resp_1", model: "m", status: "in_progress", output: [] } }],
    ...output.map((item, output_index) => ["response.output_item.done", { type: "response.output_item.done", output_index, item }]),
    ["response.completed", { type: "response.completed", response: whole }]]);
}

async function provider(t) {
  const seen = {};
  const server = http.createServer(async (req, res) => {
    let body = "";
    for await (const piece of req) body += piece;
    const [, script, ...rest] = req.url.split("/");
    Object.assign(seen, { body: JSON.parse(body), headers: req.headers });
    if (script === "busy") return json(res, { type: "error", error: { type: "rate_limit_error", message: "slow down" } }, 429, { "retry-after": "7" });
    if (script === "down") return json(res, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, 529);
    if (script === "cut") {
      res.writeHead(200, { "Content-Type": "text/event-stream" });
      res.write('event: message_start\ndata: {"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}\n\n');
      res.write('event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n');
      res.write('event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"one"}}\n\n');
      return setTimeout(() => res.destroy(), 50);
    }
    const path = rest.join("/");
    if (path === "v1/messages") anthropicAnswer(res, seen.body, script);
    else if (path === "v1/responses") responsesAnswer(res, seen.body);
    else chatAnswer(res, seen.body, script);
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

const model = (lodge, slug, kind, base_url) =>
  made(lodge.request("POST", "/admin/models", { body: { name: slug, slug, kind, available_to_all_tenants: true, supports_tools: true, supports_vision: true,
    pricing: { prompt: "0.000003", completion: "0.000015", cache_read: "0.0000003", cache_write: "0.00000375" },
    config: { base_url, model: "m", api_key: "sk-upstream" } } }), "a model");

const KINDS = ["anthropic", "openai", "openai_responses"];
const lodges = Object.fromEntries(["sqlite", "postgres"].map((engine) => [engine, shared(async (t) => {
  const mock = await provider(t);
  const lodge = await t.serve(await t.place(engine), { flags: FLAGS });
  await lodge.enter();
  for (const kind of KINDS) await model(lodge, kind, kind, mock.url("ok"));
  for (const script of ["busy", "down", "cut", "stopped", "paused", "refused", "short", "hosted"]) await model(lodge, script, "anthropic", mock.url(script));
  const { id } = await made(lodge.request("POST", `/tenant/${lodge.tenant}/agents`, { body: { name: "A", slug: "counter", description_prompt: "You count." } }), "an agent");
  const chain = await made(lodge.request("GET", "/admin/models?per_page=100"), "models", 200);
  await made(lodge.request("PUT", `/agents/${id}/models`, { body: { model_ids: ["down", "anthropic"].map((slug) => chain.items.find((m) => m.slug === slug).id) } }), "its chain", 200);
  const { key } = await made(lodge.request("POST", `/tenant/${lodge.tenant}/api-keys`, { body: { name: "sdk" } }), "a key");
  const { default: Anthropic } = await import(pathToFileURL(join(home, "index.mjs")).href);
  return { mock, lodge, key, Anthropic, anthropic: new Anthropic({ apiKey: key, baseURL: lodge.origin, maxRetries: 0 }) };
})]));

const trial = (name, run) => installed && testBoth(name, (t, engine) => run(t, () => lodges[engine]()), { ms: 90_000 });
const messages = [{ role: "user", content: "count" }];
const tools = [{ name: "add", description: "Adds.", input_schema: { type: "object", properties: { a: { type: "number" } } } }];
const said = (message) => message.content.filter((b) => b.type === "text").map((b) => b.text).join("");
const cost = async (lodge) => {
  await until(5000, "all is settled", async () => (await lodge.place.sql("select count(*) from reservations")) === "0");
  return lodge.place.sql("select coalesce(sum(cost_pd), 0) from ledger");
};
const USAGE = { input_tokens: USED.read, cache_creation_input_tokens: USED.written, cache_read_input_tokens: USED.cached, output_tokens: USED.out };
const checkUsage = (usage, what) => { for (const [name, value] of Object.entries(USAGE)) equal(usage[name], value, `${name} of ${what}`); };

trial("the anthropic package gets whole and streamed answers of every kind of model, with exact usage", async (t, make) => {
  const { anthropic, lodge } = await make();
  for (const model of KINDS) {
    const before = Number(await cost(lodge));
    const whole = await anthropic.messages.create({ model, max_tokens: 2000, messages });
    equal(said(whole), "one two", `the text of ${model}`);
    equal(`${whole.type} ${whole.role} ${whole.model} ${whole.stop_reason} ${whole.stop_sequence}`, `message assistant ${model} end_turn null`, "the head");
    equal(whole.content.length, 1, "nothing that was not asked for");
    checkUsage(whole.usage, model);
    ok(whole._request_id, "the request's id");
    // 3 at 3 $, 12,304 at 3.75 $, 7 at 0.30 $, 550 at 15 $ a million: the invoice's 0.054399 $ and what was cached.
    equal(Number(await cost(lodge)) - before, 54_399_000_000 + 2_100_000, `what ${model} cost`);
    const stream = anthropic.messages.stream({ model, max_tokens: 2000, messages }), kinds = [];
    stream.on("streamEvent", (e) => kinds.push(e.type));
    const streamed = await stream.finalMessage();
    equal(said(streamed), "one two", `the streamed text of ${model}`);
    equal(streamed.stop_reason, "end_turn", "the reason");
    checkUsage(streamed.usage, `the stream of ${model}`);
    equal(kinds[0], "message_start", "the first event");
    equal(kinds.at(-1), "message_stop", "the last event");
    equal(Number(await cost(lodge)) - before, 2 * (54_399_000_000 + 2_100_000), `what the stream of ${model} cost`);
  }
});

trial("the anthropic package goes round with tools, by every kind of model", async (t, make) => {
  const { anthropic, mock } = await make();
  for (const model of [...KINDS, "demo"]) {
    const ask = { model, max_tokens: 2000, tools, messages: [{ role: "user", content: 'use tool add with {"a":1,"b":2}' }] };
    for (const first of [await anthropic.messages.create(ask), await anthropic.messages.stream(ask).finalMessage()]) {
      equal(first.stop_reason, "tool_use", `the reason of ${model}`);
      const call = first.content.find((b) => b.type === "tool_use");
      equal(JSON.stringify([call.name, call.input]), '["add",{"a":1,"b":2}]', "the call");
      const last = await anthropic.messages.create({ ...ask, messages: [...ask.messages, { role: "assistant", content: first.content },
        { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: [{ type: "text", text: "3" }], is_error: false }, { type: "text", text: "and now?" }] }] });
      equal(last.stop_reason, "end_turn", "the end");
      if (model === "openai") equal(JSON.stringify(mock.seen.body.messages.map((m) => m.role)), '["user","assistant","tool","user"]', "what it was sent");
    }
  }
  await anthropic.messages.create({ model: "openai", max_tokens: 9, tools, tool_choice: { type: "tool", name: "add", disable_parallel_tool_use: true }, messages });
  equal(JSON.stringify([mock.seen.body.tool_choice.function.name, mock.seen.body.parallel_tool_calls]), '["add",false]', "the choice");
});

trial("the tool runner of the anthropic package runs to its end", async (t, make) => {
  const { anthropic } = await make();
  if (!anthropic.beta.messages.toolRunner) return;
  for (const model of KINDS) {
    let ran = 0;
    const runner = anthropic.beta.messages.toolRunner({ model, max_tokens: 2000, messages,
      tools: [{ type: "custom", ...tools[0], run: (input) => (ran++, String(input.a + input.b)), parse: (x) => x }] });
    const last = await runner;
    equal(ran, 1, `runs with ${model}`);
    equal(said(last), "one two", "the last words");
  }
});

trial("an anthropic provider is sent what came, and gives back all that it says", async (t, make) => {
  const { anthropic, mock } = await make();
  const body = { model: "hosted", max_tokens: 3000, top_k: 7, temperature: 1, stop_sequences: ["END"], metadata: { user_id: "u" },
    system: [{ type: "text", text: "be brief", cache_control: { type: "ephemeral" } }], thinking: { type: "enabled", budget_tokens: 1024 },
    tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 2 }],
    messages: [{ role: "user", content: [{ type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERg==" }, title: "d", citations: { enabled: true } },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw==" } }, { type: "text", text: "what?", cache_control: { type: "ephemeral", ttl: "5m" } }] },
      { role: "system", content: "(a reminder)" }] };
  const { data, response } = await anthropic.messages.create(body, { headers: { "anthropic-beta": "a-2025-01-01,b-2025-01-01" } }).withResponse();
  equal(JSON.stringify(Object.entries(mock.seen.body).sort()), JSON.stringify(Object.entries({ ...body, model: "m" }).sort()), "what went out");
  equal(mock.seen.headers["anthropic-beta"], "a-2025-01-01,b-2025-01-01", "the betas");
  match(mock.seen.headers["anthropic-version"], /^20\d\d-/, "the version");
  equal(mock.seen.headers["x-api-key"], "sk-upstream", "the model's key");
  equal(response.headers.get("lodge-dropped"), null, "nothing is dropped");
  const streamed = await anthropic.messages.stream(body).finalMessage();
  for (const message of [data, streamed]) {
    equal(message.content.map((b) => b.type).join(), "thinking,redacted_thinking,server_tool_use,web_search_tool_result,text,text", "the blocks");
    equal(JSON.stringify([message.content[0].thinking, message.content[0].signature, message.content[1].data]), '["hm","c2ln","cmVk"]', "the thoughts");
    equal(JSON.stringify(message.content[3].content[0].url), '"https://example.org"', "the result");
    equal(message.content[4].citations[0].cited_text, "c", "the citation");
  }
  await anthropic.messages.create({ ...body, messages: [...body.messages, { role: "assistant", content: data.content }, { role: "user", content: "more" }] });
  equal(JSON.stringify(mock.seen.body.messages[2].content), JSON.stringify(data.content), "what was said goes back as it came");
});

trial("other providers are sent what both know, and the rest is named", async (t, make) => {
  const { anthropic, mock } = await make();
  const body = { max_tokens: 3000, top_k: 7, system: [{ type: "text", text: "be" }, { type: "text", text: "brief" }], thinking: { type: "enabled", budget_tokens: 5000 },
    tools: [...tools, { type: "web_search_20250305", name: "web_search" }], stop_sequences: ["END"],
    messages: [{ role: "user", content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw==" } }, { type: "document", source: { type: "text", media_type: "text/plain", data: "a page" } }] },
      { role: "assistant", content: [{ type: "thinking", thinking: "a", signature: "c2ln" }, { type: "tool_use", id: "toolu_9", name: "add", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_9", content: [{ type: "image", source: { type: "url", url: "https://example.org/i.png" } }] }] }, { role: "system", content: "mind" }] };
  const { data, response } = await anthropic.messages.create({ ...body, model: "openai" }).withResponse();
  equal(response.headers.get("lodge-dropped"), "top_k, web_search_20250305", "what is named");
  const sent = mock.seen.body;
  equal(JSON.stringify(sent.messages.map((m) => m.role)), '["system","user","assistant","tool","user","system"]', "the roles");
  equal(sent.messages[1].content[0].image_url.url, "data:image/png;base64,iVBORw==", "the image");
  equal(sent.messages[1].content[1].text, "a page", "the document");
  equal(sent.messages[4].content[0].image_url.url, "https://example.org/i.png", "the image of a tool");
  equal(JSON.stringify([sent.tools.length, sent.stop, sent.reasoning_effort]), '[1,["END"],"medium"]', "the others");
  equal(data.content[0].type, "thinking", "the thought");
  match(data.content[0].signature, /^lodge:openai:/, "whose it is");
  const { data: other } = await anthropic.messages.create({ ...body, model: "openai_responses" }).withResponse();
  equal(other.content[0].signature, "lodge:openai_responses:rs_1:ZW5j", "a thought that is sealed");
  const again = { ...body, messages: [...body.messages.slice(0, 1), { role: "assistant", content: other.content.filter((b) => b.type !== "tool_use") }, { role: "user", content: "more" }] };
  await anthropic.messages.create({ ...again, model: "openai_responses" });
  ok(mock.seen.body.input.some((i) => i.type === "reasoning" && i.id === "rs_1" && i.encrypted_content === "ZW5j"), "it goes back to its maker");
  await anthropic.messages.create({ ...again, model: "anthropic" });
  equal(JSON.stringify(mock.seen.body.messages[1].content), '[{"type":"text","text":"one two"}]', "and to nobody else");
});

trial("why an answer ended comes through, and a life in the cache has one price", async (t, make) => {
  const { anthropic, mock } = await make();
  for (const [model, reason, sequence] of [["stopped", "stop_sequence", "END"], ["paused", "pause_turn", null], ["refused", "refusal", null], ["short", "max_tokens", null]])
    for (const message of [await anthropic.messages.create({ model, max_tokens: 9, messages }), await anthropic.messages.stream({ model, max_tokens: 9, messages }).finalMessage()])
      equal(`${message.stop_reason} ${message.stop_sequence}`, `${reason} ${sequence}`, `the reason of ${model}`);
  const { response } = await anthropic.messages.create({ model: "anthropic", max_tokens: 9, system: [{ type: "text", text: "s", cache_control: { type: "ephemeral", ttl: "1h" } }], messages }).withResponse();
  equal(mock.seen.body.system[0].cache_control.ttl, "5m", "what went out");
  equal(response.headers.get("lodge-dropped"), "cache_control.ttl", "what is named");
});

trial("an agent answers with its own words before the caller's, and its next model takes over", async (t, make) => {
  const { anthropic, mock } = await make();
  for (const system of [undefined, "be brief", [{ type: "text", text: "be brief", cache_control: { type: "ephemeral" } }]]) {
    const message = await anthropic.messages.create({ model: "agent:counter", max_tokens: 2000, system, messages });
    equal(said(message), "one two", "the text");
    equal(message.model, "agent:counter", "the model");
    equal(JSON.stringify(mock.seen.body.system.map((b) => b.text)), system ? '["You count.","be brief"]' : '["You count."]', "the system");
    if (Array.isArray(system)) ok(mock.seen.body.system[1].cache_control, "what is to be cached");
  }
});

trial("the anthropic package counts tokens, and lists models", async (t, make) => {
  const { anthropic } = await make();
  const short = await anthropic.messages.countTokens({ model: "anthropic", messages });
  const long = await anthropic.messages.countTokens({ model: "anthropic", messages: [{ role: "user", content: "word ".repeat(1000) }] });
  ok(short.input_tokens > 0 && short.input_tokens < 50 && long.input_tokens > 900 && long.input_tokens < 2000, `${short.input_tokens} and ${long.input_tokens}`);
  const ids = [];
  for await (const { id, type } of anthropic.models.list({ limit: 3 })) ids.push(`${type} ${id}`);
  for (const id of ["agent:counter", "anthropic", "openai", "demo"]) {
    ok(ids.includes(`model ${id}`), `${id} is listed in ${ids}`);
    const one = await anthropic.models.retrieve(id);
    ok(one.id === id && one.display_name && !Number.isNaN(Date.parse(one.created_at)), `one is ${JSON.stringify(one)}`);
  }
  equal(new Set(ids).size, ids.length, "each once");
});

trial("the anthropic package sees errors as its own classes", async (t, make) => {
  const { anthropic, Anthropic, lodge, key } = await make();
  const fails = async (promise, kind, status, type) => {
    const err = await Promise.resolve(promise).then(() => null, (e) => e);
    ok(err instanceof Anthropic[kind], `${err} is no ${kind}`);
    equal(`${err.status} ${err.error?.type} ${err.error?.error?.type}`, `${status} error ${type}`, String(err));
    ok(err.requestID && err.error.request_id === err.requestID, "the request's id");
    return err;
  };
  const ask = (more, client = anthropic) => client.messages.create({ model: "anthropic", max_tokens: 9, messages, ...more });
  const limited = await fails(ask({ model: "busy" }), "RateLimitError", 429, "rate_limit_error");
  equal(limited.headers.get("retry-after"), "7", "how long to wait");
  await fails(ask({ model: "down" }), "InternalServerError", 502, "api_error");
  await fails(ask({ model: "nobody" }), "NotFoundError", 404, "not_found_error");
  match((await fails(ask({ max_tokens: undefined }), "BadRequestError", 400, "invalid_request_error")).message, /max_tokens: Field required/, "what is missing");
  match((await fails(ask({ messages: [{ role: "user", content: [{ type: "tool_result" }] }] }), "BadRequestError", 400, "invalid_request_error")).message, /messages\.0\.content\.0\.tool_use_id: Field required/, "where");
  await fails(ask({}, new Anthropic({ apiKey: "wrong", baseURL: lodge.origin, maxRetries: 0 })), "AuthenticationError", 401, "authentication_error");
  await fails(anthropic.models.retrieve("nobody"), "NotFoundError", 404, "not_found_error");
  await fails(anthropic.post("/v1/messages/batches", { body: {} }), "NotFoundError", 404, "not_found_error");
  equal(said(await ask({}, new Anthropic({ apiKey: null, authToken: key, baseURL: lodge.origin }))), "one two", "a key as a Bearer");
  let words = "", broken = null;
  try {
    for await (const e of anthropic.messages.stream({ model: "cut", max_tokens: 9, messages })) words += e.delta?.text ?? "";
  } catch (err) { broken = err; }
  equal(words, "one", "what was said");
  ok(broken instanceof Anthropic.APIError && broken.error.error.type === "api_error", `it ended with ${broken}`);
});

trial("one conversation says and costs the same by every protocol to every kind of provider", async (t, make) => {
  const { lodge, key } = await make();
  const post = async (path, body) => {
    const reply = await fetch(`${lodge.origin}${path}`, { method: "POST", headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }, body: JSON.stringify(body) });
    const text = await reply.text();
    equal(reply.status, 200, `${path} says ${text}`);
    return JSON.parse(text);
  };
  for (const model of KINDS) {
    const answers = [];
    for (const [path, body, read] of [
      ["/v1/chat/completions", { model, max_tokens: 2000, messages: [{ role: "system", content: "be brief" }, ...messages] }, (r) => r.choices[0].message.content],
      ["/v1/responses", { model, max_output_tokens: 2000, instructions: "be brief", input: "count" }, (r) => r.output.find((i) => i.type === "message").content[0].text],
      ["/v1/messages", { model, max_tokens: 2000, system: "be brief", messages }, said]]) {
      const before = Number(await cost(lodge));
      const text = read(await post(path, body));
      answers.push(`${text} for ${Number(await cost(lodge)) - before}`);
    }
    equal(new Set(answers).size, 1, `${model} by each: ${answers}`);
    equal(answers[0], "one two for 54401100000", `${model}`);
  }
});
