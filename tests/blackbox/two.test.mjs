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
}, { ms: 300_000 });

test("two that start at once on an empty store and share their folder both come up", async (t) => {
  for (let round = 0; round < 6; round++) {
    const place = await t.place("postgres");
    await both(t, [place, place]);
  }
}, { ms: 300_000 });

test("guesses at a password on two processes at once are counted together", async (t) => {
  const { a, b } = await pair(t);
  const guess = (server) => server.request("POST", "/auth/login", { token: "", body: { email: "admin@example.com", password: "a wrong one" } });
  const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => guess(i % 2 ? a : b)));
  const count = (status) => answers.filter((r) => r.status === status).length;
  equal(`${count(401)} ${count(429)}`, "10 50", "judged, and refused");
});

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

// ---- what is taken on one is gone on the other ----

const SOMEBODY = { email: "somebody@example.org", password: "Another-Horse-9-Battery" };

const good = (reply, status = [200, 201, 204]) => {
  ok([status].flat().includes(reply.status), `got ${reply.status}, wanted ${status}: ${reply.text}`);
  return reply.json;
};

/** Has somebody in the tenant, with a login and a key of their own. */
async function bring(s, on, role) {
  const made = good(await on.request("POST", `${s.tenant}/members`, { body: { email: SOMEBODY.email, role } }));
  if (!s.user) {
    const entered = good(await on.request("POST", "/auth/accept-invite",
      { token: "", body: { token: made.invite_token, name: "Somebody", password: SOMEBODY.password } }));
    Object.assign(s, { user: entered.user.id, login: entered.token });
  } else good(await on.request("POST", `/me/invitations/${s.tenantId}`, { token: s.login, body: { accept: true } }));
  const key = good(await on.request("POST", `${s.tenant}/api-keys`, { token: s.login, body: { name: "Key" } }));
  Object.assign(s, { key: key.key, keyId: key.id });
}

const enter = async (on) => good(await on.request("POST", "/auth/login", { token: "", body: SOMEBODY })).token;

/** Somebody's world: a tenant with a closed agent, a group they are not in, and them as MEMBER. */
async function scene(a) {
  const s = {};
  s.tenantId = good(await a.request("POST", "/tenants", { body: { name: "Theirs", slug: "theirs" } })).id;
  s.tenant = `/tenant/${s.tenantId}`;
  s.agent = `/agents/${good(await a.request("POST", `${s.tenant}/agents`, { body: { name: "Agent", slug: "agent" } })).id}`;
  s.group = good(await a.request("POST", `${s.tenant}/groups`, { body: { name: "Group" } })).id;
  await bring(s, a, "MEMBER");
  good(await a.request("PUT", `${s.agent}/default-role`, { body: { enabled: false } }));
  return s;
}

