// console_journeys.test.mjs - ways through the console that cross several screens, people and browsers, most of them by keyboard
// alone: an answer in two browsers, completion, parts that are given away, limits, a login and a permission that end in mid-work.
import { becomes, equal, match, ok, test, until } from "./harness.mjs";
import { console_stage } from "./console_stage.mjs";
import { agentOf, begin, modelAt, slowModel, stands } from "./console_talk.mjs";

const stage = console_stage({ flags: ["--allow-private-addresses=true"] });
const box = (page) => page.getByRole("textbox", { name: "Message" });
/** Into the composer by its key: it is there once the session is read. */
async function toComposer(page) {
  await box(page).waitFor();
  await page.keyboard.press("m");
  await until(20_000, "the composer", () => box(page).evaluate((at) => at === document.activeElement));
}

const answerOf = async (page) => ((await page.locator("article.assistant .prose").last().textContent().catch(() => "")) ?? "").trim();

test("the first answer of a new service, by keyboard alone", async (t) => {
  const { stranger } = await stage();
  const view = await stranger(t);
  const { page } = view;
  await page.getByLabel("Email address").waitFor();
  await becomes(() => page.evaluate(() => document.activeElement?.getAttribute("name")), "email", "where one begins");
  await page.keyboard.type("admin@example.com");
  await page.keyboard.press("Tab");
  await page.keyboard.type("Correct-Horse-9-Battery");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Welcome", level: 1 }).waitFor();
  await page.getByRole("radio", { name: /Demo/ }).waitFor();
  await view.tabTo("Begin");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/sessions\/c[a-z0-9]{24}$/);
  await until(30_000, "the first answer", async () => (await answerOf(page)).length > 10);
  view.quiet();
}, { ms: 120_000 });

test("an answer in two browsers at once; code takes its colours when it is settled, and stays what was written", async (t) => {
  const at = await stage();
  const mock = await slowModel(t);
  const agent = await agentOf(at, "Twice", { models: [await modelAt(at, "twice", mock.url)] });
  const id = await begin(at, agent, { message: "speak" });
  const one = await at.open(t, `/t/${at.slug}/sessions/${id}`), two = await at.open(t, `/t/${at.slug}/sessions/${id}`);
  const answer = await mock.answer(0);
  answer.say("Like this:\n\n```js\nconst a = \"<img src=x onerror=alert(1)>\"; // never\n");
  for (const { page } of [one, two]) {
    await page.locator("article.assistant pre").filter({ hasText: "// never" }).waitFor();
    equal(await page.locator("article.assistant .code-word").count(), 0, "colours while it is written");
  }
  // One who comes in the middle sees all of it, and the rest as it comes.
  const three = await at.open(t, `/t/${at.slug}/sessions/${id}`);
  await three.page.locator("article.assistant pre").filter({ hasText: "// never" }).waitFor();
  // Where a [name] leads is said later: it leads there in the blocks that had settled too.
  answer.say("```\n\nAs [the page] says, and \u202Ethis.\n\n[the page]: https://example.org/pa");
  answer.say("ge\n\nThat ");
  answer.say("is all.");
  for (const { page } of [one, two, three]) {
    await until(30_000, "the rest", async () => (await answerOf(page)).endsWith("That is all."));
    equal(await page.locator("article.assistant pre").textContent(), 'const a = "<img src=x onerror=alert(1)>"; // never', "the code");
    for (const [kind, text] of [["word", "const"], ["string", '"<img src=x onerror=alert(1)>"'], ["note", "// never"]]) await becomes(() => page.locator(`article.assistant .code-${kind}`).textContent(), text, `what is coloured as ${kind}`);
    equal(await page.locator("main img").count(), 0, "markup of what was written");
    await becomes(() => page.locator("article.assistant a").getAttribute("href"), "https://example.org/page", "where the name leads");
    await page.locator("article.assistant p", { hasText: "and \\u202ethis." }).waitFor();
  }
  answer.end();
  for (const view of [one, two, three]) {
    await view.page.getByText("Completed").first().waitFor();
    equal(await view.page.locator("article.assistant").count(), 1, "answers");
    view.quiet();
  }
  await one.looks("session-code");
}, { ms: 120_000 });

