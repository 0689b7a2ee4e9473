// stores.test.mjs - stores that older versions of the program made, with rows in every table of then, are
// opened by this one: migrated, their tables the same as those of a fresh store, everything that could be read
// then read back through the API, secrets opened, sums recounted, and work that was left goes on.
//
// stores/make.mjs made them; a new version is a new pair of files there.
import { createHmac } from "node:crypto";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { command, ENGINES, equal, here, makeFolder, ok, short, test, until } from "./harness.mjs";

const folder = join(here, "stores");
const versions = [...new Set(readdirSync(folder).map((name) => /^(\d{4})-/.exec(name)?.[1]).filter(Boolean))];
const unpack = (name) => gunzipSync(readFileSync(join(folder, name))).toString();
const FLAGS = ["--webhook-log", "3650d", "--allow-private-addresses", "--public-url", "https://lodge.example.com"];
const GRACE = { email: "grace@example.org", password: "A-Word-Of-Grace-7" };

// What an answer of then need not say any more, by its path and the place in it: why.
const CHANGED = [
  [/./, /(^|\.)(last_login_at|last_used_at|last_seen_at|last_active_at|updated_at|usage|expires_at)$|_30d(\.|$)/, "moves with time and use"],
  [/\/audit-logs$|^\/me\/sessions$/, /^total$/, "the login of this test, and the work that was left, were not there yet"],
  [/^\/admin\/users$/, /\.tenant_count$/, "whose address is not proven is only invited by further tenants"],
  [/\/api-keys$/, /\.scopes$/, "a key that is not cut down has none, where it had an empty list"],
  [/\/integrations(\/\w+)?$/, /guardrails\.check_budget$/, "is now `budget`"],
  [/^\/v1\/responses\//, /^output\[\d+\]\.id$/, "items are named after their response, so that an item_reference finds them"],
];

/** The differences between what was said then and is said now: a field that came since is none. */
function differences(path, then, now, place = "") {
  if (CHANGED.some(([of, at]) => of.test(path) && at.test(place))) return [];
  if (then === null || typeof then !== "object") return Object.is(then, now) ? [] : [`${place}: ${short(then)} is now ${short(now)}`];
  if (now === null || typeof now !== "object") return [`${place}: ${short(then)} is now ${short(now)}`];
  if (Array.isArray(then)) {
    const found = then.map((one, i) => [one, one?.id === undefined ? now[i] : now.find((other) => other?.id === one.id) ?? now[i], i]);
    return found.flatMap(([one, other, i]) => differences(path, one, other, `${place}[${i}]`));
  }
  return Object.keys(then).flatMap((name) => differences(path, then[name], now[name], place ? `${place}.${name}` : name));
}

async function load(t, version, engine) {
  const place = await t.place(engine);
  const then = JSON.parse(unpack(`${version}-${engine}.json.gz`));
  const dump = unpack(`${version}-${engine}.sql.gz`);
  makeFolder(place.data, 0o700);
  writeFileSync(join(place.data, "master.key"), then.master_key, { mode: 0o600 });
  const schema = /search_path%3D(\w+)/.exec(place.store)?.[1];
  const file = join(place.data, "lodge.db");
  const [program, args, input] = engine === "sqlite"
    ? ["sqlite3", ["-bail", file], dump]
    : ["psql", ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", "-", place.store], dump.replaceAll("lodge_old.", `${schema}.`)];
  const { status, stderr } = await command(program, args, { input });
  ok(status === 0, `${program} says ${stderr}`);
  if (engine === "sqlite") chmodSync(file, 0o600);
  return { place, then };
}

/** The tables as the engine describes them. */
async function tables(place) {
  if (place.engine === "sqlite") return place.sql("select type, name, sql from sqlite_master where name not like 'sqlite_%' order by type, name");
  const schema = /search_path%3D(\w+)/.exec(place.store)[1];
  const { stdout } = await command("pg_dump", ["--schema-only", "--no-owner", "--no-privileges", `--schema=${schema}`, place.store]);
  return stdout.replaceAll(schema, "SCHEMA").replace(/^\\(un)?restrict .*\n/gm, "").split(/\n\n+/).sort().join("\n");
}

function sameLines(got, wanted, what) {
  const [have, want] = [got.split("\n"), wanted.split("\n")];
  const odd = [...have.filter((line) => !want.includes(line)).map((line) => `+ ${line}`), ...want.filter((line) => !have.includes(line)).map((line) => `- ${line}`)];
  equal(odd.slice(0, 20).join("\n"), "", what);
}

async function sound(t, place, ...more) {
  const { status, stdout, stderr } = await t.on(place, ["check", ...more]);
  equal(status, 0, `lodge check ${more.join(" ")}: ${stdout.replace(/^.* # .*\n/gm, "")}${stderr}`);
}

async function readsBack(server, then) {
  const bad = [];
  for (const [path, answer] of Object.entries(then.answers)) {
    const reply = await server.request("GET", path, path.startsWith("/v1/") ? { token: then.secrets.key } : {});
    const now = reply.json ?? reply.text;
    const found = reply.status === 200 ? differences(path, answer, now) : [`${reply.status} ${reply.text}`];
    bad.push(...found.map((one) => `GET ${path}: ${one}`));
  }
  ok(bad.length === 0, `${bad.length} differences:\n${bad.slice(0, 40).join("\n")}`);
  ok(Object.keys(then.answers).length > 5, "too few answers were kept");
}

const sessionPath = (then, id) => `/tenant/${id === then.secrets.unfinished ? then.second : then.ids.tenant_id}/sessions/${id}`;

/** What was queued or waited for a person goes on, with whose rights it had.  An approval from before it was kept
 * what exactly is approved is asked for once more. */
async function goesOn(server, then) {
  const { waiting = [], unfinished } = then.secrets;
  const approve = async (path) => {
    for (const one of (await server.request("GET", `${path}/approvals`)).json.items.filter((each) => each.status === "pending")) {
      const reply = await server.request("POST", `${path}/approvals/${one.id}`, { body: { approved: true } });
      ok(reply.status < 300, reply.text);
    }
  };
  for (const id of [...waiting, unfinished].filter(Boolean)) {
    let now;
    await until(60_000, `the session ${id} goes on to its end`, async () => {
      if (waiting.includes(id)) await approve(sessionPath(then, id));
      now = (await server.request("GET", sessionPath(then, id))).json;
      return ["completed", "failed", "cancelled"].includes(now.status);
    });
    equal(now.status, "completed", `the session ${id}: ${short(now)}`);
  }
}

async function hookWorks(server, then) {
  const { hook, skill_hook: skill } = then.secrets;
  if (!hook) return;
  const body = JSON.stringify({ action: "opened", issue: { number: 8, title: "Again" }, repository: { full_name: "acme/rocket" }, sender: { login: "ann" } });
  const send = (delivery) => server.request("POST", `/hooks/${hook.id}`, { token: null, body, headers: { "X-GitHub-Event": "issues",
    "X-GitHub-Delivery": delivery, "X-Hub-Signature-256": `sha256=${createHmac("sha256", hook.secret).update(body).digest("hex")}` } });
  equal((await send("second")).status, 202, "an event signed with the secret of then");
  equal((await send("first")).status, 200, "an event that was taken then");
  if (skill) equal((await server.request("POST", `/hooks/skills/${skill.id}`, { token: skill.token, body: { message: "count to 3" } })).status, 202, "a skill's webhook");
}

async function peopleComeIn(server, then) {
  if (then.secrets.key) equal((await server.request("GET", `/tenant/${then.ids.tenant_id}/agents`, { token: then.secrets.key })).status, 200, "an API key of then");
  if (!then.ids.user_id) return;
  const reply = await server.request("POST", "/auth/login", { token: null, body: GRACE });
  equal(reply.status, 200, `a password of then: ${reply.text}`);
  equal(reply.json.user.memberships.map((one) => one.tenant_id).join(), then.ids.tenant_id, "the tenants of somebody whose address is not proven");
}

/** A skill of another tenant stays as it was given, although its author goes on. */
async function skillIsPinned(server, then) {
  if (!then.ids.skill_id) return;
  const path = `/tenant/${then.second}/agents/${then.other}/skills/${then.ids.skill_id}/version`;
  const version = async () => {
    const reply = await server.request("GET", path);
    equal(reply.status, 200, reply.text);
    return reply.json;
  };
  const before = await version();
  equal(`${before.is_pinned} ${before.update_available}`, "true false", "pinned, with a newer text");
  const changed = await server.request("PATCH", `/tenant/${then.ids.tenant_id}/skills/${then.ids.skill_id}`, { body: { instructions: "# Another text\n" } });
  equal(changed.status, 200, changed.text);
  const after = await version();
  equal(`${after.is_pinned} ${after.update_available} ${after.digest}`, `true true ${before.digest}`, "pinned, with a newer text, as before");
}

for (const version of versions)
  for (const engine of ENGINES)
    test(`a store of version ${Number(version)} is opened, and all of it is there (${engine})`, async (t) => {
      const { place, then } = await load(t, version, engine);
      const migrated = await t.on(place, ["migrate"]);
      equal(migrated.status, 0, migrated.stderr);
      const fresh = await t.place(engine);
      equal((await t.on(fresh, ["migrate"])).status, 0, "a fresh store");
      sameLines(await tables(place), await tables(fresh), "the tables beside those of a fresh store");
      await sound(t, place);
      const server = await t.serve(place, { flags: FLAGS });
      await server.login(then.admin);
      await readsBack(server, then);
      await peopleComeIn(server, then);
      await skillIsPinned(server, then);
      await goesOn(server, then);
      await hookWorks(server, then);
      equal(await server.stop(), 0, "the end");
      await sound(t, place, "--audit");
    }, { ms: 180_000 });

// Migration 33: an address that was invited, became no account, and that nobody invites any more goes; all others stay.
const LEFT = [
  ["forgotten", "null", "null", 0, false, false],
  ["invited", "null", "null", 0, true, true],
  ["withpassword", "'x'", "null", 0, false, true],
  ["proven", "null", "1", 0, false, true],
  ["banned", "null", "null", 1, false, true],
];
for (const engine of ENGINES)
  test(`addresses that nobody invites any more go with the upgrade, and no others (${engine})`, async (t) => {
    const { place } = await load(t, "0019", engine);
    const tenant = (await place.sql("select min(id) from tenants")).trim();
    for (const [name, password, proven, suspended, member] of LEFT) {
      await place.sql(`insert into users (id, email, email_folded, password_hash, is_super_admin, is_suspended, created_at, updated_at, email_proven_at)
        values ('left-${name}', '${name}@left.example', '${name}@left.example', ${password}, 0, ${suspended}, 1, 1, ${proven})`);
      if (member) await place.sql(`insert into members (tenant_id, user_id, role, status, created_at, updated_at) values ('${tenant}', 'left-${name}', 'MEMBER', 'invited', 1, 1)`);
    }
    equal((await t.on(place, ["migrate"])).status, 0, "the upgrade");
    const left = (await place.sql("select email from users where email like '%@left.example' order by email")).trim().split("\n");
    equal(left.join(" "), LEFT.filter((one) => one[5]).map((one) => `${one[0]}@left.example`).sort().join(" "), "who is left");
  });
