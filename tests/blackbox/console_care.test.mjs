// console_care.test.mjs - what the console owes to whoever works with it: nothing typed is lost unasked, the focus never falls
// out of the page, a refusal is said, and names are shown as they are.
import { console_stage } from "./console_stage.mjs";
import { agentOf, begin, modelAt, slowModel, stands } from "./console_talk.mjs";
import { becomes, equal, match, test, until } from "./harness.mjs";

const stage = console_stage({ flags: ["--allow-private-addresses=true"] });
const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "");
const pathOf = (page) => new URL(page.url()).pathname + new URL(page.url()).search;

test("Back asks before it loses what was typed, and stays where one is if the answer is no", async (t) => {
  const { open, slug, server, tenant } = await stage();
  const agent = (await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Asked", slug: "asked" } })).json.id;
  const view = await open(t, `/t/${slug}/agents`);
  const { page } = view;
  const settings = `/console/t/${slug}/agents/${agent}/settings`;
  await page.getByRole("link", { name: "Asked" }).first().click();
  await page.getByRole("navigation", { name: "Parts of this agent" }).getByRole("link", { name: "Settings" }).click();
  const box = page.getByLabel("Description", { exact: false }).first();
  await box.fill("Typed and not saved");
  let asked = 0, answer = false;
  page.on("dialog", (d) => (asked++, answer ? d.accept() : d.dismiss()));
  await page.evaluate(() => history.back());
  await becomes(() => asked, 1, "how often it asked");
  await becomes(() => pathOf(page), settings, "the address after No");
  equal(await box.inputValue(), "Typed and not saved", "what was typed");
  await page.evaluate(() => history.go(-2));
  await becomes(() => asked, 2, "how often it asked");
  await becomes(() => pathOf(page), settings, "the address after No over two steps");
  answer = true;
  await page.evaluate(() => history.back());
  await page.waitForURL(`**/agents/${agent}`);
  await page.evaluate(() => history.forward());
  await page.waitForURL(`**${settings}`);
  equal(asked, 3, "how often it asked in all");
  await becomes(() => box.inputValue(), "", "what stands there now");
  equal(await page.title(), `Settings – Asked – ${await page.locator(".tenant").innerText().then((s) => s.split("\n").at(-1))} – Lodge`, "the title of the window");

  // A form that a parameter of the address opens.
  answer = false;
  await view.go(`/t/${slug}/bundles`);
  await page.getByRole("link", { name: "New bundle" }).first().click();
  await page.getByLabel("Name", { exact: false }).first().fill("Half a bundle");
  await page.evaluate(() => history.back());
  await becomes(() => asked, 4, "how often it asked");
  await becomes(() => pathOf(page), `/console/t/${slug}/bundles?bundle=new`, "the address after No");
  view.quiet();
});

test("the focus goes on to what comes next: approvals, rows, dialogs; Esc closes the menu; a secret in view is not left unasked", async (t) => {
  const at = await stage();
  const { open, slug, server, tenant } = at;
  const model = await slowModel(t);
  const agent = await agentOf(at, "Asks twice", { tools: [["time", true]], models: [await modelAt(at, "asking", model.url)] });
  const id = await begin(at, agent, { message: "What time is it?" });
  (await model.answer(0)).call([["time", { time_zone: "exe\u202Egnp\u200B" }], ["time", {}]]);
  await stands(server, id, "waiting_approval");
  const view = await open(t, `/t/${slug}/sessions/${id}`);
  const { page } = view;
  const waits = page.locator(".decision");
  // What will be sent is shown with every sign that is in it.
  await becomes(() => waits.first().locator("pre").innerText(), '{\n  "time_zone": "exe\\u202egnp\\u200b"\n}', "the arguments");
  for (let left = 2; left > 0; left--) {
    equal(await waits.count(), left, "approvals that wait");
    if (left === 2) await waits.first().getByRole("button", { name: "Approve" }).focus();
    else await page.keyboard.press("Tab"); // from Approve to Deny
    await page.keyboard.press("Enter");
    await until(20_000, "one less waits", async () => (await waits.count()) < left);
    await becomes(() => focused(page), left > 1 ? "Approve" : "Message", "what has the focus");
  }

  await view.go(`/t/${slug}/people/allowed`);
  for (const email of ["one@example.net", "two@example.net"]) equal((await server.request("POST", `/tenant/${tenant}/allowed-accounts`, { body: { email } })).status, 201, "an allowed account");
  const rows = page.getByRole("row", { name: /example\.net/ });
  await rows.nth(1).waitFor();
  const second = (await rows.nth(1).innerText()).includes("one@") ? "one" : "two";
  await rows.nth(0).getByRole("button").focus();
  await page.keyboard.press("Enter");
  await becomes(() => focused(page), `Remove ${second}@example.net`, "what has the focus");
  await page.keyboard.press("Enter");
  await becomes(() => focused(page), "Allowed accounts", "what has the focus once all are gone");

  // A moment is one of the zone in which it is read, which stands beside it.
  const tokyo = await open(t, `/t/${slug}/keys`, { timezone: "Asia/Tokyo" });
  await tokyo.page.getByRole("button", { name: "New API key" }).first().click();
  await tokyo.page.getByRole("dialog").getByLabel("Name", { exact: false }).fill("in Tokyo");
  const expires = tokyo.page.locator('[data-field="expires_at"]');
  if (!(await expires.isVisible())) await tokyo.page.getByRole("dialog").getByText("More", { exact: true }).click();
  await expires.getByText("Asia/Tokyo").waitFor();
  await expires.locator("input").fill("2027-01-02T09:00");
  await tokyo.page.getByRole("button", { name: "Create key" }).click();
  await tokyo.page.getByRole("button", { name: "I have saved it" }).click();
  equal((await server.request("GET", `/tenant/${tenant}/api-keys`)).json.items.find((k) => k.name === "in Tokyo").expires_at.slice(0, 16), "2027-01-02T00:00", "when the key ends");
  tokyo.quiet();

  // A dialog that follows a dialog gives the focus back to where the first was opened; what is shown once is not left unasked.
  await view.go(`/t/${slug}/keys`);
  await page.getByRole("button", { name: "New API key" }).first().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByLabel("Name", { exact: false }).fill("pay\u202Elap\u200B");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("button", { name: "I have saved it" }).waitFor();
  let warned = "";
  page.once("dialog", (d) => (warned = d.type(), d.dismiss()));
  await page.evaluate(() => void setTimeout(() => window.location.reload()));
  await becomes(() => warned, "beforeunload", "what was asked before the secret went");
  await page.getByRole("button", { name: "I have saved it" }).click();
  await becomes(() => focused(page), "New API key", "what has the focus");
  await page.getByRole("rowheader", { name: "pay\\u202elap\\u200b" }).waitFor();

  await page.setViewportSize({ width: 320, height: 700 });
  await page.getByRole("button", { name: "Open the menu" }).click();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Open the menu" }).waitFor();
  await becomes(() => focused(page), "Open the menu", "what has the focus");
  view.quiet();
}, { ms: 90_000 });

test("a download asks for the login that has ended, and says why it is refused; a filter that means nothing can be taken away", async (t) => {
  const at = await stage();
  const { open, slug, server, person } = at;
  const ann = await person("ADMIN");
  const agent = await agentOf(at, "Exports");
  const id = await begin(at, agent, { title: "To be taken out", message: "hello" });
  await stands(server, id, "completed");
  const view = await open(t, `/t/${slug}/sessions/${id}`, { who: ann, expected: [404, 422, 400] });
  const { page } = view;
  const link = page.getByRole("link", { name: "Export", exact: true });
  await link.waitFor();
  await page.getByRole("textbox", { name: "Message" }).waitFor(); // nothing else is being read that would ask first
  await view.loseLogin();
  await link.click();
  const dialog = page.getByRole("dialog", { name: "Sign in again" });
  await dialog.getByLabel("Password", { exact: true }).fill(ann.password);
  const file = page.waitForEvent("download");
  await page.keyboard.press("Enter");
  match((await file).suggestedFilename(), /\.md$/, "the file");
  equal((await server.request("DELETE", `/sessions/${id}`)).status, 204, "deleting it");
  await link.click();
  await page.locator(".toast.bad").waitFor();

  for (const bad of ["tools?kind=nonsense", "audit?from=nonsense", "agents?sort=nonsense"]) {
    await view.go(`/t/${slug}/${bad}`);
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByRole("table").first().waitFor();
    equal(new URL(page.url()).search, "", "the filters");
  }
  view.quiet();
}, { ms: 60_000 });

test("two Enters begin one session; the palette takes what was typed, not what was found before", async (t) => {
  const at = await stage();
  const { open, slug, server } = at;
  const agent = await agentOf(at, "Zebra one");
  await agentOf(at, "Quagga two");
  const view = await open(t, `/t/${slug}/agents/${agent}/chat`);
  const { page } = view;
  const box = page.getByRole("textbox", { name: "Message" });
  await box.waitFor();
  let holds = true;
  await page.route("**/sessions", async (route) => {
    if (route.request().method() === "POST") await until(20_000, "both were typed", () => !holds);
    await route.continue();
  });
  await box.fill("first");
  await page.keyboard.press("Enter");
  await box.fill("second");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  // What is typed meanwhile is typed, and no key of a screen ("gi" leads to the inbox).
  await page.keyboard.type("gi");
  holds = false;
  await page.waitForURL("**/sessions/c*");
  await page.keyboard.type("ve me more");
  await becomes(() => box.inputValue(), "give me more", "what was typed meanwhile");
  await becomes(() => focused(page), "Message", "what has the focus");
  await page.locator("article.user", { hasText: "second" }).waitFor();
  await page.locator("article.user", { hasText: "first" }).waitFor();
  equal((await server.request("GET", `/agents/${agent}/sessions`)).json.items.length, 1, "sessions");
  // Told of by the stream before the service has answered, a message stands there once.
  let seen = 0;
  const third = page.locator("article.user", { hasText: "give me more" });
  await page.route("**/sessions/*/messages", async (route) => {
    const response = await route.fetch();
    await third.locator("time").waitFor();
    seen = await third.count();
    await route.fulfill({ response });
  });
  await page.keyboard.press("Enter");
  await becomes(() => seen, 1, "how often it is shown");

  await page.unroute("**/sessions/*/messages");
  await page.unroute("**/sessions");
  await page.keyboard.press("Control+k");
  const find = page.getByRole("combobox", { name: "Find" });
  await find.fill("zebra");
  await page.getByRole("option", { name: /Zebra one/ }).waitFor();
  await page.route("**/autocomplete?*q=quagga*", async (route) => {
    await page.getByRole("option", { name: /Zebra one/ }).waitFor();
    await route.continue();
  });
  await find.fill("quagga");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Quagga two" }).waitFor();
  view.quiet();
}, { ms: 60_000 });

test("what was said and did not arrive comes back with its files, wherever one is by then; the same words said twice are two messages", async (t) => {
  const at = await stage();
  const { open, slug, server } = at;
  const agent = await agentOf(at, "Patient");
  const id = await begin(at, agent, { title: "Comes back" });
  const view = await open(t, `/t/${slug}/sessions/${id}`, { expected: [503, 404] });
  const { page } = view;
  const box = page.getByRole("textbox", { name: "Message" }), files = page.getByRole("list", { name: "Files to send" }).getByRole("listitem");
  const named = (n) => ({ name: `note${n}.txt`, mimeType: "text/plain", buffer: Buffer.from(`this is note ${n}`) });
  let fails = true, holds = true, posts = 0;
  const refuse = (route) => route.fulfill({ status: 503, contentType: "application/problem+json", body: '{"title":"Busy","detail":"It is busy."}' });
  await page.route("**/messages", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    posts++;
    await until(20_000, "it may go on", () => !holds);
    return fails ? refuse(route) : route.continue();
  });
  await box.fill("this must not be lost");
  await page.locator("input[type=file]").setInputFiles(named(0));
  await files.waitFor();
  await page.keyboard.press("Enter");
  await becomes(() => posts, 1, "messages on their way");
  await page.getByRole("link", { name: "Sessions" }).first().click();
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
  holds = false;
  await page.getByText("It is busy.").waitFor();
  await page.getByRole("link", { name: "Comes back" }).click();
  await becomes(() => box.inputValue().catch(() => ""), "this must not be lost", "what was said");
  await files.waitFor();
  fails = false;
  await box.press("Enter");
  await page.locator("article.user", { hasText: "this is note 0" }).waitFor();
  equal((await server.request("GET", `/sessions/${id}/files`)).json.items.length, 1, "files, after it was said again");

  // The same words while the first are on their way.
  holds = true;
  for (const n of [2, 3]) {
    await box.fill("the same");
    await page.keyboard.press("Enter");
    await becomes(() => posts, n + 1, "messages on their way");
  }
  holds = false;
  await until(20_000, "both", async () => (await server.request("GET", `/sessions/${id}/messages`)).json.items.filter((m) => m.content === "the same").length === 2);
  await becomes(() => page.locator("article.user", { hasText: "the same" }).count(), 2, "both in view");

  // More files than go are named; those that go are there when one comes back.
  await page.locator("input[type=file]").setInputFiles([...Array(12).keys()].map(named));
  await page.getByText("10 files go with a message; left out: note10.txt, note11.txt").waitFor();
  await page.getByRole("link", { name: "Sessions" }).first().click();
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
  await page.goBack();
  await becomes(() => files.count(), 10, "files after one came back");
  for (let left = 10; left > 0; left--) {
    await files.first().getByRole("button").click();
    await becomes(() => files.count(), left - 1, "files that are left");
  }

  // A new session whose file is not taken at first.
  let refused = 0;
  await page.route("**/files?*", (route) => (route.request().method() === "POST" && !refused++ ? refuse(route) : route.continue()));
  await page.getByRole("link", { name: "New session" }).click();
  await page.getByRole("heading", { level: 1, name: "New session with Patient" }).waitFor();
  await page.locator("input[type=file]").setInputFiles(named(5));
  await box.fill("count to 2");
  await page.keyboard.press("Enter");
  await becomes(() => refused, 1, "files that were refused");
  await becomes(() => box.inputValue(), "count to 2", "what was said");
  await box.press("Enter");
  await page.locator("article.user", { hasText: "this is note 5" }).waitFor();
  match(page.url(), /\/sessions\/c[a-z0-9]{24}$/, "the address");
  equal(await box.inputValue(), "", "the box");
  equal((await server.request("GET", `/agents/${agent}/sessions`)).json.items.length, 2, "sessions");

  // Where something is to be written, one begins there.
  await page.getByRole("button", { name: "Rename" }).click();
  await becomes(() => page.evaluate(() => document.activeElement?.getAttribute("name")), "title", "what has the focus");

  // Deleted elsewhere it says so, and does not go on asking.
  await page.keyboard.press("Escape");
  await page.locator(".connection.live").waitFor();
  equal((await server.request("DELETE", `/sessions/${page.url().split("/").at(-1)}`)).status, 204, "deleted");
  await page.getByRole("alert").getByText("This session cannot be read any more.").waitFor();
  view.quiet();
}, { ms: 90_000 });

