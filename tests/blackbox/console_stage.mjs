// console_stage.mjs - what the tests of the console's screens stand on: a service, a browser, people who are signed in.
//
//   const stage = console_stage();                       once a file: one service and one browser for its tests
//   test("agents are listed", async (t) => {
//     const { server, tenant, open } = await stage();
//     const view = await open(t, "/t/demo/agents");      signed in as the administrator
//     await view.page.getByRole("heading", { name: "Agents" }).waitFor();
//     await view.looks("agents");                        axe, no sideways scroll, two themes, two widths
//     view.quiet();                                      nothing was complained of
//   });
//
// Whatever the browser complains of fails the test: an error in its console, a breach of the policy, a request to
// another site, a promise that nobody took care of.  Tests of one file share a store, so each makes what it changes.
// Wait by locators, page.waitForURL() or until(): the policy refuses page.waitForFunction(), which evaluates text.
// LODGE_SCREENSHOTS names a folder for pictures.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ADMIN, equal, here, ok, PATIENCE, Scope, shared, short, until } from "./harness.mjs";

const modules = join(here, "browser/node_modules");
const { chromium } = await import(pathToFileURL(join(modules, "playwright-core/index.mjs")).href);
const axe = readFileSync(join(modules, "axe-core/axe.min.js"), "utf8");

export const WIDE = { width: 1440, height: 900 };
export const SMALL = { width: 360, height: 740 };
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

let looked = 0; // views so far

class View {
  constructor(page, context, origin, complaints, underWay) {
    Object.assign(this, { page, context, origin, complaints, underWay });
  }

  /** Goes to a place of the console, by its path there. */
  async go(path) {
    await this.page.goto(`${this.origin}/console${path}`);
  }

  async signIn({ email, password } = ADMIN) {
    await this.page.getByLabel("Email address").fill(email);
    await this.page.getByLabel("Password", { exact: true }).fill(password);
    await this.page.getByRole("button", { name: "Sign in", exact: true }).click();
  }

  /**
   * What stands in view can be read and used, narrow and dark, wide and light, and with LODGE_TEST_EVERY in the other two
   * ways; leaves it wide and light.  axe takes seconds, and looks at one of the two, another from view to view.
   */
  async looks(name) {
    const every = Boolean(process.env.LODGE_TEST_EVERY);
    const judged = ++looked % 2 ? WIDE : SMALL;
    for (const size of [SMALL, WIDE])
      for (const colorScheme of ["dark", "light"]) {
        if ((size === WIDE) !== (colorScheme === "light") && !every) continue;
        const how = `${name}, ${colorScheme}, ${size.width}`;
        await this.page.setViewportSize(size);
        await this.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        const wide = await this.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        ok(wide <= 0, `${how} is ${wide} pixels wider than the window`);
        if (size !== judged && !every && !process.env.LODGE_SCREENSHOTS) continue;
        // The order of headings is ours to keep, but not in what somebody else wrote.
        const { violations } = await this.page.evaluate((tags) => globalThis.axe.run(document, { runOnly: tags, resultTypes: ["violations"], rules: { "heading-order": { enabled: !document.querySelector(".prose") } } }), RULES);
        const found = violations.map((v) => `${v.id}: ${v.nodes.map((n) => `${n.target} ${n.failureSummary}`).slice(0, 3).join("; ")}`);
        equal(found.join("\n"), "", `axe on ${how}`);
        if (process.env.LODGE_SCREENSHOTS) await this.page.screenshot({ path: join(process.env.LODGE_SCREENSHOTS, `${name}-${colorScheme}-${size.width}.png`) });
      }
  }

  /** The login ends, once nothing is on its way that would ask for it before the test does. */
  async loseLogin() {
    let since = Date.now();
    await until(20_000, "the end of what the page reads", () => {
      if (this.underWay.size) since = Date.now();
      return Date.now() - since > 500; // what is read one after the other has no longer pauses
    });
    await this.context.clearCookies();
  }

  /** Presses Tab until what has this name has the focus. */
  async tabTo(name, most = 60) {
    for (let i = 0; i < most; i++) {
      await this.page.keyboard.press("Tab");
      const at = await this.page.evaluate(() => {
        const e = document.activeElement;
        return e?.getAttribute("aria-label") ?? e?.labels?.[0]?.textContent ?? e?.textContent ?? "";
      });
      if (at.trim() === name || at.trim().startsWith(name)) return;
    }
    ok(false, `"${name}" is not reached by ${most} tabs`);
  }

