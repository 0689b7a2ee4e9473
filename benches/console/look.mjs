// look.mjs - what a person at the console waits for, measured in Debian's Chromium.
//
//   node look.mjs ORIGIN EMAIL PASSWORD SESSION AGENT TENANT SLUG ROUNDS [lighthouse]
//
// SESSION has 2,000 messages; AGENT answers there.  Prints one line for each figure: NAME and its numbers.  With "lighthouse" it
// prints the marks of three pages instead.  The answers come from a model in here, which says a word when it is told to.
import { createServer, request as ask } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [origin, email, password, session, agent, tenant, slug, times, what] = process.argv.slice(2);
const rounds = Number(times);
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
const LAUNCH = { executablePath: "/usr/bin/chromium", args: FLAGS };
const SIZE = { width: 1440, height: 900 };
const TOKENS_A_SECOND = 100, STREAM_SECONDS = 10, DELTAS = 10_000, MESSAGES = 2000, KEYS = 60, TABS = 8;

const median = (all) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];
const print = (name, ...numbers) => console.log([name, ...numbers.map((n) => (typeof n === "number" ? n.toFixed(1) : n))].join(" "));
const rest = (ms) => new Promise((done) => setTimeout(done, ms));
async function until(sentence, holds, ms = 60_000) {
  for (const end = Date.now() + ms; Date.now() < end; await rest(20)) if (await holds()) return;
  throw new Error(`not within ${ms} ms: ${sentence}`);
}

let token = "";
async function call(method, path, body) {
  const reply = await fetch(origin + path, { method, headers: { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) }, ...(body ? { body: JSON.stringify(body) } : {}) });
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
  return { json: await reply.json().catch(() => null), cookies: reply.headers.getSetCookie() };
}

async function signIn(context) {
  const { json, cookies } = await call("POST", "/auth/login", { email, password });
  token = json.token;
  await context.addCookies(cookies.map((c) => c.split(";")[0]).filter((c) => !c.startsWith("lodge_device")).map((c) => ({ name: c.slice(0, c.indexOf("=")), value: c.slice(c.indexOf("=") + 1), url: origin, httpOnly: true, sameSite: "Strict" })));
}

// ---- a model ----

/** One word, and now and then the beginning of a list, of a paragraph, of code: an answer as models give them. */
function word(i) {
  if (i % 200 === 150) return "\n\n```js\nconst sum = (a, b) => a + b; // ";
  if (i % 200 === 190) return "\n```\n\n";
  if (i % 60 === 59) return ".\n\n- **point** ";
  return `w${i % 97} `;
}

