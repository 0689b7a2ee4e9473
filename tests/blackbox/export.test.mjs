// export.test.mjs - a long audit log as lines of JSON: whole, in order, and in memory that does not grow
// with it, however slowly it is read.
//
// LODGE_EXPORT_ROWS says how long; a million takes about a minute an engine.
import { readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import { cpu, equal, ok, pause, testBoth, within } from "./harness.mjs";

const ROWS = Number(process.env.LODGE_EXPORT_ROWS ?? 100_000);
const GROWTH_MAX = 32 * 1024; // kB, for three readers at once
const SLOW_MS = 3000;

// As many entries as asked for, with ids in their order; marked as sealed, so that the chain's writer rests.
const SEED = {
  sqlite: (tenant) => `pragma synchronous = off; pragma cache_size = -200000;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${ROWS})
    insert into audit_logs (id, tenant_id, user_id, agent_id, action, resource_type, resource_id, ip, user_agent, meta, created_at, seal_seq)
    select printf('c%024d', i), '${tenant}', null, null, 'agent.update', 'agent', printf('c%024d', i % 1000), '192.0.2.7',
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36', '{"name":{"from":"Desk","to":"Support desk"}}', i, -i from n`,
  postgres: (tenant) => `insert into audit_logs (id, tenant_id, user_id, agent_id, action, resource_type, resource_id, ip, user_agent, meta, created_at, seal_seq)
    select 'c' || lpad(i::text, 24, '0'), '${tenant}', null, null, 'agent.update', 'agent', 'c' || lpad((i % 1000)::text, 24, '0'), '192.0.2.7',
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36', '{"name":{"from":"Desk","to":"Support desk"}}', i, -i from generate_series(1, ${ROWS}) i;
    analyze audit_logs`,
};

const memory = (server, name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${server.child.pid}/status`, "utf8"))[1]);

/** The most the process held meanwhile, without the store's file, which the system may take back. */
async function highest(server, work) {
  let most = 0;
  let over = false;
  const watch = (async () => {
    while (!over) {
      most = Math.max(most, memory(server, "RssAnon"));
      await pause(10);
    }
  })();
  try {
    return { most: () => most, result: await work };
  } finally {
    over = true;
    await watch;
  }
}

/** Reads it all; a slow one takes 64 kB and a rest at a time, for some seconds. */
function read(server, path, slow) {
  return within(600_000, new Promise((done, no) => {
    const began = Date.now();
    http.get({ host: "127.0.0.1", port: server.port, path, agent: false, headers: { Authorization: `Bearer ${server.token}` } }, (reply) => {
      const seen = { lines: 0, bytes: 0, last: "", ordered: true };
      let left = "";
      reply.setEncoding("latin1");
      reply.on("data", (part) => {
        seen.bytes += part.length;
        const lines = (left + part).split("\n");
        left = lines.pop();
        for (const line of lines) {
          const id = line.slice(7, 32);
          seen.ordered &&= id > seen.last;
          seen.last = id;
        }
        seen.lines += lines.length;
        if (!slow || Date.now() - began > SLOW_MS) return;
        reply.pause();
        setTimeout(() => reply.resume(), 15);
      });
      reply.on("error", no);
      reply.on("end", () => done({ ...seen, left, status: reply.statusCode, ms: Date.now() - began }));
    }).on("error", no);
  }), `reading ${path}`);
}

testBoth(`an export of ${ROWS} entries is whole, and takes no more memory than a short one`, async (t, engine) => {
  const place = await t.place(engine);
  // What the address sanitizer keeps of freed memory would look like growth.
  const env = { ASAN_OPTIONS: "detect_leaks=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=64" };
  let server = await t.serve(place, { flags: ["--no-access-log"] });
  const tenant = await server.enter();
  await server.stop();
  const seeding = Date.now();
  await place.sql(SEED[engine](tenant));
  const seeded = Date.now() - seeding;
  server = await t.serve(place, { flags: ["--no-access-log"], env });
  await server.login();
  const path = `/tenant/${tenant}/audit-logs?format=ndjson`;
  const short = await read(server, `${path}&action=tenant.create`, false);
  equal(short.status, 200, "a short one");
  const before = memory(server, "RssAnon");
  const whole = memory(server, "VmRSS");
  writeFileSync(`/proc/${server.child.pid}/clear_refs`, "5"); // VmHWM begins anew
  const idle = cpu(server);
  const { most, result } = await highest(server, Promise.all([false, true, true].map((slow) => read(server, path, slow))));
  for (const [i, one] of result.entries()) {
    equal(one.status, 200, "the status");
    ok(one.lines >= ROWS && one.lines < ROWS + 100, `${one.lines} lines of ${ROWS}`);
    ok(one.ordered && one.left === "", "the lines are in order, and the last is whole");
    if (i) ok(one.ms >= SLOW_MS || ROWS < 10_000, "the slow reader was not slow");
  }
  const growth = most() - before;
  const spent = cpu(server) - idle;
  if (process.env.LODGE_EXPORT_ROWS)
    console.log(`note: ${engine}: ${ROWS} rows, ${result[0].bytes} bytes; seeded in ${seeded} ms; read fast in ${result[0].ms} ms, slowly in ${result[1].ms} ms; `
      + `RssAnon ${before} kB, at most ${most()} kB; VmRSS ${whole} kB, VmHWM ${memory(server, "VmHWM")} kB`);
  ok(growth < GROWTH_MAX, `it grew by ${growth} kB from ${before} kB`);
  if (engine === "postgres") ok(memory(server, "VmHWM") - whole < GROWTH_MAX, "VmHWM grew"); // SQLite maps its file
  ok(spent < 9000 + ROWS * 0.18, `three readers took ${spent} ms of the processor: more than walks along an index`);
}, { ms: 900_000 });
