// console_agents.test.mjs - one agent and what agents are made of, in a real browser: built by keyboard alone, changed by two at
// once, seen by somebody who loses a role; models, skills, tools, bundles and plans; and names that want to be markup.
import { createServer } from "node:http";
import { becomes, equal, match, ok, short, test, until } from "./harness.mjs";
import { WIDE, console_stage } from "./console_stage.mjs";

const stage = console_stage({ flags: ["--allow-private-addresses=true"] });
const HOSTILE = "<img src=x onerror=alert(1)>";

/** What the service says to a request that has to work. */
async function asked(server, method, path, body) {
  const reply = await server.request(method, path, body === undefined ? {} : { body });
  ok(reply.status < 300, `${method} ${path}: ${reply.status} ${short(reply.text)}`);
  return reply.json;
}

/** Goes by Tab to what has this name, and presses a key there. */
async function press(view, name, key = "Enter") {
  await view.tabTo(name, 150);
  await view.page.keyboard.press(key);
}
async function write(view, name, text) {
  await view.tabTo(name, 150);
  await view.page.keyboard.type(text);
}
/** Takes what a combobox finds. */
async function pick(view, name, text, option) {
  await write(view, name, text);
  await view.page.getByRole("option", { name: option }).first().waitFor();
  await view.page.keyboard.press("Enter");
}

async function models(server) {
  const made = [];
  for (const [name, slug] of [["Otter large", "otter-large"], ["Otter small", "otter-small"]])
    made.push(await asked(server, "POST", "/admin/models", { name, slug, kind: "demo", is_free: true, available_to_all_tenants: true, supports_tools: true, pricing: { prompt: "0.000003", completion: "0.000015" } }));
  made.push(await asked(server, "POST", "/admin/models", { name: `Keyless ${HOSTILE}`, slug: "keyless", kind: "anthropic", available_to_all_tenants: true, config: { base_url: "https://api.example.org", model: "m" } }));
  return made;
}

