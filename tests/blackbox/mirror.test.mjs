// mirror.test.mjs - repositories of agents that lie on another host, which is git itself behind a server of ours: bound, mirrored,
// followed, written to; and a host that is away, slow, wrong or hostile.
import { createHmac } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { equal, match, ok, test, testBoth, until } from "./harness.mjs";
import { bare, gitHost } from "./git_host.mjs";
import { agentOf, children, git, keyOf } from "./git_stage.mjs";

const FLAGS = ["--no-access-log", "--allow-private-addresses=true", "--job-lease=2s"];

/** A service with an agent, and a host with one repository. */
async function stage(t, engine, { flags = FLAGS, files = { "prompts/description_prompt.md": "From the host.\n" } } = {}) {
  const folder = t.folder();
  const repo = bare(folder, "team.git", files);
  const host = await gitHost(t, folder);
  const place = await t.place(engine);
  const server = await t.serve(place, { flags });
  const tenant = await server.enter();
  const agent = `/tenant/${tenant}/agents/${await agentOf(server, tenant, "desk")}`;
  const s = { t, folder, repo, host, place, server, tenant, agent };
  s.ask = (method, path, body) => s.server.request(method, `${agent}${path}`, body ? { body } : {});
  s.bind = (body = {}) => s.ask("PATCH", "/repo", { url: host.url("team.git"), token: "s3cret", ...body });
  s.state = async () => (await s.ask("GET", "/repo")).json;
  return s;
}

const mirrored = (s, tip) => until(20000, "the mirror", async () => (await s.state()).tip === tip);
const mirrorsOf = (s) => readdirSync(join(s.place.data, "repositories")).filter((name) => name.endsWith(".git")).map((name) => join(s.place.data, "repositories", name));

async function whole(s) {
  for (const at of mirrorsOf(s)) {
    const fsck = await git(at, ["fsck", "--full"], { env: { GIT_DIR: at } });
    equal(fsck.status, 0, `git fsck: ${fsck.stderr}`);
  }
  await until(10000, "no program that still runs", async () => children(s.server).length === 0);
}

async function hook(s) {
  const { json, status } = await s.ask("POST", "/repo/push-hook");
  equal(status, 201, "the hook");
  return { path: new URL(json.url).pathname, secret: json.secret };
}

const tell = (s, at, headers, body = '{"ref":"refs/heads/main"}') =>
  s.server.request("POST", at.path, { body, headers: { "content-type": "application/json", ...headers }, token: null });

