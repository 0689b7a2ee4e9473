// failover.test.mjs - two servers under Patroni: the primary is killed under load, and nothing that anybody was told
// of is lost.
//
// Two processes of Lodge create agents, take events and have turns run while
// the primary dies, again and again.  Whatever was answered, and whatever could
// be read, must be there after it; each process must work again within ten
// seconds of the promotion.  LODGE_KILLS says how often: a sixtieth of it.
import { createHmac, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { equal, makeFolder, ok, pause, test, until, within } from "./harness.mjs";
import { killServer, startPatroni } from "./peers.mjs";

const failovers = Math.max(1, Math.round(Number(process.env.LODGE_KILLS ?? 12) / 60));
const FLAGS = ["--no-access-log", "--job-lease", "2s"];
const MOST_MS = 10_000; // from the promotion until a process works again

/** Places with one master key, over one store. */
function places(t, store, count) {
  const key = `${randomBytes(32).toString("hex")}\n`;
  const bucket = join(t.folder(), "bucket");
  return Array.from({ length: count }, () => {
    const folder = t.folder();
    const data = join(folder, "data");
    makeFolder(data, 0o700);
    writeFileSync(join(data, "master.key"), key, { mode: 0o600 });
    return { engine: "postgres", folder, data, store, bucket };
  });
}

const body = JSON.stringify({ action: "opened", issue: { number: 7, title: "It leaks" }, repository: { full_name: "acme/rocket" }, sender: { login: "ann" } });
let serial = 0;

async function furnish(server) {
  const tenant = await server.enter();
  const agent = (await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Worker", slug: "worker" } })).json.id;
  const hook = (await server.request("POST", `/tenant/${tenant}/integrations`, { body: { provider: "github", label: "Rocket", agent_id: agent } })).json;
  return { tenant, agent, hook: hook.id, signature: `sha256=${createHmac("sha256", hook.signing_secret).update(body).digest("hex")}` };
}

// What a client sends, and where the row of an answer must be found afterwards.
const KINDS = {
  agents: { send: (s, w, n) => s.request("POST", `/tenant/${w.tenant}/agents`, { body: { name: `Agent ${n}`, slug: `agent-${n}` }, headers: { "Idempotency-Key": `a-${n}` } }), id: (r) => r.json.id },
  sessions: { send: (s, w, n) => s.request("POST", `/agents/${w.agent}/sessions`, { body: { message: "count to 3" }, headers: { "Idempotency-Key": `s-${n}` } }), id: (r) => r.json.id },
  deliveries: {
    send: (s, w, n) => s.request("POST", `/hooks/${w.hook}`, { token: null, body, headers: { "X-GitHub-Event": "issues", "X-GitHub-Delivery": `d-${n}`, "X-Hub-Signature-256": w.signature } }),
    id: (r, n) => `d-${n}`,
  },
};

/** Sends until told to stop; what was acknowledged goes into `acked`. */
async function load(servers, world, acked, isOver) {
  const client = async (kind, server) => {
    while (!isOver()) {
      const n = ++serial;
      const reply = await KINDS[kind].send(server, world, n);
      if (reply.status < 300) acked[kind].add(KINDS[kind].id(reply, n));
      else ok(reply.status === 503, `${kind}: status ${reply.status}: ${reply.text}`);
      await pause(50);
    }
  };
  await Promise.all(servers.flatMap((s) => Object.keys(KINDS).map((kind) => client(kind, s))));
}

const TABLES = {
  agents: "select id from agents", sessions: "select id from sessions", deliveries: "select delivery_id from deliveries",
  events: "select session_id || '/' || seq || '/' || kind || '/' || md5(data) from session_events",
  turns: "select id || '/' || status from sessions where status = 'completed'",
  ledger: "select id || '/' || outcome || '/' || output_tokens || '/' || cost_pd from ledger",
  audit: "select id || '/' || action || '/' || coalesce(resource_id, '') from audit_logs",
};

/** Adds all that can be read at this moment: a row is seen only after the standby has it. */
async function see(cluster, seen) {
  for (const [name, text] of Object.entries(TABLES)) for (const line of (await cluster.sql(text)).split("\n")) if (line) seen[name].add(line);
}

async function watch(cluster, seen, isOver) {
  while (!isOver()) {
    await see(cluster, seen).catch(() => {}); // nobody leads at this moment
    await pause(100);
  }
}

const empty = () => Object.fromEntries(Object.keys(TABLES).map((name) => [name, new Set()]));

async function nothingIsLost(cluster, acked, seen, round) {
  const copy = (sets) => Object.entries(sets).map(([name, set]) => [name, [...set]]); // others go on adding to them
  const [answered, read] = [copy(acked), copy(seen)];
  const now = empty();
  await see(cluster, now);
  for (const [name, ids] of answered) for (const id of ids) ok(now[name].has(id), `${name}: ${id} was acknowledged before failover ${round} and is gone`);
  for (const [name, rows] of read) for (const row of rows) ok(now[name].has(row), `${name}: ${row} could be read before failover ${round} and is gone`);
}

/** Until a process answers a change: milliseconds since `from`. */
async function worksAgain(server, world, from) {
  for (;;) {
    const n = ++serial;
    const reply = await server.request("POST", `/tenant/${world.tenant}/agents`, { body: { name: `Agent ${n}`, slug: `agent-${n}` } });
    if (reply.status === 201) return Date.now() - from;
    equal(reply.status, 503, reply.text);
    await pause(20);
  }
}

async function failOver(cluster, servers, world) {
  const old = await cluster.leader();
  const line = Number(await cluster.sql("select timeline_id from pg_control_checkpoint()"));
  const killed = Date.now();
  killServer(old.folder);
  const next = cluster.nodes.find((n) => n !== old);
  await until(60_000, "the promotion", async () => (await cluster.on(next, "select pg_is_in_recovery()").catch(() => "")) === "f");
  const promoted = Date.now();
  const back = await within(60_000, Promise.all(servers.map((s) => worksAgain(s, world, promoted))), "working again");
  for (const ms of back) ok(ms <= MOST_MS, `a process worked again only ${ms} ms after the promotion`);
  await cluster.settled(); // the old one is back, as the standby
  equal(await cluster.on(old, "select pg_is_in_recovery()"), "t", "the old primary is a standby");
  ok(Number(await cluster.on(old, "select received_tli from pg_stat_wal_receiver")) > line, "and follows the new one's timeline");
  if (process.env.LODGE_FIGURES) console.log(`promoted after ${promoted - killed} ms, processes work ${back.join(" and ")} ms later`);
}

test("the primary is killed under load, and nothing is lost", async (t) => {
  const cluster = await startPatroni(t);
  const [one, two] = places(t, cluster.url, 2);
  const a = await t.serve(one, { flags: FLAGS });
  const world = await furnish(a);
  const b = await t.serve(two, { flags: FLAGS });
  b.token = a.token;
  const acked = { agents: new Set(), sessions: new Set(), deliveries: new Set() };
  const seen = empty();
  let over = false;
  const running = Promise.all([load([a, b], world, acked, () => over), watch(cluster, seen, () => over)]);
  running.catch(() => { over = true; });
  for (let round = 1; round <= failovers && !over; round++) {
    const before = seen.turns.size;
    await until(60_000, "turns", () => over || seen.turns.size >= before + 3);
    await failOver(cluster, [a, b], world);
    await nothingIsLost(cluster, acked, seen, round);
  }
  over = true;
  await running;
  await nothingIsLost(cluster, acked, seen, failovers);
  for (const name of Object.keys(TABLES)) ok(seen[name].size > 0, `no ${name} were there to be lost`);
  // What was taken is done, and the chain of the audit holds.
  await until(120_000, "all sessions to end", async () => (await cluster.sql("select count(*) from sessions where status not in ('completed', 'failed')")) === "0");
  equal(await cluster.sql("select count(*) from sessions where status = 'failed'"), "0", "sessions that failed");
  equal(await cluster.sql("select count(*) from deliveries where status <> 'delivered'"), "0", "events that were not delivered");
  equal(await cluster.sql("select count(*) from agents a left join audit_logs l on l.resource_id = a.id and l.action = 'agent.create' where a.is_seed = 0 and l.id is null"), "0", "agents without an audit row");
  for (const server of [a, b]) equal(await server.stop(), 0, "the exit status");
  const check = await t.on(one, ["check", "--audit"]);
  equal(check.status, 0, `check says ${check.stderr}`);
}, { ms: 240_000 + failovers * 60_000 });
