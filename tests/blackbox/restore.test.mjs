// restore.test.mjs - what happens to a store under the hands of those who run it: copies put back, files moved or
// written over, a store that is missing, one that does not answer, one that a newer program has taken over.
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bin, command, equal, match, ok, sqlite, startCluster, test, testBoth, until } from "./harness.mjs";

const FLAGS = ["--no-access-log"];

async function make(server, tenant, slug) {
  const reply = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: slug, slug } });
  equal(reply.status, 201, reply.text);
}

const slugs = async (place) => (await place.sql("select slug from agents where is_seed = 0 order by slug")).trim().split("\n").join(" ");

/** A store with a copy of it, whose owner wrote on and was then killed with commits in the log. */
async function crashed(t) {
  const place = await t.place("sqlite");
  const server = await t.serve(place, { flags: FLAGS });
  const tenant = await server.enter();
  await make(server, tenant, "before");
  const copy = join(place.folder, "copy.db");
  equal((await t.on(place, ["backup", copy])).status, 0, "lodge backup");
  for (const slug of ["after-1", "after-2"]) await make(server, tenant, slug);
  await server.kill();
  const file = join(place.data, "lodge.db");
  ok(statSync(`${file}-wal`).size > 0, "there is no log");
  return { place, copy, file };
}

test("a copy put over a store by hand after a crash is not damaged by the log of the former one", async (t) => {
  const { place, copy, file } = await crashed(t);
  const former = readFileSync(file);
  copyFileSync(copy, file);
  const bytes = readFileSync(file);
  for (const args of [["serve", "--listen", "127.0.0.1:0"], ["migrate"], ["check"], ["backup", join(place.folder, "x.db")], ["user", "list"]]) {
    const result = await t.on(place, args);
    equal(result.status, 1, `${args[0]} says ${result.stdout}${result.stderr}`);
    match(result.stderr, /lodge: the log .*lodge\.db-wal belongs to another file .*lodge restore/, args[0]);
    ok(bytes.equals(readFileSync(file)), `${args[0]} wrote to the copy`);
  }
  // Both ways out: the former file with its log, and the copy without.
  writeFileSync(file, former);
  equal((await t.on(place, ["check", "--audit"])).status, 0, "check of the former file");
  equal(await slugs(place), "after-1 after-2 before", "the former store");
  const again = await crashed(t);
  copyFileSync(again.copy, again.file);
  const restored = await t.on(again.place, ["restore", again.file]);
  equal(restored.status, 0, restored.stderr);
  equal((await t.on(again.place, ["check", "--audit"])).status, 0, "check of the copy");
  equal(await slugs(again.place), "before", "the copy");
});

test("lodge restore puts a copy back after a crash, and the former store, with its log, can be put back as well", async (t) => {
  const { place, copy, file } = await crashed(t);
  const result = await t.on(place, ["restore", copy]);
  equal(result.status, 0, result.stderr);
  const kept = /kept as (\S+);/.exec(result.stdout)?.[1];
  // One file, with what the log had: whatever happens between two renames, nothing is parted from it.
  ok(kept && existsSync(kept) && !existsSync(`${kept}-wal`), `what was kept: ${result.stdout}`);
  match(await sqlite(kept, "select slug from agents"), /after-2/, "what was acknowledged");
  equal(await slugs(place), "before", "the copy");
  equal((await t.on(place, ["check", "--audit"])).status, 0, "check");
  equal(statSync(file).mode & 0o077, 0, "what others may do with it");
  const server = await t.serve(place, { flags: FLAGS });
  const tenant = await server.enter();
  await make(server, tenant, "later");
  const busy = await t.on(place, ["restore", copy]);
  equal(busy.status, 1, "restoring under a running service");
  match(busy.stderr, /in use by another lodge/, "why");
  equal(await server.stop(), 0, "the exit status");
  { const back = await t.on(place, ["restore", kept]); equal(back.status, 0, `putting the former store back: ${back.stderr}`); }
  equal(await slugs(place), "after-1 after-2 before", "the former store");
  equal(await (await t.serve(place, { flags: FLAGS })).stop(), 0, "serving it");
  ok(!readdirSync(place.data).some((name) => /restoring|\.new$/.test(name)), `what is left: ${readdirSync(place.data)}`);
});

