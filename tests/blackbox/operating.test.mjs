// operating.test.mjs - what whoever runs the service does with it: signals and reloads, what the
// supervisor is told, and whether check finds what is wrong with a file.
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import tls from "node:tls";
import { command, equal, match, ok, test, testBoth, until, within } from "./harness.mjs";

async function makePair(folder, name) {
  const cert = join(folder, `${name}.pem`);
  const key = join(folder, `${name}.key`);
  const { status, stderr } = await command("openssl", ["req", "-x509", "-nodes", "-days", "30", "-newkey", "ec", "-pkeyopt",
    "ec_paramgen_curve:prime256v1", "-keyout", key, "-out", cert, "-subj", `/CN=${name}`]);
  ok(status === 0, `openssl says ${stderr}`);
  return { cert, key };
}

const served = (server) => new Promise((done, no) => {
  const socket = tls.connect({ port: server.port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
    socket.name = socket.getPeerCertificate().subject.CN;
    done(socket);
  });
  socket.on("error", no);
});

/** Sends SIGHUP and waits for what the log says to it. */
async function reload(server, pattern) {
  const before = server.stderr.length;
  server.signal("SIGHUP");
  await until(15_000, `${pattern} in the log`, () => pattern.test(server.stderr.slice(before)) || server.ended);
  ok(!server.ended, `it ended: ${server.stderr.slice(before)}`);
  return server.stderr.slice(before);
}

test("SIGHUP brings a new certificate and new settings into force; what cannot change is named", async (t) => {
  const place = await t.place("sqlite");
  const conf = join(place.folder, "lodge.conf");
  const first = await makePair(place.folder, "first");
  const second = await makePair(place.folder, "second");
  const cert = join(place.folder, "cert.pem");
  const key = join(place.folder, "cert.key");
  const install = (pair) => (copyFileSync(pair.cert, cert), copyFileSync(pair.key, key));
  const lines = (...more) => writeFileSync(conf, [`tls_cert = ${cert}`, `tls_key = ${key}`, ...more].join("\n"));
  install(first);
  lines();
  const server = await t.serve(place);
  const old = await served(server);
  equal(old.name, "first", "the certificate");

  install(second);
  lines("log_format = json", "max_body = 9m", "open_tenants = true");
  const said = await reload(server, /wait for a restart/);
  match(said, /"message":"the settings were read again","changed":"log_format, open_tenants","certificate":"read"/, "what changed");
  match(said, /wait for a restart","which":"max_body"/, "what waits");
  const fresh = await served(server);
  equal(fresh.name, "second", "the certificate");
  // The connection from before goes on with its own.
  const answer = new Promise((done) => old.once("data", (bytes) => done(String(bytes))));
  old.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  match(await within(5000, answer, "an answer"), /^HTTP\/1\.1 200 /, "the old connection");

  for (const [name, spoil] of [
    ["a key of another certificate", () => copyFileSync(first.key, key)],
    ["no certificate", () => writeFileSync(cert, "")],
    ["a bad value", () => (install(second), lines("log_level = loud"))],
    ["an unknown key", () => lines("colour = red")],
    ["no equals sign", () => lines("nonsense")],
  ]) {
    spoil();
    match(await reload(server, /those in force stay/), /"why":"[^"]{10,}/, name);
    const still = await served(server);
    equal(still.name, "second", `the certificate after ${name}`);
    still.destroy();
  }
  lines("log_level = warn");
  install(first);
  await reload(server, /.?/);
  await until(10_000, "the first certificate", async () => {
    const now = await served(server);
    now.destroy();
    return now.name === "first";
  });
  old.destroy();
  fresh.destroy();
  equal(await server.stop(), 0, "the exit status");
});

