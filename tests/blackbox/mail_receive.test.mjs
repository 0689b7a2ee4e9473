// mail_receive.test.mjs - mail servers and programs of others hand mail over, and what was acknowledged is there once,
// however the service dies.  LODGE_KILLS is the number of deaths.
import { createHmac } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import { join } from "node:path";
import { becomes, command, equal, here, match, ok, pause, test, testBoth, until } from "./harness.mjs";
import { DOMAIN, Lmtp, furnish, mailFlags } from "./lmtp.mjs";
import { relay } from "./mail_peers.mjs";

const require = createRequire(join(here, "mail/package.json"));
const DESK = `desk@demo.${DOMAIN}`;
const arrivals = (place, where = "1 = 1") => place.sql(`select count(*) from mail_arrivals where ${where}`);

async function house(t, engine = "sqlite", flags = [], slugs = ["desk"]) {
  const place = await t.place(engine);
  const server = await t.serve(place, { flags: [...mailFlags(place), ...flags] });
  return { place, server, socket: join(place.folder, "lmtp"), ...(await furnish(server, slugs)) };
}

/** The bytes of the one object under a folder of the bucket. */
function onlyBytes(folder) {
  const found = readdirSync(folder, { recursive: true }).map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && !/(^|\/)\.?lodge|mark|serving\.lock$/.test(path.slice(folder.length)));
  equal(found.length, 1, `files in the bucket (${found})`);
  return readFileSync(found[0], "latin1");
}

test("swaks hands mail over by LMTP", async (t) => {
  const { place, server, socket, tenant } = await house(t);
  const swaks = (to, ...more) => command("swaks", ["--protocol", "LMTP", "--socket", socket, "--from", "jo@example.net", "--to", to, "--body", "Hello", ...more]);
  equal(statSync(socket).mode & 0o777, 0o660, "the mode of the socket");
  const sent = await swaks(`${DESK},nobody@demo.${DOMAIN}`);
  match(sent.stdout, /<\*\* 550 5\.1\.1 /, "the answer for nobody");
  match(sent.stdout, /<- {2}250 2\.0\.0 Taken as c/, "the answer for the agent");
  equal(await arrivals(place, `recipient = '${DESK}' and sender = 'jo@example.net'`), "1", "arrivals");
  await place.sql("update mailboxes set paused = 1");
  match((await swaks(DESK)).stdout, /550 5\.2\.1 /, "the answer of one that is paused");
  await place.sql("update mailboxes set paused = 0");
  await place.sql(`update bucket_usage set size_bytes = 1000000000000000 where tenant_id = '${tenant}'`);
  match((await swaks(DESK)).stdout, /452 4\.2\.2 /, "the answer without room");
  const figures = (await server.request("GET", "/metrics", { token: null })).text;
  match(figures, /\nlodge_mail_taken_total 1\n/, "what was taken");
  match(figures, /\nlodge_mail_refused_total 2\n/, "what was refused");
  match(figures, /\nlodge_mail_later_total 1\n/, "what is to come later");
  ok(!server.stderr.includes("jo@example.net"), "the log names a sender");
});

