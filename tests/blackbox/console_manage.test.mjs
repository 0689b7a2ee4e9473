// console_manage.test.mjs - the console's screens for those who run a tenant or the whole service: costs, people, keys,
// integrations, audit, administration, the API reference and the first run, each as somebody goes through it.
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { console_stage } from "./console_stage.mjs";
import { ADMIN, becomes, equal, match, ok, short, test, until } from "./harness.mjs";

const stage = console_stage();
const run = promisify(execFile);
const HOSTILE = `<img src=x onerror=alert(1)> "it" **b** [a](javascript:alert(1))`;
const DAY = 86_400_000;

/** Nothing that somebody wrote became markup. */
async function plain(page, text = HOSTILE) {
  await page.getByRole("main").getByText(text).locator("visible=true").first().waitFor();
  equal(await page.locator("main img, main [onerror], main a[href^='javascript:']").count(), 0, "markup of what somebody wrote");
}

test("the first run: from the sign-in to a session with its answer, in three clicks", async (t) => {
  const { stranger, server, tenant } = await stage();
  const view = await stranger(t);
  const { page } = view;
  await view.signIn();
  await page.getByRole("heading", { name: "Welcome", level: 1 }).waitFor();
  await page.getByRole("radio", { name: /Demo/ }).waitFor();
  await view.looks("start");
  await page.getByRole("radio", { name: "With my own key at a provider" }).check();
  await page.getByLabel("API key", { exact: true }).waitFor();
  await view.looks("start-own-key");
  await page.getByRole("radio", { name: /Demo/ }).check();
  await page.getByRole("button", { name: "Begin" }).click();
  await page.waitForURL(/\/sessions\/c[a-z0-9]{24}$/);
  const session = page.url().split("/").at(-1);
  await until(20_000, "the first answer", async () => (await server.request("GET", `/sessions/${session}/messages`)).json.items.some((m) => m.role === "assistant" && m.status === "complete"));
  equal((await server.request("GET", `/tenant/${tenant}/sessions`)).json.total, 1, "sessions");
  await view.go("/");
  await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
}, { ms: 120_000 });

