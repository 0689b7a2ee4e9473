// console_parts.test.mjs - parts of the console that have a test of their own: whose a key is, a tool's form, the code scanner, forbidden
// skills, two at one bundle and one plan, the ends of a login, a first run that fails once, lists that are searched.
import { createServer } from "node:http";
import { console_stage } from "./console_stage.mjs";
import { agentOf } from "./console_talk.mjs";
import { becomes, equal, match, ok, test } from "./harness.mjs";

const stage = console_stage({ flags: ["--allow-private-addresses=true"] });
const asked = async (server, method, path, body) => {
  const r = await server.request(method, path, body ? { body } : {});
  ok(r.status < 300, `${method} ${path}: ${r.status} ${r.text}`);
  return r.json;
};

test("the list of keys says whose they are; an invitation does not end a login unasked", async (t) => {
  const { open, slug, server, tenant, person } = await stage();
  const who = await person("MEMBER");
  const login = await asked(server, "POST", "/auth/login", { email: who.email, password: who.password });
  equal((await server.request("POST", `/tenant/${tenant}/api-keys`, { token: login.token, body: { name: "Theirs", scopes: [] } })).status, 201, "their key");
  await asked(server, "POST", `/tenant/${tenant}/api-keys`, { name: "Ours", scopes: [] });
  const view = await open(t, `/t/${slug}/keys`);
  const { page } = view;
  await page.getByRole("row", { name: /Theirs/ }).getByText(who.email).waitFor();
  await page.getByRole("row", { name: /Ours/ }).getByText("you", { exact: true }).waitFor();
  await view.looks("keys-owners");

  const invited = await asked(server, "POST", `/tenant/${tenant}/members`, { email: "second@example.org", role: "MEMBER" });
  await page.goto(`${view.origin}/invite#${invited.invite_token}`);
  await page.getByText("This browser is signed in as admin@example.com").waitFor();
  equal(await page.getByLabel("Your name").isVisible(), false, "the form before an answer");
  await page.getByRole("button", { name: "Show my invitations" }).click();
  await page.getByText("There is no invitation for you.").waitFor();
  equal((await view.context.request.get(`${view.origin}/me`)).status(), 200, "still signed in");
  await page.goto(`${view.origin}/console/`);
  await page.goto(`${view.origin}/invite#${invited.invite_token}`);
  await page.getByRole("button", { name: "Accept as somebody else" }).click();
  await page.getByLabel("Your name").waitFor();
  view.quiet();
});