test("lodge mail deliver hands over what a pipe brings, and says by its status what came of it", async (t) => {
  const { place, server, socket } = await house(t);
  const deliver = (input, ...args) => command(process.env.LODGE_BIN ?? join(here, "../../build-test/lodge"),
    ["mail", "deliver", "--mail-domain", DOMAIN, "--lmtp-listen", `unix:${socket}`, ...args], { cwd: place.folder, input, env: { ...process.env, ASAN_OPTIONS: "detect_leaks=0" } });
  const text = "Message-ID: <1@x>\n\n.dots\n..\nends without a line end";
  const good = await deliver(text, "--from", "jo@example.net", DESK);
  equal(good.status, 0, good.stderr);
  equal(onlyBytes(join(place.data, "bucket")), `${text.replaceAll("\n", "\r\n")}\r\n`, "what is kept");
  equal(await arrivals(place, "sender = 'jo@example.net'"), "1", "arrivals");
  equal((await deliver(text, "--from", "jo@example.net", DESK)).status, 0, "again");
  const wrong = async (status, pattern, ...args) => {
    const end = await deliver(...args);
    equal(end.status, status, end.stderr);
    match(end.stderr, pattern, "what it says");
    equal(end.stderr.trimEnd().split("\n").length, 1, "lines");
  };
  await wrong(67, /550 5\.1\.1/, text, "--from", "jo@example.net", `nobody@demo.${DOMAIN}`, DESK);
  await wrong(67, /no address/, text, "nobody");
  await wrong(65, /550 5\.6\.11/, "a\rb\n", DESK);
  await wrong(67, /^lodge: a\?b\?\?@x.y: this is no address/, text, "a\nb\r\x1b@x.y");
  await wrong(65, /no address/, text, "--from", "jo", DESK);
  // What an operator mends is tried again: a mail server bounces for every status but 75.
  await wrong(75, /nobody is named/, text, "--from", "jo@example.net");
  await wrong(75, /max_body/, text, DESK, "--max-body", "many");
  await wrong(75, /lmtp_listen is not set/, text, DESK, "--lmtp-listen", "");
  await wrong(75, /not a flag/, text, DESK, "--form", "jo@example.net");
  await wrong(75, /the value of --from is missing/, text, DESK, "--from");
  equal((await deliver(text.replace("1@x", "dash@x"), "--from", "-jo@example.net", "--", DESK)).status, 0, "a sender that begins with a hyphen");
  equal(await arrivals(place, "sender = '-jo@example.net'"), "1", "its arrival");
  equal((await deliver(text, "--from", "MAILER-DAEMON", DESK)).status, 0, "the null path, as Postfix writes it");
  // Larger than the limit, and so large that the service would hang up.
  await wrong(65, /552 5\.3\.4/, `\n${"x".repeat(99)}\n`.repeat(300_000), DESK);
  await wrong(65, /552 5\.3\.4/, `\n${"x".repeat(99)}\n`.repeat(600_000), DESK);
  // More than one message may have; those who are not known do not keep the others from it.
  const many = Array.from({ length: 230 }, (_, i) => (i % 50 === 49 ? `nobody${i}@demo.${DOMAIN}` : `desk+${i}@demo.${DOMAIN}`));
  await wrong(67, /nobody49@.*550 5\.1\.1/, text.replace("1@x", "many@x"), "--from", "jo@example.net", ...many);
  // The null path makes another of the same bytes.
  equal(await place.sql("select count(distinct known_by) from mail_arrivals"), "4", "messages that were taken");
  await place.sql("update bucket_usage set size_bytes = 1000000000000000");
  await wrong(75, /452 4\.2\.2/, text, DESK, `nobody@demo.${DOMAIN}`);
  equal(await server.stop(), 0, "the end");
  await wrong(75, /nobody takes mail at lmtp_listen, unix:.*: No such file/, text, DESK);
  equal(await arrivals(place), "4", "arrivals");
});

// ---- Postfix ----

const freePort = () => new Promise((done) => {
  const s = net.createServer().listen(0, "127.0.0.1", () => {
    const { port } = s.address();
    s.close(() => done(port));
  });
});

/** The lines that docs/mail.md gives, with another place to hand over to. */
const printed = (socket) => /### Postfix in front[^]*?```\n([^]*?)```/.exec(readFileSync(join(here, "../../docs/mail.md"), "utf8"))[1]
  .replace("lmtp:inet:127.0.0.1:2424", `lmtp:unix:${socket}`);

/** And those for what goes out by the same Postfix. */
const printedRelay = (port) => /\*\*The same Postfix as the relay[^]*?```\n([^]*?)```/.exec(readFileSync(join(here, "../../docs/mail.md"), "utf8"))[1]
  .replace("127.0.0.1:2525", `127.0.0.1:${port}`);

