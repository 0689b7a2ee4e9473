// openapi.test.mjs - the document is the same from the command and from the service, and holds.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { command, equal, here, match, ok, test } from "./harness.mjs";

test("`lodge openapi` prints what GET /openapi.json answers", async (t) => {
  const place = await t.place("sqlite");
  for (const url of ["https://lodge.example.com", "http://127.0.0.1:9/below"]) {
    const server = await t.serve(place, { flags: ["--public-url", url] });
    const served = await server.request("GET", "/openapi.json");
    equal(served.status, 200, "the status");
    equal(served.headers["content-type"], "application/json", "Content-Type");
    const printed = await t.on(place, ["openapi", "--public-url", url]);
    equal(printed.stdout, served.text, "the document");
    equal(served.json.servers[0].url, url, "the server in it");
    equal((await server.request("GET", "/openapi.json", { headers: { "Accept-Encoding": "gzip" } })).headers["content-encoding"], "gzip", "Content-Encoding");
    await server.stop();
  }
});

test("`lodge openapi` needs no store and makes none", async (t) => {
  const cwd = t.folder();
  const { status, stdout } = await t.run(["openapi"], { cwd });
  equal(status, 0, "the exit status");
  ok(!existsSync(join(cwd, "data")), "it made a folder");
  equal(JSON.parse(stdout).servers[0].url, "http://127.0.0.1:8080", "the server in it");
});

// What the scripts in openapi/ say of the document: their last line counts.
for (const [script, sentence] of [
  ["check.mjs", "the document stands up to OpenAPI 3.1"],
  ["lint.mjs", "Spectral and Redocly have nothing to say of the document"],
  ["generate.mjs", "generated clients are typed throughout"],
])
  test(sentence, async (t) => {
    if (!existsSync(join(here, "openapi/node_modules"))) return console.log("note: the packages of tests/blackbox/openapi are not installed: the document is not checked");
    const { stdout } = await t.run(["openapi"]);
    const folder = t.folder();
    const file = join(folder, "openapi.json");
    writeFileSync(file, stdout);
    const check = await command(process.execPath, [join(here, "openapi", script), file, folder], { ms: 220_000 });
    equal(check.status, 0, `${script} says ${check.stdout.slice(-2000)}${check.stderr.slice(-500)}`);
    match(check.stdout, /(^|\n)[1-9]\d* passed, 0 failed\n$/, "its last line");
  }, { ms: 240_000 }); // a few seconds; these packages are slow where the machine is

test("every path of the document answers with something it documents", async (t) => {
  const server = await t.serve(await t.place("sqlite"), { flags: ["--no-access-log"] });
  const tenant = await server.enter();
  const { json: doc } = await server.request("GET", "/openapi.json");
  const faults = [];
  for (const [path, item] of Object.entries(doc.paths))
    for (const [method, operation] of Object.entries(item)) {
      if (!["get", "put", "post", "patch", "delete"].includes(method)) continue;
      const endless = method === "get" && operation.responses[200]?.content?.["text/event-stream"];
      const target = path.replace("{tenant_id}", tenant).replace(/\{[^}]+\}/g, `c${"0".repeat(24)}`) + (endless ? "?wait=false" : "");
      for (const token of [server.token, ""]) {
        if (operation.operationId === "logout" && token) continue;
        if (method === "delete" && target === `/tenant/${tenant}`) continue;
        const reply = await server.request(method.toUpperCase(), target, { token, ...(operation.requestBody ? { body: {} } : {}) });
        if (!operation.responses[reply.status] && !operation.responses.default)
          faults.push(`${method} ${path} answered ${reply.status}, which is not among ${Object.keys(operation.responses)}`);
        if (reply.status >= 500) faults.push(`${method} ${path} answered ${reply.text}`);
      }
    }
  ok(faults.length === 0, faults.join("; "));
});
