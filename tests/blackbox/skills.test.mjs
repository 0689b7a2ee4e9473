// skills.test.mjs - skills between folders, archives made by others, and a serving process; and that a
// new master key loses no configuration.
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { equal, match, ok, test, testBoth } from "./harness.mjs";

const MD = `---
name: pdf-forms
description: Fills PDF forms. Use when a form is to be filled in.
license: Apache-2.0
metadata:
  author: example-org
---

# Fill a form
`;

function folder(parent, files) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(parent, name, ".."), { recursive: true });
    writeFileSync(join(parent, name), text);
  }
  return parent;
}

testBoth("a folder goes in and comes out the same, beside a running service", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place);
  await server.enter();
  const bytes = Buffer.from([0, 255, 10, 13, 0]);
  const from = folder(join(place.folder, "pdf-forms"), {
    "SKILL.md": MD, "scripts/fill.py": "print(1)\n", "assets/x.bin": bytes, ".git/config": "no", ".DS_Store": "no",
  });
  let result = await t.on(place, ["skills", "import", "demo", from]);
  equal(result.status, 0, `the exit status, with ${result.stderr}`);
  equal(result.stdout, "Imported the skill pdf-forms with 2 files; it is private until its visibility is changed.\n", "what it says");
  const list = await server.request("GET", `/tenant/${server.tenant}/skills`);
  equal(list.json.items[0].slug, "pdf-forms", "the skill");
  equal(list.json.items[0].files.map((f) => f.path).join(), "assets/x.bin,scripts/fill.py", "its files");
  result = await t.on(place, ["skills", "import", "demo", from]);
  equal(result.status, 1, "a second time");
  match(result.stderr, /slug pdf-forms already/, "why");
  result = await t.on(place, ["skills", "import", "demo", from, "--replace"]);
  equal(result.stdout, "Replaced the skill pdf-forms with 2 files.\n", "in its place");
  const out = join(place.folder, "out"); // not there yet
  result = await t.on(place, ["skills", "export", "demo", "pdf-forms", out]);
  equal(result.stdout, `Wrote ${out}/pdf-forms: SKILL.md and 2 files.\n`, "what it says");
  for (const name of ["SKILL.md", "scripts/fill.py", "assets/x.bin"])
    ok(readFileSync(join(out, "pdf-forms", name)).equals(readFileSync(join(from, name))), `${name} differs`);
  ok(lstatSync(join(out, "pdf-forms/scripts/fill.py")).mode & 0o100, "a script does not run");
  result = await t.on(place, ["skills", "export", "demo", "pdf-forms", out]);
  equal(result.status, 1, "where there is one");
  match(result.stderr, /cannot make .*File exists/, "why");
  const audit = await server.request("GET", `/tenant/${server.tenant}/audit-logs?action=skill.import`);
  equal(audit.json.total, 2, "audit rows");
});

