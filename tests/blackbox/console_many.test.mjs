// console_many.test.mjs - a tenant with 10,000 agents, and a person who has no stream of events left: the console stays right and quick.
import { Agent, request } from "node:http";
import { console_stage } from "./console_stage.mjs";
import { becomes, equal, ok, test } from "./harness.mjs";

const AGENTS = 10_000, AT_ONCE = 32;
const many = console_stage();
const few = console_stage({ flags: ["--person-streams=1"] });

/** Made as a client makes them, so that the index knows them too. */
async function makeAgents({ server, tenant }) {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const make = (i) => new Promise((done, fail) => {
    const body = JSON.stringify({ name: `Worker ${String(i).padStart(5, "0")}`, slug: `worker-${i}` });
    const asked = request(`${server.origin}/tenant/${tenant}/agents`, { method: "POST", agent, headers: { Authorization: `Bearer ${server.token}`, "Content-Type": "application/json", "Content-Length": body.length } }, (reply) => {
      let text = "";
      reply.on("data", (piece) => (text += piece));
      reply.on("end", () => (reply.statusCode === 201 ? done(JSON.parse(text).id) : fail(new Error(`${reply.statusCode} ${text}`))));
    });
    asked.on("error", fail);
    asked.end(body);
  });
  let next = 0;
  const ids = [];
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < AGENTS) {
      const i = next++;
      ids[i] = await make(i);
    }
  }));
  agent.destroy();
  return ids;
}

test("among 10,000 agents one is found, chosen, kept and named", async (t) => {
  const at = await many();
  const { open, server, slug, tenant } = at;
  const ids = await makeAgents(at), last = ids[AGENTS - 1], name = "Worker 09999";
  const view = await open(t, `/t/${slug}/agents`);
  const { page } = view;
  const table = page.getByRole("table", { name: "Agents" });
  await table.waitFor();
  await page.getByText(/^10,00\d agents$/).waitFor();
  ok((await table.getByRole("row").count()) <= 51, "a page of them is shown, and not all");
  await page.getByRole("button", { name: "Show more" }).click();
  await table.getByRole("link", { name: "Worker 00080" }).waitFor();

  // Found by the service, kept, and then in the sidebar.
  await page.getByLabel("Search agents").fill("09999");
  await becomes(() => table.getByRole("row").count(), 2, "the head and the one");
  await page.getByRole("button", { name: `Favourite: ${name}` }).click();
  await page.getByRole("list", { name: "Favourites" }).getByRole("link", { name }).waitFor();

  // By the palette.
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find" }).fill("worker 0998");
  await page.getByRole("option", { name: /Worker 09988/ }).waitFor();
  await page.keyboard.press("Escape");

  // As a filter: by typing, and named when one comes by its address; the list beside it names the agent too.
  const begun = await server.request("POST", `/agents/${last}/sessions`, { body: { title: "Far down" } });
  equal(begun.status, 201, "the session");
  await view.go(`/t/${slug}/sessions?mine=true`);
  await page.getByRole("cell", { name }).waitFor();
  const pick = page.locator("input[role=combobox][aria-label=Agent]"); // a list of choices until it is known how many there are
  await pick.fill("worker 09999");
  await page.getByRole("option", { name: new RegExp(name) }).click();
  await becomes(() => new URL(page.url()).searchParams.get("agent"), last, "the agent in the address");
  await page.getByRole("link", { name: "Far down" }).waitFor();
  await view.looks("sessions-of-one-of-many");
  await page.reload();
  await becomes(() => pick.inputValue(), name, "the name in the filter");

  // In a form.
  await view.go(`/t/${slug}/integrations/new`);
  await pick.fill("worker 00007");
  await page.getByRole("option", { name: /Worker 00007/ }).click();
  await becomes(() => pick.inputValue(), "Worker 00007", "what was chosen");
  await view.looks("integration-new-of-many");

  // What others do elsewhere does not have the list read more than it shows.
  const changed = await server.request("PATCH", `/agents/${ids[3]}`, { body: { name: "Renamed" } });
  equal(changed.status, 200, "the change");
  ok((await server.request("GET", `/tenant/${tenant}/agents?per_page=1`)).json.total >= AGENTS, "all are there");
  view.quiet();
});

test("who has no stream left is told so, and loses nothing", async (t) => {
  const { open, server, slug, tenant } = await few();
  const other = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Before", slug: "before" } });
  equal(other.status, 201, "the first");
  // The one stream that a person may have is held by somebody else's program, with the same account.
  const held = await new Promise((done, fail) => {
    const asked = request(`${server.origin}/me/events`, { headers: { Authorization: `Bearer ${server.token}` } }, done);
    asked.on("error", fail);
    asked.end();
  });
  t.onEnd(() => held.destroy());
  held.resume();
  const view = await open(t, `/t/${slug}/agents`, { expected: [429] });
  const { page } = view;
  await page.getByRole("status").filter({ hasText: "Too many streams are open; reading every 5 seconds" }).waitFor();
  const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Told all the same", slug: "told" } });
  equal(made.status, 201, "the second");
  await page.getByRole("link", { name: "Told all the same" }).waitFor();
  await view.looks("agents-without-a-stream");
  view.quiet();
});
