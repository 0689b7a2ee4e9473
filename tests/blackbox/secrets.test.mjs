// secrets.test.mjs - sends secrets through every operation of the document, in every manner, and then
// looks for them wherever the service writes: its logs at their most talkative, the audit log and its
// export, every refusal, the metrics, what the subcommands print, and the bytes of the store.
//
// A new kind of secret is a row of the tables below; the operations come from the document.
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ADMIN, equal, ok, test, testBoth } from "./harness.mjs";
import { allow, Browser, installed, SECRET, setUp } from "./oidc_stage.mjs";

// Fields of bodies that hold a secret, in whatever schema (or only in those `of` names): what to put there.
const FIELDS = [
  { field: "password" },
  { field: "current_password" },
  { field: "new_password" },
  { field: "token" },
  { field: "api_key" },
  { field: "secret" },
  { field: "client_secret" },
  { field: "signing_secret" },
  { field: "config", of: /Skill/, value: (secret) => ({ endpoint: "https://example.org", api_key: secret }) },
  { field: "config", of: /Model/, value: (secret, sample) => ({ ...sample, api_key: secret }) },
];

// Fields of replies that show a secret the service made: it may stand in that reply and nowhere else.
const SHOWN = ["token", "key", "invite_token", "api_key", "secret", "signing_secret"];

// Paths whose replies may show a secret that was sent to them before.
const READ_BACK = [/\/skills\/[^/]+\/config$/];

// Places of a request besides its body: name, and the request's parts with a secret there.
const PLACES = [
  ["a bearer token that is none", (x) => ({ token: x })],
  ["an API key that is none", (x) => ({ token: `lodge_key_${x}` })],
  ["a login token that is none", (x) => ({ token: `lodge_login_${x}` })],
  ["a cookie that is none", (x) => ({ token: "", headers: { Cookie: `lodge_session=${x}; lodge_oidc=${x}` } })],
  ["a password for Basic", (x) => ({ token: "", headers: { Authorization: `Basic ${Buffer.from(`ada:${x}`).toString("base64")}` } })],
  ["a query", (x) => ({ query: `?token=${x}&api_key=${x}&code=${x}&state=${x}` })],
  ["an Idempotency-Key", (x) => ({ headers: { "Idempotency-Key": x } })],
];

// ---- secrets ----

// Every secret made here begins alike, and so one look finds any of them, in any of these spellings.
const MARK = "Sekret-";
const TRACES = [MARK, Buffer.from(MARK).toString("hex"),
  ...["", "x", "xx"].map((before) => Buffer.from(before + MARK).toString("base64").slice(before && 4, -4))];

class Secrets {
  made = new Map(); // the secret: what it is
  learnt = new Map(); // those that others have made

  make(label) {
    const text = MARK + randomBytes(12).toString("hex");
    this.made.set(text, label);
    return text;
  }

  add(text, label) {
    if (typeof text === "string" && text.length >= 16 && !this.learnt.has(text)) this.learnt.set(text, label);
  }

  /** Takes in what a reply shows. */
  learn(json, label) {
    if (json === null || typeof json !== "object") return;
    for (const [name, value] of Object.entries(json)) {
      if (SHOWN.includes(name)) this.add(value, `${name} of ${label}`);
      this.learn(value, label);
    }
  }

  absentFrom(where, text) {
    const found = (at, label) => {
      ok(at < 0, `${label} is in ${where}: ...${text.slice(Math.max(0, at - 60), at + 80)}`);
    };
    for (const trace of TRACES) {
      const at = text.indexOf(trace);
      found(at, this.made.get(text.slice(at, at + MARK.length + 24)) ?? "a secret");
    }
    for (const [one, label] of this.learnt) {
      const bytes = Buffer.from(one);
      for (const spelled of new Set([one, encodeURIComponent(one), bytes.toString("base64").replace(/=+$/, ""), bytes.toString("hex")])) found(text.indexOf(spelled), label);
    }
  }
}

// ---- what is sent ----

const refOf = (object) => object?.$ref?.split("/").at(-1);

/** The document's sample of a body, with a secret in each field that takes one, and ids that exist. */
function bodyOf(doc, op, secrets, ids) {
  const schema = refOf(op.requestBody?.content?.["application/json"]?.schema);
  if (!schema) return undefined;
  const sample = structuredClone(doc.components.examples[schema]?.value ?? {});
  const takes = doc.components.schemas[schema].properties ?? {};
  for (const { field, of, value } of FIELDS)
    if (takes[field] && (!of || of.test(schema))) {
      const secret = secrets.make(`${field} of ${op.operationId}`);
      sample[field] = value ? value(secret, sample[field]) : secret;
    }
  for (const name of Object.keys(sample)) if (ids[name]) sample[name] = ids[name];
  return sample;
}