test("what is no skill is refused with a line that says why", async (t) => {
  const place = await t.place();
  const server = await t.serve(place);
  await server.stop();
  const cases = [
    [{ "readme.md": "x" }, /SKILL\.md is not there/],
    [{ "SKILL.md": "# x" }, /SKILL\.md line 1: the file does not begin with a line of ---/],
    [{ "SKILL.md": "---\nname: A\nversion: 1\n---\n" }, /version line 3: is not a field.*name line 2: may have small letters.*description is required/],
    [{ "SKILL.md": MD, "assets/big": Buffer.alloc((1 << 20) + 1) }, /assets\/big is too large/],
    [{ "SKILL.md": MD, "a\u001b[2J": "x" }, /refused: a\?\[2J must be a path/],
  ];
  let n = 0;
  for (const [files, why] of cases) {
    const result = await t.on(place, ["skills", "import", "demo", folder(join(place.folder, `s${n++}`), files)]);
    equal(result.status, 1, "the exit status");
    match(result.stderr, why, "why");
  }
  const linked = folder(join(place.folder, "linked"), { "SKILL.md": MD });
  symlinkSync("/etc/passwd", join(linked, "passwd"));
  const result = await t.on(place, ["skills", "import", "demo", linked]);
  match(result.stderr, /passwd is a link or a device/, "a link");
  match((await t.on(place, ["skills", "import", "nobody", folder(join(place.folder, "g"), { "SKILL.md": MD })])).stderr,
    /no tenant with the slug nobody/, "another tenant");
  match((await t.on(place, ["skills", "export", "demo", "none", place.folder])).stderr, /no skill with the slug none/, "no skill");
  equal((await t.on(place, ["skills", "import", "demo"])).status, 2, "without a folder");
});

test("archives made by others are read, and ours by others", async (t) => {
  const place = await t.place();
  const server = await t.serve(place);
  await server.enter();
  const from = folder(join(place.folder, "pdf-forms"), { "SKILL.md": MD, "references/a.md": "a".repeat(5000), "assets/é.txt": "é" });
  const archive = join(place.folder, "in.zip");
  execFileSync("python3", ["-c",
    "import sys, shutil; shutil.make_archive(sys.argv[1][:-4], 'zip', sys.argv[2], 'pdf-forms')", archive, place.folder]);
  const bytes = readFileSync(archive);
  const made = await server.request("POST", `/tenant/${server.tenant}/skills/import`,
    { body: bytes, headers: { "Content-Type": "application/zip" } });
  equal(made.status, 201, made.text);
  equal(made.json.files.map((f) => f.path).join(), "assets/é.txt,references/a.md", "files");
  const reply = await fetch(`${server.origin}/tenant/${server.tenant}/skills/${made.json.id}/export`,
    { headers: { Authorization: `Bearer ${server.token}` } });
  equal(reply.headers.get("content-type"), "application/zip", "Content-Type");
  const ours = join(place.folder, "out.zip");
  writeFileSync(ours, Buffer.from(await reply.arrayBuffer()));
  execFileSync("python3", ["-c",
    "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; z.extractall(sys.argv[2])",
    ours, join(place.folder, "again")]);
  for (const name of readdirSync(from, { recursive: true }))
    if (lstatSync(join(from, name)).isFile())
      ok(readFileSync(join(place.folder, "again/pdf-forms", name)).equals(readFileSync(join(from, name))), `${name} differs`);
  ok(existsSync(join(place.folder, "again/pdf-forms/assets/é.txt")), "the name with a letter beyond ASCII");
});

testBoth("a new master key opens the configurations the old one sealed", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place);
  await server.enter();
  const agent = (await server.request("POST", `/tenant/${server.tenant}/agents`, { body: { name: "A", slug: "a" } })).json.id;
  const skill = (await server.request("POST", `/tenant/${server.tenant}/skills`,
    { body: { name: "S", slug: "s", description: "D", instructions: "I" } })).json.id;
  await server.request("POST", `/agents/${agent}/skills`, { body: { skill_id: skill } });
  const path = `/agents/${agent}/skills/${skill}/config`;
  equal((await server.request("PATCH", path, { body: { config: { token: "s3cret-Xy" } } })).status, 200, "set");
  const before = await place.sql("select config_sealed from agent_skills where config_sealed is not null");
  ok(!before.includes("s3cret"), "it is not sealed");
  const result = await t.on(place, ["rekey"], { ms: 60_000 });
  equal(result.status, 0, `rekey, with ${result.stderr}`);
  const after = await place.sql("select config_sealed from agent_skills where config_sealed is not null");
  for (const text of [before, after]) match(text, /^[0-9a-f]{8}\./, "the name of its key");
  ok(after.slice(0, 8) !== before.slice(0, 8), "it is under the old key");
  equal((await server.request("GET", path)).json.config.token, "s3cret-Xy", "opened");
  ok(!server.stderr.includes("s3cret"), "the log has it");
});
