// harness.mjs - what every black-box test stands on: labelled tests, lodge processes with fresh
// stores on either engine, requests, and the rule that no sanitizer may have complained.
//
// Nothing here waits for luck: a server is up when it says so, a process has
// ended when the system says so, and every wait has an end.
import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, "../..");
export const bin = process.env.LODGE_BIN ?? join(root, "build-test/lodge");
export const isRoot = process.getuid() === 0;

export const ADMIN = { email: "admin@example.com", password: "Correct-Horse-9-Battery" };
export const ENGINES = ["sqlite", "postgres"];

// Limits are there for what hangs.  They are written as a machine needs that does nothing else, and hold for one that
// runs three suites at once on two cores that it shares with others.
export const PATIENCE = 4;
const START_MS = 30_000;
const RUN_MS = 60_000;
const REQUEST_MS = 30_000;

// ---- registering ----

export const tests = [];
const endings = [];
let file = "";

export function beginFile(name) {
  file = name;
}

export function test(name, run, options = {}) {
  tests.push({ file, name, run, ms: options.ms ?? 60_000 });
}

/** The same test on a fresh store of each engine: run(t, engine). */
export function testBoth(name, run, options = {}) {
  for (const engine of ENGINES) test(`${name} (${engine})`, (t) => run(t, engine), options);
}

/** Something made once for the tests of a file, and taken down after the last of them. */
export function shared(make) {
  let made;
  const mine = file;
  const scope = new Scope();
  endings.push({ file: mine, end: () => scope.end() });
  return () => (made ??= make(scope));
}

export const endingsOf = (name) => endings.filter((e) => e.file === name);

// ---- asserting ----

export class Failure extends Error {}

export function ok(good, sentence) {
  if (!good) throw new Failure(sentence);
}

export function equal(got, wanted, what) {
  ok(Object.is(got, wanted), `${what}: got ${short(got)}, wanted ${short(wanted)}`);
}

export function match(text, pattern, what) {
  ok(pattern.test(text), `${what}: ${short(text)} does not match ${pattern}`);
}

