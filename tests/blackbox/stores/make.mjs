// make.mjs - makes the stores of older versions that stores.test.mjs opens:
//
//   LODGE_BIN=build/lodge-of-then node tests/blackbox/stores/make.mjs NUMBER
//
// is run with the program of a commit whose last migration is NUMBER, and writes NUMBER-ENGINE.sql.gz, the
// store as the engine's own tool dumps it, and NUMBER-ENGINE.json.gz: what the program of then answered
// to every GET, the ids, and what was secret.  It is run once for a version, and what it wrote is kept; nothing
// in it is edited by hand.  A step whose operation a version does not have is left out.
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { ADMIN, bin, command, ENGINES, equal, here, ok, pause, psql, Scope, startCluster, until } from "../harness.mjs";

export const SCHEMA = "lodge_old"; // of PostgreSQL; whoever loads the dump puts another name in its place
export const WORDS = "A-Word-Of-Grace-7";
const number = process.argv[2];

/** A provider whose calls cost something. */
async function provider() {
  const server = createServer((request, reply) => {
    request.resume().on("end", () => {
      reply.setHeader("Content-Type", "text/event-stream");
      const say = (data) => reply.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
      const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "then" };
      say({ ...chunk, choices: [{ index: 0, delta: { role: "assistant", content: "It is so." }, finish_reason: null }] });
      say({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
      say({ ...chunk, choices: [], usage: { prompt_tokens: 1234, completion_tokens: 77, total_tokens: 1311 } });
      say("[DONE]");
      reply.end();
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
}

class Maker {
  ids = {};
  secrets = {};

  constructor(server, doc, url) {
    Object.assign(this, { server, doc, url });
  }

  has(method, template) {
    return Boolean(this.doc.paths[template]?.[method.toLowerCase()]);
  }

  /** One operation, if this version has it: the answer's JSON, or null. */
  async step(method, template, body, { ids = {}, query = "", headers = {}, token, bare = false } = {}) {
    if (!this.has(method, template)) return null;
    const all = { ...this.ids, ...ids };
    const one = (value) => (Array.isArray(value) ? value[0] : value);
    const path = template.replace(/\{(\w+)\}/g, (_, name) => (ok(all[name], `no ${name} for ${template}`), one(all[name])));
    const reply = await this.server.request(method, path + query, { body, headers, ...(token !== undefined || bare ? { token: token ?? null } : {}) });
    ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`);
    return reply.json ?? {};
  }

  async people() {
    const { step, ids } = { step: this.step.bind(this), ids: this.ids };
    const invited = await step("POST", "/tenant/{tenant_id}/members", { email: "grace@example.org", role: "MEMBER", name: "Grace" });
    if (invited?.invite_token)
      await step("POST", "/auth/accept-invite", { token: invited.invite_token, name: "Grace", password: WORDS }, { bare: true });
    if (invited) {
      const members = (await step("GET", "/tenant/{tenant_id}/members")).items;
      ids.user_id = [members.find((m) => m.email === "grace@example.org").user_id];
    }
    const group = await step("POST", "/tenant/{tenant_id}/groups", { name: "Support", description: "Those who answer." });
    if (group) {
      ids.group_id = group.id;
      await step("PUT", "/tenant/{tenant_id}/groups/{group_id}/members/{user_id}");
    }
    await step("POST", "/tenant/{tenant_id}/allowed-accounts", { email: "alan@example.org" });
    const key = await step("POST", "/tenant/{tenant_id}/api-keys", { name: "kept" });
    this.secrets.key = key?.key ?? key?.token;
    const second = await step("POST", "/tenants", { name: "Second house", slug: "second" });
    this.second = second?.id;
    if (second) await step("POST", "/tenant/{tenant_id}/members", { email: "grace@example.org", role: "ADMIN" }, { ids: { tenant_id: second.id } });
  }

  async models() {
    const { step, ids } = { step: this.step.bind(this), ids: this.ids };
    const model = await step("POST", "/admin/models", { name: "Then", slug: "then", kind: "openai", available_to_all_tenants: true,
      context_window: 100000, supports_tools: true, pricing: { prompt: "0.000003", completion: "0.000015" },
      config: { base_url: this.url, model: "then", api_key: "sealed-key-of-then", headers: { "X-Project": "sealed-header" } } });
    if (!model) return;
    ids.model_id = model.id;
    ids.provider = "openai";
    await step("PUT", "/tenant/{tenant_id}/agents/{agent_id}/models", { model_ids: [model.id] });
    await step("PUT", "/tenant/{tenant_id}/models/{model_id}/users/{user_id}");
    await step("PUT", "/tenant/{tenant_id}/provider-keys/{provider}", { api_key: "sealed-own-key", base_url: "https://models.example.org/v1" });
  }

  async agents() {
    const { step, ids } = { step: this.step.bind(this), ids: this.ids };
    const agent = await step("POST", "/tenant/{tenant_id}/agents", { name: "Kept", slug: "kept", description: "Was here before: é, 猫, 😀.",
      description_prompt: "Answer briefly.", initial_greeting: "Hello!" });
    ids.agent_id = [agent.id];
    const chat = { chat_rpm_limit: 900, chat_rph_limit: 9000, working_hours_enabled: true, working_hours_start: "00:00",
      working_hours_end: "24:00", working_hours_tz: "Europe/Berlin", working_hours_days: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] };
    await step("PUT", "/tenant/{tenant_id}/agents/{agent_id}/chat-config", { ...chat, working_hours_end: "23:59", working_hours_enabled: false });
    await step("PUT", "/tenant/{tenant_id}/agents/{agent_id}/budget", { hourly_limit_usd: 2.5 });
    await step("PUT", "/tenant/{tenant_id}/agents/{agent_id}/favorite");
    if (ids.user_id) await step("PUT", "/tenant/{tenant_id}/agents/{agent_id}/roles/{user_id}", { role: "MANAGER" });
    if (ids.group_id) await step("PUT", "/tenant/{tenant_id}/agents/{agent_id}/group-roles/{group_id}", { role: "VIEWER" });
    if (this.second) this.other = (await step("POST", "/tenant/{tenant_id}/agents", { name: "Elsewhere", slug: "elsewhere" }, { ids: { tenant_id: this.second } })).id;
  }

  async skills() {
    const { step, ids } = { step: this.step.bind(this), ids: this.ids };
    const skill = await step("POST", "/tenant/{tenant_id}/skills", { name: "PDF forms", slug: "pdf-forms", visibility: "public",
      description: "Fills forms. Use when a form is to be filled in.", instructions: "# Fill a form\n\n1. Read it.\n", metadata: { author: "ann" } });
    if (!skill) return;
    ids.skill_id = skill.id;
    await step("PUT", "/tenant/{tenant_id}/skills/{skill_id}/file", "print(1)\n", { query: "?path=scripts/fill.py", headers: { "Content-Type": "text/plain" } });
    await step("POST", "/tenant/{tenant_id}/agents/{agent_id}/skills", { skill_id: skill.id });
    await step("PATCH", "/tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/config", { config: { region: "eu", api_key: "sealed-config-key" } });
    await step("POST", "/tenant/{tenant_id}/agents/{agent_id}/skills", { skill_id: skill.id }, { ids: { tenant_id: this.second, agent_id: this.other } });
    const hook = await step("POST", "/tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/webhooks", { label: "From the build" });
    if (hook) this.secrets.skill_hook = { id: (ids.webhook_id = hook.id), token: hook.token ?? hook.secret };
  }

  async tools() {
    const { step, ids } = { step: this.step.bind(this), ids: this.ids };
    const tool = await step("POST", "/tenant/{tenant_id}/tools", { name: "weather", kind: "http", description: "Tells the weather.",
      input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }, requires_approval: true,
      config: { method: "GET", url: "https://api.example.org/weather?city={{city}}", headers: { Authorization: "Bearer sealed-tool-key" } } });
    if (!tool) return;
    const bundle = await step("POST", "/tenant/{tenant_id}/tool-bundles", { name: "Sky", slug: "sky", tools: [tool.id] });
    ids.bundle_id = bundle.id;
    await step("POST", "/tenant/{tenant_id}/agents/{agent_id}/tool-bundles", { bundle_id: bundle.id });
    const known = (await step("GET", "/tenant/{tenant_id}/tools", undefined, { query: "?per_page=200" })).items;
    const time = known.find((one) => one.name === "time");
    ids.tool_id = [tool.id, time.id];
    await step("PATCH", "/tenant/{tenant_id}/tools/{tool_id}", { requires_approval: true }, { ids: { tool_id: time.id } });
    await step("POST", "/tenant/{tenant_id}/agents/{agent_id}/tools", { tool_id: tool.id, configuration: { city: "Ulm" } });
    await step("POST", "/tenant/{tenant_id}/agents/{agent_id}/tools", { tool_id: time.id });
    await step("PUT", "/tenant/{tenant_id}/scanner", { provider: "sonar", base_url: "https://scanner.example.org", organization: "example", token: "sealed-scanner-token" });
    await step("POST", "/tenant/{tenant_id}/agents/{agent_id}/scanner-grants", { repo_name: "handbook" });
  }

  /** Waits until a session rests in one of these states. */
  async rests(id, states) {
    await until(20_000, `a session that is ${states}`, async () => states.includes((await this.step("GET", "/tenant/{tenant_id}/sessions/{session_id}", undefined, { ids: { session_id: id } })).status));
  }

  async event(delivery) {
    const text = JSON.stringify({ action: "opened", issue: { number: 7, title: "use tool time" }, repository: { full_name: "acme/rocket" }, sender: { login: "ann" } });
    const { id, secret } = this.secrets.hook;
    const signature = `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`;
    await this.step("POST", "/hooks/{integration_id}", text, { bare: true, ids: { integration_id: id }, headers: { "X-GitHub-Event": "issues", "X-GitHub-Delivery": delivery, "X-Hub-Signature-256": signature } });
  }

  async sessions() {
    const { step, ids } = { step: this.step.bind(this), ids: this.ids };
    if (!this.has("POST", "/tenant/{tenant_id}/agents/{agent_id}/sessions")) return;
    const open = (message, agent = ids.agent_id[0]) => step("POST", "/tenant/{tenant_id}/agents/{agent_id}/sessions", { title: message.slice(0, 20), message, metadata: { ticket: "7" } }, { ids: { agent_id: agent } });
    const paid = await open("Is it so?");
    await this.rests(paid.id, ["completed"]);
    await step("POST", "/tenant/{tenant_id}/agents/{agent_id}/memories", { content: "Invoices go out on Mondays." });
    // What waits: an agent with the demonstration model, whose tool has to be approved.
    const worker = await step("POST", "/tenant/{tenant_id}/agents", { name: "Worker", slug: "worker" });
    ids.agent_id.push(worker.id);
    const time = { ids: { agent_id: worker.id } };
    await step("POST", "/tenant/{tenant_id}/agents/{agent_id}/tools", { tool_id: ids.tool_id[1] }, time);
    const model = (await step("GET", "/admin/models")).items.find((m) => m.slug === "demo");
    await step("PUT", "/tenant/{tenant_id}/agents/{agent_id}/models", { model_ids: [model.id] }, time);
    const talk = await open("use tool calculator with {\"expression\":\"6*7\"}", worker.id);
    await this.rests(talk.id, ["completed"]);
    const asks = await open("use tool time", worker.id);
    await this.rests(asks.id, ["waiting_approval"]);
    ids.session_id = [paid.id, talk.id, asks.id];
    this.secrets.waiting = [asks.id];
    const hook = await step("POST", "/tenant/{tenant_id}/integrations", { provider: "github", label: "Rocket", agent_id: worker.id, instructions: "use tool time" });
    if (!hook) return;
    ids.integration_id = hook.id;
    this.secrets.hook = { id: hook.id, secret: hook.signing_secret };
    await this.event("first");
    const made = async () => (await step("GET", "/tenant/{tenant_id}/integrations/{integration_id}/deliveries")).items[0];
    await until(20_000, "a delivery", async () => (await made()).status === "delivered");
    const session = (await made()).session_id;
    await this.rests(session, ["waiting_approval", "completed"]);
    ids.session_id.push(session);
    this.secrets.waiting.push(session);
  }

  async gateway() {
    const { step, ids } = { step: this.step.bind(this), ids: this.ids };
    if (!this.has("POST", "/v1/chat/completions")) return;
    const headers = { "X-Tenant-Id": ids.tenant_id };
    await step("POST", "/v1/chat/completions", { model: "agent:kept", messages: [{ role: "user", content: "So?" }] }, { token: this.secrets.key, headers });
    const helper = await step("POST", "/v1/assistants", { model: "lodge-agent", name: "Assistant", instructions: "Count." }, { token: this.secrets.key });
    if (!helper) return;
    ids.assistant_id = helper.id;
    const run = await step("POST", "/v1/threads/runs", { assistant_id: helper.id, thread: { messages: [{ role: "user", content: "count to 3" }] } }, { token: this.secrets.key });
    Object.assign(ids, { thread_id: run.thread_id, run_id: run.id });
    const now = () => step("GET", "/v1/threads/{thread_id}/runs/{run_id}", undefined, { token: this.secrets.key });
    await until(20_000, "the run", async () => (await now()).status === "completed");
    const response = await step("POST", "/v1/responses", { model: "agent:worker", input: "count to 3" }, { token: this.secrets.key });
    if (response) ids.response_id = response.id;
  }

  /** The path of every GET whose ids are known. */
  paths() {
    const found = [];
    const skip = /^\/(healthz|readyz|metrics|version|openapi\.json|auth\/)|\/events$|\/autocomplete$|\/import$|catalog$|\/repositories$|\/billing\//;
    const fill = (template, path) => {
      const name = /\{(\w+)\}/.exec(path)?.[1];
      if (!name) return found.push({ template, path: path.endsWith("/file") ? `${path}?path=scripts/fill.py` : path });
      for (const id of [this.ids[name] ?? []].flat()) fill(template, path.replace(`{${name}}`, id));
    };
    for (const [template, item] of Object.entries(this.doc.paths)) if (item.get && !skip.test(template)) fill(template, template);
    const day = (n) => new Date(Date.now() + n * 86_400_000).toISOString().slice(0, 10) + "T00:00:00Z";
    for (const what of ["agent-costs", "timeseries"])
      if (this.has("GET", `/tenant/{tenant_id}/billing/${what}`))
        found.push({ template: what, path: `/tenant/${this.ids.tenant_id}/billing/${what}?from=${day(-1)}&to=${day(1)}${what === "timeseries" ? "&bucket=day" : ""}` });
    return found;
  }

  async answers() {
    const kept = {};
    for (const { path } of this.paths()) {
      const v1 = path.startsWith("/v1/");
      const reply = await this.server.request("GET", path, v1 ? { token: this.secrets.key } : {});
      ok(reply.status === 200 || reply.status === 404, `GET ${path}: ${reply.status} ${reply.text}`);
      if (reply.status === 200) kept[path] = reply.json ?? reply.text;
    }
    return kept;
  }

  /** Leaves work in the queue, of the second tenant: what was accepted as the process was killed. */
  async unfinished() {
    if (!this.has("POST", "/tenant/{tenant_id}/agents/{agent_id}/sessions")) return;
    const left = await this.step("POST", "/tenant/{tenant_id}/agents/{agent_id}/sessions", { message: "count to 2000" }, { ids: { tenant_id: this.second, agent_id: this.other } });
    this.secrets.unfinished = left.id;
  }
}

async function dump(place, url) {
  if (place.engine === "sqlite") return (await command("sqlite3", [join(place.data, "lodge.db"), ".dump"])).stdout;
  const { status, stdout, stderr } = await command("pg_dump", ["--no-owner", "--no-privileges", "--rows-per-insert=200", `--schema=${SCHEMA}`, url]);
  equal(status, 0, stderr);
  return stdout.replace(/^\\(un)?restrict .*\n/gm, "").replace(/^(SET transaction_timeout|CREATE SCHEMA).*\n/gm, "");
}

async function placeOf(scope, engine, url) {
  if (engine === "sqlite") return scope.place("sqlite");
  await psql(url, `create schema ${SCHEMA}`);
  const folder = scope.folder();
  const store = `${url}?options=-csearch_path%3D${SCHEMA}`;
  return { engine, folder, data: join(folder, "data"), store, sql: (text) => psql(store, text) };
}

async function make(engine, url) {
  const scope = new Scope();
  const peer = await provider();
  const place = await placeOf(scope, engine, url);
  const flags = ["--public-url", "https://lodge.example.com", ...(Number(number) > 3 ? ["--allow-private-addresses"] : [])];
  const server = await scope.serve(place, { flags });
  const doc = JSON.parse((await command(bin, ["openapi"])).stdout);
  const maker = new Maker(server, doc, peer.url);
  maker.ids.tenant_id = await server.enter();
  for (const part of ["people", "agents", "models", "skills", "tools", "sessions", "gateway"]) await maker[part]();
  await pause(1500); // the audit log is sealed
  const answers = await maker.answers();
  await maker.unfinished();
  await server.kill();
  const version = await place.sql("select value from meta where key = 'schema_version'");
  equal(Number(version), Number(number), "the version of the store");
  const kept = { admin: ADMIN, ids: maker.ids, second: maker.second ?? null, other: maker.other ?? null, secrets: maker.secrets,
    master_key: readFileSync(join(place.data, "master.key"), "utf8"), answers };
  const stem = join(here, "stores", `${number.padStart(4, "0")}-${engine}`);
  writeFileSync(`${stem}.sql.gz`, gzipSync(await dump(place, url), { level: 9 }));
  writeFileSync(`${stem}.json.gz`, gzipSync(JSON.stringify(kept), { level: 9 }));
  if (maker.secrets.unfinished) console.log(`${stem}: jobs ${await place.sql("select kind || ' ' || state from jobs")}`);
  peer.close();
  await scope.end();
}

ok(number, "which version?");
const cluster = startCluster();
try {
  for (const engine of ENGINES) await make(engine, cluster.url);
} finally {
  cluster.stop();
}
