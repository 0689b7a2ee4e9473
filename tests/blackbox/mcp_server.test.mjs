// mcp_server.test.mjs - our MCP server as others see it: the protocol's own conformance suite, and the clients of the
// protocol's makers, of the revisions with a handshake and of the one without.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { becomes, command, equal, here, ok, shared, test, testBoth, until } from "./harness.mjs";

const home = join(here, "mcp-server");
const packages = join(home, "node_modules/@modelcontextprotocol");
const installed = existsSync(join(packages, "conformance")) && Number(process.versions.node.split(".")[0]) >= 20;
if (!installed) console.log("note: the packages of tests/blackbox/mcp-server are not installed, or Node.js is older than 20: our MCP server is not tried");

// ---- the suite ----

const OWN_TOOLS = "calls a tool that only the suite's own server has";
const OWN_RESOURCES = "reads a resource that only the suite's own server has";
const NO_PROMPTS = "Lodge offers no prompts, and says so";
const NOT_OFFERED = "a capability that Lodge does not have, and says so";
// Scenarios that do not apply, and why.  A scenario that is not named here passes.
const LEFT_OUT = {
  "logging-set-level": NOT_OFFERED,
  "completion-complete": NOT_OFFERED,
  "resources-subscribe": NOT_OFFERED,
  "resources-unsubscribe": NOT_OFFERED,
  "tools-call-simple-text": OWN_TOOLS,
  "tools-call-image": OWN_TOOLS,
  "tools-call-audio": OWN_TOOLS,
  "tools-call-embedded-resource": OWN_TOOLS,
  "tools-call-mixed-content": OWN_TOOLS,
  "tools-call-with-logging": OWN_TOOLS,
  "tools-call-error": OWN_TOOLS,
  "tools-call-with-progress": OWN_TOOLS,
  "tools-call-sampling": OWN_TOOLS,
  "tools-call-elicitation": OWN_TOOLS,
  "json-schema-2020-12": OWN_TOOLS,
  "elicitation-sep1034-defaults": OWN_TOOLS,
  "elicitation-sep1330-enums": OWN_TOOLS,
  "http-custom-header-server-validation": OWN_TOOLS,
  "resources-read-text": OWN_RESOURCES,
  "resources-read-binary": OWN_RESOURCES,
  "resources-templates-read": OWN_RESOURCES,
  "prompts-list": NO_PROMPTS,
  "prompts-get-simple": NO_PROMPTS,
  "prompts-get-with-args": NO_PROMPTS,
  "prompts-get-embedded-resource": NO_PROMPTS,
  "prompts-get-with-image": NO_PROMPTS,
};
const LEFT_OUT_LIKE = [[/^input-required-result-/, OWN_TOOLS], [/^tasks-|^sep-2640-/, "an extension that Lodge does not have"]];
// Checks that do not apply within scenarios that do.
const CHECKS_LEFT_OUT = {
  "sep-2575-server-rejects-undeclared-capability": OWN_TOOLS,
  "sep-2575-missing-capability-http-400": OWN_TOOLS,
  "sep-2575-http-server-no-independent-requests-on-stream": OWN_TOOLS,
  "sep-2575-server-no-log-without-loglevel": OWN_TOOLS,
  "sep-2549-prompts-list-caching-hints": NO_PROMPTS,
};
// What must have been tried, so that a suite that tries nothing does not pass.
const TRIED = {
  "2025-06-18": ["server-initialize", "ping", "tools-list", "resources-list"],
  "2025-11-25": ["server-initialize", "ping", "tools-list", "resources-list", "server-sse-multiple-streams", "dns-rebinding-protection"],
  "2026-07-28": ["server-stateless", "tools-list", "resources-list", "sep-2164-resource-not-found", "dns-rebinding-protection", "caching",
    "http-header-validation", "server-sse-multiple-streams"],
};

/** A proxy that adds the credential, which the suite has no way to send; Lodge's public address is the proxy's. */
async function behindProxy(t) {
  let lodge;
  const proxy = http.createServer((req, res) => {
    const { method, url: path } = req;
    const up = http.request({ host: "127.0.0.1", port: lodge.port, method, path, headers: { ...req.headers, authorization: `Bearer ${lodge.token}` } },
      (reply) => { res.writeHead(reply.statusCode, reply.headers); reply.pipe(res); });
    up.on("error", () => res.destroy());
    res.on("close", () => up.destroy());
    req.pipe(up);
  });
  await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
  t.onEnd(() => new Promise((done) => (proxy.closeAllConnections(), proxy.close(done))));
  const url = `http://localhost:${proxy.address().port}`;
  lodge = await t.serve(await t.place(), { flags: ["--no-access-log", "--public-url", url] });
  await lodge.enter();
  return url;
}