async function startModel() {
  const model = { answers: [] };
  const server = createServer((request, reply) => {
    request.resume();
    request.on("end", () => {
      reply.writeHead(200, { "Content-Type": "text/event-stream" });
      const chunk = (delta, reason = null, more = {}) => reply.write(`data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: reason }], ...more })}\n\n`);
      chunk({ role: "assistant" });
      model.answers.push({ say: (text) => chunk({ content: text }), end: () => (chunk({}, "stop", { usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } }), reply.end("data: [DONE]\n\n")) });
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const made = await call("POST", "/admin/models", { name: "Bench", slug: "bench", kind: "openai", available_to_all_tenants: true, is_free: true, pricing: { prompt: "0", completion: "0" }, config: { base_url: `http://127.0.0.1:${server.address().port}/v1`, model: "m", api_key: "k" } });
  await call("PUT", `/agents/${agent}/models`, { model_ids: [made.json.id] });
  model.close = () => (server.closeAllConnections(), server.close());
  model.next = async (id, message) => {
    const n = model.answers.length;
    await call("POST", `/tenant/${tenant}/sessions/${id}/messages`, { content: message });
    await until("the model is asked", () => model.answers.length > n);
    model.answers[n].say("Well, ");
    return model.answers[n];
  };
  return model;
}

// ---- figures ----

/** Until the newest message has been painted: by its address in a browser that was never here and in one that was, from the beginning of the
 *  navigation; and by a click in the list, from the click. */
async function opening(browser) {
  const cold = [], warm = [], click = [], place = `${origin}/console/t/${slug}/sessions`;
  for (let i = 0; i <= rounds; i++) {
    const context = await browser.newContext({ viewport: SIZE });
    await signIn(context);
    await context.addInitScript(() => {
      const watch = () => {
        const seen = new MutationObserver(() => {
          if (!document.querySelector("article.message")) return;
          seen.disconnect();
          requestAnimationFrame(() => setTimeout(() => (globalThis.shownAt = performance.now())));
        });
        seen.observe(document, { childList: true, subtree: true });
      };
      watch();
      addEventListener("click", (e) => ((globalThis.clickedAt = e.timeStamp), watch()), true);
    });
    const page = await context.newPage();
    const shown = async () => {
      await until("the session is shown", () => page.evaluate(() => globalThis.shownAt));
      await page.getByRole("textbox", { name: "Message" }).waitFor();
      return page.evaluate(() => globalThis.shownAt - (globalThis.clickedAt ?? 0));
    };
    const took = [];
    await page.goto(`${place}/${session}`);
    took.push(await shown());
    await page.goto(`${place}/${session}`);
    took.push(await shown());
    await page.goto(place);
    await page.getByRole("link", { name: "Long", exact: true }).click();
    took.push(await shown());
    if (i) [cold, warm, click].forEach((all, k) => all.push(took[k]));
    await context.close();
  }
  print("open", median(warm), median(click), median(cold));
}

/** All 2,000 messages are in the page; from each key until what it changed has been painted. */
async function typing(page) {
  await until("all messages are there", async () => {
    await page.evaluate(() => scrollTo(0, 0));
    return (await page.locator("article.message").count()) >= MESSAGES;
  }, 180_000);
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await page.getByRole("textbox", { name: "Message" }).focus();
  await page.evaluate(() => {
    globalThis.keys = [];
    addEventListener("keydown", (e) => requestAnimationFrame(() => setTimeout(() => globalThis.keys.push(performance.now() - e.timeStamp))), true);
  });
  for (let i = 0; i < KEYS; i++) {
    await page.keyboard.press("abcdefgh "[i % 9]);
    await rest(60);
  }
  await until("every key was painted", async () => (await page.evaluate(() => globalThis.keys.length)) >= KEYS);
  const keys = (await page.evaluate(() => globalThis.keys)).sort((a, b) => a - b);
  await page.getByRole("textbox", { name: "Message" }).fill("");
  return { p50: median(keys), p95: keys[Math.floor(keys.length * 0.95)], worst: keys[keys.length - 1] };
}

/** The longest thing that the page's thread did in one go, by the clock and by its own time. */
function longest(trace) {
  const { traceEvents } = JSON.parse(trace.toString());
  const mains = new Set(traceEvents.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => `${e.pid}/${e.tid}`));
  const tasks = traceEvents.filter((e) => e.ph === "X" && mains.has(`${e.pid}/${e.tid}`) && (e.name === "RunTask" || e.name === "ThreadControllerImpl::RunTask"));
  return { wall: Math.max(0, ...tasks.map((e) => e.dur / 1000)), cpu: Math.max(0, ...tasks.map((e) => (e.tdur ?? 0) / 1000)), count: tasks.length };
}

async function streaming(browser, page, model) {
  const answer = await model.next(session, "speak");
  await page.locator("article[aria-busy]").waitFor();
  await browser.startTracing(page, { categories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline", "__metadata"] });
  const began = performance.now();
  for (let i = 0; i < TOKENS_A_SECOND * STREAM_SECONDS; i++) {
    answer.say(word(i));
    const early = began + ((i + 1) * 1000) / TOKENS_A_SECOND - performance.now();
    if (early > 1) await rest(early);
  }
  const found = longest(await browser.stopTracing());
  answer.end();
  await page.locator("article[aria-busy]").waitFor({ state: "detached" });
  if (!found.count) throw new Error("the trace has no tasks");
  return found;
}

/** The heap after a collection, as an answer of 10,000 pieces grows; in a page with nothing else. */
async function heap(browser, model) {
  const context = await browser.newContext({ viewport: SIZE });
  await signIn(context);
  const made = await call("POST", `/agents/${agent}/sessions`, { title: "Heap" });
  const page = await context.newPage(), cdp = await context.newCDPSession(page);
  await page.goto(`${origin}/console/t/${slug}/sessions/${made.json.id}`);
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  const answer = await model.next(made.json.id, "speak");
  await page.locator("article[aria-busy]").waitFor();
  const sizes = [];
  for (let i = 0; i < DELTAS; i++) {
    answer.say(word(i));
    if (i % 10 === 9) await rest(10); // a thousand a second
    if ((i + 1) % (DELTAS / 10)) continue;
    answer.say(`mark${i} `);
    await until("all is shown", () => page.evaluate((mark) => document.querySelector("article[aria-busy]")?.textContent.includes(mark), `mark${i}`));
    await cdp.send("HeapProfiler.collectGarbage");
    sizes.push((await cdp.send("Runtime.getHeapUsage")).usedSize / 1e6);
  }
  answer.end();
  await page.locator("article[aria-busy]").waitFor({ state: "detached" });
  await cdp.send("HeapProfiler.collectGarbage");
  sizes.push((await cdp.send("Runtime.getHeapUsage")).usedSize / 1e6);
  await context.close();
  print("heap", sizes[0], sizes[9], sizes[10], (await sizeOf(made.json.id)) / 1e3);
}
const sizeOf = async (id) => (await call("GET", `/tenant/${tenant}/sessions/${id}/messages?per_page=1`)).json.items[0].content.length;

/** Eight tabs of one browser: how many streams they keep, and how long until the last of them shows what happened. */
async function tabs(browser) {
  let open = 0;
  const proxy = createServer((request, reply) => {
    const stream = request.url.startsWith("/me/events");
    if (stream) open++;
    const on = ask(origin + request.url, { method: request.method, headers: request.headers }, (from) => {
      reply.writeHead(from.statusCode, from.headers);
      from.pipe(reply);
    });
    on.on("error", () => reply.destroy());
    reply.on("close", () => (on.destroy(), stream && open--));
    request.pipe(on);
  });
  await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
  const context = await browser.newContext({ viewport: SIZE });
  await signIn(context);
  const pages = [], base = `http://127.0.0.1:${proxy.address().port}/console/t/${slug}/agents`;
  for (let i = 0; i < TABS; i++) {
    pages.push(await context.newPage());
    await pages[i].goto(base);
    await pages[i].getByRole("heading", { level: 1, name: "Agents" }).waitFor();
  }
  await until("the stream is there", () => open > 0);
  const took = [];
  for (let i = 0; i < rounds; i++) {
    const name = `Tab ${i}`, began = performance.now();
    const shown = pages.map((page) => page.getByRole("link", { name, exact: true }).first().waitFor());
    await call("POST", `/tenant/${tenant}/agents`, { name, slug: `tab-${i}-${Date.now()}` });
    await Promise.all(shown);
    took.push(performance.now() - began);
  }
  print("tabs", open, median(took));
  await context.close();
  proxy.closeAllConnections();
  proxy.close();
}

/** Marks of Lighthouse as it comes: a telephone on a slow network. */
async function marks() {
  const { default: lighthouse } = await import("lighthouse");
  const folder = mkdtempSync(join(tmpdir(), "lodge-lighthouse.")), port = 20_000 + Math.floor(Math.random() * 10_000);
  const context = await chromium.launchPersistentContext(folder, { ...LAUNCH, args: [...FLAGS, `--remote-debugging-port=${port}`] });
  try {
    const places = [["sign-in", "/console/"], ["chat", `/console/t/${slug}/sessions/${session}`], ["costs", `/console/t/${slug}/costs`]];
    for (const [name, path] of places) {
      if (name === "chat") await signIn(context);
      const fast = [], open = [], faults = new Set(), slow = new Set();
      for (let i = 0; i < rounds; i++) {
        const { lhr } = await lighthouse(origin + path, { port, onlyCategories: ["performance", "accessibility"], disableStorageReset: true, logLevel: "error" });
        if (lhr.runtimeError) throw new Error(`${name}: ${lhr.runtimeError.message}`);
        fast.push(lhr.categories.performance.score * 100);
        open.push(lhr.categories.accessibility.score * 100);
        for (const ref of lhr.categories.accessibility.auditRefs) if (ref.weight && lhr.audits[ref.id].score === 0) faults.add(ref.id);
        for (const ref of lhr.categories.performance.auditRefs) if (ref.weight) slow.add(`${ref.id}=${lhr.audits[ref.id].displayValue}`);
      }
      print(`lighthouse-${name}`, median(fast), median(open), [...faults].join(",") || "-", ...(process.env.BENCH_DETAILS ? slow : []));
    }
  } finally {
    await context.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main() {
  if (what === "lighthouse") return marks();
  const browser = await chromium.launch(LAUNCH);
  const context = await browser.newContext({ viewport: SIZE });
  await signIn(context);
  const model = await startModel();
  try {
    await opening(browser);
    const page = await context.newPage();
    await page.goto(`${origin}/console/t/${slug}/sessions/${session}`);
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    const quick = [], tasks = [];
    for (let i = 0; i < rounds; i++) quick.push(await typing(page));
    print("keys", median(quick.map((q) => q.p50)), median(quick.map((q) => q.p95)), median(quick.map((q) => q.worst)));
    for (let i = 0; i < rounds; i++) tasks.push(await streaming(browser, page, model));
    print("task", median(tasks.map((t) => t.wall)), median(tasks.map((t) => t.cpu)), Math.max(...tasks.map((t) => t.wall)));
    await heap(browser, model);
    await tabs(browser);
  } finally {
    await browser.close();
    model.close();
  }
}

await main();
