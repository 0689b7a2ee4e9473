// store_tls.test.mjs - whom Lodge believes to be its database: a server with a certificate of an authority of our own.
import { chmodSync, chownSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { command, equal, match, ok, test } from "./harness.mjs";
import { startServer, theirFolder } from "./peers.mjs";

async function openssl(...args) {
  const { status, stderr } = await command("openssl", args);
  ok(status === 0, `openssl ${args.join(" ")}: ${stderr}`);
}

/** An authority, and a key and certificate of its making for db.example.test: {folder, ca, stranger}. */
async function certificates(t) {
  const folder = theirFolder(t);
  const at = (name) => join(folder, name);
  for (const name of ["ca", "stranger"])
    await openssl("req", "-x509", "-nodes", "-days", "2", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", `/CN=${name}`, "-keyout", at(`${name}.key`), "-out", at(`${name}.pem`));
  await openssl("req", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=db.example.test", "-keyout", at("server.key"), "-out", at("server.csr"));
  writeFileSync(at("names"), "subjectAltName=DNS:db.example.test\n");
  await openssl("x509", "-req", "-days", "2", "-in", at("server.csr"), "-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial", "-extfile", at("names"), "-out", at("server.pem"));
  const { uid, gid } = statSync(folder);
  chmodSync(at("server.key"), 0o600);
  chownSync(at("server.key"), uid, gid);
  return { folder, ca: at("ca.pem"), stranger: at("stranger.pem") };
}

const hostname = (server, name, more) => `postgres://postgres@${name}:${server.port}/lodge?hostaddr=127.0.0.1${more}`;

test("a server is believed that its name and authority vouch for, and no other", async (t) => {
  const { folder, ca, stranger } = await certificates(t);
  const server = await startServer(t, { conf: `ssl = on\nssl_cert_file = '${join(folder, "server.pem")}'\nssl_key_file = '${join(folder, "server.key")}'` });
  const plain = await startServer(t);
  const migrate = (where) => {
    const home = t.folder();
    return t.run(["migrate", "--data", join(home, "data"), "--store", where], { cwd: home, env: { HOME: home } });
  };
  const proper = await migrate(hostname(server, "db.example.test", `&sslmode=verify-full&sslrootcert=${ca}`));
  equal(proper.status, 0, proper.stderr);

  // Each is refused with one sentence that says why; the last two by default, with nothing said of TLS.
  for (const [what, where, why] of [
    ["another name", hostname(server, "other.example.test", `&sslmode=verify-full&sslrootcert=${ca}`), /does not match host name/],
    ["another authority", hostname(server, "db.example.test", `&sslmode=verify-full&sslrootcert=${stranger}`), /certificate verify failed/],
    ["an authority that the system does not know", hostname(server, "db.example.test", ""), /certificate verify failed/],
    ["no TLS at all", hostname(plain, "db.example.test", ""), /does not support SSL/],
  ]) {
    const result = await migrate(where);
    equal(result.status, 1, `${what}: ${result.stdout}`);
    match(result.stderr, /^lodge: [^\n]+\n$/, `${what}: one sentence`);
    match(result.stderr, why, what);
  }

  // Who says so goes without, and the log says what that means.
  const home = t.folder();
  const loose = await t.serve({ engine: "postgres", folder: home, data: join(home, "data"), store: hostname(server, "db.example.test", "&sslmode=require") }, { flags: ["--no-access-log"] });
  match(loose.stderr, /warn the database's certificate and name are not verified.*host=db\.example\.test sslmode=require/, "the warning");
  equal(loose.stderr.match(/certificate and name are not verified/g).length, 1, "it is said once");
}, { ms: 60_000 });
