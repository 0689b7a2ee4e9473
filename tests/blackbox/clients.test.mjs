// clients.test.mjs - clients that people bring, unmodified, against agents and models: Vercel's AI SDK and OpenAI's
// Agents SDK keep the conversation themselves, call tools in a loop of their own and resend all of it, as items or as
// references to items.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { equal, here, ok, shared, test } from "./harness.mjs";

const home = join(here, "clients");
const installed = existsSync(join(home, "node_modules/ai"));
if (!installed) console.log("note: the packages of tests/blackbox/clients are not installed: these clients are not tried");
const trial = (name, run) => installed && test(name, run);
const { resolve } = createRequire(join(home, "package.json"));
const load = (name) => import(pathToFileURL(resolve(name)).href);

const stage = shared(async (t) => {
  const lodge = await t.serve(await t.place("sqlite"), { flags: ["--no-access-log"] });
  await lodge.enter();
  const made = await lodge.request("POST", "/v1/assistants", { body: { model: "demo", name: "Helper" } });
  equal(made.status, 200, made.text);
  return { lodge, baseURL: `http://127.0.0.1:${lodge.port}/v1`, apiKey: lodge.token, agent: made.json.id };
});

const ASKED = 'use tool add with {"a":1}';
const ANSWER = "The tool add answered: sum 42";
const run = async ({ a }) => `sum ${a + 41}`;
const sessions = async ({ lodge, agent }) => (await lodge.request("GET", `/tenant/${lodge.tenant}/agents/${agent}/sessions`)).json.total;
const ways = (agent) => ["demo", agent].flatMap((id) => [true, false].flatMap((store) => [true, false].map((stream) => [id, store, stream])));

trial("Vercel's AI SDK calls its tools in a loop, whole and streamed, stored and not", async () => {
  const place = await stage();
  const { generateText, streamText, tool, stepCountIs } = await load("ai");
  const { createOpenAI } = await load("@ai-sdk/openai");
  const { z } = await load("zod");
  const openai = createOpenAI(place);
  const tools = { add: tool({ description: "Adds.", inputSchema: z.object({ a: z.number() }), execute: run }) };
  const before = await sessions(place);
  for (const [id, store, stream] of ways(place.agent)) {
    const errors = [];
    const asked = { model: openai.responses(id), prompt: ASKED, tools, stopWhen: stepCountIs(3), providerOptions: { openai: { store } }, onError: ({ error }) => errors.push(error) };
    const result = stream ? streamText(asked) : await generateText(asked);
    equal(await result.text, ANSWER, `${id}, store ${store}, stream ${stream}: ${errors}`);
    equal((await result.steps).length, 2, "the steps");
  }
  equal((await sessions(place)) - before, 4, "a loop is one session of the agent");
  for (const id of ["demo", place.agent]) equal((await generateText({ model: openai.chat(id), prompt: ASKED, tools, stopWhen: stepCountIs(3) })).text, ANSWER, `chat completions of ${id}`);
  const messages = [{ role: "user", content: "count to 3" }];
  const first = await generateText({ model: openai.responses(place.agent), messages });
  const second = await generateText({ model: openai.responses(place.agent), messages: [...messages, ...first.response.messages, { role: "user", content: "count to 2" }] });
  equal(`${first.text}, ${second.text}`, "1 2 3, 1 2", "a conversation of two turns");
});

trial("OpenAI's Agents SDK calls its tools in a loop, whole and streamed, stored and not", async () => {
  const place = await stage();
  const { Agent, run: work, tool, OpenAIResponsesModel, setTracingDisabled } = await load("@openai/agents");
  const OpenAI = (await load("openai")).default;
  const { z } = await load("zod");
  setTracingDisabled(true);
  const client = new OpenAI(place);
  const add = tool({ name: "add", description: "Adds.", parameters: z.object({ a: z.number() }), execute: run });
  const before = await sessions(place);
  for (const [id, store, stream] of ways(place.agent)) {
    const agent = new Agent({ name: "x", instructions: "Be brief.", tools: [add], model: new OpenAIResponsesModel(client, id), modelSettings: { store } });
    const result = await work(agent, ASKED, { stream });
    if (stream) {
      let deltas = 0;
      for await (const event of result) deltas += event.type === "raw_model_stream_event" && event.data.type === "output_text_delta";
      await result.completed;
      ok(deltas > 0, "nothing was streamed");
    }
    equal(result.finalOutput, ANSWER, `${id}, store ${store}, stream ${stream}`);
  }
  equal((await sessions(place)) - before, 4, "a loop is one session of the agent");
});

trial("OpenAI's Agents SDK keeps its history in a conversation, by its id and by its session", async () => {
  const place = await stage();
  const { Agent, run: work, tool, OpenAIResponsesModel, OpenAIConversationsSession, setTracingDisabled } = await load("@openai/agents");
  const OpenAI = (await load("openai")).default;
  const { z } = await load("zod");
  setTracingDisabled(true);
  const client = new OpenAI(place);
  const add = tool({ name: "add", description: "Adds.", parameters: z.object({ a: z.number() }), execute: run });
  const kinds = async (id) => { const items = []; for await (const item of client.conversations.items.list(id, { order: "asc" })) items.push(item.role ?? item.type); return items.join(" "); };
  const LOOP = "user function_call function_call_output assistant";
  for (const id of ["demo", place.agent]) {
    const agent = new Agent({ name: "x", instructions: "Be brief.", tools: [add], model: new OpenAIResponsesModel(client, id) });
    const { id: conversationId } = await client.conversations.create({});
    const before = await sessions(place);
    equal((await work(agent, ASKED, { conversationId })).finalOutput, ANSWER, `${id}: by its id`);
    equal((await work(agent, "count to 2", { conversationId })).finalOutput, "1 2", "gone on");
    equal(await kinds(conversationId), `${LOOP} user assistant`, `${id}: what is kept`);
    equal((await sessions(place)) - before, id === "demo" ? 0 : 1, "one session of the agent");

    const session = new OpenAIConversationsSession({ client });
    equal((await work(agent, ASKED, { session })).finalOutput, ANSWER, `${id}: by its session`);
    equal((await work(agent, "count to 2", { session })).finalOutput, "1 2", "gone on");
    equal((await session.getItems()).length, 6, "what the session holds");
    await session.popItem();
    equal((await session.getItems()).length, 5, "without the last");
    await session.clearSession();
  }
});
