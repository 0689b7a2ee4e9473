// start.test.mjs - first starts, bad starts, and the subcommands beside a serving process.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { ADMIN, digest, ENGINES, equal, Failure, isRoot, match, ok, short, test, testBoth, until } from "./harness.mjs";

// What a store holds, as text that changes when anything of it does.
function holds(place) {
  const tables = ["meta", "plans", "users", "tenants", "members", "agents", "audit_logs", "directory"];
  return place.sql(tables.map((table) => `select * from ${table} order by 1`).join("; "));
}

async function touched(place) {
  const files = digest(place.data);
  return place.engine === "sqlite" ? files : `${files}\n${await holds(place)}`;
}

/** A store that has been served once, with an agent in it. */
async function served(t, engine, name = "First one") {
  const place = await t.place(engine);
  const server = await t.serve(place);
  const tenant = await server.enter();
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name, slug: "first" } });
  equal(made.status, 201, made.text);
  equal(await server.stop(), 0, "the exit status");
  return { ...place, agent: made.json.id, tenant, token: server.token };
}

function refused(result, pattern, status = 1) {
  equal(result.status, status, `the exit status, with ${short(result.stderr)}`);
  match(result.stderr, /^lodge: [^\n]+\n$/, "standard error is one line");
  match(result.stderr, pattern, "the line");
  equal(result.stdout, "", "standard output");
}

const serveArgs = ["serve", "--listen", "127.0.0.1:0"];

testBoth("the first start prints a password once, and it opens the door", async (t, engine) => {
  const place = await t.place(engine);
  const random = { env: { LODGE_ADMIN_PASSWORD: "", LODGE_ADMIN_EMAIL: "" } };
  const first = await t.serve(place, { ...random, bare: true });
  const said = /Made the super administrator admin@localhost with the password (\S{20})\n/.exec(first.stdout);
  ok(said, `standard output says ${short(first.stdout)}`);
  ok(!first.stderr.includes(said[1]), "the password is in the log");
  const { json } = await first.login({ email: "admin@localhost", password: said[1] });
  equal(json.user.is_super_admin, true, "is_super_admin");
  equal(json.user.memberships.length, 1, "memberships");
  equal(json.user.memberships[0].tenant_slug, "demo", "the tenant");
  equal(json.user.memberships[0].role, "OWNER", "the role");
  equal(await first.stop(), 0, "the exit status");
  const second = await t.serve(place, random);
  ok(!/administrator|password/.test(second.stdout), `the second start says ${short(second.stdout)}`);
  await second.login({ email: "admin@localhost", password: said[1] });
  equal(await place.sql("select count(*) from users"), "1", "users");
  equal(await place.sql("select count(*) from tenants"), "1", "tenants");
});

testBoth("the first start takes the administrator it is given", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place, { bare: true, env: { LODGE_ADMIN_EMAIL: "Boss@Example.com", LODGE_ADMIN_PASSWORD: "Given-Password-1" } });
  ok(!(server.stdout + server.stderr).includes("Given-Password-1"), "the given password was printed");
  const { json } = await server.login({ email: "boss@example.com", password: "Given-Password-1" });
  equal(json.user.email, "Boss@Example.com", "the address");
  const wrong = await server.request("POST", "/auth/login", { body: { email: "boss@example.com", password: "Other" }, token: "" });
  equal(wrong.status, 401, "a wrong password");
  await server.stop();
  const again = await t.serve(place, { env: { LODGE_ADMIN_EMAIL: "other@example.com", LODGE_ADMIN_PASSWORD: "Other-Password-1" } });
  const other = await again.request("POST", "/auth/login", { body: { email: "other@example.com", password: "Other-Password-1" } });
  equal(other.status, 401, "the second start made an administrator");
});

