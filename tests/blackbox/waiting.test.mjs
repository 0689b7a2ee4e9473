// waiting.test.mjs - events that find no room wait through deaths of their processes, on one and on two, and go on as
// soon as there is room: each once, and never more at a time than the agent's rate lets pass.
import { createHmac, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { equal, makeFolder, ok, pause, test, testBoth, until } from "./harness.mjs";

const FLAGS = ["--no-access-log", "--job-lease", "1s"];
const RATE = 3, EVENTS = 24;
const body = JSON.stringify({ action: "opened", issue: { number: 7, title: "It leaks" }, repository: { full_name: "acme/rocket" }, sender: { login: "ann" } });

/** An agent that takes so many messages an hour, with an integration. */
async function limited(server) {
  const tenant = await server.enter();
  const agent = (await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Limited", slug: "limited" } })).json.id;
  const made = await server.request("POST", `/tenant/${tenant}/integrations`, { body: { provider: "github", label: "Rocket", agent_id: agent } });
  equal(made.status, 201, made.text);
  const put = await server.request("PUT", `/agents/${agent}/chat-config`, { body: { chat_rph_limit: RATE } });
  equal(put.status, 200, put.text);
  return { agent, id: made.json.id, signature: `sha256=${createHmac("sha256", made.json.signing_secret).update(body).digest("hex")}` };
}

async function send(server, hook, delivery) {
  const reply = await server.request("POST", `/hooks/${hook.id}`, { token: null, body, headers: {
    "X-GitHub-Event": "issues", "X-GitHub-Delivery": delivery, "X-Hub-Signature-256": hook.signature } });
  equal(reply.status, 202, reply.text);
}

const count = async (place, where) => Number(await place.sql(`select count(*) from sessions where ${where}`));

/** All events are sessions, of which as many as the rate lets pass are completed and the others wait. */
async function inLine(place) {
  await until(30_000, "all to stand in line", async () => (await count(place, "waiting_for = 'rate' and status = 'pending'")) === EVENTS - RATE);
  equal(await count(place, "status = 'completed'"), RATE, "sessions that were let pass");
  equal(await place.sql("select count(*) from jobs where state = 'dead'"), "0", "jobs that were given up");
}

async function letPass(server, place, hook) {
  const before = await place.sql("select id from sessions where waiting_for is not null order by id limit 1");
  const read = await server.request("GET", `/sessions/${before}`);
  equal(read.json.waiting_for, "rate", "the reason");
  ok(Date.parse(read.json.waiting_until) > Date.now(), `the next time: ${read.json.waiting_until}`);
  const asked = await server.request("POST", `/agents/${hook.agent}/sessions`, { body: { message: "count to 3" } });
  equal(asked.status, 429, asked.text);
  ok(Number(asked.headers["retry-after"]) > 0, "Retry-After");
  equal((await server.request("PUT", `/agents/${hook.agent}/chat-config`, { body: { chat_rph_limit: null } })).status, 200, "the limit is lifted");
  await until(60_000, "all to be completed", async () => (await count(place, "status = 'completed'")) === EVENTS);
  await until(10_000, "no job to be left", async () => (await place.sql("select count(*) from jobs")) === "0");
  equal(await count(place, "waiting_for is not null or waiting_until is not null"), 0, "sessions that say they wait");
}

testBoth("events that wait outlive the process, and go on when there is room", async (t, engine) => {
  const place = await t.place(engine);
  let server = await t.serve(place, { flags: FLAGS });
  const hook = await limited(server);
  for (let i = 0; i < EVENTS; i++) {
    await send(server, hook, `event-${i}`);
    if (i % 9 !== 8) continue;
    await pause(i * 3);
    server.signal("SIGKILL");
    await server.over;
    server = await t.serve(place, { flags: FLAGS });
  }
  await inLine(place);
  server.signal("SIGKILL");
  await server.over;
  server = await t.serve(place, { flags: FLAGS });
  await server.enter();
  await inLine(place);
  await letPass(server, place, hook);
}, { ms: 180_000 });

test("two processes let no more pass than one would", async (t) => {
  const shared = await t.place("postgres");
  const key = `${randomBytes(32).toString("hex")}\n`;
  const places = [0, 1].map(() => {
    const folder = t.folder(), data = join(folder, "data");
    makeFolder(data, 0o700);
    writeFileSync(join(data, "master.key"), key, { mode: 0o600 });
    return { ...shared, folder, data };
  });
  const a = await t.serve(places[0], { flags: FLAGS });
  const hook = await limited(a);
  const b = await t.serve(places[1], { flags: FLAGS });
  await Promise.all(Array.from({ length: EVENTS }, (_, i) => send(i % 2 ? a : b, hook, `event-${i}`)));
  await inLine(places[0]);
  b.signal("SIGKILL");
  await b.over;
  await letPass(a, places[0], hook);
}, { ms: 180_000 });
