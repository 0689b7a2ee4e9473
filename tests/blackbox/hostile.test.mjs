// hostile.test.mjs - bytes no honest client sends, against the real server: each is refused with one
// reply and a close, or ends in a clean timeout; the server still answers after it.
import net from "node:net";
import tls from "node:tls";
import { equal, match, ok, pause, shared, short, test, until, within } from "./harness.mjs";
import { exchange, Raw, replies } from "./raw.mjs";

const HEADER_MS = 1000;
const BODY_MS = 1000;
const REPLY_MS = 1000;

const up = shared(async (scope) => {
  const server = await scope.serve(await scope.place("sqlite"), {
    flags: ["--header-timeout", "1s", "--body-timeout", "1s", "--reply-timeout", "1s", "--idle-timeout", "3s", "--no-access-log"],
  });
  await server.enter();
  return server;
});

/** A test of the shared server, which must be well behind it. */
function hostile(name, run, options) {
  test(name, async (t) => {
    const server = await up();
    await run(server, t);
    await server.healthy();
    ok(!server.ended, "the server has ended");
  }, options);
}

const H = "Host: x\r\n";
const NEXT = `GET /version HTTP/1.1\r\n${H}\r\n`; // must never be answered after a refusal
const GET = (extra = "") => `GET /healthz HTTP/1.1\r\n${H}${extra}\r\n`;
const POST = (headers, body = "") => `POST /auth/login HTTP/1.1\r\n${H}Content-Type: application/json\r\n${headers}\r\n${body}`;
const CHUNKED = "Transfer-Encoding: chunked\r\n";
const CREDENTIALS = JSON.stringify({ email: "a@example.com", password: "x" });

function isProblem(reply) {
  equal(reply.headers["content-type"], "application/problem+json", "Content-Type");
  const body = JSON.parse(reply.body);
  equal(body.status, reply.status, "status in the body");
  for (const field of ["type", "title", "detail", "request_id"]) ok(typeof body[field] === "string", `${field} is missing in ${reply.body}`);
  equal(reply.headers.connection, "close", "Connection");
}

/** One reply of that status and a close, whole and byte by byte. */
function refuse(name, bytes, status = 400) {
  const all = Buffer.from(bytes, "latin1");
  hostile(`refused: ${name}`, async (server) => {
    for (const parts of [all, all.length < 400 ? [...all].map((b) => Buffer.from([b])) : all]) {
      const list = await exchange(server.port, parts);
      equal(list.length, 1, `the count of replies (${list.map((r) => r.status)})`);
      ok([status].flat().includes(list[0].status), `the status is ${list[0].status}: ${list[0].body}`);
      isProblem(list[0]);
    }
  });
}

// ---- where a request ends ----

refuse("Content-Length twice, unlike", POST("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!") + NEXT);
refuse("Content-Length twice, alike", POST("Content-Length: 5\r\nContent-Length: 5\r\n", "hello") + NEXT);
refuse("Content-Length as a list", POST("Content-Length: 5, 5\r\n", "hello") + NEXT);
for (const value of ["+5", "-5", "0x5", "5 5", "5.0", "", "1e1", "5;", "\xb2", "18446744073709551616", "99999999999999999999999999"])
  refuse(`Content-Length: ${JSON.stringify(value)}`, POST(`Content-Length: ${value}\r\n`, "hello") + NEXT);
refuse("Content-Length of 2^64 - 1", POST("Content-Length: 18446744073709551615\r\n", "hello") + NEXT, 413);
refuse("Content-Length of 2^63", POST("Content-Length: 9223372036854775808\r\n", "hello") + NEXT, 413);
refuse("Content-Length with Transfer-Encoding", POST(`Content-Length: 5\r\n${CHUNKED}`, "0\r\n\r\n") + NEXT);
refuse("Transfer-Encoding with Content-Length", POST(`${CHUNKED}Content-Length: 5\r\n`, "0\r\n\r\n") + NEXT);
refuse("Transfer-Encoding twice", POST(CHUNKED + CHUNKED, "0\r\n\r\n") + NEXT);
refuse("Transfer-Encoding: chunked, chunked", POST("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n") + NEXT, [400, 501]);
for (const coding of ["gzip", "gzip, chunked", "xchunked", "identity", "chunked, gzip", "\"chunked\"", "chunked;q=1", "chu nked"])
  refuse(`Transfer-Encoding: ${coding}`, POST(`Transfer-Encoding: ${coding}\r\n`, "0\r\n\r\n") + NEXT, [400, 501]);