test("somebody is invited, accepts, and sees what a member may", async (t) => {
  const { open, stranger, slug, server, tenant } = await stage();
  await server.request("POST", `/tenant/${tenant}/groups`, { body: { name: HOSTILE.slice(0, 100), description: HOSTILE } });
  const view = await open(t, `/t/${slug}/people`, { expected: [409, 422] });
  const { page } = view;
  await page.getByRole("button", { name: "Invite somebody" }).waitFor();
  await page.getByRole("heading", { name: "People", level: 1 }).waitFor();
  // By keyboard alone, with a mistake on the way.
  await view.tabTo("Invite somebody");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Invite somebody" }).waitFor();
  await page.keyboard.press("Tab");
  await view.tabTo("Email");
  await page.keyboard.type("not an address");
  await page.keyboard.press("Enter");
  await page.locator("[data-field=email] .error").waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("new@example.org");
  await view.tabTo("Name");
  await page.keyboard.type(HOSTILE);
  await page.keyboard.press("Enter");
  const link = page.getByRole("dialog", { name: "Invitation for new@example.org" });
  await link.waitFor();
  await page.keyboard.press("Escape");
  ok(await link.isVisible(), "Esc took the link away");
  const url = await link.locator(".secret code").first().textContent();
  await view.looks("invitation");
  await view.tabTo("I have saved it");
  await page.keyboard.press("Enter");
  await page.getByText("Invited", { exact: true }).waitFor();
  await plain(page);
  await view.looks("people");

  const guest = await stranger(t, "/");
  await guest.page.goto(url);
  await guest.page.getByLabel("Name").fill("New <b>Person</b>");
  for (const field of ["#password", "#again"]) await guest.page.fill(field, "A-persons-own-password");
  await guest.page.getByRole("button", { name: "Accept the invitation" }).click();
  await guest.page.getByRole("link", { name: "Go on" }).click();
  await guest.page.getByRole("heading", { name: "Inbox", level: 1 }).or(guest.page.getByLabel("Email address")).waitFor();
  await until(20_000, "the new member", async () => (await server.request("GET", `/tenant/${tenant}/members`)).json.items.some((m) => m.email === "new@example.org" && m.status === "active"));
  const member = await open(t, `/t/${slug}/people`, { who: { email: "new@example.org", password: "A-persons-own-password" } });
  await member.page.getByText("New <b>Person</b>").first().waitFor();
  equal(await member.page.getByRole("button", { name: "Invite somebody" }).count(), 0, "what a member may not");
  equal(await member.page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Costs" }).count(), 0, "what a member may not see");
  await member.go(`/t/${slug}/costs`);
  await member.page.getByText("You may not see this").waitFor();
  member.quiet();

  await page.reload();
  await page.getByRole("link", { name: "New <b>Person</b>" }).click();
  await page.getByLabel("Role", { exact: true }).selectOption("ADMIN");
  await page.getByRole("button", { name: "Change role" }).click();
  await page.getByText("The role is changed").waitFor();
  await page.getByLabel("On the agent").selectOption({ index: 1 });
  await page.getByText("agent:write").waitFor();
  await view.looks("person");
  await member.go(`/t/${slug}/costs`);
  await member.page.getByRole("heading", { name: "Costs", level: 1 }).waitFor();

  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "People" }).click();
  await page.getByRole("link", { name: "Groups" }).click();
  await plain(page);
  await page.getByRole("link", { name: HOSTILE.slice(0, 100) }).click();
  await page.getByLabel(/^Add/).selectOption({ label: "New <b>Person</b>" });
  await page.getByRole("button", { name: "Add to the group" }).click();
  await page.getByRole("link", { name: "New <b>Person</b>" }).waitFor();
  await view.looks("group");
  await view.go(`/t/${slug}/people/allowed`);
  await page.getByLabel("Email").fill("allowed@example.org");
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByRole("button", { name: "Remove allowed@example.org" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("rowheader", { name: "allowed@example.org" }).waitFor();
  await view.looks("allowed");

  // An invitation that is taken back.
  await server.request("POST", `/tenant/${tenant}/members`, { body: { email: "gone@example.org" } });
  await view.go(`/t/${slug}/people`);
  await page.getByRole("button", { name: "Revoke the invitation of gone@example.org" }).click();
  await page.getByRole("button", { name: "Revoke invitation", exact: true }).click();
  await page.getByRole("link", { name: "gone@example.org" }).waitFor({ state: "detached" });
  view.quiet();
}, { ms: 180_000 });

test("an API key: Esc does not lose it, its curl works, and nothing does once it is revoked", async (t) => {
  const { open, slug, server, tenant } = await stage();
  const view = await open(t, `/t/${slug}/keys`);
  const { page } = view;
  await page.getByText("No keys yet").waitFor();
  await view.looks("keys-empty");
  await page.getByRole("button", { name: "New API key" }).first().click();
  const form = page.getByRole("dialog", { name: "New API key" });
  await form.getByLabel("Name").fill(HOSTILE);
  await form.getByLabel("members:read").check();
  await form.getByRole("button", { name: "Create key" }).click();
  const shown = page.getByRole("dialog", { name: `The key ${HOSTILE}` });
  await shown.waitFor();
  for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
  ok(await shown.isVisible(), "Esc took the key away");
  const command = await shown.locator(".curl pre").textContent();
  await view.looks("key-once");
  const { stdout } = await run("sh", ["-c", command.replace("curl", "curl -s")]);
  ok(JSON.parse(stdout).items.some((m) => m.email === ADMIN.email), `the command: ${short(stdout)}`);
  const refused = await run("sh", ["-c", command.replace("curl", "curl -s").replace("/members", "/agents")]);
  equal(JSON.parse(refused.stdout).status, 403, "what its scopes leave out");
  await page.getByRole("button", { name: "I have saved it" }).click();
  await plain(page);
  equal(await page.getByText(/lodge_[A-Za-z0-9]/).count(), 0, "the key on the screen");
  await view.looks("keys");
  await page.getByRole("button", { name: `Revoke ${HOSTILE}` }).click();
  await page.getByRole("dialog").getByRole("textbox").fill(HOSTILE);
  await page.getByRole("button", { name: "Revoke key" }).click();
  await page.getByText("No keys yet").waitFor();
  equal(JSON.parse((await run("sh", ["-c", command.replace("curl", "curl -s")])).stdout).status, 401, "a call with a revoked key");

  await page.getByRole("link", { name: "Keys at providers" }).click();
  await page.getByRole("button", { name: "Add the key for anthropic" }).click();
  await page.getByLabel("API key").fill("sk-of-mine");
  await page.getByRole("button", { name: "Store key" }).click();
  await page.getByText("Your key", { exact: true }).waitFor();
  await view.looks("provider-keys");
  equal((await server.request("GET", `/tenant/${tenant}/provider-keys/anthropic`)).status, 200, "the stored key");
  view.quiet();
}, { ms: 120_000 });

test("costs: bars, table, CSV, shared link and API agree, and what stands out says why", async (t) => {
  const { open, slug, server, tenant } = await stage();
  const agents = (await server.request("GET", `/tenant/${tenant}/agents`)).json.items;
  const today = Math.floor(Date.now() / DAY);
  const rows = [];
  // 40 days of two cents, and three dollars a day in the last two; another agent at a third of a cent.
  for (let day = today - 40; day < today; day++) {
    rows.push([day, agents[0].id, day >= today - 2 ? 3 : 0, day >= today - 2 ? 141_592_653_589 : 20_000_000_000]);
    rows.push([day, agents[1].id, 0, 3_333_333_333]);
  }
  const values = (time) => rows.map(([day, agent, whole, pd]) => `('${tenant}', ${time(day)}, '${agent}', 'model-1', 0, 0, 5, 1000, 4000, 0, 300, ${whole}, ${pd})`).join(", ");
  const columns = "agent_id, model_id, byok, shard, requests, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_whole, cost_pd";
  await server.place.sql(`insert into cost_days (tenant_id, day, ${columns}) values ${values((d) => d)}`);
  await server.place.sql(`insert into cost_hours (tenant_id, hour, ${columns}) values ${values((d) => d * 24 + 12)}`);
  const view = await open(t, `/t/${slug}/costs?period=7d`);
  const { page } = view;
  const total = async (query) => (await server.request("GET", `/tenant/${tenant}/billing/agent-costs?${query}`)).json.total_cost_usd;
  const dollars = (usd) => new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" }).format(usd);
  await page.getByText("Far more than usual").waitFor();
  await becomes(() => page.locator(".total strong").textContent(), dollars(await total("period=7d")), "the total");
  await page.getByText("in the 28 days before it was $0.02 on a usual day").waitFor();
  await until(20_000, "bars", async () => (await page.locator(".bars g").count()) >= 7);
  await view.looks("costs");
  await page.getByLabel("Period").selectOption("30d");
  await page.waitForURL(/period=30d/);
  const month = dollars(await total("period=30d"));
  await page.locator(".total strong").getByText(month, { exact: true }).waitFor();
  await page.getByRole("button", { name: "By model" }).click();
  await page.getByRole("rowheader", { name: "model-1" }).waitFor();
  // The same as a table, by keyboard.
  await view.tabTo("Bars as a table");
  await page.keyboard.press("Enter");
  await page.getByRole("table", { name: "Costs over time" }).waitFor();
  await view.looks("costs-table");
  const csv = await (await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "CSV" }).click()]))[0].path();
  const lines = readFileSync(csv, "utf8").trim().split(/\r?\n/).slice(1).map((line) => line.split(","));
  ok(Math.abs(lines.reduce((sum, line) => sum + Number(line[7]), 0) - (await total("period=30d"))) < 0.005, "the sum of the CSV");
  await view.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy link to this" }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await open(t, link.slice(link.indexOf("/console") + 8));
  await other.page.locator(".total strong").getByText(month, { exact: true }).waitFor();
  await other.page.getByRole("table", { name: "Costs over time" }).waitFor();
  await view.go(`/t/${slug}/costs?from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z`);
  await page.getByText("Nothing was spent").waitFor();
  view.quiet();
  other.quiet();
}, { ms: 120_000 });