// Each way: what is given and taken, by whoever holds the administrator's token; which requests are
// then refused, with which status, and by which credentials (otherwise the login and the key).
const AGENT = (s) => [["GET", s.agent], ["PATCH", s.agent, {}]];
const WAYS = {
  "a role on an agent": {
    give: (on, s) => on.request("PUT", `${s.agent}/roles/${s.user}`, { body: { role: "OWNER" } }),
    take: (on, s) => on.request("DELETE", `${s.agent}/roles/${s.user}`),
    refused: AGENT, status: 404,
  },
  "a role that is lowered": {
    give: (on, s) => on.request("PUT", `${s.agent}/roles/${s.user}`, { body: { role: "OWNER" } }),
    take: (on, s) => on.request("PUT", `${s.agent}/roles/${s.user}`, { body: { role: "VIEWER" } }),
    refused: (s) => [["GET", `${s.agent}/roles`], ["PATCH", s.agent, {}]], status: 403,
    after: (on, s) => on.request("DELETE", `${s.agent}/roles/${s.user}`),
  },
  "the membership of a group": {
    before: (on, s) => on.request("PUT", `${s.agent}/group-roles/${s.group}`, { body: { role: "MANAGER" } }),
    give: (on, s) => on.request("PUT", `${s.tenant}/groups/${s.group}/members/${s.user}`),
    take: (on, s) => on.request("DELETE", `${s.tenant}/groups/${s.group}/members/${s.user}`),
    refused: AGENT, status: 404,
  },
  "the role of a group": {
    before: (on, s) => on.request("PUT", `${s.tenant}/groups/${s.group}/members/${s.user}`),
    give: (on, s) => on.request("PUT", `${s.agent}/group-roles/${s.group}`, { body: { role: "MANAGER" } }),
    take: (on, s) => on.request("DELETE", `${s.agent}/group-roles/${s.group}`),
    refused: AGENT, status: 404,
    after: (on, s) => on.request("DELETE", `${s.tenant}/groups/${s.group}/members/${s.user}`),
  },
  "the default role": {
    give: (on, s) => on.request("PUT", `${s.agent}/default-role`, { body: { enabled: true } }),
    take: (on, s) => on.request("PUT", `${s.agent}/default-role`, { body: { enabled: false } }),
    refused: (s) => [["GET", s.agent]], status: 404,
  },
  "a role in the tenant": {
    give: (on, s) => on.request("PATCH", `${s.tenant}/members/${s.user}`, { body: { role: "ADMIN" } }),
    take: (on, s) => on.request("PATCH", `${s.tenant}/members/${s.user}`, { body: { role: "MEMBER" } }),
    refused: (s) => [["GET", `${s.tenant}/allowed-accounts`], ["POST", `${s.tenant}/groups`, { name: "No" }]], status: 403,
    probes: 1,
  },
  "the membership of the tenant": {
    before: (on, s) => on.request("DELETE", `${s.tenant}/members/${s.user}`),
    give: (on, s) => bring(s, on, "ADMIN"),
    take: (on, s) => on.request("DELETE", `${s.tenant}/members/${s.user}`),
    refused: (s) => [["GET", s.tenant], ["PATCH", s.tenant, {}]], status: { login: 404, key: 401 },
    after: (on, s) => bring(s, on, "MEMBER"),
  },
  "what a super administrator is": {
    // Only an address that is proven gets so far, and proving it ends what came before.
    before: async (on, s) => {
      good(await on.request("POST", `/admin/users/${s.user}/prove`));
      const { token } = good(await on.request("POST", `/admin/users/${s.user}/reset-password`));
      good(await on.request("POST", "/auth/reset/confirm", { token: "", body: { token, password: SOMEBODY.password } }));
      s.login = await enter(on);
      const key = good(await on.request("POST", `${s.tenant}/api-keys`, { token: s.login, body: { name: "Key" } }));
      Object.assign(s, { key: key.key, keyId: key.id });
    },
    give: (on, s) => on.request("PATCH", `/admin/users/${s.user}`, { body: { is_super_admin: true } }),
    take: (on, s) => on.request("PATCH", `/admin/users/${s.user}`, { body: { is_super_admin: false } }),
    refused: () => [["GET", "/admin/users"], ["GET", "/admin/tenants"]], status: 403, by: ["login"],
  },
  "a user's leave to come in": {
    give: (on, s) => on.request("PATCH", `/admin/users/${s.user}`, { body: { is_suspended: false } }),
    take: (on, s) => on.request("PATCH", `/admin/users/${s.user}`, { body: { is_suspended: true } }),
    refused: (s) => [["GET", "/me"], ["GET", s.tenant]], status: 403,
    after: (on, s) => on.request("PATCH", `/admin/users/${s.user}`, { body: { is_suspended: false } }),
  },
  "a tenant's leave to work": {
    give: (on, s) => on.request("PATCH", `/admin/tenants/${s.tenantId}`, { body: { is_suspended: false } }),
    take: (on, s) => on.request("PATCH", `/admin/tenants/${s.tenantId}`, { body: { is_suspended: true } }),
    refused: (s) => [["GET", s.tenant], ["GET", `${s.tenant}/agents`]], status: 403,
    after: (on, s) => on.request("PATCH", `/admin/tenants/${s.tenantId}`, { body: { is_suspended: false } }),
  },
  "a key": {
    give: async (on, s) => {
      const made = good(await on.request("POST", `${s.tenant}/api-keys`, { token: s.login, body: { name: "Another" } }));
      Object.assign(s, { extra: made.key, extraId: made.id });
    },
    take: (on, s) => on.request("DELETE", `${s.tenant}/api-keys/${s.extraId}`),
    refused: (s) => [["GET", s.tenant], ["POST", `${s.tenant}/agents`, { name: "No", slug: "no" }]], status: 401, by: ["extra"],
    probes: 1,
  },
  "a login": {
    rounds: 6,
    give: async (on, s) => { s.extra = await enter(on); },
    take: (on, s) => on.request("POST", "/auth/logout", { token: s.extra }),
    refused: (s) => [["GET", "/me"], ["GET", s.tenant]], status: 401, by: ["extra"],
  },
  "the other logins after a new password": {
    rounds: 6,
    give: async (on, s) => { s.extra = await enter(on); },
    take: (on, s) => on.request("PUT", "/me/password",
      { token: s.login, body: { current_password: SOMEBODY.password, new_password: SOMEBODY.password } }),
    refused: (s) => [["GET", "/me"], ["GET", s.tenant]], status: 401, by: ["extra"],
  },
};

/** Gives on one, sees it work on the other, takes it on the one while the other is busy with just
 *  that, and asks the other. */
async function takeAway(way, s, here, there) {
  const made = await way.give(here, s);
  if (made) good(made);
  const by = way.by ?? ["login", "key"];
  const asks = way.refused(s);
  const send = (who, [method, path, body]) => there.request(method, path, { token: s[who], body });
  for (const who of by)
    for (const ask of asks.slice(0, way.probes)) for (let n = 0; n < 2; n++) good(await send(who, ask), [200, 204]);
  const busy = Promise.all(by.flatMap((who) => [1, 2].map(() => send(who, asks[0]))));
  good(await way.take(here, s));
  for (const who of by)
    for (const ask of asks) {
      const reply = await send(who, ask);
      equal(reply.status, way.status[who] ?? way.status, `${ask[0]} ${ask[1]} with the ${who}, after the reply: ${reply.text}`);
      if (reply.status === 401) ok(reply.headers["www-authenticate"], "WWW-Authenticate");
    }
  await busy;
}

