// tls.test.mjs - HTTPS with a certificate made on the spot; what is wrong with it is one clear line.
import { readFileSync, writeFileSync } from "node:fs";
import https from "node:https";
import { join } from "node:path";
import tls from "node:tls";
import { command, equal, match, ok, shared, test, until, within } from "./harness.mjs";
import { Raw, replies } from "./raw.mjs";

async function makePair(folder, name, args = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]) {
  const cert = join(folder, `${name}.crt`);
  const key = join(folder, `${name}.key`);
  const { status, stderr } = await command("openssl", ["req", "-x509", "-nodes", "-days", "2", ...args, "-keyout", key, "-out", cert,
    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]);
  ok(status === 0, `openssl says ${stderr}`);
  return { cert, key };
}

const up = shared(async (scope) => {
  const place = await scope.place("sqlite");
  const pair = await makePair(place.folder, "good");
  const server = await scope.serve(place, { flags: ["--tls-cert", pair.cert, "--tls-key", pair.key, "--header-timeout", "1s", "--idle-timeout", "3s"] });
  server.ca = readFileSync(pair.cert);
  server.pair = pair;
  server.secure = (method, path, options = {}) =>
    server.request(method, path, { module: https, agent: false, ca: server.ca, servername: "localhost", ...options });
  return server;
});

const connect = (server, options = {}) => new Promise((done, no) => {
  const socket = tls.connect({ port: server.port, host: "127.0.0.1", servername: "localhost", ca: server.ca, ...options }, () => done(socket));
  socket.on("error", no);
});