  quiet() {
    equal(this.complaints.join("\n"), "", "what the browser complains of");
  }
}

/** A page of its own; `expected` are statuses that the test provokes. */
async function openPage(browser, server, scope, { expected = [], viewport = WIDE, theme = "light", timezone } = {}) {
  const context = await browser.newContext({ viewport, colorScheme: theme, reducedMotion: "reduce", ...(timezone ? { timezoneId: timezone } : {}) });
  scope.onEnd(() => context.close());
  const complaints = [], underWay = new Set();
  // Whether somebody is signed in shows only by asking.
  const statuses = [401, ...expected];
  const watch = (page) => {
    page.setDefaultTimeout(20_000 * PATIENCE);
    page.on("console", (line) => ["error", "warning"].includes(line.type()) &&
      !statuses.some((status) => line.text().includes(`status of ${status}`)) && complaints.push(line.text()));
    page.on("request", (request) => request.headers().accept === "application/json" && underWay.add(request));
    for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => underWay.delete(request));
    page.on("pageerror", (err) => complaints.push(String(err)));
    page.on("request", (request) => !request.url().startsWith(server.origin) && !request.url().startsWith("blob:") && !request.url().startsWith("data:") &&
      complaints.push(`asks another site: ${request.url()}`));
  };
  context.on("page", watch);
  await context.addInitScript({ content: axe });
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (e) => console.error(`policy: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
    addEventListener("unhandledrejection", (e) => console.error(`nobody took care of: ${e.reason}`));
  });
  return new View(await context.newPage(), context, server.origin, complaints, underWay);
}

export function console_stage({ flags = [], engine = "sqlite" } = {}) {
  return shared(async (scope) => {
    const server = await scope.serve(await scope.place(engine), { flags });
    const tenant = await server.enter();
    const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", timeout: 30_000 * PATIENCE, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
    scope.onEnd(() => browser.close());
    const me = await server.request("GET", "/me");

    /** A browser in which somebody is signed in, by `who` (an address and a password) or as the administrator. */
    async function open(t, path = "/", { who = ADMIN, ...options } = {}) {
      const view = await openPage(browser, server, t, options);
      const login = await server.request("POST", "/auth/login", { token: null, body: { email: who.email, password: who.password } });
      equal(login.status, 200, `signing in: ${short(login.text)}`);
      const cookie = login.headers["set-cookie"].map((c) => c.split(";")[0]).find((c) => !c.startsWith("lodge_device"));
      await view.context.addCookies([{ name: cookie.slice(0, cookie.indexOf("=")), value: cookie.slice(cookie.indexOf("=") + 1), url: server.origin, httpOnly: true, sameSite: "Strict" }]);
      await view.go(path);
      return view;
    }

    /** A browser of a stranger. */
    async function stranger(t, path = "/", options = {}) {
      const view = await openPage(browser, server, t, options);
      await view.go(path);
      return view;
    }

    /** Somebody with a role in the tenant: {email, password}. */
    async function person(role = "MEMBER", email = `p${Math.random().toString(36).slice(2)}@example.org`) {
      const password = "A-persons-own-password";
      const made = await server.request("POST", `/tenant/${tenant}/members`, { body: { email, role } });
      equal(made.status, 201, `inviting: ${short(made.text)}`);
      const taken = await server.request("POST", "/auth/accept-invite", { token: null, body: { token: made.json.invite_token, name: email.split("@")[0], password } });
      equal(taken.status, 200, `accepting: ${short(taken.text)}`);
      return { email, password, id: taken.json.user.id };
    }

    /** Kills the service and starts it again at the same address; gives a function that does the second half. */
    async function kill() {
      await server.kill();
      return async () => {
        const again = await scope.serve(server.place, { flags, listen: `127.0.0.1:${server.port}` });
        again.token = server.token;
        return again;
      };
    }

    return { server, tenant, slug: me.json.memberships[0].tenant_slug, browser, open, stranger, person, kill };
  });
}

export { Scope };
