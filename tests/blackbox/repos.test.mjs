// repos.test.mjs - repositories of agents across processes: the job that takes prompts from them, a start with another address,
// and copies of them.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { equal, match, ok, test, testBoth, until } from "./harness.mjs";

const ENV = { PATH: process.env.PATH, HOME: "/nowhere", GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.org", GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.org" };

/** One file on the main branch, as whoever pushes it makes it. */
function commit(repo, path, text) {
  const git = (args, input, more) => execFileSync("git", args, { cwd: repo, input, env: { ...ENV, ...more } }).toString().trim();
  const index = { GIT_INDEX_FILE: join(repo, "index.test") };
  const blob = git(["hash-object", "-w", "--stdin"], text);
  git(["read-tree", "main"], "", index);
  git(["update-index", "--add", "--cacheinfo", `100644,${blob},${path}`], "", index);
  const made = git(["commit-tree", "-p", "main", "-m", "Change it", git(["write-tree"], "", index)]);
  git(["update-ref", "refs/heads/main", made]);
}

testBoth("prompts follow the repository once they are told to, and its address follows the service's", async (t, engine) => {
  const place = await t.place(engine);
  let server = await t.serve(place);
  const tenant = await server.enter();
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "A", slug: "a", description_prompt: "Be kind." } });
  const agent = `/tenant/${tenant}/agents/${made.json.id}`;
  equal((await server.request("POST", `${agent}/repo`)).status, 201, "the repository");
  const folder = join(place.data, "repositories");
  commit(join(folder, readdirSync(folder)[0]), "prompts/description_prompt.md", "Be brief.\n");
  equal((await server.request("PATCH", `${agent}/repo`, { body: { projection: "auto" } })).status, 200, "the mode");
  await until(20000, "the prompt of the repository", async () => (await server.request("GET", agent)).json.description_prompt === "Be brief.");
  const { json: key } = await server.request("POST", `/tenant/${tenant}/api-keys`, { body: { name: "git" } });
  const work = join(t.folder(), "work"), git = (...args) => execFileSync("git", args, { cwd: work, env: { ...ENV, GIT_TERMINAL_PROMPT: "0" } });
  mkdirSync(work);
  const { json: before } = await server.request("GET", agent);
  git("clone", "-q", before.repo_url.replace("://", `://jo:${key.token ?? key.key}@`), ".");
  writeFileSync(join(work, "prompts/description_prompt.md"), "Be bold.\n");
  git("commit", "-qam", "Be bold");
  git("push", "-q", "origin", "main");
  await until(20000, "the prompt that was pushed", async () => (await server.request("GET", agent)).json.description_prompt === "Be bold.");
  await server.stop();
  server = await t.serve(place, { flags: ["--public-url", "https://lodge.example.org"] });
  await server.enter();
  const { json } = await server.request("GET", agent);
  match(json.repo_url, /^https:\/\/lodge\.example\.org\/git\/[a-z-]+\/a\.git$/, "the address");
  await server.stop();
});

