// bucket_move.test.mjs - bytes on their way: large files of sessions from the store into the bucket, and all of it from one place to
// another, while the service works and whoever moves them is killed.
import { createHash, randomBytes } from "node:crypto";
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { equal, match, ok, test, testBoth, until } from "./harness.mjs";
import { s3Peer } from "./s3_peer.mjs";

const FLAGS = ["--no-access-log"];
const MIB = 1 << 20;
const path = (tenant, key) => `/tenant/${tenant}/bucket/object?key=${key}`;
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const blobs = (folder) => !existsSync(folder) ? [] : readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((e) => e.isFile() && /^c[a-z0-9]{24}$/.test(e.name)).map((e) => e.name);

function raw(server, method, where, { bytes, headers = {} } = {}) {
  return new Promise((done, no) => {
    const req = http.request({ port: server.port, host: "127.0.0.1", method, path: where,
      headers: { Authorization: `Bearer ${server.token}`, ...(bytes ? { "Content-Length": bytes.length } : {}), ...headers } }, (res) => {
      const parts = [];
      res.on("data", (part) => parts.push(part)).on("end", () => done({ status: res.statusCode, bytes: Buffer.concat(parts) })).on("error", no);
    });
    req.on("error", no);
    req.end(bytes);
  });
}

/** Puts so many objects: their digests by key. */
async function fill(server, tenant, names, size) {
  const digests = new Map();
  for (const name of names) {
    const bytes = randomBytes(size);
    equal((await raw(server, "PUT", path(tenant, name), { bytes })).status, 201, `put ${name}`);
    digests.set(name, sha256(bytes));
  }
  return digests;
}

async function whole(server, tenant, digests, when) {
  for (const [name, digest] of digests) {
    const read = await raw(server, "GET", path(tenant, name));
    equal(read.status, 200, `${name} ${when}: ${read.bytes.subarray(0, 200)}`);
    equal(sha256(read.bytes), digest, `the bytes of ${name} ${when}`);
  }
}

const killed = (t, place, args, seconds) => t.on(place, args, { wrap: ["timeout", "-s", "KILL", String(seconds)] });

testBoth("files of sessions move into the bucket, and a service that is killed over it loses none", async (t, engine) => {
  const place = await t.place(engine), folder = join(place.folder, "bucket");
  const flags = [...FLAGS, "--bucket", `dir:${folder}`];
  let server = await t.serve(place, { flags });
  const tenant = await server.enter();
  const agent = (await server.request("GET", `/tenant/${tenant}/agents`)).json.items[0].id;
  const session = (await server.request("POST", `/tenant/${tenant}/agents/${agent}/sessions`, { body: {} })).json.id;
  await server.stop();
  // As a program from before has left them.
  const rows = 60, size = 200_000;
  const text = (n) => `${n} `.padEnd(size, String(n % 10));
  const sql = (n) => engine === "sqlite" ? `cast('${n} ' || substr(replace(hex(zeroblob(${size})), '0', '${n % 10}'), 1, ${size - `${n} `.length}) as blob)`
    : `convert_to('${n} ' || repeat('${n % 10}', ${size - `${n} `.length}), 'UTF8')`;
  await place.sql(Array.from({ length: rows }, (_, n) => `insert into session_files (tenant_id, session_id, id, name, content_type, size_bytes, created_at, content) values ('${tenant}', '${session}', 'c${String(n).padStart(24, "0")}', 'old', 'text/plain', ${size}, 1, ${sql(n)})`).join(";\n"));
  const left = async () => Number(await place.sql("select count(*) from session_files where object_id is null"));
  for (let tries = 0; tries < 4; tries++) {
    server = await t.serve(place, { flags });
    const before = await left();
    await until(20_000, "some that have moved", async () => (await left()) < before || !before);
    await server.kill();
  }
  server = await t.serve(place, { flags });
  await until(60_000, "all that have moved", async () => (await left()) === 0);
  await server.enter();
  for (let n = 0; n < rows; n++)
    equal((await raw(server, "GET", `/sessions/${session}/files/c${String(n).padStart(24, "0")}/content`)).bytes.toString(), text(n), `the bytes of file ${n}`);
  const check = await t.on(place, ["check", "--objects", "--bucket", `dir:${folder}`]);
  equal(check.status, 0, check.stderr);
  match(check.stdout, /Of sessions there are 60 files; the bytes of the large ones are 60 of these objects\./, "what check says");
  equal(Number(await place.sql("select size_bytes from bucket_usage")), rows * size, "what is counted");
  const backup = await t.on(place, ["backup", join(place.folder, "copy.db"), "--bucket", `dir:${folder}`]);
  match(backup.stdout, /They are 60 objects of 12000000 bytes, large files of sessions among them/, "what backup says");
});

