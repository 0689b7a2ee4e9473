// members.test.mjs - nothing vanishes silently: every member of the requests that the openai package knows, by its own
// type files, reaches a provider of each kind, or is refused, or is named in a header, for a reason that stands here.
import { existsSync, readFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { equal, here, ok, shared, test } from "./harness.mjs";

const types = join(here, "sdk/node_modules/openai/resources");
const installed = existsSync(types);
if (!installed) console.log("note: the packages of tests/blackbox/sdk are not installed: the members of requests are not walked");
const trial = (name, run) => installed && test(name, run);

const WHOLE = {
  openai: () => ({ id: "x", model: "m", choices: [{ index: 0, message: { role: "assistant", content: "yes" }, finish_reason: "stop" }], usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } }),
  openai_responses: () => ({ id: "x", model: "m", status: "completed", output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "yes", annotations: [] }] }], usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 } }),
  anthropic: () => ({ id: "x", type: "message", role: "assistant", model: "m", content: [{ type: "text", text: "yes" }], stop_reason: "end_turn", usage: { input_tokens: 3, output_tokens: 1 } }),
};
const KINDS = Object.keys(WHOLE);

/** A provider of every kind; the first segment of the path says which.  It keeps what it was sent last. */
const stage = shared(async (t) => {
  const seen = { body: null, reply: null };
  const upstream = http.createServer(async (req, res) => {
    let body = "";
    for await (const piece of req) body += piece;
    seen.body = body;
    if (JSON.parse(body).stream) {
      res.writeHead(200, { "Content-Type": "text/event-stream" });
      for (const { delta, finish_reason = null } of seen.stream ?? [{ delta: { content: "yes" } }, { delta: {}, finish_reason: "stop" }])
        res.write(`data: ${JSON.stringify({ id: "x", model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
      return res.end("data: [DONE]\n\n");
    }
    res.writeHead(200, { "Content-Type": "application/json" });
    res.end(JSON.stringify(seen.reply ?? WHOLE[req.url.split("/")[1]]()));
  });
  await new Promise((done) => upstream.listen(0, "127.0.0.1", done));
  t.onEnd(() => new Promise((done) => (upstream.closeAllConnections(), upstream.close(done))));
  const lodge = await t.serve(await t.place("sqlite"), { flags: ["--no-access-log", "--allow-private-addresses"] });
  await lodge.enter();
  for (const kind of KINDS) {
    const made = await lodge.request("POST", "/admin/models", { body: { name: kind, slug: kind.replaceAll("_", "-"), kind, available_to_all_tenants: true, supports_tools: true, supports_vision: true, is_free: true,
      config: { base_url: `http://127.0.0.1:${upstream.address().port}/${kind}/v1`, model: "m", api_key: "k" } } });
    equal(made.status, 201, `the model ${kind} says ${made.text}`);
  }
  return { lodge, seen };
});

/** The members of an interface of the package. */
function membersOf(file, name) {
  const text = readFileSync(join(types, file), "utf8");
  const body = text.slice(text.indexOf(`export interface ${name} {`)).split("\n}")[0];
  return [...body.matchAll(/^ {4}(\w+)\??:/gm)].map((m) => m[1]);
}

const fn = { name: "add", description: "Adds numbers.", parameters: { type: "object", properties: { a: { type: "number" } }, required: ["a"], additionalProperties: false }, strict: true };
const schema = { type: "object", properties: { marked_member: { type: "string" } }, required: ["marked_member"], additionalProperties: false };
const OURS = "Lodge does it itself";
const PRICE = "it has a price that is not the model's";
const ELSEWHERE = "what lies at a provider cannot be reckoned";

/** value; sign: what is looked for in the body that the provider gets (the value without it); fate: what becomes of it
 *  where it does not reach one: "refused", "dropped" (Lodge-Dropped), "left" (a tool, named there too) or a reason. */
const CHAT = {
  messages: { value: [{ role: "user", content: "marked words" }], sign: "marked words" },
  model: { ours: OURS }, stream: { ours: OURS }, stream_options: { ours: OURS },
  audio: { value: { format: "wav", voice: "alloy" }, fate: "refused", why: PRICE },
  frequency_penalty: { value: 0.515, fate: "dropped" },
  function_call: { value: "none", fate: "dropped" },
  functions: { value: [{ name: "marked_function" }], fate: "dropped" },
  logit_bias: { value: { 515: 1 }, fate: "dropped" },
  logprobs: { value: true, fate: "dropped" },
  max_completion_tokens: { value: 515, sign: ":515" },
  max_tokens: { value: 515, sign: ":515" },
  metadata: { value: { marked: "pair" }, fate: "dropped" },
  modalities: { value: ["text", "audio"], fate: "refused", why: PRICE },
  moderation: { value: { marked: true }, fate: "dropped" },
  n: { value: 2, fate: "refused", why: PRICE },
  parallel_tool_calls: { value: false, with: { tools: [{ type: "function", function: fn }] }, sign: /"parallel_tool_calls":false|"disable_parallel_tool_use":true/ },
  prediction: { value: { type: "content", content: "x" }, everywhere: "dropped", why: PRICE },
  presence_penalty: { value: 0.515, fate: "dropped" },
  prompt_cache_key: { value: "marked-key", fate: "dropped" },
  prompt_cache_options: { value: { marked: 1 }, fate: "dropped" },
  prompt_cache_retention: { value: "24h", fate: "dropped" },
  reasoning_effort: { value: "high", sign: /high|budget_tokens/ },
  response_format: { value: { type: "json_schema", json_schema: { name: "answer", strict: true, schema } }, sign: "marked_member" },
  safety_identifier: { value: "marked-person", fate: "dropped" },
  seed: { value: 515, fate: "dropped" },
  service_tier: { value: "priority", everywhere: "dropped", why: PRICE },
  stop: { value: ["MARKED"], fate: "dropped" },
  store: { value: true, ours: "completions are not kept at providers, or where they are as the provider has it" },
  temperature: { value: 0.515 }, top_p: { value: 0.515 },
  tool_choice: { value: { type: "function", function: { name: "add" } }, with: { tools: [{ type: "function", function: fn }] }, sign: /"tool_choice":\{[^}]*"add"/ },
  tools: { value: [{ type: "function", function: fn }], sign: /"add".*"strict":true/ },
  top_logprobs: { value: 3, fate: "dropped" },
  user: { value: "marked-user", fate: "dropped" },
  verbosity: { value: "low", fate: "dropped" },
  web_search_options: { value: { search_context_size: "low" }, fate: "refused", why: PRICE },
};
const RESPONSES = {
  model: { ours: OURS }, stream: { ours: OURS }, stream_options: { ours: OURS }, store: { ours: OURS }, background: { ours: "only agents work in the background" },
  previous_response_id: { ours: OURS }, conversation: { ours: OURS },
  input: { value: "marked words", sign: "marked words" },
  instructions: { value: "marked words", sign: "marked words" },
  include: { value: ["reasoning.encrypted_content"], fate: "dropped" },
  max_output_tokens: { value: 515, sign: ":515" },
  max_tool_calls: { value: 15, fate: "dropped" },
  metadata: { ours: "kept with the response and shown; providers of responses are told" },
  moderation: { value: { model: "x" }, fate: "refused", why: PRICE },
  context_management: { value: [{ type: "compaction", compact_threshold: 99999 }], fate: "dropped" },
  parallel_tool_calls: { value: false, with: { tools: [{ type: "function", ...fn }] }, sign: /"parallel_tool_calls":false|"disable_parallel_tool_use":true/ },
  prompt: { value: { id: "p" }, fate: "refused", why: ELSEWHERE },
  prompt_cache_key: { value: "marked-key", fate: "dropped" },
  prompt_cache_options: { value: { marked: 1 }, fate: "dropped" },
  prompt_cache_retention: { value: "24h", fate: "dropped" },
  reasoning: { value: { effort: "high" }, sign: /high|budget_tokens/ },
  safety_identifier: { value: "marked-person", fate: "dropped" },
  service_tier: { value: "priority", everywhere: "dropped", why: PRICE },
  temperature: { value: 0.515 }, top_p: { value: 0.515 },
  text: { value: { format: { type: "json_schema", name: "answer", schema }, verbosity: "low" }, sign: "marked_member" },
  tool_choice: { value: { type: "function", name: "add" }, with: { tools: [{ type: "function", ...fn }] }, sign: /"tool_choice":\{[^}]*"add"/ },
  tools: { value: [{ type: "web_search" }, { type: "function", ...fn }], sign: /web_search.*"strict":true|"strict":true.*web_search/, fate: "left" },
  top_logprobs: { value: 3, fate: "dropped" },
  truncation: { value: "auto", fate: "dropped" },
  user: { value: "marked-user", fate: "dropped" },
  access_programs: { ours: "a gate of OpenAI's own, overlooked as what is not known" }, image: { ours: "answers are text here; overlooked" },
};

async function walk(place, path, base, name, one, kind) {
  const { lodge, seen } = place;
  seen.body = null;
  const body = { ...base, model: kind.replaceAll("_", "-"), ...one.with, [name]: one.value };
  const reply = await lodge.request("POST", path, { body });
  const sign = one.sign ?? JSON.stringify(one.value);
  const found = seen.body && (sign instanceof RegExp ? sign.test(seen.body) : seen.body.includes(sign));
  const header = (h) => (reply.headers[h] ?? "").split(", ").includes(name);
  const fate = reply.status === 400 ? "refused" : header("lodge-dropped") ? "dropped" : reply.headers["lodge-dropped"] ? "left" : "";
  if (one.everywhere) return equal(fate, one.everywhere, `${name} to ${kind}`);
  if (reply.status === 400) return ok(one.fate === "refused" && reply.json.error.param === name, `${name} to ${kind} is refused: ${reply.text}`);
  equal(reply.status, 200, `${name} to ${kind} says ${reply.text}`);
  if (found) return ok(fate !== "dropped", `${name} reaches ${kind} and is named as dropped`);
  ok(fate && fate === one.fate, `${name} does not reach ${kind}, which nobody says: ${seen.body}`);
}

for (const [path, file, type, table, base] of [
  ["/v1/chat/completions", "chat/completions/completions.d.ts", "ChatCompletionCreateParamsBase", CHAT, { messages: [{ role: "user", content: "hi" }] }],
  ["/v1/responses", "responses/responses.d.ts", "ResponseCreateParamsBase", RESPONSES, { input: "hi" }],
])
  trial(`every member of a request to ${path} reaches a provider, or its fate is said`, async (t) => {
    const place = await stage();
    const members = membersOf(file, type);
    ok(members.length > 25, `only ${members.length} members were found in ${file}`);
    for (const name of members) {
      ok(table[name], `${name} is new in the package: say what becomes of it`);
      if (table[name].ours) continue;
      for (const kind of KINDS) await walk(place, path, base, name, table[name], kind);
    }
  });

// ---- items of responses ----

const PDF = "data:application/pdf;base64,QUJD";
const PNG = "data:image/png;base64,iVBORw0KGgo=";
const ask = async ({ lodge, seen }, kind, body, reply = null) => {
  seen.body = null;
  seen.reply = reply;
  const answer = await lodge.request("POST", "/v1/responses", { body: { model: kind.replaceAll("_", "-"), ...body } });
  seen.reply = null;
  return answer;
};

trial("items of every kind reach a provider of responses as they came, and nobody else is troubled", async () => {
  const place = await stage();
  const items = [
    { type: "message", role: "user", content: [{ type: "input_text", text: "look" }, { type: "input_image", image_url: PNG, detail: "low" }] },
    { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "sealed-by-openai" },
    { type: "web_search_call", status: "completed", action: { type: "search", query: "marked" } },
    { type: "custom_tool_call", call_id: "c1", name: "apply_patch", input: "*** Begin" },
    { type: "custom_tool_call_output", call_id: "c1", output: "patched" },
    { type: "function_call", call_id: "c2", name: "shoot", arguments: "{}", namespace: "camera" },
    { type: "function_call_output", call_id: "c2", output: [{ type: "input_image", image_url: PNG }] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "seen", annotations: [{ type: "url_citation", url: "https://example.org", title: "t", start_index: 0, end_index: 4 }] }] },
    { type: "message", role: "user", content: [{ type: "input_text", text: "well?", refusal: null }] },
  ];
  const input = items.map((item, i) => ({ id: `msg_${i}`, ...item }));
  equal((await ask(place, "openai_responses", { input })).status, 200, "the status");
  equal(JSON.stringify(JSON.parse(place.seen.body).input), JSON.stringify(items), "the items");
  for (const kind of ["openai", "anthropic"]) {
    const reply = await ask(place, kind, { input });
    equal(reply.status, 200, `${kind} says ${reply.text}`);
    for (const sign of ["patched", "apply_patch", "well?", "iVBORw0KGgo="]) ok(place.seen.body.includes(sign), `${sign} does not reach ${kind}: ${place.seen.body}`);
    if (kind === "openai") ok(!JSON.parse(place.seen.body).messages.some((m) => m.role === "tool" && typeof m.content !== "string"), "results of tools are text there");
    ok(!place.seen.body.includes("sealed-by-openai"), `${kind} is given what it cannot read`);
  }
});

trial("files and sounds are refused by the name of the part where a provider takes none", async () => {
  const place = await stage();
  const file = [{ role: "user", content: [{ type: "input_text", text: "read" }, { type: "input_file", filename: "a.pdf", file_data: PDF }] }];
  const sound = [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "UklG", format: "wav" } }] }];
  for (const kind of KINDS) {
    equal((await ask(place, kind, { input: file })).status, 200, `a file to ${kind}`);
    ok(place.seen.body.includes("QUJD") && place.seen.body.includes("a.pdf"), `the file does not reach ${kind}: ${place.seen.body}`);
    const reply = await ask(place, kind, { input: sound });
    equal(reply.status, kind === "anthropic" ? 400 : 200, `a sound to ${kind} says ${reply.text}`);
    if (kind === "anthropic") equal(reply.json.error.param, "input[0].content[0]", "the field");
    else ok(place.seen.body.includes("UklG"), `the sound does not reach ${kind}`);
  }
  const stored = await ask(place, "openai", { input: [{ role: "user", content: [{ type: "input_file", file_id: "file-1" }] }] });
  equal(stored.json.error?.param, "input[0].content[0]", "a file that is stored elsewhere");
});

