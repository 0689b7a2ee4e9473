// git_wire.test.mjs - git itself, and a second client, fetch from the repositories of agents and push to them: what is taken, what is
// refused, and that a repository is whole after whatever was sent.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import net from "node:net";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { becomes, command, equal, here, match, ok, test, testBoth } from "./harness.mjs";
import { agentOf, audits, children, commit, git, good, house, keyOf, pushed, refOf, repository, whole } from "./git_stage.mjs";

const require = createRequire(join(here, "git/package.json"));
const pkt = (text) => (text.length + 4).toString(16).padStart(4, "0") + text;
const ZERO = "0".repeat(40);

testBoth("a repository is cloned, pushed to and fetched from", async (t, engine) => {
  const h = await house(t, engine);
  const empty = await git(h.work, ["clone", "-q", h.url(), "empty"]);
  equal(empty.status, 0, empty.stderr);
  const at = await pushed(h);
  equal(await audits(h), "1", "rows of the audit log");
  const meta = JSON.parse(await h.place.sql("select meta from audit_logs where action = 'repo.push'"));
  const tip = await good(at, ["rev-parse", "HEAD"]);
  equal(JSON.stringify(meta.refs), JSON.stringify([{ ref: "refs/heads/main", old: ZERO, new: tip }]), "what the log tells");
  equal(await h.place.sql("select count(*) from repositories where size_bytes > 0"), "1", "repositories that have grown");
  for (const version of ["0", "1", "2"]) {
    await good(h.work, ["-c", `protocol.version=${version}`, "clone", "-q", h.url(), `v${version}`]);
    equal(readFileSync(join(h.work, `v${version}`, "a.md"), "utf8"), "one\n", `what version ${version} cloned`);
  }
  const next = await commit(at, "a.md", "two\n");
  await good(at, ["tag", "v1"]);
  await good(at, ["push", "-q", "--atomic", "origin", "main", "v1", "main:refs/heads/side/x"]);
  equal(await refOf(h, "refs/tags/v1"), next, "the tag");
  for (const version of ["0", "2"]) {
    await good(join(h.work, "v2"), ["-c", `protocol.version=${version}`, "fetch", "-q", "--tags"]);
    equal(await good(join(h.work, "v2"), ["rev-parse", "origin/side/x"]), next, `what version ${version} fetched`);
  }
  await good(h.work, ["clone", "-q", "--depth=1", h.url(), "shallow"]);
  equal(await good(join(h.work, "shallow"), ["rev-list", "--count", "HEAD"]), "1", "commits of a shallow clone");
  await good(join(h.work, "shallow"), ["fetch", "-q", "--unshallow"]);
  await good(h.work, ["clone", "-q", "--filter=blob:none", h.url(), "partial"]);
  equal(readFileSync(join(h.work, "partial/a.md"), "utf8"), "two\n", "a file of a partial clone");
  await commit(join(h.work, "shallow"), "b.md", "from a shallow one\n");
  await good(join(h.work, "shallow"), ["push", "-q", "origin", "HEAD:refs/heads/from-shallow"]);
  equal(await audits(h), "3", "rows of the audit log");
  await whole(h);
});

