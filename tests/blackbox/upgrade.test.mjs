// upgrade.test.mjs - programs of two versions over one store: what only adds to the tables leaves the older program at
// work, beside the newer one or after it.
//
// ./test full also builds the program of the last version of the tables before this one, and has both work at once.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, equal, match, ok, root, short, test, testBoth, until } from "./harness.mjs";

const FLAGS = ["--no-access-log"];
const EVERY = process.env.LODGE_TEST_EVERY === "1";

/** The store as a newer program leaves it that only added something. */
async function grown(place) {
  await place.sql("create table of_later (id text primary key)");
  await place.sql("update meta set value = '999' where key = 'schema_version'");
  await place.sql("update meta set value = 'of later' where key = 'search_version'");
}

testBoth("a store that a newer program has only added to is served, checked and copied, and stays as new", async (t, engine) => {
  const place = await t.place(engine);
  equal((await t.on(place, ["migrate"])).status, 0, "migrate");
  await grown(place);
  const check = await t.on(place, ["check"]);
  equal(check.status, 0, check.stderr);
  match(check.stdout, /# warning: the store is at version 999, and this program only knows \d+; it is still admitted/, "check");
  ok(!check.stdout.includes("of_later"), "check tells of what is the newer program's");
  const server = await t.serve(place, { flags: FLAGS });
  await server.says(/newer than this program, which it still admits[^\n]*999/);
  const tenant = await server.enter();
  equal((await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "A", slug: "a" } })).status, 201, "an agent");
  equal(await server.stop(), 0, "the exit status");
  match((await t.on(place, ["migrate"])).stdout, /at version 999 already/, "migrate");
  equal(await place.sql("select value from meta where key = 'search_version'"), "of later", "the index of words is left to the newer program");
  const copy = join(place.folder, "copy.db");
  const backup = await t.on(place, ["backup", copy]);
  if (engine === "sqlite") equal(backup.status, 0, backup.stderr);
  else match(backup.stderr, /version 999, for programs from version \d+ on, .*newer lodge/, "tables that only the newer program can make");
  await place.sql("drop table session_events");
  const lacking = await t.on(place, ["check"]);
  equal(lacking.status, 1, "a newer store that lacks what this program needs");
  match(lacking.stderr, /lacks .*session_events/, "the line");
});

// ---- both versions at once ----

const git = async (...args) => (await command("git", ["-C", root, ...args])).stdout.trim();

/** The program of the last commit whose tables were of another version; null where there is no such history. */
async function former(t) {
  const newest = readdirSync(join(root, "src/store/migrations")).sort().at(-1);
  const came = await git("log", "--diff-filter=A", "--format=%H", "-1", "--", `src/store/migrations/${newest}`);
  if (!came) return null;
  const folder = mkdtempSync(join(tmpdir(), "lodge-former."));
  t.onEnd(() => rmSync(folder, { recursive: true, force: true }));
  const packed = await command("sh", ["-c", `git -C '${root}' archive '${came}^' | tar -x -C '${folder}'`]);
  ok(packed.status === 0, packed.stderr);
  const built = await command(join(folder, "tools/build"), ["build", "lodge", "--buildtype=release"], { cwd: folder, ms: 1_800_000 });
  ok(built.status === 0, `the former program does not build: ${short(built.stderr + built.stdout.slice(-2000))}`);
  return join(folder, "build/lodge");
}

if (EVERY)
  test("the program of the version before works beside this one on the new tables", async (t) => {
    const old = await former(t);
    if (!old) return console.log("note: there is no history here: the former program is not tested");
    const place = await t.place("postgres");
    // The older made the store and serves; the newer joins and changes the tables under it.
    const a = await t.serve(place, { flags: FLAGS, program: old });
    const before = Number(await place.sql("select value from meta where key = 'schema_version'"));
    const tenant = await a.enter();
    const b = await t.serve(place, { flags: FLAGS });
    b.token = a.token;
    const now = Number(await place.sql("select value from meta where key = 'schema_version'"));
    ok(now > before, `the tables are at ${now} and were at ${before}`);
    const oldest = Number(await place.sql("select value from meta where key = 'oldest_program'"));
    if (oldest > before) {
      await a.says(/taken over by a newer program/);
      equal((await a.request("GET", "/readyz")).status, 503, "/readyz of a program that is not admitted");
      return console.log(`note: version ${now} admits no program before ${oldest}`);
    }
    await a.says(/newer than this program, which it still admits/);
    const agents = `/tenant/${tenant}/agents`;
    const work = async (here, there, n) => {
      const made = await here.request("POST", agents, { body: { name: `Agent ${n}`, slug: `agent-${n}` } });
      equal(made.status, 201, made.text);
      equal((await there.request("GET", made.headers.location)).status, 200, "read by the other");
      equal((await there.request("PATCH", made.headers.location, { body: { name: `Changed ${n}` } })).status, 200, "changed by the other");
      const session = await there.request("POST", `${agents}/${made.json.id}/sessions`, { body: {} });
      equal(session.status, 201, session.text);
      const path = `/tenant/${tenant}/sessions/${session.json.id}`;
      const said = await here.request("POST", `${path}/messages`, { body: { content: "count to 3" } });
      ok(said.status < 300, said.text);
      await until(60_000, "the answer", async () => (await there.request("GET", `${path}/messages`)).json.items.some((one) => one.role === "assistant" && one.status !== "running"));
      const found = await there.request("GET", `/tenant/${tenant}/autocomplete?q=Changed`);
      ok(found.status === 200 && found.text.includes(`Changed ${n}`), `found by the other: ${found.text}`);
    };
    for (let n = 0; n < 6; n++) await work(...(n % 2 ? [a, b] : [b, a]), n);
    // The older one may also start again, and end last.
    equal(await a.stop(), 0, "the exit status");
    const again = await t.serve(place, { flags: FLAGS, program: old });
    again.token = b.token;
    await work(again, b, 6);
    equal(await b.stop(), 0, "the exit status");
    equal((await again.request("GET", agents)).status, 200, "the older one alone");
    equal(await again.stop(), 0, "the exit status");
    const check = await t.on(place, ["check", "--audit"]);
    equal(check.status, 0, check.stderr);
  }, { ms: 2_400_000 });
