// sessions.test.mjs - a person and an agent, over the wire: words, tools, approvals, subtasks, exports.
import { equal, match, ok, pause, testBoth, within } from "./harness.mjs";

/** A server with an agent of the demonstration model that holds these builtin tools. */
async function stage(t, engine, tools = []) {
  const server = await t.serve(await t.place(engine), { flags: ["--no-access-log"] });
  const tenant = await server.enter();
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Desk", slug: "sessions-desk" } });
  equal(made.status, 201, `making an agent says ${made.text}`);
  const agent = made.json.id;
  const known = await server.request("GET", `/tenant/${tenant}/tools?kind=builtin&per_page=200`);
  for (const [name, requires_approval] of tools) {
    const tool = known.json.items.find((item) => item.name === name);
    const patched = await server.request("PATCH", `/tenant/${tenant}/tools/${tool.id}`, { body: { requires_approval } });
    equal(patched.status, 200, `changing ${name} says ${patched.text}`);
    const granted = await server.request("POST", `/agents/${agent}/tools`, { body: { tool_id: tool.id } });
    ok(granted.status === 201 || granted.status === 200, `granting ${name} says ${granted.text}`);
  }
  return { server, tenant, agent };
}

async function begin({ server, agent }, body) {
  const made = await server.request("POST", `/agents/${agent}/sessions`, { body });
  equal(made.status, 201, `beginning a session says ${made.text}`);
  return made.json;
}

/** Reads the session until it stands as wanted. */
async function stands(server, id, status) {
  let last;
  await within(20_000, (async () => {
    for (;;) {
      last = (await server.request("GET", `/sessions/${id}`)).json;
      if (last.status === status) return;
      if (last.status === "failed") throw new Error(`the session failed: ${last.error}`);
      await pause(20);
    }
  })(), `waiting for ${status}`);
  return last;
}

const said = async (server, id) =>
  (await server.request("GET", `/sessions/${id}/messages?per_page=200`)).json.items.reverse().map((m) => `${m.role}: ${m.content}`);

