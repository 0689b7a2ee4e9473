// agent_parts.test.mjs - what clients send to agents besides text, and what agents give besides it, with the official openai package and a
// provider of each kind: images, files and sounds, thoughts both ways, arguments as they are written.
import { existsSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { equal, here, ok, shared, test } from "./harness.mjs";

const home = join(here, "sdk/node_modules/openai");
const installed = existsSync(home);
if (!installed) console.log("note: the packages of tests/blackbox/sdk are not installed: parts of messages to agents are not tried");
const trial = (name, run) => installed && test(name, run);

const PNG = "iVBORw0KGgoAAAAN", PDF = "JVBERi0xLjQK", WAV = "UklGRgAAAABXQVZFZm10IA==";
const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const chunk = (delta, finish_reason = null) => `data: ${JSON.stringify({ id: "x", model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

/** An answer that is thought about, as each kind streams it. */
const SAID = {
  openai: () => [chunk({ role: "assistant", reasoning_content: "hm, " }), chunk({ reasoning_content: "well" }), chunk({ content: "yes" }), chunk({}, "stop"), "data: [DONE]\n\n"],
  anthropic: () => [
    event({ type: "message_start", message: { id: "x", type: "message", role: "assistant", model: "m", content: [], usage: { input_tokens: 3, output_tokens: 1 } } }),
    event({ type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } }),
    event({ type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "hm, well" } }),
    event({ type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "proof" } }),
    event({ type: "content_block_stop", index: 0 }),
    event({ type: "content_block_start", index: 1, content_block: { type: "text", text: "" } }),
    event({ type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "yes" } }),
    event({ type: "content_block_stop", index: 1 }),
    event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 4 } }),
    event({ type: "message_stop" }),
  ],
  openai_responses: () => {
    const reasoning = { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm, well" }], encrypted_content: "sealed-there" };
    const message = { type: "message", id: "m_1", role: "assistant", status: "completed", content: [{ type: "output_text", text: "yes", annotations: [] }] };
    return [
      event({ type: "response.created", response: { id: "x", model: "m", status: "in_progress", output: [] } }),
      event({ type: "response.output_item.added", output_index: 0, item: { ...reasoning, summary: [] } }),
      event({ type: "response.reasoning_summary_text.delta", output_index: 0, item_id: "rs_1", summary_index: 0, delta: "hm, well" }),
      event({ type: "response.output_item.done", output_index: 0, item: reasoning }),
      event({ type: "response.output_item.added", output_index: 1, item: { ...message, content: [] } }),
      event({ type: "response.output_text.delta", output_index: 1, item_id: "m_1", content_index: 0, delta: "yes" }),
      event({ type: "response.output_item.done", output_index: 1, item: message }),
      event({ type: "response.completed", response: { id: "x", model: "m", status: "completed", output: [reasoning, message], usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } } }),
    ];
  },
};

const stage = shared(async (t) => {
  const seen = { body: "", say: null };
  const upstream = http.createServer(async (req, res) => {
    let body = "";
    for await (const piece of req) body += piece;
    seen.body = body;
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    if (seen.say) await seen.say(res, body);
    else for (const piece of SAID[req.url.split("/")[1]]()) res.write(piece);
    res.end();
  });
  await new Promise((done) => upstream.listen(0, "127.0.0.1", done));
  t.onEnd(() => new Promise((done) => (upstream.closeAllConnections(), upstream.close(done))));
  const lodge = await t.serve(await t.place("sqlite"), { flags: ["--no-access-log", "--allow-private-addresses"] });
  await lodge.enter();
  const made = async (method, path, body, status) => {
    const reply = await lodge.request(method, path, { body });
    equal(reply.status, status, `${path} says ${reply.text}`);
    return reply.json;
  };
  for (const kind of Object.keys(SAID)) {
    const slug = kind.replaceAll("_", "-");
    const model = await made("POST", "/admin/models", { name: kind, slug: `m-${slug}`, kind, available_to_all_tenants: true, supports_tools: true, supports_vision: true, is_free: true,
      config: { base_url: `http://127.0.0.1:${upstream.address().port}/${kind}/v1`, model: "m", api_key: "k" } }, 201);
    const agent = await made("POST", `/tenant/${lodge.tenant}/agents`, { name: slug, slug }, 201);
    await made("PUT", `/agents/${agent.id}/models`, { model_ids: [model.id] }, 200);
  }
  const { key } = await made("POST", `/tenant/${lodge.tenant}/api-keys`, { name: "sdk" }, 201);
  const OpenAI = (await import(pathToFileURL(join(home, "index.mjs")).href)).default;
  return { lodge, seen, client: new OpenAI({ apiKey: key, baseURL: `${lodge.origin}/v1`, maxRetries: 0 }) };
});

const user = (...content) => [{ role: "user", content: [{ type: "input_text", text: "look" }, ...content] }];
const IMAGE = { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "auto" };
const FILE = { type: "input_file", filename: "order.pdf", file_data: `data:application/pdf;base64,${PDF}` };
const SOUND = { type: "input_audio", input_audio: { data: WAV, format: "wav" } };

