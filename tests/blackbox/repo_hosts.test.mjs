// repo_hosts.test.mjs - GitLab and Gitea as hosts of repositories: the stubs held against the typed clients of both, what we ask held against the
// same clients' types, their faults, the picture of an agent on its way there, and the projects of agents.
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { becomes, bin, command, equal, match, ok, root, test, testBoth } from "./harness.mjs";
import { repoHostPeer, TOKEN } from "./repo_host_peer.mjs";

const load = createRequire(new URL("repo_hosts/package.json", import.meta.url));
const ID = "c0ho6d97t6l8x7yr7ckzrx0wu", OTHER = "c0ho6d97t6l8x7yr7ckzrx0wv", KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGTk3bSVZ2kqcnMfxQ3Wt4Qh0Vw0Q7W3v0bJ4c8n7m1Z";
const MARK = `Repository of the agent ${ID} of Lodge`;

/** What the service's own code says of a host: {end, wait, why, came}. */
async function say(peer, ...args) {
  const [space, ...rest] = args, { status, stdout, stderr } = await command(join(dirname(bin), "tests/host-say"), [peer.kind, peer.at ?? peer.url, peer.token ?? TOKEN, space, ...rest], { env: { PATH: process.env.PATH, ASAN_OPTIONS: "detect_leaks=0", ...peer.env } });
  equal(status, 0, `host-say ${args.join(" ")}: ${stderr.slice(0, 1000)}`);
  const [end, wait, why, came] = stdout.replace(/\n$/, "").split("\t");
  return { end, wait: Number(wait), why, came };
}