test("who is made less is shown less at once; a guest is not offered what is not theirs", async (t) => {
  const at = await stage();
  const { open, slug, server, tenant, person } = at;
  const who = await person("ADMIN");
  const agent = await agentOf(at, "For guests");
  const view = await open(t, `/t/${slug}/agents/${agent}`, { who, expected: [403, 404] });
  const { page } = view;
  const nav = page.getByRole("navigation", { name: "Main" });
  await page.locator(".connection.live").waitFor();
  await page.getByRole("link", { name: "Write the prompt" }).waitFor();
  await nav.getByRole("link", { name: "Audit log" }).waitFor();
  // Of roles and settings only those that are theirs to set.
  await view.go(`/t/${slug}/people/${who.id}`);
  await becomes(async () => (await page.getByLabel("Role").locator("option").allTextContents()).join(" "), "Admin Member Guest", "roles that an administrator gives");
  const owner = (await server.request("GET", "/me")).json.id;
  await view.go(`/t/${slug}/people/${owner}`);
  await page.getByText("Everything, including other owners").waitFor();
  equal(await page.getByRole("button", { name: /Change role|Remove/ }).count(), 0, "what an administrator can do to an owner");
  await view.go(`/t/${slug}/settings`);
  await page.getByLabel("Name", { exact: true }).waitFor();
  equal(await page.getByLabel(/super administrators/i).count(), 0, "what only owners set");
  await view.go(`/t/${slug}/agents/${agent}`);
  await page.getByRole("link", { name: "Write the prompt" }).waitFor();
  await nav.getByRole("link", { name: "Audit log" }).waitFor();
  equal((await server.request("PATCH", `/tenant/${tenant}/members/${who.id}`, { body: { role: "GUEST" } })).status, 200, "made a guest");
  await nav.getByRole("link", { name: "Audit log" }).waitFor({ state: "detached" });
  await nav.getByRole("link", { name: "People" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Write the prompt" }).waitFor({ state: "detached" });
  equal((await server.request("DELETE", `/tenant/${tenant}/members/${who.id}`)).status, 204, "taken out");
  await view.go("/");
  await page.getByText("You belong to no tenant").waitFor();
  view.quiet();
}, { ms: 60_000 });

test("eight sessions in view at once all follow, and requests still get through", async (t) => {
  const at = await stage();
  const { open, slug, server } = at;
  const agent = await agentOf(at, "Many windows");
  const ids = [];
  for (let i = 0; i < 8; i++) ids.push(await begin(at, agent, { title: `Window ${i}`, message: "hello" }));
  for (const id of ids) await stands(server, id, "completed");
  const view = await open(t, `/t/${slug}/sessions/${ids[0]}`);
  const pages = [view.page];
  await view.page.getByRole("textbox", { name: "Message" }).waitFor();
  for (const id of ids.slice(1)) {
    const page = await view.context.newPage();
    await page.goto(`${view.origin}/console/t/${slug}/sessions/${id}`);
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    pages.push(page);
  }
  for (const id of ids) equal((await server.request("POST", `/sessions/${id}/messages`, { body: { content: "count to 3" } })).status, 202, "saying something");
  for (const page of pages) {
    await page.locator("article.user", { hasText: "count to 3" }).waitFor();
    await page.locator("article.assistant").nth(1).waitFor();
    await page.locator(".chat-bar").getByText("Completed").waitFor();
  }
  // Who had no line of their own gets one when another goes.
  await pages[0].close();
  await pages[7].getByRole("textbox", { name: "Message" }).fill("count to 2");
  await pages[7].keyboard.press("Enter");
  await pages[7].locator("article.assistant").nth(2).waitFor();
  view.quiet();
}, { ms: 120_000 });
