// console_frame.test.mjs - the console's frame and its first screens in a real browser: how files are served, signing in,
// the agents, the palette, a login that ends, two people at one agent.
import { ADMIN, becomes, equal, match, ok, test, until } from "./harness.mjs";
import { console_stage } from "./console_stage.mjs";

const stage = console_stage();

test("files are served closed, compressed, and for ever where their name is their hash", async () => {
  const { server } = await stage();
  const get = (path, headers = {}) => server.request("GET", path, { token: null, headers });
  equal((await get("/")).headers.location, "/console/", "where / leads");
  const page = await get("/console/");
  equal(page.status, 200, "the page");
  match(page.headers["content-security-policy"], /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'.*require-trusted-types-for 'script'/, "the policy");
  equal(page.headers["cache-control"], "no-cache", "how long the page is kept");
  equal((await get("/console/", { "If-None-Match": page.headers.etag })).status, 304, "the page again");
  equal((await get("/console/t/demo/agents")).text, page.text, "a deep link");
  const script = /src="(\/console\/assets\/main-[A-Z0-9]{8}\.js)"/.exec(page.text)[1];
  for (const [coding, header] of [["br", "br, gzip"], ["gzip", "gzip"], [undefined, "identity"]]) {
    const reply = await get(script, { "Accept-Encoding": header });
    equal(reply.headers["content-encoding"], coding, `the form for ${header}`);
    equal(reply.headers["cache-control"], "public, max-age=31536000, immutable", "how long a script is kept");
    equal((await get(script, { "Accept-Encoding": header, "If-None-Match": reply.headers.etag })).status, 304, "the script again");
  }
  const gone = await get("/console/assets/main-AAAAAAAA.js");
  equal(gone.status, 404, "a script that is not there");
  equal(gone.headers["content-type"], "application/problem+json", "and what it is answered");
  equal((await get("/nothing")).headers["content-type"], "application/problem+json", "an unknown path of the API");
  equal((await server.request("POST", "/console/", { token: null })).status, 404, "a change");
  equal((await server.request("HEAD", "/console/", { token: null })).text, "", "a head");
});

test("without the console the root says where the document is", async (t) => {
  const server = await t.serve(await t.place("sqlite"), { flags: ["--console=off"] });
  const reply = await server.request("GET", "/", { token: null });
  equal(reply.headers["content-type"], "text/plain; charset=utf-8", "the type");
  match(reply.text, /\/openapi\.json/, "the words");
  equal((await server.request("GET", "/console/", { token: null })).status, 404, "the console");
});

test("somebody signs in by keyboard, is told why not, and finds what they came for", async (t) => {
  const { stranger, slug } = await stage();
  const view = await stranger(t, `/t/${slug}/settings`);
  const { page } = view;
  await page.getByLabel("Email address").waitFor();
  await view.looks("sign-in");
  await page.keyboard.type(ADMIN.email);
  await view.tabTo("Password");
  await page.keyboard.type("not the password");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await view.looks("sign-in-refused");
  await page.keyboard.type(ADMIN.password); // in place of the wrong one
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  await page.getByText("Live").waitFor();
  await page.getByLabel("Name").waitFor();
  await view.looks("settings");
  view.quiet();
}, { ms: 120_000 });

test("agents: nothing that matches, a new one by the contract's form, its faults at their fields", async (t) => {
  const { open, slug, server, tenant } = await stage();
  const view = await open(t, `/t/${slug}/agents`, { expected: [409, 422] });
  const { page } = view;
  await page.getByRole("link", { name: "New agent" }).waitFor();
  await view.looks("agents");
  await page.keyboard.press("/");
  for (const word of ["no ", "agent ", "is ", "called ", "that"]) {
    await page.keyboard.type(word);
    await page.waitForURL((url) => url.searchParams.get("q")?.trimEnd().endsWith(word.trimEnd()));
  }
  await page.getByText("Nothing matches").waitFor();
  equal(new URL(page.url()).searchParams.get("q"), "no agent is called that", "the filter in the address");
  await view.looks("agents-filtered-empty");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByText("Nothing matches").waitFor({ state: "detached" });
  await page.getByRole("link", { name: "New agent" }).click();
  await page.getByLabel("Name").fill("Scout & friends");
  await becomes(() => page.getByLabel("Slug").inputValue(), "scout-friends", "the slug that follows the name");
  await page.getByText("More", { exact: true }).click();
  equal(await page.getByLabel("Image ref").count(), 0, "fields that do nothing");
  await page.getByLabel("Mark after").fill("0");
  await page.getByRole("button", { name: "Create agent" }).click();
  await becomes(() => page.locator("[data-field=name] .error").textContent(), "may have letters A to Z, digits, blanks and hyphens only", "a pattern in words");
  await page.locator("[data-field=iteration_warn_threshold] .error").waitFor();
  await becomes(() => page.evaluate(() => document.activeElement?.getAttribute("name")), "name", "what has the focus");
  await view.looks("agent-new-refused");
  await page.reload();
  await becomes(() => page.getByLabel("Name").inputValue(), "Scout & friends", "the draft after a reload");
  // What is given up is not there again.
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("link", { name: "New agent" }).click();
  await becomes(() => page.getByLabel("Name").inputValue(), "", "the draft after Cancel");
  await page.getByLabel("Name").fill("Scout");
  await page.getByText("More", { exact: true }).click();
  await page.getByLabel("Mark after").fill("25");
  const taken = (await server.request("GET", `/tenant/${tenant}/agents?per_page=1`)).json.items[0].slug;
  await page.getByLabel("Slug").fill(taken);
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.locator("[data-field=slug] .error", { hasText: `the slug ${taken} already` }).waitFor();
  await becomes(() => page.evaluate(() => document.activeElement?.getAttribute("name")), "slug", "what has the focus");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("scout");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByRole("heading", { name: "Scout", level: 1 }).waitFor();
  await page.getByRole("heading", { name: "Last sessions" }).waitFor();
  await view.looks("agent");
  view.quiet();
}, { ms: 120_000 });

test("the palette finds an agent by the beginning of a word, by keyboard alone", async (t) => {
  const { open, slug, server, tenant } = await stage();
  await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Heron watcher", slug: "heron" } });
  const view = await open(t, `/t/${slug}/agents`);
  const { page } = view;
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find" }).waitFor();
  await page.keyboard.type("heron");
  await page.getByRole("option", { name: /Heron watcher/ }).waitFor();
  await view.looks("palette");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Heron watcher", level: 1 }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await view.looks("keys");
  view.quiet();
}, { ms: 120_000 });

// A browser opens six connections to one place: with a stream a tab, the seventh would wait for ever.
test("what another makes is seen without reload, in eight tabs over one stream", async (t) => {
  const { open, slug, server, tenant } = await stage();
  const view = await open(t, `/t/${slug}/agents`);
  const tabs = [view.page];
  while (tabs.length < 8) {
    const page = await view.context.newPage();
    await page.goto(view.page.url());
    tabs.push(page);
  }
  for (const page of tabs) await page.getByText("Live", { exact: true }).waitFor();
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Made elsewhere", slug: "made-elsewhere", description: "<img src=x onerror=alert(1)> **not bold**" } });
  equal(made.status, 201, "the agent");
  for (const page of tabs) {
    await page.getByRole("link", { name: "Made elsewhere" }).waitFor();
    await becomes(() => page.getByText("<img src=x onerror=alert(1)> **not bold**").count(), 1, "its description, as it was written");
  }
  view.quiet();
}, { ms: 120_000 });

test("without a shared worker a tab has a stream of its own", async (t) => {
  const { open, slug, server, tenant } = await stage();
  const view = await open(t, "/account");
  await view.context.addInitScript(() => delete globalThis.SharedWorker);
  await view.go(`/t/${slug}/agents`);
  await view.page.getByText("Live", { exact: true }).waitFor();
  await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Told to one tab", slug: "told-to-one-tab" } });
  await view.page.getByRole("link", { name: "Told to one tab" }).waitFor();
  view.quiet();
}, { ms: 60_000 });

test("what somebody wrote becomes nodes, and never markup, script or a request", async (t) => {
  const { open, slug } = await stage();
  const view = await open(t, `/t/${slug}/agents/new`);
  const { page } = view;
  await page.getByLabel("System prompt").first().fill([
    "# Title", "", "Some **bold** and `code <b>`, <b onclick=alert(1)>raw</b>.", "", "<script>alert(1)</script>", "",
    "![a picture](https://elsewhere.example/x.png) [good](https://example.org/a?b=1&c=2) [mail](mailto:a@example.org)",
    "[bad](javascript:alert(1)) [worse](data:text/html,x) [own](/console/account) <https://example.org/auto>", "",
    "- one", "- [x] two", "", "1. first", "2. second", "", "| a | b |", "|---|---|", "| 1 | <i>2</i> |", "", "```js", "let a = '<i>';", "```", "", "> said &amp; done &lt;i&gt;",
  ].join("\n"));
  await page.getByRole("button", { name: "Preview of System prompt" }).click();
  const shown = page.locator(".preview");
  await shown.getByRole("heading", { name: "Title" }).waitFor();
  equal(await shown.locator("script, img, b, i, iframe, [onclick]").count(), 0, "markup of the writer's");
  equal((await shown.locator("a").evaluateAll((all) => all.map((a) => a.getAttribute("href")))).join(" "), "https://example.org/a?b=1&c=2 mailto:a@example.org https://example.org/auto", "where links lead");
  equal(await shown.locator("a:not([rel='noreferrer noopener'])").count(), 0, "links that say who follows them");
  for (const text of ["<script>alert(1)</script>", "<b onclick=alert(1)>raw</b>", "https://elsewhere.example/x.png", "code <b>", "let a = '<i>';", "said & done <i>"])
    ok((await shown.textContent()).includes(text), `"${text}" is not shown as it was written: ${await shown.textContent()}`);
  await becomes(() => shown.locator("strong, td, ol li, ul li, pre").count(), 8, "strong, cells, items, code");
  await view.looks("markdown");
  // What would take minutes to read is shown as it was written.
  for (const text of [">".repeat(3000), "*a_".repeat(5000), `${"a".repeat(20_000)}@`, `${"- ".repeat(3000)}a`]) {
    await page.getByRole("button", { name: "Preview of System prompt" }).click();
    await page.getByLabel("System prompt").first().fill(text);
    await page.getByRole("button", { name: "Preview of System prompt" }).click();
    await becomes(() => shown.locator(".raw").textContent(), text, `${text.slice(0, 9)}…`);
  }
  view.quiet();
}, { ms: 60_000 });

test("a login that ends while somebody types loses nothing", async (t) => {
  const { open, slug, server, tenant, person } = await stage();
  const grace = await person("ADMIN");
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Kept", slug: "kept" } });
  const view = await open(t, `/t/${slug}/agents/${made.json.id}/settings`, { who: grace });
  const { page } = view;
  await page.getByLabel("Description", { exact: false }).first().fill("Typed before the login ended");
  equal((await server.request("POST", `/admin/users/${grace.id}/unlock`)).status, 204, "the super administrator");
  await view.loseLogin();
  await page.getByRole("button", { name: "Save settings" }).click();
  await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
  await view.looks("sign-in-again");
  await becomes(() => page.evaluate(() => document.activeElement?.getAttribute("name")), "password", "what has the focus");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Sign in again" }).getByLabel("Password", { exact: true }).fill(grace.password);
  await page.keyboard.press("Enter");
  await page.getByText("Saved", { exact: true }).waitFor();
  const now = await server.request("GET", `/tenant/${tenant}/agents/${made.json.id}`);
  equal(now.json.description, "Typed before the login ended", "what was typed");
  view.quiet();
}, { ms: 60_000 });

test("two people change one agent: theirs, yours, or some of each", async (t) => {
  const { open, slug, server, tenant } = await stage();
  const at = `/tenant/${tenant}/agents/${(await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Shared", slug: "shared", description: "first" } })).json.id}`;
  const view = await open(t, `/t/${slug}/agents/${at.split("/").at(-1)}/settings`, { expected: [412] });
  const { page } = view;
  await page.getByLabel("Description", { exact: false }).first().fill("mine");
  // The other's change comes while ours is on its way: its events are held up, as a slow network does.
  let changed = false;
  await page.route(`**${at}`, async (route) => {
    if (route.request().method() === "PATCH" && !changed) {
      changed = true;
      equal((await server.request("PATCH", at, { body: { description: "theirs", initial_greeting: "Hello" } })).status, 200, "the other's change");
    }
    await route.continue();
  });
  await page.getByRole("button", { name: "Save settings" }).click();
  await page.getByRole("dialog", { name: /Somebody else/ }).waitFor();
  await view.looks("merge");
  await page.getByRole("button", { name: "Save as chosen" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  const now = await server.request("GET", at);
  equal(now.json.description, "mine", "what both changed");
  equal(now.json.initial_greeting, "Hello", "what only the other changed");
  await becomes(() => page.evaluate(() => document.activeElement?.textContent), "Save settings", "what has the focus");

  // The other's change is in view already: what was typed over it is asked about all the same.
  await page.unroute(`**${at}`);
  await page.getByLabel("Description", { exact: false }).first().fill("mine again");
  equal((await server.request("PATCH", at, { body: { description: "theirs again", name: "Shared anew" } })).status, 200, "the other's change");
  await becomes(() => page.getByLabel("Name", { exact: true }).inputValue(), "Shared anew", "what was not touched");
  await page.getByRole("button", { name: "Save settings" }).click();
  await page.getByRole("dialog", { name: /Somebody else/ }).getByText("theirs again").waitFor();
  await page.getByRole("button", { name: "Keep theirs" }).click();
  await becomes(() => page.getByLabel("Description", { exact: false }).first().inputValue(), "theirs again", "what is shown");
  equal((await server.request("GET", at)).json.description, "theirs again", "what stands");

  // What must be something is not offered as nothing.
  await view.go(`/t/${slug}/settings`);
  await page.getByLabel("Skills that new agents write").waitFor();
  equal(await page.getByRole("option", { name: "Not set" }).count(), 0, "choices of nothing");
  view.quiet();
}, { ms: 60_000 });

test("a member sees what a member may, and is told what is missing", async (t) => {
  const { open, slug, person, server, tenant } = await stage();
  const grace = await person("GUEST"), ada = await person("MEMBER");
  const view = await open(t, `/t/${slug}/agents/new`, { who: grace });
  await view.page.getByText("You may not see this").waitFor();
  await view.looks("forbidden");
  const agent = (await server.request("GET", `/tenant/${tenant}/agents?per_page=1`)).json.items[0].id;
  const member = await open(t, `/t/${slug}/agents/${agent}/settings`, { who: ada });
  await member.page.getByText("This part is not for you").waitFor();
  await member.looks("agent-not-for-you");
  await member.go(`/t/${slug}/start`);
  await member.page.getByText("You may not see this").waitFor();
  member.quiet();
  await view.go("/t/another/agents");
  await view.page.getByText("There is nothing here").waitFor();
  ok(!(await view.page.getByRole("link", { name: "New agent" }).count()), "the action of others");
  await view.go("/account");
  await view.page.getByRole("heading", { name: "Your account", level: 1 }).waitFor();
  await view.looks("account");
  view.quiet();
}, { ms: 60_000 });

// The last of the file: the service that all share is another one after it.
test("a service that dies is noticed, and its stream is taken up again", async (t) => {
  const { open, slug, tenant, kill } = await stage();
  const view = await open(t, `/t/${slug}/agents`);
  const { page } = view;
  await page.getByText("Live", { exact: true }).waitFor();
  await page.getByRole("link", { name: "New agent" }).click();
  await page.getByLabel("Name").waitFor();
  const start = await kill();
  await page.getByText("Connection lost").waitFor();
  await page.getByLabel("Name").fill("Typed while nobody answered");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByText("cannot be reached").waitFor();
  await view.looks("agent-new-unreached");
  const again = await start();
  await page.getByText("Live", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByRole("heading", { name: "Typed while nobody answered", level: 1 }).waitFor();
  equal((await again.request("GET", `/tenant/${tenant}/agents?q=Typed+while`)).json.items.length, 1, "what was made");
  ok(view.complaints.every((c) => /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/.test(c)), view.complaints.join("\n"));
}, { ms: 120_000 });

test("nothing of one person's is left for the next at the same browser", async (t) => {
  const { open, slug, person, server, tenant } = await stage();
  const next = await person("ADMIN");
  const view = await open(t, `/t/${slug}/agents/new`);
  const { page } = view;
  await page.getByLabel("Name").fill("Of the first");
  await until(20_000, "the draft", () => page.evaluate(() => JSON.stringify(localStorage).includes("Of the first")));
  const allowed = await server.request("POST", `/tenant/${tenant}/allowed-accounts`, { body: { email: "gone@example.org" } });
  equal(allowed.status, 201, allowed.text);
  await view.go(`/t/${slug}/people/allowed`);
  await page.getByRole("button", { name: "Remove gone@example.org" }).click();
  await page.getByRole("button", { name: "Undo" }).waitFor();
  const other = await view.context.newPage();
  await other.goto(`${view.origin}/console/t/${slug}/people`);
  await other.getByRole("heading", { level: 1, name: "People" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Email").waitFor();
  await other.getByLabel("Email").waitFor(); // nothing stays in view there
  await other.close();
  // What could still be undone was done by who did it.
  const log = await server.request("GET", `/tenant/${tenant}/audit?action=allowed_account.remove`);
  ok(!JSON.stringify(await page.evaluate(() => ({ ...localStorage }))).includes("Of the first"), "a draft outlived its writer");
  ok(!log.text.includes(next.id), "somebody else's change");
  equal((await server.request("GET", `/tenant/${tenant}/allowed-accounts`)).json.items.filter((a) => a.email === "gone@example.org").length, 0, "what was removed");
  // Back finds a place to sign in, and not who was there.
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Sign in", exact: true }).waitFor();
  await view.signIn(next);
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  await view.go(`/t/${slug}/agents/new`);
  await becomes(() => page.getByLabel("Name").inputValue(), "", "the next one's form");
  view.quiet();
}, { ms: 90_000 });
