// console_chat.test.mjs - sessions and the inbox in a real browser: an answer as it comes, a page that is loaded again and a
// service that dies in the middle of one, approvals in place and in the inbox, strangers' words, long sessions.
import { becomes, equal, match, ok, test, until } from "./harness.mjs";
import { console_stage } from "./console_stage.mjs";
import { agentOf, begin, modelAt, slowModel, stands } from "./console_talk.mjs";

const stage = console_stage({ flags: ["--allow-private-addresses=true"] });

const lastAnswer = (page) => page.locator("article.assistant .prose").last();

test("from an agent to the first streamed answer, by keyboard alone; a title, a branch, a file, an export", async (t) => {
  const at = await stage();
  const agent = await agentOf(at, "Desk", { initial_greeting: "Hello. **What** can I do?", tools: [["calculator", false]] });
  const view = await at.open(t, `/t/${at.slug}/agents/${agent}`);
  const { page } = view;
  await page.getByRole("link", { name: "New session" }).waitFor();
  await view.tabTo("New session");
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await page.getByText("What can I do?").waitFor();
  await view.looks("session-new");
  await page.getByRole("textbox", { name: "Message" }).focus();
  await page.keyboard.type("count to 30");
  await page.keyboard.press("Enter");
  await until(30_000, "the answer", async () => (await lastAnswer(page).textContent().catch(() => "")).trim().endsWith("29 30"));
  match(page.url(), /\/sessions\/c[a-z0-9]{24}$/, "the address");
  await page.getByText("Completed").waitFor();
  await page.getByRole("heading", { level: 1, name: "count to 30" }).waitFor();
  await view.looks("session");

  await page.getByRole("textbox", { name: "Message" }).focus();
  await page.keyboard.type('use tool calculator with {"expression":"6*7"}');
  await page.keyboard.press("Enter");
  const tool = page.locator(".tool").last();
  await tool.getByText("Completed").waitFor();
  await tool.locator("summary").focus();
  await page.keyboard.press("Enter");
  await tool.getByText('"expression": "6*7"').waitFor();
  await tool.getByText(/^42/).waitFor();
  await tool.getByText(/It took/).waitFor();
  await view.looks("session-tool");

  // A draft outlasts the page; @ is completed.
  await page.getByRole("textbox", { name: "Message" }).fill("not sent yet");
  await page.reload();
  await until(20_000, "the draft", async () => (await page.getByRole("textbox", { name: "Message" }).inputValue().catch(() => "")) === "not sent yet");
  await page.getByRole("textbox", { name: "Message" }).fill("");
  await page.getByRole("textbox", { name: "Message" }).focus();
  await page.keyboard.type("ask @Des");
  await page.getByRole("option", { name: /Desk/ }).first().waitFor();
  await view.looks("session-mention");
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Message" }).fill("");

  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByLabel("Title").fill("Sums");
  // Renamed elsewhere it is called that here, though the answer to the first name comes after it.
  const address = `/sessions/${page.url().split("/").at(-1)}`;
  let release, came, broke;
  const held = new Promise((resolve) => (release = resolve));
  const answered = new Promise((resolve, reject) => ([came, broke] = [resolve, reject]));
  const renames = (url, method) => method === "PATCH" && new URL(url).pathname.endsWith(address);
  await page.route((url) => url.pathname.endsWith(address), async (route) => {
    if (!renames(route.request().url(), route.request().method())) return route.continue();
    try {
      const response = await route.fetch();
      came();
      await held;
      await route.fulfill({ response });
    } catch (err) {
      broke(err);
    }
  });
  await page.keyboard.press("Enter");
  await answered;
  await page.getByRole("heading", { level: 1, name: "Sums", exact: true }).waitFor();
  equal((await at.server.request("PATCH", address, { body: { title: "Sums of theirs" } })).status, 200, "renamed elsewhere");
  await page.getByRole("heading", { level: 1, name: "Sums of theirs", exact: true }).waitFor();
  const late = page.waitForResponse((r) => renames(r.url(), r.request().method()));
  release();
  await (await late).finished();
  await page.unrouteAll({ behavior: "wait" });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.getByRole("heading", { level: 1, name: "Sums of theirs", exact: true }).waitFor({ timeout: 1000 });

  // A file goes along: its text in the message, its bytes beside it.
  await page.locator("input[type=file]").setInputFiles({ name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("remember the milk\n") });
  await page.getByText("note.txt").waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("count words: one two three");
  await page.keyboard.press("Enter");
  await page.locator("article.user", { hasText: "remember the milk" }).waitFor();
  await page.getByText("Completed").first().waitFor();
  await page.reload();
  await page.getByText("1 file").click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "note.txt" }).click()]);
  equal(download.suggestedFilename(), "note.txt", "the name of the file");
  const [exported] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export", exact: true }).click()]);
  match(exported.suggestedFilename(), /\.md$/, "the name of the export");

  // A branch begins with the same words, and the first session stays as it is.
  const before = page.url(), count = await page.locator("article").count();
  const second = page.locator("article.assistant").nth(1);
  await second.hover();
  await second.getByRole("button", { name: "Branch from this message" }).click();
  await page.getByRole("link", { name: "The session that this was branched from" }).waitFor();
  ok(page.url() !== before, "the branch has an address of its own");
  await becomes(() => page.locator("article").count(), 3, "the messages that came along");
  ok(count > 3, "and there were more");
  await page.getByText("Nothing runs here yet. Say something").waitFor();
  await view.looks("session-branch");
  await page.getByRole("textbox", { name: "Message" }).fill("count to 2");
  await page.keyboard.press("Enter");
  await until(20_000, "the branch goes on", async () => (await lastAnswer(page).textContent()).trim() === "1 2");
  // A link to a message opens there.
  await page.getByRole("link", { name: "The session that this was branched from" }).click();
  await page.locator("article.marked").waitFor();
  view.quiet();
}, { ms: 180_000 });

