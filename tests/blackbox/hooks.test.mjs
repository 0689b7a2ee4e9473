// hooks.test.mjs - every event that was acknowledged ends as exactly one session, however often the
// processes die, with two of them, and when the database goes away.
//
// LODGE_KILLS is the number of deaths on each engine; LODGE_SEED repeats a run.
import { createHmac, randomBytes } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { command, equal, Failure, isRoot, makeFolder, ok, pause, startCluster, test, testBoth, until, within } from "./harness.mjs";

const kills = Math.ceil(Number(process.env.LODGE_KILLS ?? 12) / 4);
const CLIENTS = 8;
const FLAGS = ["--no-access-log", "--job-lease", "1s"];
let seed = Number(process.env.LODGE_SEED ?? (Date.now() & 0xffff));
const random = (n) => (((seed = (seed * 1103515245 + 12345) & 0x7fffffff) >> 8) % n);

let serial = 0;
const body = JSON.stringify({ action: "opened", issue: { number: 7, title: "It leaks" }, repository: { full_name: "acme/rocket" }, sender: { login: "ann" } });

/** An agent with an integration. */
async function hooked(server) {
  const tenant = await server.enter();
  const agent = (await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Hooked", slug: "hooked" } })).json.id;
  const made = await server.request("POST", `/tenant/${tenant}/integrations`, { body: { provider: "github", label: "Rocket", agent_id: agent } });
  equal(made.status, 201, made.text);
  return { id: made.json.id, signature: `sha256=${createHmac("sha256", made.json.signing_secret).update(body).digest("hex")}` };
}

const send = (server, hook, delivery) => server.request("POST", `/hooks/${hook.id}`, { token: null, body, headers: {
  "X-GitHub-Event": "issues", "X-GitHub-Delivery": delivery, "X-Hub-Signature-256": hook.signature } });

/** Sends events from many connections until stop() says so; adds the acknowledged ids to `acked`. */
async function drive(servers, hook, acked, stop) {
  const client = async (c) => {
    while (!stop()) {
      const server = servers[c % servers.length];
      const id = `event-${++serial}`;
      try {
        const reply = await send(server, hook, id);
        if (reply.status === 202 || reply.status === 200) acked.add(id);
        else if (reply.status !== 503) throw new Failure(`status ${reply.status}: ${reply.text}`);
      } catch (err) {
        if (!err.code && !/socket|hang up|aborted/.test(err.message)) throw err;
        await pause(5);
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, c) => client(c)));
}

/** Ends it at some moment after events were acknowledged in this life of it. */
function dies(server, acked, most) {
  const before = acked.size;
  const look = () => {
    if (acked.size > before + 1) setTimeout(() => server.signal("SIGKILL"), random(most));
    else setTimeout(look, 5);
  };
  look();
}

/** Every acknowledged event is there and is one session; no session is of no event. */
async function settled(place, acked, ms = 60_000) {
  let least = Infinity, since = Date.now();
  for (;;) {
    const left = Number(await place.sql("select count(*) from deliveries where status = 'accepted'"));
    if (!left) break;
    if (left < least) [least, since] = [left, Date.now()];
    if (Date.now() - since > ms) {
      const jobs = await place.sql("select kind, state, count(*), min(attempts), max(attempts) from jobs group by kind, state");
      throw new Failure(`${left} events wait, and none was delivered for ${ms} ms; the jobs: ${jobs}`);
    }
    await pause(50);
  }
  equal(await place.sql("select count(*) from deliveries where status <> 'delivered'"), "0", "events that are not delivered");
  equal(await place.sql("select (select count(*) from sessions where origin = 'webhook') - (select count(*) from deliveries)"), "0", "sessions beside events");
  equal(await place.sql("select count(*) from deliveries d left join sessions s on s.tenant_id = d.tenant_id and s.id = d.made_session_id where s.id is null"), "0", "events without their session");
  const there = new Set((await place.sql("select delivery_id from deliveries")).split("\n"));
  for (const id of acked) ok(there.has(id), `${id} was acknowledged and is gone`);
}

testBoth("events survive deaths, each as one session", async (t, engine) => {
  const place = await t.place(engine);
  const first = await t.serve(place, { flags: FLAGS });
  const hook = await hooked(first);
  await first.stop();
  const acked = new Set();
  for (let i = 0; i < kills; i++) {
    const server = await t.serve(place, { flags: FLAGS });
    dies(server, acked, 400);
    await within(60_000, drive([server], hook, acked, () => server.ended), "the death");
    equal((await server.over).signal, "SIGKILL", "the end");
  }
  const last = await t.serve(place, { flags: FLAGS });
  ok(acked.size > kills, `only ${acked.size} events were acknowledged`);
  await settled(place, acked);
  for (const id of [...acked].slice(0, 20)) equal((await send(last, hook, id)).status, 200, "a repeat after the deaths");
  await settled(place, acked);
}, { ms: 120_000 + kills * 10_000 });

/** Two processes with the same master key over one schema. */
async function twins(t, url) {
  const place = await t.place("postgres", url);
  const key = `${randomBytes(32).toString("hex")}\n`;
  return [0, 1].map(() => {
    const folder = t.folder();
    const data = join(folder, "data");
    makeFolder(data, 0o700);
    writeFileSync(join(data, "master.key"), key, { mode: 0o600 });
    return { ...place, folder, data };
  });
}

test("two processes take an event once, and one's death loses none", async (t) => {
  const places = await twins(t);
  const a = await t.serve(places[0], { flags: FLAGS });
  const hook = await hooked(a);
  const acked = new Set();
  for (let i = 0; i < kills; i++) {
    const b = await t.serve(places[1], { flags: FLAGS });
    // the same event on both at the same moment
    for (let k = 0; k < 5; k++) {
      const id = `twin-${i}-${k}`;
      const replies = await Promise.all([a, b, a, b].map((server) => send(server, hook, id)));
      equal(replies.filter((r) => r.status === 202).length, 1, `accepted of ${replies.map((r) => r.status)}`);
      equal(replies.filter((r) => r.status === 200).length, 3, "acknowledged");
      acked.add(id);
    }
    dies(b, acked, 300);
    await within(60_000, drive([a, b], hook, acked, () => b.ended), "the death");
  }
  await settled(places[0], acked);
}, { ms: 120_000 + kills * 10_000 });

async function restart(cluster) {
  const home = "/usr/lib/postgresql";
  const version = readdirSync(home).sort((x, y) => Number(x) - Number(y)).at(-1);
  const line = [join(home, version, "bin/pg_ctl"), "-D", join(cluster.folder, "db"), "-w", "-l", join(cluster.folder, "log"), "-m", "immediate", "restart"];
  const { status, stderr } = isRoot ? await command("runuser", ["-u", "postgres", "--", ...line], { cwd: "/" }) : await command(line[0], line.slice(1));
  ok(status === 0, `pg_ctl restart: ${stderr}`);
}

test("the database restarts under events: 503 or success, and nothing is lost", async (t) => {
  const cluster = startCluster();
  t.onEnd(() => cluster.stop());
  const place = await t.place("postgres", cluster.url);
  const server = await t.serve(place, { flags: FLAGS });
  const hook = await hooked(server);
  const acked = new Set();
  let over = false;
  const load = drive([server], hook, acked, () => over);
  await until(10_000, "events before", () => acked.size > 20);
  await restart(cluster);
  const before = acked.size;
  await until(30_000, "events after", () => acked.size > before + 20);
  over = true;
  await within(30_000, load, "the load");
  await settled(place, acked);
}, { ms: 120_000 });

testBoth("an event whose delivery ends the process is put away, said, and can be retried; the others go on", async (t, engine) => {
  const place = await t.place(engine);
  const first = await t.serve(place, { flags: FLAGS });
  const hook = await hooked(first);
  await first.stop();
  const poisoned = { flags: FLAGS, env: { LODGE_FAULT: "abort:session_add:poison-1" } };
  const good = new Set();
  const status = (id) => place.sql(`select status from deliveries where delivery_id = '${id}'`);
  let deaths = 0, server = null;
  // Each life takes another event; the one that ends it is sent in the first.
  for (let life = 0; life < 12 && (await status("poison-1")) !== "failed"; life++) {
    server = t.launch(place, poisoned);
    if (!(await server.up().then(() => true, () => false))) {
      deaths++;
      continue;
    }
    for (const id of life ? [`good-${life}`] : ["good-0", "poison-1", "good-00"])
      try {
        const reply = await send(server, hook, id);
        ok(reply.status === 202 || reply.status === 200, `${id}: ${reply.status} ${reply.text}`);
        if (id !== "poison-1") good.add(id);
      } catch (err) {
        if (id === "poison-1") throw err; // it is accepted before it is delivered
      }
    await until(60_000, "its end", async () => server.ended || (await status("poison-1")) === "failed");
    deaths += server.ended ? 1 : 0;
  }
  equal(deaths, 4, "deaths until the delivery was condemned");
  equal(server.ended, null, "the service lives");
  for (const id of good)
    await until(30_000, `the delivery of ${id}`, async () => (await status(id)) === "delivered");
  const said = await place.sql("select error from deliveries where delivery_id = 'poison-1'");
  ok(/died 4 times/.test(said), said);
  equal(await place.sql("select state from jobs where kind = 'webhook.deliver' or state = 'dead'"), "dead");
  await server.stop();
  const mended = await t.serve(place, { flags: FLAGS });
  await mended.enter();
  const dead = await mended.request("GET", "/admin/queue?state=dead");
  equal(dead.json.items.length, 1, dead.text);
  ok(/died 4 times/.test(dead.json.items[0].error), dead.text);
  const retried = await mended.request("POST", `/admin/queue/${dead.json.items[0].id}/retry`);
  equal(retried.status, 200, retried.text);
  await until(30_000, "the delivery by hand", async () => (await status("poison-1")) === "delivered");
  equal(await place.sql("select count(*) from sessions"), String(good.size + 1), "one session for each");
  await mended.stop();
}, { ms: 240_000 });
