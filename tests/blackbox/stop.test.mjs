// stop.test.mjs - SIGTERM and SIGINT: what is under way is answered, what is new is refused, the
// process ends with 0 in time and says so.
import net from "node:net";
import { ADMIN, equal, match, ok, pause, testBoth, until, within } from "./harness.mjs";
import { Raw, replies } from "./raw.mjs";

const H = "Host: x\r\n";
const LOGIN = JSON.stringify(ADMIN);
const login = (extra = "") => `POST /auth/login HTTP/1.1\r\n${H}Content-Type: application/json\r\nContent-Length: ${LOGIN.length}\r\n${extra}\r\n${LOGIN}`;

/** A request whose head the server has read, and whose body it waits for: it is under way for certain. */
async function begun(server, head, body) {
  const raw = new Raw(server.port);
  await raw.open();
  raw.send(`${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`);
  await raw.when(() => raw.closed || raw.bytes.includes("HTTP/1.1 100 "), 20_000, "waiting to be asked for the body");
  ok(!raw.closed, "the server closed before it had asked for the body");
  return raw;
}

const loginHead = `POST /auth/login HTTP/1.1\r\n${H}`;
const answers = (raw) => replies(raw.bytes).list.filter((r) => r.status >= 200);

function refusedAt(port) {
  return new Promise((done) => {
    const socket = net.connect({ port, host: "127.0.0.1" });
    socket.on("connect", () => (socket.destroy(), done(false)));
    socket.on("error", (err) => done(err.code === "ECONNREFUSED"));
  });
}

for (const signal of ["SIGTERM", "SIGINT"]) {
  testBoth(`${signal} lets logins and half-sent bodies finish, and refuses newcomers`, async (t, engine) => {
    const server = await t.serve(await t.place(engine));
    const tenant = await server.enter();
    const body = JSON.stringify({ name: "Late", slug: "late" });
    const idle = new Raw(server.port);
    await idle.open();
    idle.send(`GET /healthz HTTP/1.1\r\n${H}\r\n`);
    await idle.untilReplies(1);
    const half = await begun(server, `POST /tenant/${tenant}/agents HTTP/1.1\r\n${H}Authorization: Bearer ${server.token}\r\n`, body);
    half.send(body.slice(0, 10));
    // Six logins on two slow threads: some are being hashed, some wait, some may be over; and two that are not begun.
    const logins = await Promise.all(Array.from({ length: 8 }, () => begun(server, loginHead, LOGIN)));
    const later = logins.slice(6);
    for (const raw of logins.slice(0, 6)) raw.send(LOGIN);
    server.signal(signal);
    await server.says(/stopping/, 5000);
    for (const raw of later) raw.send(LOGIN);
    await idle.untilClosed();
    equal(replies(idle.bytes).list.length, 1, "replies on the idle connection");
    half.send(body.slice(10));
    await half.untilClosed();
    const late = answers(half);
    equal(late.length, 1, "replies to the half-sent body");
    ok(late[0].status === 201 || late[0].status === 503, `its status is ${late[0].status}: ${late[0].body}`);
    for (const raw of logins) {
      await raw.untilClosed();
      const list = answers(raw);
      equal(list.length, 1, "replies to a login");
      ok(list[0].status === 200 || list[0].status === 503, `its status is ${list[0].status}: ${list[0].body}`);
      if (later.includes(raw)) equal(list[0].headers.connection, "close", "Connection");
    }
    const { status } = await within(30_000, server.over, "the end");
    equal(status, 0, "the exit status");
    ok(await refusedAt(server.port), "a newcomer was not refused");
    match(server.stderr, /info stopping signal=(Terminated|Interrupt)/, "the log");
    const again = await t.serve(server.place);
    again.token = server.token;
    const { json } = await again.request("GET", `/tenant/${tenant}/agents`);
    equal(json.items.filter((agent) => !agent.is_seed).length, late[0].status === 201 ? 1 : 0, "agents");
  });
}

