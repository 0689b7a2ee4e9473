// mail_peers.mjs - other people's programs on the outside of our mail: a relay (npm smtp-server), a private Postfix, and names
// of the DNS that a test has made up.
import dgram from "node:dgram";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import { join } from "node:path";
import { command, equal, here, ok, until } from "./harness.mjs";

const require = createRequire(join(here, "mail", "package.json"));
const { SMTPServer } = require("smtp-server");
export const { simpleParser } = require("mailparser");
export const { dkimVerify } = require("mailauth/lib/dkim/verify");

/** A certificate for 127.0.0.1. */
export async function certificate(folder) {
  const key = join(folder, "relay.key"), cert = join(folder, "relay.crt");
  const { status, stderr } = await command("openssl", ["req", "-x509", "-nodes", "-days", "2", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
    "-keyout", key, "-out", cert, "-subj", "/CN=relay", "-addext", "subjectAltName=IP:127.0.0.1"]);
  equal(status, 0, stderr);
  return { key, cert };
}

/**
 * A relay that keeps what it takes: taken is [{from, to, raw}].  says(address) may give an error for a recipient, or "nothing" for no answer, end(address, socket) is
 * called when a message is whole, and may hang up.
 */
export async function relay(t, { options = {}, says = () => {}, end = () => {}, port = 0 } = {}) {
  const taken = [];
  const peer = { taken, asked: [], says, end, of: (to) => taken.filter((one) => one.to === to) };
  const server = new SMTPServer({
    disabledCommands: options.secure ? [] : ["STARTTLS", "AUTH"], authOptional: true, logger: false, ...options,
    onRcptTo(address, session, done) {
      const fault = peer.says(address.address);
      peer.asked.push(address.address);
      if (fault !== "nothing") done(fault ? Object.assign(new Error(fault.text), { responseCode: fault.code }) : null);
    },
    onData(stream, session, done) {
      const parts = [];
      stream.on("data", (part) => parts.push(part));
      stream.on("end", async () => {
        const to = session.envelope.rcptTo[0].address;
        equal(session.envelope.rcptTo.length, 1, "recipients of one message");
        taken.push({ from: session.envelope.mailFrom.address, to, raw: Buffer.concat(parts), user: session.user });
        await peer.end(to, server);
        done();
      });
    },
  });
  server.on("error", () => {}); // a client that was killed
  await new Promise((done) => server.listen(port, "127.0.0.1", done));
  peer.port = server.server.address().port;
  /** Every connection ends at once, whatever was said. */
  peer.cut = () => server.connections.forEach((c) => c._socket.destroy());
  t.onEnd(() => new Promise((done) => {
    peer.cut();
    server.close(done);
  }));
  return peer;
}

/** A server of names that knows these texts: {"name": ["text", ...]}, and under "MX name" the servers of its mail. */
export async function names(t, texts) {
  const socket = dgram.createSocket("udp4");
  const label = (bytes, at) => {
    const parts = [];
    while (bytes[at]) {
      parts.push(bytes.toString("latin1", at + 1, at + 1 + bytes[at]));
      at += bytes[at] + 1;
    }
    return [parts.join(".").toLowerCase(), at + 1];
  };
  socket.on("message", (bytes, from) => {
    const [name, end] = label(bytes, 12);
    const mx = bytes.readUInt16BE(end) === 15;
    const found = texts[mx ? `MX ${name}` : name] ?? [];
    const head = Buffer.from(bytes.subarray(0, 12));
    head.writeUInt16BE(found.length ? 0x8180 : 0x8183, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(found.length, 6);
    head.fill(0, 8, 12);
    const answers = found.map((text) => {
      if (mx) {
        const host = Buffer.concat([...text.split(".").filter(Boolean).map((part) => Buffer.from([part.length, ...Buffer.from(part)])), Buffer.from([0])]);
        return Buffer.concat([Buffer.from([0xc0, 12, 0, 15, 0, 1, 0, 0, 0, 60, 0, host.length + 2, 0, 10]), host]);
      }
      const pieces = text.match(/[^]{1,255}/g).map((piece) => Buffer.concat([Buffer.from([piece.length]), Buffer.from(piece, "latin1")]));
      const data = Buffer.concat(pieces), fixed = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, 0]);
      fixed.writeUInt16BE(data.length, 10);
      return Buffer.concat([fixed, data]);
    });
    socket.send(Buffer.concat([head, bytes.subarray(12, end + 4), ...answers]), from.port, from.address);
  });
  await new Promise((done) => socket.bind(0, "127.0.0.1", done));
  t.onEnd(() => new Promise((done) => socket.close(done)));
  return `127.0.0.1:${socket.address().port}`;
}

const freePort = () => new Promise((done) => {
  const probe = net.createServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => done(port));
  });
});

/** A Postfix of the test's own, which takes mail on loopback and hands all of it to this relay: its port. */
export async function postfix(t, next) {
  const folder = t.folder(), port = await freePort();
  const at = (...parts) => join(folder, ...parts);
  for (const name of ["etc", "spool", "lib"]) mkdirSync(at(name), { recursive: true });
  writeFileSync(at("etc", "main.cf"), `compatibility_level = 3.6
queue_directory = ${at("spool")}
data_directory = ${at("lib")}
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
myhostname = relay.test
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
relayhost = [127.0.0.1]:${next}
smtp_host_lookup = native
smtpd_forbid_bare_newline = yes
smtpd_recipient_restrictions = permit_mynetworks, reject
alias_maps =
alias_database =
local_recipient_maps =
maillog_file = ${at("log")}
maillog_file_prefixes = ${folder}
`);
  writeFileSync(at("etc", "master.cf"), `127.0.0.1:${port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
smtp unix - - n - - smtp
relay unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`);
  await command("chmod", ["755", folder]);
  await command("chown", ["postfix", at("lib")]);
  const started = await command("postfix", ["-c", at("etc"), "start"]);
  t.onEnd(() => command("postfix", ["-c", at("etc"), "stop"]));
  ok(started.status === 0, `postfix: ${started.stdout}${started.stderr}`);
  await until(10_000, "Postfix to listen", () => new Promise((done) => {
    const probe = net.connect(port, "127.0.0.1").on("connect", () => done(probe.destroy() && true)).on("error", () => done(false));
  }));
  return port;
}
