// console_pictures.mjs - a picture of every screen, with a tenant in which people work: to be looked at by a person.
//
//   LODGE_BIN=build/lodge node tests/blackbox/console_pictures.mjs FOLDER [PART]
//
// Two themes, two widths; PART takes the screens whose name has it.  Not a test: it fails only where a screen cannot be reached.
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { endingsOf, Scope, short, until } from "./harness.mjs";
import { console_stage, SMALL, WIDE } from "./console_stage.mjs";

const [folder, part = ""] = process.argv.slice(2);
if (!folder) throw new Error("usage: console_pictures.mjs FOLDER [PART]");
mkdirSync(folder, { recursive: true });

const DAY = 86_400_000;
const ANSWER = `The nightly import failed because two suppliers sent **prices with a comma**, which the reader takes for a separator. Three files are concerned:

| File | Lines | What it says |
| --- | --- | --- |
| \`alpine.csv\` | 14 | price \`12,90\` |
| \`fjord.csv\` | 2 | price \`7,50\` |
| \`tents.csv\` | 1 | no price at all |

This reads both spellings, and refuses a line without a price instead of skipping it:

\`\`\`python
def price(text):
    """Cents of a price as suppliers write it."""
    whole, _, rest = text.strip().replace(",", ".").partition(".")
    if not whole.isdigit():
        raise ValueError(f"no price: {text!r}")  # say so, never guess
    return int(whole) * 100 + int((rest + "00")[:2])
\`\`\`

Shall I run the import again with it?`;