const THOUGHT = {
  openai: { ...WHOLE.openai(), choices: [{ index: 0, message: { role: "assistant", reasoning_content: "I wonder", content: null, tool_calls: [{ id: "c1", type: "function", function: { name: "add", arguments: "{}" }, extra_content: { google: { thought_signature: "sig" } } }] }, finish_reason: "tool_calls" }] },
  openai_responses: { ...WHOLE.openai_responses(), output: [{ type: "reasoning", id: "rs_up", summary: [{ type: "summary_text", text: "I wonder" }], encrypted_content: "sealed" }, { type: "function_call", id: "fc_up", call_id: "c1", name: "add", arguments: "{}", status: "completed" }] },
  anthropic: { ...WHOLE.anthropic(), content: [{ type: "thinking", thinking: "I wonder", signature: "sealed" }, { type: "tool_use", id: "c1", name: "add", input: {} }], stop_reason: "tool_use" },
};

trial("what a model thought is an item, and is given back to who thought it, sent or named", async () => {
  const place = await stage();
  const more = { tools: [{ type: "function", ...fn }], reasoning: { effort: "high" } };
  const sign = { openai: /"reasoning_content":"I wonder".*"thought_signature":"sig"/, openai_responses: /"encrypted_content":"sealed"/, anthropic: /"thinking":"I wonder","signature":"sealed"/ };
  for (const kind of KINDS) {
    const first = await ask(place, kind, { input: "go", ...more }, THOUGHT[kind]);
    const [thought, call] = first.json.output;
    equal(thought.type, "reasoning", `the first item of ${kind}: ${first.text}`);
    equal(thought.summary[0].text, "I wonder", "what it thought");
    equal(call.call_id, "c1", "the call");
    const output = { type: "function_call_output", call_id: "c1", output: "3" };
    const named = (item) => ({ type: "item_reference", id: item.id });
    for (const input of [
      [{ role: "user", content: "go" }, thought, call, output],
      [{ role: "user", content: "go" }, named(thought), named(call), output],
    ]) {
      const second = await ask(place, kind, { input, ...more });
      equal(second.status, 200, `${kind} says ${second.text}`);
      ok(sign[kind].test(place.seen.body), `${kind} is not given it back: ${place.seen.body}`);
    }
    await ask(place, kind, { input: [output], previous_response_id: first.json.id, ...more });
    ok(sign[kind].test(place.seen.body), `${kind} is not given it back from what is kept: ${place.seen.body}`);
  }
});

