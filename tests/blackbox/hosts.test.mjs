// hosts.test.mjs - a primary and its standby, by hand: which of the servers that an address names is written to, and
// what is acknowledged while they change places.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { equal, match, ok, psql, test, until } from "./harness.mjs";
import { startRelay, startServer } from "./peers.mjs";

const FLAGS = ["--no-access-log"];
const placeOf = (t, store) => {
  const folder = t.folder();
  return { engine: "postgres", folder, data: join(folder, "data"), store };
};

let serial = 0;
const create = (server) => {
  const n = ++serial;
  return server.request("POST", `/tenant/${server.tenant}/agents`, { body: { name: `Agent ${n}`, slug: `agent-${n}` } });
};
const count = (server) => psql(server.url, "select count(*) from agents where is_seed = 0");

/** A primary and a standby that has whatever the primary acknowledges. */
async function pair(t) {
  const one = await startServer(t);
  await psql(one.url, "create role somebody login");
  const two = await startServer(t, { of: one, name: "two" });
  await psql(one.url, "alter system set synchronous_standby_names = 'two'");
  await psql(one.url, "select pg_reload_conf()");
  await until(20_000, "a synchronous standby", async () => (await psql(one.url, "select sync_state from pg_stat_replication")) === "sync");
  return [one, two];
}

const worksWithin = (server, ms) => until(ms, "working again", async () => (await create(server)).status === 201);

test("an old primary that comes back as one is not written to, and a cancelled wait is not acknowledged", async (t) => {
  const [one, two] = await pair(t);
  const server = await t.serve(placeOf(t, `postgres://postgres@${one.host},${two.host}/lodge`), { flags: FLAGS });
  await server.enter();
  equal((await create(server)).status, 201, "at first");
  match(await psql(one.url, "select string_agg(distinct regexp_replace(application_name, '\\d+', 'N'), ',') from pg_stat_activity where application_name like 'lodge %'"),
    /lodge listener N.*lodge writer N/, "the names of the connections");

  // The standby stands still, and somebody ends the wait for it: the row is here, but not there.
  const held = two.process.child.pid;
  const receivers = spawnSync("pgrep", ["-P", String(held)], { encoding: "utf8" }).stdout.split("\n").filter(Boolean).map(Number);
  for (const pid of receivers) process.kill(pid, "SIGSTOP");
  try {
    const made = create(server);
    await until(20_000, "a commit that waits", async () => (await psql(one.url, "select count(*) from pg_stat_activity where wait_event = 'SyncRep'")) !== "0");
    await psql(one.url, "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
    equal((await made).status, 503, "a change of which nobody knows whether the standby has it");
  } finally {
    for (const pid of receivers) process.kill(pid, "SIGCONT");
  }
  await worksWithin(server, 20_000);

  await one.kill();
  await two.promote();
  const promoted = Date.now();
  await psql(two.url, "alter system reset synchronous_standby_names");
  await psql(two.url, "select pg_reload_conf()");
  await worksWithin(server, 10_000);
  if (process.env.LODGE_FIGURES) console.log(`works ${Date.now() - promoted} ms after the promotion`);
  const before = await count(two);

  // The old one comes back by itself, as a primary that waits for nobody.
  writeFileSync(join(one.folder, "postgresql.auto.conf"), `${readFileSync(join(one.folder, "postgresql.auto.conf"), "utf8")}\nsynchronous_standby_names = ''\n`);
  await one.start();
  const there = await count(one);
  for (let round = 0; round < 3; round++) {
    await psql(two.url.replace(/lodge$/, "postgres"), "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'lodge %'");
    await worksWithin(server, 10_000);
    await worksWithin(server, 10_000);
  }
  ok(Number(await count(two)) >= Number(before) + 6, "the new primary took the changes");
  equal(await count(one), there, "rows of the old primary");
  equal(await psql(one.url, "select count(*) from pg_stat_activity where application_name like 'lodge writer%'"), "0", "writers at the old primary");
}, { ms: 120_000 });

test("an address that moves to a standby is not written to", async (t) => {
  const [one, two] = await pair(t);
  const relay = await startRelay(t, one.port);
  // The address says that any server will do: what is found out is found out by the transaction.
  const server = await t.serve(placeOf(t, `postgres://postgres@${relay.host}/lodge?target_session_attrs=any`), { flags: FLAGS });
  await server.enter();
  equal((await create(server)).status, 201, "at first");
  relay.port = two.port;
  relay.cut();
  await until(20_000, "the refusal", async () => (await create(server)).status === 503);
  await server.says(/it is a standby/);
  equal(await psql(two.url, "select pg_is_in_recovery()"), "t", "the standby");
  await two.promote();
  await psql(two.url, "alter system reset synchronous_standby_names");
  await psql(two.url, "select pg_reload_conf()");
  await worksWithin(server, 10_000);
}, { ms: 120_000 });