test("lodge restore refuses what is no whole store, or newer, and names a key that is another", async (t) => {
  const { place, copy, file } = await crashed(t);
  const before = readFileSync(file);
  const spoilt = join(place.folder, "spoilt.db");
  const bytes = readFileSync(copy);
  for (const [name, spoil, why] of [
    ["a text", () => writeFileSync(spoilt, "no store at all\n".repeat(100)), /not a store of lodge/],
    ["nothing", () => writeFileSync(spoilt, ""), /not a store of lodge/],
    ["half of it", () => writeFileSync(spoilt, bytes.subarray(0, bytes.length / 2)), /not a store of lodge|damaged|malformed/],
    ["a newer one", async () => (copyFileSync(copy, spoilt), await sqlite(spoilt, "update meta set value = 9999 where key in ('schema_version', 'oldest_program')")), /version 9999, .*newer lodge/],
    ["no file", () => rmSync(spoilt, { force: true }), /cannot read/],
  ]) {
    await spoil();
    const result = await t.on(place, ["restore", spoilt]);
    equal(result.status, 1, `${name}: ${result.stdout}`);
    match(result.stderr, why, name);
    ok(before.equals(readFileSync(file)), `${name}: the store was written to`);
    ok(!existsSync(`${file}.restoring`), `${name}: something is left`);
  }
  writeFileSync(join(place.data, "master.key"), `${"ab".repeat(32)}\n`, { mode: 0o600 });
  const other = await t.on(place, ["restore", copy]);
  equal(other.status, 0, other.stderr);
  match(other.stdout, /Before it is served: the master key .* is not the one this store was made with/, "another key");
});