async function postfix(t, socket, { more = "", outside = 9 } = {}) {
  const root = t.folder();
  const port = await freePort(), relayPort = await freePort();
  chmodSync(root, 0o755);
  for (const name of ["conf", "queue", "data"]) mkdirSync(join(root, name), { mode: 0o755 });
  await command("chown", ["postfix", join(root, "data")]);
  writeFileSync(join(root, "conf/main.cf"), `compatibility_level = 3.6
queue_directory = ${root}/queue
data_directory = ${root}/data
maillog_file = ${root}/log
maillog_file_prefixes = ${root}
myhostname = front.example.org
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
alias_maps =
mynetworks = 192.0.2.1
relayhost = [127.0.0.1]:${outside}
smtp_host_lookup = native
address_verify_poll_count = 30
address_verify_poll_delay = 1s
minimal_backoff_time = 1s
maximal_backoff_time = 2s
${printed(socket)}${more}`);
  const services = ["pickup unix n - n 60 1 pickup", "cleanup unix n - n - 0 cleanup", "qmgr unix n - n 1 1 qmgr", "rewrite unix - - n - - trivial-rewrite",
    "bounce unix - - n - 0 bounce", "defer unix - - n - 0 bounce", "trace unix - - n - 0 bounce", "verify unix - - n - 1 verify", "flush unix n - n 1000? 0 flush",
    "smtp unix - - n - - smtp", "showq unix n - n - - showq", "error unix - - n - - error", "retry unix - - n - - error", "lmtp unix - - n - - lmtp",
    "anvil unix - - n - 1 anvil", "proxymap unix - - n - - proxymap", "tlsmgr unix - - n 1000? 1 tlsmgr", "postlog unix-dgram n - n - 1 postlogd"];
  writeFileSync(join(root, "conf/master.cf"), `127.0.0.1:${port} inet n - n - - smtpd\n${printedRelay(relayPort)}${services.join("\n")}\n`);
  const run = async (...args) => {
    const end = await command("postfix", ["-c", join(root, "conf"), ...args]);
    equal(end.status, 0, `postfix ${args}: ${end.stderr}${end.stdout}`);
  };
  await run("start");
  t.onEnd(() => run("stop").catch(() => {}));
  return {
    send: (to, ...more) => command("swaks", ["--server", `127.0.0.1:${port}`, "--ehlo", "client.example.net", "--from", "jo@example.net", "--to", to, "--body", "Hello", ...more], { ms: 60_000 }),
    flush: () => command("postqueue", ["-c", join(root, "conf"), "-f"]),
    log: () => readFileSync(join(root, "log"), "utf8"),
    port,
    relayPort,
  };
}

