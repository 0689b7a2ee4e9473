// pooler.test.mjs - Lodge by way of PgBouncer in transaction mode, with fewer sessions than connections: what the
// other files prove of PostgreSQL holds there too.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { equal, here, match, ok, psql, startCluster, test, within } from "./harness.mjs";
import { startPooler } from "./peers.mjs";

// Parts of other files, by name: sessions with their events as a stream, turns, webhooks, budgets, lists.
const PARTS = [
  ["sessions", "a message answers with what happens, as a stream (postgres)"],
  ["sessions", "approvals hold a call back until a person decides (postgres)"],
  ["hooks", "two processes take an event once, and one's death loses none"],
  ["two", "what is made, changed and removed on one is so on the other"],
];

async function withPooler(t) {
  const cluster = startCluster();
  t.onEnd(() => cluster.stop());
  return [cluster, await startPooler(t, cluster.url)];
}

async function runPart(name, part, env) {
  const child = spawn(process.execPath, [join(here, "run.mjs"), name, `--only=${part}`], { env: { ...process.env, ...env, LODGE_KILLS: "4" } });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => { said += text; });
  await within(110_000, new Promise((done) => child.on("close", done)), `${name}: ${part}`);
  match(said, /^1 passed, 0 failed$/m, `${name}: ${part}`);
}

test("what other files prove of PostgreSQL holds behind a pooler", async (t) => {
  const [cluster, pooler] = await withPooler(t);
  for (const [name, part] of PARTS) await runPart(name, part, { LODGE_TEST_POSTGRES: cluster.url, LODGE_TEST_POOLER: pooler });
}, { ms: 240_000 });

test("many at once have no fault of the store's, and nothing is left on a session that was lent", async (t) => {
  const [cluster, pooler] = await withPooler(t);
  const folder = t.folder();
  const place = { engine: "postgres", folder, data: join(folder, "data"), store: cluster.url.replace(/@[^/]*/, `@${pooler}`), direct: cluster.url };
  const server = await t.serve(place, { flags: ["--no-access-log"] });
  await server.enter();
  const replies = await Promise.all(Array.from({ length: 40 }, (_, i) =>
    server.request("POST", `/tenant/${server.tenant}/agents`, { body: { name: `Agent ${i}`, slug: `agent-${i}` } })));
  for (const reply of replies) equal(reply.status, 201, reply.text);
  ok(!/ error |the store failed/.test(server.stderr), `the log: ${server.stderr}`);
  // The pooler's sessions as the next who borrows one finds them.
  for (let i = 0; i < 6; i++) equal(await psql(place.store, "select current_setting('statement_timeout') || ' ' || current_setting('lock_timeout')"), "0 0", "what is left on a session");
  const sessions = await psql(cluster.url, "select count(*) from pg_stat_activity where application_name like 'lodge %'");
  ok(Number(sessions) > 0, "connections say whose they are");
  // A copy goes by the direct way, or says why it does not; and nobody is locked out by it.
  const file = join(folder, "copy.db");
  equal((await t.on(place, ["backup", file])).status, 0, "a backup");
  await server.stop();
  const through = await t.run(["copy", "--from", place.store, "--to", `sqlite:${join(folder, "x.db")}`]);
  equal(through.status, 1, "a copy by way of the pooler");
  match(through.stderr, /leads through a pooler: give the address of the server itself\n$/, "what it says");
  await psql(cluster.url, "create database empty template template0");
  const empty = { ...place, store: place.store.replace(/\/lodge$/, "/empty"), direct: cluster.url.replace(/\/lodge$/, "/empty") };
  const restored = await t.on(empty, ["restore", file]);
  equal(restored.status, 0, `restore beside a pooler: ${restored.stderr}`);
  await (await t.serve(place)).enter();
}, { ms: 90_000 });
