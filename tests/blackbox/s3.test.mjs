// s3.test.mjs - a bucket in S3, by a peer that makes every signature again with Amazon's own library, and botocore besides.
import { randomBytes } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { command, equal, match, ok, test, testBoth, until } from "./harness.mjs";
import { KEYS, s3Peer } from "./s3_peer.mjs";

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";
const load = createRequire(new URL("s3/package.json", import.meta.url));
const { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } = load("@aws-sdk/client-s3");
const MIB = 1 << 20;
const path = (tenant, key) => `/tenant/${tenant}/bucket/object?key=${encodeURIComponent(key)}`;

test("the S3 that others are held against is one to Amazon's client", async (t) => {
  const peer = await s3Peer(t), client = new S3Client({ endpoint: peer.url, region: peer.region, credentials: KEYS, forcePathStyle: true, requestChecksumCalculation: "WHEN_REQUIRED" });
  const Bucket = peer.bucket, Key = "a b/ü=+(!)~.txt";
  await client.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.from("hello") }));
  equal(await (await client.send(new GetObjectCommand({ Bucket, Key, Range: "bytes=1-3" }))).Body.transformToString(), "ell", "a range");
  equal((await client.send(new HeadObjectCommand({ Bucket, Key }))).ContentLength, 5, "its length");
  equal((await client.send(new ListObjectsV2Command({ Bucket, Prefix: "a b" }))).Contents[0].Key, Key, "its key");
  await client.send(new DeleteObjectCommand({ Bucket, Key }));
  equal(peer.objects.size, 0, "gone");
});

/** Runs botocore, the library beneath Amazon's command line; what it does is in s3/second.py. */
async function botocore(task) {
  const done = await command("/usr/bin/python3", [fileURLToPath(new URL("s3/second.py", import.meta.url))], { input: JSON.stringify(task) });
  equal(done.status, 0, done.stderr);
  return JSON.parse(done.stdout);
}

test("it is one to a second client, too, and to that one's signer what we sign is right", async (t) => {
  const peer = await s3Peer(t), { place, flags } = await housed(t, "sqlite", peer);
  peer.partMin = 1;
  const did = await botocore({ do: "objects", url: peer.url, region: peer.region, keys: KEYS, bucket: peer.bucket, key: "a b/ü=+(!)~.txt" });
  equal(JSON.stringify(did), JSON.stringify({ range: "ell", length: 5, listed: ["a b/ü=+(!)~.txt"], parts: "onetwo", left: 0 }), "what it did");
  const server = await t.serve(place, { flags: ["--no-access-log", ...flags] }), tenant = await server.enter();
  peer.signed.length = 0;
  for (const key of ["a b/ü=+(!)~", "empty"]) {
    equal((await raw(server, "PUT", path(tenant, key), { bytes: Buffer.from(key === "empty" ? "" : "bytes"), headers: { "Content-Length": key === "empty" ? 0 : 5 } })).status, 201, `put ${key}`);
    equal((await raw(server, "GET", path(tenant, key))).status, 200, `read ${key}`);
  }
  equal((await raw(server, "PUT", path(tenant, "large"), { bytes: Buffer.alloc(65 * MIB) })).status, 201, "one in parts");
  ok(peer.signed.some((r) => /partNumber=2/.test(r.url)), "a part");
  const signed = await botocore({ do: "sign", region: peer.region, keys: KEYS, requests: peer.signed });
  equal(signed.length, peer.signed.length, "requests");
  for (const [i, one] of signed.entries()) ok(peer.signed[i].headers.authorization.endsWith(`Signature=${one}`), `${peer.signed[i].method} ${peer.signed[i].url} is signed otherwise`);
});

function raw(server, method, where, { bytes, headers = {} } = {}) {
  return new Promise((done, no) => {
    const req = http.request({ port: server.port, host: "127.0.0.1", method, path: where,
      headers: { Authorization: `Bearer ${server.token}`, ...(bytes ? { "Content-Length": bytes.length } : {}), ...headers } }, (res) => {
      const parts = [];
      res.on("data", (part) => parts.push(part)).on("end", () => done({ status: res.statusCode, headers: res.headers, bytes: Buffer.concat(parts) })).on("error", no);
    });
    req.on("error", no);
    req.end(bytes);
  });
}