test("a store's file that is moved, replaced or written over, or whose log is removed, is noticed; nothing more is acknowledged", async (t) => {
  for (const [name, act, undo] of [
    ["moved", (file) => renameSync(file, `${file}.gone`), (file) => renameSync(`${file}.gone`, file)],
    ["replaced", (file, copy) => (renameSync(file, `${file}.gone`), copyFileSync(copy, `${file}.x`), renameSync(`${file}.x`, file)), (file) => renameSync(`${file}.gone`, file)],
    ["written over", (file, copy, keep) => (copyFileSync(file, keep), writeFileSync(file, readFileSync(copy))), null],
    ["without its log", (file) => rmSync(`${file}-wal`), null],
  ]) {
    const place = await t.place("sqlite");
    const file = join(place.data, "lodge.db");
    const copy = join(place.folder, "copy.db");
    const server = await t.serve(place, { flags: FLAGS });
    const tenant = await server.enter();
    await make(server, tenant, "before");
    equal((await t.on(place, ["backup", copy])).status, 0, "lodge backup");
    act(file, copy, join(place.folder, "keep.db"));
    const write = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Lost", slug: "lost" } });
    ok(write.status === 503 || write.status === 401, `${name}: a write was answered with ${write.text}`);
    await server.says(/the store's file was changed under the running service[^\n]*lodge restore/);
    const ready = await server.request("GET", "/readyz");
    equal(ready.status, 503, `${name}: ${ready.text}`);
    match(ready.text, /file was changed under the running service/, name);
    equal((await server.request("GET", "/me")).status, 503, `${name}: a good token`);
    await Promise.all(Array.from({ length: 40 }, () => server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Lost", slug: "lost" } })));
    match((await server.request("GET", "/metrics", { token: "" })).text, /\nlodge_store_up 0\n/, `${name}: the metrics`);
    equal(await server.stop(), 0, `${name}: the exit status`);
    const lines = server.stderr.split("\n").filter((line) => /^\S+ (error|warn)/i.test(line));
    ok(lines.length <= 12, `${name}: ${lines.length} lines say what one could: ${lines.slice(0, 20).join("\n")}`);
    if (!undo) continue;
    undo(file);
    equal((await t.on(place, ["check", "--audit"])).status, 0, `${name}: check with the file back`);
    match(await slugs(place), /before/, `${name}: what was acknowledged`);
  }
}, { ms: 120_000 });

test("beside a master key no empty store is made, unless on purpose", async (t) => {
  const place = await t.place("sqlite");
  const first = await t.serve(place, { flags: FLAGS });
  await first.stop();
  const file = join(place.data, "lodge.db");
  for (const gone of [() => rmSync(file), () => writeFileSync(file, "")]) {
    gone();
    for (const args of [["serve", "--listen", "127.0.0.1:0"], ["migrate"], ["check"], ["backup", join(place.folder, "none.db")]]) {
      const result = await t.on(place, args);
      equal(result.status, 1, `${args[0]} says ${result.stdout}`);
      match(result.stderr, /there is no store at .*but a master key at .*lodge restore.*lodge migrate --new/, args[0]);
      ok(!result.stdout.includes("with the password"), "an administrator was made");
    }
    ok(!existsSync(file) || statSync(file).size === 0, "a store was made");
  }
  equal((await t.on(place, ["migrate", "--new"])).status, 0, "migrate --new");
  equal((await t.on(place, ["bucket", "adopt"])).status, 0, "the bucket of the former store");
  equal((await t.on(place, ["repos", "adopt"])).status, 0, "the repositories of the former store");
  await (await t.serve(place, { flags: FLAGS })).enter();
});

test("a copy that is broken off leaves nothing under its name, and the next is made all the same", async (t) => {
  const place = await t.place("sqlite");
  const server = await t.serve(place, { flags: FLAGS });
  await server.enter();
  const copy = join(place.folder, "copy.db");
  for (const signal of ["SIGTERM", "SIGKILL"]) {
    writeFileSync(`${copy}.part`, "half of a copy", { mode: 0o600 });
    writeFileSync(`${copy}.part-journal`, "what SQLite left");
    const child = spawn(bin, ["backup", copy, "--data", place.data, "--store", place.store], { cwd: place.folder, stdio: "ignore" });
    const over = new Promise((done) => child.on("close", done));
    await until(10_000, "it has begun", () => !existsSync(`${copy}.part-journal`) || statSync(`${copy}.part`).size !== 14 || existsSync(copy));
    child.kill(signal);
    await over;
    if (existsSync(copy)) equal((await t.run(["check", "--data", place.data, "--store", `sqlite:${copy}`])).status, 0, "a copy that has its name is whole");
    rmSync(copy, { force: true });
    equal((await t.on(place, ["backup", copy])).status, 0, "the next copy");
    ok(!readdirSync(place.folder).some((name) => name.includes(".part")), `what is left: ${readdirSync(place.folder)}`);
    rmSync(copy);
  }
});

/** What the newest migration did to columns, undone: a new one brings its own. */
const UNDO = ["drop table agent_host_users"];

testBoth("a store of an older version is copied as it is", async (t, engine) => {
  const place = await t.place(engine);
  await (await t.serve(place, { flags: FLAGS })).stop();
  const version = Number(await place.sql("select value from meta where key = 'schema_version'"));
  for (const statement of UNDO) await place.sql(statement);
  await place.sql(`update meta set value = '${version - 1}' where key = 'schema_version'`);
  const copy = join(place.folder, "copy.db");
  const result = await t.on(place, ["backup", copy]);
  equal(result.status, 0, result.stderr);
  equal((await sqlite(copy, "select value from meta where key = 'schema_version'")).trim(), String(version - 1), "the version of the copy");
});

test("a PostgreSQL that hangs: readiness and metrics answer, and all is well when it goes on", async (t) => {
  const cluster = startCluster();
  t.onEnd(() => cluster.stop());
  const server = await t.serve(await t.place("postgres", cluster.url), { flags: FLAGS });
  await server.enter();
  const main = readFileSync(join(cluster.folder, "db", "postmaster.pid"), "utf8").split("\n")[0];
  const children = (await command("pgrep", ["-P", main])).stdout.trim().split("\n");
  const signal = (name) => {
    for (const pid of [main, ...children]) {
      try {
        process.kill(Number(pid), name);
      } catch (error) {
        if (error.code !== "ESRCH") throw error; // its workers come and go
      }
    }
  };
  signal("SIGSTOP");
  try {
    const at = Date.now();
    for (const reply of await Promise.all(["/readyz", "/metrics", "/readyz"].map((path) => server.request("GET", path, { token: "" })))) {
      equal(reply.status, 503, reply.text);
      match(reply.text, /store does not answer/, "the reason");
    }
    ok(Date.now() - at < 30_000, "they waited for the store");
    await server.says(/the store does not answer/);
    equal((await server.request("GET", "/readyz")).status, 503, "/readyz");
    const metrics = await server.request("GET", "/metrics", { token: "" });
    equal(metrics.status, 200, metrics.text);
    match(metrics.text, /\nlodge_store_up 0\n/, "the metrics");
  } finally {
    signal("SIGCONT");
  }
  await until(20_000, "it is ready again", async () => (await server.request("GET", "/readyz")).status === 200);
  equal((await server.request("GET", "/me")).status, 200, "a request");
}, { ms: 120_000 });

test("a process whose PostgreSQL store a newer program has taken over is unready and writes nothing more", async (t) => {
  const place = await t.place("postgres");
  const server = await t.serve(place, { flags: FLAGS });
  const tenant = await server.enter();
  const agents = `/tenant/${tenant}/agents`;
  await place.sql("update meta set value = '9998' where key = 'schema_version'");
  await server.says(/newer than this program, which it still admits[^\n]*9998/);
  equal((await server.request("GET", "/readyz")).status, 200, "/readyz of a process that is still admitted");
  equal((await server.request("POST", agents, { body: { name: "B", slug: "b" } })).status, 201, "what it writes");
  match((await server.request("GET", "/metrics")).text, /\nlodge_store_version 9998\n/, "the metrics");
  await place.sql("update meta set value = '9999' where key in ('schema_version', 'oldest_program')");
  await server.says(/taken over by a newer program[^\n]*9999/);
  const ready = await server.request("GET", "/readyz");
  equal(ready.status, 503, ready.text);
  match(ready.text, /newer version of the program/, "the reason");
  const write = await server.request("POST", agents, { body: { name: "A", slug: "a" } });
  equal(write.status, 503, write.text);
  equal(await server.stop(), 0, "the exit status");
});

test("lodge migrate makes an index of words anew that differs from what it describes, as check says", async (t) => {
  const place = await t.place("sqlite");
  await (await t.serve(place, { flags: FLAGS })).stop();
  await place.sql("delete from search_words where tail in (select tail from search_words limit 2)");
  const check = await t.on(place, ["check"]);
  equal(check.status, 1, "check");
  match(check.stderr, /index of words differs .* lodge migrate/, "what to do");
  match((await t.on(place, ["migrate"])).stdout, /index of words was made anew/, "migrate");
  equal((await t.on(place, ["check"])).status, 0, "check afterwards");
});