test("an integration: made, tried, blocked, redelivered, its secret rotated", async (t) => {
  const { open, slug, server } = await stage();
  const view = await open(t, `/t/${slug}/integrations`);
  const { page } = view;
  await page.getByText("No integrations yet").waitFor();
  await page.getByRole("link", { name: "New integration" }).first().click();
  await page.getByLabel("Provider").selectOption("github");
  await page.getByLabel("Label").fill(HOSTILE);
  await page.getByLabel("Agent", { exact: true }).selectOption({ index: 1 });
  await page.getByText("More", { exact: true }).click();
  await page.getByLabel("Events", { exact: false }).first().fill("push");
  await view.looks("integration-new");
  await page.getByRole("button", { name: "Create integration" }).click();
  const shown = page.getByRole("dialog", { name: `The secret of ${HOSTILE}` });
  await shown.waitFor();
  await page.keyboard.press("Escape");
  const secret = await shown.locator(".secret code").first().textContent();
  const address = await shown.locator(".secret code").nth(1).textContent();
  await view.looks("integration-secret");
  await page.getByRole("button", { name: "I have saved it" }).click();
  await page.getByText("No calls yet").waitFor();
  await plain(page);

  const body = JSON.stringify({ action: "opened", issue: { number: 7, title: HOSTILE }, repository: { full_name: HOSTILE }, sender: { login: "ann" } });
  const sent = (key, id) => server.request("POST", new URL(address).pathname, { token: null, body: JSON.parse(body), headers: { "X-Hub-Signature-256": `sha256=${createHmac("sha256", key).update(body).digest("hex")}`, "X-GitHub-Event": "issues", "X-GitHub-Delivery": id } });
  equal((await sent(secret, "one")).status, 403, "an event that the guardrails refuse");
  equal((await sent("another", "two")).status, 401, "one with a wrong signature");
  const log = page.getByRole("table", { name: "Deliveries" });
  await until(10_000, "the log", async () => {
    await page.getByRole("button", { name: "Read again" }).click();
    return (await log.getByText("Blocked", { exact: true }).count()) && (await log.getByText("Rejected", { exact: true }).count());
  });
  await view.looks("deliveries");
  await page.getByLabel("State").selectOption("blocked");
  await page.waitForURL(/status=blocked/);
  await log.getByText("Rejected", { exact: true }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "issues.opened" }).click();
  await plain(page, "full_name");
  await page.getByRole("button", { name: "Redeliver" }).click();
  await page.getByText("Delivered", { exact: true }).first().waitFor();
  await view.looks("delivery");
  await page.goBack();
  await page.waitForURL(/status=blocked/);
  await page.getByText("Nothing matches").waitFor();
  await page.getByRole("button", { name: "Send a test event" }).click();
  await page.getByRole("heading", { name: "test", level: 1 }).waitFor();
  await page.getByText("Delivered", { exact: true }).first().waitFor();
  await page.getByRole("link", { name: "All calls of the integration" }).click();
  await page.getByRole("button", { name: "Rotate secret" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate secret" }).click();
  const fresh = await page.getByRole("dialog", { name: /The new secret/ }).locator(".secret code").first().textContent();
  await page.getByRole("button", { name: "I have saved it" }).click();
  equal((await sent(secret, "three")).status, 401, "the former secret");
  equal((await sent(fresh, "four")).status, 403, "the new secret");
  await page.getByRole("link", { name: "Settings" }).last().click();
  await page.getByLabel("Events", { exact: false }).first().waitFor();
  await becomes(() => page.getByLabel("Events", { exact: false }).first().inputValue(), "push", "the guardrail that stands");
  await view.looks("integration-settings");
  view.quiet();
}, { ms: 180_000 });

test("the audit log: diffs, filters in the address, Back, an export, and a session to the cent", async (t) => {
  const { open, slug, server, tenant } = await stage();
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Audited", slug: "audited", description: "before" } });
  await server.request("PATCH", `/tenant/${tenant}/agents/${made.json.id}`, { body: { description: HOSTILE } });
  const session = await server.request("POST", `/tenant/${tenant}/agents/${made.json.id}/sessions`, { body: { title: HOSTILE, message: HOSTILE } });
  const view = await open(t, `/t/${slug}/audit?agent_id=${made.json.id}`);
  const { page } = view;
  await page.getByRole("button", { name: "agent.update" }).click();
  await page.waitForURL(/action=agent.update/);
  await page.getByRole("button", { name: "agent.create" }).waitFor({ state: "detached" });
  await page.locator("details.entry summary").first().click();
  equal((await page.locator(".diff del").first().textContent()).endsWith("before"), true, "what it was");
  await plain(page);
  await view.looks("audit");
  await page.getByRole("link", { name: "Sessions" }).first().click();
  await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "agent.update" }).waitFor();
  match(page.url(), /action=agent.update/, "the filters after Back");
  const file = await (await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export" }).click()]))[0].path();
  const lines = readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
  ok(lines.length > 0 && lines.every((l) => l.action === "agent.update" && l.agent_id === made.json.id), `the export: ${short(lines)}`);
  await page.getByLabel("Action").fill("no.such");
  await page.keyboard.press("Enter");
  await page.getByText("Nothing matches").waitFor();
  await view.looks("audit-filtered-empty");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("button", { name: "agent.create" }).first().waitFor();
  await until(20_000, "the answer", async () => (await server.request("GET", `/sessions/${session.json.id}`)).json.status === "completed");
  await view.go(`/t/${slug}/audit/sessions?q=img`);
  await page.getByRole("link", { name: HOSTILE, exact: true }).click();
  await page.locator(".said .box").first().waitFor();
  await plain(page);
  await server.place.sql(`insert into ledger (tenant_id, id, agent_id, model_id, session_id, byok, outcome, estimated, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost_pd)
    values ('${tenant}', 'c0zzzzzzzzzzzzzzzzzzzzzzz', '${made.json.id}', 'm', '${session.json.id}', 0, 'ok', 0, 1, 0, 0, 1, 0, 400000000)`);
  await page.reload();
  await becomes(() => page.locator("[data-cost]").textContent(), "$0.0004", "the cost, below a cent");
  await view.looks("audit-session");
  view.quiet();
}, { ms: 120_000 });