async function housed(t, engine, peer, place) {
  place ??= await t.place(engine);
  const secret = join(place.folder, "s3.secret");
  writeFileSync(secret, `${peer.keys.secretAccessKey}\n`);
  chmodSync(secret, 0o600);
  const flags = ["--bucket", `s3://${peer.bucket}/of lodge`, "--bucket-endpoint", peer.url, "--bucket-region", peer.region, "--bucket-key-id", peer.keys.accessKeyId, "--bucket-secret-file", secret, "--bucket-path-style"];
  return { place, flags };
}

testBoth("objects lie in S3: put, read in part, replaced, missed when S3 has others, and none lost when it fails", async (t, engine) => {
  const peer = await s3Peer(t), { place, flags } = await housed(t, engine, peer);
  const server = await t.serve(place, { flags: ["--no-access-log", ...flags] }), tenant = await server.enter();
  ok(peer.objects.has("of lodge/lodge-bucket"), "the mark");
  const first = randomBytes(300_000);
  const made = await raw(server, "PUT", path(tenant, "a b/ü=+(!)~"), { bytes: first });
  equal(made.status, 201, `put: ${made.bytes}`);
  equal(peer.objects.size, 2, "objects in S3");
  ok((await raw(server, "GET", path(tenant, "a b/ü=+(!)~"))).bytes.equals(first), "its bytes");
  const part = await raw(server, "GET", path(tenant, "a b/ü=+(!)~"), { headers: { Range: "bytes=1000-1999" } });
  equal(part.status, 206, "a part");
  ok(part.bytes.equals(first.subarray(1000, 2000)), "the bytes of the part");
  const empty = await raw(server, "PUT", path(tenant, "empty"), { bytes: Buffer.alloc(0), headers: { "Content-Length": 0 } });
  equal(empty.status, 201, "an empty one");
  equal((await raw(server, "GET", path(tenant, "empty"))).bytes.length, 0, "an empty one, read");
  // What S3 answers is said, and what was there stays.
  for (const [fault, status, said] of [[[403, "AccessDenied"], 502, /answered 403 AccessDenied/], [[503, "SlowDown"], 502, /answered 503 SlowDown/]]) {
    peer.fault = fault;
    const refused = await raw(server, "PUT", path(tenant, "a b/ü=+(!)~"), { bytes: randomBytes(1000) });
    equal(refused.status, status, `put while S3 answers ${fault}`);
    match(refused.bytes.toString(), said, "what is said");
    equal((await raw(server, "GET", path(tenant, "a b/ü=+(!)~"))).status, status, `read while S3 answers ${fault}`);
    peer.fault = null;
  }
  peer.fault = "cut";
  equal((await raw(server, "GET", path(tenant, "a b/ü=+(!)~"))).status, 502, "cut in the middle");
  peer.fault = null;
  ok((await raw(server, "GET", path(tenant, "a b/ü=+(!)~"))).bytes.equals(first), "its bytes, still");
  // Its clock may be another.
  peer.ahead = 3600_000;
  ok((await raw(server, "GET", path(tenant, "a b/ü=+(!)~"))).bytes.equals(first), "with another clock");
  peer.ahead = 0;
  // In parts, and none of them stays when one fails.
  const large = randomBytes(70 * MIB);
  equal((await raw(server, "PUT", path(tenant, "large"), { bytes: large })).status, 201, "one in parts");
  ok([...peer.objects.values()].some((o) => o.parts === 2 && o.bytes.equals(large)), "in two parts");
  ok((await raw(server, "GET", path(tenant, "large"))).bytes.equals(large), "its bytes");
  equal(peer.uploads.size, 0, "uploads left open");
  const check = await t.on(place, ["check", "--objects", ...flags]);
  equal(check.status, 0, check.stderr);
  match(check.stdout, /The buckets have 3 objects of 73700320 bytes/, "what check says");
  await server.stop();
  for (const [key, object] of peer.objects) if (object.bytes.equals(first)) peer.objects.set(key, { bytes: Buffer.concat([first.subarray(1), Buffer.from("x")]) });
  const torn = await t.on(place, ["check", "--objects", ...flags]);
  equal(torn.status, 1, "check with other bytes");
  match(torn.stderr, /of 1 they are not those that were put/, "what check says");
  // Without its mark it is not the bucket; without S3 all else is served.
  peer.objects.delete("of lodge/lodge-bucket");
  match((await t.run(["serve", "--listen", "127.0.0.1:0", "--data", place.data, "--store", place.store, ...flags])).stderr, /is not the bucket of this store/, "without its mark");
  const away = await t.serve(place, { flags: ["--no-access-log", ...flags.map((f) => (f === peer.url ? "http://127.0.0.1:1" : f))] });
  await away.enter();
  equal((await away.request("GET", `/tenant/${tenant}/bucket`)).status, 200, "the list while S3 is away");
  equal((await raw(away, "GET", path(tenant, "empty"))).status, 502, "an object while S3 is away");
});