test("@ and / are completed, the budget's rest is shown, and a login that ends keeps what was typed; by keyboard alone", async (t) => {
  const at = await stage();
  const mock = await slowModel(t);
  const agent = await agentOf(at, "Wise one", { models: [await modelAt(at, "dear", mock.url, { is_free: false, pricing: { prompt: "0.1", completion: "0.1" } })] });
  equal((await at.server.request("PUT", `/agents/${agent}/budget`, { body: { hourly_limit_usd: 100_000 } })).status, 200, "the budget");
  equal((await at.server.request("POST", `/tenant/${at.tenant}/skills`, { body: { name: "Zebra keeping", slug: "zebra-keeping", description: "How to keep one", visibility: "tenant", instructions: "Feed it." } })).status, 201, "the skill");
  const id = await begin(at, agent, { title: "Wise words" });
  const who = await at.person("ADMIN");
  const view = await at.open(t, `/t/${at.slug}/sessions/${id}`, { who });
  const { page } = view;
  await page.getByText("$100,000.00 of $100,000.00 left this hour").waitFor();
  await page.getByRole("heading", { level: 1, name: "Wise words" }).focus();
  await toComposer(page);
  await page.keyboard.type("/zeb");
  await page.getByRole("option", { name: /Zebra keeping/ }).waitFor();
  await page.keyboard.press("Enter");
  await becomes(() => box(page).inputValue(), "/Zebra keeping ", "what / gives");
  await page.keyboard.type("for @Wise");
  await page.getByRole("option", { name: /Wise one/ }).waitFor();
  await page.keyboard.press("Tab");
  await until(20_000, "what @ gives", async () => /^\/Zebra keeping for @\S/.test(await box(page).inputValue()) && (await page.getByRole("option").count()) === 0);
  await page.keyboard.press("Enter");
  const answer = await mock.answer(0);
  match(answer.told, /Zebra keeping/, "what the model is told");
  answer.say("It eats grass.");
  answer.end();
  await page.getByText("$99,998.80 of $100,000.00 left this hour").waitFor(); // 12 tokens at ten cents

  // The login ends from elsewhere while something is being typed: a new password ends every other login.
  await box(page).focus();
  await page.keyboard.type("half a thought");
  const login = await at.server.request("POST", "/auth/login", { token: null, body: { email: who.email, password: who.password } });
  const fresh = "Another-password-of-theirs";
  ok((await at.server.request("PUT", "/me/password", { token: login.json.token, body: { current_password: who.password, new_password: fresh } })).status < 300, "the new password");
  await page.getByRole("dialog", { name: "Sign in again" }).waitFor();
  await becomes(() => page.evaluate(() => document.activeElement?.getAttribute("name")), "password", "what has the focus");
  await page.keyboard.type(fresh);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Sign in again" }).waitFor({ state: "detached" });
  equal(await box(page).inputValue(), "half a thought", "what was typed");
  // It follows at once, not when the stream would have tried again by itself.
  equal((await at.server.request("POST", `/sessions/${id}/messages`, { body: { content: "from elsewhere" } })).status, 202, "a message from elsewhere");
  await page.locator("article.user", { hasText: "from elsewhere" }).waitFor({ timeout: 10_000 });
  await page.reload();
  await becomes(() => box(page).inputValue(), "half a thought", "what was typed, after the page was loaded again");
  view.quiet();
}, { ms: 120_000 });

