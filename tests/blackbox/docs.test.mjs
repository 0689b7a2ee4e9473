// docs.test.mjs - every command that README.md and docs/ print is run, in order, against a fresh server, as a
// newcomer would, and what they print as its output is held against what it said.
//
// A block of lines that are indented by four is commands if it begins like one, else what a command printed.
// Lines from "=> " on are output within a block.  A request may be refused only where the document shows it.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bin, equal, match, ok, root, test } from "./harness.mjs";

// What is not for a server that has just been started, and why.
const LEFT_OUT = {
  "docs/PERFORMANCE.md": "the bench",
  "docs/operating.md": "a machine of one's own, with systemd and proxies; tools/check-packaging runs it",
  "docs/keys.md": "rekey.test.mjs",
  "docs/postgres.md": "further servers: pooler, hosts, replica, store_tls and failover.test.mjs",
};
const ELSEWHERE = /mcp\.example\.org|v1\/embeddings|lodge image build/; // needs servers that are not here: mcp.test.mjs, voice.test.mjs, images.test.mjs
const ONE_OF_MANY = /^(\.\/run|LODGE_ADMIN_PASSWORD=\S+ \.\/run|\.\/test|\.\/bench)/; // other tests start the program

const COMMAND = /^(curl|api|call|lodge |build\/lodge|jq|printf|body|[A-Za-z_]+=|[a-z]+\(\))/;
const SHOWS_REFUSAL = /"code":|"field"|"error"|"errors"|"status":4|#.*\b4\d\d\b/;

// Outputs that a fresh server does not give, by the document and what it shows: why.
const NOT_FRESH = [
  ["docs/billing.md", /large-1|Large One|agent_id|^0\.306$/, "figures of a tenant whose agents have worked for days"],
  ["docs/events.md", /^id: 812-/, "of a stream that somebody else's work fills"],
  ["docs/sessions.md", /"waiting_for":"rate"/, "of an agent that has no room: waiting.test.mjs"],
  ["docs/skills.md", /line 3: a plain text/, "of a bundle that is wrong: skills.test.mjs"],
  ["docs/skills.md", /"is_pinned":true/, "of a skill of another tenant: stores.test.mjs, and the unit tests"],
];