testBoth("a bucket moves to another folder while it is read and put, and killed at any moment loses nothing", async (t, engine) => {
  const place = await t.place(engine), from = join(place.folder, "from"), to = join(place.folder, "to");
  const old = ["--bucket", `dir:${from}`], both = ["--bucket", `dir:${to}`, "--bucket-also", `dir:${from}`];
  let server = await t.serve(place, { flags: [...FLAGS, ...old] });
  const tenant = await server.enter();
  const digests = await fill(server, tenant, Array.from({ length: 30 }, (_, i) => `k${i}`), MIB);
  const move = ["bucket", "move", "--to", `dir:${to}`];
  for (const seconds of [0.05, 0.15, 0.3, 0.6]) {
    await killed(t, place, [...move, ...old], seconds);
    await whole(server, tenant, new Map([...digests].slice(0, 3)), "during the move");
  }
  const first = await t.on(place, [...move, ...old]);
  equal(first.status, 0, first.stderr);
  match(first.stdout, /The bytes of all 30 objects \(31457280 bytes\) are in dir:.*Next let every process serve with bucket = dir:\S+\/to and bucket_also = dir:\S+\/from/s, "what it says");
  // What comes now is in the former place; another process has the new one already.
  for (const [name, digest] of await fill(server, tenant, ["late"], MIB)) digests.set(name, digest);
  if (engine === "postgres") {
    await server.stop();
    server = await t.serve(place, { flags: [...FLAGS, ...old, "--bucket-also", `dir:${to}`] });
    await server.enter();
    const second = await t.serve(place, { flags: [...FLAGS, ...both] });
    await second.enter();
    for (const [name, digest] of await fill(second, tenant, ["new"], MIB)) digests.set(name, digest);
    await whole(server, tenant, digests, "by one that puts into the former place");
    await whole(second, tenant, digests, "by one that puts into the new place");
    await second.stop();
  }
  await server.stop();
  server = await t.serve(place, { flags: [...FLAGS, ...both] });
  await server.enter();
  await whole(server, tenant, digests, "before the second move");
  equal((await server.request("DELETE", path(tenant, "k0"))).status, 204, "deleting one");
  digests.delete("k0");
  await killed(t, place, [...move, ...both], 0.1);
  const second = await t.on(place, [...move, ...both]);
  equal(second.status, 0, second.stderr);
  match(second.stdout, /take bucket_also out of the settings/, "what it says at the end");
  await server.stop();
  renameSync(from, `${from}.away`);
  const lost = await t.run(["serve", "--listen", "127.0.0.1:0", "--data", place.data, "--store", place.store, ...both]);
  equal(lost.status, 1, "started without the second place");
  rmSync(`${from}.away`, { recursive: true });
  server = await t.serve(place, { flags: [...FLAGS, "--bucket", `dir:${to}`] });
  await server.enter();
  await whole(server, tenant, digests, "in the new place alone");
  const again = await t.on(place, [...move, "--bucket", `dir:${to}`]);
  equal(again.status, 2, "a move from nowhere");
  match(again.stderr, /bucket_also names no place/, "what is said of it");
  const check = await t.on(place, ["check", "--objects", "--bucket", `dir:${to}`]);
  equal(check.status, 0, check.stderr);
  ok(blobs(to).length >= digests.size, "blobs");
});

test("a bucket moves from a folder to S3 and back", async (t) => {
  const place = await t.place("sqlite"), peer = await s3Peer(t), folder = join(place.folder, "one"), back = join(place.folder, "two");
  const secret = join(place.folder, "s3.secret");
  writeFileSync(secret, `${peer.keys.secretAccessKey}\n`);
  chmodSync(secret, 0o600);
  const s3 = ["--bucket-endpoint", peer.url, "--bucket-region", peer.region, "--bucket-key-id", peer.keys.accessKeyId, "--bucket-secret-file", secret, "--bucket-path-style"];
  const there = `s3://${peer.bucket}/moved`, steps = [[`dir:${folder}`, there], [there, `dir:${back}`]];
  let server = await t.serve(place, { flags: [...FLAGS, ...s3, "--bucket", steps[0][0]] });
  const tenant = await server.enter();
  const digests = await fill(server, tenant, ["a", "b", "c"], 100_000);
  for (const [from, to] of steps) {
    const first = await t.on(place, ["bucket", "move", "--to", to, ...s3, "--bucket", from]);
    equal(first.status, 0, first.stderr);
    match(first.stdout, /\n?The bytes of all \d+ objects/, "what it says");
    for (const [name, digest] of await fill(server, tenant, [`late-${to.length}`], 50_000)) digests.set(name, digest);
    await server.stop();
    const both = [...s3, "--bucket", to, "--bucket-also", from];
    server = await t.serve(place, { flags: [...FLAGS, ...both] });
    await server.enter();
    await whole(server, tenant, digests, `with ${to} and ${from}`);
    const second = await t.on(place, ["bucket", "move", "--to", to, ...both]);
    equal(second.status, 0, second.stderr);
    match(second.stdout, /: 1 were copied now/, "what came meanwhile");
    await server.stop();
    server = await t.serve(place, { flags: [...FLAGS, ...s3, "--bucket", to] });
    await server.enter();
    await whole(server, tenant, digests, `in ${to}`);
  }
  // What S3 has is held against its digest.
  for (const [key, object] of peer.objects) if (object.bytes.length === 100_000) peer.objects.set(key, { bytes: Buffer.concat([object.bytes.subarray(1), Buffer.from("x")]) });
  rmSync(folder, { recursive: true });
  const spoilt = await t.on(place, ["bucket", "move", "--to", `dir:${folder}`, ...s3, "--bucket", there]);
  equal(spoilt.status, 1, "the exit status");
  match(spoilt.stderr, /of 0 objects the bytes are missing, and of 3 they are not those that were put; the first is bucket:\/\//, "what is said");
});