test("an agent is built from nothing by keyboard alone", async (t) => {
  const { open, slug, server, tenant, person } = await stage();
  await models(server);
  const grace = await person("MEMBER", "grace@example.org");
  const skill = await asked(server, "POST", `/tenant/${tenant}/skills`, { name: "Otter forms", slug: "otter-forms", description: "Fills in forms about otters.", visibility: "tenant", instructions: "Ask {{config.endpoint}}." });
  const view = await open(t, `/t/${slug}/agents/new`);
  const { page } = view;
  // Backwards: the parts are before what is in them, and after the sidebar.
  const part = async (name, waitFor) => {
    const link = page.getByRole("navigation", { name: "Parts of this agent" }).getByRole("link", { name, exact: true });
    for (let i = 0; !(await link.evaluate((e) => e === document.activeElement)); i++) {
      ok(i < 150, `the part ${name} is not reached`);
      await page.keyboard.press("Shift+Tab");
    }
    await page.keyboard.press("Enter");
    await waitFor.waitFor();
  };
  await page.getByLabel("Name").waitFor();
  await write(view, "Name", "Otter keeper");
  await press(view, "Create agent");
  await page.getByRole("heading", { name: "Otter keeper", level: 1 }).waitFor();
  await page.getByText("It has no system prompt").waitFor();
  await view.looks("agent-overview");
  const at = `/tenant/${tenant}/agents/${page.url().split("/").at(-1)}`;

  await part("Prompts", page.getByLabel("System prompt").first());
  await write(view, "System prompt", "You keep otters.");
  await press(view, "Save prompts");
  await page.getByText("Saved", { exact: true }).waitFor();
  await view.looks("agent-prompts");

  await part("Models", page.getByRole("table", { name: "Catalog" }));
  const chain = async () => (await asked(server, "GET", `${at}/models/catalog`)).items.filter((m) => m.enabled).sort((a, b) => a.priority - b.priority).map((m) => m.slug).join(" ");
  const shows = async (...slugs) => {
    await until(20_000, `the screen to show ${slugs}`, async () => (await page.locator(".order code").allTextContents()).join(" ") === slugs.join(" "));
    await until(20_000, `the service to have ${slugs}`, async () => (await chain()) === slugs.join(" "));
  };
  await press(view, "Take out Keyless"); // what the service gave it
  await page.getByText("It has no model to ask.").waitFor();
  await page.getByRole("row", { name: /Keyless.+Not callable.+no grant on the model/ }).waitFor();
  for (const name of ["Otter large", "Otter small"]) {
    await press(view, `Add ${name} to the chain`);
    await page.getByRole("button", { name: `Move ${name} up` }).waitFor();
  }
  await shows("otter-large", "otter-small");
  await press(view, "Move Otter small up");
  await shows("otter-small", "otter-large");
  await press(view, "Move Otter small to", "ArrowDown");
  await shows("otter-large", "otter-small");
  await view.looks("agent-models");
  await page.locator(".order li").nth(1).dragTo(page.locator(".order li").nth(0));
  await shows("otter-small", "otter-large");

  await part("Skills", page.getByLabel("Give it a skill"));
  await pick(view, "Give it a skill", "otter", /Otter forms/);
  await press(view, "Give");
  await page.getByRole("link", { name: "Otter forms" }).waitFor();
  await press(view, "Otter forms");
  await page.getByRole("heading", { name: "Configuration" }).waitFor();
  await press(view, "Add a value");
  await write(view, "Name 1", "token");
  await write(view, "Value of token", "s3cret-of-otters");
  await press(view, "Seal and save");
  await page.getByText("The configuration is sealed").waitFor();
  equal((await asked(server, "GET", `${at}/skills/${skill.id}/config`)).config.token, "s3cret-of-otters", "the sealed value");
  await becomes(() => page.getByLabel("Value of token").getAttribute("type"), "password", "how it is shown");
  await view.looks("agent-skills");

  await part("Tools", page.getByLabel("Give it a tool"));
  await pick(view, "Give it a tool", "calc", /calculator/);
  await press(view, "Give");
  await page.getByRole("link", { name: "calculator" }).waitFor();
  await press(view, "calculator");
  await page.getByRole("heading", { name: "calculator", level: 3 }).waitFor();
  await view.looks("agent-tools");

  await part("Limits", page.getByLabel("Hourly limit"));
  await write(view, "Hourly limit", "2.5");
  await press(view, "Save budget");
  await page.getByText("Saved", { exact: true }).last().waitFor();
  await page.getByLabel("Messages in a minute").waitFor();
  await write(view, "Messages in a minute", "30");
  await press(view, "Keep to working hours", "Space");
  for (const day of ["Mon", "Tue"]) await press(view, day, "Space");
  await write(view, "Begins at", "0900AM");
  await write(view, "Ends at", "0530PM");
  await write(view, "Time zone", "Europe/Berlin");
  await page.getByRole("img", { name: "Tue: 09:00 to 17:30" }).waitFor();
  await press(view, "Save limits");
  await page.getByRole("button", { name: "Save limits", disabled: true }).waitFor();
  equal((await asked(server, "GET", `${at}/budget`)).hourly_limit_usd, 2.5, "the budget");
  const hours = await asked(server, "GET", `${at}/chat-config`);
  equal(JSON.stringify([hours.chat_rpm_limit, hours.working_hours_enabled, hours.working_hours_days, hours.working_hours_start, hours.working_hours_end, hours.working_hours_tz]), '[30,true,["Mon","Tue"],"09:00","17:30","Europe/Berlin"]', "the hours");
  await view.looks("agent-limits");

  await part("Access", page.getByLabel("Who", { exact: true }));
  await press(view, "Role", "m"); // Manager
  await pick(view, "Who", "grace", /grace/);
  await press(view, "Give the role");
  await page.getByLabel("Role of grace", { exact: true }).waitFor();
  await pick(view, "Person", "grace", /grace/);
  await page.getByText("Manager of this agent, by a role of their own").waitFor();
  await page.getByText("agent:skills:write").waitFor();
  equal((await asked(server, "GET", `${at}/access/${grace.id}`)).ways.some((w) => w.role === "MANAGER" && w.through === "user"), true, "the role that the service has");
  await view.looks("agent-access");
  view.quiet();
}, { ms: 240_000 });

