// mail_send.test.mjs - mail to the outside, with real programs on the other side: what they hear, what becomes of a message by what they
// say, who can prove that it is ours, and that none is lost however often the service dies.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { becomes, equal, match, ok, pause, test, testBoth, until } from "./harness.mjs";
import { certificate, dkimVerify, names, postfix, relay, simpleParser } from "./mail_peers.mjs";

const DOMAIN = "mail.example";
const flagsFor = (port, ...more) => ["--mail-domain", DOMAIN, "--smtp-relay", `smtp://127.0.0.1:${port}`, ...more];

/** An agent with an external mailbox that is no longer young. */
async function desk(server, place) {
  const tenant = await server.enter();
  equal((await server.request("PATCH", `/tenant/${tenant}`, { body: { external_mail_enabled: true } })).status, 200, "the tenant");
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Front desk", slug: "desk" } });
  equal(made.status, 201, made.text);
  equal((await server.request("PATCH", `/agents/${made.json.id}`, { body: { external_mail_enabled: true } })).status, 200, "the agent");
  await place.sql("update mailboxes set created_at = 1");
  return made.json.id;
}

async function write(server, agent, body) {
  const reply = await server.request("POST", `/agents/${agent}/mail`, { body: { subject: "Hello", text: "Text\n.dot\n", ...body } });
  equal(reply.status, 202, reply.text);
  return reply.json;
}

const stateOf = async (server, agent, id) => (await server.request("GET", `/agents/${agent}/mail/${id}`)).json;
const comesTo = (server, agent, id, state) => becomes(async () => (await stateOf(server, agent, id)).state, state, "the state of the message");

/** The service anew, with all jobs due. */
async function anew(t, server, place, flags) {
  equal(await server.stop(), 0, "the end");
  await place.sql("update jobs set run_at = 1, state = 'waiting' where state = 'delayed'");
  const next = await t.serve(place, { flags });
  await next.login();
  return next;
}

const told = /\d external mailboxes, such as \S+@demo\.mail\.example, .*\/admin\/mail\/heal/;

/** Of every domain that mail goes out from, and of no other: its records, what is wrong with them, and what a change of mail_domain leaves. */
async function otherDomains(t, place, flags, records) {
  const run = (...words) => t.on(place, ["mail", ...words, ...flags]);
  const unknown = await run("dkim", `dmeo.${DOMAIN}`);
  equal(unknown.status, 1, unknown.stdout);
  match(unknown.stderr, /no tenant "dmeo"/, "a tenant that is not there");
  equal((await run("intake", `dmeo.${DOMAIN}`)).status, 1, "likewise");
  equal((await run("dkim", "example.com")).status, 2, "a domain of others");
  const own = await run("dkim", `demo.${DOMAIN}`);
  equal(own.status, 0, own.stderr);
  for (const record of [/^lodge\d+\._domainkey\.demo\.mail\.example\. IN TXT/m, /^demo\.mail\.example\. IN TXT "v=spf1/m, /^_dmarc\.demo\.mail\.example\. IN TXT/m,
    /^demo\.mail\.example\. IN MX 10 /m]) match(own.stdout, record, "the records of a tenant's domain");
  // The domain above signs until the record is there.
  const waits = /^; the next key.*\n(\S+)\. IN TXT (.*)$/m.exec(own.stdout);
  ok(waits, own.stdout);
  match((await run("dkim", `demo.${DOMAIN}`, "--rotate")).stderr, /not in the DNS yet/, "too early");
  ok(!(await run("check")).stdout.includes("demo.mail"), "a key that waits");
  records[waits[1].toLowerCase()] = [waits[2].replace(/^"|"$/g, "").replace(/" "/g, "")];
  match((await run("dkim", `demo.${DOMAIN}`, "--rotate")).stderr, /signed with the next key now/, "its turn");
  delete records[waits[1].toLowerCase()];
  const lacking = await run("check", "--mail-from", "lodge@letters.example");
  equal(lacking.status, 1, lacking.stdout);
  match(lacking.stdout, /^WRONG +lodge\d+\._domainkey\.demo\.mail\.example is not in the DNS/m, "the key of a tenant");
  match(lacking.stdout, /^WRONG +letters\.example has no key to sign with; lodge mail dkim letters\.example/m, "the domain of mail_from");
  match(lacking.stdout, /^WRONG +letters\.example has no record of SPF/m, "its SPF");
  match(lacking.stdout, /^WRONG +letters\.example has no record MX/m, "its MX");
  match((await run("dkim", `demo.${DOMAIN}`, "--remove")).stderr, /no key of its own any more: its mail is signed as mail\.example/, "a key that is removed");
  equal((await run("dkim", `demo.${DOMAIN}`, "--remove")).status, 1, "a second time");
  const moved = [...flags, "--mail-domain", "new.example"];
  match((await t.on(place, ["mail", "check", ...moved])).stdout, told, "mail check after a change of mail_domain");
  match((await t.on(place, ["check", ...moved])).stdout, told, "check after one");
  ok(!(await run("check")).stdout.includes("admin/mail/heal"), "without a change");
}