// What differs from one time to the next, as it stands in a document, and what it may be instead.
const VARIES = [
  [/\bc[a-z0-9]{24}\b|\bc0[a-z0-9]+\.\.\./g, "c[a-z0-9]{24}"],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z"],
  [/\b1[789]\d{8}\b/g, "\\d{10}"],
  [/(?<="avatar_sha256":")\w+/g, "[0-9a-f]{64}"],
  [/(?<="avatar_size_bytes":)\d+/g, "\\d+"],
  [/(?<=^id: )\d+$/gm, "\\d+"],
  [/\.\.\./g, "[^]*?"], // left out by the document
];

/** What a document shows, as a pattern for what was said without its blanks. */
function patternOf(shown) {
  const varied = [];
  let text = shown;
  for (const [found, instead] of VARIES) text = text.replace(found, () => `\0${varied.push(instead) - 1}\0`);
  const parts = text.replace(/\s+/g, "").split("\0");
  return new RegExp(parts.map((part, i) => (i % 2 ? varied[Number(part)] : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))).join(""));
}

export function blocksOf(text) {
  const blocks = [];
  let open = null;
  for (const line of text.split("\n")) {
    if (line.startsWith("    ") || (open && line === "" && open.lines.at(-1)?.endsWith("\\"))) {
      if (!open) blocks.push((open = { lines: [] }));
      open.lines.push(line.slice(4));
    } else open = null;
  }
  for (const [i, b] of blocks.entries()) {
    b.isCommand = COMMAND.test(b.lines[0]) && !ONE_OF_MANY.test(b.lines[0]) && !ELSEWHERE.test(b.lines.join(" "));
    b.shown = [];
    let output = false;
    b.script = b.lines.filter((l) => {
      if (l.startsWith("=> ")) output = true;
      else if (!l.startsWith("   ")) output = false;
      if (l.startsWith("=> ")) b.shown.push(l.slice(3));
      else if (output) b.shown.push(`${b.shown.pop()}\n${l.slice(3)}`);
      return !output && !/^\w+=\.\.\./.test(l);
    }).join("\n");
    b.next = blocks[i + 1];
  }
  for (const b of blocks) {
    const { next } = b;
    if (!b.shown.length && next && !next.isCommand && !COMMAND.test(next.lines[0]) && !ONE_OF_MANY.test(next.lines[0])) b.shown.push(next.lines.join("\n"));
  }
  for (const b of blocks)
    if (b.isCommand) b.mayFail = SHOWS_REFUSAL.test(b.lines.filter((l) => /^=> |^   |#/.test(l)).join("\n")) ||
      (b.next && !b.next.isCommand && SHOWS_REFUSAL.test(b.next.lines.join("\n")));
  return blocks;
}

/** What a command said that the document shows otherwise. */
function otherThanShown(name, block, said) {
  const shown = block.shown.filter((text) => !NOT_FRESH.some(([file, what]) => file === name && what.test(text)));
  const bare = said.replace(/\s+/g, "");
  return shown.filter((text) => !patternOf(text).test(bare)).map((text) => `${name} prints\n${text}\nfor\n${block.script}\nwhich said\n${said.slice(0, 2000)}`);
}

function script(path, text) {
  writeFileSync(path, `#!/bin/bash\n${text}\n`);
  chmodSync(path, 0o755);
}

async function runDocument(t, name) {
  const place = await t.place("sqlite");
  const server = await t.serve(place, { env: { LODGE_ADMIN_PASSWORD: "open-sesame", LODGE_ADMIN_EMAIL: "admin@localhost" } });
  const login = await server.request("POST", "/auth/login", { body: { email: "admin@localhost", password: "open-sesame" } });
  equal(login.status, 200, "signing in");
  const token = login.json.token;
  const tenant = login.json.user.memberships[0].tenant_id;
  const as = { token };
  const printed = readFileSync(join(root, name), "utf8");
  const agents = `/tenant/${tenant}/agents`; // a document that names none of its own has one made for it
  const agent = /\$(AGENT|A)\b/.test(printed)
    ? await server.request("POST", agents, { ...as, body: { name: "Desk", slug: "desk" } })
    : { json: (await server.request("GET", agents, as)).json.items[0] };
  ok(agent.json?.id, `making an agent, with ${agent.text}`);
  const key = await server.request("POST", `/tenant/${tenant}/api-keys`, { ...as, body: { name: "docs" } });
  const session = await server.request("POST", `/agents/${agent.json.id}/sessions`, { ...as, body: { title: "S" } });
  const tools = join(place.folder, "bin");
  mkdirSync(tools);
  mkdirSync(join(place.folder, "build"));
  // Streams that do not end are left after a while; and whoever reads only the head of an answer does not wait
  // for the rest, of which curl complains when it comes to that.
  script(join(tools, "curl"), `follow=(); case "$*" in */events*) follow=(-m 3) ;; esac
status=0
/usr/bin/curl -sS "\${follow[@]}" -w '%{stderr}@@%{http_code} %{method} %{url}\\n' "$@" 2>"$HOME/said" || status=$?
grep -vE 'Operation timed out|Fail(ed|ure) writing (body|output)' "$HOME/said" >&2
[[ \${follow[*]} ]] || exit $status`);
  const lodge = `exec '${bin}' "$@" --data '${place.data}' --store '${place.store}'`;
  script(join(tools, "lodge"), lodge);
  script(join(place.folder, "build/lodge"), lodge);
  writeFileSync(join(place.folder, "photo.jpg"), readFileSync(join(root, "tests/fuzz/corpus/picture/jpeg-0-0")));
  writeFileSync(join(place.folder, "prices.json"), JSON.stringify({
    "claude-sonnet-4-5": { litellm_provider: "anthropic", mode: "chat", input_cost_per_token: 0.000003, output_cost_per_token: 0.000015 },
    "some-embedding": { litellm_provider: "openai", mode: "embedding" },
    "far-away": { litellm_provider: "nobody", mode: "chat" },
  }));
  const here = (text) => text
    .replaceAll(/https?:\/\/(127\.0\.0\.1:8080|localhost:8080|lodge\.example\.com|your\.lodge)/g, server.origin)
    .replaceAll(/(?<!\/)localhost:8080/g, server.origin.slice(7))
    .replaceAll("lodge_key_...", key.json.key);
  const commands = blocksOf(printed).filter((b) => b.isCommand);
  const text = ["set -eu", ...commands.map((b, i) => `echo '##${i}' >&2; printf '\\n##${i}\\n'\n${here(b.script)}`), "echo '##end' >&2"].join("\n");
  const run = spawnSync("bash", ["-c", text], {
    cwd: place.folder, encoding: "utf8", timeout: 240_000, // a busy machine takes seconds for each start of the program
    env: { PATH: `${tools}:${process.env.PATH}`, HOME: place.folder, ASAN_OPTIONS: process.env.ASAN_OPTIONS ?? "",
      LODGE: server.origin, TOKEN: token, KEY: key.json.key, LODGE_KEY: key.json.key, TENANT: tenant, T: tenant,
      AGENT: agent.json.id, A: agent.json.id, ID: session.json.id, APPROVAL: agent.json.id, FILE: agent.json.id, USER_ID: login.json.user.id },
  });
  const parts = run.stderr.split(/^##(\w+)\n/m);
  const problems = [];
  for (let i = 1; i < parts.length; i += 2) {
    const block = commands[Number(parts[i])];
    for (const line of parts[i + 1].split("\n")) {
      const status = /^@@(\d{3}) (.*)/.exec(line);
      if (status && (status[1] < 200 || status[1] >= 400) && !block.mayFail) problems.push(`${status[1]} ${status[2]} of ${block.script}`);
      else if (line && !status) problems.push(`${line} of ${block?.script}`);
    }
  }
  const said = run.stdout.split(/^##(\d+)\n/m);
  for (let i = 1; i < said.length; i += 2) problems.push(...otherThanShown(name, commands[Number(said[i])], said[i + 1]));
  ok(problems.length === 0, `${problems.join("\n")}\n${run.stdout.slice(-2000)}`);
  match(run.stderr, /##end/, "the last command");
  equal(run.status, 0, "the exit status");
  ok(commands.length > 0, "there are no commands");
}

const names = ["README.md", ...readdirSync(join(root, "docs")).filter((f) => f.endsWith(".md")).sort().map((f) => `docs/${f}`)];
for (const name of names.filter((n) => !LEFT_OUT[n]))
  if (blocksOf(readFileSync(join(root, name), "utf8")).some((b) => b.isCommand))
    test(`every command of ${name} works as printed`, (t) => runDocument(t, name), { ms: 300_000 });

test("what the tour writes is ignored by git", async () => {
  const written = names.flatMap((n) => [...readFileSync(join(root, n), "utf8").matchAll(/^    .*(?:> |-o |backup )([a-z][\w.-]*\.(?:json|png|zip|db|md|py))\b/gm)].map((m) => m[1]));
  ok(written.includes("login.json") && written.includes("copy.db"), `what is found to be written: ${written}`);
  for (const file of new Set(written)) {
    const { status } = spawnSync("git", ["check-ignore", "-q", "--no-index", file], { cwd: root });
    equal(status, 0, `ignoring ${file}`);
  }
});

test("lodge help NAME is what lodge NAME --help says", async (t) => {
  for (const name of [["serve"], ["user", "create"]]) {
    const help = await t.run(["help", ...name]);
    equal(help.status, 0, `lodge help ${name.join(" ")}`);
    ok(help.stdout.startsWith(`Usage: lodge ${name.join(" ")}`), help.stdout.slice(0, 80));
    equal(help.stdout, (await t.run([...name, "--help"])).stdout, "both ways");
  }
  for (const name of [["turnips"], ["serve", "turnips"]]) {
    const none = await t.run(["help", ...name]);
    equal(none.status, 2, `lodge help ${name.join(" ")}`);
    match(none.stderr, /is not a command/, none.stderr);
  }
});

test("nginx's example lets pass what Lodge takes, for as long as it may take", async (t) => {
  const text = readFileSync(join(root, "packaging/nginx.conf.example"), "utf8");
  const body = Number(/client_max_body_size (\d+)m;/.exec(text)?.[1]);
  const read = Number(/proxy_read_timeout (\d+)m;/.exec(text)?.[1]);
  const help = await t.run(["help"]);
  const patient = Number(/--patient-timeout[\s\S]*?\(?(\d+)m\b/.exec(help.stdout)?.[1]);
  ok(read > patient, `nginx waits ${read} minutes, Lodge ${patient}`);
  match(text, /proxy_buffering off;/, "streams");
  const server = await t.serve(await t.place());
  await server.login();
  const big = JSON.stringify({ model: "demo", messages: [{ role: "user", content: "x".repeat(body * 1024 * 1024 - 200) }] });
  ok((await server.request("POST", "/v1/chat/completions", { body: big, headers: { "Content-Type": "application/json" } })).status !== 413, "Lodge takes less than nginx lets pass");
});

test("a suite of ./test installs only what it needs", async (t) => {
  const folder = t.folder();
  const asked = join(folder, "asked");
  script(join(folder, "dpkg-query"), "exit 1");
  for (const name of ["apt-get", "sudo"]) script(join(folder, name), `echo "$*" >>'${asked}'; exit 1`);
  writeFileSync(asked, "");
  const run = (suite) => spawnSync("./test", [suite], { cwd: root, encoding: "utf8", env: { ...process.env, PATH: `${folder}:${process.env.PATH}` } });
  match(run("words").stdout, /^Installing git$/m, "what ./test words installs");
  match(run("format").stdout, /^Installing clang-format$/m, "what ./test format installs");
});