test("the super administrator: tenants, users, models, dead letters, all audit, under a standing banner", async (t) => {
  const { open, server, tenant, person } = await stage();
  const hostile = await server.request("POST", "/tenants", { body: { name: HOSTILE, slug: "hostile" } });
  equal(hostile.status, 201, hostile.text);
  const now = Date.now() * 1000;
  await server.place.sql(`insert into jobs (tenant_id, id, kind, subject, lane, state, priority, run_at, attempts, max_attempts, created_at, updated_at, error, payload)
    values ('${tenant}', 'cjld2cyuq0000t3rmniod1foy', 'nobody.knows', 'x', '', 'dead', 0, ${now}, 10, 10, ${now}, ${now}, '${HOSTILE.replaceAll("'", "''")}', '{}')`);
  const ada = await person("MEMBER", "ada@example.org");
  const view = await open(t, "/admin/tenants", { expected: [409] });
  const { page } = view;
  const banner = page.getByText("You act across all tenants.");
  await banner.waitFor();
  await plain(page);
  await view.looks("admin-tenants");
  await page.getByRole("link", { name: HOSTILE }).click();
  await page.getByText("Calls of models").waitFor();
  await banner.waitFor();
  await view.looks("admin-tenant");
  await page.getByRole("button", { name: "Suspend" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("hostile");
  await page.getByRole("button", { name: "Suspend tenant" }).click();
  await page.getByText("This tenant is suspended").waitFor();

  await page.getByRole("link", { name: "Users", exact: true }).click();
  await page.getByLabel("Search users").fill("ada@");
  await page.waitForURL(/q=ada/);
  await page.getByRole("button", { name: "ada", exact: true }).click();
  await page.getByRole("button", { name: "Suspend" }).waitFor();
  await view.looks("admin-user");
  await page.getByRole("button", { name: "Suspend" }).click();
  await page.getByText("Suspended", { exact: true }).waitFor();
  equal((await server.request("POST", "/auth/login", { token: null, body: { email: ada.email, password: ada.password } })).status, 403, "a suspended account");

  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "All models" }).click();
  await page.getByRole("button", { name: "New model" }).click();
  const form = page.getByRole("dialog", { name: "New model" });
  await form.getByLabel("Name", { exact: true }).fill(HOSTILE);
  await form.getByLabel("Slug").fill("priced-1");
  await form.getByLabel("Kind").selectOption("demo");
  await form.getByLabel("Pricing").fill(`{"prompt": "0.000003", "completion": "0.000015"}`);
  await view.looks("admin-model-new");
  await form.getByRole("button", { name: "Create model" }).click();
  await page.getByText("$3.00 in, $15.00 out").waitFor();
  await view.looks("admin-model");

  await page.getByRole("link", { name: "Queue" }).click();
  await page.getByLabel("State").selectOption("dead");
  await plain(page);
  await view.looks("admin-queue");
  await page.getByRole("button", { name: "Try again: nobody.knows cjld2cyuq0000t3rmniod1foy" }).click();
  await page.getByText("Nothing matches").waitFor();
  match(await server.place.sql("select state from jobs where id = 'cjld2cyuq0000t3rmniod1foy'"), /waiting|delayed|held/, "the job");
  await server.place.sql("delete from jobs where id = 'cjld2cyuq0000t3rmniod1foy'");

  await page.getByRole("link", { name: "All audit" }).click();
  await page.getByRole("button", { name: "job.retry" }).or(page.getByRole("button", { name: /queue|job/ })).first().waitFor();
  await view.looks("admin-audit");
  view.quiet();
}, { ms: 180_000 });

