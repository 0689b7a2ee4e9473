// kill.test.mjs - what was acknowledged is there, whole and once, however the process dies.
//
// A store is killed again and again, at a commit (just before or just after
// it) or at any moment, while many clients create agents; after each death it
// must hold everything it answered 201 for, nothing by halves, and every
// request must be repeatable.  LODGE_KILLS is the number of deaths on each
// engine; LODGE_SEED repeats a run.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ADMIN, equal, Failure, match, ok, pause, short, testBoth, until, within } from "./harness.mjs";

const kills = Number(process.env.LODGE_KILLS ?? 12);
const CLIENTS = 8;
let seed = Number(process.env.LODGE_SEED ?? (Date.now() & 0xffff));
const firstSeed = seed;
const random = (n) => (((seed = (seed * 1103515245 + 12345) & 0x7fffffff) >> 8) % n);

let serial = 0;

/** Creates agents from many connections until the process is gone: [{key, body, id?, text?}]. */
async function drive(server, token, tenant) {
  const sent = [];
  const client = async (c) => {
    while (!server.ended) {
      const n = ++serial;
      const one = { key: `key-${n}`, body: JSON.stringify({ name: `Agent ${n}`, slug: `agent-${n}`, description: `of client ${c}` }) };
      sent.push(one);
      try {
        const reply = await server.request("POST", `/tenant/${tenant}/agents`, { token, body: one.body, headers: { "Idempotency-Key": one.key } });
        if (reply.status === 201) Object.assign(one, { id: reply.json.id, text: reply.text });
        else if (reply.status !== 503) throw new Failure(`status ${reply.status}: ${reply.text}`);
      } catch (err) {
        if (!err.code && !/socket|hang up|aborted/.test(err.message)) throw err;
        await pause(2);
      }
    }
  };
  await within(45_000, Promise.all(Array.from({ length: CLIENTS }, (_, c) => client(c))), "the process to die");
  return sent;
}

async function inspect(place, sent) {
  const acked = sent.filter((one) => one.id);
  const [counts, ...ids] = (await place.sql(`select
    (select count(*) from agents a left join directory d on d.id = a.id and d.tenant_id = a.tenant_id where d.id is null) || ' ' ||
    (select count(*) from agents a left join agent_roles r on r.tenant_id = a.tenant_id and r.agent_id = a.id and r.role = 'OWNER'
      where r.agent_id is null) || ' ' ||
    (select count(*) from agents a left join (select resource_id, count(*) as n from audit_logs where action = 'agent.create'
      group by resource_id) l on l.resource_id = a.id where a.is_seed = 0 and coalesce(l.n, 0) <> 1) || ' ' ||
    (select count(*) from audit_logs l left join agents a on a.tenant_id = l.tenant_id and a.id = l.resource_id
      where l.action = 'agent.create' and a.id is null) || ' ' ||
    (select count(*) from directory d left join agents a on a.tenant_id = d.tenant_id and a.id = d.id where a.id is null) || ' ' ||
    (select count(*) from idempotency where status <> 201 or reply = '') || ' ' ||
    ((select count(*) from agents where is_seed = 0) - (select count(*) from idempotency));
    select id from agents`)).split("\n");
  equal(counts, "0 0 0 0 0 0 0", "agents without a place, an owner or an audit row; rows without an agent; keys by halves; agents without keys");
  const there = new Set(ids);
  for (const one of acked) ok(there.has(one.id), `agent ${one.id} was acknowledged and is gone`);
}