refuse("an empty Transfer-Encoding", POST("Transfer-Encoding:\r\n", "0\r\n\r\n") + NEXT);
refuse("Transfer-Encoding after a vertical tab", POST("Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n") + NEXT);
refuse("Transfer-Encoding under HTTP/1.0", `POST /auth/login HTTP/1.0\r\n${CHUNKED}\r\n0\r\n\r\n${NEXT}`);

// ---- lines ----

refuse("a folded header", `GET /healthz HTTP/1.1\r\n${H}X-A: one\r\n two\r\n\r\n${NEXT}`);
refuse("a folded first header", `GET /healthz HTTP/1.1\r\n Host: x\r\n\r\n${NEXT}`);
refuse("bare line feeds", `GET /healthz HTTP/1.1\nHost: x\n\n${NEXT}`);
refuse("one bare line feed", `GET /healthz HTTP/1.1\r\nHost: x\nX-A: b\r\n\r\n${NEXT}`);
refuse("a bare line feed at the end", `GET /healthz HTTP/1.1\r\nHost: x\r\n\n${NEXT}`);
refuse("a bare carriage return", `GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: b\rX-B: c\r\n\r\n${NEXT}`);
refuse("two carriage returns", `GET /healthz HTTP/1.1\r\r\nHost: x\r\n\r\n${NEXT}`);
refuse("NUL in a header", `GET /healthz HTTP/1.1\r\n${H}X-A: a\0b\r\n\r\n${NEXT}`);
refuse("NUL in a name", `GET /healthz HTTP/1.1\r\n${H}X-\0A: b\r\n\r\n${NEXT}`);
refuse("NUL in the target", `GET /health\0z HTTP/1.1\r\n${H}\r\n${NEXT}`);
refuse("NUL in the method", `G\0T /healthz HTTP/1.1\r\n${H}\r\n${NEXT}`);
refuse("a blank before the colon", `GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n${NEXT}`);
refuse("a tab before the colon", `POST /auth/login HTTP/1.1\r\n${H}Content-Length\t: 5\r\n\r\nhello${NEXT}`);
refuse("a header without a colon", `GET /healthz HTTP/1.1\r\n${H}Nonsense\r\n\r\n${NEXT}`);
refuse("a header without a name", `GET /healthz HTTP/1.1\r\n${H}: x\r\n\r\n${NEXT}`);
refuse("DEL in a header", `GET /healthz HTTP/1.1\r\n${H}X-A: \x7f\r\n\r\n${NEXT}`);
refuse("two Hosts", `GET /healthz HTTP/1.1\r\n${H}Host: y\r\n\r\n${NEXT}`);
refuse("no Host", `GET /healthz HTTP/1.1\r\n\r\n${NEXT}`);
for (const host of ["a b", "a@b", "x/y", "[::1", "x:port"]) refuse(`Host: ${host}`, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n${NEXT}`);
refuse("a target without a slash", `GET healthz HTTP/1.1\r\n${H}\r\n${NEXT}`);
refuse("a fragment in the target", `GET /healthz#a HTTP/1.1\r\n${H}\r\n${NEXT}`);
refuse("two blanks in the request line", `GET  /healthz HTTP/1.1\r\n${H}\r\n${NEXT}`);
refuse("bytes above 127 in the target", `GET /h\xe4 HTTP/1.1\r\n${H}\r\n${NEXT}`);
refuse("HTTP/0.9", "GET /healthz\r\n\r\n");
refuse("HTTP/1.1 in small letters", `GET /healthz http/1.1\r\n${H}\r\n${NEXT}`);
refuse("HTTP/1.10", `GET /healthz HTTP/1.10\r\n${H}\r\n${NEXT}`);
refuse("HTTP/2.0", `GET /healthz HTTP/2.0\r\n${H}\r\n${NEXT}`, 505);
refuse("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", [400, 505]);
refuse("many empty lines first", `\r\n\r\n\r\n${GET()}`);
refuse("a method of 10,000 letters", `${"A".repeat(10_000)} / HTTP/1.1\r\n${H}\r\n`, [400, 414]);
refuse("CONNECT", `CONNECT 127.0.0.1:22 HTTP/1.1\r\n${H}\r\n${NEXT}`);
refuse("an odd expectation", POST("Expect: the-unexpected\r\nContent-Length: 2\r\n", "{}") + NEXT, 417);

// ---- too much ----

refuse("a target of 100 KB", `GET /${"a".repeat(100_000)} HTTP/1.1\r\n${H}\r\n`, 414);
refuse("a header of 1 MB", `GET /healthz HTTP/1.1\r\n${H}X-A: ${"a".repeat(1 << 20)}\r\n\r\n`, 431);
refuse("1 MB of headers", `GET /healthz HTTP/1.1\r\n${H}${"X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".repeat(21_000)}\r\n`, 431);
refuse("1,000 small headers", `GET /healthz HTTP/1.1\r\n${H}${"A:\r\n".repeat(1000)}\r\n`, 431);
refuse("a body over the limit of its path", POST(`Content-Length: ${1 << 20}\r\n`, "x".repeat(100_000)), 413);
for (const [path, method, status] of [["/nothing", "POST", 404], ["/healthz", "PUT", 405]]) {
  refuse(`a large body to ${path}`, `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${64 << 20}\r\n\r\n${"x".repeat(100_000)}`, status);
  refuse(`a chunked body to ${path}`, `${method} ${path} HTTP/1.1\r\nHost: x\r\n${CHUNKED}\r\n8000\r\n`, status);
}
refuse("a chunked body over the limit of its path", POST(CHUNKED, `8000\r\n${"x".repeat(0x8000)}\r\n8000\r\n${"x".repeat(0x8000)}\r\n0\r\n\r\n`), 413);

// ---- chunks ----

for (const size of ["fffffffffffffffff", "ffffffffffffffffffffffffffffffffffffff", "-1", "+5", "0x5", " 5", "g", "", ";", "5;a\x01", "5 5", "\x00"])
  refuse(`a chunk size ${JSON.stringify(size)}`, POST(CHUNKED, `${size}\r\nhello\r\n0\r\n\r\n`) + NEXT);
for (const size of ["ffffffffffffffff", "7fffffffffffffff", "8000000000000000", "100000000"])
  refuse(`a chunk size of ${size}`, POST(CHUNKED, `${size}\r\nhello\r\n0\r\n\r\n`) + NEXT, [400, 413]);
refuse("chunk data that is longer than said", POST(CHUNKED, "3\r\nhello\r\n0\r\n\r\n") + NEXT);
refuse("a chunk ended by a bare line feed", POST(CHUNKED, "5\r\nhello\n0\r\n\r\n") + NEXT);
refuse("a chunk size ended by a bare line feed", POST(CHUNKED, "5\nhello\r\n0\r\n\r\n") + NEXT);
refuse("1 MB of chunk extension", POST(CHUNKED, `5;${"a".repeat(1 << 20)}\r\nhello\r\n0\r\n\r\n`));
refuse("1 MB of trailers", POST(CHUNKED, `2\r\n{}\r\n0\r\n${`X: ${"a".repeat(100)}\r\n`.repeat(10_000)}\r\n`), [400, 431]);
refuse("a folded trailer", POST(CHUNKED, "2\r\n{}\r\n0\r\nX: a\r\n b\r\n\r\n") + NEXT);

hostile("10,000 chunks of one byte are one body", async (server) => {
  const text = JSON.stringify({ email: "a@example.com", password: "y".repeat(9_900) });
  const chunks = [...text].map((c) => `1\r\n${c}\r\n`).join("");
  const raw = new Raw(server.port);
  raw.send(POST(CHUNKED, `${chunks}0\r\nX-Trailer: a\r\n\r\n`) + GET("Connection: close\r\n"));
  await raw.untilClosed();
  const { list } = replies(raw.bytes);
  equal(list.map((r) => r.status).join(), "422,200", `the statuses, and ${list[0]?.body}`);
  match(list[0].body, /"too_long"/, "what is wrong with it");
});

hostile("an agent sent in 10,000 chunks is made once", async (server) => {
  const text = JSON.stringify({ name: "Chunked", slug: "chunked", description: "d".repeat(10_000) });
  const chunks = [...text].map((c) => `1\r\n${c}\r\n`).join("");
  const raw = new Raw(server.port);
  raw.send(`POST /tenant/${server.tenant}/agents HTTP/1.1\r\n${H}Authorization: Bearer ${server.token}\r\n` +
    `Content-Type: application/json\r\nConnection: close\r\n${CHUNKED}\r\n${chunks}0\r\n\r\n`);
  await raw.untilClosed();
  const { list } = replies(raw.bytes);
  equal(list.map((r) => r.status).join(), "201", list[0]?.body);
  equal(JSON.parse(list[0].body).slug, "chunked", "the slug");
});

// ---- slowness ----

hostile("a head that drips is answered 408 in time", async (server) => {
  const raw = new Raw(server.port);
  await raw.open();
  const began = Date.now();
  const drip = setInterval(() => raw.send("X"), 100);
  raw.send("GET /healthz HTTP/1.1\r\nX-");
  try {
    await raw.untilClosed(HEADER_MS + 4000);
  } finally {
    clearInterval(drip);
  }
  const { list } = replies(raw.bytes);
  equal(list.map((r) => r.status).join(), "408", "the statuses");
  ok(Date.now() - began >= HEADER_MS - 100, `408 after ${Date.now() - began} ms`);
  raw.drop();
});

hostile("headers that come one a moment do not put off the end", async (server) => {
  const raw = new Raw(server.port);
  await raw.open();
  const drip = setInterval(() => raw.send("X-A: b\r\n"), 100);
  raw.send(`GET /healthz HTTP/1.1\r\n${H}`);
  try {
    await raw.untilClosed(HEADER_MS + 4000);
  } finally {
    clearInterval(drip);
  }
  equal(replies(raw.bytes).list.map((r) => r.status).join(), "408", "the statuses");
  raw.drop();
});

hostile("a body that drips is answered 408 in time", async (server) => {
  for (const [headers, drop] of [["Content-Length: 5000\r\n", "x"], [CHUNKED, "1\r\nx\r\n"]]) {
    const raw = new Raw(server.port);
    await raw.open();
    const drip = setInterval(() => raw.send(drop), 100);
    raw.send(POST(headers));
    try {
      await raw.untilClosed(BODY_MS + 4000);
    } finally {
      clearInterval(drip);
    }
    equal(replies(raw.bytes).list.map((r) => r.status).join(), "408", "the statuses");
    raw.drop();
  }
});

hostile("a client that says nothing is let go", async (server) => {
  const raw = new Raw(server.port);
  await raw.open();
  await raw.untilClosed(6000);
  equal(raw.bytes.length, 0, "bytes sent to it");
  raw.drop();
});

hostile("a client that rests between requests is let go", async (server) => {
  const raw = new Raw(server.port);
  await raw.open();
  raw.send(GET());
  await raw.untilReplies(1);
  await raw.untilClosed(8000);
  equal(replies(raw.bytes).list.length, 1, "replies");
  raw.drop();
});

async function figure(server, name) {
  const { text } = await server.request("GET", "/metrics", { agent: false });
  const found = new RegExp(`^${name} (\\d+)$`, "m").exec(text);
  ok(found, `/metrics has no ${name}`);
  return Number(found[1]);
}

hostile("clients that never read their replies are let go", async (server) => {
  const late = await figure(server, "lodge_timeouts_total");
  const lazy = [];
  for (let i = 0; i < 20; i++) {
    const socket = net.connect({ port: server.port, host: "127.0.0.1" });
    socket.pause();
    socket.on("error", () => {});
    socket.write(`GET /openapi.json HTTP/1.1\r\n${H}\r\n`.repeat(200));
    lazy.push(socket);
  }
  // Some are refused at once for what their address holds already, the others wait for their deadline.
  await until(REPLY_MS + 8000, "some are let go", async () => (await figure(server, "lodge_timeouts_total")) > late);
  await until(REPLY_MS + 8000, "no connection is left", async () => (await figure(server, "lodge_connections_open")) <= 3);
  for (const socket of lazy) socket.destroy();
});

hostile("a slow reader that does read gets it all", async (server) => {
  const socket = net.connect({ port: server.port, host: "127.0.0.1", highWaterMark: 4096 });
  const count = 20;
  let got = Buffer.alloc(0);
  let over = false;
  socket.on("end", () => (over = true));
  socket.write(`GET /openapi.json HTTP/1.1\r\n${H}\r\n`.repeat(count - 1) + `GET /openapi.json HTTP/1.1\r\n${H}Connection: close\r\n\r\n`);
  socket.on("data", (part) => {
    got = Buffer.concat([got, part]);
    socket.pause();
    setTimeout(() => socket.resume(), got.length < 200_000 ? 20 : 0);
  });
  await until(20_000, "all of it", () => over);
  const { list } = replies(got);
  equal(list.length, count, "replies");
  ok(list.every((r) => r.status === 200 && r.body === list[0].body), "the replies differ");
  JSON.parse(list[0].body);
  socket.destroy();
});

// ---- pipelines ----

hostile("1,000 pipelined requests are answered in their order", async (server) => {
  const paths = ["/healthz", "/version", "/nothing", "/readyz", "/me"];
  const wants = [200, 200, 404, 200, 401];
  let text = "";
  for (let i = 0; i < 1000; i++) text += `GET ${paths[i % 5]} HTTP/1.1\r\n${H}${i === 999 ? "Connection: close\r\n" : ""}\r\n`;
  const raw = new Raw(server.port);
  raw.send(text);
  await raw.untilClosed(20_000);
  const { list, rest } = replies(raw.bytes);
  equal(rest.length, 0, "bytes after the last");
  equal(list.length, 1000, "replies");
  list.forEach((r, i) => equal(r.status, wants[i % 5], `reply ${i}`));
});

hostile("pipelined changes are made in their order, each once", async (server) => {
  let text = "";
  for (let i = 0; i < 100; i++) {
    const body = JSON.stringify({ name: `Pipe ${i}`, slug: `pipe-${i}` });
    text += `POST /tenant/${server.tenant}/agents HTTP/1.1\r\n${H}Authorization: Bearer ${server.token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    if (i % 10 === 9) text += GET();
  }
  const raw = new Raw(server.port);
  raw.send(text);
  const list = await raw.untilReplies(110, 20_000);
  let next = 0;
  list.forEach((r, i) => {
    if (i % 11 === 10) equal(r.body, '{"status":"ok"}\n', `reply ${i}`);
    else equal(JSON.parse(r.body).slug, `pipe-${next++}`, `reply ${i}`);
  });
  raw.drop();
});

hostile("a pipeline that ends in garbage is answered up to there", async (server) => {
  const list = await exchange(server.port, GET().repeat(50) + "\x00\x01\x02 nonsense\r\n\r\n" + NEXT.repeat(5));
  equal(list.length, 51, "replies");
  equal(list[50].status, 400, "the last");
  ok(list.slice(0, 50).every((r) => r.status === 200), "one before it");
});

hostile("Connection: close ends a pipeline", async (server) => {
  const list = await exchange(server.port, GET() + GET("Connection: close\r\n") + NEXT.repeat(3));
  equal(list.map((r) => r.status).join(), "200,200", "the statuses");
});

// ---- half a connection ----

hostile("a client that shuts its side after a whole request is answered", async (server) => {
  const list = await exchange(server.port, GET().repeat(3), { end: true });
  equal(list.map((r) => r.status).join(), "200,200,200", "the statuses");
  const slow = await exchange(server.port, POST(`Content-Length: ${CREDENTIALS.length}\r\n`, CREDENTIALS), { end: true });
  equal(slow.map((r) => r.status).join(), "401", "a login's status");
});

hostile("a client that shuts its side within a request is told, or just closed", async (server) => {
  for (const half of ["G", "GET /healthz HTTP/1.1\r\nHos", POST("Content-Length: 50\r\n", "half"), POST(CHUNKED, "5\r\nhel"), "\r\n", ""]) {
    const list = await exchange(server.port, half, { end: true });
    ok(list.length <= 1 && (!list[0] || list[0].status === 400), `${short(half)}: ${list.map((r) => r.status)}`);
  }
});

hostile("a client that goes while its login is being worked on", async (server) => {
  for (let i = 0; i < 20; i++) {
    const raw = new Raw(server.port);
    await raw.open();
    raw.send(POST(`Content-Length: ${CREDENTIALS.length}\r\n`, CREDENTIALS));
    await pause(i);
    if (i % 2) raw.socket.resetAndDestroy?.();
    raw.drop();
  }
  const me = await server.request("GET", "/me");
  equal(me.status, 200, me.text);
});

// ---- many ----

hostile("3,000 connections opened and dropped", async (server) => {
  for (let round = 0; round < 10; round++) {
    const all = Array.from({ length: 300 }, (_, i) => {
      const raw = new Raw(server.port);
      raw.socket.on("connect", () => {
        if (i % 3 === 1) raw.send("GET /healthz HT");
        if (i % 3 === 2) raw.send(GET());
        if (i % 2) raw.socket.resetAndDestroy?.();
        raw.drop();
      });
      return within(8000, new Promise((done) => raw.socket.on("close", done)), "a dropped connection");
    });
    await Promise.all(all);
  }
  await until(5000, "all are gone", async () => (await figure(server, "lodge_connections_open")) <= 3);
});

test("when all connections are taken, one that rests makes room, and one that is busy stays", async (t) => {
  const server = await t.serve(await t.place("sqlite"), { flags: ["--max-connections", "20"] });
  const newcomer = async () => {
    const raw = new Raw(server.port);
    await raw.open();
    raw.send(GET("Connection: close\r\n"));
    await raw.untilClosed();
    raw.drop();
    return replies(raw.bytes).list;
  };
  const fill = async (text, count) => {
    const all = [];
    for (let i = 0; i < 20; i++) {
      const raw = new Raw(server.port);
      await raw.open();
      raw.send(text);
      await raw.untilReplies(count);
      all.push(raw);
    }
    return all;
  };
  const resting = await fill(GET(), 1);
  for (let i = 0; i < 40; i++) equal((await newcomer()).map((r) => r.status).join(), "200", `newcomer ${i}`);
  for (const raw of resting) raw.drop();
  const busy = await fill(GET() + "GET / HTTP/1.1\r\nHost: ", 1);
  for (let i = 0; i < 40; i++) {
    const list = await newcomer();
    equal(list.map((r) => r.status).join(), "503", `newcomer ${i}`);
    match(list[0].headers["retry-after"], /^\d+$/, "Retry-After");
  }
  for (const raw of busy) {
    raw.send("a\r\n\r\n");
    await raw.untilReplies(2);
  }
  for (const raw of busy) raw.drop();
  await until(5000, "a place is free", async () => (await newcomer())[0]?.status === 200);
});

test("without file descriptors left the server waits, and comes back", async (t) => {
  const place = await t.place("sqlite");
  await t.on(place, ["migrate"]);
  const server = await t.serve(place, { flags: ["--no-access-log"], files: 64 });
  const all = Array.from({ length: 120 }, () => new Raw(server.port));
  await Promise.all(all.map((raw) => raw.open()));
  await server.says(/cannot accept connections/, 5000);
  for (const raw of all) raw.drop();
  await until(5000, "it answers", async () => {
    try {
      await server.healthy();
      return true;
    } catch {
      return false;
    }
  });
});

// ---- garbage ----

hostile("garbage is refused or closed, whatever it is", async (server) => {
  let seed = 12345;
  const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) >> 8;
  for (let i = 0; i < 200; i++) {
    const bytes = Buffer.from(Array.from({ length: 1 + (random() % 3000) }, () => random() & 255));
    const parts = i % 2 ? bytes : Buffer.concat([Buffer.from("GET / HTTP/1.1\r\n"), bytes]);
    const raw = new Raw(server.port);
    await raw.open();
    raw.send(parts).end();
    await raw.untilClosed(5000);
    const { list } = replies(raw.bytes);
    ok(list.length <= 1 && (!list[0] || list[0].status >= 400), `garbage ${i}: ${list.map((r) => r.status)}`);
    raw.drop();
  }
});

hostile("requests with one byte changed never get a second reply or a hang", async (server) => {
  const good = Buffer.from(POST(`Content-Length: ${CREDENTIALS.length}\r\nConnection: close\r\n`, CREDENTIALS).replace("/auth/login", "/nothing/x"));
  let seed = 99;
  const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) >> 8;
  const jobs = Array.from({ length: 400 }, async () => {
    const bytes = Buffer.from(good);
    bytes[random() % bytes.length] = random() & 255;
    const raw = new Raw(server.port);
    await raw.open();
    raw.send(bytes).end();
    await raw.untilClosed(8000);
    const { list } = replies(raw.bytes);
    ok(list.length <= 2 && list.every((r) => r.status >= 400), `${short(bytes.toString("latin1"))}: ${list.map((r) => r.status)}`);
    raw.drop();
  });
  await Promise.all(jobs);
});

hostile("TLS on a plain port", async (server) => {
  const raw = new Raw(server.port);
  await raw.open();
  raw.send(Buffer.from("16030100c8010000c40303", "hex")).send(Buffer.alloc(190, 7)).send(Buffer.from("0a0d0a", "hex"));
  await raw.untilClosed(6000);
  raw.drop();
  const socket = tls.connect({ port: server.port, host: "127.0.0.1", rejectUnauthorized: false });
  await within(6000, new Promise((done, no) => {
    socket.on("error", done);
    socket.on("close", done);
    socket.on("secureConnect", () => no(new Error("TLS was spoken on a plain port")));
  }), "the handshake");
});

// ---- what is odd and allowed ----

hostile("Expect: 100-continue is met, once", async (server) => {
  const raw = new Raw(server.port);
  await raw.open();
  raw.send(POST(`Expect: 100-continue\r\nContent-Length: ${CREDENTIALS.length}\r\n`));
  await raw.when(() => raw.bytes.toString().startsWith("HTTP/1.1 100 Continue\r\n\r\n"), 5000, "100 Continue");
  raw.send(CREDENTIALS).send(GET("Connection: close\r\n"));
  await raw.untilClosed();
  // Earlier tests here have failed to sign in so often that the address may be throttled by now.
  match(replies(raw.bytes).list.map((r) => r.status).join(), /^100,(401|429),200$/, "the statuses");
  const large = await exchange(server.port, POST("Expect: 100-continue\r\nContent-Length: 1000000\r\n"));
  equal(large.map((r) => r.status).join(), "413", "a body that is too large");
});

hostile("HTTP/1.0 is answered and closed, or kept if asked", async (server) => {
  const closed = await exchange(server.port, "GET /healthz HTTP/1.0\r\n\r\nGET /version HTTP/1.0\r\n\r\n");
  equal(closed.map((r) => r.status).join(), "200", "the statuses");
  const kept = await exchange(server.port, "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /version HTTP/1.0\r\n\r\n");
  equal(kept.map((r) => r.status).join(), "200,200", "the statuses");
});

hostile("HEAD has the headers of GET and no body; odd methods are 405 with Allow", async (server) => {
  const raw = new Raw(server.port);
  raw.send(`HEAD /healthz HTTP/1.1\r\n${H}Connection: close\r\n\r\n`);
  await raw.untilClosed();
  match(raw.bytes.toString(), /^HTTP\/1\.1 200 [^]*Content-Length: 16\r\n[^]*\r\n\r\n$/i, "HEAD");
  for (const method of ["BREW", "OPTIONS", "TRACE", "PUT", "get"]) {
    const list = await exchange(server.port, `${method} /healthz HTTP/1.1\r\n${H}Connection: close\r\n\r\n`);
    equal(list.map((r) => r.status).join(), "405", method);
    ok(list[0].headers.allow?.includes("GET"), `${method}: Allow is ${list[0].headers.allow}`);
  }
});

hostile("an absolute target, one empty line first, and odd paths", async (server) => {
  const list = await exchange(server.port,
    `\r\nGET http://lodge.example:80/healthz HTTP/1.1\r\n${H}\r\n` +
    `GET /%68ealthz HTTP/1.1\r\n${H}\r\nGET /tenant/..%2f..%2fme HTTP/1.1\r\n${H}\r\nGET /%00 HTTP/1.1\r\n${H}\r\n` +
    `GET /%zz HTTP/1.1\r\n${H}\r\nGET //healthz HTTP/1.1\r\n${H}\r\nGET /healthz/ HTTP/1.1\r\n${H}Connection: close\r\n\r\n`);
  equal(list.length, 7, "replies");
  equal(list[0].status, 200, "an absolute target");
  for (const r of list.slice(2)) ok(r.status === 404 || r.status === 400, `status ${r.status}`);
});
