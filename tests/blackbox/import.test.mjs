// import.test.mjs - agents between files and stores: the command line beside a serving process, the same file sent by many at once, and
// deaths in the middle, after which there is no agent or a whole one.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { equal, match, ok, testBoth } from "./harness.mjs";

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