test("a push moves nothing back, deletes nothing and moves no tag", async (t) => {
  const h = await house(t);
  const at = await pushed(h);
  const one = await good(at, ["rev-parse", "HEAD"]);
  await good(at, ["tag", "v1"]);
  await commit(at, "a.md", "two\n");
  await good(at, ["push", "-q", "origin", "main", "v1"]);
  const tip = await refOf(h, "refs/heads/main");
  const refuses = async (pattern, ...args) => {
    const end = await git(at, ["push", ...args]);
    equal(end.status, 1, `${args}: ${end.stderr}`);
    match(end.stderr, pattern, `${args}`);
    equal(await refOf(h, "refs/heads/main"), tip, "the branch");
    equal(await refOf(h, "refs/tags/v1"), one, "the tag");
    await whole(h);
  };
  await good(at, ["reset", "-q", "--hard", one]);
  await commit(at, "a.md", "other\n");
  await refuses(/remote rejected.*non-fast-forward/, "--force", "origin", "main");
  await refuses(/branches are not deleted by a push/, "origin", ":main");
  await refuses(/tags are not deleted by a push/, "origin", ":refs/tags/v1");
  await refuses(/a tag that is there is not moved/, "--force", "origin", "main:refs/tags/v1");
  await refuses(/only branches and tags may be pushed/, "origin", "main:refs/notes/x");
  await refuses(/new.*atomic/, "--force", "origin", "main:refs/heads/new", "main");
  equal(await refOf(h, "refs/heads/new"), "", "a branch beside one that would be moved back");
  await refuses(/another ref of the push is refused/, "--force", "origin", "main:refs/heads/new", "main:refs/meta/config");
  equal(await refOf(h, "refs/heads/new"), "", "a branch beside one that is refused");
  equal(await audits(h), "2", "rows of the audit log");
});

test("large bodies, chunked and compressed, arrive whole", async (t) => {
  const h = await house(t);
  const at = await pushed(h);
  writeFileSync(join(at, "large.bin"), randomBytes(5 << 20));
  await commit(at, "b.md", "x\n");
  await good(at, ["push", "-q", "origin", "main"]); // beyond http.postBuffer: a probe, then chunks
  await good(h.work, ["clone", "-q", h.url(), "again"]);
  ok(readFileSync(join(h.work, "again/large.bin")).equals(readFileSync(join(at, "large.bin"))), "the large file");
  // Many refs on both sides make the client's words long, so that git compresses them.
  const lines = Array.from({ length: 10_000 }, (_, i) => `create refs/heads/b${i} ${"HEAD"}\n`).join("");
  const tip = await refOf(h, "refs/heads/main");
  await good(h.repo.folder, ["update-ref", "--stdin"], { env: { GIT_DIR: h.repo.folder }, input: lines.replaceAll("HEAD", tip) });
  const started = Date.now();
  equal((await good(at, ["ls-remote", "origin"])).split("\n").length, 10_002, "refs");
  ok(Date.now() - started < 20_000, "a list of refs takes too long");
  await good(h.work, ["-c", "protocol.version=0", "clone", "-q", h.url(), "many"]);
  const body = gzipSync(`${pkt("command=ls-refs\n")}0001${pkt("ref-prefix refs/heads/main")}0000`);
  const answer = (bytes, headers = {}) => h.server.request("POST", "/git/demo/desk.git/git-upload-pack", { token: h.key, body: bytes,
    headers: { "Content-Type": "application/x-git-upload-pack-request", "Content-Encoding": "gzip", "Git-Protocol": "version=2", ...headers } });
  const reply = await answer(body);
  equal(reply.status, 200, reply.text);
  match(reply.text, new RegExp(`^003d${tip} refs/heads/main\n0000$`), "what a compressed request is answered");
  equal((await answer(body.subarray(0, -12))).status, 400, "a compressed body that breaks off");
  equal((await answer(Buffer.concat([body, body]))).status, 400, "more than a compressed body");
  equal((await answer(Buffer.from("plain"))).status, 400, "a body that is not compressed");
  equal((await answer(body, { "Content-Encoding": "br" })).status, 415, "another coding");
  equal((await answer(gzipSync(Buffer.alloc(64 << 20)))).status, 413, "a bomb");
  await whole(h);
});

