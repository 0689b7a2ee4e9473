// import.test.mjs - agents between files and stores: the command line beside a serving process, the same file sent by many at once, to one
// process and to two, archives that other programs made, and deaths in the middle, after which there is no agent or a whole one.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { command, equal, match, ok, test, testBoth, within } from "./harness.mjs";

const LETTA = fileURLToPath(new URL("../fuzz/corpus/bundle/letta-2.af", import.meta.url));

testBoth("an agent comes from a file, once, and leaves as one", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place);
  await server.enter();
  let result = await t.on(place, ["agents", "import", "demo", LETTA, "Planner", "--dry-run"]);
  match(result.stdout, /^Would import planner from letta: 0 skills, 2 memories, 1 sessions with 4 messages\./, result.stderr);
  equal((await place.sql("select count(*) from agent_imports")).trim(), "0", "imports after a dry run");

  const bytes = readFileSync(LETTA);
  const send = () => server.request("POST", `/tenant/${server.tenant}/agents/import`, { body: bytes, headers: { "Content-Type": "application/json" } });
  const replies = await Promise.all([send(), send(), send(), send()]);
  equal(replies.map((r) => r.status).sort().join(), "200,200,200,201", "one of four made it");
  equal(new Set(replies.map((r) => r.json.agent_id)).size, 1, "agents");
  result = await t.on(place, ["agents", "import", "demo", LETTA]);
  match(result.stdout, /^This file was imported before: it is the agent trip-planner-eu/, result.stderr);

  const out = join(place.folder, "out.zip");
  result = await t.on(place, ["agents", "export", "demo", "trip-planner-eu", out, "--sessions", "--memories"]);
  equal(result.status, 0, `the exit status, with ${result.stderr}`);
  const written = readFileSync(out);
  equal(result.stdout, `Wrote ${out}: ${written.length} bytes.\n`, "what it says");
  result = await t.on(place, ["agents", "export", "demo", "trip-planner-eu", out]);
  match(result.stderr, /cannot write .*: File exists/, "a file that is there");
  equal((await t.on(place, ["agents", "export", "demo", "none", `${out}.2`])).status, 1, "no such agent");
  ok(!existsSync(`${out}.2`), "nothing is written of it");

  const agent = replies[0].json.agent_id;
  equal((await server.request("DELETE", `/tenant/${server.tenant}/agents/${agent}`)).status, 204, "the deletion");
  result = await t.on(place, ["agents", "import", "demo", out]);
  match(result.stdout, /^Imported trip-planner-eu from lodge: 0 skills, 2 memories, 1 sessions with 4 messages\./, result.stderr);
  result = await t.on(place, ["agents", "export", "demo", "trip-planner-eu", `${out}.3`, "--sessions", "--memories"]);
  ok(readFileSync(`${out}.3`).equals(written), "the same bytes again");
  writeFileSync(out, written.subarray(0, written.length - 30));
  match((await t.on(place, ["agents", "import", "demo", out])).stderr, /the file is refused: archive /, "a file that is cut off");
});

testBoth("an import that is killed leaves no agent, or a whole one", async (t, engine) => {
  const place = await t.place(engine);
  await (await t.serve(place)).stop();
  const state = async () => (await place.sql(`select (select count(*) from agent_imports) || ' ' || (select count(*) from memories) || ' '
    || (select count(*) from messages) || ' ' || (select count(*) from audit_logs where action = 'agent.import')`)).trim();
  for (let n = 1; ; n++) {
    ok(n < 10, "the import ends");
    const before = await t.on(place, ["agents", "import", "demo", LETTA], { env: { LODGE_FAULT: `commit:${n}:before` } });
    if (before.status === 0) break; // there are fewer commits
    equal(before.status, "SIGKILL", before.stderr);
    equal(await state(), "0 0 0 0", "what is there after a death before the commit");
    await t.on(place, ["agents", "import", "demo", LETTA], { env: { LODGE_FAULT: `commit:${n}:after` } });
    if ((await state()) !== "0 0 0 0") break;
  }
  equal(await state(), "1 2 4 1", "what is there once it is");
});

const send = (server, tenant, token = server.token) => server.request("POST", `/tenant/${tenant}/agents/import`, { token, body: readFileSync(LETTA), headers: { "Content-Type": "application/json" } });

testBoth("an import by HTTP whose process is killed leaves no agent, or a whole one, and the repeat resolves to it", async (t, engine) => {
  const place = await t.place(engine), first = await t.serve(place), tenant = await first.enter();
  await first.stop();
  const NONE = "0 0 0 0 0", WHOLE = "1 1 2 4 1";
  const state = async () => (await place.sql(`select (select count(*) from agent_imports) || ' ' || (select count(*) from agent_rows where slug = 'trip-planner-eu') || ' '
    || (select count(*) from memories) || ' ' || (select count(*) from messages) || ' ' || (select count(*) from audit_logs where action = 'agent.import')`)).trim();
  let deaths = 0;
  for (let n = 1; (await state()) === NONE; n++) {
    ok(n < 40, "the import comes to its end");
    for (const side of ["before", "after"]) {
      const server = t.launch(place, { env: { LODGE_FAULT: `commit:${n}:${side}` } });
      if (!(await server.up().then(() => true, () => false))) continue; // a start commits, too
      const reply = await send(server, tenant, first.token).catch(() => null);
      if (!reply) await within(10_000, server.over, "the death");
      else await server.kill();
      const now = await state();
      ok(reply ? now === WHOLE : now === NONE || now === WHOLE, `commit ${n} ${side}: ${now}`);
      deaths += !reply;
      if (now === WHOLE) break;
    }
  }
  ok(deaths > 0, "it was killed on the way");
  const again = await t.serve(place), reply = await send(again, tenant, first.token);
  equal(`${reply.status} ${reply.json.idempotent_reuse}`, "200 true", "the repeat");
  equal(await state(), "1 1 2 4 2", "what is there after it");
  await again.stop();
  equal((await t.on(place, ["check"])).status, 0, "check");
}, { ms: 120_000 });