testBoth("a copy of the store has the repositories beside it, and both are put back", async (t, engine) => {
  const place = await t.place(engine);
  let server = await t.serve(place);
  const tenant = await server.enter();
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "A", slug: "a", description_prompt: "Be kind." } });
  const agent = `/tenant/${tenant}/agents/${made.json.id}`;
  equal((await server.request("POST", `${agent}/repo`)).status, 201, "the repository");
  const folder = join(place.data, "repositories"), copy = join(place.folder, "copy.db");
  const name = readdirSync(folder).find((one) => one.endsWith(".git"));
  const backup = await t.on(place, ["backup", copy]);
  equal(backup.status, 0, backup.stderr);
  match(backup.stdout, /copy\.db\.repositories: 1 repositories of agents/, "it says so");
  const tip = execFileSync("git", ["rev-parse", "main"], { cwd: join(folder, name), env: ENV }).toString();
  commit(join(folder, name), "later", "x");
  const kept = await t.on(place, ["repos", "keep", "--all"]);
  match(kept.stdout, /^0 put in order, 1 in order already/, kept.stderr);
  await server.stop();
  if (engine === "sqlite") {
    const back = await t.on(place, ["restore", copy]);
    equal(back.status, 0, back.stderr);
    match(back.stdout, /Put 1 repositories of agents back into .*\nThe former ones are kept as /, "it says so");
    equal(execFileSync("git", ["rev-parse", "main"], { cwd: join(folder, name), env: ENV }).toString(), tip, "the branch of the copy");
  }
  const check = await t.on(place, ["check", "--repositories"]);
  equal(check.status, 0, check.stderr);
  match(check.stdout, /The agents have 1 repositories\./, "the check");
  execFileSync("rm", ["-rf", join(folder, name, "objects")]);
  const broken = await t.on(place, ["check", "--repositories"]);
  equal(broken.status, 1, "a check of what is broken");
  match(broken.stderr, /of 0 repositories the folder is missing, and 1 are not whole/, "what is wrong");
  const unkept = await t.on(place, ["repos", "keep", "--all"]);
  equal(unkept.status, 1, "keeping what is broken");
  match(unkept.stdout, /^0 put in order, 0 in order already, .* 0 whose folder is missing, 1 that git could not do/, "it is counted");
  execFileSync("rm", ["-rf", join(folder, name)]);
  const missing = await t.on(place, ["repos", "keep", "--all"]);
  equal(missing.status, 1, "keeping what is missing");
  match(missing.stdout, /^0 put in order, 0 in order already, .* 1 whose folder is missing, 0 that/, "it is counted");
  const keys = await t.on(place, ["ssh-keys"]);
  equal(keys.status, 2, "lines that could not work");
  match(keys.stderr, /git-serve.*would not know of it; write it into a file of settings/, "what to do");
});

test("repositories that another store serves are neither taken nor collected", async (t) => {
  const place = await t.place("sqlite");
  const server = await t.serve(place);
  const tenant = await server.enter();
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "A", slug: "a" } });
  equal((await server.request("POST", `/tenant/${tenant}/agents/${made.json.id}/repo`)).status, 201, "the repository");
  const folder = join(place.data, "repositories"), copy = join(place.folder, "copy.db");
  const names = () => readdirSync(folder).filter((one) => one.endsWith(".git")).join();
  const before = names();
  equal((await t.on(place, ["backup", copy])).status, 0, "the backup");
  const elsewhere = { ...place, store: `sqlite:${join(place.folder, "try.db")}` };
  const taken = await t.on(elsewhere, ["restore", copy]);
  ok(taken.status > 0, taken.stdout);
  match(taken.stderr, /are being served by another lodge.*--repo-folder\. Nothing was changed/, "why");
  ok(!existsSync(join(place.folder, "try.db")), "no store was made");
  const own = join(place.folder, "own");
  const tried = await t.on(elsewhere, ["restore", copy, "--repo-folder", `${own}/`]);
  equal(tried.status, 0, tried.stderr);
  equal(readdirSync(own).filter((one) => one.endsWith(".git")).join(), before, "those of the copy");
  // The copy knows the same mark; only the lock tells that somebody is there.
  const beside = await t.on(elsewhere, ["serve", "--listen", "127.0.0.1:0", "--bucket", `dir:${join(place.folder, "bucket")}`]);
  ok(beside.status > 0, beside.stdout);
  match(beside.stderr, /are being served by another lodge/, "a second service");
  await server.stop();
  const other = await t.place("sqlite");
  const strange = await t.on(other, ["serve", "--listen", "127.0.0.1:0", "--repo-folder", folder]);
  ok(strange.status > 0, strange.stdout);
  match(strange.stderr, /by its mark lodge-repositories it is that of another/, "another store");
  equal(names(), before, "they stayed");
});