/** Every field that holds no secret is of a wrong kind. */
const broken = (object) => Object.fromEntries(Object.keys(object).map((name) => [name, FIELDS.some((f) => f.field === name) ? object[name] : [17]]));

/** Each way in which a body reaches the service, most of them wrong. */
function manners(sample, secrets, label) {
  const extra = secrets.make(`a field that ${label} does not know`);
  return [
    { body: sample, headers: { "Idempotency-Key": secrets.make(`the Idempotency-Key of ${label}`) }, twice: true },
    { body: broken(sample) },
    { body: { ...sample, api_key: extra, password: extra } },
    { body: `${JSON.stringify(sample).slice(0, -1)},` },
    { body: JSON.stringify(Object.values(sample)) },
    { body: JSON.stringify(sample), headers: { "Content-Type": "text/plain" } },
  ];
}

/** Drives the service, and keeps every refusal. */
class Drive {
  refusals = "";
  done = new Set();
  endless = new Set();

  constructor(server, doc, secrets, ids) {
    Object.assign(this, { server, doc, secrets, ids });
  }

  path(path) {
    return path.replace(/([\w-]+)\/\{(\w+)\}/g, (_, before, name) => `${before}/${this.ids[`${before}/${name}`] ?? this.ids[name] ?? "c0123456789abcdefghijklmn"}`);
  }

  async send(method, path, { query = "", ...request }, label) {
    const wait = this.endless.has(label) ? `${query ? "&" : "?"}wait=false` : ""; // a stream ends where it stands
    const reply = await this.server.request(method, path + query + wait, request);
    ok(reply.status !== 500, `${label} answers ${reply.status}: ${reply.text}`);
    if (reply.status >= 400) this.refusals += `${label}: ${reply.text} ${JSON.stringify(reply.headers)}\n`;
    else if (!READ_BACK.some((one) => one.test(path))) this.secrets.absentFrom(`the reply of ${label}`, reply.text);
    if (reply.status < 300) {
      this.done.add(label);
      if (label !== "openapi") this.secrets.learn(reply.json, label); // which has samples only
    }
    return reply;
  }

  async operation(method, path, op) {
    const sample = bodyOf(this.doc, op, this.secrets, this.ids);
    const full = this.path(path);
    const label = op.operationId;
    if (label === "logout") return;
    if (method === "GET" && op.responses[200]?.content?.["text/event-stream"]) this.endless.add(label);
    for (const manner of sample ? manners(sample, this.secrets, label) : [{}]) {
      const first = await this.send(method, full, manner, label);
      if (!manner.twice) continue;
      const again = await this.server.request(method, full, manner); // a replay shows the same again
      if (method === "POST" && first.status === 201) equal(again.text, first.text, `the replay of ${label}`);
      if (again.status >= 400) this.refusals += again.text;
    }
    for (const [what, parts] of PLACES) {
      const secret = this.secrets.make(`${what}, at ${label},`);
      await this.send(method, full, { body: sample, ...parts(secret) }, label);
    }
  }

  /** Removals last, and the tenant's after all others. */
  async all() {
    const list = Object.entries(this.doc.paths).flatMap(([path, item]) =>
      Object.entries(item).filter(([, op]) => op.operationId).map(([method, op]) => [method.toUpperCase(), path, op]));
    const rank = ([method, , op]) => (op.operationId === "deleteTenant" ? 2 : method === "DELETE" ? 1 : 0);
    for (const one of list.sort((x, y) => rank(x) - rank(y))) await this.operation(...one);
    return list.length;
  }
}

// ---- the true ones ----

const MARKER = "Marker-in-sight"; // no secret: to be found, or the search is blind

async function plain(t, { engine, admin, flags }) {
  const server = await t.serve(await t.place(engine), { flags, env: { LODGE_ADMIN_EMAIL: admin.email, LODGE_ADMIN_PASSWORD: admin.password } });
  return { server, tenant: await server.enter(admin) };
}

