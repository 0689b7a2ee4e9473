// console_repo.test.mjs - an agent's repository in the console: made, cloned by the commands that are copied there, pushed to and seen at
// once; its files, whatever they are called and hold; its branches and the pin; its prompts and which side of them counts.
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { console_stage } from "./console_stage.mjs";
import { becomes, bin, command, equal, match, ok, test } from "./harness.mjs";
import { good, keyOf } from "./git_stage.mjs";

const stage = console_stage();
const PROMPT = "You answer mail.\nBe kind.\nBe brief.\nAsk when something is missing.\nNever promise a date.\nSign as the desk.\nOne thing a letter.\nNo figures without a source.\nSay what you did.\n";
const HOSTILE = "<img src=x onerror=alert(1)>.md";

async function made(t, name, { repo = true } = {}) {
  const { server, tenant } = await stage();
  const agent = (await server.request("POST", `/tenant/${tenant}/agents`, { body: { name, slug: name.toLowerCase(), description_prompt: PROMPT, initial_greeting: "Hello." } })).json.id;
  const base = `/tenant/${tenant}/agents/${agent}`;
  if (repo) equal((await server.request("POST", `${base}/repo`, { body: {} })).status, 201, "the repository");
  const work = t.folder(), ask = join(work, "ask"), key = await keyOf(server, tenant);
  writeFileSync(ask, `#!/bin/sh\necho ${key}\n`);
  chmodSync(ask, 0o755);
  const env = { GIT_ASKPASS: ask };
  const clone = async () => {
    await good(work, ["clone", "-q", (await server.request("GET", `${base}/repo`)).json.url.replace("://", "://jo@"), "clone"], { env });
    return join(work, "clone");
  };
  const push = async (at, title, ...refs) => {
    await good(at, ["add", "-A"]);
    await good(at, ["commit", "-q", "-m", title]);
    await good(at, ["push", "-q", "origin", ...(refs.length ? refs : ["main"])], { env });
  };
  return { agent, base, work, env, clone, push, ask: (method, path, body) => server.request(method, path, { body }) };
}