test("who has no word is asked for one, and others' repositories are not there", async (t) => {
  const h = await house(t);
  await pushed(h);
  const path = "/git/demo/desk.git/info/refs?service=git-upload-pack";
  const ask = (way, token, headers = {}) => h.server.request("GET", way, { token, headers });
  const none = await ask(path, null);
  equal(none.status, 401, none.text);
  equal(none.headers["www-authenticate"], "Basic realm=\"lodge\", charset=\"UTF-8\"", "the challenge");
  equal((await ask("/git/nowhere/nobody.git/info/refs?service=git-upload-pack", null)).status, 401, "of nothing");
  equal((await ask(path, null, { Authorization: "Basic !!" })).status, 401, "no pair");
  equal((await ask(path, null, { Cookie: `lodge_session=${h.server.token}` })).status, 401, "a cookie");
  const basic = (secret) => ({ Authorization: `Basic ${Buffer.from(`any:${secret}`).toString("base64")}` });
  const granted = await ask(path, null, basic(h.server.token));
  equal(granted.status, 200, "a login token as the password");
  equal(granted.headers["content-type"], "application/x-git-upload-pack-advertisement", "the type");
  equal(granted.headers["cache-control"], "no-cache", "Cache-Control");
  match(granted.text, /^001e# service=git-upload-pack\n0000/, "the first lines");
  for (const way of ["/git/demo/desk.git/HEAD", "/git/demo/desk.git/objects/info/packs", "/git/demo/desk.git/config", "/git/demo/desk.git",
    "/git/demo/desk/info/refs?service=git-upload-pack", "/git/demo/desk.image.git/info/refs?service=git-upload-pack",
    "/git/demo/desk.x.git/info/refs?service=git-upload-pack", "/git/demo/nobody.git/info/refs?service=git-upload-pack",
    "/git/demo/desk.git/info/refs", "/git/demo/desk.git/info/refs?service=git-upload-archive", "/git/demo/..%2fdesk.git/info/refs?service=git-upload-pack"])
    equal((await ask(way, h.key)).status, 404, way);
  const reader = await keyOf(h.server, h.tenant, ["agent:read", "tenant:read"]);
  equal((await ask(path, reader)).status, 200, "a key that reads");
  equal((await ask(path.replace("upload", "receive"), reader)).status, 403, "and would push");
  const at = join(h.work, "reader");
  await good(h.work, ["clone", "-q", h.url(reader), "reader"]);
  await commit(at, "c.md", "c\n");
  const refused = await git(at, ["push", "origin", "main"]);
  equal(refused.status, 128, refused.stderr);
  match(refused.stderr, /agent:write|403/, "what a reader is told");
  const other = await h.server.request("POST", "/tenants", { body: { name: "Other", slug: "other", plan_id: await h.place.sql("select id from plans limit 1") } });
  equal(other.status, 201, other.text);
  await repository(h.place, other.json.id, await agentOf(h.server, other.json.id, "desk"));
  equal((await ask(path.replace("demo", "other"), h.key)).status, 404, "another tenant's, by a key");
  equal((await git(h.work, ["clone", h.url(h.key, "other/desk.git"), "theirs"])).status, 128, "its clone");
  await whole(h);
});

test("hostile packs are refused and leave nothing", async (t) => {
  const h = await house(t, "sqlite", { flags: ["--repo-max-bytes", "2m"] });
  const at = await pushed(h);
  const tip = await refOf(h, "refs/heads/main");
  const refuses = async (pattern, ...args) => {
    const end = await git(at, ["push", "origin", ...args]);
    ok(end.status !== 0, `${args} was taken`);
    match(end.stderr, pattern, `${args}`);
    equal(await refOf(h, "refs/heads/main"), tip, "the branch");
    equal(await refOf(h, "refs/heads/bad"), "", "the new branch");
    await whole(h);
    await h.server.healthy();
  };
  const blob = await good(at, ["hash-object", "-w", "--stdin"], { input: "[core]\n" });
  const tree = async (line) => {
    const made = await good(at, ["mktree", "--missing"], { input: line });
    return good(at, ["commit-tree", "-m", "bad", made]);
  };
  const inside = await good(at, ["mktree"], { input: `100644 blob ${blob}\tconfig\n` });
  await refuses(/hasDotgit|unpack/, `${await tree(`040000 tree ${inside}\t.git\n`)}:refs/heads/bad`);
  await refuses(/gitmodules|unpack/, `${await tree(`120000 blob ${blob}\t.gitmodules\n`)}:refs/heads/bad`);
  writeFileSync(join(at, "large.bin"), randomBytes(3 << 20));
  await commit(at, "d.md", "large\n");
  await refuses(/maximum allowed size|unpack|413|507/, "main:bad");
  await good(at, ["reset", "-q", "--hard", tip]);
  // What is no pack at all, and heads that git does not write.
  const push = (body, headers = {}) => h.server.request("POST", "/git/demo/desk.git/git-receive-pack",
    { token: h.key, body, headers: { "Content-Type": "application/x-git-receive-pack-request", ...headers } });
  const make = (ref, id = tip) => pkt(`${ZERO} ${id} ${ref}\0 report-status\n`);
  match((await push(`${make("refs/heads/bad", "1".repeat(40))}0000PACK nonsense`)).text, /unpack (?!ok)/, "no pack");
  equal((await push(make("refs/heads/bad"))).status, 400, "a head that breaks off");
  equal((await push("hello")).status, 422, "no line");
  equal((await push(`${pkt(`${"0".repeat(64)} ${"1".repeat(64)} refs/heads/bad\0 object-format=sha256`)}0000`)).status, 422, "sha256");
  equal((await push(`${make("refs/heads/bad").repeat(1)}0000`, { "Content-Type": "text/plain" })).status, 415, "another type");
  match((await push(`${make("refs/heads/../../hooks/post-update")}0000`)).text, /ng refs\/heads\/\.\.\/\.\.\/hooks\/post-update/, "a path");
  equal((await push("0000")).status, 200, "a client that asks whether it may");
  await whole(h);
  equal(await audits(h), "1", "rows of the audit log");
  await h.place.sql("update repositories set size_bytes = 100000000");
  await commit(at, "e.md", "no room\n");
  match((await git(at, ["push", "origin", "main"])).stderr, /507/, "a push without room");
});

test("a hook that lies in a repository does not run", async (t) => {
  const h = await house(t);
  const proof = join(h.work, "ran");
  for (const name of ["pre-receive", "update", "post-receive", "post-update", "reference-transaction"])
    writeFileSync(join(h.repo.folder, "hooks", name), `#!/bin/sh\ntouch ${proof}\n`, { mode: 0o755 });
  await pushed(h);
  let ran = true;
  try {
    readFileSync(proof);
  } catch {
    ran = false;
  }
  ok(!ran, "a hook ran");
});

/** A request for all of a repository whose answer is not read. */
async function slow(h) {
  const tip = await refOf(h, "refs/heads/main");
  const body = `${pkt("command=fetch")}0001${pkt(`want ${tip}\n`)}${pkt("done\n")}0000`;
  const socket = net.connect(h.server.port, "127.0.0.1");
  socket.on("error", () => {});
  await new Promise((done) => socket.once("connect", done));
  socket.write(`POST /git/demo/desk.git/git-upload-pack HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${h.key}\r\nGit-Protocol: version=2\r\n` +
    `Content-Type: application/x-git-upload-pack-request\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  await new Promise((done) => socket.once("data", done));
  socket.pause();
  return socket;
}

test("clients that go, programs that are killed and a service that stops leave nothing behind", async (t) => {
  const h = await house(t, "sqlite", { flags: ["--stop-grace", "1s"] });
  const at = await pushed(h);
  writeFileSync(join(at, "large.bin"), randomBytes(30 << 20));
  await commit(at, "b.md", "x\n");
  await good(at, ["push", "-q", "origin", "main"]);
  let socket = await slow(h);
  equal(children(h.server).length, 1, "programs under way");
  socket.destroy();
  await whole(h);
  socket = await slow(h);
  socket.end(); // says no more, and reads on
  socket.resume();
  await new Promise((done) => socket.once("close", done));
  ok(socket.bytesRead > 30 << 20, `only ${socket.bytesRead} bytes came`);
  await whole(h);
  socket = await slow(h);
  children(h.server).forEach((pid) => process.kill(pid, "SIGKILL"));
  const rest = new Promise((done) => socket.once("close", done));
  socket.resume();
  await rest; // broken off, and not as if it were whole
  await whole(h);
  // As many as there may be of one tenant, and then more.
  const held = [];
  for (let i = 0; i < 3; i++) held.push(await slow(h));
  const more = [];
  for (let i = 0; i < 12; i++) more.push(h.server.request("GET", "/git/demo/desk.git/info/refs?service=git-upload-pack", { token: h.key, agent: new http.Agent() }));
  const refused = await Promise.race(more);
  equal(refused.status, 503, "one too many");
  ok(Number(refused.headers["retry-after"]) > 0, "Retry-After");
  held.forEach((one) => one.destroy());
  const statuses = (await Promise.all(more)).map((one) => one.status);
  ok(statuses.includes(200), "those who waited are answered");
  await whole(h);
  await slow(h);
  equal(await h.server.stop("SIGTERM", 30_000), 0, "the end of the service");
  await becomes(() => children(h.server).length, 0, "programs that outlive the service");
});

test("isomorphic-git clones and pushes", async (t) => {
  const h = await house(t);
  await pushed(h);
  const fs = require("node:fs");
  const iso = require("isomorphic-git");
  const transport = require("isomorphic-git/http/node");
  const dir = join(h.work, "iso");
  const onAuth = () => ({ username: "jo", password: h.key });
  const url = h.url().replace(/\/\/.*@/, "//");
  await iso.clone({ fs, http: transport, dir, url, onAuth });
  equal(readFileSync(join(dir, "a.md"), "utf8"), "one\n", "what was cloned");
  writeFileSync(join(dir, "i.md"), "iso\n");
  await iso.add({ fs, dir, filepath: "i.md" });
  const oid = await iso.commit({ fs, dir, message: "iso", author: { name: "Jo", email: "jo@example.net" } });
  const result = await iso.push({ fs, http: transport, dir, remote: "origin", ref: "main", onAuth });
  ok(result.ok, JSON.stringify(result));
  equal(await refOf(h, "refs/heads/main"), oid, "the branch");
  let refused = "";
  await iso.push({ fs, http: transport, dir, remote: "origin", ref: "main", remoteRef: "refs/meta/x", onAuth }).catch((err) => (refused = String(err)));
  match(refused, /refs\/meta\/x|only branches/, "what it says of a refusal");
  rmSync(dir, { recursive: true });
  await whole(h);
});

test("a program by libgit2 clones and pushes", async (t) => {
  const h = await house(t);
  await pushed(h);
  const program = join(h.work, "third");
  const built = await command("cc", ["-o", program, join(here, "git/third.c"), "-lgit2"], { env: { PATH: process.env.PATH } });
  equal(built.status, 0, built.stderr);
  const third = (folder, key, ref) => command(program, [h.url().replace(/\/\/.*@/, "//"), join(h.work, folder), key, ref], { env: { HOME: "/nonexistent" } });
  const end = await third("one", h.key, "refs/heads/main");
  equal(end.status, 0, end.stderr);
  equal(readFileSync(join(h.work, "one/a.md"), "utf8"), "one\n", "what was cloned");
  equal(await refOf(h, "refs/heads/main"), end.stdout.trim(), "the branch");
  match((await third("two", h.key, "refs/meta/x")).stdout, /refused refs\/meta\/x: only branches and tags/, "what it hears of a refusal");
  const reader = await keyOf(h.server, h.tenant, ["agent:read"]);
  const read = await third("three", reader, "refs/heads/main");
  equal(read.status, 1, "a push with a key that only reads");
  match(read.stderr, /^push: /, "where that ended");
  await whole(h);
});
