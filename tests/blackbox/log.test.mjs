// log.test.mjs - what the service says about itself: the access log, what never stands in it, and
// the metrics.
import { ADMIN, equal, match, ok, short, test, testBoth, until } from "./harness.mjs";
import { exchange, Raw } from "./raw.mjs";

const H = "Host: x\r\n";

const lines = (server, message = "request") => server.stderr.split("\n").filter((l) => l.includes(message));

test("the access log in text: one line a request, with its parts", async (t) => {
  const server = await t.serve(await t.place("sqlite"));
  const { json } = await server.login();
  const reply = await server.request("GET", "/me");
  await server.request("GET", "/nothing%20here");
  await until(20_000, "three lines", () => lines(server, " info request ").length === 3);
  const [login, me, nothing] = lines(server, " info request ");
  match(login, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info request method=POST path=\/auth\/login status=200 us=\d+ bytes=\d+ ip=127\.0\.0\.1 .*request_id=c[a-z0-9]{24}$/, "a login");
  match(me, new RegExp(` method=GET path=/me status=200 us=\\d+ bytes=${reply.text.length} ip=127\\.0\\.0\\.1 user_id=${json.user.id} request_id=c[a-z0-9]{24}$`), "/me");
  match(nothing, / path=\/nothing%20here status=404 /, "nothing");
});

test("the log in JSON: every line is an object, whatever was asked", async (t) => {
  const server = await t.serve(await t.place("sqlite"), { flags: ["--log-format", "json", "--log-level", "debug"] });
  await server.enter();
  const paths = ["/me", '/a"b', "/back\\slash", "/%00%0a", "/" + "x".repeat(200), "/?q=\"", "/{}[]:,'<>"];
  // A line has an end: wherever it falls, what is left must still be an object.
  for (let n = 3700; n < 4200; n += 1) paths.push(`/${"y".repeat(n)}`);
  for (let n = 1990; n < 2020; n += 1) paths.push(`/${'"'.repeat(n)}`);
  for (let n = 0; n < 4; n += 1) paths.push(`/${"z".repeat(n)}${"\\".repeat(4000)}`);
  const raw = new Raw(server.port);
  raw.send(paths.map((p) => `GET ${p} HTTP/1.1\r\n${H}\r\n`).join(""));
  await raw.untilReplies(paths.length, 20_000);
  raw.drop();
  await exchange(server.port, "\x01\x02\r\n\r\n");
  await exchange(server.port, `GET /healthz HTTP/1.1\r\n${H}${H}\r\n`);
  await server.stop();
  const faults = [];
  for (const line of server.stderr.trimEnd().split("\n")) {
    try {
      const one = JSON.parse(line);
      ok(one.time && one.level && one.message, `parts are missing in ${short(line)}`);
    } catch (err) {
      faults.push(`${line.length} bytes, ending in ${short(line.slice(-60))}: ${err.message}`);
    }
  }
  ok(faults.length === 0, `${faults.length} lines are not JSON: ${faults.slice(0, 3).join("; ")}`);
});