test("three parts at once are three blocks, one of which fails; Stop stops the others with the whole", async (t) => {
  const at = await stage();
  const mock = await slowModel(t);
  const agent = await agentOf(at, "Divider", { models: [await modelAt(at, "divider", mock.url)], tools: [["subtask", false]] });
  const parts = (round) => ["First", "Second", "Third"].map((name) => ["subtask", { title: `${name} of ${round}`, message: `${name} of ${round}` }]);
  const id = await begin(at, agent, { title: "Divided", message: "divide" });
  const view = await at.open(t, `/t/${at.slug}/sessions/${id}`);
  const { page } = view;
  (await mock.answer(0)).call(parts("one"));
  const block = (name) => page.locator(".subtask", { hasText: name });
  const [first, second, third] = await Promise.all(["First of one", "Second of one", "Third of one"].map((text) => mock.told(text)));
  for (const name of ["First of one", "Second of one", "Third of one"]) await block(name).getByText("Running").waitFor();
  await view.looks("session-three");
  for (const one of [first, third]) (one.say("done"), one.end());
  second.refuse();
  await block("Second of one").getByText("Failed").waitFor();
  for (const name of ["First of one", "Third of one"]) await block(name).getByText("Completed").waitFor();
  const last = await mock.answer(4);
  last.say("Two of three.");
  last.end();
  await until(30_000, "the whole", async () => (await answerOf(page)) === "Two of three.");
  // Into one and back, by keyboard.
  await view.tabTo("Second of one");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Second of one" }).waitFor();
  await page.getByRole("alert").filter({ hasText: "It failed" }).waitFor();
  await view.tabTo("The session that gave this away");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Divided" }).waitFor();

  await page.getByRole("heading", { level: 1, name: "Divided" }).focus();
  await toComposer(page);
  await page.keyboard.type("again");
  await page.keyboard.press("Enter");
  (await mock.told("again")).call(parts("two"));
  for (const name of ["First of two", "Second of two", "Third of two"]) await block(name).getByText("Running").waitFor();
  await page.keyboard.press("Escape");
  for (const name of ["First of two", "Second of two", "Third of two"]) await block(name).getByText("Cancelled").waitFor();
  await stands(at.server, id, "cancelled");
  view.quiet();
}, { ms: 120_000 });

test("out of budget it waits and says so; raised, it goes on by itself; out of hours is said at once", async (t) => {
  const at = await stage();
  const mock = await slowModel(t);
  const agent = await agentOf(at, "Poor", { tools: [["calculator", false]], models: [await modelAt(at, "poor", mock.url, { is_free: false, pricing: { prompt: "0.0001", completion: "0.0001" } })] });
  const budget = (hourly_limit_usd) => at.server.request("PUT", `/agents/${agent}/budget`, { body: { hourly_limit_usd } });
  equal((await budget(100)).status, 200, "the budget");
  const id = await begin(at, agent, { title: "Poor words", message: "speak" });
  const view = await at.open(t, `/t/${at.slug}/sessions/${id}`, { expected: [429] });
  const { page } = view;
  const one = await mock.answer(0);
  await page.getByText("$100.00 of $100.00 left this hour").waitFor();
  one.call([["calculator", { expression: "6*7" }]], 999_995);
  await page.getByText("It waits for room in the agent's budget and goes on by itself").waitFor();
  await page.getByText("$0.00 of $100.00 left this hour").waitFor();
  await view.looks("session-waits");
  equal((await budget(1000)).status, 200, "the budget, raised");
  const two = await mock.answer(1);
  two.say("More.");
  two.end();
  await until(30_000, "it goes on", async () => (await answerOf(page)) === "More.");
  await page.getByText("It waits for room").waitFor({ state: "detached" });
  // What all of it came to, as the ledger has it; also what a call cost whose process died.
  const spent = async () => (await at.server.request("GET", `/sessions/${id}/usage`)).json;
  await until(30_000, "both calls are entered", async () => (await spent()).calls === 2);
  const { cost_usd } = await spent();
  ok(cost_usd > 100, `what both cost: ${cost_usd}`);
  const shown = async (name) => Number(await page.locator(`.chat-bar [data-${name}]`).getAttribute(`data-${name}`));
  await becomes(() => shown("cost"), cost_usd, "the cost of the session");
  await at.server.place.sql(`insert into ledger (tenant_id, id, agent_id, model_id, session_id, byok, outcome, estimated, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost_pd)
    select tenant_id, 'c0zzzzzzzzzzzzzzzzzzzzzzz', agent_id, model_id, session_id, byok, 'lost', 1, 10, 0, 0, 20, 0, 3000000000000 from ledger where session_id = '${id}' limit 1`);
  await page.reload();
  await becomes(() => shown("cost"), Number((cost_usd + 3).toFixed(9)), "the cost with what was lost");
  await becomes(() => shown("tokens"), await spent().then((u) => u.prompt_tokens + u.completion_tokens), "all tokens");
  // Who asks directly is refused, is told why, and keeps what they wrote.
  equal((await budget(100)).status, 200, "the budget, as it was");
  await box(page).focus();
  await page.keyboard.type("and more");
  await page.keyboard.press("Enter");
  await page.locator(".toast", { hasText: /100 USD/ }).waitFor();
  await becomes(() => box(page).inputValue(), "and more", "what was written");
  const day = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][(new Date().getUTCDay() + 3) % 7];
  equal((await at.server.request("PUT", `/agents/${agent}/chat-config`, { body: { working_hours_enabled: true, working_hours_days: [day], working_hours_start: "09:00", working_hours_end: "17:00", working_hours_tz: "UTC" } })).status, 200, "the hours");
  await page.getByText(`It begins again: ${day} 09:00 (UTC)`).waitFor();
  view.quiet();
}, { ms: 120_000 });