testBoth("newcomers are refused while the last requests are still under way", async (t, engine) => {
  const server = await t.serve(await t.place(engine), { flags: ["--stop-grace", "20s"] });
  await server.enter();
  const half = await begun(server, loginHead, LOGIN);
  half.send(LOGIN.slice(0, -5));
  server.signal("SIGTERM");
  await server.says(/stopping/, 5000);
  await within(15_000, (async () => {
    while (!(await refusedAt(server.port))) await pause(10);
  })(), "newcomers to be refused");
  ok(!server.ended, "it did not wait for the request under way");
  half.send(LOGIN.slice(-5));
  await half.untilClosed();
  equal(answers(half).map((r) => r.status).join(), "200", "the statuses");
  equal((await within(10_000, server.over, "the end")).status, 0, "the exit status");
});

testBoth("a client that never ends its request does not put off the end", async (t, engine) => {
  const server = await t.serve(await t.place(engine), { flags: ["--stop-grace", "1s", "--header-timeout", "10m", "--body-timeout", "10m"] });
  const all = ["", "GET /hea", login().slice(0, -5)].map((text) => {
    const raw = new Raw(server.port);
    raw.send(text);
    return raw;
  });
  await Promise.all(all.map((raw) => raw.open()));
  await pause(50);
  equal(await server.stop("SIGTERM", 45_000), 0, "the exit status");
  for (const raw of all) {
    await raw.untilClosed();
    ok(replies(raw.bytes).list.length <= 1, "more than one reply");
  }
});

testBoth("changes in flight when it stops are made and answered, or neither", async (t, engine) => {
  const server = await t.serve(await t.place(engine), { flags: ["--no-access-log"] });
  const tenant = await server.enter();
  const acked = [];
  let sent = 0;
  let odd = null;
  const client = async () => {
    for (;;) {
      const n = ++sent;
      try {
        const reply = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: `A ${n}`, slug: `a-${n}` } });
        if (reply.status === 201) acked.push(reply.json.id);
        else if (reply.status !== 503) odd = reply.text;
      } catch {
        return;
      }
    }
  };
  const clients = Array.from({ length: 8 }, client);
  await until(20_000, "changes to be answered", () => acked.length > 20 || odd);
  server.signal("SIGTERM");
  equal((await within(10_000, server.over, "the end")).status, 0, "the exit status");
  await Promise.all(clients);
  ok(!odd, `an odd answer: ${odd}`);
  ok(acked.length > 0, "nothing was answered");
  const there = new Set((await server.place.sql("select id from agents where is_seed = 0")).split("\n"));
  for (const id of acked) ok(there.has(id), `${id} was acknowledged and is gone`);
  equal(there.size, acked.length, "agents that are there, and agents that were acknowledged");
});

testBoth("signals that come many times, and before it serves, end it all the same", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place);
  for (const signal of ["SIGTERM", "SIGINT", "SIGTERM", "SIGHUP"].slice(0, 3)) server.signal(signal);
  equal((await within(10_000, server.over, "the end")).status, 0, "the exit status");
  for (const ms of [0, 20, 60, 120]) {
    const early = t.launch(place);
    await pause(ms);
    early.signal("SIGTERM");
    const { status, signal } = await within(10_000, early.over, `the end after ${ms} ms`);
    ok(status === 0 || signal === "SIGTERM", `after ${ms} ms it ended with ${status ?? signal}`);
  }
  await (await t.serve(place)).enter();
});

testBoth("a process that has done much has leaked nothing", async (t, engine) => {
  const server = await t.serve(await t.place(engine), { leaks: true, flags: ["--no-access-log", "--header-timeout", "300ms"] });
  const tenant = await server.enter();
  for (let i = 0; i < 20; i++) {
    const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: `A ${i}`, slug: `a-${i}` }, headers: { "Idempotency-Key": `k${i}` } });
    const read = await server.request("GET", made.headers.location);
    await server.request("PATCH", made.headers.location, { body: { name: "New" }, headers: { "If-Match": read.headers.etag } });
    await server.request("GET", `/tenant/${tenant}/agents?q=a&sort=name`, { headers: { "Accept-Encoding": "gzip" } });
    await server.request("POST", `/tenant/${tenant}/agents`, { body: "{" });
    await server.request("GET", "/nothing", { token: "lodge_key_bad" });
  }
  const dripping = new Raw(server.port);
  dripping.send("GET / HT");
  await dripping.untilClosed();
  const gone = new Raw(server.port);
  await gone.open();
  gone.send(login());
  await pause(20);
  gone.drop();
  equal(await server.stop("SIGTERM", 150_000), 0, `the exit status, with ${server.stderr.slice(-500)}`); // all of its memory is looked through
}, { ms: 200_000 });