trial("tools that a provider does not know are named, and the answer comes all the same", async () => {
  const place = await stage();
  const tools = [{ type: "web_search" }, { type: "custom", name: "apply_patch", format: { type: "text" } }, { type: "namespace", name: "n", tools: [] }, { type: "tool_search" },
    { type: "local_shell" }, { type: "mcp", server_label: "s", server_url: "https://example.org" }, { type: "image_generation" }, { type: "function", ...fn }];
  const all = "web_search, custom, namespace, tool_search, local_shell, mcp, image_generation";
  for (const kind of KINDS) {
    const reply = await ask(place, kind, { input: "hi", tools });
    equal(reply.status, 200, `${kind} says ${reply.text}`);
    equal(reply.headers["lodge-dropped"] ?? null, kind === "openai_responses" ? null : all, `what is left out for ${kind}`);
    ok(place.seen.body.includes('"add"'), "the function is offered");
    equal(place.seen.body.includes("image_generation"), kind === "openai_responses", `what ${kind} is offered`);
  }
  const { json } = await ask(place, "openai_responses", { input: "hi", tools }, { ...WHOLE.openai_responses(), output: [
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } }, { type: "custom_tool_call", id: "ctc_1", call_id: "c9", name: "apply_patch", input: "x", status: "completed" }] });
  equal(json.output.map((o) => o.type).join(), "web_search_call,custom_tool_call", "the provider's own items");
  equal(json.output[1].input, "x", "as they came");
});

