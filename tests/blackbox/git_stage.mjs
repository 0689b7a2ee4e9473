// git_stage.mjs - what the tests of git's wire stand on: a house with agents that have repositories, git as a client without a
// configuration of its own, and the rule that a repository is whole whatever was done to it.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { becomes, command, equal, ok } from "./harness.mjs";

export const PLAIN = { PATH: process.env.PATH, HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0",
  GIT_AUTHOR_NAME: "Jo", GIT_AUTHOR_EMAIL: "jo@example.net", GIT_COMMITTER_NAME: "Jo", GIT_COMMITTER_EMAIL: "jo@example.net" };

/** Runs git to its end: {status, stdout, stderr}; `good` fails where it did not end well. */
export const git = (cwd, args, { env = {}, input, ms } = {}) => command("git", args, { cwd, env: { ...PLAIN, ...env }, input, ms });
export async function good(cwd, args, options) {
  const end = await git(cwd, args, options);
  equal(end.status, 0, `git ${args.join(" ")}: ${end.stderr}`);
  return end.stdout.trimEnd();
}

let count = 0;

/** A repository of an agent, by its row and its folder. */
export async function repository(place, tenant, agent, purpose = "code") {
  const id = `c${String(++count).padStart(24, "0")}`;
  const folder = join(place.data, "repositories", `${id}.git`);
  mkdirSync(folder, { recursive: true });
  execFileSync("git", ["init", "-q", "--bare", "--initial-branch=main", folder], { env: PLAIN });
  await place.sql(`insert into repositories (tenant_id, id, agent_id, purpose, host, projection, failures, size_bytes, created_at, updated_at)
    values ('${tenant}', '${id}', '${agent}', '${purpose}', 'embedded', 'off', 0, 0, 1, 1)`);
  return { id, folder };
}

export async function agentOf(server, tenant, slug) {
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: slug, slug } });
  equal(made.status, 201, made.text);
  return made.json.id;
}

export async function keyOf(server, tenant, scopes) {
  const made = await server.request("POST", `/tenant/${tenant}/api-keys`, { body: { name: "git", ...(scopes ? { scopes } : {}) } });
  equal(made.status, 201, made.text);
  return made.json.token ?? made.json.key;
}

/** A house with the agent `desk` and its repository, and a key that may push. */
export async function house(t, engine = "sqlite", options = {}) {
  const place = await t.place(engine);
  const server = await t.serve(place, options);
  const tenant = await server.enter();
  const agent = await agentOf(server, tenant, "desk");
  const repo = await repository(place, tenant, agent);
  const key = await keyOf(server, tenant);
  const url = (secret = key, name = "demo/desk.git") => `http://jo:${secret}@127.0.0.1:${server.port}/git/${name}`;
  return { t, place, server, tenant, agent, repo, key, url, work: t.folder() };
}

/** A clone with one commit on main, pushed. */
export async function pushed(h, name = "first") {
  const at = join(h.work, name);
  await good(h.work, ["init", "-q", "--initial-branch=main", name]);
  await good(at, ["remote", "add", "origin", h.url()]);
  await commit(at, "a.md", "one\n");
  await good(at, ["push", "-q", "origin", "main"]);
  return at;
}

export async function commit(at, file, text) {
  writeFileSync(join(at, file), text);
  await good(at, ["add", "-A"]);
  await good(at, ["commit", "-q", "-m", file]);
  return good(at, ["rev-parse", "HEAD"]);
}

/** Nothing that a service began still runs. */
export const children = (server) => readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter((pid) => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "").split(" ");
    return Number(fields[1]) === server.child.pid && fields[0] !== "Z";
  } catch {
    return false;
  }
}).map(Number);

/** The repository is whole, nothing of a push that failed is left in it, and no program either. */
export async function whole(h) {
  await becomes(() => children(h.server).length, 0, "programs that still run");
  const fsck = await git(h.repo.folder, ["fsck", "--full", "--strict"], { env: { GIT_DIR: h.repo.folder } });
  equal(fsck.status, 0, `git fsck: ${fsck.stderr}`);
  ok(!readdirSync(join(h.repo.folder, "objects")).some((name) => /^(tmp_|incoming)/.test(name)), "a quarantine is left");
}

export const refOf = (h, ref) => git(h.repo.folder, ["rev-parse", "--verify", "-q", ref], { env: { GIT_DIR: h.repo.folder } }).then((end) => end.stdout.trim());
export const audits = (h) => h.place.sql("select count(*) from audit_logs where action = 'repo.push'");