test("a copy of a PostgreSQL store is not served over the folders of the first, whose processes share them", async (t) => {
  const place = await t.place("postgres"), copy = join(place.folder, "copy.db");
  const server = await t.serve(place);
  const tenant = await server.enter();
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "A", slug: "a" } });
  equal((await server.request("POST", `/tenant/${tenant}/agents/${made.json.id}/repo`)).status, 201, "the repository");
  equal((await t.on(place, ["backup", copy])).status, 0, "the backup");
  const trial = { ...(await t.place("postgres")), data: place.data, bucket: place.bucket };
  const own = ["--repo-folder", join(trial.folder, "own")];
  const restored = await t.on(trial, ["restore", copy, ...own]);
  equal(restored.status, 0, restored.stderr);
  for (const [flags, why] of [[own, /the bucket .* is being served by another lodge/], [["--bucket", `dir:${join(trial.folder, "bucket")}`], /the repositories in .* are being served by another lodge/]]) {
    if (flags !== own) await trial.sql("delete from meta where key like 'bucket%'");
    const beside = await t.on(trial, ["serve", "--listen", "127.0.0.1:0", ...flags]);
    ok(beside.status > 0, beside.stdout);
    match(beside.stderr, why, "why");
  }
  await (await t.serve(place)).stop();
});

test("a store and its repositories are put back both, or neither", async (t) => {
  const place = await t.place("sqlite");
  const server = await t.serve(place);
  const tenant = await server.enter();
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "A", slug: "a" } });
  equal((await server.request("POST", `/tenant/${tenant}/agents/${made.json.id}/repo`)).status, 201, "the repository");
  const folder = join(place.data, "repositories"), copy = join(place.folder, "copy.db"), beside = `${copy}.repositories`;
  mkdirSync(beside);
  const refused = await t.on(place, ["backup", copy]);
  match(refused.stderr, /copy\.db\.repositories is there already/, "a name that is taken");
  ok(!existsSync(copy), "nothing was written");
  rmdirSync(beside);
  equal((await t.on(place, ["backup", copy])).status, 0, "the backup");
  await server.stop();
  const [name] = readdirSync(folder).filter((one) => one.endsWith(".git"));
  const store = statSync(join(place.data, "lodge.db")).ino;
  const unchanged = () => equal(statSync(join(place.data, "lodge.db")).ino, store, "the store is the same");
  // A copy that cannot be read to its end.
  symlinkSync("objects", join(beside, "objects"));
  renameSync(join(beside, name, "objects"), join(beside, "kept"));
  renameSync(join(beside, "objects"), join(beside, name, "objects"));
  const broken = await t.on(place, ["restore", copy]);
  equal(broken.status, 1, broken.stdout);
  match(broken.stderr, /cannot be copied: .*Nothing was changed/, "why");
  unchanged();
  ok(!existsSync(join(folder, ".restoring")), "nothing is left of it");
  // None at all.
  renameSync(beside, `${copy}.aside`);
  const none = await t.on(place, ["restore", copy]);
  equal(none.status, 2, none.stdout);
  match(none.stderr, /there is no .*copy\.db\.repositories.*--without-repositories/, "why");
  unchanged();
  equal((await t.on(place, ["restore", copy, "--without-repositories"])).status, 0, "without them");
  const given = await t.on(place, ["restore", copy, "--repositories", folder]);
  equal(given.status, 0, given.stderr);
  rmSync(join(folder, name), { recursive: true });
  const missing = await t.on(place, ["backup", join(place.folder, "second.db")]);
  equal(missing.status, 1, missing.stdout);
  match(missing.stderr, /without 1 repositories of which the folder is missing .*, of [a-z0-9-]+\/a\./, "which");
  const check = await t.on(place, ["check"]);
  match(check.stderr, /of 1 repositories the folder is missing.*\/a: there is no such folder\. Put it back/, "the check");
});