test("a client cannot write lines of its own into the log", async (t) => {
  for (const format of ["text", "json"]) {
    const server = await t.serve(await t.place("sqlite"), { flags: ["--log-format", format] });
    await server.login();
    const before = server.stderr.split("\n").length;
    await server.request("POST", "/auth/login", { body: { email: "x\n2026 info forged@example.com", password: "x" }, headers: { "User-Agent": "a\tb forged=1" }, token: "" });
    await exchange(server.port, `GET /a%0aforged HTTP/1.1\r\n${H}X-Forwarded-For: forged\r\nConnection: close\r\n\r\n`);
    await exchange(server.port, `GET /path=1\tforged HTTP/1.1\r\n${H}\r\n`).catch(() => {});
    await until(20_000, "the lines", () => server.stderr.split("\n").length >= before + 3);
    for (const line of server.stderr.trimEnd().split("\n")) match(line, format === "json" ? /^\{"time":/ : /^\d{4}-\d\d-\d\dT[\d:.]+Z (info|warn|error|debug) /, "a line");
    ok(!/ip"?[=:]"?forged/.test(server.stderr), "a forged address is in the log");
  }
});

test("--no-access-log leaves requests out, and only them", async (t) => {
  const server = await t.serve(await t.place("sqlite"), { flags: ["--no-access-log"] });
  await server.enter();
  await exchange(server.port, "nonsense\r\n\r\n");
  await server.stop();
  equal(lines(server, " request ").length, 0, "lines of requests");
  match(server.stderr, /info serving [^]*info stopping/, "the log");
  const quiet = await t.launch(server.place, { flags: ["--log-level", "error"] });
  await until(10_000, "it is up", () => quiet.stdout.includes("Lodge is at"));
  equal(await quiet.stop(), 0, "the exit status");
  equal(quiet.stderr, "", "what an error-only log says");
});

testBoth("no password, token, key or cookie is ever printed", async (t, engine) => {
  const place = await t.place(engine);
  for (const format of ["text", "json"]) {
    const server = await t.serve(place, { flags: ["--log-level", "debug", "--log-format", format] });
    const tenant = await server.enter();
    const secrets = new Set([ADMIN.password, server.token]);
    const wrong = "Wrong-Password-77";
    const forged = `lodge_login_${"q".repeat(40)}`;
    for (const s of [wrong, forged, "basic-secret-99", "key-of-repeat-42"]) secrets.add(s);
    const bad = (path, options) => server.request("POST", path, { token: "", ...options });
    await bad("/auth/login", { body: { email: ADMIN.email, password: wrong } });
    await bad("/auth/login", { body: { email: "nobody@example.com", password: wrong } });
    await bad("/auth/login", { body: { email: ADMIN.email, password: [wrong] } });
    await bad("/auth/login", { body: { email: ADMIN.email, password: wrong, extra: wrong } });
    await bad("/auth/login", { body: `{"password":"${wrong}",,}` });
    await bad("/auth/login", { body: `password=${wrong}`, headers: { "Content-Type": "application/x-www-form-urlencoded" } });
    await bad(`/auth/login?password=${wrong}`, { body: {} });
    for (const Authorization of [`Bearer ${forged}`, `Basic basic-secret-99`, `Bearer ${server.token}x`, server.token]) {
      await server.request("GET", "/me", { token: "", headers: { Authorization } });
      await server.request("GET", `/nothing?token=${forged}`, { token: "", headers: { Authorization } });
    }
    const cookie = { token: "", headers: { Cookie: `lodge_session=${server.token}; other=${forged}` } };
    equal((await server.request("GET", "/me", cookie)).status, 200, "by cookie");
    await server.request("POST", `/tenant/${tenant}/agents`, { ...cookie, body: { name: "A", slug: `a-${format}` } });
    const made = await server.request("POST", `/tenant/${tenant}/api-keys`, { body: { name: "Key" }, headers: { "Idempotency-Key": "key-of-repeat-42" } });
    equal(made.status, 201, made.text);
    secrets.add(made.json.key);
    const again = await server.request("POST", `/tenant/${tenant}/api-keys`, { body: { name: "Key" }, headers: { "Idempotency-Key": "key-of-repeat-42" } });
    equal(again.json.key, made.json.key, "the repeated answer");
    await server.request("GET", `/tenant/${tenant}`, { token: made.json.key });
    await server.request("GET", `/tenant/${tenant}/agents`, { token: `${made.json.key}x` });
    await server.request("DELETE", `/tenant/${tenant}/api-keys/${made.json.id}`);
    await server.request("GET", `/tenant/${tenant}`, { token: made.json.key });
    await exchange(server.port, `GET /me HTTP/1.1\r\n${H}Authorization: Bearer ${server.token}\0\r\n\r\n`);
    await exchange(server.port, `GET /me HTTP/1.1\r\n${H}Authorization : Bearer ${server.token}\r\n\r\n`);
    await exchange(server.port, `Authorization: Bearer ${server.token}\r\n\r\n`);
    await server.request("POST", "/auth/logout");
    await server.request("GET", "/me");
    equal(await server.stop(), 0, "the exit status");
    for (const secret of secrets) ok(!(server.stdout + server.stderr).includes(secret), `${secret} is in the output: ${short((server.stdout + server.stderr).split("\n").find((l) => l.includes(secret)))}`);
    const kept = await place.sql("select meta, user_agent, action from audit_logs");
    for (const secret of secrets) ok(!kept.includes(secret), `${secret} is in the audit log`);
  }
});

// ---- metrics ----

/** Prometheus' text form, strictly: {name{labels}: value}, and the type of each family. */
function parse(text) {
  ok(text.endsWith("\n"), "the text does not end with a line feed");
  const samples = new Map();
  const types = new Map();
  const helped = new Set();
  for (const line of text.trimEnd().split("\n")) {
    let found = /^# HELP ([a-zA-Z_:][\w:]*) (\S.*)$/.exec(line);
    if (found) {
      ok(!helped.has(found[1]), `HELP twice: ${line}`);
      helped.add(found[1]);
      continue;
    }
    found = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram)$/.exec(line);
    if (found) {
      ok(!types.has(found[1]), `TYPE twice: ${line}`);
      types.set(found[1], found[2]);
      continue;
    }
    found = /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)$/.exec(line);
    ok(found, `this is not a sample: ${short(line)}`);
    const family = found[1].replace(/_(bucket|sum|count)$/, "");
    ok(types.has(found[1]) || types.get(family) === "histogram", `a sample without a type: ${line}`);
    const key = `${found[1]}{${found[2] ?? ""}}`;
    ok(!samples.has(key), `twice: ${key}`);
    samples.set(key, Number(found[3]));
  }
  for (const name of types.keys()) ok(helped.has(name), `no HELP for ${name}`);
  return samples;
}

