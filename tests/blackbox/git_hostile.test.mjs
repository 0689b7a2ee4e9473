// git_hostile.test.mjs - what nobody means well by: packs that grow, trees and names that git does not write, clients that say half of
// it, programs and services that are killed in the middle, a disk without room.  After each the repository is whole, nothing runs
// that should not, and whoever behaves is served.
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync, gzipSync } from "node:zlib";
import { becomes, command, equal, isRoot, match, ok, pause, short, test, testBoth, until } from "./harness.mjs";
import { children, commit, git, good, house, keyOf, pushed, refOf, whole } from "./git_stage.mjs";
import { Raw } from "./raw.mjs";

const pkt = (text) => (Buffer.byteLength(text) + 4).toString(16).padStart(4, "0") + text;
const ZERO = "0".repeat(40);
const COMMIT = 1, TREE = 2, BLOB = 3, REF_DELTA = 7;

/** One object of a pack: its head says `size`, whatever the bytes are. */
function packed(type, bytes, { size = bytes.length, base, raw } = {}) {
  const head = [];
  let rest = BigInt(size), byte = (type << 4) | Number(rest & 15n);
  for (rest >>= 4n; rest; rest >>= 7n) {
    head.push(byte | 0x80);
    byte = Number(rest & 0x7fn);
  }
  head.push(byte);
  return Buffer.concat([Buffer.from(head), base ? Buffer.from(base, "hex") : Buffer.alloc(0), raw ?? deflateSync(bytes)]);
}

function pack(objects, count = objects.length) {
  const head = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  head.writeUInt32BE(count, 8);
  const all = Buffer.concat([head, ...objects]);
  return Buffer.concat([all, createHash("sha1").update(all).digest()]);
}

const idOf = (kind, bytes) => createHash("sha1").update(`${kind} ${bytes.length}\0`).update(bytes).digest("hex");
const varint = (n) => {
  const out = [];
  for (; n > 127; n = Math.floor(n / 128)) out.push((n % 128) | 128);
  return Buffer.from([...out, n]);
};
const POST = { "Content-Type": "application/x-git-receive-pack-request" };
const PATH = "/git/demo/desk.git";
const pushOf = (id, bytes, ref = "refs/heads/bad", old = ZERO) =>
  Buffer.concat([Buffer.from(`${pkt(`${old} ${id} ${ref}\0 report-status\n`)}0000`), bytes]);
