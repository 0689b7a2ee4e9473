// openai.test.mjs - the official openai package, unmodified, in its present major and in the fourth, against
// assistants, threads, messages, runs, steps, responses and conversations: every call they have, on both engines.
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { equal, here, makeFolder, match, ok, shared, test, testBoth, until } from "./harness.mjs";

const MAJORS = { 7: "sdk", 4: "sdk4" };
const home = (major) => join(here, MAJORS[major], "node_modules/openai/index.mjs");
// A key approves only where its scopes name it.
const SCOPES = ["tenant:read", "agents:create", "agent:read", "agent:write", "agent:delete", "agent:models:write",
  "agent:tools:write", "session:read", "session:write", "session:approve"];
for (const major of Object.keys(MAJORS))
  if (!existsSync(home(major))) console.log(`note: the packages of tests/blackbox/${MAJORS[major]} are not installed: openai ${major} is not tried`);

const add = { name: "add", description: "Adds.", parameters: { type: "object", properties: { a: { type: "number" } } } };
const tools = [{ type: "function", function: add }];
const flat = [{ type: "function", strict: false, ...add }];

/** A provider that answers "one two three", in pieces, slowly if its path says so; what it was asked is in `heard`. */
async function provider(t, heard = []) {
  const server = http.createServer(async (req, res) => {
    let body = "";
    for await (const piece of req) body += piece;
    const slow = req.url.startsWith("/slow");
    heard.push(JSON.parse(body));
    if (req.url.startsWith("/gated")) await heard.gate;
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    const say = (delta, finish_reason = null) => res.write(`data: ${JSON.stringify({ id: "x", model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    for (const content of ["one", " two", " three"]) say({ content });
    if (slow) return;
    say({}, "stop");
    res.write(`data: ${JSON.stringify({ id: "x", choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } })}\n\n`);
    res.end("data: [DONE]\n\n");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.onEnd(() => new Promise((done) => (server.closeAllConnections(), server.close(done))));
  return (script) => `http://127.0.0.1:${server.address().port}/${script}/v1`;
}

/** The calls whose arguments changed between the majors, in one order. */
function calls(client, major) {
  const { threads, assistants } = client.beta;
  const old = major === "4";
  const in_thread = (fn) => (thread_id, id, params, ...rest) => old ? (params === undefined ? fn(thread_id, id) : fn(thread_id, id, params, ...rest)) : fn(id, { thread_id, ...params }, ...rest);
  const bind = (object, name) => object[name].bind(object);
  return {
    forget: (resource, id) => (old ? resource.del(id) : resource.delete(id)),
    message: { read: in_thread(bind(threads.messages, "retrieve")), change: in_thread(bind(threads.messages, "update")), forget: in_thread(bind(threads.messages, old ? "del" : "delete")) },
    run: { read: in_thread(bind(threads.runs, "retrieve")), change: in_thread(bind(threads.runs, "update")), cancel: in_thread(bind(threads.runs, "cancel")), poll: in_thread(bind(threads.runs, "poll")),
      answer: in_thread(bind(threads.runs, "submitToolOutputs")), answerStream: in_thread(bind(threads.runs, "submitToolOutputsStream")), answerAndPoll: in_thread(bind(threads.runs, "submitToolOutputsAndPoll")) },
    steps: { list: (thread_id, run_id, query) => old ? threads.runs.steps.list(thread_id, run_id, query) : threads.runs.steps.list(run_id, { thread_id, ...query }),
      read: (thread_id, run_id, id) => old ? threads.runs.steps.retrieve(thread_id, run_id, id) : threads.runs.steps.retrieve(id, { thread_id, run_id }) },
    threads, assistants,
  };
}

async function made(promise, what, status = 201) {
  const reply = await promise;
  equal(reply.status, status, `${what} says ${reply.text}`);
  return reply.json;
}

const lodges = Object.fromEntries(["sqlite", "postgres"].map((engine) => [engine, shared(async (t) => {
  const heard = [];
  const url = await provider(t, heard);
  const lodge = await t.serve(await t.place(engine), { flags: ["--no-access-log", "--allow-private-addresses"] });
  await lodge.enter();
  for (const slug of ["quick", "slow"])
    await made(lodge.request("POST", "/admin/models", { body: { name: slug, slug, kind: "openai", available_to_all_tenants: true, supports_tools: true,
      pricing: { prompt: "0.000001", completion: "0.000002" }, config: { base_url: url(slug), model: "m", api_key: "sk-upstream" } } }), "a model");
  const { key } = await made(lodge.request("POST", `/tenant/${lodge.tenant}/api-keys`, { body: { name: "sdk", scopes: SCOPES } }), "a key");
  return { lodge, key, heard };
})]));

function trial(name, run) {
  for (const major of Object.keys(MAJORS)) {
    if (!existsSync(home(major))) continue;
    testBoth(`openai ${major}: ${name}`, async (t, engine) => {
      const { lodge, key, heard } = await lodges[engine]();
      const module = await import(pathToFileURL(home(major)).href);
      const OpenAI = module.default;
      const client = new OpenAI({ apiKey: key, baseURL: `${lodge.origin}/v1`, maxRetries: 0 });
      await run({ t, lodge, OpenAI, client, major, key, heard, ...calls(client, major) });
    }, { ms: 90_000 });
  }
}

const all = async (pages) => { const items = []; for await (const item of pages) items.push(item); return items; };
const text = (message) => message.content.map((c) => c.text.value).join("");
const helper = (assistants, more = {}) => assistants.create({ model: "demo", name: "Helper", instructions: "Help.", ...more });
const user = (content) => ({ messages: [{ role: "user", content }] });

trial("assistants are made, listed page by page, read, changed and deleted", async ({ assistants, forget, OpenAI }) => {
  const made = [];
  for (let i = 0; i < 5; i++) made.push(await helper(assistants, { name: `Page ${i}`, metadata: { i: `${i}` } }));
  equal(made[0].object, "assistant", "object");
  equal(made[0].model, "demo", "model");
  const ids = (await all(assistants.list({ limit: 2 }))).map((a) => a.id);
  ok(made.every((a) => ids.includes(a.id)), "all are listed");
  equal(new Set(ids).size, ids.length, "none is listed twice");
  const up = (await all(assistants.list({ limit: 2, order: "asc", after: made[0].id }))).map((a) => a.id);
  equal(up[0], made[1].id, "the one after");
  const { data, has_more } = await fetchPage(assistants, { limit: 1, before: made[0].id });
  equal(data[0].id, made[1].id, "the one before");
  ok(has_more ?? true, "more before it"); // the fourth major does not say
  const changed = await assistants.update(made[0].id, { name: "Changed", instructions: null, metadata: { b: "c" } });
  equal(changed.name, "Changed", "its name");
  equal(changed.instructions, null, "its instructions");
  equal((await assistants.retrieve(made[0].id)).metadata.b, "c", "its metadata");
  for (const { id } of made) equal((await forget(assistants, id)).deleted, true, "deleted");
  const gone = await assistants.retrieve(made[0].id).catch((err) => err);
  ok(gone instanceof OpenAI.NotFoundError, `it is ${gone}`);
  const bad = await assistants.create({ model: "demo", name: "a/b" }).catch((err) => err);
  ok(bad instanceof OpenAI.BadRequestError && bad.param === "name", `it is ${bad}`);
  ok(bad.requestID ?? bad.request_id, "x-request-id");
  const unknown = await assistants.create({ model: "gpt-4o" }).catch((err) => err);
  equal(unknown.code, "model_not_found", "the code");
});

const fetchPage = (resource, query) => resource.list(query);

trial("threads and messages live without a run", async ({ threads, message, forget }) => {
  const empty = await threads.create();
  equal(empty.object, "thread", "object");
  const thread = await threads.create({ messages: [{ role: "user", content: "one" }, { role: "assistant", content: [{ type: "text", text: "two" }] }], metadata: { a: "b" } });
  equal((await threads.retrieve(thread.id)).metadata.a, "b", "its metadata");
  equal((await threads.update(thread.id, { metadata: { c: "d" } })).metadata.c, "d", "changed");
  const three = await threads.messages.create(thread.id, { role: "user", content: "three", metadata: { n: "3" } });
  equal(text(three), "three", "the text");
  equal((await all(threads.messages.list(thread.id, { limit: 1, order: "asc" }))).map(text).join(" "), "one two three", "the messages");
  equal((await message.read(thread.id, three.id)).metadata.n, "3", "read");
  equal((await message.change(thread.id, three.id, { metadata: { n: "4" } })).metadata.n, "4", "changed");
  equal((await message.forget(thread.id, three.id)).deleted, true, "deleted");
  equal((await all(threads.messages.list(thread.id))).length, 2, "what is left");
  equal((await forget(threads, thread.id)).deleted, true, "the thread");
});

trial("a run is polled to its end, and has messages and steps", async ({ threads, assistants, run, steps }) => {
  const assistant = await helper(assistants);
  const thread = await threads.create(user("count to 5"));
  const done = await threads.runs.createAndPoll(thread.id, { assistant_id: assistant.id, metadata: { m: "1" }, temperature: 0.5 }, { pollIntervalMs: 20 });
  equal(done.status, "completed", "its status");
  equal(done.temperature, 0.5, "temperature");
  equal(done.usage.total_tokens, done.usage.prompt_tokens + done.usage.completion_tokens, "usage");
  const [said] = await all(threads.messages.list(thread.id, { run_id: done.id }));
  equal(text(said), "1 2 3 4 5", "the answer");
  equal((await run.change(thread.id, done.id, { metadata: { m: "2" } })).metadata.m, "2", "changed");
  equal((await run.read(thread.id, done.id)).metadata.m, "2", "read");
  const [step] = await all(steps.list(thread.id, done.id));
  equal(step.step_details.message_creation.message_id, said.id, "its step");
  equal((await steps.read(thread.id, done.id, step.id)).type, "message_creation", "the step alone");
  await threads.messages.create(thread.id, { role: "user", content: "count to 3" });
  const next = await threads.runs.create(thread.id, { assistant_id: assistant.id, additional_messages: [{ role: "user", content: "count to 2" }] });
  equal((await run.poll(thread.id, next.id)).status, "completed", "polled");
  equal((await all(threads.runs.list(thread.id, { limit: 1 }))).length, 2, "the runs");
  equal(text((await fetchMessages(threads, thread.id)).data[0]), "1 2", "the last answer");
});

const fetchMessages = (threads, id) => threads.messages.list(id);

trial("a run is streamed, with its handlers called in order", async ({ threads, assistants }) => {
  const assistant = await helper(assistants, { model: "quick" });
  const thread = await threads.create(user("hello"));
  const heard = [];
  const stream = threads.runs.stream(thread.id, { assistant_id: assistant.id });
  stream.on("messageCreated", () => heard.push("created")).on("textCreated", () => heard.push("text"))
    .on("textDelta", (d) => heard.push(d.value)).on("textDone", (d) => heard.push(`done ${d.value}`))
    .on("messageDone", () => heard.push("message")).on("runStepCreated", () => heard.push("step")).on("runStepDone", () => heard.push("stepped"))
    .on("end", () => heard.push("end"));
  const final = await stream.finalRun();
  equal(final.status, "completed", "its status");
  equal(final.usage.total_tokens, 12, "usage");
  equal(text((await stream.finalMessages())[0]), "one two three", "the message");
  equal((await stream.finalRunSteps()).length, 1, "the steps");
  equal(heard[0], "step", "the step comes first");
  equal(heard[1], "created", "then the message");
  ok(heard.indexOf("done one two three") > heard.indexOf("text"), `in order: ${heard}`);
  equal(heard.at(-1), "end", "the end");
  const names = [];
  for await (const { event } of await threads.runs.create(thread.id, { assistant_id: assistant.id, stream: true })) names.push(event);
  match(names.join(" "), /^thread\.run\.created thread\.run\.queued thread\.run\.in_progress thread\.run\.step\.created .*thread\.message\.completed thread\.run\.step\.completed thread\.run\.completed( done)?$/, "the events");
});

trial("a thread is made and run at once, polled or streamed", async ({ threads, assistants }) => {
  const assistant = await helper(assistants);
  const done = await threads.createAndRunPoll({ assistant_id: assistant.id, thread: user("count to 4") }, { pollIntervalMs: 20 });
  equal(done.status, "completed", "its status");
  equal(text((await fetchMessages(threads, done.thread_id)).data[0]), "1 2 3 4", "the answer");
  const begun = await threads.createAndRun({ assistant_id: assistant.id, thread: user("count to 4") });
  equal(begun.status, "queued", "at once");
  const stream = threads.createAndRunStream({ assistant_id: assistant.id, thread: user("count to 6") });
  const events = [];
  stream.on("event", ({ event }) => events.push(event));
  equal((await stream.finalRun()).status, "completed", "streamed");
  equal(events[0], "thread.created", "the first event");
});

trial("a run calls the caller's functions and goes on with their results", async ({ threads, assistants, run, steps }) => {
  const assistant = await helper(assistants, { tools });
  const outputs = (r, output = "42") => ({ tool_outputs: r.required_action.submit_tool_outputs.tool_calls.map((c) => ({ tool_call_id: c.id, output })) });
  const wait = async () => {
    const thread = await threads.create(user('use tool add with {"a":1}'));
    return threads.runs.createAndPoll(thread.id, { assistant_id: assistant.id }, { pollIntervalMs: 20 });
  };
  const waits = await wait();
  equal(waits.status, "requires_action", "its status");
  const [call] = waits.required_action.submit_tool_outputs.tool_calls;
  equal(call.function.name, "add", "the name");
  equal(call.function.arguments, '{"a":1}', "the arguments");
  const done = await run.answerAndPoll(waits.thread_id, waits.id, outputs(waits), { pollIntervalMs: 20 });
  equal(done.status, "completed", "its end");
  match(text((await fetchMessages(threads, waits.thread_id)).data[0]), /42/, "the answer");
  const seen = await all(steps.list(waits.thread_id, waits.id, { order: "asc" }));
  equal(seen.map((s) => s.type).join(" "), "tool_calls message_creation", "the steps");
  equal(seen[0].step_details.tool_calls[0].function.output, "42", "the result");
  const second = await wait();
  const stream = run.answerStream(second.thread_id, second.id, outputs(second, "43"));
  const heard = [];
  stream.on("textDone", (t) => heard.push(t.value));
  equal((await stream.finalRun()).status, "completed", "streamed");
  match(heard.join(), /43/, "what was said");
  const third = await wait();
  equal((await run.answer(third.thread_id, third.id, outputs(third))).id, third.id, "submitted");
  equal((await run.poll(third.thread_id, third.id)).status, "completed", "and polled");
  const fourth = await threads.create(user("use tool add"));
  const calling = threads.runs.stream(fourth.id, { assistant_id: assistant.id });
  const called = [];
  calling.on("toolCallCreated", (c) => called.push(c.function.name)).on("toolCallDone", (c) => called.push(c.id));
  const rests = await calling.finalRun();
  equal(rests.status, "requires_action", "the stream rests");
  equal(called[0], "add", "the call");
  equal(called[1], rests.required_action.submit_tool_outputs.tool_calls[0].id, "its id");
});

trial("a run is cancelled while its model speaks", async ({ threads, assistants, run, OpenAI }) => {
  const assistant = await helper(assistants, { model: "slow" });
  const thread = await threads.create(user("hello"));
  const stream = threads.runs.stream(thread.id, { assistant_id: assistant.id });
  const end = stream.finalRun();
  await new Promise((heard) => stream.on("textDelta", heard));
  const busy = await threads.runs.create(thread.id, { assistant_id: assistant.id }).catch((err) => err);
  ok(busy instanceof OpenAI.BadRequestError, `another run: ${busy}`);
  const { id } = stream.currentRun();
  const cancelled = await run.cancel(thread.id, id);
  ok(["cancelling", "cancelled"].includes(cancelled.status), cancelled.status);
  equal((await end).status, "cancelled", "the stream's end");
  const again = await run.cancel(thread.id, id).catch((err) => err);
  ok(again instanceof OpenAI.BadRequestError, `once more: ${again}`);
});

trial("a call that waits for approval is approved as an output", async ({ threads, assistants, run, lodge }) => {
  const assistant = await helper(assistants);
  const tool = await made(lodge.request("POST", `/tenant/${lodge.tenant}/tools`, { body: { name: "time", kind: "builtin", description: "The time.", requires_approval: true } })
    .then(async (reply) => reply.status === 201 ? reply : { status: 201, json: (await lodge.request("GET", `/tenant/${lodge.tenant}/tools?per_page=200`)).json.items.find((x) => x.name === "time") }), "a tool");
  await lodge.request("PATCH", `/tenant/${lodge.tenant}/tools/${tool.id}`, { body: { requires_approval: true } });
  await made(lodge.request("POST", `/agents/${assistant.id}/tools`, { body: { tool_id: tool.id } }), "its tool");
  const waits = await threads.createAndRunPoll({ assistant_id: assistant.id, thread: user("use tool time") }, { pollIntervalMs: 20 });
  equal(waits.status, "requires_action", "its status");
  const [call] = waits.required_action.submit_tool_outputs.tool_calls;
  equal(call.function.name, "time", "the call");
  const done = await run.answerAndPoll(waits.thread_id, waits.id, { tool_outputs: [{ tool_call_id: call.id, output: "approve" }] }, { pollIntervalMs: 20 });
  equal(done.status, "completed", "its end");
});

trial("responses of a model and of an agent are made, read and gone on from", async ({ client, assistants, OpenAI, lodge }) => {
  const { id } = await helper(assistants);
  const { json } = await lodge.request("GET", `/agents/${id}`);
  for (const model of ["demo", `agent:${json.slug}`, id]) {
    const first = await client.responses.create({ model, input: "count to 5", metadata: { a: "b" }, max_output_tokens: 500 });
    equal(first.output_text, "1 2 3 4 5", `${model}: output_text`);
    equal(first.status, "completed", "its status");
    equal(first.usage.total_tokens, first.usage.input_tokens + first.usage.output_tokens, "usage");
    const read = await client.responses.retrieve(first.id);
    equal(read.output_text ?? read.output[0].content[0].text, "1 2 3 4 5", "read");
    const [item] = await all(client.responses.inputItems.list(first.id));
    equal(item.content[0].text, "count to 5", "what it was given");
    const next = await client.responses.create({ model, previous_response_id: first.id, input: [{ role: "user", content: "count to 2" }], instructions: "Be brief." });
    equal(next.output_text, "1 2", "gone on");
    equal(next.previous_response_id, first.id, "from the first");
    await (client.responses.delete ?? client.responses.del).call(client.responses, first.id);
    const gone = await client.responses.retrieve(first.id).catch((err) => err);
    ok(gone instanceof OpenAI.NotFoundError, `it is ${gone}`);
  }
  const bad = await client.responses.create({ model: "demo", input: 7 }).catch((err) => err);
  ok(bad instanceof OpenAI.BadRequestError && bad.param === "input", `it is ${bad}`);
});

const words = (items) => items.map((item) => (item.role ? `${item.role}: ${item.content[0].text}` : item.type));

trial("a conversation is kept, and responses of a model and of an agent go on from it", async ({ client, assistants, OpenAI, lodge, heard }) => {
  if (!client.conversations) return; // the fourth major knows none
  const { conversations } = client;
  const { id: agent } = await helper(assistants, { model: "quick" });
  for (const model of ["quick", agent]) {
    const made = await conversations.create({ metadata: { topic: "t" }, items: [{ type: "message", role: "user", content: "I am Ann." }] });
    equal(made.object, "conversation", "what it is");
    equal((await conversations.retrieve(made.id)).metadata.topic, "t", "its metadata");
    equal((await conversations.update(made.id, { metadata: { topic: "u" } })).metadata.topic, "u", "changed");
    const added = await conversations.items.create(made.id, { items: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello Ann.", annotations: [] }] }], include: ["reasoning.encrypted_content"] });
    equal(added.data[0].content[0].text, "Hello Ann.", "what was added");

    const first = await client.responses.create({ model, conversation: made.id, input: "Count." });
    equal(first.output_text, "one two three", `${model}: the answer`);
    equal(first.conversation.id, made.id, "its conversation");
    match(JSON.stringify(heard.at(-1).messages), /I am Ann\..*Hello Ann\..*Count\./, "what the provider was told");
    const second = await client.responses.stream({ model, conversation: { id: made.id }, input: "Again.", store: false }).finalResponse();
    equal(second.output[0].content[0].text, "one two three", "streamed");
    match(JSON.stringify(heard.at(-1).messages), /I am Ann\..*Hello Ann\..*Count\..*one two three.*Again\./, "all of it");
    equal(heard.at(-1).messages.filter((m) => m.role === "user").length, 3, "the words of the user");

    const expected = ["user: I am Ann.", "assistant: Hello Ann.", "user: Count.", "assistant: one two three", "user: Again.", "assistant: one two three"];
    equal(words(await all(conversations.items.list(made.id, { order: "asc", limit: 2 }))).join("\n"), expected.join("\n"), `${model}: by pages of two`);
    const [last] = (await conversations.items.list(made.id, { limit: 1 })).data;
    equal((await conversations.items.retrieve(last.id, { conversation_id: made.id })).status, "completed", "one item");
    equal((await conversations.items.delete(last.id, { conversation_id: made.id })).id, made.id, "an item deleted");
    equal(words(await all(conversations.items.list(made.id))).join("\n"), expected.slice(0, -1).reverse().join("\n"), "without it");

    const both = await client.responses.create({ model, conversation: made.id, previous_response_id: first.id, input: "x" }).catch((err) => err);
    ok(both instanceof OpenAI.BadRequestError && both.code === "mutually_exclusive_parameters", `it is ${both}`);
    equal((await conversations.delete(made.id)).deleted, true, "deleted");
    const gone = await client.responses.create({ model, conversation: made.id, input: "x" }).catch((err) => err);
    ok(gone instanceof OpenAI.NotFoundError, `it is ${gone}`);
  }
});

trial("those who write in a conversation at once all do, one after the other", async ({ client }) => {
  if (!client.conversations) return;
  const { id } = await client.conversations.create({});
  await Promise.all(Array.from({ length: 8 }, (_, i) => client.responses.create({ model: "quick", conversation: id, input: `Count ${i}.` })));
  await Promise.all(Array.from({ length: 8 }, (_, i) => client.conversations.items.create(id, { items: [{ type: "message", role: "user", content: `Word ${i}.` }] })));
  const said = words(await all(client.conversations.items.list(id, { order: "asc", limit: 100 })));
  equal(said.length, 24, "the items");
  for (let i = 0; i < 16; i += 2) ok(/^user: Count/.test(said[i]) && /^assistant: one two three/.test(said[i + 1]), `an answer stands after its question: ${said}`);
});

testBoth("a repeat that comes while the first is under way calls no model, and later has its answer", async (t, engine) => {
  const heard = [];
  let open;
  heard.gate = new Promise((done) => { open = done; });
  const url = await provider(t, heard);
  const lodge = await t.serve(await t.place(engine), { flags: ["--no-access-log", "--allow-private-addresses"] });
  await lodge.enter();
  await made(lodge.request("POST", "/admin/models", { body: { name: "gated", slug: "gated", kind: "openai", available_to_all_tenants: true,
    pricing: { prompt: "0.000001", completion: "0.000002" }, config: { base_url: url("gated"), model: "m", api_key: "sk-upstream" } } }), "a model");
  const conversation = (await made(lodge.request("POST", "/v1/conversations", { body: {} }), "a conversation", 200)).id;
  const ask = (input, key) => lodge.request("POST", "/v1/responses", { headers: { "Idempotency-Key": key }, body: { model: "gated", conversation, input } });
  const first = ask("Count.", "once");
  await until(20_000, "the model is asked", () => heard.length === 1);
  const twins = await Promise.all(Array.from({ length: 10 }, () => ask("Count.", "once")));
  for (const twin of twins) {
    equal(twin.status, 409, `a repeat meanwhile says ${twin.text}`);
    equal(twin.json.error.code, "repeat_under_way", "its code");
    equal(twin.headers["retry-after"], "1", "Retry-After");
  }
  const other = ask("Count.", "another");
  await until(20_000, "another key is another request", () => heard.length === 2);
  open();
  equal((await first).status, 200, (await first).text);
  equal((await other).status, 200, (await other).text);
  const again = await ask("Count.", "once");
  equal(again.status, 200, `a repeat afterwards says ${again.text}`);
  equal(again.json.id, (await first).json.id, "the same response");
  equal(heard.length, 2, "how often the model was called");
  const race = await Promise.all(Array.from({ length: 20 }, () => ask("At once.", "race")));
  equal(heard.length, 3, "twenty at once are one call of the model");
  ok(race.every(({ status }) => status === 200 || status === 409) && race.some(({ status }) => status === 200), `they say ${race.map((r) => r.status)}`);
}, { ms: 90_000 });

testBoth("what is asked and answered in a conversation joins it once, though the process dies", async (t, engine) => {
  const heard = [];
  const url = await provider(t, heard);
  const place = await t.place(engine);
  const start = () => t.serve(place, { flags: ["--no-access-log", "--allow-private-addresses", "--job-lease", "1s"] });
  const first = await start();
  await first.enter();
  const slow = await made(first.request("POST", "/admin/models", { body: { name: "slow", slug: "slow", kind: "openai", available_to_all_tenants: true, supports_tools: true,
    pricing: { prompt: "0.000001", completion: "0.000002" }, config: { base_url: url("slow"), model: "m", api_key: "sk-upstream" } } }), "a model");
  const { id: agent } = await made(first.request("POST", "/v1/assistants", { body: { model: "slow", name: "Slow" } }), "an agent", 200);
  const begin = async () => (await made(first.request("POST", "/v1/conversations", { body: {} }), "a conversation", 200)).id;
  const [ofModel, ofAgent] = [await begin(), await begin()];
  const lost = first.request("POST", "/v1/responses", { body: { model: "slow", conversation: ofModel, input: "Count." } }).catch((err) => err);
  await made(first.request("POST", "/v1/responses", { body: { model: agent, conversation: ofAgent, input: "Count.", background: true } }), "a response", 200);
  await until(20_000, "both are being answered", async () => heard.length >= 2);
  const read = async (server, id) => words((await made(server.request("GET", `/v1/conversations/${id}/items?order=asc`), "the items", 200)).data).join("\n");
  equal(await read(first, ofAgent), "user: Count.", "what the agent was asked");
  await made(first.request("PATCH", `/admin/models/${slow.id}`, { body: { config: { base_url: url("quick"), model: "m", api_key: "sk-upstream" } } }), "a quicker model", 200);
  await first.kill();
  await lost;

  const again = await start();
  again.token = first.token;
  const items = (id) => read(again, id);
  equal(await items(ofModel), "", "nothing of what the model did not end");
  await until(40_000, "the agent's answer", async () => (await items(ofAgent)) === "user: Count.\nassistant: one two three");
  for (const [conversation, model] of [[ofModel, "slow"], [ofAgent, agent]])
    await made(again.request("POST", "/v1/responses", { body: { model, conversation, input: "Again." } }), "another", 200);
  equal(await items(ofModel), "user: Again.\nassistant: one two three", "the model's");
  equal(await items(ofAgent), "user: Count.\nassistant: one two three\nuser: Again.\nassistant: one two three", "the agent's");
}, { ms: 120_000 });

trial("responses are streamed, plain and by the helper", async ({ client, assistants }) => {
  const { id } = await helper(assistants, { model: "quick" });
  for (const model of ["quick", id]) {
    const names = [];
    let said = "";
    for await (const event of await client.responses.create({ model, input: "hello", stream: true })) {
      names.push(event.type);
      if (event.type === "response.output_text.delta") said += event.delta;
    }
    equal(said, "one two three", `${model}: the text`);
    match(names.join(" "), /^response\.created response\.in_progress response\.output_item\.added response\.content_part\.added (response\.output_text\.delta )+response\.output_text\.done response\.content_part\.done response\.output_item\.done response\.completed$/, "the events");
    const stream = client.responses.stream({ model, input: "hello" });
    const deltas = [];
    stream.on("response.output_text.delta", ({ delta }) => deltas.push(delta));
    const final = await stream.finalResponse();
    equal(deltas.join(""), "one two three", "the helper's text");
    equal(final.output_text ?? final.output[0].content[0].text, "one two three", "its end");
    equal((await client.responses.retrieve(final.id)).id, final.id, "it is kept");
  }
});

trial("responses call the caller's functions", async ({ client, assistants }) => {
  const { id } = await helper(assistants);
  for (const model of ["demo", id]) {
    const ask = { model, input: 'use tool add with {"a":1}', tools: flat };
    const asks = await client.responses.create(ask);
    const call = asks.output.find((i) => i.type === "function_call");
    equal(call.arguments, '{"a":1}', `${model}: the arguments`);
    const done = await client.responses.create({ model, previous_response_id: asks.id, tools: flat, input: [{ type: "function_call_output", call_id: call.call_id, output: "42" }] });
    match(done.output_text, /42/, "the answer");
    const final = await client.responses.stream(ask).finalResponse();
    equal(final.output.find((i) => i.type === "function_call").name, "add", "streamed");
  }
});

trial("an agent's response works in the background", async ({ client, assistants }) => {
  const { id } = await helper(assistants);
  const begun = await client.responses.create({ model: id, input: "count to 3", background: true });
  ok(["queued", "in_progress"].includes(begun.status), begun.status);
  let read;
  await until(20_000, "its end", async () => (read = await client.responses.retrieve(begun.id)).status === "completed");
  equal(read.output[0].content[0].text, "1 2 3", "its answer");
  if (!client.responses.cancel) return;
  const slow = await helper(assistants, { model: "slow" });
  const hangs = await client.responses.create({ model: slow.id, input: "hello", background: true });
  equal((await client.responses.cancel(hangs.id)).status, "cancelled", "cancelled");
});

existsSync(home("7")) && test("a run that another process works on is streamed to its end", async (t) => {
  const place = await t.place("postgres");
  const key = `${randomBytes(32).toString("hex")}\n`;
  const beside = () => {
    const folder = t.folder(), data = join(folder, "data");
    makeFolder(data, 0o700);
    writeFileSync(join(data, "master.key"), key, { mode: 0o600 });
    return t.serve({ ...place, folder, data }, { flags: ["--no-access-log"] });
  };
  const a = await beside(), b = await beside();
  await a.enter();
  const { default: OpenAI } = await import(pathToFileURL(home("7")).href);
  const made_key = await made(a.request("POST", `/tenant/${a.tenant}/api-keys`, { body: { name: "sdk" } }), "a key");
  const clients = [a, b].map(({ origin }) => new OpenAI({ apiKey: made_key.key, baseURL: `${origin}/v1`, maxRetries: 0 }));
  const assistant = await clients[0].beta.assistants.create({ model: "demo", name: "Two" });
  for (let i = 1; i <= 10; i++)
    await Promise.all(clients.map(async (client) => {
      const stream = client.beta.threads.createAndRunStream({ assistant_id: assistant.id, thread: user(`count to ${i}`) });
      equal((await stream.finalRun()).status, "completed", "its end");
      equal(text((await stream.finalMessages())[0]).split(" ").length, i, "its words");
    }));
}, { ms: 120_000 });