test("two processes on PostgreSQL that are sent the same file at once make one agent", async (t) => {
  const place = await t.place("postgres"), a = await t.serve(place), b = await t.serve(place), tenant = await a.enter();
  await b.enter();
  const replies = await Promise.all([a, b, a, b, a, b].map((server) => send(server, tenant)));
  equal(replies.map((r) => r.status).sort().join(), "200,200,200,200,200,201", replies.map((r) => r.text).join().slice(0, 500));
  equal(new Set(replies.map((r) => r.json.agent_id)).size, 1, "agents");
  equal((await place.sql("select count(*) || ' ' || (select count(*) from messages) from agent_imports")).trim(), "1 4", "imports and messages");
});

/** Every line packs the folder `in` into `out`; with what the file's type is. */
const PACKERS = [
  ["zip -qr $out .", "zip"], ["zip -q0r $out .", "zip"], ["zip -qr - . | cat > $out", "zip"], ["zip -qrX9 $out *", "zip"],
  ["bsdtar --format zip -cf $out *", "zip"], ["bsdtar --format zip --options zip:compression=store -cf $out *", "zip"],
  ["bsdtar -czf $out *", "gzip"], ["bsdtar --format ustar -czf $out *", "gzip"], ["bsdtar --format gnutar -czf $out .", "gzip"],
  ["tar -czf $out .", "gzip"], ["tar --format=pax -czf $out *", "gzip"], ["tar --format=v7 -cf - * | gzip -9 > $out", "gzip"],
  ["/usr/bin/python3 $script zip", "zip"], ["/usr/bin/python3 $script zip-streamed", "zip"], ["/usr/bin/python3 $script tar-pax", "gzip"], ["/usr/bin/python3 $script tar-gnu", "gzip"], ["/usr/bin/python3 $script tar-ustar", "gzip"],
];
const SCRIPT = `import os, sys, tarfile, zipfile
how, out = sys.argv[1], os.environ["out"]
names = sorted(os.path.relpath(os.path.join(d, f), ".") for d, _, fs in os.walk(".") for f in fs)
if how.startswith("tar"):
    form = {"tar-pax": tarfile.PAX_FORMAT, "tar-gnu": tarfile.GNU_FORMAT, "tar-ustar": tarfile.USTAR_FORMAT}[how]
    with tarfile.open(out, "w:gz", format=form) as t:
        for n in names: t.add(n)
else:
    f = open(out, "wb")
    class Pipe: # which cannot be gone back in: lengths follow the bytes
        def write(self, b): return f.write(b)
        def flush(self): f.flush()
    with zipfile.ZipFile(f if how == "zip" else Pipe(), "w", zipfile.ZIP_DEFLATED) as z:
        for n in names: z.write(n)
    f.close()
`;

test("archives that other programs made of the same files are the same agent", async (t) => {
  const place = await t.place("sqlite"), server = await t.serve(place), tenant = await server.enter();
  const from = join(place.folder, "in"), script = join(place.folder, "pack.py"), bundle = join(place.folder, "bundle.zip");
  equal((await send(server, tenant)).status, 201, "an agent with sessions");
  const exported = await t.on(place, ["agents", "export", "demo", "editor", bundle, "--memories"]);
  equal(exported.status, 0, exported.stderr);
  mkdirSync(from);
  writeFileSync(script, SCRIPT);
  equal((await command("/usr/bin/python3", ["-m", "zipfile", "-e", bundle, from])).status, 0, "unpacking it");
  const report = async (bytes, type, line = "our own") => {
    const reply = await server.request("POST", `/tenant/${tenant}/agents/import?dry_run=true`, { body: bytes, headers: { "Content-Type": `application/${type}` } });
    equal(reply.status, 200, `${line}: ${reply.text}`);
    const { agent_id, ...rest } = reply.json;
    return JSON.stringify(rest);
  };
  const want = await report(readFileSync(bundle), "zip");
  match(want, /"source_platform":"lodge".*"skills_imported":2/, "what is in it");
  for (const [i, [line, type]] of PACKERS.entries()) {
    const out = join(place.folder, `${i}.${type === "zip" ? "zip" : "tar.gz"}`);
    const packed = await command("sh", ["-c", `cd "$in" && ${line}`], { env: { ...process.env, in: from, out, script } });
    equal(packed.status, 0, `${line}: ${packed.stderr}`);
    equal(await report(readFileSync(out), type, line), want, line);
  }
}, { ms: 120_000 });