/** Every request again, with its key: the same answer if there was one, and one agent each. */
async function repeat(server, place, sent, token, tenant) {
  const wait = [...sent];
  const client = async () => {
    for (let one = wait.pop(); one; one = wait.pop()) {
      const reply = await server.request("POST", `/tenant/${tenant}/agents`, { token, body: one.body, headers: { "Idempotency-Key": one.key } });
      equal(reply.status, 201, `repeating ${one.key}: ${reply.text}`);
      if (one.text) equal(reply.text, one.text, `the answer to ${one.key}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  equal(await place.sql(`select count(*) from agents where is_seed = 0`), String(serialOf(place)), "agents");
}

const totals = new Map();
const serialOf = (place) => totals.get(place);

async function cycle(t, place, known, options, kill) {
  const server = t.launch(place, { ...options, flags: ["--no-access-log"] });
  try {
    await server.up();
  } catch (err) {
    ok(server.ended?.signal === "SIGKILL", err.message); // it died before it served
  }
  kill?.(server);
  const sent = server.ended ? [] : await drive(server, known.token, known.tenant);
  const { signal } = await within(10_000, server.over, "the death");
  equal(signal, "SIGKILL", "the end");
  const again = await t.serve(place, { flags: ["--no-access-log"] });
  await inspect(place, sent);
  totals.set(place, (totals.get(place) ?? 0) + sent.length);
  await repeat(again, place, sent, known.token, known.tenant);
  await inspect(place, sent);
  await again.kill();
  const check = await t.on(place, ["check"]);
  equal(check.status, 0, `check says ${check.stderr}`);
  return sent;
}

async function prepared(t, engine) {
  const place = await t.place(engine);
  const server = await t.serve(place);
  const tenant = await server.enter();
  await server.stop();
  return [place, { token: server.token, tenant }];
}

const ms = 60_000 + kills * 10_000;

testBoth("a death at the nth commit", async (t, engine) => {
  const [place, known] = await prepared(t, engine);
  let unknown = 0;
  let acked = 0;
  for (let i = 0; i < kills; i++) {
    const n = 1 + (i >> 1) * (1 + random(3));
    const order = `commit:${n}:${i % 2 ? "after" : "before"}`;
    try {
      const sent = await cycle(t, place, known, { env: { LODGE_FAULT: order } });
      unknown += sent.filter((one) => !one.id).length;
      acked += sent.filter((one) => one.id).length;
    } catch (err) {
      throw new Failure(`${order}, death ${i}, seed ${firstSeed}: ${err.message}`);
    }
  }
  ok(unknown >= kills, `only ${unknown} requests were cut off by ${kills} deaths`);
  ok(acked > 0 || kills < 4, "no request was ever answered");
}, { ms });

testBoth("a death from outside at any moment", async (t, engine) => {
  const [place, known] = await prepared(t, engine);
  for (let i = 0; i < Math.ceil(kills / 2); i++) {
    const after = random(250);
    try {
      await cycle(t, place, known, {}, (server) => setTimeout(() => server.signal("SIGKILL"), after));
    } catch (err) {
      throw new Failure(`after ${after} ms, death ${i}, seed ${firstSeed}: ${err.message}`);
    }
  }
}, { ms });

testBoth("a death during the first start is healed by the second", async (t, engine) => {
  for (let n = 1; n <= 4; n++)
    for (const side of ["before", "after"]) {
      const place = await t.place(engine);
      const first = t.launch(place, { env: { LODGE_FAULT: `commit:${n}:${side}` } });
      const up = await first.up().then(() => true, () => false);
      if (!up) equal(first.ended?.signal, "SIGKILL", `commit ${n} ${side}: ${first.stderr}`);
      else await first.kill();
      const second = await t.serve(place);
      const tenant = await second.enter();
      const made = await second.request("POST", `/tenant/${tenant}/agents`, { body: { name: "A", slug: "a" } });
      equal(made.status, 201, `commit ${n} ${side}: ${made.text}`);
      await second.kill();
      equal(await place.sql("select (select count(*) from users) || ' ' || (select count(*) from tenants) || ' ' || (select count(*) from plans)"), "1 1 1", "users, tenants, plans");
      const check = await t.on(place, ["check"]);
      equal(check.status, 0, `commit ${n} ${side}: check says ${check.stderr}`);
      if (up) return;
    }
}, { ms: 120_000 });

testBoth("a death in the middle of a deletion: the next process ends it", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place);
  const at = `/tenant/${await server.enter()}`;
  const agent = (await server.request("POST", `${at}/agents`, { body: { name: "A", slug: "a" } })).json.id;
  const session = await server.request("POST", `/agents/${agent}/sessions`, { body: { title: "S", message: "hello" } });
  equal(session.status, 201, session.text);
  await until(30_000, "the answer", async () => (await server.request("GET", `/sessions/${session.json.id}`)).json.status === "completed");
  await place.sql(`with recursive n (i) as (select 1 union all select i + 1 from n where i < 6000)
    insert into session_events (tenant_id, session_id, seq, kind, created_at, data)
    select e.tenant_id, e.session_id, 1000 + n.i, 'notice', 0, '{}' from n, session_events e where e.seq = 1`);
  const left = async () => Number(await place.sql(`select (select count(*) from session_events) + (select count(*) from agent_rows where gone_at is not null)`));
  const before = await left();
  ok(before > 6000, `${before} rows to go`);
  equal((await server.request("DELETE", `${at}/agents/${agent}`)).status, 204, "deleting");
  await server.kill();
  const checked = async (when, ...more) => {
    const check = await t.on(place, ["check", ...more]);
    equal(check.status, 0, `check ${when}, with ${check.stderr}${check.stdout.slice(-300)}`);
  };
  await checked("after the deletion");
  // A process dies at ever later commits of what it does by itself, until one lives.
  let deaths = 0;
  for (let n = 1; ; n += 4) {
    const next = t.launch(place, { env: { LODGE_FAULT: `commit:${n}:after` } });
    await next.up().catch(() => {});
    await until(60_000, "its death, or the end of the deletion", async () => next.ended || (await left()) === 0);
    const dead = Boolean(next.ended);
    if (!dead) await next.kill();
    await checked(`after ${deaths} deaths`);
    if (!dead) break;
    deaths += 1;
  }
  ok(deaths > 1, `${deaths} deaths`);
  const again = await t.serve(place);
  equal(await left(), 0, "rows that are left");
  await again.enter();
  equal((await again.request("GET", `${at}/agents/${agent}`)).status, 404, "the agent");
  equal((await again.request("GET", `/sessions/${session.json.id}`)).status, 404, "its session");
  await checked("in the end", "--audit");
}, { ms: 180_000 });

testBoth("a key given once is in the repeated answer, and the same key with another body is refused", async (t, engine) => {
  const [place, { token, tenant }] = await prepared(t, engine);
  // A start commits, too: the first number that lives through it, and one commit more.
  const at = (n) => t.serve(place, { env: { LODGE_FAULT: `commit:${n}:after` } });
  let n = 1;
  for (let up = null; !up; n++) {
    up = await at(n).catch(() => null);
    await up?.kill();
  }
  const server = await at(n);
  const path = `/tenant/${tenant}/api-keys`;
  let answer = null;
  for (let i = 0; i < 3 && !server.ended; i++) {
    try {
      const reply = await server.request("POST", path, { token, body: { name: `Key ${i}` }, headers: { "Idempotency-Key": `k${i}` } });
      equal(reply.status, 201, reply.text);
      answer ??= reply;
    } catch (err) {
      if (!err.code) throw err;
    }
  }
  await within(5000, server.over, "the death");
  const again = await t.serve(place);
  const keys = new Set();
  for (let i = 0; i < 3; i++) {
    const first = await again.request("POST", path, { token, body: { name: `Key ${i}` }, headers: { "Idempotency-Key": `k${i}` } });
    const second = await again.request("POST", path, { token, body: { name: `Key ${i}` }, headers: { "Idempotency-Key": `k${i}` } });
    equal(first.status, 201, first.text);
    equal(second.text, first.text, "the second answer");
    if (i === 0 && answer) equal(first.text, answer.text, "the answer across the death");
    keys.add(first.json.key);
    const me = await again.request("GET", `/tenant/${tenant}`, { token: first.json.key });
    equal(me.status, 200, `with the key: ${me.text}`);
  }
  equal(keys.size, 3, "keys");
  equal(await place.sql("select count(*) from api_keys"), "3", "rows of keys");
  const other = await again.request("POST", path, { token, body: { name: "Other" }, headers: { "Idempotency-Key": "k0" } });
  equal(other.status, 422, other.text);
  match(other.json.type, /idempotency_mismatch/, "type");
  const stored = await place.sql("select reply from idempotency");
  for (const key of keys) ok(!stored.includes(key), "a key is stored in the open");
  if (engine === "sqlite") {
    const files = readFileSync(join(place.data, "lodge.db"), "latin1");
    for (const secret of [...keys, token, ADMIN.password]) ok(!files.includes(secret), `a secret (${short(secret.slice(0, 12))}) is in the file`);
  }
});
