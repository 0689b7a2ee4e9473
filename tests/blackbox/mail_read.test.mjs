// mail_read.test.mjs - messages as we read them beside other programs: nodemailer writes, mailparser reads and mailauth judges
// besides us; and corpora of difficult messages, over which nothing of ours may break.
import dgram from "node:dgram";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { generateKeyPairSync } from "node:crypto";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bin, command, equal, here, ok, test } from "./harness.mjs";

const home = join(here, "mail/node_modules");
const installed = existsSync(join(home, "nodemailer"));
if (!installed) console.log("note: the packages of tests/blackbox/mail are not installed: other people's mail programs are not tried");
const trial = (name, run) => installed && test(name, run);
const load = createRequire(join(here, "mail/package.json"));

/** What we read in each of these messages. */
async function read(t, messages, resolver) {
  const folder = mkdtempSync(join(tmpdir(), "lodge-mail-"));
  t.onEnd(() => rmSync(folder, { recursive: true, force: true }));
  const paths = messages.map((bytes, i) => (writeFileSync(join(folder, `${i}`), bytes), join(folder, `${i}`)));
  const env = { ...process.env, ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ""}:detect_leaks=0` };
  const said = await command(join(dirname(bin), "tests/mail-say"), resolver ? [resolver] : [], { input: paths.map((p) => `${p}\n`).join(""), env });
  equal(said.status, 0, `mail-say says ${said.stderr.slice(0, 2000)}`);
  const lines = said.stdout.trim().split("\n").map((line) => JSON.parse(line));
  equal(lines.length, messages.length, "a line for each message");
  return lines;
}

const compose = async (fields) => {
  const transport = load("nodemailer").createTransport({ streamTransport: true, buffer: true, newline: "windows" });
  return (await transport.sendMail(fields)).message;
};

const words = ["invoice", "Grüße", "你好", "naïve — “quoted”", "a=b; c", "x".repeat(300), "😀", "tab\there", "50 % off", "Ω≈ç√"];
const pick = (i, n) => words[(i * 7 + n * 3) % words.length];

trial("what nodemailer writes mailparser and we read alike", async (t) => {
  const messages = [];
  for (let i = 0; i < 200; i++)
    messages.push(await compose({
      from: { name: `${pick(i, 1).slice(0, 80)} ${i}`.replaceAll("\t", " "), address: `a${i}@example.org` },
      to: [`b${i}@example.org`, { name: pick(i, 2).replaceAll("\t", " "), address: `c+${i}@example.net` }],
      subject: `${pick(i, 3)} ${pick(i, 4)}`.replaceAll("\t", " "),
      text: i % 5 === 4 ? undefined : `${pick(i, 5)}\n${pick(i, 6)}\n${i % 3 ? "-- not a signature" : "end"}\n`,
      html: i % 2 ? `<p>${pick(i, 7)}</p>` : i % 5 === 4 ? "<p>only</p>" : undefined,
      textEncoding: i % 2 ? "base64" : "quoted-printable",
      attachments: Array.from({ length: i % 4 }, (_, n) => ({ filename: `f${n} ${i % 3 ? "é" : ""}.bin`, content: Buffer.alloc(n * 50 + 1, i) })),
    }));
  const ours = await read(t, messages);
  const { simpleParser } = load("mailparser");
  const squeezed = (text) => text.replaceAll(/\s+/g, " "); // blanks where a line was folded are nobody's
  const plain = (text) => (text ?? "").replaceAll("\r\n", "\n").trim();
  for (let i = 0; i < messages.length; i++) {
    const theirs = await simpleParser(messages[i], { skipHtmlToText: true, skipTextToHtml: true });
    const of = `of message ${i}`;
    equal(ours[i].fault, null, `the fault ${of}`);
    equal(squeezed(ours[i].subject), squeezed(theirs.subject), `the subject ${of}`);
    equal(ours[i].from, theirs.from.value[0].address, `the sender ${of}`);
    equal(squeezed(ours[i].name), squeezed(theirs.from.value[0].name), `the sender's name ${of}`);
    equal(JSON.stringify(ours[i].to), JSON.stringify(theirs.to.value.map((one) => one.address)), `the recipients ${of}`);
    equal(`<${ours[i].message_id}>`, theirs.messageId, `the id ${of}`);
    if (theirs.text) equal(plain(ours[i].text), plain(theirs.text), `the text ${of}`);
    equal(JSON.stringify(ours[i].attachments), JSON.stringify(theirs.attachments.map((one) => ({ name: one.filename, size: one.size }))), `the files ${of}`);
  }
});

/** A name server of texts. */
async function names(t, texts) {
  const server = dgram.createSocket("udp4");
  server.on("message", (q, from) => {
    const labels = [];
    let at = 12;
    for (; q[at]; at += q[at] + 1) labels.push(q.subarray(at + 1, at + 1 + q[at]).toString().toLowerCase());
    const question = q.subarray(12, at + 5);
    const text = texts[labels.join(".")];
    const head = Buffer.from([q[0], q[1], 0x85, text ? 0x80 : 0x83, 0, 1, 0, text ? 1 : 0, 0, 0, 0, 0]);
    const pieces = text ? text.match(/.{1,200}/g).map((one) => Buffer.concat([Buffer.from([one.length]), Buffer.from(one)])) : [];
    const data = Buffer.concat(pieces);
    const answer = text ? Buffer.concat([Buffer.from([0xc0, 0x0c, 0, 16, 0, 1, 0, 0, 0, 60, data.length >> 8, data.length & 255]), data]) : Buffer.alloc(0);
    server.send(Buffer.concat([head, question, answer]), from.port, from.address);
  });
  await new Promise((done) => server.bind(0, "127.0.0.1", done));
  t.onEnd(() => new Promise((done) => server.close(done)));
  return `127.0.0.1:${server.address().port}`;
}

