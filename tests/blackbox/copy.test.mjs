// copy.test.mjs - `lodge copy` between the engines, and `lodge restore` into PostgreSQL: every row, broken off at many moments, and what is
// refused.  The source is a store with rows in nearly every table that an older version made, brought up to this one.
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { bin, command, equal, here, makeFolder, match, ok, shared, sqlite, test, until } from "./harness.mjs";

const unpack = (name) => gunzipSync(readFileSync(join(here, "stores", name))).toString();
const then = JSON.parse(unpack("0019-sqlite.json.gz"));
const GRACE = { email: "grace@example.org", password: "A-Word-Of-Grace-7" };
const MANY = 25_000; // rows of one table: several transactions
const FLAGS = ["--no-access-log", "--public-url", "https://lodge.example.com"];

// What a careless walk would change on its way: what COPY writes with a backslash, bytes of every value, none at all, the ends of numbers, a column
// that is called as SQLite's own is.
const ODD = `
  insert into directory select 'tab' || char(9) || 'line' || char(10) || 'return' || char(13) || 'back\\slash \\N \\. ''é𝄞', '';
  with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MANY}) insert into directory select printf('row-%06d', i), 'nobody' from n;
  insert into session_files select tenant_id, id, 'odd', 'odd', 'x', 3000000, -9223372036854775808, randomblob(3000000), null from session_rows limit 1;
  insert into session_files select tenant_id, id, 'none', 'none', 'x', 0, 1, x'', null from session_rows limit 1;
  insert into conversation_rows select id, 'c', 'u', 1, '{}', 2, null, 0, null, null, null, 0, null from tenants limit 1;
  insert into conversation_items select id, 'c', 2, 'second', null, 2, '{}' from tenants limit 1;
  insert into conversation_items select id, 'c', 1, 'first', null, 2, '{}' from tenants limit 1;
  update agent_rows set hourly_limit_pd = 9223372036854775807, description = '' where place = (select min(place) from agent_rows);`;

const made = shared(async (scope) => {
  const folder = scope.folder();
  const file = join(folder, "lodge.db");
  equal((await command("sqlite3", ["-bail", file], { input: unpack("0019-sqlite.sql.gz") })).status, 0, "unpacking");
  writeFileSync(join(folder, "master.key"), then.master_key, { mode: 0o600 });
  const result = await scope.run(["migrate", "--data", folder]);
  equal(result.status, 0, result.stderr);
  await sqlite(file, ODD);
  return file;
});

/** That store, in a place of its own. */
async function source(t) {
  const place = await t.place("sqlite");
  makeFolder(place.data, 0o700);
  copyFileSync(await made(), join(place.data, "lodge.db"));
  writeFileSync(join(place.data, "master.key"), then.master_key, { mode: 0o600 });
  return place;
}

/** An empty place whose processes have the key. */
async function target(t, engine) {
  const place = await t.place(engine);
  makeFolder(place.data, 0o700);
  writeFileSync(join(place.data, "master.key"), then.master_key, { mode: 0o600 });
  return place;
}

const copy = (t, from, to, more = [], options = {}) => t.run(["copy", `--from=${from.store}`, "--to", to.store, ...more], { ms: 120_000, ...options });

async function copied(t, from, to, ...more) {
  const result = await copy(t, from, to, more);
  equal(result.status, 0, result.stderr);
  match(result.stdout, /^Copied .* rows of \d+ tables .*Every row was read again/, "what it says");
  return result;
}

async function refused(t, from, to, why, ...more) {
  const result = await copy(t, from, to, more);
  equal(result.status, 1, result.stdout);
  match(result.stderr, why, "why");
}