test("a Postfix in front, as the document has it, hands mail over, keeps what cannot be taken, and refuses what nobody wants", async (t) => {
  const { place, server, socket, tenant } = await house(t);
  for (let at = socket; at.length > 5; at = join(at, "..")) if (at !== socket) chmodSync(at, 0o755); // it runs as a user of its own
  chmodSync(socket, 0o666);
  const front = await postfix(t, socket);
  const first = await front.send(DESK, "--header", "Message-ID: <1@x>");
  equal(first.status, 0, `${first.stdout}\n${front.log()}`);
  await becomes(() => arrivals(place), "1", "arrivals");
  match((await front.send(`nobody@demo.${DOMAIN}`)).stdout, /<\*\* 550 /, "the answer for nobody");
  match((await front.send("jo@example.com")).stdout, /<\*\* 554 .*Relay access denied/, "the answer for elsewhere");
  await place.sql(`update bucket_usage set size_bytes = 1000000000000000 where tenant_id = '${tenant}'`);
  equal((await front.send(DESK, "--header", "Message-ID: <2@x>")).status, 0, "it is kept in front");
  await until(30_000, "452", () => /status=deferred .*452 4\.2\.2/.test(front.log()));
  await place.sql("update bucket_usage set size_bytes = 0");
  await front.flush();
  await becomes(() => arrivals(place), "2", "arrivals once there is room");
  equal(await server.stop(), 0, "the end");
  equal((await front.send(DESK, "--header", "Message-ID: <3@x>")).status, 0, "it is kept in front");
  await until(30_000, "nobody there", () => /status=deferred .*(No such file|refused)/.test(front.log()));
  await t.serve(place, { flags: mailFlags(place) });
  chmodSync(socket, 0o666);
  await becomes(async () => {
    await front.flush();
    return arrivals(place);
  }, "3", "arrivals once it is back");
  // What a stranger puts behind an end that is none stays text of the one message.
  const smuggler = net.connect(front.port, "127.0.0.1");
  let said = "";
  smuggler.on("data", (text) => (said += text)).on("error", () => {});
  const step = async (text, pattern) => {
    smuggler.write(text);
    await until(20_000, `${pattern}`, () => pattern.test(said)).catch((err) => {
      throw new Error(`${err.message}: ${said}\n${front.log()}`);
    });
  };
  await step("", /^220 /);
  await step("EHLO x\r\n", /250 [A-Z]/);
  await step("MAIL FROM:<a@example.net>\r\n", /2\.1\.0/);
  await step(`RCPT TO:<${DESK}>\r\n`, /2\.1\.5/);
  await step("DATA\r\n", /354 /);
  await step(`x\r\n\n.\nMAIL FROM:<b@example.net>\r\nRCPT TO:<${DESK}>\r\nDATA\r\ny\r\n.\r\n`, /queued|\n5\d\d /);
  await step("NOOP\r\n", /Ok[^]*\n250 2\.0\.0 Ok\r\n$/);
  smuggler.destroy();
  equal(said.match(/queued/g)?.length, 1, `messages (${said})`);
  await becomes(() => arrivals(place), "4", "arrivals");
  equal(await arrivals(place, "sender = 'b@example.net'"), "0", "what was smuggled");
}, { ms: 180_000 });