const suite = shared(behindProxy);
for (const version of Object.keys(TRIED))
  installed && test(`the conformance suite, ${version}`, async (t) => {
    const results = t.folder();
    const { stdout } = await command(process.execPath, ["--import", "./shim.mjs", join(packages, "conformance/dist/index.js"), "server",
      "--url", `${await suite()}/mcp`, "--suite", "all", "--spec-version", version, "-o", results], { cwd: home, env: process.env, ms: 120_000 });
    const tried = new Set(), failed = [];
    for (const folder of readdirSync(results).filter((name) => name.startsWith("server-"))) {
      const scenario = folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
      const checks = JSON.parse(readFileSync(join(results, folder, "checks.json"), "utf8"));
      if (LEFT_OUT[scenario] || LEFT_OUT_LIKE.some(([like]) => like.test(scenario))) continue;
      if (checks.some((check) => check.status === "SUCCESS")) tried.add(scenario);
      for (const { id, status, errorMessage } of checks)
        if (status === "FAILURE" && !CHECKS_LEFT_OUT[id]) failed.push(`${scenario}: ${id}: ${errorMessage}`);
    }
    equal(failed.join("\n"), "", "what failed");
    equal(TRIED[version].filter((scenario) => !tried.has(scenario)).join(" "), "", `what was not tried: ${stdout.slice(-2000)}`);
  }, { ms: 150_000 });

// ---- clients ----