/** A model that answers well: with a tool, a subtask or words, by what it is asked. */
async function startModel(scope) {
  const server = createServer((request, reply) => {
    const parts = [];
    request.on("data", (p) => parts.push(p));
    request.on("end", () => {
      const asked = JSON.parse(Buffer.concat(parts)), last = asked.messages.at(-1);
      const told = typeof last.content === "string" ? last.content : "";
      reply.writeHead(200, { "Content-Type": "text/event-stream" });
      const send = (delta, finish_reason = null, more = {}) => reply.write(`data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`);
      const tool = (calls) => send({ role: "assistant", content: "I look into it.", tool_calls: calls.map(([name, args], index) => ({ index, id: `call_${index}${Math.random().toString(36).slice(2, 8)}`, type: "function", function: { name, arguments: JSON.stringify(args) } })) });
      let reason = "tool_calls";
      if (last.role === "user" && /discount/.test(told)) tool([["calculator", { expression: "129.90 * 0.15" }]]);
      else if (last.role === "user" && /refund/.test(told)) tool([["refund", { order: "NF-20417", amount_usd: 19.49, reason: "Torn seam, two weeks after delivery" }]]);
      else if (last.role === "user" && /three/.test(told)) tool(["Alpine", "Fjord", "Tents"].map((name) => ["subtask", { title: `Check the list of ${name}`, message: "Are all prices there?" }]));
      else {
        reason = "stop";
        send({ role: "assistant", content: /import/.test(told) ? ANSWER : "All of it is there: 412 lines, every one with a price.\n\n- 3 prices have changed since yesterday\n- the highest is the **expedition tent** at $1,290.00" });
      }
      send({}, reason, { usage: { prompt_tokens: 2140, completion_tokens: 318, total_tokens: 2458 } });
      reply.end("data: [DONE]\n\n");
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  scope.onEnd(() => (server.closeAllConnections(), server.close()));
  return `http://127.0.0.1:${server.address().port}/v1`;
}

/** A tenant in which people work; gives what the addresses need. */
async function fill({ server, tenant, person }, scope) {
  const ask = async (method, path, body) => {
    const reply = await server.request(method, path, { body });
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${short(reply.text)}`);
    return reply.json;
  };
  const base = `/tenant/${tenant}`, url = await startModel(scope);
  await ask("PATCH", base, { name: "Northfell Outfitters" });
  const models = [];
  for (const [name, slug, prompt, completion] of [["Sonnet", "sonnet", "0.000003", "0.000015"], ["Small and quick", "quick", "0.0000003", "0.0000012"], ["Local Llama", "llama", "0", "0"]])
    models.push((await ask("POST", "/admin/models", { name, slug, kind: "openai", supports_tools: true, available_to_all_tenants: true, context_window: 200_000, pricing: { prompt, completion }, config: { base_url: slug === "llama" ? "http://127.0.0.1:9/v1" : url, model: slug, api_key: "sk-1" } })).id);
  const tools = (await ask("GET", `${base}/tools?kind=builtin&per_page=200`)).items;
  const toolOf = (name) => tools.find((t) => t.name === name).id;
  const refundTool = (await ask("POST", `${base}/tools`, { name: "refund", kind: "http", description: "Sends money back to a customer", requires_approval: true, input_schema: { type: "object", properties: { order: { type: "string" }, amount_usd: { type: "number" }, reason: { type: "string" } }, required: ["order", "amount_usd"] }, config: { url: "https://shop.example.org/v1/refunds", method: "POST" } })).id;
  const agents = {};
  for (const [name, slug, description] of [["Import desk", "import-desk", "Reads the price lists of suppliers, and says what is wrong with them"], ["Customer mail", "customer-mail", "Answers what customers write; refunds need a person"], ["Release notes", "release-notes", "Writes the notes of a release from what was merged"], ["Bookkeeper", "bookkeeper", "Matches invoices and payments at the end of a month"], ["Night watch", "night-watch", "Looks at alerts at night and wakes nobody without need"]]) {
    const made = await ask("POST", `${base}/agents`, { name, slug, description, initial_greeting: "Good morning. Which list shall I read?", description_prompt: "You work at Northfell Outfitters, a shop for tents and rucksacks.\n\n- Say what you did, and what you did not.\n- Never guess a price." });
    agents[slug] = made.id;
    await ask("PUT", `/agents/${made.id}/models`, { model_ids: [models[0], models[1]] });
    for (const tool of ["calculator", "subtask"]) await ask("POST", `/agents/${made.id}/tools`, { tool_id: toolOf(tool) });
    await ask("PUT", `/agents/${made.id}/budget`, { hourly_limit_usd: 5 });
  }
  const desk = agents["import-desk"];
  await ask("POST", `/agents/${agents["customer-mail"]}/tools`, { tool_id: refundTool });
  await ask("PATCH", "/me", { name: "Nora Lind" });
  await ask("PUT", `/agents/${desk}/chat-config`, { working_hours_enabled: true, working_hours_days: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], working_hours_start: "00:00", working_hours_end: "23:59", working_hours_tz: "Europe/Oslo" });
  for (const content of ["Suppliers in Norway write prices with a comma.", "Fjord sends its list on the first working day of a month."]) await ask("POST", `${base}/agents/${desk}/memories`, { content });
  const skills = [];
  for (const [name, slug, description] of [["Price lists", "price-lists", "How to read a supplier's price list, and what to do with lines that are wrong"], ["Refunds", "refunds", "When money goes back, how much, and who has to agree"], ["House style", "house-style", "How we write to customers"]])
    skills.push((await ask("POST", `${base}/skills`, { name, slug, description, visibility: "tenant", instructions: "# Reading a list\n\n1. Look at the first ten lines.\n2. Prices are in cents:\n\n```python\ncents = int(price * 100)  # never a float\n```\n\nAsk when something is missing." })).id);
  for (const skill of skills.slice(0, 2)) await server.request("POST", `/agents/${desk}/skills`, { body: { skill_id: skill } });
  for (const [path, text] of [["references/suppliers.md", "# Suppliers\n"], ["scripts/read.py", "print(1)\n"]])
    await fetch(`${server.origin}${base}/skills/${skills[0]}/file?path=${encodeURIComponent(path)}`, { method: "PUT", headers: { Authorization: `Bearer ${server.token}`, "Content-Type": "application/octet-stream" }, body: text });
  const tool = await ask("POST", `${base}/tools`, { name: "stock", kind: "http", description: "How many of an article are in the warehouse", input_schema: { type: "object", properties: { article: { type: "string", description: "Its number, as on the label", maxLength: 20 }, warehouse: { type: "string", enum: ["oslo", "bergen"] } }, required: ["article"] }, config: { url: "https://stock.example.org/v1/articles", method: "POST" } });
  await ask("POST", `${base}/tool-bundles`, { name: "Warehouse", slug: "warehouse", description: "What agents need who speak of stock", tools: [tool.id, toolOf("calculator")] });
  const people = [];
  for (const [email, role] of [["ingrid.berg@example.org", "ADMIN"], ["tom.okafor@example.org", "MEMBER"], ["mei.tanaka@example.org", "MEMBER"], ["sam.oduya@example.org", "BILLING"]])
    people.push(await person(role, email).catch(() => person("MEMBER", email)));
  const group = await ask("POST", `${base}/groups`, { name: "Purchasing", description: "Whoever speaks with suppliers" });
  for (const p of people.slice(0, 3)) await ask("PUT", `${base}/groups/${group.id}/members/${p.id}`);
  await ask("PUT", `/agents/${desk}/group-roles/${group.id}`, { role: "MANAGER" });
  await server.request("POST", `${base}/allowed-accounts`, { body: { email: "anna@northfell.example" } });
  for (const name of ["Shop, for orders", "Nightly report"]) await ask("POST", `${base}/api-keys`, { name, scopes: ["tenant:read", "agent:read"] });
  const hook = await ask("POST", `${base}/integrations`, { provider: "github", label: "Repository of the shop", agent_id: agents["release-notes"], guardrails: { events: ["issues", "pull_request"] } });
  const secret = hook.secret ?? hook.signing_secret;
  for (const [event, id, key] of [["issues", "d-1", secret], ["issues", "d-1", secret], ["push", "d-2", secret], ["issues", "d-3", "another"]]) {
    const body = { action: "opened", issue: { number: 214, title: "Price with a comma is read as two columns" }, repository: { full_name: "northfell/shop" }, sender: { login: "mei" } };
    await server.request("POST", `/hooks/${hook.id ?? hook.integration?.id}`, { token: null, body, headers: { "X-Hub-Signature-256": `sha256=${createHmac("sha256", key ?? "").update(JSON.stringify(body)).digest("hex")}`, "X-GitHub-Event": event, "X-GitHub-Delivery": id } });
  }
  const begin = async (agent, title, message) => (await ask("POST", `/agents/${agents[agent]}/sessions`, { title, message })).id;
  const stands = (id, ...states) => until(30_000, `the session is ${states}`, async () => states.includes((await server.request("GET", `/sessions/${id}`)).json.status));
  const chat = await begin("import-desk", "Why did the nightly import fail?", "The import of last night failed. What is wrong?");
  const parent = await begin("import-desk", "Check the lists of three suppliers", "Check the lists of all three suppliers");
  const refund = await begin("customer-mail", "How much is the discount?", "A customer has a discount of 15 % on 129.90. How much is it?");
  const waits = await begin("customer-mail", "Refund for a torn tent", "Order NF-20417: the seam is torn. Please refund 15 %.");
  for (const id of [chat, parent, refund]) await stands(id, "completed", "failed");
  await stands(waits, "waiting_approval", "failed");
  const broken = (await ask("POST", `${base}/agents`, { name: "Tent advisor", slug: "tent-advisor", description: "Knows which tent stands in which wind" })).id;
  await ask("PUT", `/agents/${broken}/models`, { model_ids: [models[2]] });
  agents["tent-advisor"] = broken;
  const lost = await begin("tent-advisor", "Which tent for a storm?", "Which tent stands in 30 m/s?");
  await stands(lost, "failed", "pending", "completed");
  const today = Math.floor(Date.now() / DAY), rows = [];
  Object.values(agents).forEach((agent, a) => {
    for (let day = today - 44; day <= today; day++) {
      const pd = Math.round((2 + Math.sin(day * 1.7 + a) + (day % 7 > 4 ? -1 : 0)) * (5 - a) * 1.5e11 * (a === 0 && day === today - 1 ? 6 : 1));
      rows.push([day, agent, models[a % 2], Math.floor(pd / 1e12), pd % 1e12]);
    }
  });
  const columns = "agent_id, model_id, byok, shard, requests, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_whole, cost_pd";
  const values = (time) => rows.map(([day, agent, model, whole, pd]) => `('${tenant}', ${time(day)}, '${agent}', '${model}', 0, 1, 42, 81000, 214000, 9000, 16300, ${whole}, ${pd})`).join(", ");
  await server.place.sql(`insert into cost_days (tenant_id, day, ${columns}) values ${values((d) => d)}`);
  await server.place.sql(`insert into cost_hours (tenant_id, hour, ${columns}) values ${values((d) => d * 24 + 6)}`);
  for (const [key, body, type] of [["lists/alpine.csv", "article,price\n".repeat(40_000), "text/csv"], ["lists/fjord.csv", "article,price\n", "text/csv"], ["lists/planner.af", readFileSync(new URL("../fuzz/corpus/bundle/letta-2.af", import.meta.url)), "application/json"], ["photos/tent.png", "x".repeat(1_800_000), "image/png"], ["Handbook for the shop, second edition.pdf", "x".repeat(320_000), "application/pdf"], ["stock.json", "{}", "application/json"]])
    await fetch(`${server.origin}${base}/bucket/object?key=${encodeURIComponent(key)}`, { method: "PUT", headers: { Authorization: `Bearer ${server.token}`, "Content-Type": type }, body });
  const mail = (from, to, subject, text, more = {}) => ask("POST", `/agents/${agents[from]}/mail`, { to: [`${to}@demo.lodge.internal`], subject, text, ...more });
  await ask("PUT", `${base}/mail/rules`, { wake: "never", block_from: ["@prizes.example"] });
  await mail("bookkeeper", "import-desk", "Two invoices without a list", "Invoices 2207 and 2211 name articles that no list of Fjord has.\n\nCan you look?", { attachments: [{ filename: "2207.csv", content_type: "text/csv", content: "YSxiCjEsMgo=" }] });
  await mail("release-notes", "import-desk", "What changed in the import", "Prices with a comma are read since this morning.");
  const asked = (await ask("GET", `/agents/${desk}/mail?q=invoices`)).items[0];
  await ask("PATCH", `/agents/${desk}/mail/${asked.id}`, { labels: ["invoices", "fjord"] });
  await ask("POST", `/agents/${desk}/mail/${asked.id}/reply`, { text: "Both are in the list of May. I have added them.", draft: true });
  await ask("POST", `${base}/agents/${desk}/repo`, { projection: "off" });
  const deliveries = (await ask("GET", `${base}/integrations/${hook.id ?? hook.integration?.id}/deliveries`)).items;
  return { thread: asked.thread_id, agent: desk, model: models[0], skill: skills[0], tool: tool.id, session: chat, parent, refund, waits, lost, group: group.id, user: people[0].id, integration: hook.id ?? hook.integration?.id, delivery: deliveries[0]?.id, tenant_id: tenant };
}

const AGENT = ["", "prompts", "repository", "models", "skills", "tools", "limits", "access", "integrations", "mail", "memories", "settings", "export", "danger"];
const placesOf = (slug, d) => {
  const t = `/t/${slug}`, agent = `${t}/agents/${d.agent}`, hook = `${t}/integrations/${d.integration}`;
  return {
    inbox: `${t}/inbox`, sessions: `${t}/sessions`, session: `${t}/sessions/${d.session}`, "session-subtasks": `${t}/sessions/${d.parent}`, "session-tool": `${t}/sessions/${d.refund}`, "session-approval": `${t}/sessions/${d.waits}`, "session-failed": `${t}/sessions/${d.lost}`,
    "session-new": `${agent}/chat`, agents: `${t}/agents`, "agent-new": `${t}/agents/new`, import: `${t}/agents/import?object=lists%2Fplanner.af`, bucket: `${t}/bucket`, "bucket-file": `${t}/bucket?prefix=lists%2F&object=lists%2Falpine.csv`,
    ...Object.fromEntries(AGENT.map((tab) => [`agent-${tab || "overview"}`, tab ? `${agent}/${tab}` : agent])),
    ...Object.fromEntries(["prompts&file=prompts%2Fdescription_prompt.md", "files", "files&file=prompts%2Fdescription_prompt.md", "commits", "refs", "settings"].map((part, i) => [`agent-repository-${i}-${part.split("&")[0]}`, `${agent}/repository?part=${part}`])),
    "agent-mail-thread": `${agent}/mail?thread=${d.thread}`, "agent-mail-write": `${agent}/mail?write=new`, "agent-mail-rules": `${agent}/mail?part=rules`, "mail-rules": `${t}/mail`, "mail-suppressions": `${t}/mail/suppressions`, "admin-mail": "/admin/mail",
    models: `${t}/models`, model: `${t}/models/${d.model}`, skills: `${t}/skills`, "skill-new": `${t}/skills/new`, skill: `${t}/skills/${d.skill}`, tools: `${t}/tools`, "tool-new": `${t}/tools/new`, tool: `${t}/tools/${d.tool}`, bundles: `${t}/bundles`,
    start: `${t}/start`, costs: `${t}/costs?period=30d`, people: `${t}/people`, groups: `${t}/people/groups`, group: `${t}/people/groups/${d.group}`, allowed: `${t}/people/allowed`, person: `${t}/people/${d.user}`,
    keys: `${t}/keys`, "provider-keys": `${t}/keys/providers`, integrations: `${t}/integrations`, "integration-new": `${t}/integrations/new`, integration: hook, "integration-settings": `${hook}/settings`, delivery: `${hook}/deliveries/${d.delivery}`,
    audit: `${t}/audit`, "audit-sessions": `${t}/audit/sessions`, "audit-session": `${t}/audit/sessions/${d.session}`, settings: `${t}/settings`, api: "/api", "api-operation": "/api/createAgent",
    "admin-tenants": "/admin/tenants", "admin-tenant": `/admin/tenants/${d.tenant_id}`, "admin-users": "/admin/users", "admin-models": "/admin/models", "admin-model": `/admin/models/${d.model}`, "admin-plans": "/admin/plans", "admin-queue": "/admin/queue", "admin-audit": "/admin/audit", account: "/account", nothing: "/nowhere",
  };
};

/** The screen has been read: nothing is loading any more. */
async function ready(view, name) {
  await view.page.locator("h1").first().waitFor();
  await view.page.waitForLoadState("load");
  await until(20_000, `${name} is read`, async () => (await view.page.locator("main .skeleton, main [aria-busy=true]").count()) === 0);
  await view.page.waitForTimeout(300); // what comes after the first answers; a picture, not a test
}

async function take(view, name) {
  for (const size of [WIDE, SMALL]) {
    await view.page.setViewportSize(size);
    await view.page.reload();
    await ready(view, name);
    for (const colorScheme of ["light", "dark"]) {
      await view.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await view.page.screenshot({ path: join(folder, `${name}-${colorScheme}-${size.width}.png`) });
    }
  }
}

const scope = new Scope();
try {
  const at = await console_stage({ flags: ["--allow-private-addresses=true"] })();
  if ("sign-in".includes(part)) {
    const stranger = await at.stranger(scope);
    await take(stranger, "sign-in");
  }
  const data = await fill(at, scope);
  const view = await at.open(scope, "/");
  for (const [name, path] of Object.entries(placesOf(at.slug, data)).filter(([n]) => n.includes(part))) {
    await view.go(path);
    await take(view, name);
  }
  for (const line of view.complaints) console.log(line);
} finally {
  await scope.end();
  for (const one of endingsOf("")) await one.end();
}
