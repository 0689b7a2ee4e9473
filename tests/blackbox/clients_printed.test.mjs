// clients_printed.test.mjs - everything that docs/clients.md prints is run as it stands there, against a fresh server: programs
// by node, commands by a shell, with the files that are printed before them.
//
// A block of output belongs to the program or the commands before it.  What needs the packages of clients/full is run by
// ./test full alone; a package that is in neither folder fails.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { equal, here, ok, root, test } from "./harness.mjs";

const FULL = process.env.LODGE_TEST_EVERY === "1";
const SMALL = join(here, "clients"), LARGE = join(here, "clients/full");
const PLACES = { Codex: ".codex/config.toml", opencode: "opencode.json", Continue: ".continue/config.yaml" }; // where a section's file is to be
const PROGRAMS = { codex: "@openai/codex", opencode: "opencode-ai", claude: "@anthropic-ai/claude-code", cn: "@continuedev/cli" };
const FILES = ["toml", "json", "yaml"];
const packagesOf = (folder) => Object.keys(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).dependencies);

/** The sections of the document: {name, blocks: [{kind, text, output}], files: {place: text}}. */
function sections() {
  return readFileSync(join(root, "docs/clients.md"), "utf8").split(/^## /m).slice(1).map((part) => {
    const name = part.slice(0, part.indexOf("\n")), blocks = [], files = {};
    for (const [, kind, text] of part.matchAll(/^```(\w+)\n([^]*?)^```$/gm)) {
      if (kind === "text") blocks.at(-1).output = text;
      else if (FILES.includes(kind)) files[PLACES[name]] = text;
      else if (kind !== "python") blocks.push({ kind, text });
    }
    return { name, blocks, files };
  });
}

/** What a block brings along, by the names of packages. */
const needs = ({ kind, text }) =>
  kind === "js"
    ? [...text.matchAll(/from "((?:@[^"/]+\/)?[^"/]+)[^"]*"/g)].map((m) => m[1])
    : Object.keys(PROGRAMS).filter((name) => new RegExp(`^${name} `, "m").test(text)).map((name) => PROGRAMS[name]);

async function runBlock(t, section, block, packages) {
  const place = await t.place("sqlite");
  const server = await t.serve(place, { env: { LODGE_ADMIN_PASSWORD: "open-sesame", LODGE_ADMIN_EMAIL: "admin@localhost" } });
  const { json } = await server.login({ email: "admin@localhost", password: "open-sesame" });
  const key = await server.request("POST", `/tenant/${json.user.memberships[0].tenant_id}/api-keys`, { body: { name: "client" } });
  equal(key.status, 201, `making a key says ${key.text}`);
  symlinkSync(join(packages, "node_modules"), join(place.folder, "node_modules"));
  for (const [at, text] of Object.entries(section.files)) {
    mkdirSync(join(place.folder, at, ".."), { recursive: true });
    writeFileSync(join(place.folder, at), text.replaceAll("http://127.0.0.1:8080", server.origin));
  }
  writeFileSync(join(place.folder, "it.mjs"), block.text);
  const run = spawnSync(block.kind === "js" ? process.execPath : "bash", block.kind === "js" ? ["it.mjs"] : ["-euc", block.text], {
    cwd: place.folder, encoding: "utf8", timeout: 120_000, stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: `${join(packages, "node_modules/.bin")}:${process.env.PATH}`, HOME: place.folder, LODGE: server.origin, LODGE_KEY: key.json.key },
  });
  equal(run.status, 0, `${block.text}\nends, having said ${run.stdout.slice(-2000)}${run.stderr.slice(-2000)}`);
  equal(run.stdout.trim(), block.output.trim(), `what ${block.text} prints`);
}

const printed = sections();

test("every client of the document has its lines, its output and its packages", async () => {
  const all = [...packagesOf(SMALL), ...packagesOf(LARGE)];
  ok(printed.length >= 11, `there are ${printed.length} sections`);
  for (const { name, blocks } of printed) {
    ok(blocks.length > 0, `${name} has nothing to run`);
    for (const b of blocks) {
      ok(b.output, `${name} does not show what its lines print`);
      ok(needs(b).length > 0, `${name} has lines that need no package`);
      for (const one of needs(b)) ok(all.includes(one), `${one} of ${name} is in no package.json`);
    }
  }
});

for (const section of printed)
  for (const [i, block] of section.blocks.entries()) {
    const small = needs(block).every((one) => packagesOf(SMALL).includes(one));
    if (!small && !FULL) continue;
    test(`${section.name}, as printed (${i + 1})`, async (t) => {
      const packages = small ? SMALL : LARGE;
      ok(existsSync(join(packages, "node_modules")), `the packages of ${packages} are not installed`);
      await runBlock(t, section, block, packages);
    }, { ms: 180_000 });
  }