test("a picture is shown to an agent whose model sees it; where none does it is kept for people, and the agent is told", async (t) => {
  const at = await stage(), mock = await slowModel(t);
  const seeing = await agentOf(at, "Seeing", { models: [await modelAt(at, "seeing", mock.url, { supports_vision: true })] }), blind = await agentOf(at, "Blind");
  const dot = { name: "dot.png", mimeType: "image/png", buffer: Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64") };
  const view = await at.open(t, `/t/${at.slug}/sessions/${await begin(at, seeing, {})}`, { expected: [422] });
  const { page } = view;
  await page.locator("input[type=file]").setInputFiles(dot);
  await page.getByRole("textbox", { name: "Message" }).fill("What is it?");
  await page.keyboard.press("Enter");
  const answer = await mock.answer(0);
  ok(JSON.stringify(answer.asked.messages).includes("data:image/png;base64,iVBOR"), "the model is shown it");
  answer.say("A dot.");
  answer.end();
  await page.locator("article.assistant", { hasText: "A dot." }).waitFor();
  await page.reload();
  const shown = page.locator("article.user").getByRole("list", { name: "Parts of this message" });
  const [saved] = await Promise.all([page.waitForEvent("download"), shown.getByRole("link", { name: "dot.png" }).click()]);
  equal(saved.suggestedFilename(), "dot.png", "the name of the picture");
  await view.looks("parts");
  await page.goto(`${at.server.origin}/console/t/${at.slug}/sessions/${await begin(at, blind, {})}`);
  await page.locator("input[type=file]").setInputFiles(dot);
  await page.getByRole("textbox", { name: "Message" }).fill("And you?");
  await page.keyboard.press("Enter");
  await page.locator("article.user", { hasText: "File kept beside this session: dot.png" }).waitFor();
  view.quiet();
}, { ms: 120_000 });

test("loaded again, killed, in a second tab: an answer is complete and never doubled; Stop stops; what is said meanwhile is queued", async (t) => {
  const at = await stage();
  const mock = await slowModel(t);
  const agent = await agentOf(at, "Slow", { models: [await modelAt(at, "slow", mock.url)] });
  const id = await begin(at, agent, { message: "speak" });
  const view = await at.open(t, `/t/${at.slug}/sessions/${id}`, { expected: [502, 503] });
  const { page } = view;
  // A favourite stands in the sidebar as soon as it is one, with a sign while it is at work.
  const favourite = page.getByRole("list", { name: "Favourites" }).getByRole("link", { name: "Slow" });
  await page.locator(".connection.live").waitFor();
  equal((await at.server.request("PUT", `/agents/${agent}/favorite`)).status, 201, "a favourite");
  await favourite.getByText("at work").waitFor({ state: "attached" });
  const words = async (p) => ((await p.locator("article.assistant .prose").last().textContent().catch(() => "")) ?? "").trim();
  const one = await mock.answer(0);
  one.say(mock.text(200));
  await until(30_000, "the first words", async () => (await words(page)).endsWith("w199"));
  await page.getByText("Running").first().waitFor();
  await view.looks("session-streaming");
  await page.reload();
  await until(30_000, "the words after the page was loaded again", async () => (await words(page)).endsWith("w199"));
  equal(await words(page), mock.text(200).trim(), "the words after the page was loaded again");
  const second = await view.context.newPage();
  await second.goto(page.url());
  await until(30_000, "the words in a second tab", async () => (await words(second)).endsWith("w199"));
  for (let i = 200; i < 400; i++) one.say(`w${i} `);
  for (const p of [page, second]) await until(30_000, "more words in both tabs", async () => (await words(p)).endsWith("w399"));

  // The service dies in the middle, and starts again: the answer is asked for anew.
  const restart = await at.kill();
  await page.getByText("Connection lost").waitFor();
  await restart();
  const two = await mock.answer(1);
  two.say(mock.text(100));
  for (const p of [page, second]) await until(60_000, "the words after the service died", async () => (await words(p)).endsWith("w99"));
  two.end();
  await favourite.getByText("at work").waitFor({ state: "detached" });
  await favourite.waitFor();
  for (const p of [page, second]) {
    await p.getByText("Completed").first().waitFor();
    equal(await words(p), mock.text(100).trim(), "all of the answer");
    equal(await p.locator("article.assistant").count(), 1, "how many answers there are");
  }
  await page.reload();
  await page.getByText("Completed").first().waitFor();
  equal(await words(page), mock.text(100).trim(), "all of the answer, read again");

  // While it works, what is said is queued; Stop is the service's.
  await page.getByRole("textbox", { name: "Message" }).fill("again");
  await page.keyboard.press("Enter");
  const three = await mock.answer(2);
  three.say("beginning ");
  await until(30_000, "it has begun", async () => (await words(page)) === "beginning");
  await page.getByRole("textbox", { name: "Message" }).fill("and this too");
  await page.keyboard.press("Enter");
  await page.locator("article.user", { hasText: "and this too" }).waitFor();
  await page.getByRole("textbox", { name: "Message" }).focus();
  await page.keyboard.press("Escape");
  await page.getByText("Cancelled").first().waitFor();
  await stands(at.server, id, "cancelled");
  await second.getByText("Cancelled").first().waitFor();
  ok(view.complaints.every((c) => /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/.test(c)), view.complaints.join("\n"));
}, { ms: 180_000 });

test("an approval is decided in place and in the inbox, by keyboard; what failed is there too", async (t) => {
  const at = await stage();
  const agent = await agentOf(at, "Careful", { tools: [["time", true]] });
  const id = await begin(at, agent, { title: "Needs a word", message: "use tool time with {}" });
  await stands(at.server, id, "waiting_approval");
  const view = await at.open(t, `/t/${at.slug}/sessions/${id}`, { expected: [409] });
  const { page } = view;
  await page.getByRole("button", { name: "Approve" }).waitFor();
  await view.looks("session-approval");
  await page.reload();
  await page.getByRole("button", { name: "Approve" }).focus();
  const inboxTab = await view.context.newPage();
  await inboxTab.goto(`${view.origin}/console/t/${at.slug}/inbox`);
  await inboxTab.locator(".waits", { hasText: "Approval needed" }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".tool").getByText("Completed").waitFor();
  await page.getByText(/Approved by you/).waitFor({ state: "attached" });
  await inboxTab.locator(".waits", { hasText: "Approval needed" }).waitFor({ state: "detached" });
  await inboxTab.close();

  // Three wait and one has failed; the sidebar counts them, and j, k, a, d work them off.
  const more = [];
  for (let i = 0; i < 3; i++) more.push(await begin(at, agent, { title: `Waits ${i}`, message: "use tool time with {}" }));
  for (const one of more) await stands(at.server, one, "waiting_approval");
  const gone = await modelAt(at, "gone", "http://127.0.0.1:9/v1");
  const broken = await agentOf(at, "Broken", { models: [gone] });
  const lost = await begin(at, broken, { title: "Lost cause", message: "speak" });
  await page.getByRole("link", { name: /Inbox/ }).click();
  await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
  await until(20_000, "three wait", async () => (await page.getByText("Approval needed").count()) === 3);
  for (const title of ["Waits 0", "Waits 1", "Waits 2"]) await page.locator(".waits-head").getByRole("link", { name: title, exact: true }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  // One that comes now stands above, and is not what the key decides.
  const newest = await begin(at, agent, { title: "Comes between", message: "use tool time with {}" });
  await until(20_000, "four wait", async () => (await page.getByText("Approval needed").count()) === 4);
  await page.keyboard.press("a");
  await until(20_000, "three are left", async () => (await page.getByText("Approval needed").count()) === 3);
  await page.keyboard.press("g"); // the beginning of a way elsewhere, and d is no key of this screen after it
  await page.keyboard.press("d");
  await page.locator(".waits:focus").waitFor();
  await page.keyboard.press("d");
  await until(20_000, "two are left", async () => (await page.getByText("Approval needed").count()) === 2);
  equal((await at.server.request("GET", `/sessions/${newest}/approvals`)).json.items[0].status, "pending", "the one that came between");
  await stands(at.server, lost, "failed");
  await page.locator(".waits", { hasText: "Lost cause" }).waitFor();
  await page.locator(".frame-side .badge.bad").waitFor();
  await view.looks("inbox");
  const ends = await Promise.all(more.map(async (one) => (await at.server.request("GET", `/sessions/${one}/approvals`)).json.items[0].status));
  equal(ends.sort().join(" "), "approved denied pending", "what was decided");
  // Another was first: what is said goes with the row, and the session says who it was.
  const second = await at.person("ADMIN");
  const { token } = (await at.server.request("POST", "/auth/login", { token: null, body: { email: second.email, password: second.password } })).json;
  const [waiting] = (await at.server.request("GET", `/sessions/${newest}/approvals`)).json.items;
  await page.route("**/approvals/*", (route) => route.fulfill({ status: 409, contentType: "application/problem+json", body: '{"title":"Conflict","detail":"It is decided already.","status":409}' }), { times: 1 });
  const row = page.locator(".waits", { hasText: "Comes between" });
  await row.getByRole("button", { name: "Deny" }).click();
  await row.waitFor({ state: "detached" });
  await page.locator(".toast", { hasText: "It is decided already." }).waitFor();
  const beside = await view.context.newPage();
  await beside.goto(`${view.origin}/console/t/${at.slug}/sessions/${newest}`);
  await beside.getByRole("button", { name: "Approve" }).waitFor();
  equal((await at.server.request("POST", `/sessions/${newest}/approvals/${waiting.id}`, { token, body: { approved: false } })).status, 200, "another decides");
  await beside.getByText(`Denied by ${second.email.split("@")[0]}`).waitFor({ state: "attached" });
  await beside.close();
  await page.getByLabel("Kind").selectOption("failed");
  match(page.url(), /kind=failed/, "the filter in the address");
  await page.keyboard.press("Tab");
  await page.locator("h1").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.getByText("Nothing matches").waitFor();
  await view.looks("inbox-filtered-empty");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator(".waits", { hasText: "Lost cause" }).waitFor();
  await page.locator("h1").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").filter({ hasText: "It failed" }).waitFor();
  await view.looks("session-failed");

  // Where another model took over it is said; and so is an hour at which the agent does not work.
  const demo = (await at.server.request("GET", `/tenant/${at.tenant}/models?per_page=200`)).json.items.find((m) => m.slug === "demo").id;
  const both = await agentOf(at, "Both", { models: [gone, demo] });
  const taken = await begin(at, both, { message: "count to 2" });
  await stands(at.server, taken, "completed");
  const other = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][(new Date().getUTCDay() + 3) % 7];
  const hours = await at.server.request("PUT", `/agents/${both}/chat-config`, { body: { working_hours_enabled: true, working_hours_days: [other], working_hours_start: "09:00", working_hours_end: "17:00", working_hours_tz: "UTC" } });
  equal(hours.status, 200, `the hours: ${hours.text}`);
  await view.go(`/t/${at.slug}/sessions/${taken}`);
  // Read again from the log, and before the answer of the model that took over.
  await page.locator(".note[data-code=failover] + article.assistant").waitFor();
  await page.getByText(`It begins again: ${other} 09:00 (UTC)`).waitFor();
  await view.looks("session-hours");

  // A subtask is a block with a state, and leads to a session of its own that leads back.
  const giver = await agentOf(at, "Giver", { tools: [["subtask", false]] });
  const gave = await begin(at, giver, { title: "Gives", message: 'use tool subtask with {"title":"Small part","message":"count to 2"}' });
  await view.go(`/t/${at.slug}/sessions/${gave}`);
  await page.locator(".subtask", { hasText: "Completed" }).waitFor();
  await view.looks("session-subtask");
  await page.getByRole("link", { name: "Small part" }).click();
  await page.getByRole("heading", { level: 1, name: "Small part" }).waitFor();
  await page.getByRole("link", { name: "The session that gave this away" }).click();
  await page.getByRole("heading", { level: 1, name: "Gives" }).waitFor();

  // Somebody who may not decide sees what waits and no button.
  const person = await at.person("MEMBER");
  const theirs = await at.open(t, `/t/${at.slug}/inbox`, { who: person, expected: [403] });
  await theirs.page.getByText("Nothing waits for you").waitFor();
  await theirs.looks("inbox-empty");
  theirs.quiet();
  view.quiet();
}, { ms: 180_000 });

test("strangers' words stay words, everywhere; a long session opens at its end; the list is live", async (t) => {
  const at = await stage();
  const evil = '<img src=x onerror=alert(1)><script>alert(2)</script> \u202Egnp.exe [go](javascript:alert(3)) [on](https://example.org/) ![p](https://example.org/p.png) ' + "W".repeat(3000);
  const agent = await agentOf(at, `Evil${"W".repeat(100)}`, { description: evil.slice(0, 500), tools: [["calculator", false]], initial_greeting: evil });
  const view = await at.open(t, `/t/${at.slug}/sessions?q=evil`);
  const { page } = view;
  await page.getByText("Nothing matches").waitFor();
  await view.looks("sessions-filtered-empty");
  const id = await begin(at, agent, { title: `EVIL ${evil}`.slice(0, 255), message: evil });
  await page.getByRole("table", { name: "Sessions" }).waitFor(); // by an event, without loading again
  await stands(at.server, id, "completed");
  await page.getByRole("table").getByText("Completed").waitFor();
  const clean = async (where) => {
    const found = await page.evaluate(() => ({
      made: [...document.querySelectorAll("main img, main script, main b, main iframe, main [onerror]")].map((e) => e.outerHTML.slice(0, 80)),
      links: [...document.querySelectorAll("main a")].map((a) => a.protocol).filter((p) => !["http:", "https:", "mailto:"].includes(p)),
    }));
    equal(JSON.stringify(found), '{"made":[],"links":[]}', `what was made of words in ${where}`);
  };
  await clean("the list");
  await view.looks("sessions");
  ok(await page.getByRole("table").getByRole("rowheader").first().evaluate((e) => e.clientWidth) >= 200, "a title has room beside a long name");
  equal((await at.server.request("PATCH", `/sessions/${id}`, { body: { title: "EVIL still" } })).status, 200, "renamed elsewhere");
  await page.getByRole("link", { name: "EVIL still" }).waitFor();
  await page.getByLabel("State").selectOption("completed");
  match(page.url(), /status=completed/, "the filter in the address");
  await page.goBack();
  await page.getByRole("link", { name: /EVIL/ }).click();
  await page.locator("article.user").waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill(`use tool calculator with ${JSON.stringify({ expression: evil.slice(0, 900) })}`);
  await page.keyboard.press("Enter");
  await page.locator(".tool summary").last().click();
  await page.locator(".tool .block").nth(1).waitFor();
  await page.getByText("Completed").first().waitFor();
  await page.locator("input[type=file]").setInputFiles({ name: "<i>\u202Egnp.html", mimeType: "text/html", buffer: Buffer.from(evil) });
  await page.getByRole("textbox", { name: "Message" }).fill("count to 3");
  await page.keyboard.press("Enter");
  await until(20_000, "the answer", async () => (await lastAnswer(page).textContent()).trim() === "1 2 3");
  await page.reload();
  await page.getByText("1 file").click();
  await clean("the session");
  equal(await page.evaluate(() => /[\u202A-\u202E\u2066-\u2069]/.test(document.querySelector("main").innerText)), false, "signs that turn the rest");
  await view.looks("session-hostile");
  await view.go(`/t/${at.slug}/agents/${agent}/chat`);
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await clean("a new session");
  await view.looks("session-new-hostile");

  // 2,000 messages: the end at once, the rest when one scrolls to it.
  const long = await begin(at, agent, { title: "Long one" });
  const now = Date.now() * 1000;
  await at.server.place.sql(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
    insert into messages (tenant_id, session_id, id, role, status, prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd, created_at, tool_calls, content)
    select '${at.tenant}', '${long}', 'c0zzzzzzz' || printf('%016d', i), case i % 2 when 1 then 'user' else 'assistant' end, 'complete', 0, 0, 0, 0, 0, ${now}, '[]', 'number ' || i || ' of many' from n;
    update session_rows set message_count = message_count + 2000, last_message_id = 'c0zzzzzzz' || printf('%016d', 2000) where id = '${long}'`);
  await page.goto(`${view.origin}/console/t/${at.slug}/sessions/${long}`);
  await page.getByText("number 2000 of many").waitFor();
  ok((await page.locator("article").count()) <= 50, "only a page of it is read");
  await until(20_000, "the end is in view", () => page.evaluate(() => document.documentElement.scrollHeight - innerHeight - scrollY < 150));
  await page.evaluate(() => scrollTo(0, 0));
  await until(20_000, "older ones come", async () => (await page.locator("article").count()) > 50);
  await becomes(() => page.evaluate(() => scrollY > 200), true, "what was read stays where it was");
  equal(await page.getByRole("button", { name: /Jump to latest/ }).count(), 0, "older ones are no news");
  await page.keyboard.press("k");
  await becomes(() => page.evaluate(() => document.activeElement?.matches("article.message")), true, "k goes to a message");
  await page.goto(`${view.origin}/console/t/${at.slug}/sessions/${long}?message=c0zzzzzzz${String(700).padStart(16, "0")}`);
  await page.locator("article.marked", { hasText: "number 700 of many" }).waitFor();
  await until(20_000, "the message is in view", () => page.evaluate(() => {
    const box = document.querySelector("article.marked").getBoundingClientRect();
    return box.top >= 0 && box.bottom <= innerHeight;
  }));
  view.quiet();
}, { ms: 180_000 });
