// repos.test.mjs - repositories of agents across processes: the job that takes prompts from them, a start with another address,
// and copies of them.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
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

/** As a restore leaves it that is killed when the store is in its place: `state` is what its note says. */
function breakOff(folder, copy, state) {
  const former = readdirSync(folder).find((one) => one.startsWith("former.")) ?? "former.20200101T000000Z";
  mkdirSync(join(folder, ".restoring"));
  if (state !== "brought") for (const one of readdirSync(folder).filter((name) => name.endsWith(".git"))) renameSync(join(folder, one), join(folder, ".restoring", one));
  writeFileSync(join(folder, ".restoring", "lodge-restoring"), `state: ${state}\nformer: ${former}\ncopy: ${copy}\n`);
}

testBoth("a restore that was broken off goes on when it is run again, and nothing is served before", async (t, engine) => {
  const first = await t.place("sqlite"), copy = join(first.folder, "copy.db");
  const server = await t.serve(first);
  const tenant = await server.enter();
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "A", slug: "a" } });
  equal((await server.request("POST", `/tenant/${tenant}/agents/${made.json.id}/repo`)).status, 201, "the repository");
  equal((await t.on(first, ["backup", copy])).status, 0, "the backup");
  await server.stop();
  const place = engine === "sqlite" ? first : { ...(await t.place(engine)), data: first.data, bucket: join(first.data, "bucket") };
  const folder = join(place.data, "repositories");
  const whole = await t.on(place, ["restore", copy]);
  equal(whole.status, 0, whole.stderr);
  for (const state of ["aside", ...(engine === "sqlite" ? [] : ["brought"])]) {
    breakOff(folder, copy, state);
    if (state === "brought") {
      execFileSync("cp", ["-r", join(folder, readdirSync(folder).find((one) => one.endsWith(".git"))), join(folder, ".restoring")]);
      for (const one of readdirSync(folder).filter((name) => name.startsWith("former."))) rmSync(join(folder, one), { recursive: true });
    }
    for (const args of [["serve", "--listen", "127.0.0.1:0"], ["check"], ["repos", "adopt"]]) {
      const refused = await t.on(place, args);
      ok(refused.status > 0, `${args}: ${refused.stdout}`);
      match(refused.stderr, /lodge restore .*copy\.db was broken off.* run it again/, args[0]);
    }
    const again = await t.on(place, ["restore", copy]);
    equal(again.status, 0, again.stderr);
    match(again.stdout, /Going on with what was broken off/, state);
    equal((await t.on(place, ["check", "--repositories"])).status, 0, "the check");
    equal(readdirSync(folder).filter((one) => one.startsWith("former.")).length, 1, "the former ones are together");
    ok(!existsSync(join(folder, ".restoring")), "nothing is left of it");
  }
  breakOff(folder, copy, "aside");
  const other = await t.on(place, ["restore", `${copy}.other`, "--without-repositories"]);
  match(other.stderr, /lodge restore .*copy\.db was broken off .* run that first/, "another copy");
});

test("repositories that do not belong to a copy, or a folder that is another's, are not taken for its own", async (t) => {
  const place = await t.place("sqlite"), copy = join(place.folder, "copy.db"), beside = `${copy}.repositories`;
  const server = await t.serve(place);
  const tenant = await server.enter();
  for (const slug of ["a", "b"]) {
    const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "A", slug } });
    equal((await server.request("POST", `/tenant/${tenant}/agents/${made.json.id}/repo`)).status, 201, "the repository");
  }
  // A backup that was killed between its two names.
  mkdirSync(beside);
  writeFileSync(join(beside, "lodge-unfinished"), "");
  const backup = await t.on(place, ["backup", copy]);
  equal(backup.status, 0, backup.stderr);
  ok(!existsSync(join(beside, "lodge-unfinished")), "it is finished");
  // Another store's command while it is served.
  const other = await t.place("sqlite"), folder = join(place.data, "repositories");
  equal((await t.on(other, ["migrate"])).status, 0, "another store");
  const taken = await t.on(other, ["repos", "adopt", "--repo-folder", folder]);
  equal(taken.status, 2, taken.stdout);
  match(taken.stderr, /are being served by another lodge/, "why it is not adopted");
  await server.stop();
  const names = readdirSync(folder).filter((one) => one.endsWith(".git"));
  const unchanged = () => equal(readdirSync(folder).filter((one) => one.startsWith("former.") || one === ".restoring").join(), "", "nothing was moved");
  const empty = join(place.folder, "empty");
  mkdirSync(empty);
  for (const [where, why] of [[empty, /rows of 2 repositories; in .*empty 2 of them are missing/], [beside, /0 of them are missing, and 1 are not whole/]]) {
    if (where === beside) for (const one of readdirSync(join(beside, names[0], "objects")).filter((name) => name.length === 2)) for (const object of readdirSync(join(beside, names[0], "objects", one))) truncateSync(join(beside, names[0], "objects", one, object), 5);
    const refused = await t.on(place, ["restore", copy, "--repositories", where]);
    equal(refused.status, 1, refused.stdout);
    match(refused.stderr, why, "why");
    unchanged();
  }
  const own = join(other.folder, "theirs.db");
  equal((await t.on(other, ["backup", own])).status, 0, "the other's copy");
  mkdirSync(`${own}.repositories`);
  const foreign = await t.on({ ...other, store: `sqlite:${join(other.folder, "try.db")}` }, ["restore", own, "--repo-folder", folder]);
  equal(foreign.status, 2, foreign.stdout);
  match(foreign.stderr, /the folder of another store's repositories.*--adopt/, "another's folder");
  unchanged();
  const rest = await t.on(place, ["restore", copy, "--incomplete"]);
  equal(rest.status, 0, rest.stderr);
  // Somebody is served by ssh.
  const held = spawn("flock", ["-s", join(folder, "ssh.lock"), "sh", "-c", "echo held; read end"], { stdio: ["pipe", "pipe", "ignore"] });
  await new Promise((done) => held.stdout.once("data", done));
  const pushed = await t.on(place, ["restore", copy, "--incomplete"]);
  held.stdin.end();
  equal(pushed.status, 2, pushed.stdout);
  match(pushed.stderr, /by ssh \(lodge git-serve\): try again/, "why it refuses");
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
  match(broken.stderr, /0 of them are missing, and 1 are not whole.*Nothing was changed.*--incomplete/, "why");
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
