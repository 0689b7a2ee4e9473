// git_ssh.test.mjs - the machine's own sshd serves git to the keys of agents, by `lodge ssh-keys` and `lodge git-serve`.
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { userInfo } from "node:os";
import { bin, command, equal, isRoot, match, ok, test, until } from "./harness.mjs";
import { agentOf, audits, commit, git, good, house, refOf, repository, whole } from "./git_stage.mjs";

const freePort = () => new Promise((done) => {
  const server = net.createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => done(port));
  });
});

/** sshd on a port of its own, which takes the keys of agents and nothing else. */
async function daemon(t, h) {
  const folder = h.work;
  const config = join(folder, "lodge.conf");
  writeFileSync(config, `data = ${h.place.data}\nstore = ${h.place.store}\n`);
  for (const name of ["host", "desk", "other", "shared", "stranger"])
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", join(folder, name)]);
  // sshd asks for a program that only root can write, in folders of which the same is true.
  const asks = join("/usr/local/libexec", `lodge-keys-${process.pid}`);
  execFileSync("mkdir", ["-p", "/usr/local/libexec", "/run/sshd"]);
  writeFileSync(asks, `#!/bin/sh\nASAN_OPTIONS=detect_leaks=0 exec ${bin} ssh-keys --config ${config} "$@"\n`, { mode: 0o755 });
  chmodSync(asks, 0o755);
  t.onEnd(() => execFileSync("rm", ["-f", asks]));
  const port = await freePort();
  const sshd = join(folder, "sshd_config");
  writeFileSync(sshd, `ListenAddress 127.0.0.1:${port}\nHostKey ${join(folder, "host")}\nPidFile none\nUsePAM no\nPasswordAuthentication no\n` +
    `AuthorizedKeysFile none\nAuthorizedKeysCommand ${asks} %t %k\nAuthorizedKeysCommandUser ${userInfo().username}\nPermitRootLogin yes\n` +
    "AcceptEnv GIT_PROTOCOL\nSetEnv ASAN_OPTIONS=detect_leaks=0\nLogLevel VERBOSE\n");
  const child = spawn("/usr/sbin/sshd", ["-D", "-e", "-f", sshd], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (log += text));
  t.onEnd(() => child.kill("SIGKILL"));
  await until(10_000, "sshd listens", () => log.includes("Server listening"));
  const env = (key) => ({ GIT_SSH_COMMAND: `ssh -F none -p ${port} -i ${join(folder, key)} -o IdentitiesOnly=yes -o BatchMode=yes ` +
    "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR" });
  return { env, url: (name) => `${userInfo().username}@127.0.0.1:${name}`, key: (name) => readFileSync(join(folder, `${name}.pub`), "utf8").trim(),
    log: () => log, shell: (key, ...words) => command("ssh", [...env(key).GIT_SSH_COMMAND.split(" ").slice(1), `${userInfo().username}@127.0.0.1`, ...words]) };
}

test("an agent reaches its own repository with its key, and nothing else", async (t) => {
  ok(isRoot, "sshd needs root");
  const h = await house(t);
  const d = await daemon(t, h);
  const other = await agentOf(h.server, h.tenant, "other");
  await repository(h.place, h.tenant, other);
  for (const [agent, key] of [[h.agent, "desk"], [other, "other"]])
    equal((await h.server.request("PATCH", `/agents/${agent}`, { body: { ssh_public_key: d.key(key) } })).status, 200, "the key");
  const with_ = (key) => ({ env: d.env(key) });
  const at = join(h.work, "desk-clone");
  await good(h.work, ["clone", "-q", d.url("demo/desk.git"), "desk-clone"], with_("desk"));
  await good(at, ["checkout", "-q", "-b", "main"]).catch(() => {});
  const one = await commit(at, "a.md", "one\n");
  await good(at, ["push", "-q", "origin", "main"], with_("desk"));
  equal(await refOf(h, "refs/heads/main"), one, "the branch");
  equal(await audits(h), "1", "rows of the audit log");
  equal(await h.place.sql("select agent_id from audit_logs where action = 'repo.push'"), h.agent, "whose push it was");
  writeFileSync(join(at, "large.bin"), Buffer.alloc(3 << 20, (Math.random() * 256) | 0));
  await commit(at, "b.md", "two\n");
  await good(at, ["push", "-q", "origin", "main"], with_("desk"));
  await good(h.work, ["-c", "protocol.version=2", "clone", "-q", `ssh://${d.url("x").split(":")[0]}/git/demo/desk.git`, "again"],
    { env: { GIT_SSH_COMMAND: d.env("desk").GIT_SSH_COMMAND } });
  const refused = async (pattern, args, key = "desk") => {
    const end = await git(at, args, with_(key));
    ok(end.status !== 0, `${args} was taken`);
    match(end.stderr, pattern, `${args}`);
  };
  await refused(/branches are not deleted by a push/, ["push", "origin", ":main"]);
  await refused(/only branches and tags/, ["push", "origin", "main:refs/notes/x"]);
  await good(at, ["reset", "-q", "--hard", one]);
  await commit(at, "a.md", "other\n");
  await refused(/non-fast-forward/, ["push", "--force", "origin", "main"]);
  await refused(/no such repository for this key/, ["ls-remote", d.url("demo/other.git")]);
  await refused(/no such repository for this key/, ["ls-remote", d.url("demo/desk.git")], "other");
  await refused(/Permission denied/, ["ls-remote", d.url("demo/desk.git")], "stranger");
  const others = [0, 1, 2, 3].map((n) => spawn("flock", [join(h.place.data, "repositories", `ssh-${n}.lock`), "sh", "-c", "echo held; read end"], { stdio: ["pipe", "pipe", "ignore"] }));
  await Promise.all(others.map((one) => new Promise((done) => one.stdout.once("data", done))));
  await refused(/as many others are served by ssh as may be at once: try again in a moment/, ["ls-remote", d.url("demo/desk.git")]);
  for (const one of others) one.stdin.end();
  await good(at, ["ls-remote", d.url("demo/desk.git")], with_("desk"));
  // However many others have the same key before it.
  for (let i = 0; i < 65; i++) {
    const made = await agentOf(h.server, h.tenant, `crowd-${i}`);
    equal((await h.server.request("PATCH", `/agents/${made}`, { body: { ssh_public_key: d.key("shared") } })).status, 200, "a key");
  }
  const late = await agentOf(h.server, h.tenant, "late");
  await repository(h.place, h.tenant, late);
  await h.server.request("PATCH", `/agents/${late}`, { body: { ssh_public_key: `${d.key("shared")} late` } });
  await good(at, ["ls-remote", d.url("demo/late.git")], with_("shared"));
  await refused(/no such repository for this key/, ["ls-remote", d.url("demo/desk.git")], "shared");
  match((await d.shell("desk", "id")).stderr, /serves git, and nothing else/, "a command");
  match((await d.shell("desk")).stderr, /serves git, and nothing else/, "no command");
  await h.server.request("PATCH", `/agents/${h.agent}`, { body: { is_active: false } });
  await refused(/Permission denied/, ["ls-remote", d.url("demo/desk.git")]);
  equal(await audits(h), "2", "rows of the audit log");
  await whole(h);
});