test("a short password is refused wherever the administrator's is read", async (t) => {
  const place = await t.place("sqlite");
  const short = { LODGE_ADMIN_EMAIL: "boss@example.com", LODGE_ADMIN_PASSWORD: "Seven77" };
  const first = async (env, said) => {
    const { status, stderr } = await t.on(place, ["serve"], { env: { ...short, ...env } });
    equal(status, 1, "the first start");
    match(stderr, said, "the first start");
  };
  await first({}, /LODGE_ADMIN_PASSWORD must have 8 to 1024 characters/);
  await first({ LODGE_ADMIN_EMAIL: "nobody", LODGE_ADMIN_PASSWORD: "Eight888" }, /LODGE_ADMIN_EMAIL is not an address/);
  const server = await t.serve(place, { env: { ...short, LODGE_ADMIN_PASSWORD: "Eight888" } });
  await server.login({ email: "boss@example.com", password: "Eight888" });
  await server.stop();
  refused(await t.on(place, ["user", "create"], { env: { ...short, LODGE_ADMIN_EMAIL: "b@example.com" } }), /8 to 1024 characters/, 2);
  match((await t.on(place, ["check"], { env: short })).stdout, /# warning: LODGE_ADMIN_PASSWORD must have/, "check");
});

test("the master key is for its owner alone, and the store is no wider", async (t) => {
  const place = await t.place("sqlite");
  mkdirSync(place.data, { mode: 0o755 });
  await t.serve(place, { bare: true });
  equal(statSync(join(place.data, "master.key")).mode & 0o777, 0o600, "the mode of master.key");
  match(readFileSync(join(place.data, "master.key"), "latin1"), /^[0-9a-f]{64}\n$/, "master.key");
  equal(statSync(join(place.data, "lodge.db")).mode & 0o077, 0, "what others may do with lodge.db");
});

test("a folder made by the first start is for its owner alone", async (t) => {
  const place = await t.place("sqlite");
  await t.serve(place, { bare: true });
  equal(statSync(place.data).mode & 0o777, 0o700, "the mode of the data folder");
});

test("with port 0 the address that is printed is the one that answers", async (t) => {
  const server = await t.serve(await t.place("sqlite"), { bare: true });
  await server.healthy();
  await until(20_000, "its line", () => server.stdout.includes("Lodge is at"));
  ok(server.stdout.includes(`Lodge is at ${server.origin} `), `standard output says ${short(server.stdout)}`);
});

// ---- bad starts ----

for (const name of ["serve", "migrate", "check", "backup", "user create"]) {
  testBoth(`${name} refuses a store newer than the program that does not admit it`, async (t, engine) => {
    const place = await served(t, engine);
    await place.sql("update meta set value = '999' where key = 'schema_version'");
    await place.sql("update meta set value = '998' where key = 'oldest_program'");
    const before = await touched(place);
    const args = { serve: serveArgs, backup: ["backup", join(place.folder, "copy.db")] }[name] ?? name.split(" ");
    const env = { LODGE_ADMIN_EMAIL: ADMIN.email, LODGE_ADMIN_PASSWORD: ADMIN.password };
    const result = await t.on(place, args, { env });
    if (name === "check") result.stdout = "";
    refused(result, /version 999, for programs from version 998 on.*newer lodge/);
    equal(await touched(place), before, "the store");
    ok(!existsSync(join(place.folder, "copy.db")), "a copy was left behind");
  });
}

test("a second serve or migrate on the same file is refused, and the first serves on", async (t) => {
  const place = await t.place("sqlite");
  const server = await t.serve(place);
  await server.enter();
  server.signal("SIGSTOP"); // it gives signs of life, seals and tidies up otherwise
  try {
    const before = digest(place.data);
    for (const args of [serveArgs, ["migrate"]])
      refused(await t.on(place, args), /in use by another lodge/);
    equal(digest(place.data), before, "the files");
  } finally {
    server.signal("SIGCONT");
  }
  await server.login();
});

test("a second serve that names the same file otherwise is refused", async (t) => {
  const place = await t.place("sqlite");
  await t.serve(place);
  const data = join(place.folder, "other");
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(join(data, "master.key"), readFileSync(join(place.data, "master.key")), { mode: 0o600 });
  symlinkSync(join(place.data, "lodge.db"), join(data, "lodge.db"));
  for (const store of [`sqlite:${place.data}/../data/./lodge.db`, `sqlite:${data}/lodge.db`]) {
    const result = await t.run([...serveArgs, "--data", data, "--store", store], { ms: 20_000 }).catch((err) => err);
    ok(result.stderr !== undefined, `${store}: two processes serve one file`);
    refused(result, /in use by another lodge/);
  }
});

test("an unwritable data folder", async (t) => {
  const place = await served(t, "sqlite");
  const wrap = isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : undefined;
  if (isRoot) chmodSync(place.folder, 0o755);
  chmodSync(place.data, 0o555);
  const before = digest(place.data);
  for (const args of [serveArgs, ["migrate"]]) {
    const result = await t.on(place, args, { wrap });
    if (/not loadable|cannot open shared object|Permission denied.*lodge$/m.test(result.stderr) && result.status > 2)
      return console.log("note: another user cannot run the program here: the unwritable folder is not tested");
    refused(result, /cannot write to the data folder.*[Pp]ermission denied/);
  }
  equal(digest(place.data), before, "the files");
  const inside = await t.run([...serveArgs, "--data", join(place.data, "deeper")], { wrap, cwd: "/" });
  refused(inside, /cannot make the data folder/);
  chmodSync(place.data, 0o755);
});

test("a taken port", async (t) => {
  const place = await served(t, "sqlite");
  const taken = net.createServer().listen(0, "127.0.0.1");
  await new Promise((done) => taken.on("listening", done));
  const before = digest(place.data);
  refused(await t.on(place, ["serve", "--listen", `127.0.0.1:${taken.address().port}`]), /cannot listen on .*in use/);
  equal(digest(place.data), before, "the files");
  taken.close();
});

test("a taken port on an empty folder leaves no administrator whose password nobody saw", async (t) => {
  const place = await t.place("sqlite");
  const taken = net.createServer().listen(0, "127.0.0.1");
  await new Promise((done) => taken.on("listening", done));
  const result = await t.on(place, ["serve", "--listen", `127.0.0.1:${taken.address().port}`]);
  equal(result.status, 1, "the exit status");
  match(result.stderr, /(^|\n)lodge: cannot listen on [^\n]*\n$/, "the last line");
  taken.close();
  const again = await t.serve(place, { env: { LODGE_ADMIN_PASSWORD: "" } });
  const said = /with the password (\S{20})\n/.exec(result.stdout + again.stdout);
  ok(said, "no password was ever printed");
  await again.login({ email: "admin@localhost", password: said[1] });
});

testBoth("a wrong, missing, open or broken master key", async (t, engine) => {
  const place = await served(t, engine);
  const key = join(place.data, "master.key");
  const right = readFileSync(key);
  const before = await touched(place);
  const both = async (pattern) => {
    const now = await touched(place);
    refused(await t.on(place, serveArgs), pattern);
    const check = await t.on(place, ["check"]);
    equal(check.status, 1, "check's exit status");
    match(check.stderr, /^lodge: [^\n]+\n$/, "check's line");
    match(check.stderr, pattern, "check's line");
    equal(await touched(place), now, "the data");
  };
  writeFileSync(key, `${"ab".repeat(32)}\n`);
  await both(/not the one this store was made with/);
  writeFileSync(key, "not a key\n");
  await both(/64 hexadecimal digits/);
  writeFileSync(key, "");
  await both(/64 hexadecimal digits/);
  writeFileSync(key, Buffer.concat([right.subarray(0, 64), Buffer.from("00\n")]));
  await both(/64 hexadecimal digits/);
  writeFileSync(key, right);
  for (const mode of [0o644, 0o640, 0o604]) {
    chmodSync(key, mode);
    await both(/can be read by others.*chmod 600/);
  }
  rmSync(key);
  await both(/is missing/);
  ok(!existsSync(key), "a new key was made");
  writeFileSync(key, right, { mode: 0o600 });
  chmodSync(key, 0o600);
  equal(await touched(place), before, "the data");
  const server = await t.serve(place);
  await server.enter();
});

test("what is not understood is one line and exit status 2, and makes no folder", async (t) => {
  const cases = [
    [["serve", "--colour", "red"], /"--colour" is not a flag/],
    [["serve", "--max-bdy=1m"], /did you mean --max-body/],
    [["serve", "--max-body", "lots"], /max_body.*"lots"/],
    [["serve", "--max-body"], /value is missing/],
    [["serve", "--listen", "nowhere"], /listen/],
    [["serve", "--listen", "127.0.0.1:99999"], /listen/],
    [["serve", "--log-level", "loud"], /log_level/],
    [["serve", "--loops", "-1"], /loops/],
    [["serve", "--header-timeout", "5"], /header_timeout/],
    [["serve", "--no-access-log=yes"], /takes no value/],
    [["serve", "--store", "mysql://u@127.0.0.1/x"], /store/],
    [["serve", "--store", "lodge.db"], /store/],
    [["serve", "--public-url", "ftp://x"], /public_url/],
    [["serve", "--config", "absent.conf"], /absent\.conf/],
    [["serve", "extra"], /extra/],
    [["backup"], /FILE/],
    [["swerve"], /did you mean lodge serve/],
    [["user", "make"], /did you mean lodge user create/],
    [[], /no command/],
    [["user", "create"], /LODGE_ADMIN_EMAIL/],
  ];
  for (const [args, pattern] of cases) {
    const cwd = t.folder();
    const result = await t.run(args, { cwd });
    try {
      refused(result, pattern, 2);
    } catch (err) {
      throw new Failure(`lodge ${args.join(" ")}: ${err.message}`);
    }
    ok(!existsSync(join(cwd, "data")), `lodge ${args.join(" ")} made a folder`);
  }
});

test("a bad variable and a bad line of the file are named with their place", async (t) => {
  refused(await t.run(["serve"], { env: { LODGE_LOOPS: "many" } }), /loops.*LODGE_LOOPS/, 2);
  const cwd = t.folder();
  writeFileSync(join(cwd, "lodge.conf"), "# a comment\nmax_body = 8m\nbogus = 1\n");
  refused(await t.run(["serve"], { cwd }), /lodge\.conf.*3/, 2);
  writeFileSync(join(cwd, "lodge.conf"), "max_body = \0\n");
  refused(await t.run(["serve"], { cwd }), /lodge\.conf/, 2);
});

test("a password in a bad store address is not printed", async (t) => {
  for (const store of ["mysql://u:hunter2pass@127.0.0.1/x", "postgres://u:hunter2pass@127.0.0.1:1/x",
    "postgres://u:hunter2pass@127.0.0.1:notaport/x"]) {
    const result = await t.run([...serveArgs, "--store", store]);
    ok(result.status === 1 || result.status === 2, `the exit status is ${result.status}`);
    match(result.stderr, /^lodge: [^\n]+\n$/, "standard error is one line");
    ok(!(result.stderr + result.stdout).includes("hunter2pass"), `the password is in ${short(result.stderr)}`);
    const check = await t.run(["check", "--store", store]);
    ok(!(check.stderr + check.stdout).includes("hunter2pass"), "check printed the password");
  }
});

test("an unreachable PostgreSQL", async (t) => {
  for (const args of [serveArgs, ["migrate"], ["user", "create"], ["backup", "copy.db"]]) {
    const result = await t.run([...args, "--store", "postgres://nobody@127.0.0.1:1/none"],
      { env: { LODGE_ADMIN_EMAIL: ADMIN.email, LODGE_ADMIN_PASSWORD: ADMIN.password } });
    refused(result, /cannot connect/);
  }
});

test("a file that is no store is refused and left alone", async (t) => {
  const place = await t.place("sqlite");
  mkdirSync(place.data, { mode: 0o700 });
  writeFileSync(join(place.data, "lodge.db"), "This is a letter, and no database. ".repeat(200));
  const before = digest(place.data);
  const result = await t.on(place, serveArgs);
  refused(result, /lodge\.db|not a database/);
  rmSync(join(place.data, "lodge.db.lock"), { force: true });
  equal(digest(place.data), before, "the files");
});

test("a store cut in half does not serve", async (t) => {
  const place = await served(t, "sqlite");
  const path = join(place.data, "lodge.db");
  const whole = readFileSync(path);
  writeFileSync(path, whole.subarray(0, whole.length / 2));
  const check = await t.on(place, ["check"]);
  equal(check.status, 1, "check's exit status");
  match(check.stderr, /^lodge: [^\n]+\n$/, "check's line");
});

// ---- beside a serving process ----

testBoth("check, openapi, version, help and user create work beside a serving process", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place);
  await server.enter();
  const check = await t.on(place, ["check"]);
  equal(check.status, 0, `check says ${check.stderr}`);
  match(check.stdout, /are sound\.\n$/, "check");
  equal((await t.on(place, ["version"])).stdout, `lodge ${(await server.request("GET", "/version")).json.version}\n`, "version");
  match((await t.on(place, ["help"])).stdout, /^Usage: lodge COMMAND/, "help");
  const group = await t.on(place, ["mail"]);
  equal(group.status, 2, group.stdout);
  match(group.stderr, /^Usage: lodge mail COMMAND[^]*mail check/, "a word that several commands begin with");
  equal(JSON.parse((await t.on(place, ["openapi"])).stdout).openapi, "3.1.0", "openapi");
  const env = { LODGE_ADMIN_EMAIL: "second@example.com", LODGE_ADMIN_PASSWORD: "Second-Password-2" };
  const create = await t.on(place, ["user", "create"], { env });
  equal(create.status, 0, `user create says ${create.stderr}`);
  ok(!create.stdout.includes("Second-Password-2"), "user create printed the password");
  const { json } = await server.login({ email: "second@example.com", password: "Second-Password-2" });
  equal(json.user.is_super_admin, true, "is_super_admin");
  const again = await t.on(place, ["user", "create"], { env: { ...env, LODGE_ADMIN_EMAIL: "SECOND@example.com" } });
  refused(again, /already/);
  const bad = await t.on(place, ["user", "create"], { env: { ...env, LODGE_ADMIN_EMAIL: "no address" } });
  refused(bad, /LODGE_ADMIN_EMAIL/, 2);
});