trial("U+0000 in an answer is told, kept and given on to others as U+FFFD", async () => {
  const place = await stage();
  const { json: conversation } = await place.lodge.request("POST", "/v1/conversations", { body: {} });
  const reply = WHOLE.openai_responses();
  reply.output[0].content[0].text = "before\0after";
  const { json } = await ask(place, "openai_responses", { input: "hi", conversation: conversation.id }, reply);
  equal(json.output[0].content[0].text, "before\ufffdafter", "what is told");
  for (const kind of KINDS) {
    const again = await ask(place, kind, { input: "and now?", conversation: conversation.id });
    equal(again.status, 200, `${kind} says ${again.text}`);
    ok(JSON.stringify(JSON.parse(place.seen.body)).includes("before\ufffdafter"), `${kind} is told the whole of it: ${place.seen.body}`);
  }
});

// ---- through agents ----

trial("what is asked of a model reaches it through an agent, and what it wants back is given back", async () => {
  const place = await stage();
  const { lodge, seen } = place;
  const { json: agent } = await lodge.request("POST", "/v1/assistants", { body: { model: "openai", name: "Forwarder", instructions: "Agent's own words." } });
  const post = async (path, body) => {
    const reply = await lodge.request("POST", path, { body });
    equal(reply.status, 200, `${path} says ${reply.text}`);
    return reply;
  };
  seen.stream = [{ delta: { reasoning_content: "I wonder" } }, { delta: { tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "add", arguments: "{}" }, extra_content: { google: { thought_signature: "sig" } } }] } }, { delta: {}, finish_reason: "tool_calls" }];
  const asked = { model: agent.id, store: false, tools: [{ type: "function", ...fn }, { type: "web_search" }], parallel_tool_calls: false, reasoning: { effort: "high" }, prompt_cache_key: "marked-key",
    safety_identifier: "marked-person", text: { verbosity: "low" }, service_tier: "default", user: "marked-user", metadata: { marked: "pair" } };
  const first = await post("/v1/responses", { ...asked, input: "go" });
  equal(first.headers["lodge-dropped"], "web_search", "what is left out");
  for (const name of ["prompt_cache_key", "safety_identifier", "service_tier", "user", "metadata", "text"]) equal(JSON.stringify(first.json[name]), JSON.stringify(asked[name]), `${name} in the answer`);
  const sent = JSON.parse(seen.body);
  equal(sent.tools.find((f) => f.function.name === "add").function.strict, true, "strict");
  for (const [name, value] of Object.entries({ parallel_tool_calls: false, reasoning_effort: "high", prompt_cache_key: "marked-key", safety_identifier: "marked-person", verbosity: "low", service_tier: "default", user: "marked-user" })) equal(sent[name], value, name);
  seen.stream = null;
  const call = first.json.output.find((o) => o.type === "function_call");
  await post("/v1/responses", { ...asked, input: [{ role: "user", content: "go" }, call, { type: "function_call_output", call_id: "c1", output: "3" }] });
  ok(/"reasoning_content":"I wonder".*"thought_signature":"sig"/.test(seen.body), `it is not given back: ${seen.body}`);

  // A chat completion of an agent goes out as it came.
  const odd = [{ role: "user", content: "a" }, { role: "assistant", content: "b", reasoning_content: "c", extra_content: { google: { thought_signature: "d" } } }, { role: "user", content: "e" }];
  await post("/v1/chat/completions", { model: agent.id, messages: odd, marked_member: 1 });
  const { messages, marked_member } = JSON.parse(seen.body);
  equal(messages[0].content, "Agent's own words.", "the agent's prompt");
  equal(JSON.stringify(messages.slice(1)), JSON.stringify(odd), "the messages");
  equal(marked_member, 1, "what is not known here");
});

