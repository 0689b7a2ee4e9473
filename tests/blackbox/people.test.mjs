// people.test.mjs - `lodge user`: the way back in, and the way out, while the service runs; and the script of the pages.
import { ADMIN, equal, match, ok, test, testBoth } from "./harness.mjs";
import { Script } from "node:vm";

const GRACE = { email: "grace@example.org", password: "Graces-own-password" };

/** Somebody in the tenant, by a token. */
async function invite(server, tenant) {
  const made = await server.request("POST", `/tenant/${tenant}/members`, { body: { email: GRACE.email } });
  equal(made.status, 201, made.text);
  match(made.json.invite_url, /\/invite#lodge_invite_/, "the address to accept at");
  equal((await server.request("GET", new URL(made.json.invite_url).pathname, { token: "" })).status, 200, "the page");
  const entered = await server.request("POST", "/auth/accept-invite",
    { token: "", body: { token: made.json.invite_token, name: "Grace", password: GRACE.password } });
  equal(entered.status, 200, entered.text);
  return { id: entered.json.user.id, token: entered.json.token };
}

const enter = async (server, password) =>
  (await server.request("POST", "/auth/login", { token: "", body: { email: GRACE.email, password } })).status;

testBoth("lodge user lists, resets, unlocks, proves and deletes", async (t, engine) => {
  const place = await t.place(engine);
  const server = await t.serve(place);
  const tenant = await server.enter();
  const user = (...words) => t.on(place, ["user", ...words]);
  const grace = await invite(server, tenant);

  const list = await user("list");
  equal(list.status, 0, list.stderr);
  match(list.stdout, new RegExp(`${grace.id} +${GRACE.email} +no `), "Grace's line");
  match(list.stdout, new RegExp(`${ADMIN.email} +yes +super `), "the super administrator's line");

  const reset = await user("reset-password", "GRACE@example.org");
  equal(reset.status, 0, reset.stderr);
  const token = /\/reset#(lodge_reset_\w+)/.exec(reset.stdout)?.[1];
  ok(token, `no link in ${reset.stdout}`);
  const set = await server.request("POST", "/auth/reset/confirm", { token: "", body: { token, password: "A-new-password" } });
  equal(set.status, 204, set.text);
  equal(await enter(server, GRACE.password), 401, "the old password");
  equal(await enter(server, "A-new-password"), 200, "the new password");

  for (let i = 0; i < 10; i++) await enter(server, "wrong");
  equal(await enter(server, "A-new-password"), 429, "too many");
  equal((await user("unlock", GRACE.email)).status, 0, "unlocking");
  equal(await enter(server, "A-new-password"), 200, "unlocked");

  equal((await user("prove", GRACE.email)).status, 0, "proving");
  match((await user("list")).stdout, new RegExp(`${GRACE.email} +yes `), "proven");
  equal(await enter(server, "A-new-password"), 401, "a password that came without proof");

  const last = await user("delete", ADMIN.email);
  equal(last.status, 1, "deleting the last super administrator");
  match(last.stderr, /last super administrator/, "why");
  equal((await user("delete", GRACE.email)).status, 0, "deleting");
  match((await user("delete", GRACE.email)).stderr, /no user with the address/, "deleting again");
  equal(await place.sql(`select count(*) from users where id = '${grace.id}'`), "0", "the user");
  equal(await place.sql(`select count(*) from audit_logs where action like 'user.%' and meta like '%lodge user%'`), "4", "audited");
  equal((await t.on(place, ["check", "--audit"])).status, 0, "check");
}, { ms: 60_000 });

test("the pages' script is whole", async (t) => {
  const server = await t.serve(await t.place("sqlite"));
  const { text } = await server.request("GET", "/pages/account.js", { token: "" });
  new Script(text); // throws if it cannot be read
  const pages = { reset: "/reset", confirm: "/confirm" };
  for (const page of ["/invite", "/reset", "/confirm"]) {
    const html = (await server.request("GET", page, { token: "" })).text;
    for (const [, id] of text.matchAll(/onSubmit\('(\w+)'/g)) ok(html.includes(`id="${id}"`) || page !== (pages[id] ?? "/invite"), `${page} lacks ${id}`);
  }
});