testBoth("a repository of another host is bound, mirrored, followed and written to", async (t, engine) => {
  const s = await stage(t, engine);
  equal((await s.ask("POST", "/repo")).status, 201, "one of our own first");
  const bound = await s.bind({ projection: "auto" });
  equal(bound.status, 200, bound.text);
  equal(bound.json.repo_url, s.host.url("team.git"), "where it is");
  await mirrored(s, s.repo.git(["rev-parse", "main"]));
  await until(20000, "the prompt", async () => (await s.server.request("GET", s.agent)).json.description_prompt === "From the host.");
  const state = await s.state();
  equal(state.host, "git", "the host");
  ok(state.has_token && state.next_attempt_at && !JSON.stringify(state).includes("s3cret"), "the token is told to nobody");
  equal(Number(await s.place.sql("select count(*) from repositories where sealed like '%s3cret%'")), 0, "nor is it in the store");
  // Files, refs and the pin are the mirror's.
  s.host.asked.length = 0;
  const file = await s.ask("GET", "/repo/file?path=prompts%2Fdescription_prompt.md");
  equal(file.text, "From the host.\n", "a file");
  equal((await s.ask("GET", "/repo/refs")).text.trim(), '{"branches":["main"],"tags":[],"complete":true}', "the refs");
  equal((await s.ask("PATCH", "/code-ref", { code_ref: "main" })).status, 200, "a pin");
  equal((await s.ask("PATCH", "/code-ref", { code_ref: "none" })).status, 422, "a pin that is none");
  equal(s.host.asked.length, 0, "requests to the host");
  // Git itself goes to the host.
  const key = await keyOf(s.server, s.tenant);
  const clone = await git(t.folder(), ["clone", "-q", `http://jo:${key}@127.0.0.1:${s.server.port}/git/demo/desk.git`]);
  match(clone.stderr, /not found|another host/, "a clone from here");
  // The host tells of a push, in the ways of three of them; a repeat is harmless, a wrong secret nothing.
  const at = await hook(s), body = '{"ref":"refs/heads/main"}';
  const sign = createHmac("sha256", at.secret).update(body).digest("hex");
  equal((await tell(s, at, { "x-gitlab-token": "wrong" })).status, 401, "a wrong token");
  equal((await tell(s, at, {})).status, 401, "none");
  equal((await tell(s, at, { "x-hub-signature-256": `sha256=${sign}` }, `${body} `)).status, 401, "another body");
  equal((await tell(s, { path: at.path.slice(0, -1) + (at.path.endsWith("x") ? "y" : "x") }, { "x-gitlab-token": at.secret })).status, 401, "another address");
  let tip = s.repo.put("prompts/description_prompt.md", "Moved.\n");
  equal((await tell(s, at, { "x-gitlab-token": at.secret })).status, 204, "GitLab");
  await mirrored(s, tip);
  await until(20000, "the prompt that was pushed", async () => (await s.server.request("GET", s.agent)).json.description_prompt === "Moved.");
  s.repo.git(["tag", "v1", "main"]);
  equal((await tell(s, at, { "x-hub-signature-256": `sha256=${sign}` }, body)).status, 204, "GitHub");
  equal((await tell(s, at, { "x-gitea-signature": sign }, body)).status, 204, "Gitea");
  await until(20000, "the tag", async () => (await s.ask("GET", "/repo/refs")).json.tags[0] === "v1");
  // The live text goes there, unless the branch has moved.
  equal((await s.server.request("PATCH", s.agent, { body: { description_prompt: "Ours." } })).status, 200, "an edit");
  const live = await s.ask("POST", "/prompt-provenance/resolve", { file: "prompts/description_prompt.md", take: "live" });
  equal(live.status, 200, live.text);
  equal(s.repo.git(["show", "main:prompts/description_prompt.md"]), "Ours.", "what the host has");
  equal(s.repo.git(["log", "-1", "--format=%ae"]), "desk@lodge.internal", "who committed it");
  await s.server.request("PATCH", s.agent, { body: { description_prompt: "Ours again." } });
  tip = s.repo.put("other.md", "x\n");
  equal((await s.ask("POST", "/prompt-provenance/resolve", { file: "prompts/description_prompt.md", take: "live" })).status, 409, "a branch that has moved");
  equal(s.repo.git(["rev-parse", "main"]), tip, "which stands");
  s.host.readOnly = true;
  await tell(s, at, { "x-gitlab-token": at.secret });
  await mirrored(s, tip);
  const refused = await s.ask("POST", "/prompt-provenance/resolve", { file: "prompts/description_prompt.md", take: "live" });
  equal(refused.status, 502, refused.text);
  match(refused.json.detail, /token/, "why");
  await whole(s);
  equal((await s.ask("DELETE", "/repo")).status, 200, "letting go");
  equal(Number(await s.place.sql("select count(*) from repositories")), 0, "the row and its token");
  await s.server.stop();
}, { ms: 120_000 });