/** The command that a button copies, run by a shell as it is. */
async function copied(view, label, work, env) {
  await view.page.getByRole("button", { name: label }).click();
  const text = await view.page.evaluate(() => navigator.clipboard.readText());
  const end = await command("sh", ["-c", text], { cwd: work, env: { PATH: process.env.PATH, HOME: work, GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0", ...env } });
  equal(end.status, 0, `${text}: ${end.stderr}`);
  return text;
}

test("a repository is made, cloned by what is copied, pushed to and seen, followed, let go of", async (t) => {
  const { server, slug, open } = await stage();
  const h = await made(t, "Desk", { repo: false });
  const view = await open(t, `/t/${slug}/agents/${h.agent}/repository`), { page } = view;
  await page.getByRole("heading", { name: "No repository yet" }).waitFor();
  await view.tabTo("Make the repository");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Clone" }).waitFor();
  await page.getByText("By ssh it is reached once the agent has a public key").waitFor();
  await view.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await copied(view, "Copy the command to clone by HTTP", h.work, h.env);
  equal(readFileSync(join(h.work, "desk/prompts/initial_greeting.md"), "utf8"), "Hello.\n", "what is cloned");
  // By ssh: what sshd would hand to the program.
  const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ5Q0ZxZ1xGm5V8m0R2h0JY2b7Cw5bT0mGJbqk0uYQ1x", print = createHash("sha256").update(key).digest("hex");
  await h.ask("PATCH", h.base, { ssh_public_key: `${key} desk` });
  const ssh = join(h.work, "ssh"), config = join(h.work, "lodge.conf");
  writeFileSync(config, `data = ${server.place.data}\nstore = ${server.place.store}\n`);
  writeFileSync(ssh, `#!/bin/sh\nfor last; do :; done\necho "$@" >>${h.work}/asked\nSSH_ORIGINAL_COMMAND="$last" ASAN_OPTIONS=detect_leaks=0 exec ${bin} git-serve --config ${config} ${print}\n`);
  chmodSync(ssh, 0o755);
  mkdirSync(join(h.work, "by-ssh"));
  await copied(view, "Copy the command to clone by ssh", join(h.work, "by-ssh"), { GIT_SSH: ssh });
  match(readFileSync(join(h.work, "asked"), "utf8"), /git@127\.0\.0\.1 git-upload-pack 'demo\/desk\.git'/, "who is asked");
  ok(readFileSync(join(h.work, "by-ssh/desk/prompts/description_prompt.md"), "utf8").startsWith("You answer mail."), "what is cloned by ssh");
  await view.looks("repo-state");

  // One that is kept elsewhere, and is away: why, and when it is tried again.
  await page.route(/\/repo$/, async (route) => {
    const json = await (await route.fetch()).json(), later = new Date(Date.now() + 180_000).toISOString();
    return route.fulfill({ json: { ...json, host: "gitlab", url: "https://git.example.org/team/a b.git", web_url: "javascript:alert(1)", has_token: true, last_error: "The host does not answer.", next_attempt_at: later } });
  });
  await page.reload();
  await page.getByRole("alert").getByText(/The host does not answer\. It is tried again in 3 min/).waitFor();
  await page.getByText("git clone 'https://git.example.org/team/a b.git'").waitFor();
  equal(await page.locator("a[href^=javascript]").count() + await page.getByRole("button", { name: /clone by ssh/ }).count(), 0, "addresses that lead astray");
  await page.unroute(/\/repo$/);
  await page.reload();

  // A push is seen by whoever looks, without reloading.
  writeFileSync(join(h.work, "desk/prompts/initial_greeting.md"), "Good day.\n");
  await h.push(join(h.work, "desk"), "Greet better");
  await page.getByText("The repository has another text for 1 prompt.").waitFor();
  await page.getByRole("link", { name: "Settings" }).last().click();
  await view.looks("repo-settings");
  await page.getByRole("radio", { name: "Auto" }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("navigation", { name: "Parts of the repository" }).getByRole("link", { name: "Prompts" }).click();
  await page.getByRole("row", { name: /Greeting Nothing to settle/ }).waitFor();
  equal((await h.ask("GET", h.base)).json.initial_greeting, "Good day.", "the prompt");
  await page.getByRole("navigation", { name: "Parts of the repository" }).getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Let go of the repository" }).click();
  await page.getByLabel("Type desk to go on").fill("desk");
  await page.getByRole("dialog").getByRole("button", { name: "Let go of it" }).click();
  await page.getByRole("heading", { name: "No repository yet" }).waitFor();
  view.quiet();
}, { ms: 120_000 });

test("files, commits, branches and the pin, whatever strangers call them", async (t) => {
  const { server, slug, open, person } = await stage();
  const h = await made(t, "Shelf"), at = await h.clone();
  for (const name of ["src", "vendor"]) mkdirSync(join(at, name));
  writeFileSync(join(at, "src/read.py"), "# Reads a list\ndef price(text):\n    return int(text)\n");
  writeFileSync(join(at, HOSTILE), "<script>alert(1)</script>\n");
  writeFileSync(join(at, "long.txt"), "x".repeat(2_000_000));
  writeFileSync(join(at, "picture.bin"), Buffer.from([0, 1, 2, 255]));
  symlinkSync("/etc/passwd", join(at, "passwd"));
  await good(at, ["update-index", "--add", "--cacheinfo", "160000,0123456789012345678901234567890123456789,vendor"]);
  await h.push(at, "Fix \u202Eexe.gnp for <b>all</b>", "main");
  await good(at, ["tag", "v1"]);
  await good(at, ["update-ref", "--stdin"], { input: Array.from({ length: 250 }, (_, i) => `create refs/heads/topic/${i} HEAD\n`).join("") });
  await good(at, ["push", "-q", "origin", "v1", "refs/heads/topic/*"], { env: h.env });

  const part = (name) => `/t/${slug}/agents/${h.agent}/repository?part=${name}`;
  const view = await open(t, part("files"), { expected: [422, 502] }), { page } = view;
  const files = page.getByRole("table", { name: "Files" });
  await files.getByRole("row", { name: /passwd link, not followed/ }).waitFor();
  await files.getByRole("row", { name: /vendor another repository, not followed/ }).waitFor();
  equal(await files.getByRole("link", { name: "passwd" }).count() + await files.getByRole("link", { name: "vendor" }).count(), 0, "links that lead out");
  await view.looks("repo-files");
  await files.getByRole("link", { name: HOSTILE }).click();
  await page.getByRole("group", { name: `Text of ${HOSTILE}` }).getByText("<script>alert(1)</script>").waitFor();
  await page.getByRole("navigation", { name: "Folder" }).getByRole("link", { name: "shelf" }).click();
  await files.getByRole("link", { name: "long.txt" }).click();
  await page.getByText("This is the beginning of it").waitFor();
  ok((await page.locator(".lines").innerText()).length < 3000, "a line without an end is cut");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download" }).click()]);
  equal(readFileSync(await download.path()).length, 2_000_000, "what is downloaded");
  await page.goBack();
  await files.getByRole("link", { name: "picture.bin" }).click();
  await page.getByRole("heading", { name: "It is no text" }).waitFor();
  await page.goBack();
  await files.getByRole("link", { name: "src/" }).click();
  await files.getByRole("link", { name: "read.py" }).click();
  await page.locator(".lines .code-word").getByText("def").waitFor();
  equal(await page.evaluate(() => document.activeElement?.textContent), "read.py", "what has the focus");
  await view.looks("repo-file");
  await page.getByRole("link", { name: "Its commits" }).click();
  const commits = page.getByRole("table", { name: "Commits" });
  await commits.getByRole("row", { name: /Fix \\u202eexe\.gnp for <b>all<\/b>/ }).waitFor();
  equal(await commits.getByRole("row").count(), 2, "rows");
  await page.getByRole("navigation", { name: "Folder" }).getByRole("link", { name: "shelf" }).click();
  await commits.getByRole("row", { name: /Begin with the prompts/ }).getByRole("link").click();
  await files.getByRole("link", { name: "prompts/" }).waitFor();
  equal(await files.getByRole("link", { name: "src/" }).count(), 0, "what came later");
  // Another branch or tag, by typing.
  await page.getByRole("combobox", { name: "Branch, tag or commit" }).fill("v1");
  await page.getByRole("option", { name: "v1 tag" }).waitFor();
  await page.keyboard.press("Enter");
  await files.getByRole("link", { name: "src/" }).waitFor();

  await view.go(part("refs"));
  await page.getByText("252 names, of which 200 are shown").waitFor();
  await page.getByLabel("Search branches and tags").fill("v1");
  await page.getByText("1 name", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Pin to v1" }).click();
  await page.getByRole("row", { name: /v1 tag Pinned/ }).waitFor();
  equal((await h.ask("GET", h.base)).json.code_ref, "v1", "the pin");
  await view.looks("repo-refs");
  await page.getByText("Pin by name").click();
  await page.getByLabel("Branch or tag").fill("nowhere");
  await page.keyboard.press("Enter");
  await page.getByText(/is neither a branch nor a tag of the agent's repository/i).waitFor();
  // The repository is away: the pin stays, and it is said why.
  const id = (await h.ask("GET", `${h.base}/repo`)).json.id, folder = join(server.place.data, "repositories", `${id}.git`);
  await page.getByLabel("Search branches and tags").fill("main");
  await page.getByRole("button", { name: "Pin to main" }).waitFor();
  renameSync(folder, `${folder}.away`);
  await page.getByRole("button", { name: "Pin to main" }).click();
  await page.getByRole("alert").getByText(/The repository could not be asked: .* The pin stays at v1/).waitFor();
  await page.getByText("They cannot be listed now").waitFor();
  await view.go(part("prompts"));
  await page.getByRole("heading", { name: "The repository cannot be read" }).waitFor();
  renameSync(`${folder}.away`, folder);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("table", { name: "Prompts and their files" }).waitFor();
  view.quiet();

  // Who may only look sees all of it and changes nothing.
  const seer = await open(t, part("refs"), { who: await person() });
  await seer.page.getByRole("row", { name: /v1 tag Pinned/ }).waitFor();
  equal(await seer.page.getByRole("button", { name: /^Pin/ }).count(), 0, "buttons to pin");
  await seer.page.getByRole("link", { name: "Prompts" }).last().click();
  await seer.page.getByRole("link", { name: "System prompt" }).click();
  await seer.page.getByText("Both say the same.").waitFor();
  equal(await seer.page.getByRole("button", { name: /Take the repository|Keep the live/ }).count() + await seer.page.getByRole("navigation", { name: "Parts of the repository" }).getByRole("link", { name: "Settings" }).count(), 0, "what changes something");
  seer.quiet();
}, { ms: 120_000 });

test("a prompt and its file side by side: what differs, and which side counts", async (t) => {
  const { slug, open } = await stage();
  const h = await made(t, "Scribe"), at = await h.clone(), file = "prompts/description_prompt.md";
  writeFileSync(join(at, file), PROMPT.replace("Be kind.", "Be very kind."));
  await h.push(at, "Kinder");
  const view = await open(t, `/t/${slug}/agents/${h.agent}/repository?part=prompts`, { expected: [409] }), { page } = view;
  const table = page.getByRole("table", { name: "Prompts and their files" }), live = async () => (await h.ask("GET", h.base)).json.description_prompt;
  await table.getByRole("row", { name: /The repository has another/ }).getByRole("link").first().click();
  const sides = page.getByRole("table", { name: /repository and live/ });
  await sides.getByText("very ", { exact: true }).waitFor();
  equal(await sides.locator("del").allInnerTexts().then((l) => l.join("|")), "very ", "what is marked");
  // Folded lines open, and differences are reached, by keyboard alone.
  await view.tabTo("Show");
  await page.keyboard.press("Enter");
  await sides.getByText("Say what you did.").first().waitFor();
  await page.keyboard.press("n");
  equal(await page.evaluate(() => document.activeElement?.hasAttribute("data-differs")), true, "the difference has the focus");
  await view.looks("repo-difference");
  await page.setViewportSize({ width: 320, height: 740 });
  ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "wider than 320 pixels");
  await page.setViewportSize({ width: 1440, height: 900 });

  // Whoever decides has seen what there is: a refusal shows it anew.
  await page.route("**/prompt-provenance/resolve", (route) => route.fulfill({ status: 409, contentType: "application/problem+json", body: JSON.stringify({ title: "Conflict", detail: "The branch has moved." }) }), { times: 1 });
  await page.getByRole("button", { name: "Take the repository's text" }).click();
  await page.getByRole("alert").getByText("The branch has moved. Nothing was done.").waitFor();
  ok((await live()).includes("Be kind."), "the prompt after a refusal");
  await page.getByRole("button", { name: "Take the repository's text" }).click();
  await page.getByText("Both say the same.").waitFor();
  ok((await live()).includes("Be very kind."), "the prompt is the file's");
  await page.getByRole("button", { name: "Undo" }).click();
  await table.getByRole("row", { name: /Both have moved/ }).waitFor();
  equal((await live()).trimEnd(), PROMPT.trimEnd(), "the prompt is as it was");
  // Changed by somebody else while it is looked at: seen at once.
  await h.ask("PATCH", h.base, { description_prompt: "You answer mail.\nBe fair." });
  await sides.getByText("fair", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Keep the live prompt" }).click();
  await table.getByRole("row", { name: /System prompt Nothing to settle/ }).waitFor();
  await good(at, ["pull", "-q"], { env: h.env });
  equal(readFileSync(join(at, file), "utf8"), "You answer mail.\nBe fair.\n", "the file");
  view.quiet();
}, { ms: 120_000 });

test("what a push would change waits in the inbox and beside the prompts; an image repository is made and cloned", async (t) => {
  const { slug, open } = await stage();
  const h = await made(t, "Clerk"), at = await h.clone(), file = join(at, "prompts/initial_greeting.md"), live = async () => (await h.ask("GET", h.base)).json.initial_greeting;
  equal((await h.ask("PATCH", `${h.base}/repo`, { projection: "propose" })).status, 200, "the mode");
  const view = await open(t, `/t/${slug}/inbox?kind=proposal`, { expected: [409] }), { page } = view;
  await page.getByText("Nothing of this kind waits").waitFor();
  writeFileSync(file, "Good day.\n");
  await h.push(at, "Greet \u202Ebetter");
  const waits = page.getByRole("list", { name: "What waits" }).getByRole("listitem");
  await waits.getByText("would change Greeting").waitFor();
  await waits.getByRole("group", { name: "What would change in Greeting" }).getByText("+Good day.").waitFor();
  await view.looks("repo-inbox");
  await page.keyboard.press("j");
  await page.keyboard.press("a");
  await page.getByRole("heading", { name: "Nothing matches" }).waitFor();
  equal(await live(), "Good day.", "the prompt after approval");

  await view.go(`/t/${slug}/agents/${h.agent}/repository?part=prompts`);
  writeFileSync(file, "Good night.\n");
  await h.push(at, "Say good night");
  const asked = page.getByRole("region", { name: "Proposed by a push" });
  await asked.getByText("+Good night.").waitFor();
  await view.looks("repo-proposal");
  // Somebody was first: it is said, and nothing is written.
  await page.route("**/prompt-proposals/*", (route) => (route.request().method() === "POST" ? route.fulfill({ status: 409, contentType: "application/problem+json", body: JSON.stringify({ title: "Conflict", detail: "The file was changed since." }) }) : route.continue()));
  await asked.getByRole("button", { name: "Approve" }).click();
  await page.getByText("The file was changed since. Nothing was written; look at what is asked now.").waitFor();
  await page.unroute("**/prompt-proposals/*");
  await asked.getByRole("button", { name: "Reject" }).click();
  await becomes(() => asked.count(), 0, "what is asked");
  await page.getByText("What was decided").click();
  await page.getByRole("table", { name: "Proposals" }).getByRole("row", { name: /Say good night Rejected/ }).waitFor();
  equal(await live(), "Good day.", "the prompt after a rejection");

  await page.getByRole("navigation", { name: "Parts of the repository" }).getByRole("link", { name: "State" }).click();
  await page.getByRole("button", { name: "Make it, or show the one it has" }).click();
  await view.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await copied(view, "Copy the command to clone the image repository by HTTP", h.work, h.env);
  match(readFileSync(join(h.work, "clerk.image/Dockerfile"), "utf8"), /FROM/, "what is cloned");
  view.quiet();
}, { ms: 120_000 });