trial("images, files and sounds reach the model of an agent, or are refused by name", async () => {
  const { lodge, seen, client } = await stage();
  for (const kind of Object.keys(SAID)) {
    const model = `agent:${kind.replaceAll("_", "-")}`;
    const first = await client.responses.create({ model, input: user(IMAGE, FILE) });
    equal(first.output_text, "yes", `${kind} says`);
    ok(seen.body.includes(PNG) && seen.body.includes(PDF), `${kind} is shown ${seen.body}`);
    await client.responses.create({ model, input: "and now?", previous_response_id: first.id });
    ok(seen.body.includes(PNG), `${kind} is shown it again: ${seen.body}`);
    const address = await client.responses.create({ model, input: user({ type: "input_file", file_url: "https://example.org/a.pdf" }) }).catch((e) => e);
    if (kind === "openai") equal(address.param, "input[0].content[1]", "an address of a file is refused there");
    else ok(seen.body.includes("https://example.org/a.pdf"), `${kind} is given the address: ${seen.body}`);
    const sound = await client.responses.create({ model, input: user(SOUND) }).catch((e) => e);
    if (kind === "anthropic") equal(`${sound.status} ${sound.param}`, "400 input[0].content[1]", "a sound is refused there");
    else ok(seen.body.includes(WAV), `${kind} is given the sound: ${seen.body}`);
  }
  const { items } = (await lodge.request("GET", `/tenant/${lodge.tenant}/agents/${(await agentId(lodge, "anthropic"))}/sessions`)).json;
  const s = `/tenant/${lodge.tenant}/sessions/${items.at(-1).id}`;
  const said = (await lodge.request("GET", `${s}/messages`)).json.items.find((m) => m.parts);
  equal(said.parts.map((p) => `${p.type} ${p.name} ${p.content_type}`).join(", "), "image image.png image/png, file order.pdf application/pdf", "what the message holds");
  equal((await lodge.request("GET", `${s}/files/${said.parts[1].file_id}/content`)).text, "%PDF-1.4\n", "the file");
});

const agentId = async (lodge, slug) => (await lodge.request("GET", `/tenant/${lodge.tenant}/agents`)).json.items.find((a) => a.slug === slug).id;

trial("what the model of an agent thinks is an item, streams, and comes back to its provider", async () => {
  const { seen, client } = await stage();
  for (const [kind, sealed, sign] of [["openai", undefined, '"reasoning_content":"hm, well"'], ["anthropic", "anthropic.signed:proof", '"signature":"proof"'],
    ["openai_responses", "sealed-there", '"encrypted_content":"sealed-there"']]) {
    const model = `agent:${kind.replaceAll("_", "-")}`, types = [];
    let whole;
    for await (const e of await client.responses.create({ model, input: "think", stream: true, store: false })) {
      types.push(e.type);
      if (e.type === "response.completed") whole = e.response;
    }
    ok(types.indexOf("response.reasoning_summary_text.delta") > 0 && types.indexOf("response.reasoning_summary_text.delta") < types.indexOf("response.output_text.delta"), `${kind} tells ${types}`);
    equal(whole.output.map((o) => o.type).join(" "), "reasoning message", `the output of ${kind}`);
    equal(whole.output[0].summary[0].text, "hm, well", `what ${kind} thinks`);
    equal(whole.output[0].encrypted_content ?? undefined, sealed, `what ${kind} wants back`);
    const reply = await client.responses.create({ model, store: false, input: [{ role: "user", content: "think" }, ...whole.output, { role: "user", content: "go on" }] }).withResponse();
    equal(reply.response.headers.get("lodge-dropped"), null, `what is dropped of what goes to ${kind}`);
    ok(seen.body.includes(sign), `${kind} is given back ${seen.body}`);
  }
});

trial("arguments of the caller's functions stream through agents as they are written", async () => {
  const { seen, client } = await stage();
  let go;
  const heard = new Promise((done) => (go = done));
  const call = (more) => chunk({ tool_calls: [{ index: 0, ...more }] });
  seen.say = async (res) => {
    res.write(call({ id: "w1", type: "function", function: { name: "add", arguments: '{"a":' } }));
    await heard; // the rest comes only once the first piece was read
    for (const piece of [call({ function: { arguments: "40}" } }), chunk({}, "tool_calls"), "data: [DONE]\n\n"]) res.write(piece);
  };
  let text = "", done = null;
  const tools = [{ type: "function", name: "add", parameters: { type: "object" }, strict: false }];
  for await (const e of await client.responses.create({ model: "agent:openai", input: "add", tools, stream: true })) {
    if (e.type === "response.function_call_arguments.delta") {
      text += e.delta;
      go();
    }
    if (e.type === "response.output_item.done") done = e.item;
  }
  seen.say = null;
  equal(text, '{"a":40}', "the pieces");
  equal(`${done.call_id} ${done.name} ${done.arguments}`, 'w1 add {"a":40}', "the call");
});
