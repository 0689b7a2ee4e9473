// console_talk.mjs - what tests of conversations stand on: a model that speaks when it is told to, agents, sessions.
import { createServer } from "node:http";
import { equal, ok, until } from "./harness.mjs";

/** A model that says its words as slowly as it is let: each call of it is an answer with `say`, `call`, `refuse` and `end`. */
export async function slowModel(t) {
  const mock = { answers: [], text: (n) => Array.from({ length: n }, (_, i) => `w${i} `).join("") };
  const server = createServer((request, reply) => {
    const parts = [];
    request.on("data", (p) => parts.push(p));
    request.on("end", () => {
      const asked = JSON.parse(Buffer.concat(parts));
      const chunk = (delta, finish_reason = null, more = {}) => {
        if (!reply.headersSent) reply.writeHead(200, { "Content-Type": "text/event-stream" });
        reply.write(`data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "slow", choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`);
      };
      const end = (reason = "stop", completion_tokens = 7) => {
        chunk({}, reason, { usage: { prompt_tokens: 5, completion_tokens, total_tokens: 5 + completion_tokens } });
        reply.end("data: [DONE]\n\n");
      };
      mock.answers.push({
        asked,
        told: String(asked.messages.findLast((m) => m.role === "user")?.content ?? ""),
        say: (text) => chunk({ role: "assistant", content: text }),
        /** Asks for these tools, [name, arguments] each, and ends; with so many tokens. */
        call: (calls, used) => (chunk({ role: "assistant", tool_calls: calls.map(([name, args], index) => ({ index, id: `c${index}${Math.random().toString(36).slice(2, 9)}`, type: "function", function: { name, arguments: JSON.stringify(args) } })) }), end("tool_calls", used)),
        refuse: () => (reply.writeHead(400, { "Content-Type": "application/json" }), reply.end('{"error":{"message":"It refuses","type":"invalid_request_error"}}')),
        end,
      });
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.onEnd(() => (server.closeAllConnections(), server.close()));
  mock.url = `http://127.0.0.1:${server.address().port}/v1`;
  /** The answer that is asked for as the nth, from 0. */
  mock.answer = async (n) => {
    await until(30_000, `the model is asked ${n + 1} times`, () => mock.answers.length > n);
    return mock.answers[n];
  };
  /** The one that was told this. */
  mock.told = async (text) => {
    await until(30_000, `the model is told ${text}`, () => mock.answers.some((a) => a.told.includes(text)));
    return mock.answers.find((a) => a.told.includes(text));
  };
  return mock;
}

export async function agentOf({ server, tenant }, name, { tools = [], models, ...more } = {}) {
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name, slug: `a${Math.random().toString(36).slice(2, 10)}`, ...more } });
  equal(made.status, 201, `making an agent: ${made.text}`);
  const known = await server.request("GET", `/tenant/${tenant}/tools?kind=builtin&per_page=200`);
  for (const [tool, requires_approval] of tools) {
    const { id } = known.json.items.find((item) => item.name === tool);
    if (requires_approval) await server.request("PATCH", `/tenant/${tenant}/tools/${id}`, { body: { requires_approval } });
    const granted = await server.request("POST", `/agents/${made.json.id}/tools`, { body: { tool_id: id } });
    ok(granted.status < 300, `granting ${tool}: ${granted.text}`);
  }
  const chain = models ?? [(await server.request("GET", `/tenant/${tenant}/models?per_page=200`)).json.items.find((m) => m.slug === "demo").id];
  equal((await server.request("PUT", `/agents/${made.json.id}/models`, { body: { model_ids: chain } })).status, 200, "the chain");
  return made.json.id;
}

export async function modelAt({ server }, slug, base_url, more = {}) {
  const made = await server.request("POST", "/admin/models", { body: { name: slug, slug, kind: "openai", supports_tools: true, available_to_all_tenants: true, is_free: true, pricing: { prompt: "0.000001", completion: "0.000002" }, config: { base_url, model: "slow", api_key: "sk-1", timeout_s: 60 }, ...more } });
  equal(made.status, 201, `making a model: ${made.text}`);
  return made.json.id;
}

export const begin = async ({ server }, agent, body) => {
  const made = await server.request("POST", `/agents/${agent}/sessions`, { body });
  equal(made.status, 201, `beginning a session: ${made.text}`);
  return made.json.id;
};
export const stands = (server, id, status) => until(30_000, `the session is ${status}`, async () => (await server.request("GET", `/sessions/${id}`)).json.status === status);
