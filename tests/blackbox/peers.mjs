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
import { command, Failure, isRoot, ok, psql, until } from "./harness.mjs";

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
  const child = spawn(program, args, { cwd: folder, env: { ...process.env, HOME: folder, USER: "postgres", ...env }, stdio: ["ignore", "pipe", "pipe"], ...them });
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

// ---- further servers ----

/** Ends a server as a power cut would: the postmaster and all of its children, at once. */
export function killServer(folder) {
  const master = Number(readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n")[0]);
  const { stdout } = spawnSync("pgrep", ["-P", String(master)], { encoding: "utf8" });
  for (const pid of [master, ...stdout.split("\n").filter(Boolean).map(Number)])
    try {
      process.kill(pid, "SIGKILL");
    } catch (err) {
      if (err.code !== "ESRCH") throw err; // it went with its parent
    }
}

const isStandby = (url) => psql(url, "select pg_is_in_recovery()").then((said) => said === "t").catch(() => null);

/** A server with a database `lodge`; with `of`, a standby of that one. {port, folder, url, start(), kill(), promote()} */
export async function startServer(t, { conf = "", of = null, name = "standby" } = {}) {
  const folder = join(theirFolder(t), "db");
  const [port] = await freePorts(1);
  if (of) await asPostgres(join(BIN, "pg_basebackup"), ["-D", folder, "-R", "-X", "stream", "-c", "fast", "--no-sync",
    "-d", `host=127.0.0.1 port=${of.port} user=postgres application_name=${name}`]);
  else await asPostgres(join(BIN, "initdb"), ["-D", folder, "-U", "postgres", "-A", "trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"]);
  const one = { port, folder, host: `127.0.0.1:${port}`, url: `postgres://postgres@127.0.0.1:${port}/lodge` };
  writeFileSync(join(folder, "postgresql.auto.conf"), `${readFileSync(join(folder, "postgresql.auto.conf"), "utf8")}
listen_addresses = '127.0.0.1'
port = ${port}
unix_socket_directories = ''
fsync = off
${conf}
`);
  one.start = async () => {
    one.process = theirProcess(t, join(BIN, "postgres"), ["-D", folder], { folder });
    await until(30_000, `a server of PostgreSQL (${one.process.log})`, async () => (await isStandby(one.url.replace(/lodge$/, "postgres"))) !== null);
  };
  one.kill = async () => {
    killServer(folder);
    await one.process.over;
  };
  one.promote = async () => {
    await psql(one.url, "select pg_promote()");
  };
  await one.start();
  if (!of) await psql(one.url.replace(/lodge$/, "postgres"), "create database lodge");
  return one;
}

/** Something that listens and hands on to a port that can be changed: an address that moves. */
export async function startRelay(t, port) {
  const open = new Set();
  const one = { port };
  const server = net.createServer((from) => {
    const to = net.connect(one.port, "127.0.0.1");
    for (const [a, b] of [[from, to], [to, from]]) {
      open.add(a);
      a.on("error", () => b.destroy()).on("close", () => { open.delete(a); b.destroy(); });
      a.on("data", (bytes) => b.write(bytes));
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  one.host = `127.0.0.1:${server.address().port}`;
  one.cut = () => open.forEach((s) => s.destroy());
  t.onEnd(() => {
    one.cut();
    server.close();
  });
  return one;
}

// ---- Patroni ----

/** Two servers under Patroni with synchronous replication, over an etcd: {nodes, url, leader(), settled()}. */
export async function startPatroni(t) {
  const folder = theirFolder(t);
  const [client, peer, ...ports] = await freePorts(6);
  const etcd = theirProcess(t, "/usr/bin/etcd", ["--data-dir", join(folder, "etcd"), "--unsafe-no-fsync", "--heartbeat-interval", "100",
    "--election-timeout", "1000", "--listen-client-urls", `http://127.0.0.1:${client}`, "--advertise-client-urls", `http://127.0.0.1:${client}`,
    "--listen-peer-urls", `http://127.0.0.1:${peer}`, "--initial-advertise-peer-urls", `http://127.0.0.1:${peer}`,
    "--initial-cluster", `default=http://127.0.0.1:${peer}`], { folder });
  await until(30_000, `etcd (${etcd.log})`, () => reaches(client));
  const nodes = ["a", "b"].map((name, i) => ({ name, port: ports[i], api: ports[i + 2], folder: join(folder, name), host: `127.0.0.1:${ports[i]}` }));
  const hosts = nodes.map((n) => n.host).join(",");
  const cluster = { nodes, url: `postgres://postgres@${hosts}/lodge` };
  const direct = (node, database = "lodge") => `postgres://postgres@${node.host}/${database}`;
  for (const node of nodes) {
    const file = join(folder, `${node.name}.yml`);
    writeFileSync(file, JSON.stringify({
      scope: "lodge", name: node.name,
      restapi: { listen: `127.0.0.1:${node.api}`, connect_address: `127.0.0.1:${node.api}` },
      etcd3: { host: `127.0.0.1:${client}` },
      bootstrap: {
        dcs: { ttl: 20, loop_wait: 1, retry_timeout: 3, synchronous_mode: true, master_start_timeout: 0,
          postgresql: { use_pg_rewind: true, parameters: { wal_keep_size: "256MB", wal_log_hints: "on", max_connections: 60 } } },
        initdb: [{ encoding: "UTF8" }, { locale: "C.UTF-8" }, { auth: "trust" }, "no-sync"],
      },
      postgresql: { listen: node.host, connect_address: node.host, data_dir: node.folder, bin_dir: BIN,
        authentication: { superuser: { username: "postgres" }, replication: { username: "postgres" }, rewind: { username: "postgres" } },
        parameters: { unix_socket_directories: folder },
        pg_hba: ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"] },
    })); // JSON is YAML
    node.process = theirProcess(t, "/usr/bin/patroni", [file], { folder });
    t.onEnd(() => {
      try {
        killServer(node.folder);
      } catch {
        // it is not running
      }
    });
  }
  cluster.leader = async () => {
    for (const node of nodes) if ((await isStandby(direct(node, "postgres"))) === false) return node;
    return null;
  };
  cluster.sql = async (text) => psql(direct(await cluster.leader()), text);
  cluster.on = (node, text) => psql(direct(node), text);
  /** One leads, and the other has all that the first acknowledges. */
  cluster.settled = () => until(60_000, "a synchronous standby", async () => {
    const leader = await cluster.leader().catch(() => null);
    return leader && (await psql(direct(leader, "postgres"), "select count(*) from pg_stat_replication where sync_state = 'sync' and state = 'streaming'").catch(() => "")) === "1";
  });
  await cluster.settled().catch((err) => { throw new Failure(`${err.message}: ${nodes.map((n) => n.process.log.slice(-1500)).join("\n")}`); });
  await psql(direct(await cluster.leader(), "postgres"), "create database lodge");
  return cluster;
}
