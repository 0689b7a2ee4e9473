// contention.test.mjs - many at once on the same rows, over several processes on one PostgreSQL: nobody is told 5xx, and the
// rows are as if they had come one after the other.
//
// The numbers are smaller than under ./test full, which has four processes in place of two.
import { createHmac } from "node:crypto";
import http from "node:http";
import { equal, match, ok, shared, test, until } from "./harness.mjs";

const FULL = process.env.LODGE_TEST_EVERY === "1";
const FLAGS = ["--no-access-log", "--allow-private-addresses"];
const PROCESSES = FULL ? 4 : 2;

async function made(promise, status = 201) {
  const reply = await promise;
  equal(reply.status, status, reply.text);
  return reply.json;
}

/** A provider whose answers cost 15 millionths of a dollar. */
async function provider(t) {
  const server = http.createServer(async (req, res) => {
    for await (const piece of req) void piece;
    res.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ id: "x", object: "chat.completion", model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "one two three" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } }));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.onEnd(() => new Promise((done) => (server.closeAllConnections(), server.close(done))));
  return `http://127.0.0.1:${server.address().port}/v1`;
}

/** Several processes over one store, of which each holds up to 64 connections of ours. */
const house = shared(async (t) => {
  const place = await t.place("postgres");
  const servers = [await t.serve(place, { flags: FLAGS })];
  const tenant = await servers[0].enter();
  while (servers.length < PROCESSES) servers.push(await t.serve(place, { flags: FLAGS }));
  for (const server of servers) server.token = servers[0].token;
  return { place, servers, tenant, url: await provider(t), first: servers[0], at: (i) => servers[i % servers.length] };
});

/** Has so many done, at most `width` at a time, and gives how often each status was answered. */
async function crowd(count, width, ask) {
  const seen = {};
  let next = 0;
  await Promise.all(Array.from({ length: width }, async () => {
    while (next < count) {
      const { status } = await ask(next++);
      seen[status] = (seen[status] ?? 0) + 1;
    }
  }));
  return JSON.stringify(seen);
}

const agent = async (h, slug) => (await made(h.first.request("POST", `/tenant/${h.tenant}/agents`, { body: { name: slug, slug } }))).id;
const number = async (h, text) => Number(await h.place.sql(text));

test("64 callers on one agent's budget spend no more than it, and are answered or refused", async (t) => {
  const h = await house(t);
  const model = await made(h.first.request("POST", "/admin/models", { body: { name: "priced", slug: "priced", kind: "openai", available_to_all_tenants: true,
    pricing: { prompt: "0.000001", completion: "0.000002" }, config: { base_url: h.url, model: "m", api_key: "sk-upstream" } } }));
  const id = await agent(h, "spender");
  await made(h.first.request("PUT", `/agents/${id}/models`, { body: { model_ids: [model.id] } }), 200);
  await made(h.first.request("PUT", `/agents/${id}/budget`, { body: { hourly_limit_usd: 0.003 } }), 200);
  const { key } = await made(h.first.request("POST", `/tenant/${h.tenant}/api-keys`, { body: { name: "spender" } }));
  const seen = JSON.parse(await crowd(FULL ? 2000 : 320, 64, (i) => h.at(i).request("POST", "/v1/chat/completions",
    { token: key, body: { model: id, messages: [{ role: "user", content: "count" }], max_tokens: 3 } })));
  equal(Object.keys(seen).filter((status) => !["200", "429"].includes(status)).join(), "", `other answers in ${JSON.stringify(seen)}`);
  await until(20_000, "all is settled", async () => (await number(h, "select count(*) from reservations")) === 0);
  const spent = await number(h, `select coalesce(sum(cost_pd), 0) from ledger where agent_id = '${id}'`);
  equal(spent, (seen[200] ?? 0) * 15_000_000, "what the answers cost");
  ok(spent <= 3_000_000_000 && spent > 1_500_000_000, `${spent} picodollars of 3,000,000,000 were spent`);
}, { ms: 300_000 });

test("sessions begun a hundred at a time are all begun, and all answered", async (t) => {
  const h = await house(t);
  const count = FULL ? 1000 : 100, id = await agent(h, "talker");
  equal(await crowd(count, 100, (i) => h.at(i).request("POST", `/agents/${id}/sessions`, { body: { message: "count to 3" } })), `{"201":${count}}`, "the answers");
  await until(FULL ? 240_000 : 90_000, "all are answered", async () => (await number(h, `select count(*) from sessions where agent_id = '${id}' and status = 'completed'`)) === count);
  equal(await number(h, `select count(*) from messages m join sessions s on s.tenant_id = m.tenant_id and s.id = m.session_id where s.agent_id = '${id}'`), 2 * count, "messages");
}, { ms: 400_000 });

