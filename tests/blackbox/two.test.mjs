// two.test.mjs - two processes over one PostgreSQL with one master key are one service; and the
// database may go away and come back below them.
import { randomBytes } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { command, digest, equal, isRoot, makeFolder, match, ok, pause, short, startCluster, test, until, within } from "./harness.mjs";

const FLAGS = ["--no-access-log"];

/** Two folders with the same master key, over one schema. */
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

async function pair(t, url) {
  const [one, two] = await twins(t, url);
  const a = await t.serve(one, { flags: FLAGS });
  const tenant = await a.enter();
  const b = await t.serve(two, { flags: FLAGS });
  b.token = a.token;
  return { a, b, tenant, agents: `/tenant/${tenant}/agents`, keys: `/tenant/${tenant}/api-keys` };
}

async function both(t, places) {
  const servers = places.map((place) => t.launch(place, { flags: FLAGS }));
  const outcomes = await Promise.allSettled(servers.map((server) => server.up()));
  const bad = outcomes.find((o) => o.status === "rejected");
  ok(!bad, `one of two did not come up: ${bad?.reason.message}`);
  const tokens = [];
  for (const server of servers) {
    await server.enter();
    tokens.push(server.token);
  }
  for (const server of servers) for (const token of tokens) equal((await server.request("GET", "/me", { token })).status, 200, "a login of the other");
  equal(await places[0].sql("select (select count(*) from users) || ' ' || (select count(*) from tenants) || ' ' || (select count(*) from plans)"), "1 1 1", "users, tenants, plans");
  for (const server of servers) await server.kill();
}

test("two that start at once on an empty store both come up", async (t) => {
  for (let round = 0; round < 6; round++) await both(t, await twins(t));
}, { ms: 120_000 });

test("two that start at once on an empty store and share their folder both come up", async (t) => {
  for (let round = 0; round < 6; round++) {
    const place = await t.place("postgres");
    await both(t, [place, place]);
  }
}, { ms: 120_000 });

test("another master key is refused, and changes nothing", async (t) => {
  const [one, two] = await twins(t);
  await t.serve(one, { flags: FLAGS });
  writeFileSync(join(two.data, "master.key"), `${randomBytes(32).toString("hex")}\n`, { mode: 0o600 });
  const before = digest(two.data);
  const result = await t.on(two, ["serve", "--listen", "127.0.0.1:0"]);
  equal(result.status, 1, "the exit status");
  match(result.stderr, /^lodge: [^\n]*not the one this store was made with\n$/, "the line");
  equal(digest(two.data), before, "the files");
});

test("what is made, changed and removed on one is so on the other", async (t) => {
  const { a, b, agents } = await pair(t);
  for (let i = 0; i < 20; i++) {
    const [here, there] = i % 2 ? [a, b] : [b, a];
    const made = await here.request("POST", agents, { body: { name: `Agent ${i}`, slug: `agent-${i}` } });
    equal(made.status, 201, made.text);
    const read = await there.request("GET", made.headers.location);
    equal(read.text, made.text, "read on the other");
    const changed = await there.request("PATCH", made.headers.location, { body: { name: "Changed" }, headers: { "If-Match": read.headers.etag } });
    equal(changed.status, 200, changed.text);
    const stale = await here.request("PATCH", made.headers.location, { body: { name: "Stale" }, headers: { "If-Match": read.headers.etag } });
    equal(stale.status, 412, stale.text);
    equal((await here.request("DELETE", made.headers.location)).status, 204, "removing");
    equal((await there.request("GET", made.headers.location)).status, 404, "removed");
  }
});

test("a key revoked or a login ended on one is refused on the other at the next request", async (t) => {
  const { a, b, tenant, keys } = await pair(t);
  for (let i = 0; i < 10; i++) {
    const made = await a.request("POST", keys, { body: { name: `Key ${i}` } });
    const token = made.json.key;
    for (let n = 0; n < 3; n++) equal((await b.request("GET", `/tenant/${tenant}`, { token })).status, 200, "with the key");
    equal((await a.request("DELETE", `${keys}/${made.json.id}`)).status, 204, "revoking");
    const after = await b.request("GET", `/tenant/${tenant}`, { token });
    equal(after.status, 401, `with the revoked key: ${after.text}`);
    ok(after.headers["www-authenticate"], "WWW-Authenticate");
    equal((await b.request("POST", `/tenant/${tenant}/agents`, { token, body: { name: "A", slug: `after-${i}` } })).status, 401, "a change with the revoked key");
  }
  const old = b.token;
  equal((await a.request("POST", "/auth/logout")).status, 204, "logout");
  equal((await b.request("GET", "/me", { token: old })).status, 401, "the ended login");
});

test("the same Idempotency-Key at both at once acts once", async (t) => {
  const { a, b, agents } = await pair(t);
  for (let i = 0; i < 15; i++) {
    const body = { name: `Twin ${i}`, slug: `twin-${i}` };
    const headers = { "Idempotency-Key": `twin-${i}` };
    const all = await Promise.all([a, b, a, b, a, b].map((s) => s.request("POST", agents, { body, headers })));
    for (const reply of all) {
      equal(reply.status, 201, reply.text);
      equal(reply.text, all[0].text, "the answers");
      equal(reply.headers.location, all[0].headers.location, "Location");
    }
  }
  equal(await a.place.sql("select count(*) || ' ' || (select count(*) from audit_logs where action = 'agent.create') from agents"), "15 15", "agents and audit rows");
});