/** Secrets that are right: an invitation, its login, a key, a new password. */
async function live(server, tenant, secrets) {
  const post = async (path, body, more = {}) => {
    const reply = await server.request("POST", path, { body, ...more });
    ok(reply.status < 300, `${path}: ${reply.text}`);
    secrets.learn(reply.json, path);
    return reply.json;
  };
  const invited = await post(`/tenant/${tenant}/members`, { email: "grace@example.org", role: "ADMIN", name: "Grace" }, { headers: { "Idempotency-Key": "grace-comes" } });
  const password = secrets.make("a password");
  const { token, user } = await post("/auth/accept-invite", { token: invited.invite_token, name: "Grace", password }, { token: "" });
  const key = await post(`/tenant/${tenant}/api-keys`, { name: "Key" }, { token, headers: { "Idempotency-Key": "grace-key" } });
  await post(`/tenant/${tenant}/api-keys`, { name: "Key" }, { token, headers: { "Idempotency-Key": "grace-key" } });
  const next = secrets.make("a new password");
  equal((await server.request("PUT", "/me/password", { token, body: { current_password: password, new_password: next } })).status, 204, "a new password");
  await post("/auth/login", { email: "grace@example.org", password: next }, { token: "" });
  equal((await server.request("GET", "/me", { token: key.key })).status, 200, "the key");
  return user.id;
}

/** A tenant to drive through every operation, and the ids of what is in it. */
async function stage(server, user_id) {
  const post = async (path, body) => (await server.request("POST", path, { body })).json.id;
  const tenant_id = await post("/tenants", { name: "Spare", slug: "spare" });
  const at = `/tenant/${tenant_id}`;
  await post(`${at}/members`, { email: "grace@example.org", role: "MEMBER" });
  const made = (await server.request("POST", `${at}/members`, { body: { email: "hana@example.org", role: "MEMBER" } })).json;
  const entered = await server.request("POST", "/auth/accept-invite", { token: "", body: { token: made.invite_token, name: "Hana", password: "Hana-has-a-password" } });
  equal(entered.status, 200, "accepting");
  user_id = entered.json.user.id;
  return {
    tenant_id, user_id, new_owner_id: user_id, provider: "sso",
    plan_id: (await server.request("GET", "/admin/plans")).json.items[0].id,
    group_id: await post(`${at}/groups`, { name: "Group" }),
    agent_id: await post(`${at}/agents`, { name: "Agent", slug: "agent" }),
    "api-keys/id": await post(`${at}/api-keys`, { name: "Key" }),
    "allowed-accounts/id": await post(`${at}/allowed-accounts`, { email: "eve@example.org" }),
  };
}

/** What only the provider and the service say to each other, and what the browser carries. */
async function signIn(op, server, tenant, secrets) {
  const handle = op.handle;
  op.handle = (request, reply) => {
    if (request.url.startsWith("/token")) {
      const end = reply.end.bind(reply);
      const emit = request.emit.bind(request); // listening would take the body from the provider
      request.emit = (event, part, ...more) => {
        if (event === "data")
          for (const [name, value] of new URLSearchParams(part.toString())) if (name.startsWith("code")) secrets.add(value, `the provider's ${name}`);
        return emit(event, part, ...more);
      };
      reply.end = (text, ...more) => {
        for (const [name, value] of Object.entries(JSON.parse(text))) if (name.endsWith("_token")) secrets.add(value, `the provider's ${name}`);
        return end(text, ...more);
      };
    }
    return handle(request, reply);
  };
  await allow(server, tenant, "ada@example.org");
  for (const good of [true, false]) {
    const browser = new Browser();
    const callback = new URL(await browser.toCallback(server));
    for (const name of ["code", "state"]) secrets.add(callback.searchParams.get(name), `the ${name} of a sign-in`);
    secrets.add(new URL(browser.first.location).searchParams.get("nonce"), "a nonce");
    secrets.add(browser.cookies.get(new URL(server.origin).host).get("lodge_oidc"), "the cookie of a sign-in");
    if (!good) callback.searchParams.set("code", secrets.make("a code that is none"));
    equal((await browser.get(callback.href)).status, good ? 200 : 401, "the callback");
    if (good) secrets.add(browser.session(server), "the console's cookie");
  }
  const left = new Browser(); // one that stays under way, in the store
  secrets.add(new URL(await left.toCallback(server)).searchParams.get("state"), "the state of a sign-in under way");
  secrets.add(left.cookies.get(new URL(server.origin).host).get("lodge_oidc"), "the cookie of a sign-in under way");
  op.handle = handle;
}

// ---- where it is sought ----