test("what is taken on one is refused on the other at the next request", async (t) => {
  const { a, b } = await pair(t);
  const s = await scene(a);
  for (const [name, way] of Object.entries(WAYS)) {
    try {
      if (way.before) await way.before(a, s);
      for (let round = 0; round < (way.rounds ?? 20); round++)
        await takeAway(way, s, ...(round % 2 ? [b, a] : [a, b]));
      if (way.after) await way.after(b, s);
    } catch (err) {
      err.message = `${name}: ${err.message}`;
      throw err;
    }
  }
}, { ms: 120_000 });

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
  equal(await a.place.sql("select count(*) || ' ' || (select count(*) from audit_logs where action = 'agent.create') from agents where is_seed = 0"), "15 15", "agents and audit rows");
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
      const metrics = await server.request("GET", "/metrics", { token: "" });
      equal(metrics.status, 200, metrics.text);
      match(metrics.text, /\nlodge_store_up 0\n/, "the metrics while it is away");
      match(metrics.text, /\nlodge_requests_total\{operation="ready",status="5xx"\} [1-9]/, "what the process knows");
      ok(!metrics.text.includes("lodge_jobs{"), "jobs are told of a store that is away");
    }
    await ctl("start");
    for (const server of [a, b]) {
      await until(15_000, "it is ready again", async () => (await server.request("GET", "/readyz")).status === 200);
      for (let i = 0; i < 8; i++) {
        const read = await server.request("GET", kept.headers.location);
        equal(read.text, kept.text, "the agent");
      }
      await until(10_000, "the metrics are whole again", async () =>
        /\nlodge_store_up 1\n[^]*\nlodge_jobs\{state="waiting"\} /.test((await server.request("GET", "/metrics", { token: "" })).text));
    }
    const made = await b.request("POST", agents, { body: { name: "Back", slug: `back-${mode}` } });
    equal(made.status, 201, made.text);
    equal((await a.request("GET", made.headers.location)).status, 200, "on the other");
    for (const server of [a, b]) {
      if (mode === "fast") await server.says(/the store works again engine=postgres failures=\d+/);
      const lines = server.stderr.split("\n").filter((line) => /the store failed|events cannot be read|cannot be moved/.test(line));
      ok(lines.length >= 1 && lines.length <= 12, `the log says ${lines.length} times that the store failed: ${lines.slice(0, 20).join("\n")}`);
    }
  }
}, { ms: 120_000 });

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
  const there = new Set((await a.place.sql("select id from agents where is_seed = 0")).split("\n"));
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

test("a scraper from elsewhere sees the metrics while PostgreSQL is away, if its key was good", async (t) => {
  const cluster = startCluster();
  t.onEnd(() => cluster.stop());
  const ctl = controller(cluster);
  const [one, two] = await twins(t, cluster.url);
  const flags = [...FLAGS, "--trusted-proxies", "127.0.0.1"];
  const a = await t.serve(one, { flags });
  const b = await t.serve(two, { flags });
  const make = async (purpose) => {
    const { status, stdout, stderr } = await t.on(one, ["machine-key", "create", "--for", purpose, purpose]);
    equal(status, 0, stderr);
    return { token: stdout.trim(), id: /machine key (c[a-z0-9]{24}) /.exec(stderr)[1] };
  };
  const keys = { good: await make("metrics"), revoked: await make("metrics"), unseen: await make("metrics"), reads: await make("admin-read") };
  const scrape = (server, name) => server.request("GET", "/metrics", { token: keys[name]?.token ?? "", headers: { "X-Forwarded-For": "203.0.113.5" } });
  for (const [name, status] of [["good", 200], ["revoked", 200], ["reads", 403], ["nobody", 401]]) equal((await scrape(a, name)).status, status, name);
  equal((await t.on(one, ["machine-key", "revoke", keys.revoked.id])).status, 0, "revoking");
  equal((await scrape(a, "revoked")).status, 401, "a revoked key");
  await ctl("stop", "-m", "fast");
  await until(15_000, "the store is seen to be away", async () => (await a.request("GET", "/readyz")).status === 503);
  for (let i = 0; i < 3; i++) {
    const seen = await scrape(a, "good");
    equal(seen.status, 200, seen.text);
    match(seen.text, /\nlodge_store_up 0\n/, "the metrics while it is away");
  }
  const others = await Promise.all([...["revoked", "unseen", "reads", "nobody"].map((name) => scrape(a, name)), scrape(b, "good")]);
  equal(others.map((reply) => reply.status).join(), "503,503,503,503,503", "keys that are not known, and the process that has not seen the good one");
  equal((await a.request("GET", "/admin/users", { token: keys.good.token })).status, 503, "anything else");
  await ctl("start");
  await until(15_000, "it is ready again", async () => (await a.request("GET", "/readyz")).status === 200);
  equal((await scrape(a, "unseen")).status, 200, "a key that was not seen before");
  equal((await scrape(a, "revoked")).status, 401, "a revoked key");
}, { ms: 120_000 });
