// letters.test.mjs - whole journeys by mail: what a relay is given is read as a person would, and the links in it are followed,
// one of them in a browser from the console's sign-in on.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { equal, here, match, ok, test, testBoth } from "./harness.mjs";

const require = createRequire(join(here, "mail/package.json"));
const { SMTPServer } = require("smtp-server");
const { simpleParser } = require("mailparser");

/** A relay that keeps letters; `letter(n)` waits for the nth, from 1 on. */
async function relay(t) {
  const letters = [], waiting = [];
  const server = new SMTPServer({
    authOptional: true, disabledCommands: ["STARTTLS"],
    onData: (stream, session, done) => simpleParser(stream).then((mail) => {
      letters.push({ ...mail, from: session.envelope.mailFrom.address, to: session.envelope.rcptTo.map((r) => r.address).join() });
      waiting.splice(0).forEach((look) => look());
      done();
    }, done),
  });
  server.on("error", () => undefined);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.onEnd(() => new Promise((resolve) => server.close(resolve)));
  const letter = async (n) => {
    while (letters.length < n) await new Promise((resolve) => waiting.push(resolve));
    return letters[n - 1];
  };
  return { letters, letter, flags: [`--smtp-relay=smtp://127.0.0.1:${server.server.address().port}`, "--mail-from=lodge@lodge.example"] };
}

const linkIn = (mail, page) => {
  const found = mail.text.match(new RegExp(`^https?://\\S+/${page}#\\S+$`, "m"));
  ok(found, `a link to /${page} in: ${mail.text}`);
  return found[0];
};
const tokenIn = (mail, page) => linkIn(mail, page).split("#")[1];
const ask = (server, path, body) => server.request("POST", path, { token: null, body });

testBoth("people are invited, register and come back by mail", async (t, engine) => {
  const post = await relay(t);
  const server = await t.serve(await t.place(engine), { flags: post.flags });
  const tenant = await server.enter();
  equal((await server.request("GET", "/auth/ways", { token: null })).json.mail, true, "the ways to sign in");

  equal((await server.request("POST", `/tenant/${tenant}/members`, { body: { email: "grace@example.org" } })).status, 201, "the invitation");
  const invited = await post.letter(1);
  equal(`${invited.from} ${invited.to}`, "lodge@lodge.example grace@example.org", "the envelope");
  equal(invited.headers.get("auto-submitted"), "auto-generated", "the letter is nobody's");
  match(invited.text, /invites you to join/, "what it says");
  const grace = await ask(server, "/auth/accept-invite", { token: tokenIn(invited, "invite"), name: "Grace", password: "Graces-own-password" });
  equal(`${grace.status} ${grace.json.user.email_proven}`, "200 true", "the account");

  equal((await server.request("POST", `/tenant/${tenant}/allowed-accounts`, { body: { email: "joan@example.org" } })).status, 201, "the allowed account");
  equal((await ask(server, "/auth/register", { email: "joan@example.org", name: "Joan", password: "Joans-own-password" })).status, 202, "registering");
  const joan = await ask(server, "/auth/confirm", { token: tokenIn(await post.letter(2), "confirm"), password: "Joans-own-password" });
  equal(`${joan.status} ${joan.json.user.memberships.length}`, "200 1", "the account");

  equal((await ask(server, "/auth/reset", { email: "nobody@example.org" })).status, 202, "nobody's address");
  equal((await ask(server, "/auth/reset", { email: "joan@example.org" })).status, 202, "asking for a new password");
  const again = await post.letter(3);
  equal(again.to, "joan@example.org", "to whom it goes");
  equal((await ask(server, "/auth/reset/confirm", { token: tokenIn(again, "reset"), password: "Joans-new-password" })).status, 204, "the new password");
  equal((await server.request("GET", "/me", { token: joan.json.token })).status, 401, "the login of before");
  equal((await server.login({ email: "joan@example.org", password: "Joans-new-password" })).status, 200, "signing in");
  equal(post.letters.length, 3, "letters");
}, { ms: 120_000 });

test("a forgotten password is set anew, and an account made, in a browser", async (t) => {
  const { chromium } = await import(pathToFileURL(join(here, "browser/node_modules/playwright-core/index.mjs")).href);
  const post = await relay(t);
  const server = await t.serve(await t.place("sqlite"), { flags: post.flags });
  const tenant = await server.enter();
  await server.request("POST", `/tenant/${tenant}/members`, { body: { email: "grace@example.org" } });
  await ask(server, "/auth/accept-invite", { token: tokenIn(await post.letter(1), "invite"), name: "Grace", password: "Graces-own-password" });
  equal((await server.request("POST", `/tenant/${tenant}/allowed-accounts`, { body: { email: "joan@example.org" } })).status, 201, "the allowed account");
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
  t.onEnd(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(`${server.origin}/console/sign-in`);
  await page.getByRole("button", { name: "Forgot your password?" }).click();
  await page.getByLabel("Email address").fill("grace@example.org");
  await page.getByRole("button", { name: "Send the link" }).click();
  await page.getByText("a letter with a link is on its way").waitFor();
  await page.goto(linkIn(await post.letter(2), "reset"));
  await page.fill("#password", "Graces-new-password");
  await page.fill("#again", "Graces-new-password");
  await page.click("#reset button");
  await page.locator("#say", { hasText: "The password is set" }).waitFor();
  equal((await server.login({ email: "grace@example.org", password: "Graces-new-password" })).status, 200, "signing in");

  await page.goto(`${server.origin}/console/sign-in`);
  await page.getByRole("button", { name: "Register" }).click();
  await page.getByLabel("Email address").fill("joan@example.org");
  await page.getByLabel("Your name").fill("Joan");
  await page.getByLabel("Password").fill("Joans-own-password");
  await page.getByRole("button", { name: "Send the link" }).click();
  await page.goto(linkIn(await post.letter(3), "confirm"));
  await page.fill("#asked", "Joans-own-password");
  await page.click("#confirm button");
  await page.locator("#say", { hasText: "signed in as joan@example.org" }).waitFor();
}, { ms: 180_000 });
