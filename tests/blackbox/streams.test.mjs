// streams.test.mjs - event streams on the real program: a run on one process and readers on both, and a
// stream that outlives its server.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { equal, makeFolder, ok, test, testBoth, until, within } from "./harness.mjs";

const FLAGS = ["--no-access-log"];

/** A stream of server-sent events: what came, the last id, and how it ended. */
class Stream {
  constructor(server, path, lastId) {
    this.events = [];
    this.lastId = lastId;
    this.text = "";
    this.ended = null;
    const headers = { Authorization: `Bearer ${server.token}`, ...(lastId ? { "Last-Event-ID": lastId } : {}) };
    this.open = new Promise((yes, no) => {
      this.request = http.get({ host: "127.0.0.1", port: server.port, path, headers, agent: false }, (reply) => {
        this.status = reply.statusCode;
        reply.setEncoding("utf8");
        reply.on("data", (text) => (this.take(text), yes()));
        reply.on("end", () => (this.ended = reply.complete ? "whole" : "broken"));
        reply.on("error", () => (this.ended = "broken"));
      });
      this.request.on("error", no);
    });
  }

  take(text) {
    this.text += text;
    for (let at; (at = this.text.indexOf("\n\n")) >= 0; this.text = this.text.slice(at + 2)) {
      const event = {};
      for (const line of this.text.slice(0, at).split("\n")) {
        const colon = line.indexOf(": ");
        if (colon > 0) event[line.slice(0, colon)] = line.slice(colon + 2);
      }
      if (event.id) this.lastId = event.id;
      if (event.data) this.events.push({ id: event.id, kind: event.event, data: JSON.parse(event.data) });
    }
  }

  async until(what, found, ms = 30_000) {
    await until(ms, what, () => this.events.some(found));
  }

  close() {
    this.request.destroy();
  }
}

const isEnd = (e) => e.kind === "status" && (e.data.data ?? e.data).status === "completed";

async function newSession(server, tenant) {
  const model = await server.request("POST", "/admin/models", { body: { name: "Demo B", slug: "demo-b", kind: "demo", available_to_all_tenants: true } });
  equal(model.status, 201, model.text);
  const agent = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Bob", slug: "bob" } });
  equal(agent.status, 201, agent.text);
  const chain = await server.request("PUT", `/agents/${agent.json.id}/models`, { body: { model_ids: [model.json.id] } });
  equal(chain.status, 200, chain.text);
  const session = await server.request("POST", `/agents/${agent.json.id}/sessions`, { body: { title: "S" } });
  equal(session.status, 201, session.text);
  return session.json.id;
}

async function say(server, session) {
  const said = await server.request("POST", `/sessions/${session}/messages`, { body: { content: "Tell me something." } });
  equal(said.status, 202, said.text);
}

const numbers = (events) => events.map((e) => Number(e.id)).join(" ");

test("a run is followed on every process, and told alike", async (t) => {
  const place = await t.place("postgres");
  const key = `${randomBytes(32).toString("hex")}\n`;
  const servers = [];
  for (let i = 0; i < 2; i++) {
    const folder = t.folder();
    const data = join(folder, "data");
    makeFolder(data, 0o700);
    writeFileSync(join(data, "master.key"), key, { mode: 0o600 });
    servers.push(await t.serve({ ...place, folder, data }, { flags: FLAGS }));
  }
  const [a, b] = servers;
  const tenant = await a.enter();
  b.token = a.token;
  const session = await newSession(a, tenant);
  const streams = servers.map((s) => new Stream(s, `/sessions/${session}/events?after=0`));
  const mine = servers.map((s) => new Stream(s, "/me/events"));
  await Promise.all([...streams, ...mine].map((s) => s.open));
  await until(10_000, "places in the feed", () => mine.every((s) => s.lastId));
  const made = await a.request("GET", `/sessions/${session}`);
  const before = made.json.last_event_id;
  await until(10_000, "what was before", () => streams.every((s) => Number(s.lastId ?? 0) >= before));
  for (const server of servers) {
    for (const s of [...streams, ...mine]) s.events.splice(0);
    await say(server, session);
    for (const s of [...streams, ...mine]) await s.until("the end of the run", isEnd);
    equal(numbers(streams[0].events), numbers(streams[1].events), "the numbers on both");
    const first = Number(streams[0].events[0].id);
    streams[0].events.forEach((e, i) => equal(Number(e.id), first + i, "a number"));
    const kinds = (events) => events.filter((e) => e.kind !== "delta").map((e) => e.kind).join(" ");
    // That the session was begun may be told after a reader has its place.
    for (const s of mine) equal(kinds(s.events.filter((e) => e.data.session_id === session)).replace(/^status (?=message)/, ""), kinds(streams[0].events), "what the feed tells");
  }
  for (const s of [...streams, ...mine]) s.close();
}, { ms: 120_000 });

testBoth("a stream ends whole when the service stops, and goes on where it was", async (t, engine) => {
  const server = await t.serve(await t.place(engine), { flags: [...FLAGS, "--stop-grace", "5m"] });
  const tenant = await server.enter();
  const session = await newSession(server, tenant);
  const stream = new Stream(server, `/sessions/${session}/events?after=0`);
  const mine = new Stream(server, "/me/events");
  await Promise.all([stream.open, mine.open]);
  await say(server, session);
  await stream.until("the end of the run", isEnd);
  await mine.until("the end of the run", isEnd);
  server.signal("SIGTERM");
  await until(10_000, "the end of the streams", () => stream.ended && mine.ended);
  equal(stream.ended, "whole", "the session's stream");
  equal(mine.ended, "whole", "the caller's stream");
  equal((await within(30_000, server.over, "the end, which waits for no stream")).status, 0, "the exit status");
  const again = await t.serve(server.place, { flags: FLAGS });
  again.token = server.token;
  await say(again, session);
  const next = new Stream(again, `/sessions/${session}/events`, stream.lastId);
  const nextMine = new Stream(again, "/me/events", mine.lastId);
  await next.until("the end of the second run", isEnd);
  await nextMine.until("the end of the second run", isEnd);
  equal(Number(next.events[0].id), Number(stream.lastId) + 1, "the first after the break");
  equal(nextMine.events.filter((e) => e.data.session_id)[0].data.seq, Number(stream.lastId) + 1, "the first in the feed");
  next.close();
  nextMine.close();
}, { ms: 120_000 });

testBoth("POST of a message streams the answer on the same connection", async (t, engine) => {
  const server = await t.serve(await t.place(engine), { flags: FLAGS });
  const tenant = await server.enter();
  const session = await newSession(server, tenant);
  const reply = await server.request("POST", `/sessions/${session}/messages`, { body: { content: "Hello" }, headers: { Accept: "text/event-stream" } });
  equal(reply.status, 200, reply.text);
  equal(reply.headers["content-type"], "text/event-stream", "the type");
  ok(/event: message\ndata: .*"role":"assistant"/.test(reply.text), `no answer: ${reply.text}`);
  ok(/"status":"completed"[^\n]*\n\n$/.test(reply.text), `its end: ${reply.text.slice(-300)}`);
});
