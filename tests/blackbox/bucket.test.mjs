// bucket.test.mjs - a bucket of a whole process: killed in the middle of a put, a disk that is full, two processes over one
// folder, a folder that is lost.
import { mkdirSync, readdirSync, rmSync, renameSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { command, equal, isRoot, match, ok, test, testBoth, until } from "./harness.mjs";

const FLAGS = ["--no-access-log"];
const MIB = 1 << 20;
const path = (tenant, key) => `/tenant/${tenant}/bucket/object?key=${key}`;

const files = (folder) => readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((e) => e.isFile() && !["lodge-bucket", "serving.lock"].includes(e.name)).map((e) => e.name);

/** One request with raw bytes both ways: {status, bytes, headers}. */
function raw(server, method, where, { bytes, headers = {}, token = server.token } = {}) {
  return new Promise((done, no) => {
    const req = http.request({ port: server.port, host: "127.0.0.1", method, path: where,
      headers: { ...(token ? { Authorization: `Bearer ${token}` } : {}), ...(bytes ? { "Content-Length": bytes.length } : {}), ...headers } }, (res) => {
      const parts = [];
      res.on("data", (part) => parts.push(part)).on("end", () => done({ status: res.statusCode, headers: res.headers, bytes: Buffer.concat(parts) })).on("error", no);
    });
    req.on("error", no);
    req.end(bytes);
  });
}

/** Announces so many bytes and sends fewer: the request, which stays open. */
function half(server, where, announced, sent) {
  const req = http.request({ port: server.port, host: "127.0.0.1", method: "PUT", path: where,
    headers: { Authorization: `Bearer ${server.token}`, "Content-Length": announced } });
  req.on("error", () => {});
  req.write(Buffer.alloc(sent, "x"));
  return req;
}

testBoth("killed in the middle of a put, there is what was there before", async (t, engine) => {
  const place = await t.place(engine);
  const folder = place.bucket ?? join(place.data, "bucket");
  let server = await t.serve(place, { flags: FLAGS });
  const tenant = await server.enter();
  const first = Buffer.alloc(3 * MIB, "first");
  equal((await raw(server, "PUT", path(tenant, "x"), { bytes: first })).status, 201, "the first");
  const req = half(server, path(tenant, "x"), 64 * MIB, 4 * MIB);
  await until(10_000, "bytes on their way", () => files(folder).some((name) => name.endsWith(".part")));
  await server.kill();
  req.destroy();
  server = await t.serve(place, { flags: FLAGS });
  await server.enter();
  const read = await raw(server, "GET", path(tenant, "x"));
  equal(read.status, 200, "reading it");
  ok(read.bytes.equals(first), "its bytes");
  equal((await server.request("GET", `/tenant/${tenant}/bucket`)).json.total, 1, "objects");
  const check = await t.on(place, ["check", "--objects"]);
  equal(check.status, 0, check.stderr);
  match(check.stdout, /\nThe buckets have 1 objects of 3145728 bytes\.\n/, "what check says");
  const backup = await t.on(place, ["backup", join(place.folder, "copy.db")]);
  equal(backup.status, 0, backup.stderr);
  match(backup.stdout, /The bytes of tenants' buckets are not in it: copy dir:\S+\/bucket too, now\.\n/, "what backup says");
  // A peer that goes leaves nothing, and one that is told to go on does.
  const gone = half(server, path(tenant, "y"), 64 * MIB, MIB);
  await until(10_000, "bytes on their way", () => files(folder).filter((name) => name.endsWith(".part")).length === 2);
  gone.destroy();
  await until(10_000, "nothing of it", () => files(folder).filter((name) => name.endsWith(".part")).length === 1);
  await server.stop();
  // Without the folder it does not start.
  renameSync(folder, `${folder}.away`);
  mkdirSync(folder);
  const lost = await t.run(["serve", "--listen", "127.0.0.1:0", "--data", place.data, "--store", place.store]);
  equal(lost.status, 1, "the exit status");
  match(lost.stderr, /is not the bucket of this store/, "the line");
  rmSync(folder, { recursive: true });
  renameSync(`${folder}.away`, folder);
  const [name] = files(folder).filter((one) => !one.endsWith(".part"));
  rmSync(join(folder, readdirSync(folder, { recursive: true }).find((one) => one.endsWith(name))));
  const broken = await t.on(place, ["check", "--objects"]);
  equal(broken.status, 1, "check without the bytes");
  match(broken.stderr, /of 1 objects the bytes are missing.*bucket:\/\/\w+\/x/, "what check says");
});

test("a disk that is full in the middle of a put", async (t) => {
  const place = await t.place("sqlite");
  const folder = join(place.folder, "small");
  if (!isRoot) return console.log("note: nothing can be mounted here: a full disk is not tested");
  mkdirSync(folder);
  if ((await command("mount", ["-t", "tmpfs", "-o", "size=6m,mode=700", "none", folder])).status)
    return console.log("note: nothing can be mounted here: a full disk is not tested");
  t.onEnd(() => command("umount", ["-l", folder]));
  const server = await t.serve(place, { flags: [...FLAGS, "--bucket", `dir:${folder}`] });
  const tenant = await server.enter();
  equal((await raw(server, "PUT", path(tenant, "small"), { bytes: Buffer.alloc(MIB) })).status, 201, "one that fits");
  const reply = await raw(server, "PUT", path(tenant, "large"), { bytes: Buffer.alloc(16 * MIB) }).catch((err) => ({ status: err.code }));
  ok([507, "EPIPE", "ECONNRESET"].includes(reply.status), `the answer is ${reply.status}`);
  await until(10_000, "nothing of it", () => files(folder).length === 1);
  equal((await raw(server, "GET", path(tenant, "large"))).status, 404, "reading it");
  equal((await raw(server, "PUT", path(tenant, "small"), { bytes: Buffer.alloc(2 * MIB) })).status, 200, "one that fits again");
});

test("two processes on PostgreSQL share one bucket", async (t) => {
  const place = await t.place("postgres");
  const flags = [...FLAGS, "--bucket", `dir:${join(place.folder, "bucket")}`, "--bucket-bytes-max", "8m"];
  const a = await t.serve(place, { flags });
  const b = await t.serve(place, { flags });
  const tenant = await a.enter();
  await b.enter();
  // One with a folder of its own would have half of the objects.
  for (const words of [["serve", "--listen", "127.0.0.1:0"], ["check"]]) {
    const own = await t.run([...words, "--data", join(place.folder, "own"), "--store", place.store, "--master-key-file", join(place.data, "master.key")]);
    ok(own.status, `${words[0]} with a folder of its own`);
    match(own.stderr, /is not the bucket of this store.*lodge bucket adopt/, "the line");
  }
  equal((await raw(a, "PUT", path(tenant, "x"), { bytes: Buffer.alloc(MIB, "a") })).status, 201, "put by the first");
  ok((await raw(b, "GET", path(tenant, "x"))).bytes.equals(Buffer.alloc(MIB, "a")), "read by the second");
  // Sixteen at once, of which seven have room, whoever takes them.
  const many = await Promise.all(Array.from({ length: 16 }, (_, i) =>
    raw(i % 2 ? a : b, "PUT", path(tenant, `k${i}`), { bytes: Buffer.alloc(MIB, "k") }).catch(() => ({ status: 507 }))));
  const made = many.filter((one) => one.status === 201).length;
  ok(made >= 1 && made <= 7, `${made} were taken`);
  for (const one of many) ok([201, 507].includes(one.status), `the answer is ${one.status}`);
  equal((await a.request("GET", `/tenant/${tenant}/bucket`)).json.total, made + 1, "objects");
  equal(Number(await place.sql("select size_bytes from bucket_usage")), (made + 1) * MIB, "what they come to");
  // Of two that put the same key, one is there, whole.
  await Promise.all([raw(a, "PUT", path(tenant, "x"), { bytes: Buffer.alloc(MIB, "b") }), raw(b, "PUT", path(tenant, "x"), { bytes: Buffer.alloc(MIB, "c") })]);
  const last = (await raw(a, "GET", path(tenant, "x"))).bytes;
  ok(last.equals(Buffer.alloc(MIB, "b")) || last.equals(Buffer.alloc(MIB, "c")), "its bytes");
});