function commit(folder) {
  const run = (...args) => execFileSync("git", args, { cwd: folder, input: "", env: { PATH: process.env.PATH, GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@b" } }).toString().trim();
  const made = run("commit-tree", "-m", "one", run("mktree"));
  for (const ref of ["refs/heads/main", "refs/heads/next", "refs/tags/v1"]) run("update-ref", ref, made);
}

test("the stubs are hosts to the typed clients", async (t) => {
  const lab = await repoHostPeer(t, "gitlab"), { Gitlab } = load("@gitbeaker/rest"), api = new Gitlab({ host: lab.url, token: TOKEN });
  equal((await api.Users.showCurrentUser()).username, "root", "who it is");
  const made = await api.Projects.create({ name: "p", path: "p", namespaceId: 42, description: "d" });
  equal(made.path_with_namespace, "agents/p", "the project");
  const twice = await api.Projects.create({ name: "p", path: "p", namespaceId: 42 }).catch((err) => err);
  match(JSON.stringify(twice.cause), /has already been taken/, "taken");
  commit(lab.projects.get("agents/p").folder);
  equal((await api.Branches.all("agents/p")).map((b) => b.name).join(), "main,next", "branches");
  const person = await api.Users.create({ username: "u", name: "U", email: "u@x.org", forceRandomPassword: true });
  equal((await api.Users.all({ username: "u" }))[0].id, person.id, "the user");
  await api.UserSSHKeys.add("t", KEY, { userId: person.id });
  equal((await api.UserSSHKeys.all({ userId: person.id })).length, 1, "keys");
  equal((await api.ProjectMembers.add("agents/p", 30, { userId: person.id })).id, person.id, "a member");
  await api.ProjectHooks.add("agents/p", "https://x.org/h", { token: "s", pushEvents: true });
  equal((await api.ProjectHooks.all("agents/p"))[0].url, "https://x.org/h", "the hook");

  const tea = await repoHostPeer(t, "gitea"), { giteaApi } = load("gitea-js"), other = giteaApi(tea.url, { token: TOKEN, customFetch: fetch });
  equal((await other.user.userGetCurrent()).data.login, "root", "who it is");
  equal((await other.orgs.createOrgRepo("agents", { name: "p", private: true })).data.full_name, "agents/p", "the project");
  equal((await other.orgs.createOrgRepo("agents", { name: "p" }).catch((err) => err)).status, 409, "taken");
  commit(tea.projects.get("agents/p").folder);
  equal((await other.repos.repoListBranches("agents", "p")).data.map((b) => b.name).join(), "main,next", "branches");
  await other.admin.adminCreateUser({ username: "u", email: "u@x.org", password: "x" });
  await other.admin.adminCreatePublicKey("u", { title: "t", key: KEY });
  equal((await other.users.userListKeys("u")).data.length, 1, "keys");
  equal((await other.repos.repoAddCollaborator("agents", "p", "u", { permission: "write" })).status, 204, "a member");
  equal((await other.repos.repoCreateHook("agents", "p", { type: "gitea", config: { url: "https://x.org/h", content_type: "json" }, events: ["push"] })).data.config.url, "https://x.org/h", "the hook");
});

/** The members that a typed client knows of a type, with underscores. */
function members(text, form) {
  const body = form.exec(text)?.[1];
  ok(body, `no type ${form}`);
  return new Set([...body.matchAll(/^\s*"?(\w+)"?\??:/gm)].map((m) => m[1].replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)));
}

const TYPES = {
  gitea: [readFileSync(new URL("repo_hosts/node_modules/gitea-js/dist/index.d.ts", import.meta.url), "utf8"), (name) => new RegExp(`interface ${name} \\{([^]*?)\\n\\}`)],
  gitlab: [readFileSync(new URL("repo_hosts/node_modules/@gitbeaker/core/dist/index.d.ts", import.meta.url), "utf8"), (name) => new RegExp(`(?:type ${name} = |interface ${name}[^{]*)\\{([^]*?)\\n\\}`)],
};
const ASKED = {
  gitea: { "POST /orgs/agents/repos": "CreateRepoOption", "POST /admin/users": "CreateUserOption", "POST /user/avatar": "UpdateUserAvatarOption", [`POST /admin/users/lodge-${ID}/keys`]: "CreateKeyOption", "POST /repos/agents/t-a/hooks": "CreateHookOption", [`PUT /repos/agents/t-a/collaborators/lodge-${ID}`]: "AddCollaboratorOption" },
  gitlab: { "POST /projects": "CreateProjectOptions", "POST /users": "CreateUserOptions", "POST /projects/agents%2Ft-a/hooks": "AddResourceHookOptions" },
};
/** What is no option there but has a place of its own in the call. */
const APART = { CreateProjectOptions: ["name", "path"], AddResourceHookOptions: ["url"] };

for (const kind of ["gitlab", "gitea"])
  test(`what is asked of ${kind} is what its typed client knows, and is asked once`, async (t) => {
    const peer = await repoHostPeer(t, kind), png = join(t.folder(), "a.png");
    writeFileSync(png, Buffer.from([0x89, 0x50, 0, 255, 13, 10]));
    equal((await say(peer, "agents", "look")).came, "root 1", "who it is");
    match((await say(peer, "nobody", "look")).why, /no (group|organisation) nobody/, "another group");
    const made = await say(peer, "agents", "project", "t", "a", ID);
    equal(made.came, `agents/t-a ${peer.url}/agents/t-a.git ${peer.url}/agents/t-a/${kind === "gitlab" ? "-/" : ""}commit/abc 0`, made.why);
    equal(peer.projects.get("agents/t-a").description, MARK, "the mark");
    match((await say(peer, "agents", "project", "t", "a", ID)).came, / 1$/, "taken over");
    match((await say(peer, "agents", "project", "t", "a", OTHER)).came, /^agents\/t-a-7ckzrx0wv? |^agents\/t-a-\w{8} /, "another agent's");
    equal(peer.projects.size, 2, "projects");
    match((await say(peer, "", "project", "t", "a", ID)).came, /^root\/t-a .* 0$/, "without a group");
    equal((await say(peer, "agents", "avatar", "Ada", ID, png)).why, "", "the picture");
    equal(peer.users.get(`lodge-${ID}`).avatar.toString("hex"), "895000ff0d0a", "its bytes");
    for (let i = 0; i < 2; i++) equal((await say(peer, "agents", "key", "Ada", ID, KEY)).why, "", "the key");
    equal(peer.users.get(`lodge-${ID}`).keys.length, 1, "keys");
    match((await say(peer, "agents", "key", "Bea", OTHER, KEY)).why, /has a key like it already/, "somebody else's key");
    for (let i = 0; i < 2; i++) equal((await say(peer, "agents", "letin", "Ada", ID, "agents/t-a")).why, "", "let in");
    equal([...peer.projects.get("agents/t-a").members].join(), `lodge-${ID},${kind === "gitlab" ? 30 : "write"}`, "members");
    for (const secret of ["one", "two"]) equal((await say(peer, "agents", "hook", "agents/t-a", "https://lodge.example.org/h", secret)).why, "", "the hook");
    const [hook, more] = peer.projects.get("agents/t-a").hooks;
    equal(`${hook.token ?? hook.config.secret} ${more}`, "two undefined", "one hook, with the newer secret");
    peer.users.get(`lodge-${ID}`).email = "somebody@example.org";
    equal((await say(peer, "agents", "user", "Ada", ID)).end, "taken", "somebody else's user");
    const [text, form] = TYPES[kind];
    for (const [what, type] of Object.entries(ASKED[kind])) {
      const request = peer.requests.find((r) => `${r.method} ${r.path}` === what), known = members(text, form(type));
      ok(request, `${what} was not asked`);
      for (const name of Object.keys(request.body)) ok(known.has(name) || APART[type]?.includes(name), `${type} has no ${name}: ${[...known]}`);
    }
  });

test("faults of hosts are told for what they are", async (t) => {
  for (const kind of ["gitlab", "gitea"]) {
    const peer = await repoHostPeer(t, kind);
    for (const [fault, end, why] of [["limited", "limited", /wait for 7 seconds \(429\)/], ["cut", "unreachable", /broke off|closed the connection/], ["elsewhere", "missing", /points to another/], ["garbage", "garbage", /not what this host's documents say/],
      ["broken", "unreachable", /answered 502/], ["moved", "ok", /^$/], ["no total", "ok", /^$/]]) {
      peer.faults = new Set([fault]);
      const said = await say(peer, "agents", "look");
      equal(`${kind} ${fault} ${said.end}`, `${kind} ${fault} ${end}`, said.why);
      match(said.why, why, fault);
    }
    peer.faults = new Set();
    equal((await say({ ...peer, token: "wrong" }, "agents", "look")).why, "The host refused the token (401).", "another token");
    match((await say({ ...peer, env: { PUBLIC_ONLY: "1" } }, "agents", "look")).why, /not one that may be called/, "a private address");
    peer.make("agents", "r");
    commit(peer.projects.get("agents/r").folder);
    const repo = { ...peer, at: `${peer.url}/agents/r.git` };
    equal((await say(repo, "", "refs")).came, "3 1 refs/heads/main", "refs");
    equal((await say(repo, "", "ref", "v1")).came, "0 1", "a tag");
    equal((await say(repo, "", "ref", "mai")).came, "0 0", "the beginning of a name");
    equal((await say({ ...repo, token: "wrong" }, "", "refs")).end, "refused", "another token");
    equal((await say({ ...repo, at: `${peer.url}/agents/none.git` }, "", "refs")).end, "missing", "no such repository");
  }
  const lab = await repoHostPeer(t, "gitlab");
  lab.make("agents", "t-a");
  for (let i = 0; i < 150; i++) lab.hook(lab.last, { url: `https://x.org/${i}` });
  lab.faults.add("empty page 2");
  equal((await say(lab, "agents", "hook", "agents/t-a", "https://x.org/140", "s")).why, "", "a page that lies");
});

testBoth("a picture and a key come to the host by themselves, also after it was away", async (t, engine) => {
  const peer = await repoHostPeer(t, engine === "sqlite" ? "gitlab" : "gitea"), place = await t.place(engine), token = join(place.folder, "token");
  writeFileSync(token, `${TOKEN}\n`);
  chmodSync(token, 0o600);
  const host = ["--repo-host", peer.kind, "--repo-host-url", peer.url, "--repo-host-token-file", token, "--repo-host-namespace", "agents", "--allow-private-addresses"];
  let server = await t.serve(place, { flags: host });
  const tenant = await server.enter(), { json: made } = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Ada", slug: "a" } });
  const agent = `/tenant/${tenant}/agents/${made.id}`, png = readFileSync(join(root, "docs/images/access.png"));
  const put = () => server.request("PUT", `${agent}/avatar`, { body: png, headers: { "Content-Type": "image/png" } });
  const synced = async () => (await server.request("GET", `${agent}/avatar`)).json.repohost_synced;
  const checked = await t.on(place, ["check", ...host]);
  match(checked.stdout, /Repositories are on Git\w+ at http:\/\/127[^ ]+, as the user root\./, checked.stderr);
  peer.faults.add("broken");
  equal((await put()).json.repohost_synced, false, "at once");
  await becomes(async () => (await place.sql("select failures from agent_host_users")).trim(), "1", "the failure");
  match(await place.sql("select last_error from agent_host_users"), /answered 502/, "why");
  equal(await synced(), false, "while it is away");
  await server.stop();
  peer.faults.clear();
  /* Its job is due, or is not there any more and is found to be missing. */
  await place.sql(engine === "sqlite" ? "update jobs set run_at = 1 where kind = 'tenant.reconcile'" : "delete from jobs where kind = 'tenant.reconcile'");
  server = await t.serve(place, { flags: host });
  await server.enter();
  await becomes(synced, true, "the picture is there");
  const user = peer.users.get(`lodge-${made.id}`);
  ok(user.avatar.subarray(1, 4).equals(Buffer.from("PNG")), "a PNG");
  equal((await server.request("PATCH", agent, { body: { ssh_public_key: `${KEY} ada` } })).status, 200, "the key");
  await becomes(() => user.keys.length, 1, "keys");
  equal((await server.request("DELETE", `${agent}/avatar`)).status, 204, "removed");
  equal(await synced(), false, "after removal");
  ok(user.avatar, "the host keeps the last one");
  equal((await place.sql("select count(*) from jobs where kind = 'tenant.reconcile'")).trim(), "0", "jobs that are left");
  await server.stop();
});

const git = (folder, ...args) => execFileSync("git", args, { cwd: folder, env: { PATH: process.env.PATH, GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@b" } }).toString().trim();

/** Somebody pushes another text to the one file of a project. */
function pushed(folder, text) {
  const blob = execFileSync("git", ["hash-object", "-w", "--stdin"], { cwd: folder, input: text }).toString().trim();
  const inner = execFileSync("git", ["mktree"], { cwd: folder, input: `100644 blob ${blob}\tdescription_prompt.md\n` }).toString().trim();
  const tree = execFileSync("git", ["mktree"], { cwd: folder, input: `040000 tree ${inner}\tprompts\n` }).toString().trim();
  const made = git(folder, "commit-tree", "-p", "main", "-m", "Another text", tree);
  git(folder, "update-ref", "refs/heads/main", made);
  return made;
}

testBoth("a repository is a project on the host, whatever happens in the middle of making it", async (t, engine) => {
  const peer = await repoHostPeer(t, engine === "sqlite" ? "gitlab" : "gitea"), place = await t.place(engine), token = join(place.folder, "token");
  writeFileSync(token, `${TOKEN}\n`);
  chmodSync(token, 0o600);
  const flags = ["--repo-host", peer.kind, "--repo-host-url", peer.url, "--repo-host-token-file", token, "--repo-host-namespace", "agents", "--allow-private-addresses", "--no-access-log"];
  let server = await t.serve(place, { flags });
  const tenant = await server.enter(), { slug } = (await server.request("GET", `/tenant/${tenant}`)).json;
  const agent = async (name) => `/tenant/${tenant}/agents/${(await server.request("POST", `/tenant/${tenant}/agents`, { body: { name, slug: name, description_prompt: "Be kind." } })).json.id}`;
  const ask = (method, path, body) => server.request(method, path, body ? { body } : {});
  const folders = () => readdirSync(join(place.data, "repositories")).filter((name) => name.endsWith(".git")).length;
  const a = await agent("a"), b = await agent("b"), d = await agent("d"), id = a.split("/").at(-1);

  peer.faults.add("broken");
  const away = await ask("POST", `${a}/repo`);
  equal(`${away.status} ${away.json.detail}`, "502 The host is out of order: it answered 502.", "the host is away");
  equal(`${peer.projects.size} ${folders()} ${(await ask("GET", `${a}/repo`)).status}`, "0 0 404", "nothing is left");
  peer.faults.clear();

  peer.make("agents", `${slug}-a`, { description: "somebody else's" });
  const made = await ask("POST", `${a}/repo`, { projection: "auto" }), path = `agents/${slug}-a-${id.slice(-8)}`, mine = peer.projects.get(path);
  equal(made.status, 201, made.text);
  equal(made.json.repo_url, `${peer.url}/${path}.git`, "by its other name");
  equal(peer.refs(peer.projects.get(`agents/${slug}-a`), "branches").length, 0, "somebody else's is left alone");
  equal(git(mine.folder, "show", "main:prompts/description_prompt.md"), "Be kind.", "the first commit");
  const first = git(mine.folder, "rev-parse", "main"), state = (await ask("GET", `${a}/repo`)).json;
  equal(`${state.host} ${state.web_url} ${state.tip} ${state.has_token}`, `${peer.kind} ${peer.url}/${path} ${first} false`, "what it is");
  equal((await place.sql(`select count(*) from repositories where sealed like '%${TOKEN}%'`)).trim(), "0", "no row has the token");
  await becomes(() => [...mine.members.keys()].join(), `lodge-${id}`, "its user is let in");
  await becomes(async () => (await ask("GET", `${a}/repo`)).json.next_attempt_at !== null, true, "mirrored");
  const told = (await ask("GET", `${a}/prompt-provenance`)).json, [file] = told.files;
  equal(`${told.repo_web_url} ${file.diverged} ${file.pending_projection} ${file.commits[0].web_url}`,
    `${peer.url}/${path} false false ${peer.url}/${path}/${peer.kind === "gitlab" ? "-/" : ""}commit/${first}`, "provenance");
  equal((await ask("GET", `${a}/repo/commits`)).json.items[0].web_url, file.commits[0].web_url, "the link of a commit");

  const [hook] = mine.hooks, next = pushed(mine.folder, "Be brief.\n"), body = '{"ref":"refs/heads/main"}', at = new URL(hook.url ?? hook.config.url);
  const headers = peer.kind === "gitlab" ? { "x-gitlab-token": hook.token } : { "x-gitea-signature": createHmac("sha256", hook.config.secret).update(body).digest("hex") };
  equal((await server.request("POST", at.pathname, { body, headers: { "content-type": "application/json", ...headers }, token: null })).status, 204, "the host tells of a push");
  await becomes(async () => (await ask("GET", a)).json.description_prompt, "Be brief.", "the prompt follows");
  equal((await ask("PATCH", a, { description_prompt: "Be kind and brief." })).status, 200, "changed here");
  const resolved = await ask("POST", `${a}/prompt-provenance/resolve`, { file: "prompts/description_prompt.md", take: "live" });
  equal(resolved.status, 200, resolved.text);
  equal(git(mine.folder, "show", "main:prompts/description_prompt.md"), "Be kind and brief.", "committed there");
  equal(git(mine.folder, "rev-parse", "main^"), next, "onto what was pushed");

  equal((await ask("DELETE", `${a}/repo`)).status, 200, "let go of");
  const again = await ask("POST", `${a}/repo`);
  equal(`${again.status} ${again.json.repo_url}`, `201 ${peer.url}/${path}.git`, "taken over");
  equal((await ask("GET", `${a}/repo`)).json.tip, git(mine.folder, "rev-parse", "main"), "as it stands");

  const image = await ask("POST", `${a}/image-repo`), twice = await ask("POST", `${a}/image-repo`), its = peer.projects.get(`agents/${slug}-a-image`);
  equal(`${image.status} ${twice.status} ${image.json.repo_url} ${twice.json.repo_url}`, `201 200 ${peer.url}/${its.path}.git ${peer.url}/${its.path}.git`, image.text);
  match(git(its.folder, "ls-tree", "-r", "--name-only", "main"), peer.kind === "gitlab" ? /^\.dockerignore\n\.gitlab-ci\.yml\n/ : /\.gitea\/workflows\/image\.yml/, "its pipeline");
  await becomes(() => [...its.members.keys()].join(), `lodge-${id}`, "its user is let in there too");
  match((await t.on(place, ["image", "build", slug, "a", "--archive", join(place.folder, "a.tar"), "--as-root", ...flags.slice(0, -1)])).stderr, /on another host, whose pipeline builds it/, "it is built there");

  peer.faults.add("hooks refused");
  git(mine.folder, "tag", "v1");
  const copy = await ask("POST", `${d}/repo`, { import_url: `${peer.url}/${path}.git`, token: TOKEN }), theirs = peer.projects.get(`agents/${slug}-d`);
  equal(copy.status, 201, copy.text);
  equal(git(theirs.folder, "for-each-ref"), git(mine.folder, "for-each-ref"), "all branches and tags");
  equal(theirs.hooks.length, 0, "without being told of pushes");
  peer.faults.clear();
  const kept = folders();
  for (const change of [() => pushed(theirs.folder, "Theirs.\n"), () => (git(theirs.folder, "update-ref", "refs/heads/main", git(mine.folder, "rev-parse", "main")), git(theirs.folder, "tag", "-f", "v1", "main^"))]) {
    change();
    await ask("DELETE", `${d}/repo`);
    const other = await ask("POST", `${d}/repo`, { import_url: `${peer.url}/${path}.git`, token: TOKEN });
    equal(other.status, 409, other.text);
    match(other.json.detail, /has the project agents\/.* already, with something else in it/, "a project with other commits");
  }
  equal(folders(), kept, "nothing more is left here");

  peer.faults.add("hooks hang");
  const cut = ask("POST", `${b}/repo`).catch(() => null);
  await becomes(() => peer.projects.has(`agents/${slug}-b`) && peer.refs(peer.projects.get(`agents/${slug}-b`), "branches").join(), "main", "the project, and no row");
  await server.kill();
  await cut;
  peer.faults.clear();
  server = await t.serve(place, { flags });
  await server.enter();
  equal((await ask("GET", `${b}/repo`)).status, 404, "no row");
  const tip = git(peer.projects.get(`agents/${slug}-b`).folder, "rev-parse", "main"), count = peer.projects.size;
  equal((await ask("POST", `${b}/repo`)).status, 201, "asked again");
  equal(`${(await ask("GET", `${b}/repo`)).json.tip} ${peer.projects.size}`, `${tip} ${count}`, "the same project");
  equal((await ask("GET", `${b}/prompt-provenance`)).json.files[0].pending_projection, false, "its prompt is what it was");
  await server.stop();
});