testBoth("a backup made beside a serving process opens as a store and holds the data", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place);
  const tenant = await server.enter();
  const path = `/tenant/${tenant}/agents`;
  const first = await server.request("POST", path, { body: { name: "Kept", slug: "kept", description: "Grüße 🙂 \"q\" \\ \n\t" } });
  equal(first.status, 201, first.text);
  // Others write meanwhile.
  let stop = false;
  let made = 0;
  const writers = [0, 1, 2, 3].map(async (w) => {
    for (let i = 0; !stop; i++, made++) {
      const r = await server.request("POST", path, { body: { name: `W ${w} ${i}`, slug: `w${w}-${i}` } });
      equal(r.status, 201, r.text);
    }
  });
  const copy = join(place.folder, "copy.db");
  const result = await t.on(place, ["backup", copy]);
  stop = true;
  await Promise.all(writers);
  equal(result.status, 0, `backup says ${result.stderr}`);
  equal(statSync(copy).mode & 0o077, 0, "what others may do with the copy");
  const twice = await t.on(place, ["backup", copy]);
  refused(twice, /cannot make .*exists/i);
  const other = await t.place("sqlite");
  mkdirSync(other.data, { mode: 0o700 });
  writeFileSync(join(other.data, "lodge.db"), readFileSync(copy), { mode: 0o600 });
  writeFileSync(join(other.data, "master.key"), readFileSync(join(place.data, "master.key")), { mode: 0o600 });
  equal((await t.on(other, ["check"])).status, 0, "check of the copy");
  const expected = "(select count(*) from audit_logs where action = 'agent.create') + (select count(*) from agents where is_seed = 1)";
  for (const table of ["directory", "agent_roles", "agents"])
    equal(await other.sql(`select count(*) from ${table}`), await other.sql(`select ${expected}`), table);
  const restored = await t.serve(other);
  restored.token = server.token;
  const read = await restored.request("GET", `${path}/${first.json.id}`);
  equal(read.text, first.text, "the agent in the copy");
  const more = await restored.request("POST", path, { body: { name: "New", slug: "new-in-copy" } });
  equal(more.status, 201, more.text);
});