test("two at one agent: seen without reload, a lost race, and a role that is taken away", async (t) => {
  const { open, slug, server, tenant, person } = await stage();
  const ada = await person("MEMBER");
  const made = await asked(server, "POST", `/tenant/${tenant}/agents`, { name: "Shared", slug: "shared-by-two", description_prompt: "first" });
  const at = `/tenant/${tenant}/agents/${made.id}`;
  await asked(server, "PUT", `${at}/roles/${ada.id}`, { role: "MANAGER" });
  const view = await open(t, `/t/${slug}/agents/${made.id}/prompts`, { who: ada, expected: [412, 403] });
  const { page } = view;
  await page.getByText("Live", { exact: true }).waitFor();
  const prompt = page.getByLabel("System prompt").first();
  await prompt.waitFor();
  await asked(server, "PATCH", at, { description_prompt: "second" });
  await until(20_000, "the other's change to be seen", async () => (await prompt.inputValue()) === "second");

  // The other's change comes while ours is on its way.
  await prompt.fill("mine");
  let changed = false;
  await page.route(`**${at}`, async (route) => {
    if (route.request().method() === "PATCH" && !changed) {
      changed = true;
      await asked(server, "PATCH", at, { description_prompt: `theirs ${HOSTILE}`, initial_greeting: "Hello" });
    }
    await route.continue();
  });
  await page.getByRole("button", { name: "Save prompts" }).click();
  const dialog = page.getByRole("dialog", { name: /Somebody else/ });
  await dialog.getByText(`theirs ${HOSTILE}`).waitFor();
  for (const name of ["Keep theirs", "Keep mine", "Save as chosen"]) ok(await dialog.getByRole("button", { name }).isVisible(), name);
  await dialog.getByRole("radio", { name: "mine" }).check();
  await dialog.getByRole("button", { name: "Save as chosen" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  const now = await asked(server, "GET", at);
  equal(`${now.description_prompt}, ${now.initial_greeting}`, "mine, Hello", "what stands");
  await page.unroute(`**${at}`);

  // The role goes: so do the controls, and the service refuses.
  await asked(server, "PUT", `${at}/roles/${ada.id}`, { role: "VIEWER" });
  await page.getByRole("button", { name: "Save prompts" }).waitFor({ state: "detached" });
  await page.getByRole("navigation", { name: "Parts of this agent" }).getByRole("link", { name: "Settings" }).waitFor({ state: "detached" });
  equal(await page.evaluate(async (url) => (await fetch(url, { method: "PATCH", headers: { "Content-Type": "application/json" }, body: '{"description":"x"}' })).status, at), 403, "what the service says");
  await page.getByText("mine", { exact: true }).waitFor();
  await view.looks("agent-prompts-read");
  for (const [part, text] of [["models", "Chain"], ["skills", "It has no skills yet"], ["tools", "Bundles"], ["limits", "no limit"], ["access", "What you may do here"], ["memories", "Nothing is remembered yet"], ["integrations", "Nothing is connected to it"]]) {
    await view.go(`/t/${slug}/agents/${made.id}/${part}`);
    await page.getByText(text).first().waitFor();
    equal(await page.locator("main form, main .button.primary:not([href$='/chat']), main .button.danger").count(), 0, `controls of ${part} for a viewer`);
  }
  view.quiet();
}, { ms: 120_000 });

test("the other parts of an agent: settings, memories, handing over, copying, deleting", async (t) => {
  const { open, slug, server, tenant, person } = await stage();
  const heir = await person("MEMBER", "heir@example.org");
  const made = await asked(server, "POST", `/tenant/${tenant}/agents`, { name: "Handed on", slug: "handed-on" });
  const base = `/t/${slug}/agents/${made.id}`, at = `/tenant/${tenant}/agents/${made.id}`;
  const view = await open(t, `${base}/memories`, { expected: [404] });
  const { page } = view;
  await page.getByText("Nothing is remembered yet").waitFor();
  await page.getByRole("button", { name: "Add a memory" }).click();
  await page.getByLabel("Content").fill(HOSTILE);
  await page.getByRole("button", { name: "Add memory" }).click();
  await page.getByRole("rowheader", { name: HOSTILE }).waitFor();
  await view.looks("agent-memories");
  await page.getByRole("button", { name: /Remove the memory/ }).click();
  await page.getByText("Nothing is remembered yet").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("rowheader", { name: HOSTILE }).waitFor();
  await view.go(`${base}/integrations`);
  await page.getByText("Nothing is connected to it").waitFor();
  await view.go(`${base}/settings`);
  await page.getByLabel("Hidden from lists").waitFor();
  await view.looks("agent-settings");
  await view.go(`${base}/danger`);
  await page.getByRole("button", { name: "Archive it" }).click();
  await page.getByRole("button", { name: "Bring it back" }).waitFor();
  equal((await asked(server, "GET", at)).is_active, false, "an archived agent's work");
  await view.looks("agent-danger");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "Archive it" }).waitFor();
  await page.getByLabel("New owner").fill("heir");
  await page.getByRole("option", { name: /heir/ }).click();
  await page.getByRole("button", { name: "Hand over", exact: true }).click();
  await page.getByLabel("Type handed-on to go on").fill("handed-on");
  await page.getByRole("dialog").getByRole("button", { name: "Hand over" }).click();
  await page.getByText("heir owns Handed on").waitFor();
  equal((await asked(server, "GET", `${at}/access/${heir.id}`)).ways.some((w) => w.role === "OWNER" && w.through === "user"), true, "the new owner");
  await page.getByRole("button", { name: "Make a copy" }).click();
  await page.getByRole("heading", { name: "Handed on copy", level: 1 }).waitFor();
  await view.go(`${base}/danger`);
  await page.getByRole("button", { name: "Delete this agent" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete Handed on?" });
  await becomes(() => dialog.getByRole("button", { name: "Delete agent" }).isDisabled(), true, "deleting before its name is typed");
  await dialog.getByLabel("Type handed-on to go on").fill("handed-on");
  await dialog.getByRole("button", { name: "Delete agent" }).click();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  equal((await server.request("GET", at)).status, 404, "the deleted agent");
  await view.go(`${base}/prompts`);
  await page.getByText("It is gone, or you can no longer see it.").waitFor();
  view.quiet();
}, { ms: 120_000 });

test("models, skills, tools, bundles and plans", async (t) => {
  const { open, slug, server, tenant } = await stage();
  const peer = createServer((request, reply) => reply.end(`{"said":"${HOSTILE.replaceAll('"', "'")}","key":"${request.headers["x-key"]}"}`));
  await new Promise((done) => peer.listen(0, "127.0.0.1", done));
  t.onEnd(() => new Promise((done) => peer.close(done)));
  const view = await open(t, `/t/${slug}/models`, { expected: [409, 422] });
  const { page } = view;
  await page.getByRole("table", { name: "Models" }).waitFor();
  await view.looks("models");
  await page.getByRole("link", { name: "Otter large" }).click();
  await page.getByText("$3.00").waitFor();
  await page.getByLabel("Add a model to the failover chain").fill("small");
  await page.getByRole("option", { name: /Otter small/ }).click();
  await page.getByRole("button", { name: "Save model" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await view.looks("model");

  // A skill is written, its faults are at its fields; a file comes and goes; it is taken out and brought in.
  await view.go(`/t/${slug}/skills/new`);
  await page.getByLabel("Name", { exact: true }).fill(HOSTILE);
  await becomes(() => page.getByLabel("Slug").inputValue(), "img-src-x-onerror-alert-1", "the slug of a hostile name");
  await page.getByRole("button", { name: "Create skill" }).click();
  await page.locator("[data-field=description] .error").waitFor();
  await page.getByLabel("Description").fill(`What it does: ${HOSTILE}`);
  await page.getByLabel("Instructions").first().fill(`# Do it\n\n${HOSTILE}`);
  await page.getByRole("button", { name: "Preview of Instructions" }).click();
  await page.locator(".preview").getByRole("heading", { name: "Do it" }).waitFor();
  await view.looks("skill-new");
  await page.getByRole("button", { name: "Create skill" }).click();
  await page.getByRole("heading", { name: HOSTILE, level: 1 }).waitFor();
  await page.getByLabel("Files from this computer").setInputFiles({ name: "notes.md", mimeType: "text/markdown", buffer: Buffer.from("notes") });
  await page.getByRole("link", { name: "references/notes.md" }).waitFor();
  await view.looks("skill");
  const saved = page.waitForEvent("download");
  await page.getByRole("link", { name: "Take it out as a zip" }).click();
  const zip = await (await saved).path();
  await view.go(`/t/${slug}/skills`);
  await page.getByRole("link", { name: HOSTILE }).waitFor();
  await view.looks("skills");
  await page.getByLabel("A skill from this computer").setInputFiles({ name: "skill.zip", mimeType: "application/zip", buffer: (await import("node:fs")).readFileSync(zip) });
  await page.getByRole("button", { name: "Replace it" }).click();
  await page.getByRole("link", { name: "references/notes.md" }).waitFor();

  // A tool with a secret is made, looked at, and tried; what comes back is text.
  await view.go(`/t/${slug}/tools/new`);
  await page.getByLabel("Name", { exact: true }).fill("otter-lookup");
  await page.getByLabel("Description").fill(HOSTILE);
  await page.getByRole("button", { name: "Add a parameter" }).click();
  await page.getByLabel("Name of parameter 1").fill("place");
  await page.getByLabel("Description of place").fill(`Where: ${HOSTILE}`);
  await page.getByLabel("Address", { exact: true }).fill(`http://127.0.0.1:${peer.address().port}/{{elsewhere}}`);
  await page.getByRole("button", { name: "Create tool" }).click();
  await page.locator("[data-field=url] .error").getByText("elsewhere").waitFor(); // at its own field, inside of another
  await view.looks("tool-new");
  const asJson = page.getByRole("group", { name: "Parameters" }).getByRole("button", { name: "As JSON" });
  await asJson.click();
  await page.getByLabel("Parameters, as a JSON Schema").fill("{not json");
  await page.getByRole("button", { name: "Create tool" }).click();
  await page.getByText("This is not JSON.").waitFor();
  await page.getByLabel("Parameters, as a JSON Schema").fill(JSON.stringify({ type: "object", properties: { place: { type: "string", description: `Where: ${HOSTILE}`, maxLength: 40 }, filter: { type: "object", properties: { age: { type: "integer", minimum: 0 } } } }, required: ["place"] }));
  await page.getByLabel("Address", { exact: true }).fill(`http://127.0.0.1:${peer.address().port}/{{place}}`);
  await page.getByRole("group", { name: "Headers" }).getByRole("button", { name: "Add a value" }).click();
  await page.getByLabel("Name 1").fill("X-Key");
  await page.getByLabel("Value of X-Key").fill("s3cret-of-tools");
  await page.getByRole("button", { name: "Create tool" }).click();
  await page.getByRole("heading", { name: "otter-lookup", level: 1 }).waitFor();
  await page.getByText("at most 40 characters").waitFor();
  await page.getByText("X-Key").first().waitFor();
  await page.getByRole("button", { name: "Call it" }).click();
  await page.getByText("do not suit").waitFor();
  await page.getByLabel("place", { exact: true }).fill("holt");
  await page.getByRole("button", { name: "Call it" }).click();
  await page.getByText("It worked").waitFor();
  match(await page.getByLabel("What it answered").textContent(), /<img src=x onerror=alert\(1\)>.*\*{8}/, "the answer");
  ok(!(await page.content()).includes("s3cret-of-tools"), "the page holds a secret");
  await view.looks("tool");
  await page.setViewportSize({ width: 320, height: 740 });
  await becomes(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, "how much wider than the window it is");
  await page.setViewportSize(WIDE);
  equal((await asked(server, "GET", `/tenant/${tenant}/audit-logs?action=tool.try`)).items.length, 2, "what is on record");
  await view.go(`/t/${slug}/tools`);
  await page.getByRole("link", { name: "otter-lookup" }).waitFor();
  await view.looks("tools");

  await view.go(`/t/${slug}/bundles`);
  await page.getByRole("link", { name: "New bundle" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Otter kit");
  await page.getByLabel("otter-lookup").check();
  await page.getByRole("button", { name: "Create bundle" }).click();
  await page.getByRole("link", { name: "Otter kit" }).click();
  await page.getByRole("region", { name: "Otter kit" }).waitFor();
  await view.looks("bundles");
  await page.getByLabel("otter-lookup").uncheck();
  await page.getByRole("button", { name: "Save bundle" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  equal((await asked(server, "GET", `/tenant/${tenant}/tool-bundles?q=Otter`)).items[0].tools.length, 0, "the bundle's tools");

  await view.go("/admin/plans?plan=new");
  await page.getByLabel("Name", { exact: true }).fill("Otter plan");
  await page.getByLabel("Max agents").fill("3");
  await page.getByRole("button", { name: "Create plan" }).click();
  await page.getByRole("link", { name: "Otter plan" }).waitFor();
  await view.looks("plans");
  equal(await page.locator("img[src=x], [onerror]").count(), 0, "markup that somebody wrote");
  view.quiet();
}, { ms: 240_000 });