test("a relay with TLS and a password gets what other programs can read and prove", async (t) => {
  const { key, cert } = await certificate(t.folder()), place = await t.place();
  const secret = join(place.folder, "password"), records = {};
  writeFileSync(secret, "s3cret\n", { mode: 0o600 });
  const peer = await relay(t, { options: { secure: true, key: readFileSync(key), cert: readFileSync(cert), authOptional: false, onAuth: ({ username, password }, session, done) =>
    (username === "lodge" && password === "s3cret" ? done(null, { user: username }) : done(new Error("no"))) } });
  const resolver = await names(t, records);
  const flags = ["--mail-domain", DOMAIN, "--smtp-relay", `smtps://127.0.0.1:${peer.port}`, "--smtp-relay-ca", cert, "--smtp-relay-user", "lodge",
    "--smtp-relay-password-file", secret, "--mail-resolver", resolver, "--lmtp-listen", `unix:${join(place.folder, "lmtp")}`];
  const idle = await t.place();
  equal(await (await t.serve(idle, {})).stop(), 0, "the end");
  match((await t.on(idle, ["mail", "check", ...flags])).stdout, /^WRONG +nobody takes mail at lmtp_listen, unix:.*does the service run/m, "a service that does not run");
  const server = await t.serve(place, { flags }), agent = await desk(server, place);

  const bare = /mail from mail\.example and the tenants under it goes out unsigned/;
  match(server.stderr, bare, "the log at the start");
  match((await t.on(place, ["check", ...flags])).stdout, bare, "check");

  // The key, and what is published of it.
  const made = await t.on(place, ["mail", "dkim", DOMAIN, ...flags]);
  equal(made.status, 0, made.stderr);
  const found = /^(lodge\d{14}\._domainkey\.mail\.example)\. IN TXT (.*)$/m.exec(made.stdout);
  ok(found, made.stdout);
  ok(found[2].match(/"[^"]*"/g).every((piece) => piece.length <= 257), "strings of at most 255 bytes");
  ok(!bare.test((await t.on(place, ["check", ...flags])).stdout), "check with a key");
  const before = await t.on(place, ["mail", "check", ...flags]);
  equal(before.status, 1, before.stdout);
  match(before.stdout, /^ok +the relay smtps:.* takes us as lodge$/m, "the relay");
  match(before.stdout, /^WRONG +lodge\d+\._domainkey\.mail\.example is not in the DNS; lodge mail dkim mail\.example/m, "the key");
  match(before.stdout, /^WRONG +mail\.example has no record of SPF/m, "SPF");
  match(before.stdout, /^WRONG .*no record of DMARC/m, "DMARC");
  records[found[1].toLowerCase()] = [found[2].replace(/^"|"$/g, "").replace(/" "/g, "")];
  match(before.stdout, /^WRONG +\*\.mail\.example has no record MX/m, "MX");
  records[DOMAIN] = records[`lodge-mail-check.${DOMAIN}`] = [/ IN TXT "(v=spf1 .*)"$/m.exec(made.stdout)[1]];
  records[`MX ${DOMAIN}`] = records[`MX lodge-mail-check.${DOMAIN}`] = [/ IN MX 10 (\S+)\.$/m.exec(made.stdout)[1]];
  const placed = await t.on(place, ["mail", "check", ...flags]);
  match(placed.stdout, /^WRONG +the record of SPF of \*\.mail\.example has "include:YOUR-RELAY"/m, "a record that was not filled in");
  match(placed.stdout, /^WRONG +the record MX of \*\.mail\.example names "YOUR-MAIL-SERVER"/m, "another");
  records[DOMAIN] = records[`lodge-mail-check.${DOMAIN}`] = ["v=spf1 ip4:192.0.2.1 -all"];
  records[`MX ${DOMAIN}`] = records[`MX lodge-mail-check.${DOMAIN}`] = ["mx.example.org"];
  records[`_dmarc.${DOMAIN}`] = ["v=DMARC1; p=reject"];
  records[`_dmarc.lodge-mail-check.${DOMAIN}`] = ["v=spf1 -all", "v=DMARC1; p=none; adkim=s", "v=DMARC1; p=none"]; // of a wildcard
  const unfit = await t.on(place, ["mail", "check", ...flags]);
  match(unfit.stdout, /^WRONG +_dmarc\.\*\.mail\.example has 2 records of DMARC/m, "two records");
  match(unfit.stdout, /^ok +_dmarc\.mail\.example says what others do with mail from mail\.example/m, "the domain's own");
  match(unfit.stdout, /^WRONG +public_url is http:\/\/127\.0\.0\.1:\d+: the links/m, "links to the loopback");
  flags.push("--public-url", "https://lodge.example");
  records[`_dmarc.lodge-mail-check.${DOMAIN}`].pop();
  match((await t.on(place, ["mail", "check", ...flags])).stdout, /^WRONG +_dmarc\.\*\.mail\.example wants exact domains \(adkim=s\)/m, "exact domains");
  records[`_dmarc.lodge-mail-check.${DOMAIN}`].pop();
  const after = await t.on(place, ["mail", "check", ...flags]);
  match(after.stdout, /ok +nobody's word about a sender is believed/, "whose word is believed");
  const front = ["--mail-authserv-id", "mx.example.org"], lmtp = flags.indexOf("--lmtp-listen"), without = flags.toSpliced(lmtp, 2);
  match((await t.on(place, ["mail", "check", ...without, ...front])).stdout, /WRONG +mail_authserv_id is mx\.example\.org, but nothing comes by LMTP/, "whose word is believed without LMTP");
  match((await t.on(place, ["mail", "check", ...flags, ...front])).stdout, /ok +whatever comes by LMTP with Authentication-Results of mx\.example\.org is believed/, "whose word is believed");
  match((await t.on(place, ["check", ...flags, ...front])).stdout, /# warning: mail by LMTP that has Authentication-Results of mx\.example\.org on top is believed/, "what check says of it");
  equal(after.status, 0, after.stdout);
  await otherDomains(t, place, flags, records);

  const sent = await write(server, agent, { to: ["ann@example.org"], cc: ["bob@example.net"], subject: "Grüße ✉ an alle", text: "Liebe Ann,\n.\nÜber\n",
    html: "<p>Liebe Ann</p>", attachments: [{ filename: "Übersicht für März.csv", content_type: "text/csv", content: Buffer.from("a,b\n").toString("base64") },
      { filename: "all.bin", content_type: "application/octet-stream", content: Buffer.alloc(300_000, 7).toString("base64") }] });
  await comesTo(server, agent, sent.id, "sent");
  equal(peer.taken.length, 2, "messages, one for each recipient");
  ok(peer.taken[0].raw.equals(peer.taken[1].raw), "the same bytes for both");
  ok(peer.taken.every((one) => one.user === "lodge"), "signed in");
  match(peer.taken[0].from, /^b\+c[0-9a-z]{24}\.[0-9a-f]{10}@demo\.mail\.example$/, "the envelope's sender");
  const mail = await simpleParser(peer.taken[0].raw);
  equal(mail.subject, "Grüße ✉ an alle", "subject");
  equal(mail.from.text, '"Front desk" <desk@demo.mail.example>', "from");
  equal(mail.text.trim(), "Liebe Ann,\n.\nÜber", "text");
  equal(mail.html.trim(), "<p>Liebe Ann</p>", "html");
  equal(mail.messageId, sent.message_id_header, "Message-ID");
  equal(mail.attachments.map((one) => `${one.filename} ${one.contentType} ${one.size}`).join(), "Übersicht für März.csv text/csv 4,all.bin application/octet-stream 300000", "attachments");
  ok(mail.attachments[1].content.equals(Buffer.alloc(300_000, 7)), "the bytes of an attachment");

  // mailauth finds the signature good, and bad when a byte differs.
  const resolve = async (name) => records[name.toLowerCase()]?.map((text) => [text]) ?? Promise.reject(Object.assign(new Error("none"), { code: "ENOTFOUND" }));
  const judged = async (raw) => (await dkimVerify(raw, { resolver: resolve })).results.map((one) => `${one.signingDomain} ${one.status.result} ${one.status.aligned ?? ""}`.trim());
  match((await judged(peer.taken[0].raw)).join(), /^mail\.example pass/, "the verdict");
  match((await judged(Buffer.from(peer.taken[0].raw.toString("latin1").replace("Liebe", "Lieber"), "latin1"))).join(), /^mail\.example (fail|neutral)/, "of one that was changed");

  // The next key is used when its record is there.
  const turn = () => t.on(place, ["mail", "dkim", DOMAIN, "--rotate", ...flags]);
  const next = /^; the next key.*\n(\S+)\. IN TXT (.*)$/m.exec((await turn()).stdout);
  ok(next && next[1] !== found[1], "the next key");
  const early = await turn();
  equal(early.status, 1, early.stdout);
  match(early.stderr, /not in the DNS yet/, "too early");
  records[next[1].toLowerCase()] = [next[2].replace(/^"|"$/g, "").replace(/" "/g, "")];
  equal((await turn()).status, 0, "its turn");
  const second = await write(server, agent, { to: ["ann@example.org"] });
  await comesTo(server, agent, second.id, "sent");
  ok(peer.taken.at(-1).raw.includes(`s=${next[1].split(".")[0]};`), "signed with the next key");

  // A relay that nobody vouches for is not spoken to.
  const stranger = await t.on(place, ["mail", "check", ...flags.filter((flag) => flag !== "--smtp-relay-ca" && flag !== cert)]);
  match(stranger.stdout, /^WRONG +the relay smtps:.*certificate/m, "a stranger");

  ok(!server.stderr.includes("/admin/mail/heal"), "a warning without reason");
  equal(await server.stop(), 0, "the end");
  const moved = await t.serve(place, { flags: [...flags, "--mail-domain", "new.example"] });
  match(moved.stderr, told, "the log after a change of mail_domain");
});

test("a message that is refused, put off or cut off is what it says, and the same when it comes again", async (t) => {
  const place = await t.place(), faults = { "gone@example.org": { code: 550, text: "5.1.1 No such user" }, "grey@example.org": { code: 451, text: "4.7.1 Greylisted" }, "hang@example.org": "nothing" };
  let cuts = 1;
  const peer = await relay(t, { says: (address) => faults[address] });
  peer.end = (to) => {
    if (to !== "cut@example.org" || cuts-- <= 0) return undefined;
    peer.cut(); // it has all of it, and its answer is lost
    return new Promise(() => {});
  };
  const flags = flagsFor(peer.port);
  let server = await t.serve(place, { flags });
  const agent = await desk(server, place);
  const gone = await write(server, agent, { to: ["gone@example.org"] }), grey = await write(server, agent, { to: ["grey@example.org", "ann@example.org"] });
  const cut = await write(server, agent, { to: ["cut@example.org"] });
  await comesTo(server, agent, gone.id, "bounced");
  match((await stateOf(server, agent, gone.id)).error, /^gone@example\.org: 550 5\.1\.1 No such user$/, "why");
  await until(20_000, "all to be tried", async () => (await place.sql("select count(*) from mail_sends where state = 'queued' and attempts = 1")) === "2");
  match((await stateOf(server, agent, grey.id)).error, /^grey@example\.org: 451 4\.7\.1/, "why it waits");
  equal((await server.request("GET", `/tenant/${server.tenant}/mail/suppressions`)).json.items.map((one) => one.address).join(), "gone@example.org", "suppressions");
  // A relay that does not answer does not hold up the end of the service.
  const hang = await write(server, agent, { to: ["hang@example.org"] });
  await until(20_000, "the relay to be asked", () => peer.asked.includes("hang@example.org"));
  faults["grey@example.org"] = faults["hang@example.org"] = undefined;
  server = await anew(t, server, place, flags);
  await comesTo(server, agent, grey.id, "sent");
  await comesTo(server, agent, cut.id, "sent");
  await comesTo(server, agent, hang.id, "sent");
  const twice = peer.of("cut@example.org");
  equal(twice.length, 2, "times that it came");
  ok(twice[0].raw.equals(twice[1].raw), "the same bytes, with the same Message-ID");
  ok(twice[0].raw.includes(cut.message_id_header), "its Message-ID");
  equal(peer.of("ann@example.org").length, 1, "times that the other recipient had it");
});

test("Postfix takes it, and hands it on as it was", async (t) => {
  const place = await t.place(), last = await relay(t), port = await postfix(t, last.port);
  const server = await t.serve(place, { flags: flagsFor(port) }), agent = await desk(server, place);
  const sent = await write(server, agent, { to: ["ann@example.org"], subject: "Ünder way", text: `${"long ".repeat(400)}\n.\n\nend\n` });
  await comesTo(server, agent, sent.id, "sent");
  await until(20_000, "Postfix to hand it on", () => last.taken.length === 1);
  const mail = await simpleParser(last.taken[0].raw);
  equal(mail.messageId, sent.message_id_header, "Message-ID");
  equal(mail.text, `${"long ".repeat(400)}\n.\n\nend\n`, "text");
  match(last.taken[0].from, /^b\+c[0-9a-z]{24}\./, "the envelope's sender");
});

testBoth("none is lost however often the service dies while fifty wait", async (t, engine) => {
  const place = await t.place(engine), peer = await relay(t, { end: () => pause(60) });
  const flags = flagsFor(peer.port, "--job-lease", "1s", "--no-access-log");
  let server = await t.serve(place, { flags });
  const agent = await desk(server, place), ids = new Map();
  for (let i = 0; i < 50; i++) ids.set(`to${i}@example.org`, (await write(server, agent, { to: [`to${i}@example.org`] })).message_id_header);
  const waiting = async () => Number(await place.sql("select count(*) from mail_sends where state = 'queued'"));
  let kills = 0;
  for (; kills < 6 && (await waiting()) > 0; kills++) {
    const had = peer.taken.length;
    await until(15_000, "another to come", () => peer.taken.length > had + 2 || peer.taken.length >= 50);
    await server.kill();
    server = await t.serve(place, { flags });
  }
  ok(kills >= 3, `only ${kills} kills`);
  await until(60_000, "all to be sent", async () => (await waiting()) === 0);
  for (const [to, id] of ids) {
    const had = peer.of(to);
    ok(had.length >= 1, `${to} has none`);
    ok(had.every((one) => one.raw.includes(`Message-ID: ${id}\r\n`) && one.raw.equals(had[0].raw)), `${to} has others`);
  }
  equal(await place.sql("select count(*) from mail_messages where state = 'sent'"), "50", "messages that are sent");
  equal(await place.sql("select count(*) from jobs where kind = 'mail.send'"), "0", "jobs that are left");
});