/** Tables of two SQLite stores, by SQLite's own comparison; where a row is in the file is nobody's business. */
async function same(one, two) {
  const path = (place) => place.store.slice("sqlite:".length);
  const tables = (await sqlite(path(one), `select m.name || ':' || group_concat(c.name) from sqlite_master m join pragma_table_info(m.name) c
    where m.type = 'table' and m.name not like 'sqlite_%' and not (c.name = 'place' and c.cid = 0) group by m.name`)).split("\n").map((line) => line.split(":"));
  ok(tables.length > 80, `${tables.length} tables`);
  const differ = tables.map(([name, columns]) => `select '${name}', (select count(*) from (select ${columns} from main.${name} except select ${columns} from two.${name})),
    (select count(*) from (select ${columns} from two.${name} except select ${columns} from main.${name})), (select count(*) from main.${name}) - (select count(*) from two.${name})`);
  const found = await sqlite(path(one), `attach '${path(two)}' as two; ${differ.map((each) => `${each};`).join(" ")}`);
  equal(found.split("\n").filter((line) => !line.endsWith("|0|0|0")).join("\n"), "", "tables that differ");
}

async function sound(t, place) {
  const { status, stdout, stderr } = await t.on(place, ["check", "--audit"]);
  equal(status, 0, stderr);
  match(stdout, /\n[1-9]\d* sealed secrets open with the master key/, "secrets");
  return /\nIt ends at (\d+ \w+)/.exec(stdout)[1];
}

/** Passwords, keys and sealed secrets do what they did. */
async function works(t, place) {
  const server = await t.serve(place, { flags: FLAGS });
  equal((await server.request("POST", "/auth/login", { token: null, body: GRACE })).status, 200, "a password");
  equal((await server.request("GET", `/tenant/${then.ids.tenant_id}/agents`, { token: then.secrets.key })).status, 200, "an API key");
  const body = JSON.stringify({ action: "opened", issue: { number: 8, title: "Again" }, repository: { full_name: "acme/rocket" }, sender: { login: "ann" } });
  const event = await server.request("POST", `/hooks/${then.secrets.hook.id}`, { token: null, body, headers: { "X-GitHub-Event": "issues", "X-GitHub-Delivery": `at-${place.engine}`,
    "X-Hub-Signature-256": `sha256=${createHmac("sha256", then.secrets.hook.secret).update(body).digest("hex")}` } });
  equal(event.status, 202, `an event signed with a sealed secret: ${event.text}`);
  equal(await server.stop(), 0, "the exit status");
}