test("https works, with a certificate that is checked", async () => {
  const server = await up();
  equal((await server.secure("GET", "/healthz")).status, 200, "/healthz");
  const reply = await server.secure("POST", "/auth/login", { body: { email: "admin@example.com", password: "Correct-Horse-9-Battery" } });
  equal(reply.status, 200, reply.text);
  match(reply.headers["set-cookie"][0], /^lodge_session=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Secure$/, "Set-Cookie");
  const document = await server.secure("GET", "/openapi.json");
  match(document.json.servers[0].url, /^https:\/\//, "the server in the document");
  await until(20_000, "its line", () => server.stdout.includes("Lodge is at https://"));
});

test("TLS 1.2 and 1.3 are spoken, older ones not; http/1.1 is chosen, h2 alone refused", async () => {
  const server = await up();
  for (const version of ["TLSv1.2", "TLSv1.3"]) {
    const socket = await connect(server, { minVersion: version, maxVersion: version, ALPNProtocols: ["h2", "http/1.1"] });
    equal(socket.getProtocol(), version, "the protocol");
    equal(socket.alpnProtocol, "http/1.1", "ALPN");
    socket.destroy();
  }
  for (const options of [{ minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" }, { ALPNProtocols: ["h2"] }]) {
    const outcome = await within(5000, connect(server, options).then((s) => (s.destroy(), "met"), () => "refused"), "the handshake");
    equal(outcome, "refused", JSON.stringify(options));
  }
  equal((await server.secure("GET", "/healthz")).status, 200, "/healthz");
});

test("plain http and garbage on the TLS port end in time", async () => {
  const server = await up();
  for (const bytes of ["GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "\0".repeat(600), "\x16\x03\x01", "", "\x16\x03\x01\x40\x00" + "\x01".repeat(100)]) {
    const raw = new Raw(server.port);
    await raw.open();
    raw.send(Buffer.from(bytes, "latin1"));
    await raw.untilClosed(6000);
    ok(!raw.bytes.toString("latin1").startsWith("HTTP/1.1 200"), "plain http was answered");
    raw.drop();
  }
  equal((await server.secure("GET", "/healthz")).status, 200, "/healthz");
});

test("500 handshakes begun and dropped leave nothing behind", async () => {
  const server = await up();
  for (let round = 0; round < 5; round++)
    await Promise.all(Array.from({ length: 100 }, (_, i) => new Promise((done) => {
      const socket = tls.connect({ port: server.port, host: "127.0.0.1", servername: "localhost", ca: server.ca });
      socket.on("error", () => {});
      socket.on("close", done);
      if (i % 2) socket.on("secureConnect", () => socket.destroy());
      else socket.on("connect", () => socket.destroy());
    })));
  await until(5000, "all are gone", async () => {
    const { text } = await server.secure("GET", "/metrics");
    return Number(/^lodge_connections_open (\d+)$/m.exec(text)[1]) <= 3;
  });
});

test("pipelines, large replies and bodies pass through TLS whole", async () => {
  const server = await up();
  const socket = await connect(server);
  let bytes = Buffer.alloc(0);
  socket.on("data", (part) => (bytes = Buffer.concat([bytes, part])));
  const over = new Promise((done) => socket.on("end", done));
  const get = (path, extra = "") => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${extra}\r\n`;
  socket.write(get("/openapi.json").repeat(10) + get("/healthz").repeat(200) + get("/version", "Connection: close\r\n"));
  await within(15_000, over, "the end of the pipeline");
  const { list, rest } = replies(bytes);
  equal(rest.length, 0, "bytes after the last");
  equal(list.length, 211, "replies");
  ok(list.slice(0, 10).every((r) => JSON.parse(r.body).openapi), "a document");
  const { json } = await server.secure("POST", "/auth/login", { body: { email: "admin@example.com", password: "Correct-Horse-9-Battery" } });
  const made = await server.secure("POST", `/tenant/${json.user.memberships[0].tenant_id}/agents`,
    { token: json.token, body: { name: "Large", slug: "large", description_prompt: "p".repeat(2_000_000) } });
  equal(made.status, 201, made.text.slice(0, 300));
});

test("a client that never reads over TLS is let go", async (t) => {
  const server = await up();
  const other = await t.serve(await t.place("sqlite"), { flags: ["--tls-cert", server.pair.cert, "--tls-key", server.pair.key, "--reply-timeout", "1s"] });
  other.ca = server.ca;
  const socket = await connect(other);
  socket.pause();
  socket.on("error", () => {});
  socket.write("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(400));
  await until(8000, "it is let go", async () => {
    const { text } = await other.request("GET", "/metrics", { module: https, agent: false, ca: other.ca, servername: "localhost" });
    return Number(/^lodge_timeouts_total (\d+)$/m.exec(text)[1]) >= 1;
  });
  socket.destroy();
  equal(await other.stop(), 0, "the exit status");
});

test("a missing, broken or foreign certificate or key is one clear line", async (t) => {
  const place = await t.place("sqlite");
  const good = await makePair(place.folder, "good");
  const other = await makePair(place.folder, "other");
  const rsa = await makePair(place.folder, "rsa", ["-newkey", "rsa:2048"]);
  const broken = join(place.folder, "broken.pem");
  writeFileSync(broken, "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n");
  const missing = join(place.folder, "missing.pem");
  await t.on(place, ["migrate"]);
  const cases = [
    [["--tls-cert", good.cert], /tls_key/],
    [["--tls-key", good.key], /tls_cert/],
    [["--tls-cert", missing, "--tls-key", good.key], /missing\.pem.*No such file/i],
    [["--tls-cert", good.cert, "--tls-key", missing], /missing\.pem.*No such file/i],
    [["--tls-cert", good.cert, "--tls-key", other.key], /does not belong|mismatch/],
    [["--tls-cert", good.cert, "--tls-key", rsa.key], /does not belong|mismatch/],
    [["--tls-cert", broken, "--tls-key", good.key], /broken\.pem/],
    [["--tls-cert", good.key, "--tls-key", good.key], /good\.key/],
    [["--tls-cert", place.folder, "--tls-key", good.key], /certificate/],
  ];
  for (const [flags, pattern] of cases) {
    const result = await t.on(place, ["serve", "--listen", "127.0.0.1:0", ...flags]);
    match(result.stderr, /^lodge: [^\n]+\n$/, `${flags}: standard error is one line`);
    match(result.stderr, pattern, `${flags}`);
    ok(result.status === 1 || result.status === 2, `${flags}: the exit status is ${result.status}`);
  }
});