test("SIGHUP brings other secrets of the operator and other limits into force, and names them", async (t) => {
  const place = await t.place("sqlite");
  const conf = join(place.folder, "lodge.conf");
  const secret = (name, text) => (writeFileSync(join(place.folder, name), `${text}\n`, { mode: 0o600 }), join(place.folder, name));
  const lines = (...more) => writeFileSync(conf, ["access_log = false", ...more].join("\n"));
  const openai = secret("openai.key", "sk-first");
  const provider = `oidc = sso=https://sso.example.com,lodge,${secret("sso.secret", "one")}`;
  const changed = async () => (await reload(server, /the settings were read again.*\n/)).match(/changed="?([^"\n]*?)"?(?: certificate.*)?\n/)[1];
  lines(`openai_key_file = ${openai}`, provider);
  const server = await t.serve(place);
  equal(await changed(), "none", "with everything as it was");
  secret("openai.key", "sk-second");
  equal(await changed(), "openai_key_file", "the text of a key's file");
  equal(await changed(), "none", "once more");
  secret("sso.secret", "two");
  equal(await changed(), "oidc", "the text of a secret's file");
  lines(`openai_key_file = ${openai}`, `anthropic_key_file = ${secret("anthropic.key", "sk-third")}`, "hold_max = 1m");
  equal(await changed(), "hold_max, anthropic_key_file, oidc", "a key, a limit, and no provider");
  equal((await server.request("GET", "/auth/oidc/sso/start")).status, 404, "a provider that is gone");
  secret("anthropic.key", "sk-third");
  chmodSync(join(place.folder, "anthropic.key"), 0o644);
  lines(`anthropic_key_file = ${join(place.folder, "anthropic.key")}`, provider);
  match(await reload(server, /those in force stay.*\n/), /anthropic_key_file: the file .*anthropic\.key/, "a file that all can read");
  equal((await server.request("GET", "/auth/oidc/sso/start")).status, 404, "nothing of it came into force");
  ok(!/sk-|\b(one|two)\b/.test(server.stderr), `a secret is in the log: ${server.stderr}`);

  // hold_max is a minute by now: what waits for the next hour is tried for the last time then.
  const tenant = await server.enter();
  const agent = (await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Limited", slug: "limited" } })).json.id;
  const made = await server.request("POST", `/tenant/${tenant}/integrations`, { body: { provider: "github", label: "Rocket", agent_id: agent } });
  equal((await server.request("PUT", `/agents/${agent}/chat-config`, { body: { chat_rph_limit: 1 } })).status, 200, "the limit");
  const body = "{}";
  for (const id of ["a", "b"]) {
    const signature = `sha256=${createHmac("sha256", made.json.signing_secret).update(body).digest("hex")}`;
    const sent = await server.request("POST", `/hooks/${made.json.id}`, { token: null, body, headers: { "X-GitHub-Event": "issues", "X-GitHub-Delivery": id, "X-Hub-Signature-256": signature } });
    equal(sent.status, 202, sent.text);
  }
  await until(20_000, "one that waits", async () => (await place.sql("select count(*) from jobs where waits_for = 'rate'")) === "1");
  const left = Number(await place.sql("select (run_at - waits_since) / 1000000 from jobs where waits_for = 'rate'"));
  equal(left, 60, "the seconds it is held");
  equal(await server.stop(), 0, "the exit status");
});

testBoth("no signal that others send ends the service, and what is under way does not notice", async (t, engine) => {
  const server = await t.serve(await t.place(engine), { flags: ["--no-access-log"] });
  const tenant = await server.enter();
  let done = false;
  const client = (async () => {
    for (let n = 0; !done; n++) {
      const reply = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "A", slug: `a-${n}` } });
      equal(reply.status, 201, reply.text);
    }
  })();
  for (const signal of ["SIGHUP", "SIGUSR1", "SIGUSR2", "SIGPIPE", "SIGXFSZ", "SIGHUP", "SIGWINCH", "SIGCHLD", "SIGURG"]) server.signal(signal);
  for (let i = 0; i < 5; i++) await reload(server, /the settings were read again/);
  done = true;
  await client;
  await server.healthy();
  equal(await server.stop(), 0, "the exit status");
});

test("whoever started it is told when it serves, reloads and stops", async (t) => {
  const place = await t.place("sqlite");
  for (const path of [join(place.folder, "notify"), `@lodge-test-${process.pid}`]) {
    const listener = spawn("python3", ["-uc", `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
p = sys.argv[1]
s.bind("\\0" + p[1:] if p[0] == "@" else p)
print("bound")
while True: print(s.recv(4096).decode().replace("\\n", " "))`, path], { stdio: ["ignore", "pipe", "inherit"] });
    t.onEnd(() => listener.kill("SIGKILL"));
    let heard = "";
    listener.stdout.on("data", (text) => (heard += text));
    await until(10_000, "the listener", () => heard.includes("bound"));
    const server = await t.serve(place, { env: { NOTIFY_SOCKET: path } });
    await until(10_000, "READY", () => heard.includes("READY=1"));
    await reload(server, /read again/);
    await until(10_000, "RELOADING and READY", () => /RELOADING=1 MONOTONIC_USEC=\d+\nREADY=1/.test(heard));
    equal(await server.stop(), 0, "the exit status");
    match(heard, /^bound\nREADY=1\nRELOADING=1 MONOTONIC_USEC=\d+\nREADY=1\nSTOPPING=1\n$/, "what was told");
    listener.kill("SIGKILL");
  }
});