export const short = (value) => {
  const text = typeof value === "string" ? JSON.stringify(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 600 ? `${text.slice(0, 600)}...` : text;
};

// ---- waiting ----

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

export function within(ms, promise, what) {
  let timer;
  const late = new Promise((_, no) => {
    timer = setTimeout(() => no(new Failure(`${what}: nothing within ${ms * PATIENCE} ms`)), ms * PATIENCE);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Milliseconds of the processor that a server has taken so far, however busy the machine is with others. */
export const cpu = (server) => {
  const fields = readFileSync(`/proc/${server.child.pid}/stat`, "utf8").replace(/^.*\) /s, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10; // in hundredths of a second
};

/** Asks again until the answer is true. */
export async function until(ms, what, ask) {
  const end = Date.now() + ms * PATIENCE;
  for (;;) {
    if (await ask()) return;
    if (Date.now() > end) throw new Failure(`${what}: not within ${ms * PATIENCE} ms`);
    await pause(20);
  }
}

/** What is read comes to be `wanted`. */
export async function becomes(read, wanted, what, ms = 20_000) {
  const end = Date.now() + ms * PATIENCE;
  let got;
  while (!Object.is((got = await read()), wanted) && Date.now() < end) await pause(20);
  equal(got, wanted, what);
}

// ---- sanitizers ----

const COMPLAINT = /runtime error|AddressSanitizer|LeakSanitizer|UndefinedBehaviorSanitizer|ThreadSanitizer/;

function complaint(stderr) {
  const lines = stderr.split("\n");
  const at = lines.findIndex((line) => COMPLAINT.test(line));
  return at < 0 ? null : lines.slice(at, at + 12).join("\n");
}

// The search for leaks takes seconds at the end of every process, so it is asked for where a
// process has done much.
/** Processes over one PostgreSQL share a bucket, wherever their data folders are. */
const shelf = (place) => (place.bucket ? { LODGE_BUCKET: `dir:${place.bucket}` } : {});

function environment(extra = {}, leaks = false) {
  const env = {};
  for (const [name, value] of Object.entries(process.env))
    if (!name.startsWith("LODGE_") && !name.startsWith("PG")) env[name] = value;
  env.ASAN_OPTIONS = `${env.ASAN_OPTIONS ?? ""}:detect_leaks=${leaks ? 1 : 0}`;
  env.UBSAN_OPTIONS = `${env.UBSAN_OPTIONS ?? ""}:halt_on_error=1:print_stacktrace=1`;
  return { ...env, ...extra };
}

// ---- the scope of a test ----

let schemas = 0;
let tables = null;

/** To make its tables takes a store as long as most of a test does: they are made once, and every new store has a copy. */
function giveTables(place, { bare = false, as }) {
  if (bare || as !== undefined || place.engine !== "sqlite" || existsSync(place.data)) return;
  if (!tables) {
    const folder = mkdtempSync(join(tmpdir(), "lodge-blackbox."));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    tables = join(folder, "lodge.db");
    execFileSync(bin, ["migrate", "--data", join(folder, "data"), "--store", `sqlite:${tables}`],
      { cwd: folder, env: environment(), stdio: "ignore" });
  }
  mkdirSync(place.data, { mode: 0o700 });
  copyFileSync(tables, join(place.data, "lodge.db"));
  chmodSync(join(place.data, "lodge.db"), 0o600);
}

export class Scope {
  #processes = [];
  #undo = [];

  onEnd(undo) {
    this.#undo.push(undo);
  }

  folder() {
    const path = mkdtempSync(join(tmpdir(), "lodge-blackbox."));
    writeFileSync(join(path, "lodge.conf"), ""); // hides a file of the machine's own
    this.onEnd(() => rmSync(path, { recursive: true, force: true }));
    return path;
  }

  /** A place for a store that does not exist yet: {engine, folder, data, store, sql()}. */
  async place(engine = "sqlite", url = process.env.LODGE_TEST_POSTGRES) {
    const folder = this.folder();
    const data = join(folder, "data");
    if (engine === "sqlite") {
      const path = join(data, "lodge.db");
      return { engine, folder, data, store: `sqlite:${path}`, sql: (text) => sqlite(path, text) };
    }
    ok(url, "LODGE_TEST_POSTGRES is not set");
    if (process.env.LODGE_TEST_POOLER && url === process.env.LODGE_TEST_POSTGRES) return this.#pooled(folder, data, url);
    const schema = `bb_${process.pid}_${++schemas}`;
    await psql(url, `create schema ${schema}`);
    this.onEnd(() => psql(url, `drop schema if exists ${schema} cascade`).catch(() => {}));
    const store = `${url}?options=-csearch_path%3D${schema}`;
    return { engine, folder, data, store, bucket: join(folder, "bucket"), sql: (text) => psql(store, text) };
  }

  /** By way of a pooler (LODGE_TEST_POOLER is its HOST:PORT), which knows no search path: a database of its own. */
  async #pooled(folder, data, url) {
    const name = `bb_${process.pid}_${++schemas}`;
    const at = new URL(url);
    await psql(url, `create database ${name} template template0`);
    this.onEnd(() => psql(url, `drop database if exists ${name} with (force)`).catch(() => {}));
    at.pathname = `/${name}`;
    const direct = at.href;
    at.host = process.env.LODGE_TEST_POOLER;
    return { engine: "postgres", folder, data, store: at.href, direct, bucket: join(folder, "bucket"), sql: (text) => psql(direct, text) };
  }

  /**
   * Starts `lodge serve` and waits for its line; options: flags, env, leaks, listen, as (a user's number), bare (it makes
   * its tables itself), program.
   */
  async serve(place, options = {}) {
    giveTables(place, options);
    const server = new Server(place, options);
    this.#processes.push(server);
    await server.up();
    return server;
  }

  /** The same without waiting. */
  launch(place, options = {}) {
    const server = new Server(place, options);
    this.#processes.push(server);
    return server;
  }

  /** Runs lodge to its end: {status, stdout, stderr}. */
  async run(args, options = {}) {
    const result = await command(options.wrap ? options.wrap[0] : bin,
      options.wrap ? [...options.wrap.slice(1), bin, ...args] : args,
      { cwd: options.cwd ?? this.folder(), env: environment(options.env, options.leaks), ms: options.ms });
    const bad = complaint(result.stderr);
    ok(!bad, `lodge ${args.join(" ")}: ${bad}`);
    return result;
  }

  /** A subcommand on a place. */
  on(place, args, options = {}) {
    return this.run([...args, "--data", place.data, "--store", place.store, ...around(place)],
      { cwd: place.folder, ...options, env: { ...shelf(place), ...options.env } });
  }

  async end() {
    const problems = [];
    for (const server of this.#processes) {
      await server.kill();
      const bad = complaint(server.stderr);
      if (bad) problems.push(bad);
    }
    for (const undo of this.#undo.reverse()) await undo();
    ok(problems.length === 0, `a sanitizer complained: ${problems.join("\n")}`);
  }
}

const around = (place) => (place.direct ? ["--store-direct", place.direct] : []);

export function command(program, args, { cwd, env, ms = RUN_MS, input } = {}) {
  return new Promise((done, no) => {
    const child = execFile(program, args, { cwd, env, timeout: ms * PATIENCE, killSignal: "SIGKILL", maxBuffer: 64 << 20 },
      (err, stdout, stderr) => {
        if (err && typeof err.code !== "number" && !err.signal) no(err);
        else if (err?.killed) no(new Failure(`${program} ${args.join(" ")} did not end within ${ms * PATIENCE} ms`));
        else done({ status: err ? (err.code ?? err.signal) : 0, stdout, stderr });
      });
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
  });
}

async function client(program, args) {
  const { status, stdout, stderr } = await command(program, args);
  ok(status === 0, `${program} said: ${stderr}`);
  return stdout.trimEnd();
}

export const sqlite = (path, text) => client("sqlite3", ["-bail", "-cmd", ".timeout 5000", path, text]);
export const psql = (url, text) => client("psql", ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url, "-c", text]);

// ---- a serving process ----

const alive = new Set();
process.on("exit", () => alive.forEach((child) => child.kill("SIGKILL")));

export class Server {
  stdout = "";
  stderr = "";
  ended = null;
  #waiting = [];

  constructor(place, { flags = [], env = {}, leaks = false, listen = "127.0.0.1:0", files, as, program = bin } = {}) {
    this.place = place;
    const admin = env.LODGE_ADMIN_PASSWORD === undefined
      ? { LODGE_ADMIN_EMAIL: ADMIN.email, LODGE_ADMIN_PASSWORD: ADMIN.password }
      : {};
    const args = ["serve", "--data", place.data, "--store", place.store, ...around(place), "--listen", listen, ...flags];
    this.child = spawn(files ? "prlimit" : program, files ? [`--nofile=${files}`, program, ...args] : args,
      { cwd: place.folder, env: environment({ ...admin, ...shelf(place), ...env }, leaks), stdio: ["ignore", "pipe", "pipe"],
        ...(as === undefined ? {} : { uid: as, gid: as }) });
    alive.add(this.child);
    this.child.stdout.setEncoding("utf8").on("data", (text) => this.#heard("stdout", text));
    this.child.stderr.setEncoding("utf8").on("data", (text) => this.#heard("stderr", text));
    this.over = new Promise((done) => {
      this.child.on("error", (err) => done((this.ended = { status: null, signal: String(err) })));
      this.child.on("close", (status, signal) => done((this.ended = { status, signal })));
    });
    this.over.then(() => {
      alive.delete(this.child);
      this.#heard("stderr", "");
    });
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  }

  #heard(stream, text) {
    this[stream] += text;
    this.#waiting = this.#waiting.filter((ask) => !ask());
  }

  /** Waits until the log says so; fails if the process ends first. */
  says(pattern, ms = START_MS) {
    return within(ms, new Promise((done, no) => {
      const ask = () => {
        const found = pattern.exec(this.stderr);
        if (found) done(found);
        else if (this.ended) no(new Failure(`lodge ended (${short(this.ended)}): ${this.stderr}`));
        return found || this.ended;
      };
      if (!ask()) this.#waiting.push(ask);
    }), `waiting for ${pattern} in ${short(this.stderr)}`);
  }

  async up() {
    const found = await this.says(/serving"?[ ,]"?address"?[=:]"?127\.0\.0\.1:(\d+)/);
    this.port = Number(found[1]);
    this.origin = `http://127.0.0.1:${this.port}`;
    await until(5000, "the line on standard output", () => this.stdout.includes("Lodge is at") || this.ended);
    return this;
  }

  signal(name) {
    this.child.kill(name);
  }

  /** Ends it as a person would, and gives its exit status. */
  async stop(name = "SIGTERM", ms = 15_000) {
    this.agent.destroy();
    this.signal(name);
    const { status, signal } = await within(ms, this.over, `ending by ${name}`);
    return status ?? signal;
  }

  async kill() {
    this.agent.destroy();
    if (!this.ended) this.child.kill("SIGKILL");
    await this.over;
  }

  /** One request: {status, headers, text, json}. options: token, body, headers, agent. */
  request(method, path, options = {}) {
    return request(this, method, path, options);
  }

  async login({ email, password } = ADMIN) {
    const reply = await this.request("POST", "/auth/login", { body: { email, password } });
    equal(reply.status, 200, `login says ${reply.text}`);
    this.token = reply.json.token;
    return reply;
  }

  /** Signs in and finds the tenant of the first start. */
  async enter(who = ADMIN) {
    const { json } = await this.login(who);
    this.tenant = json.user.memberships[0].tenant_id;
    return this.tenant;
  }

  async healthy() {
    const reply = await within(5000, this.request("GET", "/healthz", { agent: false }), "/healthz");
    equal(reply.status, 200, "/healthz");
  }
}

function request(server, method, path, { token = server.token, body, headers = {}, agent, module = http, ...more } = {}) {
  const all = { ...headers };
  let bytes;
  if (token) all.Authorization ??= `Bearer ${token}`;
  if (body !== undefined) {
    bytes = typeof body === "string" || Buffer.isBuffer(body) ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
    all["Content-Type"] ??= "application/json";
    all["Content-Length"] = bytes.length;
  }
  return within(REQUEST_MS, new Promise((done, no) => {
    const r = module.request({ host: "127.0.0.1", port: server.port, method, path, headers: all,
      agent: agent ?? server.agent, ...more }, (reply) => {
      const parts = [];
      reply.on("data", (part) => parts.push(part));
      reply.on("error", no);
      reply.on("end", () => {
        const text = Buffer.concat(parts).toString();
        let json;
        try {
          json = JSON.parse(text);
        } catch {
          json = undefined;
        }
        done({ status: reply.statusCode, headers: reply.headers, text, json });
      });
    });
    r.on("error", no);
    r.end(bytes);
  }), `${method} ${path}`);
}

// ---- files ----

/** Every file below a folder with its digest, to see whether any was touched. */
export function digest(folder) {
  const found = {};
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) continue;
    found[name] = `${statSync(path).mode.toString(8)} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`;
  }
  return JSON.stringify(found, null, 1);
}

export function makeFolder(path, mode) {
  mkdirSync(path, { recursive: true, mode });
}

// ---- PostgreSQL ----

/** A cluster of one's own: {url, folder, ctl(args)}. */
export function startCluster() {
  const folder = mkdtempSync(join(tmpdir(), "lodge-postgres."));
  const { status, stdout, stderr } = spawnSync(join(root, "tools/postgres"), ["start", folder], { encoding: "utf8" });
  ok(status === 0, `tools/postgres: ${stderr}`);
  return { folder, url: stdout.trim(), stop: () => spawnSync(join(root, "tools/postgres"), ["stop", folder]) };
}