trial("mailauth judges signatures as we do", async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = `v=DKIM1; k=rsa; p=${publicKey.export({ type: "spki", format: "der" }).toString("base64")}`;
  const texts = {
    "s1._domainkey.example.org": key, "s1._domainkey.mail.example.org": key, "s1._domainkey.other.test": key,
    "s1._domainkey.strict.test": key, "s1._domainkey.sub.strict.test": key, "s1._domainkey.bare.test": key,
    "gone._domainkey.example.org": "v=DKIM1; k=rsa; p=",
    "_dmarc.example.org": "v=DMARC1; p=reject", "_dmarc.strict.test": "v=DMARC1; p=reject; adkim=s", "_dmarc.other.test": "v=DMARC1; p=none",
  };
  const signed = (from, domainName, more = {}) => compose({ from, to: "desk@example.net", subject: "Hello", text: "Please pay.\n",
    dkim: { domainName, keySelector: "s1", privateKey: privateKey.export({ type: "pkcs8", format: "pem" }), ...more } });
  const changed = (bytes, from, to) => Buffer.from(bytes.toString("latin1").replace(from, to), "latin1");
  const good = await signed("jo@example.org", "example.org");
  const cases = [
    ["signed by the domain", good, "pass"],
    ["by a name below it", await signed("jo@example.org", "mail.example.org"), "pass"],
    ["below it, by the domain", await signed("jo@mail.example.org", "example.org"), "pass"],
    ["by another", await signed("jo@example.org", "other.test")],
    ["strict, by a name below", await signed("jo@strict.test", "sub.strict.test"), undefined, "mailauth 4.8 falls back to the organisation where the record wants the very domain"],
    ["strict, by itself", await signed("jo@strict.test", "strict.test"), "pass"],
    ["the body changed", changed(good, "Please pay", "Please don't pay"), "fail"],
    ["the subject changed", changed(good, "Subject: Hello", "Subject: Hullo"), "fail"],
    ["the sender changed", changed(good, "From: jo@", "From: eve@"), "fail"],
    ["a second From above", Buffer.concat([Buffer.from("From: eve@example.org\r\n"), good])],
    ["a header added on top", Buffer.concat([Buffer.from("Received: from a by b; Mon, 1 Jan 2024 00:00:00 +0000\r\n"), good]), "pass"],
    ["the key withdrawn", await signed("jo@example.org", "example.org", { keySelector: "gone" }), "fail"],
    ["no such key", await signed("jo@example.org", "example.org", { keySelector: "never" })],
    ["a domain without a policy, changed", changed(await signed("jo@bare.test", "bare.test"), "Please pay", "Pay")],
    ["unsigned", await compose({ from: "jo@example.org", to: "x@example.net", text: "hi" })],
  ];
  const ours = await read(t, cases.map(([, bytes]) => bytes), await names(t, texts));
  const { authenticate } = load("mailauth");
  const resolver = async (name, type) => {
    if (type === "TXT" && texts[name]) return [[texts[name]]];
    throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
  };
  for (const [i, [name, bytes, wanted, differs]] of cases.entries()) {
    const { dmarc } = await authenticate(bytes, { ip: "192.0.2.1", helo: "x.test", sender: "jo@unrelated.test", mta: "mx.test", resolver, disableArc: true, disableBimi: true });
    // A policy makes a fail of whatever it does not prove for them, and only of what is disproved for us: what passes is alike.
    if (!differs) equal(dmarc?.status?.result === "pass", wanted === "pass", `theirs, ${dmarc?.status?.result}, where: ${name}`);
    equal(ours[i].verdict, wanted ?? "none", `our verdict where: ${name}`);
  }
});

const corpus = (folder) => existsSync(folder) ? readdirSync(folder).filter((one) => one.endsWith(".txt")).map((one) => join(folder, one)) : [];

for (const [what, folder, least] of [
  ["Python's", "/usr/lib/python3.11/test/test_email/data", 40],
  ["the bounces of flufl", "/usr/lib/python3/dist-packages/flufl/bounce/tests/data", 100]])
  test(`difficult messages, ${what}, are read or refused in words`, async (t) => {
    const files = corpus(folder);
    if (!files.length) return console.log(`note: ${folder} is not here`);
    ok(files.length >= least, `${files.length} messages`);
    const ours = await read(t, files.map((one) => readFileSync(one)));
    const broken = ours.map((one, i) => [files[i], one]).filter(([, one]) => one.fault && one.error !== "invalid");
    equal(JSON.stringify(broken), "[]", "those that broke the parser");
    const refused = ours.filter((one) => one.fault).length;
    ok(refused <= 2, `${refused} of ${files.length} were refused: ${JSON.stringify(ours.filter((one) => one.fault).map((one) => one.fault))}`);
    const told = ours.filter((one) => one.deliveries?.some((d) => /^failed\b/i.test(d.action))).length;
    if (least === 100) ok(told >= 11, `${told} tell of a delivery that failed`);
  });