/** A milter that writes its word above a message: its port, the word, and the names of all headers that it has seen. */
async function milter(t) {
  const it = { word: "", seen: [] };
  const packet = (kind, ...parts) => {
    const body = Buffer.concat([Buffer.from(kind), ...parts]);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(body.length);
    return Buffer.concat([head, body]);
  };
  const number = (n) => Buffer.from([0, 0, 0, n]);
  const reply = (kind, data) => {
    if (kind === "L") it.seen.push(data.toString("latin1").split("\0")[0].toLowerCase());
    if (kind === "O") return packet("O", number(6), number(1), number(0));
    const word = kind === "E" && it.word ? packet("i", number(0), Buffer.from(`Authentication-Results\0${it.word}\0`)) : Buffer.alloc(0);
    return "DAQK".includes(kind) ? Buffer.alloc(0) : Buffer.concat([word, packet("c")]);
  };
  const server = net.createServer((peer) => {
    let held = Buffer.alloc(0);
    peer.on("error", () => {}).on("data", (bytes) => {
      held = Buffer.concat([held, bytes]);
      while (held.length >= 4 && held.length >= 4 + held.readUInt32BE(0)) {
        const end = 4 + held.readUInt32BE(0);
        peer.write(reply(String.fromCharCode(held[4]), held.subarray(5, end)));
        held = held.subarray(end);
      }
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.onEnd(() => server.close());
  return Object.assign(it, { port: server.address().port });
}

test("a Postfix in front, as the document has it, lets no stranger speak with its name", async (t) => {
  const judge = await milter(t);
  const { place, socket } = await house(t, "sqlite", ["--mail-authserv-id", "mx.example.org"]);
  for (let at = socket; at.length > 5; at = join(at, "..")) if (at !== socket) chmodSync(at, 0o755);
  chmodSync(socket, 0o666);
  const lines = /smtpd_milters = [^`]*/.exec(readFileSync(join(here, "../../docs/mail.md"), "utf8"))[0].replace("8893", String(judge.port));
  const front = await postfix(t, socket, { more: lines });
  const verdicts = () => place.sql("select verdict from mail_messages where direction = 'in' order by id").then((text) => text.trim().split(/\s+/).join(" "));
  const word = "mx.example.org; dmarc=pass header.from=example.net";
  const wanted = [];
  for (const [name, said, verdict] of [["Authentication-Results: ", "", "none"], ["AUTHENTICATION-results : ", "", "none"], ["authentication-results:\r\n\t", "", "none"], ["X-Other: ", word, "pass"],
    ["Authentication-Results: ", word.replace("pass", "fail"), "fail"]]) {
    judge.word = said;
    const sent = await front.send(DESK, "--add-header", `${name}${word}`);
    equal(sent.status, 0, `${sent.stdout}\n${front.log()}`);
    wanted.push(verdict);
    await becomes(verdicts, wanted.join(" "), `verdicts after ${JSON.stringify(name)}`);
  }
  ok(judge.seen.includes("x-other") && !judge.seen.some((name) => /^authentication-results/.test(name)), `what the milter has seen (${judge.seen})`);
}, { ms: 120_000 });

test("the same Postfix is the relay, as the document has it, and asks nobody elsewhere first", async (t) => {
  const outside = await relay(t);
  const { socket } = await house(t);
  const front = await postfix(t, socket, { outside: outside.port });
  const through = (to) => command("swaks", ["--server", `127.0.0.1:${front.relayPort}`, "--from", DESK, "--to", to, "--body", "Hello"], { ms: 60_000 });
  const sent = await through("ann@example.org");
  equal(sent.status, 0, `${sent.stdout}\n${front.log()}`);
  await until(20_000, "the message", () => outside.of("ann@example.org").length === 1);
  equal(outside.asked.join(), "ann@example.org", "who was asked for outside");
  match((await front.send("ann@example.org")).stdout, /<\*\* 554 .*Relay access denied/, "the port of strangers");
}, { ms: 120_000 });

/** While a process is made for the parser it has a copy of every connection, also of those that are closed meanwhile. */
test("connections that end while mail is read are not heard of again", async (t) => {
  const { place, server, socket } = await house(t);
  const peer = await new Lmtp(socket).greet();
  let done = false;
  const calls = Array.from({ length: 4 }, async () => {
    while (!done) equal((await fetch(`${server.origin}/healthz`, { headers: { connection: "close" } })).status, 200, "the answer");
  });
  for (let i = 0; i < 40; i++) match((await peer.letter([DESK], `busy-${i}`))[0], /^250 2\.0\.0 /, "its answer");
  await becomes(() => place.sql("select count(*) from mail_messages where direction = 'in'"), "40", "messages");
  done = true;
  await Promise.all(calls);
  peer.end();
  equal(await server.stop(), 0, "the end");
});

test("nodemailer sends by SMTP, and one answer is for all", async (t) => {
  const nodemailer = require("nodemailer");
  const { place, server } = await house(t, "sqlite", ["--smtp-listen", "127.0.0.1:0"], ["desk", "back"]);
  const [, port] = await server.says(/taking mail by=smtp address=127\.0\.0\.1:(\d+)/);
  const transport = nodemailer.createTransport({ host: "127.0.0.1", port: Number(port), ignoreTLS: true });
  const letter = { from: "jo@example.net", to: [DESK, `back@demo.${DOMAIN}`], subject: "Grüße", text: ".\n..dots\n", attachments: [{ filename: "a.bin", content: Buffer.alloc(300_000, 7) }], messageId: "<1@example.net>" };
  const info = await transport.sendMail(letter);
  match(info.response, /^250 2\.0\.0 Taken as /, "the answer");
  equal(await arrivals(place), "2", "arrivals");
  const refused = await transport.sendMail({ ...letter, to: `nobody@demo.${DOMAIN}` }).then(() => null, (err) => err);
  equal(refused?.responseCode, 550, "the answer for nobody");
  transport.close();
});

test("fifty connections, and the next is told to come later", async (t) => {
  const { place, socket, server } = await house(t);
  const all = Array.from({ length: 55 }, () => new Lmtp(socket));
  const greetings = await Promise.all(all.map((one) => one.hear()));
  equal(greetings.filter((g) => g.startsWith("220 ")).length, 50, "those who are greeted");
  equal(greetings.filter((g) => g.startsWith("421 4.3.2 ")).length, 5, "those who are not");
  const inside = all.filter((_, i) => greetings[i].startsWith("220 "));
  await Promise.all(inside.map(async (one, i) => {
    await one.say("LHLO x\r\n", "250");
    match((await one.letter([DESK], `many-${i}`))[0], /^250 2\.0\.0 /, "its answer");
  }));
  equal(await arrivals(place), "50", "arrivals");
  await inside[0].say("QUIT\r\n", "221");
  await until(5000, "room for another", async () => {
    const next = new Lmtp(socket);
    const greeting = await next.hear().catch(() => "");
    next.end();
    return greeting.startsWith("220 ");
  });
  // One has a message under way: it is taken, although the service has been told to stop.
  const late = inside[1];
  await late.say("MAIL FROM:<>\r\n", "250");
  await late.say(`RCPT TO:<${DESK}>\r\n`, "250");
  await late.say("DATA\r\n", "354");
  const stopped = server.stop();
  match(await inside[2].hear(), /^421 4\.3\.0 /, "what others are told");
  match(await late.say("\r\nlate\r\n.\r\n"), /^250 2\.0\.0 /, "its answer");
  equal(await stopped, 0, "the end");
  equal(await arrivals(place), "51", "arrivals");
});

// ---- deaths ----

const kills = Number(process.env.LODGE_KILLS ?? 5);
const CLIENTS = 4;
let serial = 0;

/** Sends letters until the service is gone, two over each connection, to `sent`: {id, taken}. */
async function load(server, socket, sent) {
  const client = async () => {
    while (!server.ended) {
      const peer = new Lmtp(socket);
      try {
        await peer.greet();
        for (const recipients of [[DESK], [`desk+x@demo.${DOMAIN}`, DESK]]) {
          const one = { id: `k${++serial}`, taken: false };
          sent.push(one);
          one.taken = (await peer.letter(recipients, one.id, `letter ${one.id}`))[0].startsWith("250");
        }
      } catch {
        await pause(2); // it died, or is not there yet
      }
      peer.end();
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

/** Everything again, by one who does not know what was taken; then each is there exactly once. */
async function settle(place, socket, sent) {
  const before = Number(await arrivals(place));
  const acked = sent.filter((one) => one.taken).length;
  ok(before >= acked && before <= sent.length, `${acked} were acknowledged, ${before} are there, ${sent.length} were sent`);
  const wait = [...sent];
  await Promise.all(Array.from({ length: CLIENTS }, async () => {
    const peer = await new Lmtp(socket).greet();
    for (let one = wait.pop(); one; one = wait.pop()) {
      const [reply] = await peer.letter([DESK], one.id, `letter ${one.id}`);
      match(reply, one.taken ? /^250 2\.0\.0 Taken before/ : /^250 2\.0\.0 /, `the answer to ${one.id}`);
    }
    peer.end();
  }));
  equal(await place.sql(`select count(*) || ' ' || count(distinct known_by) from mail_arrivals`), `${sent.length} ${sent.length}`, "arrivals");
  const left = (sql) => becomes(() => place.sql(sql), "0", "those that are not a message with its bytes, or a job that will read them");
  await left(`select count(*) from mail_arrivals a where not exists (select 1 from mail_messages m join bucket_objects o on o.tenant_id = m.tenant_id and o.key = m.object_key
    where m.tenant_id = a.tenant_id and m.id = a.id)`);
  equal(await place.sql("select count(*) from mail_messages where direction = 'in'"), `${sent.length}`, "messages");
}

testBoth("letters that were acknowledged are there once after deaths", async (t, engine) => {
  const { place, server, socket } = await house(t, engine);
  await server.stop();
  const sent = [];
  for (let i = 0; i < kills; i++) {
    const victim = t.launch(place, { flags: mailFlags(place), env: i % 2 ? { LODGE_FAULT: `commit:${4 + i}:${i % 4 === 1 ? "after" : "before"}` } : {} });
    await victim.up().catch(() => {});
    if (!(i % 2)) setTimeout(() => victim.signal("SIGKILL"), 60 + ((i * 37) % 140));
    await load(victim, socket, sent);
    await victim.over;
  }
  await t.serve(place, { flags: mailFlags(place) });
  ok(sent.some((one) => one.taken), "nothing was ever taken");
  await settle(place, socket, sent);
  const check = await t.on(place, ["check", "--objects"]);
  equal(check.status, 0, `check says ${check.stderr}`);
}, { ms: 60_000 + kills * 5000 });

test("two processes over one PostgreSQL take the same letters once", async (t) => {
  const { place, server, socket } = await house(t, "postgres");
  await server.stop();
  const second = { ...place, data: `${place.data}2` };
  mkdirSync(second.data, { mode: 0o700 });
  writeFileSync(join(second.data, "master.key"), readFileSync(join(place.data, "master.key")), { mode: 0o600 });
  const sockets = [socket, join(place.folder, "lmtp2")];
  const sent = [];
  for (let i = 0; i < Math.ceil(kills / 2); i++) {
    const both = [t.launch(place, { flags: mailFlags(place) }), t.launch(second, { flags: mailFlags(place, "lmtp2") })];
    await Promise.all(both.map((one) => one.up()));
    setTimeout(() => both.forEach((one) => one.signal("SIGKILL")), 100 + ((i * 53) % 100));
    await Promise.all(both.map((one, n) => load(one, sockets[n], sent)));
    await Promise.all(both.map((one) => one.over));
  }
  await t.serve(place, { flags: mailFlags(place) });
  await t.serve(second, { flags: mailFlags(place, "lmtp2") });
  // Each letter comes to both at once, and is taken by one of them.
  const twins = await Promise.all(sockets.map((at) => new Lmtp(at).greet()));
  for (let i = 0; i < 20; i++) {
    const one = { id: `twin-${i}`, taken: true };
    const replies = (await Promise.all(twins.map((peer) => peer.letter([DESK], one.id, `letter ${one.id}`)))).flat();
    equal(replies.filter((reply) => reply.includes("Taken as")).length, 1, `who took ${one.id} (${replies})`);
    sent.push(one);
  }
  twins.forEach((one) => one.end());
  await settle(place, sockets[1], sent);
}, { ms: 60_000 + kills * 5000 });

test("lodge mail intake makes a secret with which mail comes by HTTP", async (t) => {
  const { place, server } = await house(t);
  const intake = (...args) => t.on(place, ["mail", "intake", ...args, "--mail-domain", DOMAIN]);
  const made = await intake(`demo.${DOMAIN}`);
  equal(made.status, 0, made.stderr);
  match(made.stdout, /^whsec_[A-Za-z0-9+/=]{44}\n$/, "the secret");
  const send = (secret) => {
    const body = "Message-ID: <1@x>\r\n\r\nHello\r\n";
    const time = String(Math.floor(Date.now() / 1000));
    const code = createHmac("sha256", Buffer.from(secret.trim().slice(6), "base64")).update(`m1.${time}.${body}`).digest("base64");
    return server.request("POST", `/hooks/mail/demo.${DOMAIN}`, { token: null, body, headers: { "Content-Type": "message/rfc822", "webhook-id": "m1",
      "webhook-timestamp": time, "webhook-signature": `v1,${code}`, "X-Lodge-Recipient": DESK } });
  };
  equal((await send(made.stdout)).status, 202, "the first");
  equal((await send(made.stdout)).status, 200, "the same again");
  match((await intake(`demo.${DOMAIN}`)).stderr, /--rotate/, "a second one");
  const rotated = await intake(`demo.${DOMAIN}`, "--rotate");
  equal(rotated.status, 0, rotated.stderr);
  equal((await send(made.stdout)).status, 401, "the former secret");
  equal((await send(rotated.stdout)).status, 200, "the new one");
  match((await intake("example.com")).stderr, /neither mail_domain nor a name below it/, "another's domain");
  equal(await arrivals(place), "1", "arrivals");
});