test("the same slug at both at once is taken once", async (t) => {
  const { a, b, agents } = await pair(t);
  for (let i = 0; i < 15; i++) {
    const all = await Promise.all([a, b, a, b].map((s) => s.request("POST", agents, { body: { name: "Same", slug: `same-${i}` } })));
    equal(all.map((r) => r.status).sort().join(), "201,409,409,409", `the statuses of ${short(all.map((r) => r.text))}`);
  }
});

test("changes of one agent at both at once are all made, none over another", async (t) => {
  const { a, b, agents } = await pair(t);
  const { headers } = await a.request("POST", agents, { body: { name: "Target", slug: "target" } });
  let won = 0;
  let busy = 0;
  await Promise.all([a, b, a, b].map(async (server, c) => {
    for (let i = 0; i < 10; i++) {
      const read = await server.request("GET", headers.location);
      const reply = await server.request("PATCH", headers.location, { body: { name: `By ${c} ${i}` }, headers: { "If-Match": read.headers.etag } });
      if (reply.status === 200) won++;
      else if (reply.status === 503) busy++;
      else equal(reply.status, 412, reply.text);
    }
  }));
  ok(won > 0, "no change was made");
  equal(await a.place.sql("select count(*) from audit_logs where action = 'agent.update'"), String(won), `audit rows (${busy} were told to come back)`);
});

// ---- a database that goes away ----

function controller(cluster) {
  const home = "/usr/lib/postgresql";
  const version = readdirSync(home).sort((x, y) => Number(x) - Number(y)).at(-1);
  return async (...args) => {
    const line = [join(home, version, "bin/pg_ctl"), "-D", join(cluster.folder, "db"), "-w", "-l", join(cluster.folder, "log"), ...args];
    const { status, stdout, stderr } = isRoot ? await command("runuser", ["-u", "postgres", "--", ...line], { cwd: "/" }) : await command(line[0], line.slice(1));
    ok(status === 0, `pg_ctl ${args}: ${stdout}${stderr}`);
  };
}

test("a restart of PostgreSQL is survived: 503 with Retry-After while it is away, then all is well", async (t) => {
  const cluster = startCluster();
  t.onEnd(() => cluster.stop());
  const ctl = controller(cluster);
  const { a, b, agents } = await pair(t, cluster.url);
  const kept = await a.request("POST", agents, { body: { name: "Kept", slug: "kept" } });
  for (const mode of ["fast", "immediate"]) {
    await ctl("stop", "-m", mode);
    for (const server of [a, b]) {
      await server.healthy();
      const all = await Promise.all([
        server.request("GET", "/readyz"),
        server.request("GET", kept.headers.location),
        server.request("POST", agents, { body: { name: "Away", slug: `away-${mode}` } }),
        server.request("POST", "/auth/login", { body: { email: "admin@example.com", password: "Correct-Horse-9-Battery" } }),
      ]);
      for (const reply of all) {
        equal(reply.status, 503, reply.text);
        match(reply.headers["retry-after"] ?? "", /^[1-9]\d*$/, "Retry-After");
        match(reply.json.type, /^urn:lodge:problem:(store_unavailable|busy)$/, "type");
      }
      ok(!server.ended, "the process has ended");
    }
    await ctl("start");
    for (const server of [a, b]) {
      await until(15_000, "it is ready again", async () => (await server.request("GET", "/readyz")).status === 200);
      for (let i = 0; i < 8; i++) {
        const read = await server.request("GET", kept.headers.location);
        equal(read.text, kept.text, "the agent");
      }
    }
    const made = await b.request("POST", agents, { body: { name: "Back", slug: `back-${mode}` } });
    equal(made.status, 201, made.text);
    equal((await a.request("GET", made.headers.location)).status, 200, "on the other");
  }
}, { ms: 90_000 });

test("clients that go on through a restart lose nothing that was acknowledged and double nothing", async (t) => {
  const cluster = startCluster();
  t.onEnd(() => cluster.stop());
  const ctl = controller(cluster);
  const { a, b, agents } = await pair(t, cluster.url);
  const acked = new Map();
  let stop = false;
  let serial = 0;
  const client = async (server) => {
    while (!stop) {
      const n = ++serial;
      const request = { body: { name: `Agent ${n}`, slug: `agent-${n}` }, headers: { "Idempotency-Key": `key-${n}` } };
      for (;;) {
        const reply = await server.request("POST", agents, request);
        if (reply.status === 201) {
          acked.set(n, reply.json.id);
          break;
        }
        equal(reply.status, 503, reply.text);
        await pause(50);
      }
    }
  };
  const clients = [a, b, a, b, a, b].map(client);
  for (let i = 0; i < 2; i++) {
    await pause(300);
    await ctl("stop", "-m", "fast");
    await pause(i * 2500);
    await ctl("start");
  }
  await pause(500);
  stop = true;
  await within(30_000, Promise.all(clients), "the clients");
  const there = new Set((await a.place.sql("select id from agents")).split("\n"));
  for (const id of acked.values()) ok(there.has(id), `${id} was acknowledged and is gone`);
  equal(there.size, acked.size, "agents");
}, { ms: 90_000 });

test("a PostgreSQL that is away when the process stops does not hold it up", async (t) => {
  const cluster = startCluster();
  t.onEnd(() => cluster.stop());
  const { a, b } = await pair(t, cluster.url);
  await controller(cluster)("stop", "-m", "immediate");
  const waiting = a.request("GET", "/me").catch(() => null);
  equal(await a.stop("SIGTERM", 12_000), 0, "the exit status");
  await waiting;
  equal(await b.stop("SIGINT", 12_000), 0, "the exit status");
});