test("a store goes to PostgreSQL and back: the same rows, the same key, the same chain, and it works in either place", async (t) => {
  const first = await source(t), far = await target(t, "postgres"), back = await target(t, "sqlite"), again = await target(t, "sqlite");
  const end = await sound(t, first);
  const way = await copied(t, first, far);
  match(way.stderr, /^copying \w+: 100 %, (\d+) of \1 rows, \d+\/s, 0:00 left$/m, "how far it is");
  equal(await sound(t, far), end, "the end of the chain");
  const quiet = await copied(t, far, back, "--quiet");
  equal(quiet.stderr, "", "with --quiet");
  equal(await sound(t, back), end, "the end of the chain");
  await same(first, back);
  const drawn = await command("script", ["-qec", `${bin} copy --from ${back.store} --to ${again.store}`, "/dev/null"], { ms: 120_000 });
  match(drawn.stdout, /\r\x1b\[Kproving \[#{20}\] 100 %, \d+ of \d+ rows, \d+\/s, 0:00 left/, "on a terminal");
  await same(back, again);
  await works(t, far);
  await works(t, again);
  await sound(t, far);
}, { ms: 300_000 });

for (const engine of ["postgres", "sqlite"]) {
  test(`a copy that dies at any commit goes on, and its target is no store before (${engine})`, async (t) => {
    const first = await source(t), to = await target(t, engine);
    let lives = 0, result;
    do {
      const fault = `commit:${1 + lives * 4}:${lives % 2 ? "after" : "before"}`;
      result = await copy(t, first, to, ["--quiet"], { env: { LODGE_FAULT: fault } });
      ok(result.status === 0 || result.status === "SIGKILL", `${fault}: ${result.status} ${result.stderr}`);
      lives++;
      if (lives !== 4) continue;
      for (const args of [["serve", "--listen", "127.0.0.1:0"], ["migrate"], ["check"], ["backup", join(to.folder, "b.db")], ["user", "list"], ["rekey"]]) {
        const other = await t.on(to, args);
        equal(other.status, 1, `${args[0]}: ${other.stdout}`);
        match(other.stderr, /a copy that is not complete: run the same lodge copy or lodge restore again.*--anew/, args[0]);
      }
    } while (result.status !== 0 && lives < 100);
    ok(lives > 4, `it died ${lives} times`);
    match(result.stdout, /an earlier run had brought [1-9]/, "what it went on from");
    const back = engine === "sqlite" ? to : await target(t, "sqlite");
    if (back !== to) await copied(t, to, back);
    await same(first, back);
    await sound(t, to);
  }, { ms: 600_000 });
}

/** A copy that was killed when some rows of the large table were there. */
async function brokenOff(t, from, to) {
  const child = spawn(bin, ["copy", "--from", from.store, "--to", to.store], { cwd: to.folder, stdio: "ignore" });
  const over = new Promise((done) => child.on("close", (status, signal) => done(signal)));
  await until(60_000, "rows are there", async () => /[1-9]/.test(await to.sql("select coalesce(max(copied), 0) from copy_under_way where name = 'directory'").catch(() => "")));
  child.kill("SIGKILL");
  equal(await over, "SIGKILL", "how it ended");
}

test("a source or a target that was changed since is noticed, and --anew begins again", async (t) => {
  const first = await source(t), to = await target(t, "postgres");
  await brokenOff(t, first, to);
  const there = Number(await to.sql("select count(*) from directory"));
  equal(Number(await to.sql("select copied from copy_under_way where name = 'directory'")), there, "the note");
  await first.sql("insert into directory (id, tenant_id) values ('zz', 'later')");
  await refused(t, first, to, /beginning of a copy, but not of .*directory had 2\d+ rows when the copy began and has 2.*lodge copy --anew/);
  await first.sql("delete from directory where id = 'zz'");
  await first.sql("update directory set tenant_id = 'another' where id = 'row-000007'");
  await refused(t, first, to, /from the row of directory where id = 'row-000007' on they differ/);
  await copied(t, first, to, "--anew");
  equal(await to.sql("select tenant_id from directory where id = 'row-000007'"), "another", "the row");
  const other = await target(t, "postgres");
  await brokenOff(t, first, other);
  await other.sql("delete from directory where id = 'row-000003'");
  await refused(t, first, other, /from the row of directory where id = 'row-000003' on they differ/);
  await refused(t, first, to, /not empty: it is a store of lodge, at version \d+/, "--anew");
}, { ms: 300_000 });

test("what differs after all rows are there is named, and the target stays no store", async (t) => {
  const first = await source(t), to = await target(t, "postgres");
  await brokenOff(t, first, to);
  const id = (await first.sql("select id from users order by id limit 1")).trim();
  await to.sql(`truncate copy_under_way; create function spoil() returns trigger language plpgsql as 'begin new.name = ''spoilt''; return new; end';
    create trigger spoil before insert on users for each row when (new.id = '${id}') execute function spoil()`);
  await refused(t, first, to, new RegExp(`not what the source has: the row of users where id = '${id}' differs in name\\. It is not served`));
  equal((await t.on(to, ["check"])).status, 1, "check");
  await to.sql("drop trigger spoil on users; drop function spoil");
  await refused(t, first, to, new RegExp(`from the row of users where id = '${id}' on they differ`));
  await copied(t, first, to, "--anew");
  await sound(t, to);
}, { ms: 300_000 });

test("stores that are served, of another version, not empty or the same are refused", async (t) => {
  const first = await source(t), far = await target(t, "postgres"), near = await target(t, "sqlite");
  const server = await t.serve(first, { flags: FLAGS });
  await refused(t, first, far, /in use by another lodge \(serve, migrate or copy\)/);
  equal(await server.stop(), 0, "the exit status");
  equal(await far.sql("select count(*) from pg_class where relnamespace = current_schema()::regnamespace"), "0", "what was made of the target");
  await copied(t, first, far);
  const adopted = await t.on(far, ["bucket", "adopt"]); // a folder that the source does not know
  equal(adopted.status, 0, adopted.stderr);
  const served = await t.serve(far, { flags: FLAGS });
  await refused(t, far, near, /in use by another lodge \(serve or copy\); stop it first, on every machine/);
  await served.kill();
  await until(20_000, "the server has seen the end of it", async () => (await copy(t, far, near)).status === 0);
  if (process.getuid() === 0) { // what root makes is the folder's owner's
    const theirs = await target(t, "sqlite");
    mkdirSync(theirs.data, { recursive: true, mode: 0o700 });
    chownSync(theirs.data, 65534, 65534);
    await copied(t, far, theirs);
    equal(statSync(theirs.store.slice(7)).uid, 65534, "the owner of a copy that root made");
  }
  const holder = spawn("psql", ["-X", "-q", far.store, "-c", "select pg_advisory_lock(hashtextextended('lodge.served.' || current_schema(), 0)) is null", "-c", "select pg_sleep(60)"], { stdio: "ignore" });
  t.onEnd(() => holder.kill());
  await until(20_000, "it has the lock", async () => (await far.sql("select count(*) from pg_stat_activity where query like 'select pg_sleep%'")) === "1");
  for (const args of [["serve", "--listen", "127.0.0.1:0"], ["migrate"]]) match((await t.on(far, args)).stderr, /the store is being copied by lodge copy: wait/, args[0]);
  holder.kill();
  await refused(t, first, near, /not empty: it is a store of lodge, at version \d+\. A copy is made into a file that is not there yet/);
  const odd = await target(t, "postgres");
  await odd.sql("create table notes (n int)");
  await refused(t, first, odd, /not empty: it has the table notes\. A copy is made into an empty database/);
  for (const [version, why] of [[12, /is at version 12 and this program copies \d+: .*lodge migrate/], [9999, /is at version 9999 and this program only knows/]]) {
    await near.sql(`update meta set value = '${version}' where key = 'schema_version'`);
    await refused(t, near, await target(t, "sqlite"), why);
  }
  const gone = await target(t, "sqlite");
  await refused(t, gone, far, /there is no store at/);
  ok(!existsSync(gone.store.slice(7)), "a source was made");
  equal((await copy(t, first, first)).status, 2, "into itself");
  const nowhere = { ...far, store: far.store.replace(/search_path%3D.*/, "search_path%3Dnot_there") };
  for (const args of [["migrate"], ["serve", "--listen", "127.0.0.1:0"]]) match((await t.on(nowhere, args)).stderr, /none of the schemas of search_path is there/, args[0]);
  await refused(t, first, nowhere, /none of the schemas of search_path is there/);
  const odder = await t.run(["copy", "--from", "Postgres://u:geheim@h/x", "--to", "sqlite:x.db"]);
  ok(odder.status === 2 && !odder.stderr.includes("geheim"), `a password: ${odder.stderr}`);
  equal((await t.run(["copy", "--from", first.store, "sqlite:x.db"])).status, 2, "without --to");
}, { ms: 300_000 });

test("lodge restore brings a copy into an empty PostgreSQL, and refuses one that is not", async (t) => {
  const first = await source(t), far = await target(t, "postgres");
  const file = join(first.folder, "copy.db");
  equal((await t.on(first, ["backup", file])).status, 0, "lodge backup");
  const died = await t.on(far, ["restore", file], { env: { LODGE_FAULT: "commit:70:after" } });
  equal(died.status, "SIGKILL", died.stderr);
  const result = await t.on(far, ["restore", file]);
  equal(result.status, 0, result.stderr);
  equal(await sound(t, far), await sound(t, first), "the end of the chain");
  const over = await t.on(far, ["restore", file]);
  equal(over.status, 1, over.stdout);
  match(over.stderr, /not empty: it is a store of lodge.*make one with createdb/, "why");
  const back = await target(t, "sqlite");
  equal((await t.on(far, ["backup", join(back.data, "lodge.db")])).status, 0, "lodge backup of PostgreSQL");
  await same(first, back);
}, { ms: 300_000 });