testBoth("/metrics is Prometheus' text, and its counts are what was done", async (t, engine) => {
  const server = await t.serve(await t.place(engine), { flags: ["--no-access-log"] });
  const tenant = await server.enter();
  const read = async () => {
    const reply = await server.request("GET", "/metrics", { token: "" });
    equal(reply.status, 200, "the status");
    match(reply.headers["content-type"], /^text\/plain; version=0\.0\.4/, "Content-Type");
    return parse(reply.text);
  };
  const before = await read();
  const did = { "health 2xx": 7, "readMe 2xx": 5, "readMe 4xx": 3, "createAgent 2xx": 4, "createAgent 4xx": 2, "none 4xx": 6, "login 4xx": 2 };
  for (let i = 0; i < 7; i++) await server.request("GET", "/healthz");
  for (let i = 0; i < 5; i++) await server.request("GET", "/me");
  for (let i = 0; i < 3; i++) await server.request("GET", "/me", { token: "lodge_login_x" });
  for (let i = 0; i < 4; i++) await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "A", slug: `a-${i}` } });
  for (let i = 0; i < 2; i++) await server.request("POST", `/tenant/${tenant}/agents`, { body: {} });
  for (let i = 0; i < 6; i++) await server.request("GET", `/nothing/${i}`);
  for (let i = 0; i < 2; i++) await server.request("POST", "/auth/login", { body: { email: ADMIN.email, password: "x" }, token: "" });
  await exchange(server.port, "nonsense\r\n\r\n");
  const after = await read();
  const grew = (key) => (after.get(key) ?? 0) - (before.get(key) ?? 0);
  did["none 4xx"] += 1; // what was not HTTP matched no path either
  for (const [what, n] of Object.entries(did)) {
    const [operation, status] = what.split(" ");
    equal(grew(`lodge_requests_total{operation="${operation}",status="${status}"}`), n, what);
  }
  equal(grew("lodge_http_faults_total{}"), 1, "faults");
  ok(grew("lodge_store_work_total{}") >= 6, `pieces of work: ${grew("lodge_store_work_total{}")}`);
  ok(grew("lodge_store_commits_total{}") >= 1, "commits");
  ok(after.get("lodge_connections_open{}") >= 1, "open connections");
  const operations = new Set([...after.keys()].map((k) => /^lodge_request_seconds_count\{operation="(.*)"\}$/.exec(k)?.[1]).filter(Boolean));
  ok(operations.size >= 6, `histograms of ${[...operations]}`);
  for (const op of operations) {
    const buckets = [...after].filter(([k]) => k.startsWith(`lodge_request_seconds_bucket{operation="${op}",`));
    const bounds = buckets.map(([k]) => Number(/le="([^"]+)"/.exec(k)[1].replace("+Inf", "Infinity")));
    const total = [...after].filter(([k]) => k.startsWith(`lodge_requests_total{operation="${op}",`)).reduce((sum, [, v]) => sum + v, 0);
    equal(bounds.at(-1), Infinity, "the last bound");
    for (let i = 1; i < buckets.length; i++) {
      ok(bounds[i] > bounds[i - 1], `the bounds of ${op} do not rise`);
      ok(buckets[i][1] >= buckets[i - 1][1], `the buckets of ${op} fall`);
    }
    equal(buckets.at(-1)[1], after.get(`lodge_request_seconds_count{operation="${op}"}`), `the count of ${op}`);
    equal(total, after.get(`lodge_request_seconds_count{operation="${op}"}`), `the requests of ${op}`);
    ok(after.get(`lodge_request_seconds_sum{operation="${op}"}`) >= 0, "the sum");
  }
});

test("/metrics behind a proxy needs a credential", async (t) => {
  const server = await t.serve(await t.place("sqlite"), { flags: ["--trusted-proxies", "127.0.0.1"] });
  await server.enter();
  const through = { "X-Forwarded-For": "203.0.113.9" };
  equal((await server.request("GET", "/metrics", { token: "", headers: through })).status, 401, "from outside");
  equal((await server.request("GET", "/metrics", { headers: through })).status, 200, "as super administrator");
  equal((await server.request("GET", "/metrics", { token: "" })).status, 200, "from here");
});

test("a proxy that adds a second X-Forwarded-For line opens nothing", async (t) => {
  const server = await t.serve(await t.place("sqlite"), { flags: ["--trusted-proxies", "127.0.0.1"] });
  const ask = (lines) => exchange(server.port, `GET /metrics HTTP/1.1\r\n${H}${lines.map((l) => `X-Forwarded-For: ${l}\r\n`).join("")}Connection: close\r\n\r\n`);
  for (const list of [["203.0.113.9", "203.0.113.9"], ["127.0.0.1", "203.0.113.9"], ["", "203.0.113.9"], ["127.0.0.1, 203.0.113.9"], ["203.0.113.9,"], ["unknown"], ["127.0.0.1"]]) {
    const [reply] = await ask(list);
    equal(reply.status, 401, `X-Forwarded-For ${short(list)}`);
  }
  // Lines of one name are one list (RFC 9110, 5.3); the proxy's own word is the last.
  await exchange(server.port, `GET /nothing HTTP/1.1\r\n${H}X-Forwarded-For: 198.51.100.66\r\nX-Forwarded-For: 203.0.113.9\r\nConnection: close\r\n\r\n`);
  await server.says(/path=\/nothing status=404 .*/, 20_000);
  match(server.stderr, /path=\/nothing [^\n]*ip=203\.0\.113\.9 /, "the address in the log");
});