test("agents of one tenant made on 64 connections are all made, once", async (t) => {
  const h = await house(t);
  const count = FULL ? 3000 : 256;
  const before = await number(h, "select sum(agents) from tenant_counts");
  equal(await crowd(count, 64, (i) => h.at(i).request("POST", `/tenant/${h.tenant}/agents`, { body: { name: `Made ${i}`, slug: `made-${i}` } })), `{"201":${count}}`, "the answers");
  equal(await number(h, "select count(*) from agents where slug like 'made-%'"), count, "agents");
  equal((await number(h, "select sum(agents) from tenant_counts")) - before, count, "as the tenant counts them");
  equal(await number(h, "select count(*) from audit_logs where action = 'agent.create' and resource_id in (select id from agents where slug like 'made-%')"), count, "audit rows");
}, { ms: 300_000 });

test("webhooks of one integration on all processes are each taken once", async (t) => {
  const h = await house(t);
  const events = FULL ? 1000 : 60, id = await agent(h, "hooked");
  const hook = await made(h.first.request("POST", `/tenant/${h.tenant}/integrations`, { body: { provider: "github", label: "Rocket", agent_id: id } }));
  const body = JSON.stringify({ action: "opened", issue: { number: 7, title: "It leaks" }, repository: { full_name: "acme/rocket" }, sender: { login: "ann" } });
  const signature = `sha256=${createHmac("sha256", hook.signing_secret).update(body).digest("hex")}`;
  // Each event is sent to every process, as a sender does that does not trust its first answer.
  const seen = JSON.parse(await crowd(events * PROCESSES, 64, (i) => h.at(i).request("POST", `/hooks/${hook.id}`, { token: null, body, headers: {
    "X-GitHub-Event": "issues", "X-GitHub-Delivery": `event-${Math.floor(i / PROCESSES)}`, "X-Hub-Signature-256": signature } })));
  equal(JSON.stringify(seen), JSON.stringify({ 200: events * (PROCESSES - 1), 202: events }), "the answers");
  await until(FULL ? 240_000 : 90_000, "all are delivered", async () => (await number(h, `select count(*) from sessions where agent_id = '${id}' and status = 'completed'`)) === events);
  equal(await number(h, `select count(*) from sessions where agent_id = '${id}'`), events, "sessions");
}, { ms: 400_000 });

test("one session written by ten people keeps every message, and its events have no gap", async (t) => {
  const h = await house(t);
  const each = FULL ? 20 : 4, id = await agent(h, "shared");
  const { id: session } = await made(h.first.request("POST", `/agents/${id}/sessions`, { body: { message: "count to 1" } }));
  const people = [];
  for (let n = 0; n < 10; n++) {
    const { invite_token: token } = await made(h.first.request("POST", `/tenant/${h.tenant}/members`, { body: { email: `writer-${n}@example.org`, role: "ADMIN" } }));
    people.push((await made(h.first.request("POST", "/auth/accept-invite", { token: "", body: { token, name: `Writer ${n}`, password: "Another-Horse-9-Battery" } }), 200)).token);
  }
  const seen = await crowd(10 * each, 10, (i) => h.at(i).request("POST", `/sessions/${session}/messages`, { token: people[i % 10], body: { content: `count to ${i % 3 + 1}` } }));
  match(seen, /^\{"20[0-9]":\d+\}$/, "the answers");
  const rows = `select count(*) from messages where session_id = '${session}'`;
  await until(120_000, "the session is at rest", async () => (await made(h.first.request("GET", `/sessions/${session}`), 200)).status === "completed"
    && (await number(h, `select count(*) from jobs`)) === 0);
  equal(await number(h, `${rows} and role = 'user'`), 10 * each + 1, "messages of people");
  equal(await number(h, `select last_event_id - (select count(*) from session_events where session_id = '${session}') from session_rows where id = '${session}'`), 0, "events without a gap");
  equal(await number(h, `select message_count - (${rows}) from session_rows where id = '${session}'`), 0, "messages as the session counts them");
}, { ms: 300_000 });

test("what was run again is in the metrics of each process, and none of its answers was 5xx", async (t) => {
  const h = await house(t);
  for (const server of h.servers) {
    const { text } = await server.request("GET", "/metrics");
    match(text, /\nlodge_store_retries_total \d+\n/, "transactions run again");
    const bad = text.split("\n").filter((line) => /^lodge_requests_total\{.*status="5xx"\} [1-9]/.test(line));
    equal(bad.join("\n"), "", "answers of 5xx");
  }
});
