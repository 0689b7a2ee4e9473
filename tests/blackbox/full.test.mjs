// full.test.mjs - a disk without room: 503 with Retry-After for what cannot be kept, reads go on,
// nothing acknowledged is lost, and with room again all is well without a restart.
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { agentOf, commit, git, good, keyOf } from "./git_stage.mjs";
import { command, equal, isRoot, match, ok, short, test, until } from "./harness.mjs";

async function smallDisk(t, folder, size) {
  if (!isRoot) return false;
  mkdirSync(folder, { mode: 0o700 });
  const { status } = await command("mount", ["-t", "tmpfs", "-o", `size=${size},mode=700`, "none", folder]);
  if (status === 0) t.onEnd(() => command("umount", ["-l", folder]));
  return status === 0;
}

test("a full disk is survived", async (t) => {
  const place = await t.place("sqlite");
  if (!(await smallDisk(t, place.data, "4m"))) return console.log("note: nothing can be mounted here: a full disk is not tested");
  const server = await t.serve(place, { flags: ["--no-access-log"] });
  const tenant = await server.enter();
  const path = `/tenant/${tenant}/agents`;
  const acked = [];
  let refused = 0;
  const client = async (c) => {
    for (let i = 0; i < 60; i++) {
      const reply = await server.request("POST", path, { body: { name: "A", slug: `a-${c}-${i}`, description: "d".repeat(60_000) } });
      if (reply.status === 201) {
        acked.push(reply);
        continue;
      }
      refused++;
      equal(reply.status, 503, reply.text);
      match(reply.json.type, /:store_full$/, "type");
      match(reply.headers["retry-after"] ?? "", /^[1-9]\d*$/, "Retry-After");
    }
  };
  await Promise.all([0, 1, 2, 3].map(client));
  ok(acked.length > 0 && refused > 0, `${acked.length} made, ${refused} refused`);
  await server.healthy();
  const ready = await server.request("GET", "/readyz");
  equal(ready.status, 503, `/readyz says ${ready.text}`);
  match(ready.json.type, /:store_full$/, "why it is not ready");
  match((await server.request("GET", "/metrics")).text, /\nlodge_store_up 1\n[^]*\nlodge_store_full 1\n/, "the metrics");
  const figures = (await server.request("GET", "/metrics")).text;
  match(figures, /\nlodge_build_info\{version="[\d.]+",store_version="\d+"\} 1\n/, "which program it is");
  const figure = (name) => Number(new RegExp(`\\n${name} (\\d+)\\n`).exec(figures)?.[1]);
  ok(Math.abs(figure("process_start_time_seconds") - Date.now() / 1000) < 300, "when it began");
  ok(figure("process_resident_memory_bytes") > 1 << 20 && figure("process_open_fds") > 5, "memory and files");
  for (let i = 0; i < 3; i++) equal((await server.request("GET", "/readyz")).status, 503, "/readyz, asked again");
  for (const one of acked) equal((await server.request("GET", one.headers.location)).text, one.text, "an acknowledged agent");
  const { status } = await command("mount", ["-o", "remount,size=32m", place.data]);
  equal(status, 0, "remounting");
  await until(10_000, "readiness", async () => (await server.request("GET", "/readyz")).status === 200);
  const said = server.stderr.match(/the store failed/g).length;
  ok(refused > 10 && said <= 6, `${refused} were refused, and the log says ${said} times that the store failed`);
  await server.says(/the store works again engine=sqlite failures=\d+ seconds=\d+/);
  const made = await server.request("POST", path, { body: { name: "Room", slug: "room", description: "d".repeat(60_000) } });
  equal(made.status, 201, made.text.slice(0, 300));
  equal(await server.stop(), 0, "the exit status");
  const check = await t.on(place, ["check"]);
  equal(check.status, 0, `check says ${check.stderr}`);
  const seeds = Number(await place.sql("select count(*) from agents where is_seed = 1"));
  equal(await place.sql("select count(*) || ' ' || (select count(*) from directory) || ' ' || (select count(*) from agent_roles) from agents"),
    Array(3).fill(acked.length + 1 + seeds).join(" "), "agents, places, owners");
});