async function wholeList(server, path) {
  let all = "";
  for (let after = ""; after !== null;) {
    const { json, text } = await server.request("GET", `${path}?per_page=200${after && `&after=${after}`}`);
    all += text;
    after = json.next_after;
  }
  return all;
}

async function storeText(place) {
  if (place.engine === "sqlite")
    return readdirSync(place.data).filter((name) => name.startsWith("lodge.db"))
      .map((name) => readFileSync(join(place.data, name)).toString("latin1")).join("\n");
  const tables = (await place.sql("select table_name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'")).split("\n");
  const texts = [];
  for (const table of tables) texts.push(await place.sql(`copy ${table} to stdout`));
  return texts.join("\n");
}

/** Everything the service has written, by name. */
async function written(t, server, tenant, drive) {
  const { place } = server;
  const texts = { "a refusal": drive.refusals };
  texts["the audit log"] = await wholeList(server, "/admin/audit-logs");
  texts["the tenant's audit log"] = await wholeList(server, `/tenant/${tenant}/audit-logs`);
  texts["the export"] = (await server.request("GET", "/admin/audit-logs?format=ndjson")).text;
  texts["the metrics"] = (await server.request("GET", "/metrics")).text;
  texts["/openapi.json"] = (await server.request("GET", "/openapi.json")).text;
  for (const args of [["openapi"], ["check"], ["check", "--audit"]]) {
    const { status, stdout, stderr } = await t.on(place, args);
    equal(status, 0, `lodge ${args.join(" ")}: ${stderr}`);
    texts[`lodge ${args.join(" ")}`] = stdout + stderr;
  }
  texts["the store while it is served"] = await storeText(place);
  const copy = join(place.folder, "copy.db");
  equal((await t.on(place, ["backup", copy])).status, 0, "lodge backup");
  texts["a copy of the store"] = readFileSync(copy).toString("latin1");
  await server.stop();
  texts["the store"] = await storeText(place);
  texts["the log"] = server.stderr;
  texts["standard output"] = server.stdout;
  return texts;
}

testBoth("no secret is found anywhere but in the reply that shows it", async (t, engine) => {
  const secrets = new Secrets();
  const admin = { email: ADMIN.email, password: secrets.make("the first administrator's password") };
  const options = { engine, admin, flags: ["--log-level", "debug", "--log-format", engine === "sqlite" ? "json" : "text"] };
  const { op, server, tenant } = await (installed ? setUp(t, options) : plain(t, options));
  secrets.add(SECRET, "the secret of a client at a provider");
  secrets.add(server.token, "the administrator's token");
  equal((await server.request("POST", `/tenant/${tenant}/groups`, { body: { name: MARKER }, headers: { "User-Agent": MARKER } })).status, 201, "the marker");
  await server.request("GET", `/${MARKER}`);
  const user = await live(server, tenant, secrets);
  if (op) await signIn(op, server, tenant, secrets);
  const { json: doc } = await server.request("GET", "/openapi.json");
  const drive = new Drive(server, doc, secrets, await stage(server, user));
  const count = await drive.all();
  ok(drive.done.size >= 50, `only ${drive.done.size} of ${count} operations were brought to success: ${[...drive.done]}`);
  const master = readFileSync(join(server.place.data, "master.key"), "utf8").trim();
  secrets.add(master, "the master key");
  secrets.add(Buffer.from(master, "hex").toString("latin1"), "the master key's bytes");
  const texts = await written(t, server, tenant, drive);
  for (const where of ["the audit log", "the export", "the store", "a copy of the store", "the log"]) ok(texts[where].includes(MARKER), `the search is blind in ${where}`);
  ok(texts["a refusal"].length > 10_000, "there are no refusals to look at");
  for (const [where, text] of Object.entries(texts)) secrets.absentFrom(where, text);
}, { ms: 240_000 });

test("a password in the store's address is not printed", async (t) => {
  const secret = `Sekret-${randomBytes(12).toString("hex")}`;
  const place = { ...(await t.place("sqlite")), store: `postgres://lodge:${secret}@127.0.0.1:1/lodge` };
  for (const args of [["check"], ["migrate"], ["serve", "--listen", "127.0.0.1:0", "--log-level", "debug"]]) {
    const { status, stdout, stderr } = await t.on(place, args);
    ok(status > 0, `lodge ${args[0]} ends with ${status}`);
    ok(!(stdout + stderr).includes(secret), `lodge ${args[0]} prints it: ${stdout}${stderr}`);
  }
});
