// pages.test.mjs - the pages of the service in a real browser: accepting an invitation, setting a new password, signing
// in at an OpenID provider and being refused there.  Whatever the browser complains of fails the test: an error in
// the console, a breach of the policy, an answer that did not come.
//
// LODGE_SCREENSHOTS names a folder for pictures of each page in both colour schemes.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { equal, here, match, ok, test } from "./harness.mjs";
import { allow, setUp } from "./oidc_stage.mjs";

const { chromium } = await import(pathToFileURL(join(here, "browser/node_modules/playwright-core/index.mjs")).href);
const GRACE = { email: "grace@example.org", password: "Graces-own-password" };

/** A browser of one's own; `expected` are statuses whose mention in the console is no complaint. */
async function open(t, { expected = [] } = {}) {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
  t.onEnd(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 800, height: 700 } });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const complaints = [];
  page.on("console", (line) => ["error", "warning"].includes(line.type()) &&
    !expected.some((status) => line.text().includes(`status of ${status}`)) && complaints.push(line.text()));
  page.on("pageerror", (err) => complaints.push(String(err)));
  page.on("requestfailed", (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
  await page.addInitScript(() => addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`)));
  return { context, page, quiet: () => equal(complaints.join("\n"), "", "what the browser complains of") };
}

/** No part of the page is wider than the window, and every colour scheme has its picture. */
async function look(page, name) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of [320, 800]) {
      await page.setViewportSize({ width, height: 700 });
      ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than ${width}`);
      if (process.env.LODGE_SCREENSHOTS) await page.screenshot({ path: join(process.env.LODGE_SCREENSHOTS, `${name}-${colorScheme}-${width}.png`) });
    }
  }
}

const said = (page, text) => page.locator("#say", { hasText: text }).waitFor();

test("an invitation is accepted in a browser", async (t) => {
  const server = await t.serve(await t.place("sqlite"));
  const tenant = await server.enter();
  const made = await server.request("POST", `/tenant/${tenant}/members`, { body: { email: GRACE.email } });
  const { page, quiet } = await open(t, { expected: [401] });
  await page.goto(made.json.invite_url);
  await page.locator("#accept").waitFor();
  equal(new URL(page.url()).hash, "", "the token in the address bar");
  await look(page, "invite");
  equal(await page.evaluate(async () => (await document.fonts.ready, [...document.fonts].map((f) => `${f.family} ${f.status}`).join())), "Atkinson Hyperlegible Next loaded", "the type is the console's");
  await page.fill("#name", "Grace <b>Example</b>");
  await page.fill("#password", GRACE.password);
  await page.fill("#again", "another password");
  await page.click("#accept button");
  await said(page, "not the same");
  await look(page, "invite-refused");
  await page.fill("#again", GRACE.password);
  await page.click("#accept button");
  await said(page, `signed in as ${GRACE.email}`);
  await look(page, "invite-accepted");
  equal((await server.login(GRACE)).json.user.name, "Grace <b>Example</b>", "the name");
  quiet();
}, { ms: 180_000 });

test("somebody with an account signs in and answers an invitation in a browser", async (t) => {
  const place = await t.place("sqlite");
  const server = await t.serve(place);
  const tenant = await server.enter();
  const made = await server.request("POST", `/tenant/${tenant}/members`, { body: { email: GRACE.email } });
  await server.request("POST", "/auth/accept-invite", { token: null, body: { token: made.json.invite_token, name: "Grace", password: GRACE.password } });
  const second = (await server.request("POST", "/tenants", { body: { name: "The <i>second</i>", slug: "second" } })).json.id;
  equal((await server.request("POST", `/tenant/${second}/members`, { body: { email: GRACE.email, role: "ADMIN" } })).status, 201, "the invitation");
  equal((await t.on(place, ["user", "prove", GRACE.email])).status, 0, "proving the address");
  const reset = await t.on(place, ["user", "reset-password", GRACE.email]);
  const { page, quiet } = await open(t, { expected: [401] });

  // Proving ended the password, and the link brings a new one.
  await page.goto(`${server.origin}/reset`);
  await said(page, "not whole");
  await page.goto(`${server.origin}/reset#${/#(lodge_reset_\w+)/.exec(reset.stdout)[1]}`);
  await page.reload(); // only the part after # differs, which loads nothing
  await page.locator("#reset").waitFor({ state: "attached" });
  quiet();
  const link = `${server.origin}/reset#${/#(lodge_reset_\w+)/.exec((await t.on(place, ["user", "reset-password", GRACE.email])).stdout)[1]}`;
  await page.goto("about:blank");
  await page.goto(link);
  await page.locator("#reset").waitFor();
  await look(page, "reset");
  await page.fill("#password", "A-new-password");
  await page.fill("#again", "A-new-password");
  await page.click("#reset button");
  await said(page, "The password is set");
  await look(page, "reset-done");

  await page.goto(`${server.origin}/invite`);
  await page.locator("#login").waitFor();
  await look(page, "login");
  await page.fill("#email", GRACE.email);
  await page.fill("#present", "wrong password");
  await page.click("#login button");
  await page.locator("#say.bad").waitFor();
  await page.fill("#present", "A-new-password");
  await page.click("#login button");
  await page.locator("li", { hasText: "The <i>second</i> asks you to join as ADMIN." }).waitFor();
  await look(page, "invitations");
  await page.getByRole("button", { name: "Accept" }).click();
  await said(page, "You are a member of The <i>second</i> now.");
  equal((await server.login({ email: GRACE.email, password: "A-new-password" })).json.user.memberships.length, 2, "memberships");
  quiet();
}, { ms: 180_000 });

// localhost and 127.0.0.1 are two sites, and so the way back comes from another one.
test("somebody signs in at a provider in a browser, and reads why not", async (t) => {
  const { op, server, tenant } = await setUp(t, { host: "localhost" });
  await allow(server, tenant, "ada@example.org");
  const { context, page, quiet } = await open(t, { expected: [401, 403, 404] });
  await page.goto(`${server.origin}/auth/oidc/sso/start?return_to=/me`);
  await page.waitForURL(`${server.origin}/me`);
  match(await page.content(), /Ada@example\.org/, "what the browser shows");
  const cookie = (await context.cookies(server.origin)).find((one) => one.name === "lodge_session");
  equal(`${cookie.httpOnly} ${cookie.sameSite}`, "true Strict", "the cookie");

  for (const [who, sentence] of [["eve", "Nobody here has allowed your email address"], ["nobody", "access_denied"], ["shy", "proven to be yours"]]) {
    op.as = who;
    await context.clearCookies();
    await page.goto(`${server.origin}/auth/oidc/sso/start`);
    await page.locator("#say", { hasText: sentence }).waitFor();
    if (who === "eve") await look(page, "refused");
  }
  op.as = "ada";
  op.client.client_secret = "another";
  await op.restart();
  await context.clearCookies();
  await page.goto(`${server.origin}/auth/oidc/sso/start`);
  await page.locator("#say", { hasText: "did not sign you in" }).filter({ hasText: "it answers 401" }).waitFor();
  await page.goto(`${server.origin}/auth/oidc/none/start`);
  await page.locator("h1").waitFor();
  const text = await page.content();
  ok(!/s3cret|lodge:client|code=|state=/.test(text), `the page tells too much: ${text}`);
  quiet();
}, { ms: 180_000 });