/** The kinds of items that the package knows, by the constants in its types. */
function itemTypes() {
  const text = readFileSync(join(types, "responses/responses.d.ts"), "utf8");
  const union = text.match(/export type ResponseInputItem = ([^;]+);/)[1].split(" | ");
  const found = union.map((name) => {
    const body = text.slice(text.search(new RegExp(`interface ${name.split(".").at(-1)} \\{`)));
    return body.match(/\n {4,8}type\??: '(\w+)'/)[1];
  });
  return [...new Set(found)];
}

const CALL = { type: "function_call", call_id: "c1", name: "add", arguments: '{"marked":1}' };
const TOLD = { type: "custom_tool_call", call_id: "c1", name: "marked_tool", input: "x" };
/** What becomes of each in what an agent is asked: it reaches the model (a sign, and what must stand around it), or it is refused; what is
 *  not here is a provider's own, and named in Lodge-Dropped. */
const THROUGH_AGENTS = {
  message: { items: [{ type: "message", role: "user", content: [{ type: "input_text", text: "marked" }, { type: "input_image", image_url: PNG, detail: "auto" }] }], sign: /marked.*iVBORw0KGgo=/ },
  function_call: { items: [CALL, { type: "function_call_output", call_id: "c1", output: "3" }], sign: /\\"marked\\":1|"marked":1/ },
  function_call_output: { items: [CALL, { type: "function_call_output", call_id: "c1", output: [{ type: "input_text", text: "shot" }, { type: "input_image", image_url: PNG, detail: "auto" }] }], sign: /shot.*iVBORw0KGgo=/ },
  custom_tool_call: { items: [TOLD, { type: "custom_tool_call_output", call_id: "c1", output: "3" }], sign: /marked_tool/ },
  custom_tool_call_output: { items: [TOLD, { type: "custom_tool_call_output", call_id: "c1", output: "marked result" }], sign: /marked result/ },
  reasoning: { items: [{ type: "reasoning", summary: [{ type: "summary_text", text: "marked thought" }] }, { role: "assistant", content: "so" }], sign: /marked thought/ },
  mcp_approval_response: { ours: "answers a run that waits" },
  item_reference: { ours: "stands for what is kept" },
};