test("the API reference: found, read to its bounds, tried with one's own login", async (t) => {
  const { open, tenant } = await stage();
  const view = await open(t, "/api", { expected: [404] });
  const { page } = view;
  await page.getByLabel("Search operations").fill("createIntegration");
  await page.getByRole("link", { name: /Make an address/ }).click();
  await page.getByText("1 to 128 characters").first().waitFor();
  await page.getByText("integrations:write", { exact: true }).waitFor();
  for (const language of ["Python", "JavaScript", "curl"]) {
    await page.getByRole("button", { name: language, exact: true }).click();
    await becomes(async () => ({ Python: /requests\.request\("POST"/, JavaScript: /await fetch\(/, curl: /^curl -X POST/ })[language].test(await page.locator(".ref-body .curl pre").first().textContent()), true, language);
  }
  await becomes(() => page.getByRole("button", { name: "Try it" }).isDisabled(), true, "a change can be tried without being asked for");
  await view.looks("reference");
  await view.go("/api/readTenant");
  await page.getByRole("button", { name: "Try it" }).click();
  await page.getByRole("status").getByText("200", { exact: true }).waitFor();
  await until(20_000, "the answer", async () => (await page.locator(".ref-body .box").textContent()).includes(tenant));
  await view.looks("reference-tried");
  // A login that ends is asked for, as everywhere, and the try goes on.
  await view.loseLogin();
  await page.getByRole("button", { name: "Try it" }).click();
  const again = page.getByRole("dialog", { name: "Sign in again" });
  await again.getByLabel("Password", { exact: true }).fill(ADMIN.password);
  await again.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("status").getByText("200", { exact: true }).waitFor();
  await again.waitFor({ state: "detached" });
  await view.go("/api/no-such");
  await page.getByText("There is no such operation").waitFor();
  view.quiet();
}, { ms: 120_000 });
