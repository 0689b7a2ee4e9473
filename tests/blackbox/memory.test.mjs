// memory.test.mjs - the memory of the process, as the system counts it, while somebody tries to fill it: large
// requests whose reader does not read, bodies of strangers, pages that nobody takes.  It is bounded then, and
// given back afterwards.
//
// LODGE_MEMORY_FIGURES=1 prints what was measured; docs/limits.md has the figures of a release build.
import { readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { equal, ok, pause, testBoth, until } from "./harness.mjs";

const MIB = 1024; // kB
// What the address sanitizer keeps of freed memory would look like growth.
const ENV = { ASAN_OPTIONS: "detect_leaks=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=64" };
const FLAGS = ["--no-access-log", "--allow-private-addresses", "--body-timeout", "5m", "--reply-timeout", "5m", "--parked-timeout", "5m"];
const BODY = 32 * 1024 * 1024;
const sanitized = /build-test/.test(process.env.LODGE_BIN ?? "build-test");

const memory = (server, name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${server.child.pid}/status`, "utf8"))[1]);

/** What the process has while `work` is under way: {before, peak, after} in kB; its end is waited for. */
async function measured(server, what, work, undo) {
  const before = memory(server, "RssAnon");
  writeFileSync(`/proc/${server.child.pid}/clear_refs`, "5"); // VmHWM begins anew
  const resident = memory(server, "VmRSS");
  let peak = before, over = false;
  const watch = (async () => {
    while (!over) {
      peak = Math.max(peak, memory(server, "RssAnon"));
      await pause(5);
    }
  })();
  let result;
  try {
    result = await work();
  } finally {
    over = true;
    await watch;
    await undo();
  }
  const high = memory(server, "VmHWM");
  // The sanitizer gives nothing back.
  if (!sanitized) await until(5000, `${what}: what is free goes back, of ${memory(server, "RssAnon") - before} kB`, () => memory(server, "RssAnon") - before < 24 * MIB);
  const after = memory(server, "RssAnon");
  if (process.env.LODGE_MEMORY_FIGURES)
    console.log(`note: ${server.place.engine}: ${what}: RssAnon ${before} kB before, ${peak} at the peak, ${after} after; VmRSS ${resident} kB before, VmHWM ${high}, VmRSS ${memory(server, "VmRSS")} after; ${JSON.stringify(result)}`);
  return { grown: Math.max(peak - before, high - resident), result };
}

/** A client that sends and reads only the beginning of the answer. */
class Mute {
  constructor(port, head, body) {
    this.answer = "";
    this.socket = net.connect({ port, host: "127.0.0.1" });
    this.socket.on("error", () => (this.closed = true)).on("close", () => (this.closed = true));
    this.socket.on("data", (part) => {
      this.answer += part.toString("latin1");
      if (this.answer.length > 64) this.socket.pause();
    });
    this.socket.write(head);
    for (const part of [body ?? []].flat()) this.socket.write(part);
  }
  get status() {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.answer)?.[1] ?? 0);
  }
  drop() {
    this.socket.destroy();
  }
}

const head = (method, path, token, length) =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\n${token ? `Authorization: Bearer ${token}\r\n` : ""}${length === undefined ? "" : `Content-Type: application/json\r\nContent-Length: ${length}\r\n`}\r\n`;

/** Says so much as is taken. */
async function provider(t) {
  const server = http.createServer(async (req, res) => {
    for await (const _ of req);
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    res.on("error", () => {});
    const piece = `data: ${JSON.stringify({ id: "x", model: "m", choices: [{ index: 0, delta: { content: "x".repeat(16_000) } }] })}\n\n`;
    const talk = () => {
      while (!res.destroyed && res.write(piece));
    };
    res.on("drain", talk);
    talk();
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.onEnd(() => new Promise((done) => (server.closeAllConnections(), server.close(done))));
  return `http://127.0.0.1:${server.address().port}/v1`;
}

const filled = (before, item, after) => {
  const count = Math.floor((BODY - before.length - after.length - 16) / (item.length + 1));
  return Buffer.from(before + `${item},`.repeat(count) + item + after);
};

const SHAPES = {
  "one long text": Buffer.from(`{"model":"m","stream":true,"messages":[{"role":"user","content":"${"x".repeat(BODY - 200)}"}]}`),
  "small parts": filled(`{"model":"m","stream":true,"messages":[{"role":"user","content":[`, `{"type":"text","text":"a"}`, `]}]}`),
  "small messages": filled(`{"model":"m","stream":true,"messages":[`, `{"role":"user","content":"a"}`, `]}`),
  "small objects": filled(`{"model":"m","stream":true,"messages":[{"role":"user","content":"a"}],"metadata":{"a":[`, `{"a":0}`, `]}}`),
};

testBoth("requests of 32 MiB whose reader is slow take a small multiple of that, and give it back", async (t, engine) => {
  const lodge = await t.serve(await t.place(engine), { flags: [...FLAGS, "--house-memory", "384m"], env: ENV });
  await lodge.enter();
  const made = await lodge.request("POST", "/admin/models", { body: { name: "m", slug: "m", kind: "openai", available_to_all_tenants: true,
    pricing: { prompt: "0", completion: "0" }, config: { base_url: await provider(t), model: "m", api_key: "sk-x" } } });
  equal(made.status, 201, `a model says ${made.text}`);
  for (const [shape, body] of Object.entries(SHAPES))
    for (const count of [1, 8]) {
      const all = [];
      const { grown, result } = await measured(lodge, `${count} of 32 MiB, ${shape}`, async () => {
        for (let i = 0; i < count; i++) all.push(new Mute(lodge.port, head("POST", "/v1/chat/completions", lodge.token, body.length), body));
        await until(240_000, `answers to ${shape}`, () => all.every((one) => one.status || one.closed));
        await pause(200); // the buffers of those that stream fill meanwhile
        return all.map((one) => one.status);
      }, () => all.forEach((one) => one.drop()));
      ok(result.every((status) => [200, 400, 413, 503, 0].includes(status)), `${shape}: ${result}`);
      // A request: its body, what is made of it, what goes out.  All: the house's ceiling, and what two loops take
      // in a step.
      const most = count === 1 ? 32 + 128 + 64 : 384 + 2 * 32 + 64;
      ok(grown < most * MIB, `${count} of ${shape}: it grew by ${grown} kB`);
      await lodge.healthy();
    }
}, { ms: 1_200_000 });

testBoth("bodies of strangers are not held", async (t, engine) => {
  const lodge = await t.serve(await t.place(engine), { flags: FLAGS, env: ENV });
  await lodge.enter();
  const body = Buffer.alloc(BODY - 1024, "x");
  for (const [path, size, most] of [["/v1/chat/completions", body.length, 24], [`/tenant/${lodge.tenant}/agents`, 8_000_000, 24], ["/auth/login", 60_000, 24], [`/hooks/${lodge.tenant}`, 1_000_000, 48]]) {
    const all = [];
    const { grown } = await measured(lodge, `20 bodies of ${size} to ${path}, without a credential`, async () => {
      // All but the last byte: nobody comes to an end by himself.
      for (let i = 0; i < 20; i++) all.push(new Mute(lodge.port, head("POST", path, null, size), body.subarray(0, size - 1)));
      await until(60_000, "what was sent is taken or refused", () => all.every((one) => one.status || one.closed || one.socket.writableLength === 0));
      // The system takes more than a megabyte before the service has read any of it.  Who sends on although he was
      // answered is cut off, perhaps before he has read why.
      if (size >= 1_000_000)
        await until(60_000, `${path}: four of twenty are refused`, () => all.filter((one) => [401, 503].includes(one.status) || one.closed).length >= 4);
      await pause(200);
    }, () => all.forEach((one) => one.drop()));
    ok(grown < most * MIB, `${path}: it grew by ${grown} kB`);
  }
}, { ms: 300_000 });

testBoth("pages of long messages are held once, and not for everybody", async (t, engine) => {
  const place = await t.place(engine);
  const lodge = await t.serve(place, { flags: FLAGS, env: ENV });
  const tenant = await lodge.enter();
  const agent = await lodge.request("POST", `/tenant/${tenant}/agents`, { body: { name: "a", slug: "a" } });
  equal(agent.status, 201, `an agent says ${agent.text}`);
  const session = await lodge.request("POST", `/tenant/${tenant}/agents/${agent.json.id}/sessions`, { body: {} });
  equal(session.status, 201, `a session says ${session.text}`);
  const text = engine === "sqlite" ? "replace(hex(zeroblob(524288)), '0', 'x')" : "repeat('x', 1048576)";
  const number = engine === "sqlite" ? "printf('%024d', i)" : "lpad(i::text, 24, '0')";
  await place.sql(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 50)
    insert into messages (tenant_id, session_id, id, role, status, prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd, created_at, tool_calls, content)
    select '${tenant}', '${session.json.id}', 'c' || ${number}, 'user', 'complete', 0, 0, 0, 0, 0, 1, '[]', ${text} from n`);
  const path = `/tenant/${tenant}/sessions/${session.json.id}/messages?per_page=200`;
  const page = await lodge.request("GET", path);
  equal(page.status, 200, `a page says ${page.text.slice(0, 300)}`);
  for (const count of [1, 40]) {
    const all = [];
    const { grown, result } = await measured(lodge, `${count} pages of messages of 1 MiB for who does not read`, async () => {
      for (let i = 0; i < count; i++) all.push(new Mute(lodge.port, head("GET", path, lodge.token)));
      await until(120_000, "answers", () => all.every((one) => one.status));
      return { 200: all.filter((one) => one.status === 200).length, 503: all.filter((one) => one.status === 503).length };
    }, () => all.forEach((one) => one.drop()));
    equal(result[200] + result[503], count, "pages that were given or refused");
    ok(result[200] >= 1, `somebody is answered: ${JSON.stringify(result)}`);
    ok(grown < (count === 1 ? 24 : 256 + 64) * MIB, `${count}: it grew by ${grown} kB`);
  }
  equal((await lodge.request("GET", path)).status, 200, "afterwards");
}, { ms: 300_000 });