test("the code scanner is bound and granted; a skill is forbidden and allowed again", async (t) => {
  const at = await stage();
  const { open, slug, server, tenant } = at;
  const agent = await agentOf(at, "Reviewer");
  const skill = await asked(server, "POST", `/tenant/${tenant}/skills`, { name: "Zither tuning", slug: "zither", description: "d", instructions: "i" });
  const view = await open(t, `/t/${slug}/integrations`, { expected: [404, 409] });
  const { page } = view;
  await page.getByRole("link", { name: "Code scanner" }).click();
  await page.getByText("None is bound yet").waitFor();
  await view.looks("scanner-none");
  for (const [label, value] of [["Provider", "sonar"], ["Base URL", "https://scanner.example.org"], ["Organization", "example"], ["Token", "s3cret-of-scanner"]]) await page.getByLabel(label).first().fill(value);
  await page.getByRole("button", { name: "Bind it" }).click();
  await page.getByRole("button", { name: "Unbind the code scanner" }).waitFor();
  ok(!(await page.content()).includes("s3cret-of-scanner"), "the token is shown again");
  await view.looks("scanner");

  await view.go(`/t/${slug}/agents/${agent}/tools`);
  const part = page.getByRole("region", { name: "Code scanner" });
  await part.getByText("It sees nothing of a code scanner").waitFor();
  await part.getByLabel("Repository").fill("handbook");
  await part.getByRole("button", { name: "Let it see the results" }).click();
  await part.getByRole("row", { name: /handbook/ }).getByText("Granted").waitFor();
  await view.looks("agent-scanner");
  await part.getByRole("button", { name: "Revoke handbook" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await part.getByRole("row", { name: /handbook/ }).getByText("Revoked").waitFor();

  await view.go(`/t/${slug}/agents/${agent}/skills`);
  const forbidden = page.getByRole("region", { name: "Forbidden skills" });
  await forbidden.getByText("No skill is forbidden").waitFor();
  // The list finds it by the beginning of a word, says when nothing fits, and is worked by keyboard.
  const pick = forbidden.getByRole("combobox", { name: "Forbid a skill" });
  await pick.fill("nothing-of-that-name");
  await forbidden.getByText("Nothing fits").waitFor();
  await pick.fill("zith");
  await forbidden.getByRole("option", { name: "Zither tuning" }).waitFor();
  await page.keyboard.press("Enter");
  await becomes(() => pick.inputValue(), "Zither tuning", "what was taken");
  await forbidden.getByRole("button", { name: "Forbid" }).click();
  await forbidden.getByRole("row", { name: /Zither tuning/ }).getByText("Not use it").waitFor();
  equal((await asked(server, "GET", `/agents/${agent}/skills/permissions`)).items.map((p) => `${p.skill_id} ${p.allowed}`).join(), `${skill.id} false`, "what stands");
  await view.looks("agent-forbidden");
  await forbidden.getByRole("button", { name: "Allow again: Zither tuning" }).click();
  await forbidden.getByText("No skill is forbidden").waitFor();
  view.quiet();
}, { ms: 90_000 });

test("two at one bundle and at one plan: theirs, yours, or some of each", async (t) => {
  const { open, slug, server, tenant } = await stage();
  const bundle = await asked(server, "POST", `/tenant/${tenant}/tool-bundles`, { name: "Both", slug: "both", description: "first" });
  const plan = await asked(server, "POST", "/admin/plans", { name: "Both plan", slug: "both-plan" });
  const view = await open(t, "/", { expected: [412] });
  const { page } = view;
  for (const [place, at, field, label] of [[`/t/${slug}/bundles?bundle=${bundle.id}`, `/tenant/${tenant}/tool-bundles/${bundle.id}`, "name", "Name"], [`/admin/plans?plan=${plan.id}`, `/admin/plans/${plan.id}`, "name", "Name"]]) {
    await view.go(place);
    const box = page.getByRole("region").getByLabel(label, { exact: true });
    await box.fill("Mine");
    // The other's change comes while ours is on its way.
    let changed = false;
    await page.route(`**${at}`, async (route) => {
      if (route.request().method() === "PATCH" && !changed) {
        changed = true;
        await asked(server, "PATCH", at, { [field]: "Theirs" });
      }
      await route.continue();
    });
    await page.getByRole("button", { name: /^Save / }).click();
    await page.getByRole("dialog", { name: /Somebody else/ }).getByText("Theirs").first().waitFor();
    await page.getByRole("button", { name: "Keep theirs" }).click();
    await page.getByText("Theirs is kept").first().waitFor();
    equal((await asked(server, "GET", at))[field], "Theirs", "what stands");
    await page.unroute(`**${at}`);
  }
  view.quiet();
}, { ms: 60_000 });

test("the ends of a login: signing out that fails goes on as before; signing in again can be given up for another way", async (t) => {
  const { open, slug, server, tenant, person } = await stage();
  const who = await person("ADMIN");
  const view = await open(t, `/t/${slug}/people/groups`, { who, expected: [503] });
  const { page } = view;
  await page.locator(".connection.live").waitFor();
  await page.route("**/auth/logout", (route) => route.fulfill({ status: 503, contentType: "application/problem+json", body: '{"title":"Busy","status":503,"detail":"Come back later."}' }));
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("Come back later.").waitFor();
  await page.locator(".connection.live").waitFor();
  await asked(server, "POST", `/tenant/${tenant}/groups`, { name: "Told after all" });
  await page.getByText("Told after all").waitFor(); // the stream goes on
  await page.unroute("**/auth/logout");

  await view.loseLogin();
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  const again = page.getByRole("dialog", { name: "Sign in again" });
  await again.getByRole("link", { name: /Sign in in another way/ }).click();
  await page.waitForURL("**/console/sign-in");
  await page.getByRole("heading", { name: "Sign in", exact: true }).waitFor();
  await view.signIn(who);
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  view.quiet();
}, { ms: 60_000 });

test("a first run with one's own key that fails once is taken up where it stopped", async (t) => {
  const { open, slug, server } = await stage();
  const provider = createServer((request, reply) => {
    request.resume().on("end", () => {
      reply.writeHead(200, { "Content-Type": "text/event-stream" });
      reply.end(`data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "own", choices: [{ index: 0, delta: { role: "assistant", content: "Hello from your own model" }, finish_reason: "stop" }], usage: { prompt_tokens: 1, completion_tokens: 5, total_tokens: 6 } })}\n\ndata: [DONE]\n\n`);
    });
  });
  await new Promise((done) => provider.listen(0, "127.0.0.1", done));
  t.onEnd(() => (provider.closeAllConnections(), provider.close()));
  const view = await open(t, `/t/${slug}/start`, { expected: [503] });
  const { page } = view;
  await page.getByLabel("With my own key at a provider").check();
  await page.getByLabel("Provider", { exact: true }).selectOption("openai");
  await page.getByLabel("The model's name at the provider").fill("own-model");
  await page.getByLabel("API key").fill("sk-own");
  await page.getByLabel(/^Address/).fill(`http://127.0.0.1:${provider.address().port}/v1`);
  await page.getByLabel("A new one").check();
  await page.getByLabel("Its name").fill("First helper");
  let fails = true;
  await page.route("**/sessions", (route) => (route.request().method() === "POST" && fails ? route.fulfill({ status: 503, contentType: "application/problem+json", body: '{"title":"Busy","status":503,"detail":"Come back later."}' }) : route.continue()));
  await page.getByRole("button", { name: "Begin" }).click();
  await page.getByRole("alert").getByText("Come back later.").waitFor();
  equal(await page.getByLabel("API key").inputValue(), "sk-own", "what was typed");
  fails = false;
  await page.getByRole("button", { name: "Begin" }).click();
  await page.getByLabel("Conversation").getByText("Hello from your own model").waitFor();
  match(page.url(), /\/sessions\/c/, "where one is");
  equal((await asked(server, "GET", "/admin/models?per_page=200")).items.filter((m) => m.slug === "own-model").length, 1, "models that were made");
  equal((await asked(server, "GET", `/tenant/${(await asked(server, "GET", "/me")).memberships[0].tenant_id}/agents?q=First`)).items.length, 1, "agents that were made");
  view.quiet();
}, { ms: 60_000 });
