// check.test.mjs - what `lodge check` and a reload must not call sound, and sentences that say what to do.
import { chmodSync, chownSync, copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import tls from "node:tls";
import { command, equal, isRoot, match, ok, test, testBoth, until } from "./harness.mjs";

const NOBODY = 65534;

async function stopped(t) {
  const place = await t.place("sqlite");
  await (await t.serve(place, { flags: ["--no-access-log"] })).stop();
  return place;
}

/** A certificate that holds between two moments, in OpenSSL's form. */
async function pair(t, folder, name, from, until) {
  const at = (suffix) => join(folder, `${name}${suffix}`);
  const openssl = async (...args) => {
    const { status, stderr } = await command("openssl", args, { cwd: folder });
    ok(status === 0, `openssl ${args[0]}: ${stderr}`);
  };
  await openssl("req", "-new", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", at(".key"), "-out", at(".csr"), "-subj", `/CN=${name}`);
  writeFileSync(at(".txt"), "");
  writeFileSync(at(".txt.attr"), "unique_subject = no\n");
  writeFileSync(at(".cnf"), `[ca]\ndefault_ca = d\n[d]\ndatabase = ${at(".txt")}\nrand_serial = yes\ndefault_md = sha256\npolicy = p\nnew_certs_dir = ${folder}\n[p]\ncommonName = supplied\n`);
  await openssl("ca", "-batch", "-notext", "-selfsign", "-config", at(".cnf"), "-keyfile", at(".key"), "-in", at(".csr"), "-out", at(".pem"), "-startdate", from, "-enddate", until);
  chmodSync(at(".key"), 0o600);
  return { cert: at(".pem"), key: at(".key") };
}

test("check refuses addresses to listen on that serve refuses", async (t) => {
  const place = await stopped(t);
  for (const [listen, why] of [
    ["localhost:18330", /not an address like/],
    ["nonsense:80", /not an address like/],
    ["127.0.0.1:18330,127.0.0.1:18330", /127\.0\.0\.1:18330 twice/],
    ["[::1]:18330,[0:0::1]:18330", /twice/],
  ]) {
    const result = await t.on(place, ["check", "--listen", listen]);
    equal(result.status, 2, `${listen}: ${result.stderr}`);
    match(result.stderr, why, listen);
  }
  equal((await t.on(place, ["check", "--listen", "127.0.0.1:0,127.0.0.1:0"])).status, 0, "any port, twice");
  // Where mail is taken, while nobody and while somebody else is there.
  const other = net.createServer((socket) => socket.end("220 other.example\r\n"));
  await new Promise((done) => other.listen(0, "127.0.0.1", done));
  t.onEnd(() => new Promise((done) => other.close(done)));
  const mail = (...flags) => t.on(place, ["check", "--mail-domain", "mail.example", ...flags]);
  for (const [flags, status, why] of [
    [["--lmtp-listen", `127.0.0.1:${other.address().port}`], 2, /cannot take mail at 127\.0\.0\.1:\d+: Address already in use/],
    [["--smtp-listen", "192.0.2.1:2525"], 2, /cannot take mail at 192\.0\.2\.1:2525/],
    [["--lmtp-listen", "unix:/nowhere/at/all"], 1, /lmtp_listen: .*its folder \/nowhere\/at: No such file/],
    [["--lmtp-listen", `unix:/${"x".repeat(110)}`], 2, /at most 107 bytes/],
  ]) {
    const result = await mail(...flags);
    equal(result.status, status, `${flags}: ${result.stderr}`);
    match(result.stderr, why, flags.join(" "));
  }
  equal((await mail("--lmtp-listen", `unix:${place.folder}/lmtp`, "--smtp-listen", "127.0.0.1:0")).status, 0, "a good place");
});

test("check judges lodge.conf and the store's files for the service's user", async (t) => {
  if (!isRoot) return;
  const place = await stopped(t);
  const conf = join(place.folder, "lodge.conf");
  const file = join(place.data, "lodge.db");
  chmodSync(place.folder, 0o755);
  for (const path of [place.data, file, `${file}-id`, join(place.data, "master.key"), join(place.data, "repositories")]) chownSync(path, NOBODY, NOBODY);
  writeFileSync(conf, "# nothing\n", { mode: 0o644 });
  chmodSync(conf, 0o644);
  const good = await t.on(place, ["check"]);
  equal(good.status, 0, good.stderr);
  chmodSync(conf, 0o600);
  const closed = await t.on(place, ["check"]);
  equal(closed.status, 1, "a lodge.conf for root alone");
  match(closed.stderr, /config: the file .*lodge\.conf: the user \S+, .*may not read it/, "why");
  chmodSync(conf, 0o644);
  chownSync(file, 0, 0);
  const owned = await t.on(place, ["check"]);
  equal(owned.status, 1, "a store of root's");
  match(owned.stderr, /store: the file .*lodge\.db: the user \S+, .*may not write to it/, "why");
  chownSync(file, NOBODY, NOBODY);
  chmodSync(file, 0o400);
  const barred = await t.on(place, ["check"]);
  equal(barred.status, 1, "a store that its owner may only read");
  match(barred.stderr, /store: the file .*lodge\.db: the user \S+, .*may not write to it/, "why");
});

test("check refuses a key of two lines and an issuer that is not called", async (t) => {
  const place = await stopped(t);
  const secret = join(place.folder, "a.secret");
  const conf = join(place.folder, "lodge.conf");
  writeFileSync(secret, "sk-one\nsk-two\n", { mode: 0o600 });
  writeFileSync(conf, `openai_key_file = ${secret}\n`);
  const two = await t.on(place, ["check"]);
  equal(two.status, 1, two.stdout.slice(-200));
  match(two.stderr, /openai_key_file: .*one line/, "two lines");
  ok(!/sk-/.test(two.stdout + two.stderr), "the secret is shown");
  writeFileSync(secret, "sk-one\n", { mode: 0o600 });
  writeFileSync(conf, `oidc = sso=http://sso.example.com,lodge,${secret}\n`);
  const plain = await t.on(place, ["check"]);
  equal(plain.status, 1, plain.stdout.slice(-200));
  match(plain.stderr, /oidc, sso: .*http:\/\/sso\.example\.com: this address is not called/, "plain HTTP");
  writeFileSync(conf, `oidc = sso=http://sso.example.com,lodge,${secret}\nallow_private_addresses = sso.example.com:80\n`);
  equal((await t.on(place, ["check"])).status, 0, "an issuer that is listed");
});

test("what cannot be opened is said in words that help", async (t) => {
  const place = await stopped(t);
  const conf = join(place.folder, "lodge.conf");
  const good = await pair(t, place.folder, "good", "20200101000000Z", "20490101000000Z");
  const spoilt = join(place.folder, "spoilt.key");
  const says = async (cert, key, why) => {
    writeFileSync(conf, `tls_cert = ${cert}\ntls_key = ${key}\n`);
    const result = await t.on(place, ["check"]);
    equal(result.status, 1, result.stdout.slice(-200));
    match(result.stderr, why, "what it says");
  };
  writeFileSync(spoilt, "no key\n", { mode: 0o600 });
  await says(spoilt, good.key, /no PEM text of that kind/);
  await says(good.cert, spoilt, /holds no (private key that can be read|PEM text of that kind)/);
  equal((await command("openssl", ["pkey", "-in", good.key, "-aes128", "-passout", "pass:secret", "-out", spoilt])).status, 0, "openssl");
  chmodSync(spoilt, 0o600);
  await says(good.cert, spoilt, /under a password/);
});

test("a reload refuses a certificate that has ended or does not hold yet, and a key that everybody can read", async (t) => {
  const place = await t.place("sqlite");
  const good = await pair(t, place.folder, "good", "20200101000000Z", "20490101000000Z");
  const ended = await pair(t, place.folder, "ended", "20200101000000Z", "20210101000000Z");
  const early = await pair(t, place.folder, "early", "20480101000000Z", "20490101000000Z");
  const cert = join(place.folder, "cert.pem");
  const key = join(place.folder, "cert.key");
  const install = (p, mode = 0o600) => (rmSync(key, { force: true }), copyFileSync(p.cert, cert), copyFileSync(p.key, key), chmodSync(key, mode));
  install(good);
  const server = await t.serve(place, { flags: ["--tls-cert", cert, "--tls-key", key, "--no-access-log"] });
  const name = () => new Promise((done, no) => {
    const socket = tls.connect({ port: server.port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
      done(socket.getPeerCertificate().subject.CN);
      socket.destroy();
    }).on("error", no);
  });
  for (const [what, act, why] of [
    ["ended", () => install(ended), /certificate has ended/],
    ["early", () => install(early), /does not hold yet/],
    ["open", () => install(good, 0o644), /mode 0644/],
  ]) {
    act();
    const before = server.stderr.length;
    server.signal("SIGHUP");
    await until(15_000, `what the log says to ${what}`, () => /those in force stay|were read again/.test(server.stderr.slice(before)));
    match(server.stderr.slice(before), /those in force stay/, what);
    match(server.stderr.slice(before), why, what);
    equal(await name(), "good", `the certificate in force after ${what}`);
  }
  equal(await server.stop(), 0, "the exit status");
  ok(readFileSync(cert).length > 0, "the certificate");
});

test("check names accounts of before whose addresses may look like others'", async (t) => {
  const place = await stopped(t);
  equal(/not in plain letters/.test((await t.on(place, ["check"])).stdout), false, "none at first");
  await place.sql("insert into users (id, email, email_folded, password_hash, is_super_admin, is_suspended, created_at, updated_at) values ('older', 'ädmin@example.org', 'ädmin@example.org', 'x', 0, 0, 1, 1)");
  const result = await t.on(place, ["check"]);
  equal(result.status, 0, result.stderr);
  match(result.stdout, /# warning: the address ädmin@example\.org of the account \S+ is not in plain letters/, "the warning");
});

testBoth("a store that lacks a table, a view, a column or an index of its version is refused, and what is beyond is named", async (t, engine) => {
  const place = await t.place(engine);
  equal((await t.on(place, ["migrate"])).status, 0, "migrate");
  await place.sql("create table somebodys (x integer)");
  const good = await t.on(place, ["check"]);
  equal(good.status, 0, good.stderr);
  match(good.stdout, /# warning: the store has what this version does not make: the table somebodys\.x\n/, "that and nothing else is beyond");
  const view = "create view threads as select * from thread_rows where gone_at is null";
  for (const [what, args, away, back] of [
    ["the index logins_by_end", engine === "sqlite" ? ["restore", join(place.data, "lodge.db")] : ["serve", "--listen", "127.0.0.1:0"], "drop index logins_by_end", "create index logins_by_end on logins (expires_at)"],
    ["the table audit_logs\\.", engine === "sqlite" ? ["check"] : ["migrate"], "alter table audit_logs rename to audit_gone", "alter table audit_gone rename to audit_logs"],
    ["the table logins\\.expires_at", ["check"], "alter table logins rename column expires_at to ends_at", "alter table logins rename column ends_at to expires_at"],
    ["the view threads\\.", ["check"], "drop view threads; create table threads (id text)", `drop table threads; ${view}`],
  ]) {
    await place.sql(away);
    const result = await t.on(place, args);
    equal(result.status, 1, `${away}: ${args[0]} says ${result.stdout}${result.stderr}`);
    match(result.stderr, new RegExp(`it is at version \\d+, but it lacks ${what}.*mixture of versions`), `${away}: ${args[0]}`);
    await place.sql(back);
  }
}, { ms: 120_000 });
