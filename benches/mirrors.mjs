// mirrors.mjs - what a sweep over repositories of another host takes that have not moved: node mirrors.mjs LODGE FOLDER COUNT prints
// the service's milliseconds of processor for all of them, and how long it took.  The host is this program.
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const [lodge, folder, count] = process.argv.slice(2);
const commit = "9fceb02d0ae598e95dc970b74767f19372d61af8";
const line = (text) => (text.length + 4).toString(16).padStart(4, "0") + text;
const answer = `${line(`${commit} HEAD symref-target:refs/heads/main\n`)}${line(`${commit} refs/heads/main\n`)}0000`;
const seen = createHash("sha256").update(`refs/heads/main\0${commit}\0`).digest("hex");
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

const host = createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { "Content-Type": "application/x-git-upload-pack-result" }).end(answer));
});
host.keepAliveTimeout = 60_000;
await new Promise((done) => host.listen(0, "127.0.0.1", done));

const service = spawn(lodge, ["serve", "--data", folder, "--listen", "127.0.0.1:0", "--allow-private-addresses=true", "--no-access-log"], { stdio: ["ignore", "pipe", "ignore"] });
process.on("exit", () => service.kill());
let said = "";
service.stdout.on("data", (bytes) => (said += bytes));
while (!said.includes("Lodge is at")) {
  if (service.exitCode !== null) throw new Error("lodge does not start");
  await pause(50);
}

const store = join(folder, readdirSync(folder).find((name) => name.endsWith(".db")));
const sql = (text) => execFileSync("sqlite3", ["-cmd", ".timeout 10000", store], { input: text }).toString().trim();
const used = () => readFileSync(`/proc/${service.pid}/stat`, "utf8").replace(/^.*\) /s, "").split(" ").slice(11, 13).reduce((sum, ticks) => sum + 10 * Number(ticks), 0);

// Their files are looked for; more of them than this nobody reads in a sweep.
for (let i = 1; i <= Number(count); i++) {
  const bare = join(folder, "repositories", `c${String(i).padStart(24, "0")}.git`);
  mkdirSync(bare, { recursive: true });
  writeFileSync(join(bare, "HEAD"), "ref: refs/heads/main\n");
}
sql(`pragma foreign_keys = off;
  insert into repositories (tenant_id, id, agent_id, purpose, host, projection, failures, size_bytes, created_at, updated_at, url, refs_sha256, complete, asked_at, next_attempt_at, observed_at)
  select (select id from tenants limit 1), 'c' || printf('%024d', value), 'c' || printf('%024d', value), 'code', 'git', 'off', 0, 0, 1, 1,
  'http://127.0.0.1:${host.address().port}/' || value || '.git', '${seen}', 1, 0, 1, 1 from generate_series(1, ${count});`);
const before = used(), began = Date.now();
while (Number(sql("select count(*) from repositories where observed_at = 1;"))) {
  if (Date.now() - began > 300_000) throw new Error("the sweep does not come to its end");
  await pause(500);
}
if (sql("select count(*) from repositories where failures > 0 or next_attempt_at is null;") !== "0") throw new Error("some were not seen as they are");
console.log(used() - before, Date.now() - began);
process.exit(0);