test("a backup into a folder that is not there, or over the store, fails and leaves nothing", async (t) => {
  for (const engine of ENGINES) {
    const place = await served(t, engine);
    refused(await t.on(place, ["backup", join(place.folder, "no/copy.db")]), /cannot make/);
    if (engine === "postgres") continue;
    const before = digest(place.data);
    refused(await t.on(place, ["backup", join(place.data, "lodge.db")]), /cannot make/);
    equal(digest(place.data), before, "the files");
  }
});

testBoth("migrate on an empty store, twice, and then serve", async (t, engine) => {
  const place = await t.place(engine);
  match((await t.on(place, ["migrate"])).stdout, /Made the store .*, at version \d+\./, "the first");
  match((await t.on(place, ["migrate"])).stdout, /already/, "the second");
  const early = await t.on(place, ["check"]);
  equal(early.status, 0, `check says ${early.stderr}`);
  await (await t.serve(place)).enter();
});

testBoth("check, backup and user create on a store that is not there say so", async (t, engine) => {
  for (const args of [["check"], ["backup", "copy.db"], ["user", "create"]]) {
    const place = await t.place(engine);
    const result = await t.on(place, args, { env: { LODGE_ADMIN_EMAIL: ADMIN.email, LODGE_ADMIN_PASSWORD: ADMIN.password } });
    if (args[0] === "check") result.stdout = "";
    refused(result, /(no store yet|not there).*lodge migrate/);
    ok(!existsSync(join(place.data, "lodge.db")), `${args[0]} made a store`);
  }
});