testBoth("a session answers, goes on, and is exported both ways", async (t, engine) => {
  const desk = await stage(t, engine, [["calculator", false]]);
  const { server, tenant } = desk;
  const session = await begin(desk, { message: "count to 3" });
  equal(session.origin, "user", "origin");
  const done = await stands(server, session.id, "completed");
  equal(done.title, "count to 3", "the title");
  equal(done.message_count, 2, "messages");
  equal((await said(server, session.id)).join(" | "), "user: count to 3 | assistant: 1 2 3", "what was said");

  const more = await server.request("POST", `/tenant/${tenant}/sessions/${session.id}/messages`,
    { body: { content: 'use tool calculator with {"expression":"6*7"}' } });
  equal(more.status, 202, `a message says ${more.text}`);
  equal(more.json.role, "user", "whose it is");
  const again = await stands(server, session.id, "completed");
  equal(again.message_count, 6, "messages");
  match((await said(server, session.id)).at(-1), /42/, "the answer");

  const json = await server.request("GET", `/sessions/${session.id}/export`);
  equal(json.headers["content-type"], "application/json", "the type");
  equal(json.json.messages.length, 6, "messages in the export");
  equal(json.json.calls.length, 1, "calls in the export");
  equal(json.json.calls[0].state, "completed", "what became of the call");
  equal(json.json.runs.length, 2, "runs in the export");
  equal(json.json.messages[3].tool_calls[0].name, "calculator", "what the model asked for");
  const text = await server.request("GET", `/sessions/${session.id}/export?format=markdown`);
  match(text.headers["content-type"], /^text\/markdown/, "the type");
  match(text.text, /^# count to 3\n\nSession c[a-z0-9]{24} of agent /, "how it begins");
  match(text.text, /\n1 2 3\n/, "what was said");
  match(text.text, /Calls calculator \(.*\):\n\n```json\n/, "what was called");

  const audit = await server.request("GET", `/tenant/${tenant}/sessions/${session.id}/audit`);
  equal(audit.json.messages.length, 6, "messages for auditors");
  ok(audit.json.total_tokens > 0 && audit.json.prompt_tokens > 0, `tokens are counted: ${audit.text}`);
  const list = await server.request("GET", `/v1/tenants/${tenant}/sessions`);
  equal(list.json.items[0].id, session.id, "the auditors' list");
  equal(list.json.items[0].user_email, "admin@example.com", "who began it");
  const summary = (await server.request("GET", `/admin/tenants/${tenant}`)).json.task_summary_30d;
  equal(summary.sessions, 1, "sessions of thirty days");
  equal(summary.completed, 1, "those completed");
  equal(summary.messages, 6, "messages of thirty days");

  equal((await server.request("DELETE", `/sessions/${session.id}`)).status, 204, "deleting it");
  equal((await server.request("GET", `/sessions/${session.id}`)).status, 404, "reading it then");
});

testBoth("a message answers with what happens, as a stream", async (t, engine) => {
  const desk = await stage(t, engine);
  const { server } = desk;
  const session = await begin(desk, { title: "Stream" });
  const reply = await server.request("POST", `/sessions/${session.id}/messages`,
    { body: { content: "count to 5" }, headers: { Accept: "text/event-stream" } });
  match(reply.headers["content-type"], /^text\/event-stream/, "the type");
  const events = reply.text.split("\n\n").filter((part) => part.includes("data: ")).map((part) => ({
    id: Number(/^id: (\d+)/m.exec(part)?.[1]),
    kind: /^event: (\w+)/m.exec(part)?.[1],
    data: JSON.parse(/^data: (.*)$/m.exec(part)[1]),
  }));
  equal(events[0].kind, "message", "the first event");
  equal(events[0].data.content, "count to 5", "is the message itself");
  // A quick answer may come whole; what deltas there are lead up to it.
  const answer = events.filter((e) => e.kind === "message" && e.data.role === "assistant").at(-1);
  equal(answer.data.content, "1 2 3 4 5", "the answer");
  ok("1 2 3 4 5".startsWith(events.filter((e) => e.kind === "delta").map((e) => e.data.text).join("")), "deltas are part of it");
  equal(events.at(-1).kind, "status", "the last event");
  equal(events.at(-1).data.status, "completed", "is the end of the run");
  ok(events.every((e, i) => i === 0 || e.id > events[i - 1].id), "events come in order");
});

testBoth("approvals hold a call back until a person decides", async (t, engine) => {
  const desk = await stage(t, engine, [["calculator", true]]);
  const { server, tenant } = desk;
  for (const approved of [true, false]) {
    const session = await begin(desk, { message: 'use tool calculator with {"expression":"6*7"}' });
    await stands(server, session.id, "waiting_approval");
    const mine = await server.request("GET", "/me/approvals");
    equal(mine.json.total, 1, "approvals that wait for the caller");
    equal(mine.json.items[0].tool_name, "calculator", "the tool");
    equal(mine.json.items[0].arguments.expression, "6*7", "its arguments");
    equal((await server.request("GET", `/tenant/${tenant}/approvals`)).json.items[0].id, mine.json.items[0].id, "the tenant's list");
    const path = `/sessions/${session.id}/approvals/${mine.json.items[0].id}`;
    const decided = await server.request("POST", path, { body: { approved } });
    equal(decided.status, 200, `deciding says ${decided.text}`);
    equal(decided.json.status, approved ? "approved" : "denied", "what was decided");
    equal((await server.request("POST", path, { body: { approved } })).status, 409, "deciding twice");
    await stands(server, session.id, "completed");
    const words = (await said(server, session.id)).join("\n");
    if (approved) match(words, /42/, "the tool ran");
    else ok(!/42/.test(words), "the tool did not run");
  }
  const cancelled = await begin(desk, { message: 'use tool calculator with {"expression":"1+1"}' });
  await stands(server, cancelled.id, "waiting_approval");
  const end = await server.request("POST", `/sessions/${cancelled.id}/cancel`);
  equal(end.json.status, "cancelled", "cancelling");
  equal((await server.request("GET", "/me/approvals")).json.total, 0, "nothing waits any more");
  equal((await server.request("POST", `/sessions/${cancelled.id}/cancel`)).status, 409, "cancelling twice");
  equal((await server.request("POST", `/sessions/${cancelled.id}/messages`, { body: { content: "count to 2" } })).status, 202, "it goes on");
  await stands(server, cancelled.id, "completed");
});

testBoth("subtasks are active until they end, and another tenant sees none of it", async (t, engine) => {
  const desk = await stage(t, engine, [["calculator", true]]);
  const { server, tenant } = desk;
  const session = await begin(desk, { title: "Parent" });
  const given = await server.request("POST", `/sessions/${session.id}/subtasks`,
    { body: { title: "Reckon", message: 'use tool calculator with {"expression":"2*3"}' } });
  equal(given.status, 201, `giving a subtask says ${given.text}`);
  await stands(server, given.json.id, "waiting_approval");
  const active = await server.request("GET", `/v1/sessions/${session.id}/subtasks/active`);
  equal(active.json.count, 1, "active subtasks");
  equal(active.json.subtasks[0].id, given.json.id, "which");
  equal(active.json.subtasks[0].agent_name, "Desk", "whose");
  const approval = (await server.request("GET", `/sessions/${given.json.id}/approvals`)).json.items[0];
  await server.request("POST", `/sessions/${given.json.id}/approvals/${approval.id}`, { body: { approved: true } });
  await stands(server, given.json.id, "completed");
  equal((await server.request("GET", `/sessions/${session.id}/subtasks/active`)).json.count, 0, "none is active then");
  equal((await server.request("GET", `/sessions/${session.id}/subtasks`)).json.items[0].status, "completed", "it is listed still");

  const other = await server.request("POST", "/tenants", { body: { name: "Other", slug: "other" } });
  equal(other.status, 201, `another tenant says ${other.text}`);
  const invited = await server.request("POST", `/tenant/${other.json.id}/members`, { body: { email: "eve@example.com", role: "ADMIN" } });
  const eve = await server.request("POST", "/auth/accept-invite",
    { body: { token: invited.json.invite_token, name: "Eve", password: "A-long-password-1" } });
  equal(eve.status, 200, `accepting says ${eve.text}`);
  for (const [method, path, body] of [
    ["GET", `/sessions/${session.id}`], ["GET", `/tenant/${tenant}/sessions/${session.id}`],
    ["GET", `/tenant/${other.json.id}/sessions/${session.id}`], ["GET", `/sessions/${session.id}/messages`],
    ["GET", `/sessions/${session.id}/export`], ["GET", `/sessions/${session.id}/subtasks/active`],
    ["GET", `/sessions/${session.id}/events`], ["POST", `/sessions/${session.id}/messages`, { content: "hi" }],
    ["POST", `/sessions/${session.id}/cancel`], ["DELETE", `/sessions/${session.id}`],
  ])
    equal((await server.request(method, path, { body, token: eve.json.token })).status, 404, `${method} ${path} by a stranger`);
});