/** A provider that says "one two three", or begins to and goes on for ever. */
async function provider(t) {
  const server = http.createServer(async (req, res) => {
    for await (const piece of req) void piece;
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    const say = (delta, finish_reason = null) => res.write(`data: ${JSON.stringify({ id: "x", model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    for (const content of ["one", " two", " three"]) say({ content });
    if (req.url.startsWith("/slow")) {
      const timer = setInterval(() => say({ content: " and" }), 100);
      res.on("close", () => clearInterval(timer));
      return;
    }
    say({}, "stop");
    res.end("data: [DONE]\n\n");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.onEnd(() => new Promise((done) => (server.closeAllConnections(), server.close(done))));
  return (script) => `http://127.0.0.1:${server.address().port}/${script}/v1`;
}

const made = async (promise, what, status = 201) => {
  const reply = await promise;
  equal(reply.status, status, `${what} says ${reply.text}`);
  return reply.json;
};

const lodges = Object.fromEntries(["sqlite", "postgres"].map((engine) => [engine, shared(async (t) => {
  const url = await provider(t);
  const lodge = await t.serve(await t.place(engine), { flags: ["--no-access-log", "--allow-private-addresses"] });
  const tools = {};
  await lodge.enter();
  for (const slug of ["quick", "slow"]) {
    await made(lodge.request("POST", "/admin/models", { body: { name: slug, slug, kind: "openai", available_to_all_tenants: true, supports_tools: true,
      pricing: { prompt: "0.000001", completion: "0.000002" }, config: { base_url: url(slug), model: "m", api_key: "sk-upstream" } } }), "a model");
    const { id } = await made(lodge.request("POST", "/v1/assistants", { body: { model: slug, name: slug } }), "an agent", 200);
    tools[slug] = `ask_${(await lodge.request("GET", `/agents/${id}`)).json.slug}`;
  }
  const { key } = await made(lodge.request("POST", `/tenant/${lodge.tenant}/api-keys`, { body: { name: "mcp" } }), "a key");
  return { lodge, key, ...tools };
})]));

/** The makers' client of the older revisions, and that of the newer one. */
const CLIENTS = {
  "sdk 1 (with a handshake)": async (url, headers) => {
    const load = (path) => import(pathToFileURL(join(packages, "sdk/dist/esm", path)).href);
    const { Client } = await load("client/index.js");
    const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
    const client = new Client({ name: "t", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    return { client, call: (params, options) => client.callTool(params, undefined, options) };
  },
  "client 2 (without handshake)": async (url, headers) => {
    const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(join(packages, "client/dist/index.mjs")).href);
    const client = new Client({ name: "t", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    return { client, call: (params, options) => client.callTool(params, options) };
  },
};

for (const [name, connect] of Object.entries(CLIENTS))
  installed && testBoth(`${name}: lists, asks, goes on, reads, sees progress and stops`, async (t, engine) => {
    const { lodge, key, quick, slow } = await lodges[engine]();
    const { client, call } = await connect(`${lodge.origin}/mcp`, { Authorization: `Bearer ${key}` });
    t.onEnd(() => client.close());
    const { tools } = await client.listTools();
    const names = tools.map((tool) => tool.name);
    for (const wanted of [quick, slow, "list_sessions", "read_session", "search"]) ok(names.includes(wanted), `${wanted} in ${names}`);

    const first = await call({ name: quick, arguments: { message: "hi" } });
    equal(first.content[0].text, "one two three", "the answer");
    equal(first.structuredContent.status, "completed", "its status");
    const { session_id } = first.structuredContent;
    const second = await call({ name: quick, arguments: { message: "and now?", session_id } });
    equal(second.structuredContent.session_id, session_id, "the same session");
    const read = await call({ name: "read_session", arguments: { session_id } });
    equal(read.structuredContent.messages.map((m) => m.content).join("|"), "hi|one two three|and now?|one two three", "what was said");
    const wrong = await call({ name: quick, arguments: { message: 7 } });
    ok(wrong.isError, "a wrong argument");
    ok(await call({ name: "ask_nobody", arguments: { message: "x" } }).catch((err) => err.code === -32602), "a tool that is not there");

    const { resources } = await client.listResources();
    ok(resources.some((r) => r.uri === `lodge://sessions/${session_id}`), "the session among the resources");
    const skill = resources.find((r) => r.uri.startsWith("lodge://skills/"));
    ok((await client.readResource({ uri: skill.uri })).contents[0].text.startsWith("---\n"), "a skill");
    ok(JSON.parse((await client.readResource({ uri: `lodge://sessions/${session_id}` })).contents[0].text).messages.length === 4, "the session");
    ok((await client.listResourceTemplates()).resourceTemplates.length === 3, "the templates");

    const stop = new AbortController(), told = [];
    const asked = call({ name: slow, arguments: { message: "go on" } },
      { signal: stop.signal, onprogress: (p) => told.push(p), timeout: 60_000 }).then(() => "answered", () => "stopped");
    await until(20_000, "two words of progress", () => told.length >= 2);
    ok(told[1].progress > told[0].progress, "progress grows");
    const running = async (status) => Number(await lodge.place.sql(`select count(*) from session_runs where status = '${status}'`));
    const before = await running("cancelled");
    equal(await running("in_progress"), 1, "at work");
    stop.abort();
    equal(await asked, "stopped", "the call");
    await becomes(() => running("cancelled"), before + 1, "runs that were stopped");
    equal(await running("in_progress"), 0, "still at work");
  }, { ms: 120_000 });

testBoth("of many questions at once only so many are taken, and each that ends makes room", async (t, engine) => {
  const { lodge, key, slow } = await lodges[engine]();
  const { key: other } = await made(lodge.request("POST", `/tenant/${lodge.tenant}/api-keys`, { body: { name: "many" } }), "another key of the same person");
  const agents = [], before = Number(await lodge.place.sql("select count(*) from session_runs"));
  t.onEnd(() => agents.forEach((agent) => agent.destroy()));
  const ask = (i) => {
    const agent = new http.Agent();
    agents.push(agent);
    return lodge.request("POST", "/mcp", { token: i % 2 ? key : other, agent, headers: { Accept: "application/json" },
      body: { jsonrpc: "2.0", id: i, method: "tools/call", params: { name: slow, arguments: { message: "go on" } } } }).catch(() => null);
  };
  const replies = [];
  for (let i = 0; i < 150; i++) ask(i).then((reply) => replies.push(reply));
  await until(60_000, "those that are refused", () => replies.length >= 118);
  for (const { json } of replies) ok(json.result.isError && /32 answers/.test(json.result.content[0].text), `refused: ${JSON.stringify(json)}`);
  equal(replies.length, 118, "refused");
  await becomes(async () => Number(await lodge.place.sql("select count(*) from session_runs")) - before, 32, "begun");
  const { json: working } = await lodge.request("GET", "/me/sessions?per_page=200");
  const running = working.items.filter(({ status }) => ["pending", "running"].includes(status));
  for (const { id } of running) equal((await lodge.request("POST", `/tenant/${lodge.tenant}/sessions/${id}/cancel`, { body: {} })).status, 200, "a session is stopped");
  await until(60_000, "the others are answered", () => replies.length === 150);
  const { json } = await lodge.request("POST", "/mcp", { token: key, body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
  const { quick } = await lodges[engine]();
  ok(json.result.tools.length > 0, "tools");
  const room = await lodge.request("POST", "/mcp", { token: key, headers: { Accept: "application/json" },
    body: { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: quick, arguments: { message: "hi" } } } });
  equal(room.json.result.structuredContent?.status, "completed", `there is room again: ${room.text}`);
}, { ms: 120_000 });