const push = (h, body, headers = {}) => h.server.request("POST", `${PATH}/git-receive-pack`, { token: h.key, body, headers: { ...POST, ...headers } });
const resident = (h) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${h.server.child.pid}/status`, "utf8"))[1]) >> 10;

test("packs that grow, lie and break off, trees and names that git does not write", async (t) => {
  const h = await house(t);
  const at = await pushed(h);
  const tip = await refOf(h, "refs/heads/main");
  const before = resident(h);
  const refused = async (what, body) => {
    const reply = await push(h, body);
    ok(reply.status === 503 || reply.status === 400 || /unpack (?!ok)|ng refs/.test(reply.text), `${what}: ${reply.status} ${short(reply.text)}`);
    equal(await refOf(h, "refs/heads/bad"), "", what);
    await whole(h);
  };
  const small = Buffer.from("hello\n"), blob = idOf("blob", small);
  await refused("a blob that says it has a gigabyte", pushOf(blob, pack([packed(BLOB, small, { size: 2 ** 30 })])));
  await refused("a tree that says it has a terabyte", pushOf(blob, pack([packed(TREE, small, { size: 2 ** 40 })])));
  await refused("a blob that has more than it says", pushOf(blob, pack([packed(BLOB, Buffer.alloc(1 << 20), { size: 6 })])));
  await refused("a pack that promises more objects", pushOf(blob, pack([packed(BLOB, small)], 4_000_000_000)));
  await refused("bytes that are not compressed", pushOf(blob, pack([packed(BLOB, small, { raw: randomBytes(64) })])));
  await refused("a delta to what is not there", pushOf(blob, pack([packed(REF_DELTA, small, { base: "1".repeat(40) })])));
  await refused("a pack that breaks off", pushOf(blob, pack([packed(BLOB, small)]).subarray(0, -30)));
  await refused("a commit that is a blob", pushOf(blob, pack([packed(BLOB, small)])));
  // Some hundred bytes that come to four gigabytes: each delta is its base many times over.
  const copies = (size, times) => Buffer.concat([varint(size), varint(size * times), ...Array(times).fill(Buffer.from([0x80 | 0x70, size & 255, (size >> 8) & 255, (size >> 16) & 255]))]);
  const mega = Buffer.alloc(1 << 20, "x"), much = idOf("blob", Buffer.alloc(8 << 20, "x"));
  await refused("deltas that grow", pushOf(blob, pack([packed(BLOB, mega), packed(REF_DELTA, copies(1 << 20, 8), { base: idOf("blob", mega) }),
    packed(REF_DELTA, copies(8 << 20, 512), { base: much })])));
  // What is a valid object may be large: it is stored as small as it came, and nobody reads it whole.
  const wide = Buffer.alloc(24 << 20, " "), wideId = idOf("blob", wide);
  const tree = (entries) => Buffer.concat(entries.map(([mode, name, id]) => Buffer.concat([Buffer.from(`${mode} `), Buffer.from(name), Buffer.from([0]), Buffer.from(id, "hex")])));
  const committed = (treeId) => Buffer.from(`tree ${treeId}\nparent ${tip}\nauthor J <j@e> 1700000000 +0000\ncommitter J <j@e> 1700000000 +0000\n\nx\n`);
  const whole3 = (prompts, extra) => {
    const root = tree([["40000", "prompts", idOf("tree", prompts)]]), one = committed(idOf("tree", root));
    return [idOf("commit", one), pack([...extra, packed(TREE, prompts), packed(TREE, root), packed(COMMIT, one)])];
  };
  const [wideTip, widePack] = whole3(tree([["100644", "description_prompt.md", wideId]]), [packed(BLOB, wide)]);
  const agent = `/tenant/${h.tenant}/agents/${h.agent}`;
  equal((await h.server.request("PATCH", agent, { body: { description_prompt: "Ours." } })).status, 200, "the prompt");
  match((await push(h, pushOf(wideTip, widePack, "refs/heads/wide"))).text, /ok refs\/heads\/wide/, "a large file of spaces");
  equal((await h.server.request("GET", `${agent}/repo/file?ref=wide&path=prompts%2Fdescription_prompt.md`)).status, 413, "its bytes");
  // Links and modules where prompts are looked for.
  const link = Buffer.from("/etc/passwd"), linkId = idOf("blob", link);
  const [linkTip, linkPack] = whole3(tree([["120000", "description_prompt.md", linkId], ["160000", "initial_greeting.md", "3".repeat(40)]]), [packed(BLOB, link)]);
  match((await push(h, pushOf(linkTip, linkPack, "refs/heads/main", tip))).text, /ok refs\/heads\/main/, "links and modules");
  equal((await h.server.request("PATCH", `${agent}/repo`, { body: { projection: "auto" } })).status, 200, "the mode");
  await until(20_000, "the job", async () => (await h.server.request("GET", `${agent}/repo`)).json.tip === linkTip);
  equal((await h.server.request("GET", agent)).json.description_prompt, "Ours.", "the prompt beside a link");
  const told = (await h.server.request("GET", `${agent}/prompt-provenance`)).json.files;
  ok(!told[0].repo_present && !told[2].repo_present && !told[0].diverged, `what is told of links: ${JSON.stringify(told)}`);
  equal((await h.server.request("GET", `${agent}/repo/file?path=prompts%2Fdescription_prompt.md`)).status, 404, "a link is not followed");
  // Names that other systems take for .git, and paths that lead elsewhere.
  for (const name of [".GIT", "git~1", ".g\u200cit", "..", ".", ".git", "a/b"]) {
    const bad = tree([["100644", name, linkId]]), one = committed(idOf("tree", bad));
    await refused(`an entry ${JSON.stringify(name)}`, pushOf(idOf("commit", one), pack([packed(BLOB, link), packed(TREE, bad), packed(COMMIT, one)])));
  }
  const modules = Buffer.from('[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch /tmp/x\n');
  const bad = tree([["100644", ".gitmodules", idOf("blob", modules)]]), one = committed(idOf("tree", bad));
  await refused("a module with an option for an address", pushOf(idOf("commit", one), pack([packed(BLOB, modules), packed(TREE, bad), packed(COMMIT, one)])));
  // Names of refs.
  const odd = ["ä/ö", "emoji-\u{1f600}", "x".repeat(200), "refs/heads/x", "@-", "a%2fb", "$(id)", "a'b\"c"];
  await good(at, ["push", "-q", "origin", ...odd.map((name) => `main:refs/heads/${name}`)]);
  const refs = (await h.server.request("GET", `${agent}/repo/refs`)).json;
  for (const name of odd) ok(refs.branches.includes(name), `the branch ${name} is not listed: ${refs.branches}`);
  for (const name of ["HEAD", "a..b", "a.lock", "a//b", "-x", "a b", "a\x01b", "a~1", "@{x}", "x/.y", "a\\b", "y".repeat(251), "ä/ö/ü"]) {
    const reply = await push(h, pushOf(tip, pack([]), `refs/heads/${name}`));
    ok(reply.status === 422 || /ng refs|unpack (?!ok)/.test(reply.text), `${JSON.stringify(name)}: ${reply.status} ${short(reply.text)}`);
  }
  // Another kind of repository.
  await good(h.work, ["init", "-q", "--object-format=sha256", "--initial-branch=main", "new"]);
  await commit(join(h.work, "new"), "a.md", "x\n");
  ok((await git(join(h.work, "new"), ["push", h.url(), "main:bad"])).status !== 0, "a push with SHA-256 is taken");
  await whole(h);
  // Many refs.
  await good(h.repo.folder, ["update-ref", "--stdin"], { env: { GIT_DIR: h.repo.folder }, input: Array.from({ length: 10_000 }, (_, i) => `create refs/tags/t${i} ${tip}\n`).join("") });
  const many = (await h.server.request("GET", `${agent}/repo/refs`)).json;
  ok(many.complete && many.tags.length === 10_000, `${many.tags.length} tags are listed, complete ${many.complete}`);
  await whole(h);
  const grown = resident(h) - before;
  ok(grown < 250, `the service has grown by ${grown} MiB`); // what the sanitizer keeps back is up to 256
}, { ms: 120_000 });

test("clients that say it slowly, in crumbs, by half, or too much", async (t) => {
  const h = await house(t, "sqlite", { flags: ["--repo-max-bytes", "4m"] });
  const at = await pushed(h);
  writeFileSync(join(at, "large.bin"), randomBytes(1 << 20));
  const tip = await commit(at, "b.md", "x\n");
  await good(at, ["push", "-q", "origin", "main"]);
  const head = (path, more, key = h.key) => `${path.includes("info") ? "GET" : "POST"} ${PATH}/${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n` +
    `Git-Protocol: version=2\r\n${path.includes("receive-pack") ? "" : "Content-Type: application/x-git-upload-pack-request\r\n"}${more}\r\n`;
  const receive = "Content-Type: application/x-git-receive-pack-request\r\n";
  const fetch = `${pkt("command=fetch")}0001${pkt(`want ${tip}\n`)}${pkt("done\n")}0000`;
  const speak = async (...parts) => {
    const raw = new Raw(h.server.port);
    await raw.open();
    for (const part of parts) raw.send(part);
    return raw;
  };
  // Who shuts the writing side has all of the answer, however it is made.
  let raw = await speak(head("git-upload-pack", `Content-Length: ${fetch.length}\r\n`), fetch);
  raw.end();
  await raw.untilClosed(20_000);
  match(raw.bytes.toString("latin1"), /^HTTP\/1\.1 200 [^]*PACK[^]*\r\n0\r\n\r\n$/, "a fetch of one who has shut the writing side");
  ok(raw.bytes.length > 1 << 20, `only ${raw.bytes.length} bytes came`);
  raw = await speak(head("info/refs?service=git-upload-pack", ""));
  raw.end();
  await raw.untilClosed(20_000);
  match(raw.bytes.toString("latin1"), /^HTTP\/1\.1 200 [^]*version 2[^]*0000\r\n0\r\n\r\n$/, "what there is, to one who has shut the writing side");
  const body = pushOf(tip, pack([]), "refs/heads/half");
  raw = await speak(head("git-receive-pack", `${receive}Content-Length: ${body.length}\r\n`), body);
  raw.end();
  await raw.untilClosed(20_000);
  match(raw.bytes.toString("latin1"), /^HTTP\/1\.1 200 [^]*ok refs\/heads\/half/, "a push of one who has shut the writing side");
  // In crumbs, with extensions; slowly: nothing runs for it meanwhile.
  const crumbs = pushOf(tip, pack([]), "refs/heads/crumbs");
  raw = await speak(head("git-receive-pack", `${receive}Transfer-Encoding: chunked\r\n`));
  for (let i = 0, n = 1; i < crumbs.length; i += n, n = (n % 7) + 1) {
    const part = crumbs.subarray(i, i + n);
    raw.send(Buffer.concat([Buffer.from(`${part.length.toString(16).padStart(1 + (i % 3), "0")}${i % 2 ? ";x=y" : ""}\r\n`), part, Buffer.from("\r\n")]));
    if (i === 0) await pause(300);
    equal(children(h.server).length, 0, "programs that run for half a body");
  }
  raw.send("0\r\n\r\n");
  match((await raw.untilReplies(1))[0].body, /ok refs\/heads\/crumbs/, "a push in crumbs");
  raw.drop();
  // Who asks whether to go on is told so, or why not, before a byte of the body.
  raw = await speak(head("git-receive-pack", `${receive}Content-Length: ${body.length}\r\nExpect: 100-continue\r\n`));
  equal((await raw.untilReplies(1))[0].status, 100, "Expect: 100-continue");
  raw.send(pushOf(tip, pack([]), "refs/heads/hall"));
  match((await raw.untilReplies(2))[1].body, /ok refs\/heads\/hall/, "the push after it");
  raw.drop();
  for (const [key, status] of [[await keyOf(h.server, h.tenant, ["agent:read"]), 403], ["nobody", 401]]) {
    raw = await speak(head("git-receive-pack", `${receive}Content-Length: ${body.length}\r\nExpect: 100-continue\r\n`, key));
    equal((await raw.untilReplies(1))[0].status, status, `the key ${short(key)}`);
    raw.drop();
  }
  raw = await speak(head("git-receive-pack", `${receive}Content-Length: 99000000\r\nExpect: 100-continue\r\n`));
  match(String((await raw.untilReplies(1))[0].status), /413|507/, "a body that is too long");
  raw.drop();
  // Compressed: as it should be, and as a bomb.
  match((await push(h, gzipSync(pushOf(tip, pack([]), "refs/heads/gzip")), { "Content-Encoding": "gzip" })).text, /ok refs\/heads\/gzip/, "a compressed push");
  equal((await push(h, gzipSync(Buffer.concat([body, Buffer.alloc(64 << 20)])), { "Content-Encoding": "gzip" })).status, 413, "a compressed bomb");
  // Bodies that break off leave nothing.
  for (const end of ["end", "drop"]) {
    raw = await speak(head("git-receive-pack", `${receive}Content-Length: ${body.length + 10}\r\n`), body);
    await pause(50);
    raw[end]();
    if (end === "end") match((await raw.untilReplies(1))[0].body, /breaks off/, "half a body");
  }
  await whole(h);
  equal((await good(at, ["ls-remote", "origin"])).split("\n").length, 6, "refs: HEAD, main, half, crumbs, hall, gzip");
});

async function smallDisk(t, folder, size) {
  if (!isRoot) return false;
  mkdirSync(folder, { mode: 0o700, recursive: true });
  const { status } = await command("mount", ["-t", "tmpfs", "-o", `size=${size},mode=700`, "none", folder]);
  if (status === 0) t.onEnd(() => command("umount", ["-l", folder]));
  return status === 0;
}

test("programs that are killed, locks that are left, pushes during our own commits, a disk without room", async (t) => {
  const h = await house(t);
  const at = await pushed(h);
  const agent = `/tenant/${h.tenant}/agents/${h.agent}`;
  // All that a push began is killed while it works.
  writeFileSync(join(at, "large.bin"), randomBytes(8 << 20));
  const large = await commit(at, "b.md", "x\n");
  for (const signal of ["SIGKILL", "SIGTERM"]) {
    const tip = await refOf(h, "refs/heads/main");
    const pushing = git(at, ["push", "origin", `${large}:refs/heads/killed-${signal}`]);
    await until(20_000, "a program", () => children(h.server).length > 0 && readdirSync(join(h.repo.folder, "objects")).some((name) => /incoming|tmp_/.test(name)));
    for (const pid of children(h.server)) process.kill(-pid, signal);
    const end = await pushing;
    ok(end.status !== 0, `a push whose program was killed: ${end.stderr}`);
    equal(await refOf(h, "refs/heads/main"), tip, "the branch");
    equal(await refOf(h, `refs/heads/killed-${signal}`), "", "the new branch");
    await becomes(() => children(h.server).length, 0, "programs that still run");
    await command("sh", ["-c", `rm -rf ${h.repo.folder}/objects/tmp_objdir*`]); // of what was killed at once; gc removes it
  }
  await good(at, ["push", "-q", "origin", "main"]);
  await whole(h);
  // A lock that a killed program left keeps nobody out for good; one that is new does.
  const lock = join(h.repo.folder, "refs/heads/main.lock");
  writeFileSync(lock, "");
  await commit(at, "c.md", "x\n");
  match((await git(at, ["push", "origin", "main"])).stderr, /rejected/, "a push while the branch is locked");
  utimesSync(lock, new Date(), new Date(Date.now() - 20 * 60_000));
  await good(at, ["push", "-q", "origin", "main"]);
  // Ours and theirs at once: what was acknowledged is in the history.
  const ours = [], theirs = [];
  await Promise.all([
    (async () => {
      for (let i = 0; i < 5; i++) {
        equal((await h.server.request("PATCH", agent, { body: { description_prompt: `Ours ${i}.` } })).status, 200, "an edit");
        const reply = await h.server.request("POST", `${agent}/prompt-provenance/resolve`, { body: { file: "prompts/description_prompt.md", take: "live" } });
        ok(reply.status === 200 || reply.status === 409, reply.text);
        if (reply.status === 200) ours.push(`Ours ${i}.`);
      }
    })(),
    (async () => {
      for (let i = 0; i < 5; i++) {
        await good(at, ["fetch", "-q", "origin"]);
        await good(at, ["reset", "-q", "--hard", "origin/main"]);
        const made = await commit(at, "theirs.md", `${i}\n`);
        if ((await git(at, ["push", "-q", "origin", "main"])).status === 0) theirs.push(made);
      }
    })(),
  ]);
  ok(ours.length && theirs.length, `${ours.length} of ours and ${theirs.length} of theirs`);
  const all = await good(h.repo.folder, ["log", "-p", "--format=%H", "main"], { env: { GIT_DIR: h.repo.folder } });
  for (const one of [...ours, ...theirs]) ok(all.includes(one), `${one} was acknowledged and is not in the history`);
  await whole(h);
  // No room: refused, nothing half there, and with room again all is well.
  const tip = await refOf(h, "refs/heads/main");
  const kept = join(t.folder(), "kept");
  await command("cp", ["-a", h.repo.folder, kept]);
  if (!(await smallDisk(t, h.repo.folder, "17m"))) return console.log("note: nothing can be mounted here: a full disk is not tested");
  await command("cp", ["-a", `${kept}/.`, h.repo.folder]);
  await good(at, ["fetch", "-q", "origin"]);
  await good(at, ["reset", "-q", "--hard", "origin/main"]);
  writeFileSync(join(at, "more.bin"), randomBytes(10 << 20));
  await commit(at, "d.md", "x\n");
  ok((await git(at, ["push", "origin", "main"])).status !== 0, "a push for which there is no room");
  equal(await refOf(h, "refs/heads/main"), tip, "the branch");
  await whole(h);
  equal((await command("mount", ["-o", "remount,size=60m", h.repo.folder])).status, 0, "remounting");
  await good(at, ["push", "-q", "origin", "main"]);
  await whole(h);
}, { ms: 120_000 });

// ---- the service dies ----

const KILLS = Math.ceil(Number(process.env.LODGE_KILLS ?? 12) / 6);

/** One more process over the place, with everything whole after the last one's death. */
async function again(t, h, options = {}) {
  h.server = options.env ? t.launch(h.place, options) : await t.serve(h.place, options);
  if (options.env) await h.server.up().catch(() => {});
  h.server.token = h.token;
  return h.server;
}

/** Programs that work on the repository, whoever began them. */
const orphans = (h) => readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter((pid) => {
  try {
    return /(upload|receive|index|unpack)-/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8")) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(h.repo.folder);
  } catch {
    return false;
  }
});

async function stands(h, acked, what) {
  await becomes(() => orphans(h).length, 0, "programs that outlive the service");
  await command("sh", ["-c", `rm -rf ${h.repo.folder}/objects/tmp_objdir* ${h.repo.folder}/objects/tmp_obj*`]); // gc removes them
  await whole(h);
  const all = await good(h.repo.folder, ["log", "-p", "--format=%H", "--all"], { env: { GIT_DIR: h.repo.folder } });
  for (const one of acked) ok(all.includes(one), `${what}: ${one} was acknowledged and is not there`);
}

testBoth("a service that dies in the middle of pushes, commits, resolutions and convergences", async (t, engine) => {
  const h = await house(t, engine);
  const agent = `/tenant/${h.tenant}/agents/${h.agent}`;
  const at = await pushed(h);
  h.token = h.server.token;
  equal((await h.server.request("PATCH", `${agent}/repo`, { body: { projection: "auto" } })).status, 200, "the mode");
  const acked = [];
  let serial = 0;
  await h.server.kill();
  for (let i = 0; i < KILLS; i++) {
    // At its nth commit, which is that of a push, a resolution or the job; or at any moment.
    const order = i % 3 === 2 ? null : `commit:${12 + 3 * i}:${i % 2 ? "after" : "before"}`;
    await again(t, h, order ? { env: { LODGE_FAULT: order } } : {});
    if (!order) setTimeout(() => h.server.signal("SIGKILL"), 400 + 150 * i);
    const quiet = async (doing) => {
      while (!h.server.ended)
        try {
          await doing();
        } catch (err) {
          if (!err.code && !/socket|hang up|aborted|ended/.test(err.message)) throw err;
          await pause(5);
        }
    };
    await Promise.all([
      quiet(async () => {
        const url = h.url().replace(/:\d+\/git/, `:${h.server.port}/git`);
        await git(at, ["fetch", "-q", url, "main"]);
        await git(at, ["reset", "-q", "--hard", "FETCH_HEAD"]);
        mkdirSync(join(at, "prompts"), { recursive: true });
        const made = await commit(at, "prompts/description_prompt.md", `Pushed ${++serial}.\n`);
        if ((await git(at, ["push", "-q", url, "main"])).status === 0) acked.push(made);
      }),
      quiet(async () => {
        const text = `Ours ${++serial}.`;
        await h.server.request("PATCH", agent, { body: { description_prompt: text } });
        const reply = await h.server.request("POST", `${agent}/prompt-provenance/resolve`, { body: { file: "prompts/description_prompt.md", take: "live" } });
        if (reply.status === 200) acked.push(text);
      }),
    ]);
    equal((await h.server.over).signal, "SIGKILL", "the end");
    await stands(h, acked, order ?? "at any moment");
  }
  ok(acked.length > 0, "nothing was ever acknowledged");
  // With the next process all of it comes to rest: the job that was under way is done, and both sides can be told apart.
  const server = await again(t, h);
  for (const name of readdirSync(join(h.repo.folder, "refs/heads")).filter((one) => one.endsWith(".lock")))
    utimesSync(join(h.repo.folder, "refs/heads", name), new Date(), new Date(Date.now() - 20 * 60_000));
  await until(60_000, "the jobs", async () => (await h.place.sql("select count(*) from jobs where kind = 'repo.converge'")) === "0");
  const one = (await server.request("GET", `${agent}/prompt-provenance`)).json;
  ok(one.available && !(one.files[0].diverged && one.files[0].pending_projection), JSON.stringify(one.files[0]));
  const reply = await server.request("POST", `${agent}/prompt-provenance/resolve`, { body: { file: "prompts/description_prompt.md", take: "live" } });
  equal(reply.status, 200, reply.text);
  const live = (await server.request("GET", agent)).json.description_prompt;
  equal(await good(h.repo.folder, ["show", "main:prompts/description_prompt.md"], { env: { GIT_DIR: h.repo.folder } }), live, "both sides");
  await stands(h, acked, "in the end");
}, { ms: 60_000 + KILLS * 20_000 });