test("a permission that is taken away takes the composer away at once, and gives it back", async (t) => {
  const at = await stage();
  const who = await at.person("MEMBER");
  const agent = await agentOf(at, "Guarded");
  const role = (name) => at.server.request("PUT", `/agents/${agent}/roles/${who.id}`, { body: { role: name } });
  equal((await at.server.request("PUT", `/agents/${agent}/default-role`, { body: { enabled: false } })).status, 200, "the default role");
  ok((await role("MANAGER")).status < 300, "the role");
  const id = await begin(at, agent, { title: "Guarded words", message: "count to 2" });
  await stands(at.server, id, "completed");
  const view = await at.open(t, `/t/${at.slug}/sessions/${id}`, { who, expected: [403] });
  const { page } = view;
  await box(page).waitFor();
  await page.getByText("Live", { exact: true }).waitFor();
  ok((await role("VIEWER")).status < 300, "the lesser role");
  await box(page).waitFor({ state: "detached" });
  await page.getByText("You may read here, and not write.").waitFor();
  equal(await page.getByRole("button", { name: "Rename" }).count(), 0, "what a reader may not do");
  ok((await role("MANAGER")).status < 300, "the role, given back");
  await box(page).waitFor();
  view.quiet();
}, { ms: 120_000 });

test("a key is made and revoked, a webhook connected, a role given; by keyboard alone", async (t) => {
  const at = await stage();
  const agent = await agentOf(at, "Keyed");
  const who = await at.person("MEMBER", "wanda@example.org");
  const view = await at.open(t, `/t/${at.slug}/keys`);
  const { page } = view;
  const press = async (name) => {
    await view.tabTo(name, 90);
    await page.keyboard.press("Enter");
  };
  await page.getByText("No keys yet").waitFor();
  await press("New API key");
  await page.getByRole("dialog", { name: "New API key" }).waitFor();
  await view.tabTo("Name");
  await page.keyboard.type("Mine");
  await press("Create key");
  await page.getByRole("dialog", { name: "The key Mine" }).waitFor();
  await press("I have saved it");
  await page.getByRole("button", { name: "Revoke Mine" }).waitFor();
  await press("Revoke Mine");
  await page.getByRole("dialog").getByRole("textbox").waitFor();
  await view.tabTo("Type");
  await page.keyboard.type("Mine");
  await press("Revoke key");
  await page.getByText("No keys yet").waitFor();

  await page.locator("h1").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("w");
  await page.getByText("No integrations yet").waitFor();
  await press("New integration");
  await page.getByRole("heading", { level: 1, name: "New integration" }).waitFor();
  await view.tabTo("Provider");
  await page.keyboard.type("githu");
  await becomes(() => page.getByLabel("Provider").inputValue(), "github", "the provider");
  await view.tabTo("Label");
  await page.keyboard.type("Repository");
  await view.tabTo("Agent");
  await page.keyboard.type("Key");
  await becomes(() => page.getByLabel("Agent", { exact: true }).inputValue(), agent, "the agent");
  await press("Create integration");
  await page.getByRole("dialog", { name: "The secret of Repository" }).waitFor();
  await press("I have saved it");
  await page.getByText("No calls yet").waitFor();

  await view.go(`/t/${at.slug}/agents/${agent}/access`);
  await page.getByLabel("Who", { exact: true }).waitFor();
  await view.tabTo("Who");
  await page.keyboard.type("wanda");
  await page.getByRole("option", { name: /wanda/ }).waitFor();
  await page.keyboard.press("Enter");
  await press("Give the role");
  await until(20_000, "the role", async () => (await at.server.request("GET", `/agents/${agent}/roles`)).json.items.some((r) => r.user_id === who.id));
  await page.getByLabel("Role of wanda", { exact: true }).waitFor();
  view.quiet();
}, { ms: 120_000 });
