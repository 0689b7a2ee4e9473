// turns.test.mjs - an agent's work outlives the process: killed at any commit, it goes on and ends as it would have.
//
// A run with tools of every kind, an approval and a subtask is killed at the
// nth commit, before or after it; the service starts again, and the end is
// held against that of a run nobody disturbed.  LODGE_KILLS is the number of
// deaths; from 100 on every commit has its turn.
import { createServer } from "node:http";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { equal, Failure, makeFolder, match, ok, pause, test, within } from "./harness.mjs";

const kills = Number(process.env.LODGE_KILLS ?? 12);
const FLAGS = ["--no-access-log", "--allow-private-addresses", "--job-lease", "1s"];

/** Something on the network that counts how often it was asked, by what it was asked with. */
async function counter(t) {
  const asked = new Map();
  const held = [];
  const server = createServer((request, reply) => {
    asked.set(request.url, (asked.get(request.url) ?? 0) + 1);
    const answer = () => reply.end(`asked for ${request.url}`);
    if (request.url.includes("slow")) held.push(answer);
    else answer();
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { asked, letGo: () => held.splice(0).forEach((answer) => answer()), url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

async function equip(server, tenant, url) {
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Worker", slug: "worker" } });
  equal(made.status, 201, made.text);
  const agent = made.json.id;
  const web = await server.request("POST", `/tenant/${tenant}/tools`, {
    body: {
      name: "web", kind: "http", description: "Asks.", repeat_safe: false,
      input_schema: { type: "object", properties: { n: { type: "string" } }, required: ["n"] },
      config: { method: "POST", url: `${url}/{{n}}` },
    },
  });
  equal(web.status, 201, web.text);
  const known = (await server.request("GET", `/tenant/${tenant}/tools?per_page=200`)).json.items;
  for (const name of ["calculator", "memory_write", "time", "subtask", "web"]) {
    const tool = known.find((item) => item.name === name);
    if (name === "time") {
      const patched = await server.request("PATCH", `/tenant/${tenant}/tools/${tool.id}`, { body: { requires_approval: true } });
      equal(patched.status, 200, patched.text);
    }
    const granted = await server.request("POST", `/agents/${agent}/tools`, { body: { tool_id: tool.id } });
    ok(granted.status < 300, granted.text);
  }
  return agent;
}

const order = (n) =>
  `use tool calculator with {"expression":"6*7"} and use tool memory_write with {"content":"note ${n}"} and ` +
  `use tool web with {"n":"${n}"} and use tool time and use tool subtask with {"title":"Part ${n}","message":"count to 4"}`;

/** Has one run done, as far as the process lives; repeated after a death it goes on where it was. */
async function drive(server, work) {
  const { agent, n } = work;
  const send = (path, body, key) => server.request("POST", path, { body, headers: { "Idempotency-Key": key } });
  if (!work.session) {
    const made = await send(`/agents/${agent}/sessions`, { message: order(n) }, `open-${n}`);
    equal(made.status, 201, made.text);
    work.session = made.json.id;
  }
  for (;;) {
    const now = (await server.request("GET", `/sessions/${work.session}`)).json;
    if (now.status === "completed") return;
    if (now.status === "failed") throw new Failure(`the session failed: ${now.error}`);
    if (now.status === "waiting_approval") {
      const list = (await server.request("GET", `/sessions/${work.session}/approvals`)).json.items;
      for (const one of list.filter((a) => a.status === "pending")) {
        const decided = await send(`/sessions/${work.session}/approvals/${one.id}`, { approved: true }, `decide-${one.id}`);
        ok(decided.status < 300 || decided.status === 409, decided.text);
      }
    }
    await pause(10);
  }
}

const plain = (text) => text.replace(/\d{4}-\d\d-\d\dT\S+/g, "TIME").replace(/\d{4}-\d\d-\d\d[^.]*?\d\d:\d\d:\d\d/g, "TIME");

async function outcome(server, place, work) {
  const { session, n } = work;
  const messages = (await server.request("GET", `/sessions/${session}/messages?per_page=200`)).json.items.reverse();
  const rows = await place.sql(`select
    (select count(*) from session_calls where session_id = '${session}') || ' ' ||
    (select count(*) from session_calls where session_id = '${session}' and ended_at is null) || ' ' ||
    (select count(*) from memories where content = 'note ${n}') || ' ' ||
    (select count(*) from sessions where parent_session_id = '${session}' and status = 'completed') || ' ' ||
    (select count(*) from session_runs where session_id = '${session}' and status = 'completed') || ' ' ||
    (select last_event_id - (select count(*) from session_events where session_id = '${session}') from sessions where id = '${session}') || ' ' ||
    (select message_count - (select count(*) from messages where session_id = '${session}') from sessions where id = '${session}')`);
  return {
    rows,
    messages: messages.length,
    first: messages[0].content,
    tools: messages.filter((m) => m.role === "tool").map((m) => plain(m.content)).sort(),
    last: plain(messages.at(-1).content),
  };
}

/** What is the same for every number, and for a call whose outcome nobody knows. */
const level = (text, n) => text.replaceAll(`/${n}`, "/N").replace(`note ${n}`, "note N").replace(/The outcome of this call is unknown: .*?again\.|asked for \/N/gs, "WEB");
const leveled = (o, n) => JSON.stringify({ ...o, first: "", tools: o.tools.map((x) => level(x, n)).sort(), last: level(o.last, n) });

const calls = async (place, session) => Number(await place.sql(`select
  (select count(*) from ledger l where l.session_id in (select id from sessions where id = '${session}' or parent_session_id = '${session}')) +
  (select count(*) from reservations l where l.session_id in (select id from sessions where id = '${session}' or parent_session_id = '${session}'))`));

test("a run killed at any commit ends as an undisturbed one", async (t) => {
  const place = await t.place("sqlite");
  const web = await counter(t);
  const first = await t.serve(place, { flags: FLAGS });
  const tenant = await first.enter();
  const agent = await equip(first, tenant, web.url);
  const calm = { agent, n: 0 };
  await within(30_000, drive(first, calm), "the undisturbed run");
  const wanted = leveled(await outcome(first, place, calm), 0);
  const paid = await calls(place, calm.session);
  equal(paid, 3, "calls to models");
  const token = first.token;
  await first.kill();

  let deaths = 0;
  let unknown = 0;
  const every = kills >= 100;
  for (let n = 1, missed = 0; missed < 2 && (every || deaths < kills); n += every ? 1 : 1 + (n % 3))
    for (const side of ["before", "after"]) {
      const work = { agent, n: n * 2 + (side === "after") };
      const server = t.launch(place, { flags: FLAGS, env: { LODGE_FAULT: `commit:${n}:${side}` } });
      server.token = token;
      try {
        await server.up();
        await within(30_000, drive(server, work), `commit ${n} ${side}`);
      } catch (err) {
        if (!server.ended && !/ECONN|socket|hang up|aborted/.test(`${err.code} ${err.message}`)) throw err;
      }
      if (server.ended === null || server.ended === undefined) await pause(50);
      if (!server.ended) {
        missed++;
        await server.kill();
      } else {
        missed = 0;
        deaths++;
      }
      const again = await t.serve(place, { flags: FLAGS });
      again.token = token;
      await within(30_000, drive(again, work), `going on after commit ${n} ${side}`);
      const got = await outcome(again, place, work);
      equal(leveled(got, work.n), wanted, `commit ${n} ${side}`);
      ok((await calls(place, work.session)) <= paid + 1, `commit ${n} ${side}: a stored answer was paid twice`);
      const asked = web.asked.get(`/${work.n}`) ?? 0;
      ok(asked <= 1, `commit ${n} ${side}: what may not be repeated was asked ${asked} times`);
      if (got.tools.some((x) => x.includes("is unknown"))) unknown++;
      else equal(asked, 1, `commit ${n} ${side}: times asked`);
      await again.kill();
    }
  web.close();
  const check = await t.on(place, ["check"]);
  equal(check.status, 0, `check says ${check.stderr}`);
  ok(deaths >= Math.min(kills, 12), `only ${deaths} deaths`);
  if (every) console.log(`  ${deaths} deaths, ${unknown} calls of unknown outcome`);
}, { ms: 60_000 + Math.max(kills, 12) * 20_000 });

test("a service that stops lets what is under way come back, and hands the rest over", async (t) => {
  const place = await t.place("sqlite");
  const web = await counter(t);
  const first = await t.serve(place, { flags: FLAGS });
  const tenant = await first.enter();
  const agent = await equip(first, tenant, web.url);
  const made = await first.request("POST", `/agents/${agent}/sessions`, { body: { message: 'use tool web with {"n":"slow"}' } });
  equal(made.status, 201, made.text);
  await within(10_000, (async () => {
    while (!web.asked.get("/slow")) await pause(5);
  })(), "the call");
  first.signal("SIGTERM");
  await first.says(/jobs at work were asked to come to an end/, 20_000);
  web.letGo();
  equal((await within(15_000, first.over, "the end")).status, 0, "the exit status");
  equal(await place.sql("select state || ' ' || attempts from jobs"), "waiting 0", "the job that was handed over");
  equal(await place.sql("select count(*) from messages where role = 'tool'"), "1", "results");
  const second = await t.serve(place, { flags: FLAGS });
  second.token = first.token;
  await within(20_000, (async () => {
    while ((await second.request("GET", `/sessions/${made.json.id}`)).json.status !== "completed") await pause(20);
  })(), "the end");
  equal(web.asked.get("/slow"), 1, "times asked");
  web.close();
});

/** Two folders with the same master key, over one schema. */
async function twins(t) {
  const place = await t.place("postgres");
  const key = `${randomBytes(32).toString("hex")}\n`;
  return [0, 1].map(() => {
    const folder = t.folder();
    const data = join(folder, "data");
    makeFolder(data, 0o700);
    writeFileSync(join(data, "master.key"), key, { mode: 0o600 });
    return { ...place, folder, data };
  });
}

test("of two processes one is killed under load, and no session is stuck longer than the lease", async (t) => {
  const LEASE_S = 2;
  const flags = [...FLAGS.slice(0, 2), "--job-lease", `${LEASE_S}s`, "--agent-jobs", "64"];
  const [one, two] = await twins(t);
  let servers = [await t.serve(one, { flags })];
  const tenant = await servers[0].enter();
  servers.push(await t.serve(two, { flags }));
  const token = (servers[1].token = servers[0].token);
  const web = await counter(t);
  const agent = await equip(servers[0], tenant, web.url);
  for (let round = 0; round < Math.max(2, Math.ceil(kills / 12)); round++) {
    const victim = round % 2;
    const sessions = [];
    let on = true;
    const load = servers.map(async (server, i) => {
      for (let n = 0; on && n < 200; n++)
        try {
          const made = await server.request("POST", `/agents/${agent}/sessions`, {
            body: { message: `use tool calculator with {"expression":"${n}+1"} and use tool web with {"n":"r${round}s${i}n${n}"}` },
          });
          if (made.status === 201) sessions.push(made.json.id);
        } catch {
          return;
        }
    });
    const enough = 8 + Math.floor(Math.random() * 16);
    await within(30_000, (async () => {
      while (sessions.length < enough) await pause(5);
    })(), "the load");
    await servers[victim].kill();
    on = false;
    await Promise.all(load);
    const began = Date.now();
    const open = `select count(*) from sessions where id in (${sessions.map((s) => `'${s}'`).join(",")}) and status <> 'completed'`;
    await within(60_000, (async () => {
      while ((await one.sql(open)) !== "0") await pause(50);
    })(), `round ${round}: all ${sessions.length} sessions to end`);
    const took = (Date.now() - began) / 1000;
    ok(took < LEASE_S + 15, `the last session ended ${took} s after the death`);
    equal(await one.sql("select count(*) from session_calls where ended_at is null"), "0", "calls without a result");
    for (const [path, times] of web.asked) ok(times <= 1, `${path} was asked ${times} times`);
    servers[victim] = await t.serve(victim ? two : one, { flags });
    servers[victim].token = token;
  }
  equal(await one.sql("select count(*) from sessions s where last_event_id <> (select count(*) from session_events e where e.tenant_id = s.tenant_id and e.session_id = s.id)"), "0", "gaps in the events");
  web.close();
}, { ms: 180_000 });
