// peers.mjs - what may stand between Lodge and its rows, or beside them, from Debian's packages: PgBouncer,
// further servers of PostgreSQL with a certificate or as a standby, and two under Patroni.
//
// Each is started on a free port of this machine, as another user where we are root, and ended with
// the test that asked for it.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, isRoot, ok, psql, until } from "./harness.mjs";

const VERSION = readdirSync("/usr/lib/postgresql").sort((a, b) => Number(a) - Number(b)).at(-1);
export const BIN = `/usr/lib/postgresql/${VERSION}/bin`;

const number = (flag) => Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
const them = isRoot ? { uid: number("-u"), gid: number("-g") } : {};

const asThem = (program, args) => (isRoot ? ["runuser", ["-u", "postgres", "--", program, ...args]] : [program, args]);

/** Ports that nobody has, all at once so that they differ. */
export async function freePorts(count) {
  const servers = await Promise.all(Array.from({ length: count }, () => new Promise((done, no) => {
    const s = net.createServer().listen(0, "127.0.0.1", () => done(s)).on("error", no);
  })));
  const ports = servers.map((s) => s.address().port);
  await Promise.all(servers.map((s) => new Promise((done) => s.close(done))));
  return ports;
}

/** A folder that the server's user may write. */
export function theirFolder(t) {
  const path = mkdtempSync(join(tmpdir(), "lodge-peers."));
  if (isRoot) chownSync(path, them.uid, them.gid);
  chmodSync(path, 0o755);
  t.onEnd(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export async function asPostgres(program, args) {
  const { status, stdout, stderr } = await command(...asThem(program, args), { cwd: "/" });
  ok(status === 0, `${program} ${args.join(" ")}: ${stderr || stdout}`);
  return stdout;
}

/** A process of theirs, which ends with the test: {child, log}. */
export function theirProcess(t, program, args, { folder, env = {} } = {}) {
  const child = spawn(program, args, { cwd: folder, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"], ...them });
  const one = { child, log: "", ended: false };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => { one.log += text; });
  one.over = new Promise((done) => child.on("close", () => { one.ended = true; done(); }));
  child.on("error", (err) => { one.log += String(err); one.ended = true; });
  const kill = () => child.kill("SIGKILL");
  process.on("exit", kill);
  t.onEnd(async () => {
    process.off("exit", kill);
    kill();
    await one.over;
  });
  return one;
}

const reaches = (port) => new Promise((done) => {
  const s = net.connect(port, "127.0.0.1", () => { s.destroy(); done(true); }).on("error", () => done(false));
});

/** PgBouncer in transaction mode before a server: its HOST:PORT. */
export async function startPooler(t, url) {
  const folder = theirFolder(t);
  const [port] = await freePorts(1);
  const server = new URL(url);
  writeFileSync(join(folder, "users.txt"), '"postgres" ""\n');
  writeFileSync(join(folder, "pgbouncer.ini"), `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
auth_file = ${join(folder, "users.txt")}
pool_mode = transaction
default_pool_size = 3
max_client_conn = 500
server_login_retry = 1
ignore_startup_parameters = extra_float_digits
`);
  // A pool that is smaller than the connections to it: each transaction has another session.
  if (server.username) writeFileSync(join(folder, "pgbouncer.ini"), readFileSync(join(folder, "pgbouncer.ini"), "utf8")
    .replace(/^\* = .*$/m, (line) => `${line} user=${server.username}`));
  const one = theirProcess(t, "/usr/sbin/pgbouncer", [join(folder, "pgbouncer.ini")], { folder });
  await until(20_000, `PgBouncer (${one.log})`, () => reaches(port));
  return `127.0.0.1:${port}`;
}