test("an object of S3 is passed on while it comes, and what is not whole never looks so", async (t) => {
  const peer = await s3Peer(t), { place, flags } = await housed(t, "sqlite", peer);
  const server = await t.serve(place, { flags: ["--no-access-log", ...flags] }), tenant = await server.enter();
  const small = randomBytes(100_000), large = randomBytes(4 * MIB);
  for (const [key, bytes] of [["small", small], ["large", large]]) equal((await raw(server, "PUT", path(tenant, key), { bytes })).status, 201, `put ${key}`);
  // Half of it has come, and some of that is passed on before the rest is there.
  peer.fault = "stall";
  const got = [];
  const ended = new Promise((done, no) => {
    http.get({ port: server.port, host: "127.0.0.1", path: path(tenant, "large"), headers: { Authorization: `Bearer ${server.token}` } }, (res) => {
      equal(Number(res.headers["content-length"]), large.length, "its length");
      res.on("data", (part) => got.push(part)).on("end", done).on("error", no);
    }).on("error", no);
  });
  await until(20_000, "bytes before the rest has come", () => got.reduce((n, part) => n + part.length, 0) > MIB);
  peer.fault = null;
  peer.goOn();
  await ended;
  ok(Buffer.concat(got).equals(large), "its bytes");
  const part = await raw(server, "GET", path(tenant, "large"), { headers: { Range: "bytes=1000000-2999999" } });
  equal(part.status, 206, "a part");
  equal(part.headers["content-range"], `bytes 1000000-2999999/${large.length}`, "which");
  ok(part.bytes.equals(large.subarray(1_000_000, 3_000_000)), "the bytes of the part");
  // Cut off in the middle, and with other bytes of the same length: before the head it is told, after it the connection breaks.
  const broken = (key) => raw(server, "GET", path(tenant, key)).then((r) => (r.status < 300 ? `whole: ${r.bytes.length} bytes` : String(r.status)), (err) => err.code);
  peer.fault = "cut";
  equal(await broken("small"), "502", "a small one, cut");
  equal(await broken("large"), "ECONNRESET", "a large one, cut");
  peer.fault = null;
  for (const [key, object] of peer.objects) if (object.bytes.length >= small.length) peer.objects.set(key, { bytes: Buffer.concat([object.bytes.subarray(1), Buffer.from("x")]) });
  equal(await broken("small"), "503", "a small one with other bytes");
  equal(await broken("large"), "ECONNRESET", "a large one with other bytes");
});

test("S3 that is away when the service first starts: nothing is put until the place is known to be its own", async (t) => {
  const peer = await s3Peer(t), { place, flags } = await housed(t, "sqlite", peer);
  const start = () => t.serve(place, { flags: ["--no-access-log", ...flags] });
  const put = (server) => raw(server, "PUT", path(tenant, "x"), { bytes: Buffer.from("hello") });
  const away = [503, "SlowDown"];
  peer.fault = away;
  let server = await start();
  const tenant = await server.enter();
  equal((await put(server)).status, 502, "put while S3 is away");
  peer.fault = null;
  equal((await put(server)).status, 502, "put before there is a mark");
  equal(peer.objects.size, 0, "objects in S3");
  await server.stop();
  server = await start();
  await server.enter();
  ok(peer.objects.has("of lodge/lodge-bucket"), "the mark");
  equal((await put(server)).status, 201, "put");
  await server.stop();
  // Away at a later start: the first put looks at the mark.
  peer.fault = away;
  const check = await t.on(place, ["check", ...flags]);
  equal(check.status, 0, check.stderr);
  match(check.stdout, /# warning: .*answered 503 SlowDown/, "what check says");
  match((await t.on(place, ["check", "--objects", ...flags])).stderr, /answered 503 SlowDown/, "what check of the objects says");
  server = await start();
  await server.enter();
  equal((await put(server)).status, 502, "put while S3 is away again");
  peer.fault = null;
  equal((await put(server)).status, 200, "put when it is back");
  await server.stop();
  // Another store is not let in, nor is one without the bucket.
  const other = await housed(t, "sqlite", peer);
  match((await t.run(["serve", "--listen", "127.0.0.1:0", "--data", other.place.data, "--store", other.place.store, ...other.flags])).stderr, /is that of another/, "another store");
  equal((await t.on(place, ["check", "--objects", ...flags])).status, 0, "check");
});