test("a full disk of repositories: what writes is refused with 507, and fetches go on", async (t) => {
  const place = await t.place("sqlite"), small = join(place.folder, "small"), work = t.folder();
  if (!(await smallDisk(t, small, "2m"))) return console.log("note: nothing can be mounted here: a full disk is not tested");
  const server = await t.serve(place, { flags: ["--no-access-log", "--repo-folder", join(small, "repositories")] });
  const tenant = await server.enter();
  const agent = `/tenant/${tenant}/agents/${await agentOf(server, tenant, "desk")}`;
  equal((await server.request("PATCH", agent, { body: { description_prompt: "Be kind." } })).status, 200, "a prompt");
  equal((await server.request("POST", `${agent}/repo`)).status, 201, "a repository");
  const url = `http://jo:${await keyOf(server, tenant)}@127.0.0.1:${server.port}/git/demo/desk.git`;
  await good(work, ["clone", "-q", url, "one"]);
  await commit(join(work, "one"), "a.md", "a\n");
  equal((await server.request("PATCH", agent, { body: { description_prompt: "Be brief." } })).status, 200, "another prompt");
  await command("sh", ["-c", `cat /dev/zero > ${small}/filler`]);
  const push = await git(join(work, "one"), ["push", "origin", "main"]);
  ok(push.status !== 0 && /507/.test(push.stderr), push.stderr);
  await server.says(/a request of git cannot be kept .*why=ENOSPC/);
  const live = await server.request("POST", `${agent}/prompt-provenance/resolve`, { body: { file: "prompts/description_prompt.md", take: "live" } });
  equal(live.status, 507, live.text);
  match(live.json.detail, /cannot be written: the disk of repositories has no room/, "why");
  await good(work, ["clone", "-q", url, "two"]);
  equal((await server.request("GET", `${agent}/repo/refs`)).status, 200, "reads");
  await command("rm", [`${small}/filler`]);
  await good(join(work, "one"), ["push", "-q", "origin", "main"]);
  equal(await server.stop(), 0, "the exit status");
});

test("a disk too small for a first start, a backup on a full disk", async (t) => {
  const place = await t.place("sqlite");
  const small = join(place.folder, "small");
  if (!(await smallDisk(t, small, "64k"))) return console.log("note: nothing can be mounted here: a full disk is not tested");
  const first = await t.run(["serve", "--listen", "127.0.0.1:0", "--data", join(small, "data")]);
  equal(first.status, 1, "the exit status");
  match(first.stderr, /(^|\n)lodge: [^\n]+\n$/, "the line");
  const server = await t.serve(place);
  await server.enter();
  const backup = await t.on(place, ["backup", join(small, "copy.db")]);
  equal(backup.status, 1, "the exit status");
  match(backup.stderr, /^lodge: the copy failed: [^\n]*full[^\n]*\n$/, "the line");
  equal((await command("ls", [small])).stdout, "data\n", "what is left");
});

test("a file that may not grow is a full disk, to commands and to the service", async (t) => {
  const place = await t.place("sqlite");
  equal((await t.on(place, ["migrate"])).status, 0, "migrate");
  const copy = await t.on(place, ["backup", join(place.folder, "copy.db")], { wrap: ["prlimit", "--fsize=65536"] });
  equal(copy.status, 1, `the exit status of backup: ${short(copy)}`);
  match(copy.stderr, /^lodge: the copy failed: no room left: [^\n]*\n$/, "backup");
  equal((await command("ls", [place.folder])).stdout, "data\nlodge.conf\n", "what is left");
  const server = await t.serve(place);
  const tenant = await server.enter();
  const size = statSync(join(place.data, "lodge.db-wal")).size;
  equal((await command("prlimit", [`--fsize=${size + 100_000}:`, "--pid", String(server.child.pid)])).status, 0, "prlimit");
  const make = (slug) => server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "A", slug, description: "d".repeat(60_000) } });
  let reply;
  for (let i = 0; i < 20 && reply?.status !== 503; i++) reply = await make(`a-${i}`);
  equal(reply.status, 503, reply.text);
  match(reply.json.type, /:store_full$/, "type");
  equal((await command("prlimit", ["--fsize=unlimited:", "--pid", String(server.child.pid)])).status, 0, "prlimit");
  await until(10_000, "readiness", async () => (await server.request("GET", "/readyz")).status === 200);
  equal((await make("room")).status, 201, "with room again");
});
