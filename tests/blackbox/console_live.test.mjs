// console_live.test.mjs - lists of the console that others change while somebody looks at them: they follow without being asked.
import { console_stage } from "./console_stage.mjs";
import { equal, ok, short, test } from "./harness.mjs";

const stage = console_stage();

test("what another person makes appears in the list that is in view", async (t) => {
  const { open, slug, server, tenant } = await stage();
  const here = `/t/${slug}`, of = `/tenant/${tenant}`;
  const view = await open(t, `${here}/people`);
  const { page } = view;
  const rows = [
    ["/people", "POST", `${of}/members`, { email: "later@example.org" }, "later@example.org"],
    ["/people/groups", "POST", `${of}/groups`, { name: "Later group" }, "Later group"],
    ["/people/allowed", "POST", `${of}/allowed-accounts`, { email: "allowed-later@example.org" }, "allowed-later@example.org"],
    ["/keys", "POST", `${of}/api-keys`, { name: "Later key", scopes: [] }, "Later key"],
    ["/tools", "POST", `${of}/tools`, { name: "later_tool", kind: "http", description: "d", config: { method: "GET", url: "https://example.org/" } }, "later_tool"],
    ["/bundles", "POST", `${of}/tool-bundles`, { name: "Later bundle", slug: "later-bundle" }, "Later bundle"],
    ["/skills", "POST", `${of}/skills`, { name: "Later skill", slug: "later-skill", description: "d", instructions: "i" }, "Later skill"],
    ["/audit", "POST", `${of}/groups`, { name: "Noted group" }, "group.create"],
    ["/admin/plans", "POST", "/admin/plans", { name: "Later plan", slug: "later-plan" }, "Later plan"],
  ];
  for (const [screen, method, path, body, text] of rows) {
    await view.go(screen.startsWith("/admin") ? screen : `${here}${screen}`);
    await page.locator(".connection.live").waitFor();
    await page.locator("main table, main .state").first().waitFor();
    const shown = page.getByRole("main").getByText(text).locator("visible=true");
    const before = await shown.count();
    const made = await server.request(method, path, { body });
    ok(made.status < 300, `${screen}: ${made.status} ${short(made.text)}`);
    await shown.nth(before).waitFor();
  }
  view.quiet();
});

test("whoever's role changes is shown what they may now", async (t) => {
  const { open, person, slug, server, tenant } = await stage();
  const who = await person("MEMBER");
  const view = await open(t, `/t/${slug}/agents`, { who });
  const link = view.page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Audit log" });
  await view.page.locator(".connection.live").waitFor();
  equal(await link.count(), 0, "links to the audit log");
  const made = await server.request("PATCH", `/tenant/${tenant}/members/${who.id}`, { body: { role: "ADMIN" } });
  equal(made.status, 200, made.text);
  await link.waitFor();
  view.quiet();
});