test("what is wrong with a host is told to whoever binds it", async (t) => {
  const s = await stage(t, "sqlite");
  const refused = async (body, status, pattern) => {
    const got = await s.bind(body);
    equal(got.status, status, `${JSON.stringify(body)}: ${got.text}`);
    match(got.text, pattern, JSON.stringify(body));
  };
  await refused({ token: "wrong" }, 422, /token/);
  await refused({ token: null }, 422, /token/);
  await refused({ url: s.host.url("none.git") }, 422, /missing/);
  await refused({ url: "ssh://git@example.org/x.git" }, 422, /https/);
  await refused({ url: "http://jo:pw@127.0.0.1/x.git" }, 422, /user or a password/);
  await refused({ url: "http://127.0.0.1:1/x.git" }, 502, /reached/);
  await refused({ token: "s3\u00e9" }, 422, /ASCII/);
  s.host.fault = (request, response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<html>");
  await refused({}, 502, /read/);
  s.host.fault = (request, response) => response.writeHead(302, { Location: `http://localhost:${s.host.port}${request.url}` }).end();
  await refused({}, 422, /another/);
  s.host.fault = (request, response) => response.writeHead(429, { "Retry-After": "7" }).end();
  await refused({}, 502, /7 seconds/);
  s.host.fault = null;
  equal((await s.ask("GET", "/repo")).status, 404, "nothing was bound");
  equal((await s.ask("PATCH", "/repo", { projection: "auto" })).status, 404, "nothing to follow");
  equal(mirrorsOf(s).length, 0, "and no folder is left");
  // A token is kept for its host alone.
  equal((await s.bind()).status, 200, "bound");
  const other = await gitHost(t, s.folder);
  const moved = await s.ask("PATCH", "/repo", { url: other.url("team.git") });
  equal(moved.status, 422, moved.text);
  equal((await s.ask("PATCH", "/repo", { token: "wrong" })).status, 422, "a wrong token for what is bound");
  equal((await s.ask("PATCH", "/repo", { url: `${s.host.url("team.git")}/` })).status, 200, "the same host");
  // One that is right again has it looked at at once, however often the former one failed.
  await until(20000, "the first look", async () => (await s.state()).next_attempt_at !== null);
  const micros = Date.now() * 1000;
  await s.place.sql(`update repositories set last_error = 'x', failures = 9, updated_at = ${micros}, next_attempt_at = ${micros + 3_600_000_000}`);
  equal((await s.ask("PATCH", "/repo", { token: "s3cret" })).status, 200, "a token that is right");
  equal((await s.state()).last_error, null, "what was wrong before");
  await until(20000, "a look", async () => Date.parse((await s.state()).observed_at) * 1000 > micros);
  await s.server.stop();
  // Private places are not called unless the settings say so.
  const strict = await t.serve(s.place, { flags: ["--no-access-log"] });
  await strict.enter();
  const closed = await strict.request("PATCH", `${s.agent}/repo`, { body: { url: s.host.url("team.git"), token: "s3cret" } });
  equal(closed.status, 422, closed.text);
  const named = await strict.request("PATCH", `${s.agent}/repo`, { body: { url: "https://localhost/team.git" } });
  equal(named.status, 422, named.text);
  await strict.stop();
});

testBoth("a copy is made of a repository elsewhere, and nothing of one that is too large", async (t, engine) => {
  const s = await stage(t, engine, { flags: [...FLAGS, "--repo-max-bytes=2m"], files: {} });
  const old = bare(s.folder, "old.git", { "prompts/description_prompt.md": "Old and good.\n", "a.md": "1\n" }, "trunk");
  old.git(["tag", "v1", "trunk"]);
  const got = await s.ask("POST", "/repo", { import_url: s.host.url("old.git"), token: "jo:s3cret", projection: "auto" });
  equal(got.status, 201, got.text);
  await until(20000, "the prompt of the copy", async () => (await s.server.request("GET", s.agent)).json.description_prompt === "Old and good.");
  equal((await s.ask("GET", "/repo/refs")).text.trim(), '{"branches":["main","trunk"],"tags":["v1"],"complete":true}', "the refs");
  equal((await s.state()).host, "embedded", "it is ours");
  const key = await keyOf(s.server, s.tenant), work = t.folder();
  equal((await git(work, ["clone", "-q", `http://jo:${key}@127.0.0.1:${s.server.port}/git/demo/desk.git`, "c"])).status, 0, "a clone of it");
  equal((await git(join(work, "c"), ["log", "--format=%s"])).stdout, "Change a.md\nChange prompts/description_prompt.md\n", "its history");
  await whole(s);
  const second = await agentOf(s.server, s.tenant, "second"), at = `/tenant/${s.tenant}/agents/${second}/repo`;
  const make = (body) => s.server.request("POST", at, { body: { token: "s3cret", ...body } });
  let large = "";
  for (let i = 0; large.length < 6 << 20; i++) large += createHmac("sha512", "x").update(`${i}`).digest("base64");
  bare(s.folder, "large.git", { "large.bin": large });
  const full = await make({ import_url: s.host.url("large.git") });
  equal(full.status, 422, full.text);
  match(full.text, /too_large/, "why");
  const none = await make({ import_url: s.host.url("team.git") });
  equal(none.status, 422, none.text);
  equal((await s.server.request("POST", at, { body: { token: "x" } })).status, 422, "a token for nothing");
  equal(mirrorsOf(s).length, 1, "nothing is left of them");
  await whole(s);
  await s.server.stop();
});

/** Text that packs to as many bytes, about. */
function noise(bytes, seed) {
  let text = "";
  for (let i = 0; text.length < bytes * 4 / 3; i++) text += createHmac("sha512", seed).update(`${i}`).digest("base64");
  return text;
}

// As the disk has it: whole blocks, folders too.
const taken = (at) => ((stat) => Math.max(stat.blocks * 512, stat.size))(statSync(at));
const sizeOf = (at) => readdirSync(at, { recursive: true }).reduce((sum, name) => sum + taken(join(at, name)), taken(at));

test("a mirror has as many bytes as it may, however often the host changes all of it", async (t) => {
  const s = await stage(t, "sqlite", { flags: [...FLAGS, "--repo-max-bytes=2m"], files: {} });
  // Each time a history of its own, as after a push by force.
  const replace = (bytes, seed) => {
    s.repo.git(["update-ref", "-d", "refs/heads/main"]);
    return s.repo.put("large.txt", noise(bytes, seed));
  };
  let tip = replace(600_000, "0");
  equal((await s.bind()).status, 200, "bound");
  await mirrored(s, tip);
  const at = await hook(s), wake = () => tell(s, at, { "x-gitlab-token": at.secret });
  for (let i = 1; i < 5; i++) {
    tip = replace(600_000, `${i}`);
    equal((await wake()).status, 204, "told");
    await mirrored(s, tip);
    const size = sizeOf(mirrorsOf(s)[0]);
    ok(size <= 2 << 20, `${size} bytes after ${i} times`);
  }
  // What does not fit is not brought, and what was there stands.
  replace(4_000_000, "large");
  await wake();
  await until(20000, "why it is not brought", async () => /larger/.test((await s.state()).last_error ?? ""));
  const state = await s.state(), size = sizeOf(mirrorsOf(s)[0]);
  ok(size <= 2 << 20, `${size} bytes`);
  equal(state.tip, tip, "the tip");
  equal(state.size_bytes, size, "the size that is told");
  await whole(s);
  await s.server.stop();
});

test("a host that has git collect files, or names without number, has no more than a mirror may", async (t) => {
  const s = await stage(t, "sqlite", { flags: [...FLAGS, "--repo-max-bytes=1m"] });
  const first = s.repo.git(["rev-parse", "main"]);
  equal((await s.bind()).status, 200, "bound");
  await mirrored(s, first);
  const [at] = mirrorsOf(s);
  const bytes = () => sizeOf(at);
  const again = () => s.place.sql("update repositories set next_attempt_at = 1, failures = 0, updated_at = 1 where next_attempt_at is not null");
  // To us it speaks git's protocol; to git it gives files.
  for (let i = 0; i < 6; i++) s.repo.put(`big-${i}`, noise(400_000, `${i}`));
  s.repo.git(["update-server-info"]);
  s.host.fault = (request, response) => {
    if (!`${request.headers["user-agent"]}`.startsWith("lodge") || !`${request.headers["accept-encoding"]}`.includes("deflate")) return false;
    const name = new URL(request.url, "http://host").pathname.replace("/team.git/", "");
    try {
      response.writeHead(200, { "Content-Type": "text/plain" }).end(readFileSync(join(s.repo.at, name)));
    } catch {
      response.writeHead(404).end();
    }
    return true;
  };
  await until(20000, "refused", async () => { await again(); return /smart HTTP/.test((await s.state()).last_error ?? ""); });
  ok(bytes() < 1_100_000, `${bytes()} bytes`);
  s.host.fault = null;
  s.repo.git(["update-ref", "refs/heads/main", first]);
  s.repo.git(["update-ref", "--stdin"], Array.from({ length: 5500 }, (_, i) => `create refs/heads/${"x".repeat(150)}-${i} ${first}\n`).join(""));
  await until(20000, "too many", async () => { await again(); return /larger than|more branches/.test((await s.state()).last_error ?? ""); });
  s.repo.git(["update-ref", "--stdin"], Array.from({ length: 5500 }, (_, i) => `delete refs/heads/${"x".repeat(150)}-${i}\n`).join(""));
  const last = s.repo.put("prompts/description_prompt.md", "Small again.\n");
  await until(20000, "small again", async () => { await again(); return (await s.state()).tip === last; });
  ok(bytes() < 1_100_000, `${bytes()} bytes in the end`);
  await whole(s);
});

test("copies that a host holds up keep nobody from git, and end with who asked for them", async (t) => {
  const s = await stage(t, "sqlite");
  equal((await s.ask("POST", "/repo")).status, 201, "one of our own");
  const key = await keyOf(s.server, s.tenant), stalled = [], sent = [];
  s.host.fault = (request, response) => {
    if (s.host.asked.length <= 2) return false; // the questions before git's own
    stalled.push(response);
    return true;
  };
  for (let i = 0; i < 4; i++) {
    const other = await agentOf(s.server, s.tenant, `copy-${i}`);
    const body = JSON.stringify({ import_url: s.host.url("team.git"), token: "s3cret" });
    const asked = http.request({ host: "127.0.0.1", port: s.server.port, method: "POST", path: `/tenant/${s.tenant}/agents/${other}/repo`,
      headers: { Authorization: `Bearer ${s.server.token}`, "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) } });
    asked.answer = new Promise((done) => asked.on("response", (response) => done(response.resume())).on("error", () => done(null)));
    asked.end(body);
    sent.push(asked);
  }
  await until(20000, "a copy that waits for its host", async () => stalled.length > 0 && children(s.server).length > 0);
  equal(children(s.server).length, 1, "copies of one tenant at once");
  const list = await git(t.folder(), ["ls-remote", `http://jo:${key}@127.0.0.1:${s.server.port}/git/demo/desk.git`], { ms: 5000 });
  equal(list.status, 0, `git beside them: ${list.stderr}`);
  // Those that wait are told to come later.
  const told = await Promise.race(sent.map((one) => one.answer));
  equal(told.statusCode, 503, "one that waited");
  ok(Number(told.headers["retry-after"]) > 0, "when to come again");
  await until(20000, "the end of all that waited", async () => (await Promise.all(sent.map((one) => Promise.race([one.answer, null])))).filter(Boolean).length === 3);
  for (const one of sent) one.destroy();
  await until(10000, "the end of the one that nobody waits for", async () => children(s.server).length === 0);
  for (const response of stalled) response.destroy();
  await until(10000, "nothing is left of it", async () => mirrorsOf(s).length === 1);
  await s.server.stop();
});

testBoth("a host that goes away and comes back; a service that is killed while it fetches", async (t, engine) => {
  const s = await stage(t, engine);
  equal((await s.bind()).status, 200, "bound");
  await mirrored(s, s.repo.git(["rev-parse", "main"]));
  const at = await hook(s), wake = () => tell(s, at, { "x-gitlab-token": at.secret });
  await s.host.leave();
  equal((await wake()).status, 204, "told");
  await until(20000, "that it is away", async () => (await s.state()).last_error !== null);
  const away = (await s.ask("GET", "/prompt-provenance")).json;
  ok(!away.available && /cannot be reached/.test(away.unavailable_reason), JSON.stringify(away));
  equal((await s.ask("GET", "/repo/refs")).text.trim(), '{"branches":["main"],"tags":[],"complete":false}', "the refs, as they were");
  equal((await s.ask("GET", "/repo/tree")).status, 200, "what is mirrored");
  equal((await s.ask("PATCH", "/code-ref", { code_ref: "never" })).status, 502, "a pin that nobody can judge");
  const later = (Date.parse((await s.state()).next_attempt_at) - Date.now()) / 1000;
  ok(later > 20 && later < 130, `the next attempt is in ${later} s`);
  const tip = s.repo.put("b.md", "b\n");
  await s.host.back();
  // Whoever tells of a push does not have a host asked that failed less than a minute ago; that minute is over.
  await s.place.sql("update repositories set updated_at = updated_at - 60000000");
  await wake();
  await mirrored(s, tip);
  ok((await s.ask("GET", "/prompt-provenance")).json.available, "all is well again");
  // It stalls in the middle of a fetch, and the service is killed.
  const next = s.repo.put("c.md", "c\n");
  let stalled = null;
  s.host.fault = (request, response) => {
    if (stalled || s.host.asked.filter((line) => line.endsWith("git-upload-pack")).length < s.fetchAt) return false;
    stalled = response;
    response.writeHead(200, { "Content-Type": "application/x-git-upload-pack-result" });
    return true;
  };
  s.host.asked.length = 0;
  s.fetchAt = 4; // the sweep's question, the job's, git's own, and then the fetch
  await wake();
  await until(20000, "the fetch under way", async () => stalled !== null && children(s.server).length > 0);
  const left = children(s.server);
  await s.server.kill();
  s.server = await t.serve(s.place, { flags: FLAGS });
  await s.server.enter();
  await mirrored(s, next);
  ok(left.every((pid) => !alive(pid)), "the git of the service that was killed was ended before another one began");
  stalled.destroy();
  await whole(s);
  // The folder is lost: nothing moved on the host, and it is fetched anew.
  for (const at of mirrorsOf(s)) rmSync(at, { recursive: true });
  equal((await t.on(s.place, ["check"])).status, 1, "a check of the store");
  equal((await s.ask("GET", "/repo/tree")).status, 502, "what is lost");
  await wake();
  await until(20000, "all of it again", async () => (await s.ask("GET", "/repo/tree")).status === 200 && (await s.state()).last_error === null);
  await whole(s);
  await s.server.stop();
}, { ms: 120_000 });

/** One that was ended and that nobody has waited for is not. */
function alive(pid) {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