trial("every kind of item reaches the model of an agent, or is named", async () => {
  const { lodge, seen } = await stage();
  const { json: agent } = await lodge.request("POST", "/v1/assistants", { body: { model: "openai", name: "Walker" } });
  const kinds = itemTypes();
  ok(kinds.length > 20, `only ${kinds} were found`);
  for (const type of kinds) {
    const one = THROUGH_AGENTS[type];
    if (one?.ours) continue;
    const input = [{ role: "user", content: "go" }, ...(one?.items ?? [{ type, id: "x" }]), { role: "user", content: "on" }];
    const reply = await lodge.request("POST", "/v1/responses", { body: { model: agent.id, input } });
    equal(reply.status, 200, `${type} says ${reply.text}`);
    equal(reply.headers["lodge-dropped"] ?? null, one ? null : "input[1]", `what is named of ${type}`);
    if (one) ok(one.sign.test(seen.body), `${type} does not reach the model: ${seen.body}`);
  }
});

trial("max_prompt_tokens, truncation_strategy and parallel_tool_calls act on a run", async () => {
  const { lodge, seen } = await stage();
  const { json: agent } = await lodge.request("POST", "/v1/assistants", { body: { model: "openai", name: "Runner" } });
  const messages = Array.from({ length: 6 }, (_, i) => ({ role: i % 2 ? "assistant" : "user", content: `word${i} ${"filling ".repeat(200)}` }));
  const run = async (more) => {
    const { json: thread } = await lodge.request("POST", "/v1/threads", { body: { messages: [...messages, { role: "user", content: "last" }] } });
    const reply = await lodge.request("POST", `/v1/threads/${thread.id}/runs`, { body: { assistant_id: agent.id, stream: true, ...more } });
    equal(reply.status, 200, reply.text);
    return JSON.parse(seen.body);
  };
  const whole = await run({});
  ok(JSON.stringify(whole).includes("word0"), "without a bound all is read");
  const cut = await run({ truncation_strategy: { type: "last_messages", last_messages: 2 } });
  equal(cut.messages.filter((m) => m.role !== "system").map((m) => m.content.split(" ")[0]).join(), "word5,last", "the last messages");
  const short = await run({ max_prompt_tokens: 600 });
  ok(JSON.stringify(short).includes("summed up") && !JSON.stringify(short).includes("word0"), `what is older is summed up: ${JSON.stringify(short).slice(0, 500)}`);
  const single = await run({ parallel_tool_calls: false, tools: [{ type: "function", function: fn }] });
  equal(single.parallel_tool_calls, false, "one call at a time");
  const bad = await lodge.request("POST", "/v1/threads/runs", { body: { assistant_id: agent.id, truncation_strategy: { type: "some" } } });
  equal(bad.json.error?.param, "truncation_strategy", "a strategy that is none");
});

trial("a path under /v1 that is not there is 404 in OpenAI's shape, whatever its body weighs", async () => {
  const { lodge } = await stage();
  for (const [method, body] of [["GET", undefined], ["POST", {}], ["POST", { filling: "x".repeat(3 << 20) }]]) {
    const reply = await lodge.request(method, "/v1/nowhere/at/all", { body });
    equal(reply.status, 404, `${method} says ${reply.text.slice(0, 300)}`);
    ok(reply.json.error?.message, `the error has not that shape: ${reply.text}`);
  }
});