test("check names every file that will not do, with its setting", async (t) => {
  const place = await t.place("sqlite");
  await (await t.serve(place)).stop();
  const { cert, key } = await makePair(place.folder, "one");
  const other = await makePair(place.folder, "other");
  const secret = join(place.folder, "a.secret");
  const conf = join(place.folder, "lodge.conf");
  const check = async (...lines) => {
    writeFileSync(conf, lines.join("\n"));
    return t.on(place, ["check"]);
  };
  const refused = async (what, pattern, ...lines) => {
    const result = await check(...lines);
    equal(result.status, 1, `${what}: the exit status, with ${result.stderr}`);
    match(result.stderr, pattern, what);
  };
  const provider = `oidc = sso=https://sso.example.com,lodge,${secret}`;
  writeFileSync(secret, "hush\n");
  chmodSync(secret, 0o600);
  chmodSync(key, 0o600);
  const good = await check(`tls_cert = ${cert}`, `tls_key = ${key}`, provider, `openai_key_file = ${secret}`, `anthropic_key_file = ${secret}`);
  equal(good.status, 0, good.stderr);
  await refused("all that is missing, at once", /tls_cert: .*No such file[^]*tls_key: .*No such file[^]*openai_key_file: .*No such file[^]*anthropic_key_file: .*No such file[^]*oidc, sso: .*No such file/,
    "tls_cert = /nowhere/a", "tls_key = /nowhere/b", "openai_key_file = /nowhere/c", "anthropic_key_file = /nowhere/d", "oidc = sso=https://sso.example.com,lodge,/nowhere/e");
  await refused("a pair that is none", /^lodge: tls_cert: .*(key values mismatch|does not belong to the certificate)/, `tls_cert = ${cert}`, `tls_key = ${other.key}`);
  chmodSync(key, 0o644);
  await refused("an open key", /^lodge: tls_key: .*\(mode 0644\); chmod 600/, `tls_cert = ${cert}`, `tls_key = ${key}`);
  chmodSync(secret, 0o604);
  await refused("an open secret", /^lodge: openai_key_file: .*chmod 600 it\nlodge: oidc, sso: .*chmod 600 it\n$/, `openai_key_file = ${secret}`, provider);
  chmodSync(join(place.data, "master.key"), 0o640);
  await refused("an open master key", /^lodge: master_key_file: .*mode 640/);
  chmodSync(join(place.data, "master.key"), 0o600);
  equal((await check()).status, 0, "all is well again");
  ok(readFileSync(secret, "utf8") === "hush\n", "the secret was touched");
});

testBoth("a machine key opens what it was made for, is shown once, and ends with its revocation", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place, { flags: ["--trusted-proxies", "127.0.0.1"] });
  await server.enter();
  const away = { "X-Forwarded-For": "203.0.113.5" };
  const made = {};
  for (const purpose of ["metrics", "admin-read"]) {
    const result = await t.on(place, ["machine-key", "create", "--for", purpose, `for ${purpose}`]);
    equal(result.status, 0, result.stderr);
    match(result.stdout, /^lodge_machine_[A-Za-z0-9]{40,}\n$/, "the token alone on standard output");
    made[purpose] = { token: result.stdout.trim(), id: /machine key (c[a-z0-9]{24}) /.exec(result.stderr)[1] };
  }
  const status = async (purpose, method, path, body) =>
    (await server.request(method, path, { token: made[purpose].token, headers: away, body })).status;
  const { json: admin } = await server.request("GET", "/admin/users");
  for (const [method, path, metrics, read, body] of [
    ["GET", "/metrics", 200, 403],
    ["GET", "/admin/users", 403, 200],
    ["GET", "/admin/tenants", 403, 200],
    ["GET", "/admin/queue", 403, 200],
    ["GET", "/v1/admin/audit-logs", 403, 200],
    ["PATCH", `/admin/users/${admin.items[0].id}`, 403, 403, { is_suspended: true }],
    ["GET", "/me", 403, 403],
    ["GET", `/tenant/${server.tenant}/agents`, 403, 403],
    ["GET", "/v1/models", 403, 403],
    ["GET", "/healthz", 200, 200],
  ]) {
    equal(await status("metrics", method, path, body), metrics, `${method} ${path} for metrics`);
    equal(await status("admin-read", method, path, body), read, `${method} ${path} for admin-read`);
  }
  equal((await server.request("GET", "/metrics", { token: "", headers: away })).status, 401, "/metrics for nobody");
  equal((await server.request("GET", "/metrics", { token: `${made.metrics.token.slice(0, -1)}_`, headers: away })).status, 401, "a token that was changed");
  const cookie = { ...away, Cookie: `lodge_session=${made.metrics.token}` };
  equal((await server.request("GET", "/metrics", { token: "", headers: cookie })).status, 401, "as a cookie");
  const all = await place.sql("select * from machine_keys");
  for (const { token } of Object.values(made)) ok(!all.includes(token) && !server.stderr.includes(token), "the token is kept somewhere");
  const list = await t.on(place, ["machine-key", "list"]);
  match(list.stdout, new RegExp(`^${made.metrics.id}  metrics     made \\S+Z  used \\S+  for metrics\\n${made["admin-read"].id}  admin-read  made `), "the list");
  equal((await t.on(place, ["machine-key", "revoke", made.metrics.id])).status, 0, "revoking");
  equal(await status("metrics", "GET", "/metrics"), 401, "a revoked key");
  equal((await t.on(place, ["machine-key", "revoke", made.metrics.id])).status, 1, "revoking again");
  equal((await t.on(place, ["machine-key", "create", "--for", "everything"])).status, 2, "an unknown purpose");
  equal(await place.sql("select count(*) from audit_logs where action in ('machine_key.create', 'machine_key.revoke')"), "3", "audit rows");
});
