// full.test.mjs - a disk without room: 503 with Retry-After for what cannot be kept, reads go on,
// nothing acknowledged is lost, and with room again all is well without a restart.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { command, equal, isRoot, match, ok, test, until } from "./harness.mjs";

async function smallDisk(t, folder, size) {
  if (!isRoot) return false;
  mkdirSync(folder, { mode: 0o700 });
  const { status } = await command("mount", ["-t", "tmpfs", "-o", `size=${size},mode=700`, "none", folder]);
  if (status === 0) t.onEnd(() => command("umount", ["-l", folder]));
  return status === 0;
}

test("a full disk is survived", async (t) => {
  const place = await t.place("sqlite");
  if (!(await smallDisk(t, place.data, "3m"))) return console.log("note: nothing can be mounted here: a full disk is not tested");
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
  for (let i = 0; i < 3; i++) equal((await server.request("GET", "/readyz")).status, 503, "/readyz, asked again");
  for (const one of acked) equal((await server.request("GET", one.headers.location)).text, one.text, "an acknowledged agent");
  const { status } = await command("mount", ["-o", "remount,size=32m", place.data]);
  equal(status, 0, "remounting");
  await until(10_000, "readiness", async () => (await server.request("GET", "/readyz")).status === 200);
  const made = await server.request("POST", path, { body: { name: "Room", slug: "room", description: "d".repeat(60_000) } });
  equal(made.status, 201, made.text.slice(0, 300));
  equal(await server.stop(), 0, "the exit status");
  const check = await t.on(place, ["check"]);
  equal(check.status, 0, `check says ${check.stderr}`);
  const seeds = Number(await place.sql("select count(*) from agents where is_seed = 1"));
  equal(await place.sql("select count(*) || ' ' || (select count(*) from directory) || ' ' || (select count(*) from agent_roles) from agents"),
    Array(3).fill(acked.length + 1 + seeds).join(" "), "agents, places, owners");
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
