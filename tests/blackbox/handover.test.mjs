// handover.test.mjs - processes over one PostgreSQL come and go: one that is told to end hands its sessions over at once,
// while its last requests are still under way; one that is killed loses them when its lease is over; one that joins takes
// work at once.  Nothing is lost, and each message gets one answer.
import http from "node:http";
import { equal, ok, test, until } from "./harness.mjs";
import { Raw } from "./raw.mjs";

const FLAGS = ["--no-access-log", "--allow-private-addresses"];
const EACH = 4;

/** A provider that says "one two three"; or, while it is told to, hangs before or after the first word. */
async function provider(t) {
  const seen = { hanging: true, open: 0 };
  const server = http.createServer(async (req, res) => {
    for await (const piece of req) void piece;
    const say = (delta, finish_reason = null) => res.write(`data: ${JSON.stringify({ id: "x", model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    res.on("close", () => seen.open--);
    seen.open++;
    if (seen.hanging && req.url.startsWith("/silent")) return;
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    say({ content: "one" });
    if (seen.hanging) return;
    say({ content: " two three" }, "stop");
    res.write(`data: ${JSON.stringify({ id: "x", choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } })}\n\n`);
    res.end("data: [DONE]\n\n");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.onEnd(() => new Promise((done) => (server.closeAllConnections(), server.close(done))));
  return { seen, url: (script) => `http://127.0.0.1:${server.address().port}/${script}/v1` };
}

async function made(promise, status = 201) {
  const reply = await promise;
  equal(reply.status, status, reply.text);
  return reply.json;
}

/** An agent for each way of the provider, and sessions of each that it has begun to answer. */
async function begun(server, mock) {
  const ids = [];
  for (const script of ["silent", "speaking"]) {
    const { id: model } = await made(server.request("POST", "/admin/models", { body: { name: script, slug: script, kind: "openai",
      available_to_all_tenants: true, config: { base_url: mock.url(script), model: "m", api_key: "sk-upstream" } } }));
    const { id } = await made(server.request("POST", `/tenant/${server.tenant}/agents`, { body: { name: script, slug: script } }));
    await made(server.request("PUT", `/agents/${id}/models`, { body: { model_ids: [model] } }), 200);
    for (let n = 0; n < EACH; n++) ids.push((await made(server.request("POST", `/agents/${id}/sessions`, { body: { message: `Say ${n}` } }))).id);
  }
  await until(30_000, "all are asked for", () => mock.seen.open === ids.length);
  return ids;
}

/** Each session has its message and one whole answer, and its events are numbered without a gap. */
async function whole(server, place, ids) {
  for (const id of ids) {
    await until(60_000, `the session ${id}`, async () => (await made(server.request("GET", `/sessions/${id}`), 200)).status === "completed");
    const { items } = await made(server.request("GET", `/sessions/${id}/messages`), 200);
    equal(items.map((m) => `${m.role} ${m.content}`).reverse().slice(1).join("; "), "assistant one two three", "what follows the message");
    equal(await place.sql(`select last_event_id - (select count(*) from session_events where session_id = '${id}') from session_rows where id = '${id}'`), "0", "events without a gap");
  }
  await until(20_000, "all is settled", async () => (await place.sql("select (select count(*) from jobs) + (select count(*) from reservations)")) === "0");
}

test("a process that is told to end hands its sessions over at once, while its last request is under way", async (t) => {
  const mock = await provider(t);
  const place = await t.place("postgres");
  const a = await t.serve(place, { flags: [...FLAGS, "--stop-grace", "120s"] });
  await a.enter();
  const ids = await begun(a, mock);
  const b = await t.serve(place, { flags: FLAGS });
  b.token = a.token;
  const raw = new Raw(a.port);
  await raw.open();
  raw.send("POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n");
  await raw.when(() => raw.bytes.includes("HTTP/1.1 100 "), 20_000, "waiting to be asked for the body");
  mock.seen.hanging = false;
  const began = Date.now();
  a.signal("SIGTERM");
  await whole(b, place, ids);
  const took = Date.now() - began;
  ok(took < 25_000, `it took ${took} ms until others had answered, as long as a lease`);
  ok(!a.ended, "the process has ended, and so nothing is proven");
  raw.send("0123456789");
  equal((await a.over).status, 0, "the exit status");
}, { ms: 180_000 });

test("the sessions of a process that is killed go on when its lease is over, also in one that joins later", async (t) => {
  const flags = [...FLAGS, "--job-lease", "2s"];
  const mock = await provider(t);
  const place = await t.place("postgres");
  const a = await t.serve(place, { flags });
  await a.enter();
  const ids = await begun(a, mock);
  mock.seen.hanging = false;
  a.signal("SIGKILL");
  await a.over;
  const c = await t.serve(place, { flags });
  c.token = a.token;
  await whole(c, place, ids);
}, { ms: 180_000 });
