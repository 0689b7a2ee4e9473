// console_mail.test.mjs - mail in the console: an agent's conversations, drafts that wait for a person, rules, addresses that
// nothing is sent to, and the roster of all mailboxes.
import { readFileSync } from "node:fs";
import { console_stage } from "./console_stage.mjs";
import { agentOf } from "./console_talk.mjs";
import { becomes, equal, ok, short, test, until } from "./harness.mjs";

const stage = console_stage();
const HOSTILE = `<img src=x onerror=alert(1)> [a](javascript:alert(1))`;

async function asked(server, method, path, body) {
  const reply = await server.request(method, path, { body });
  ok(reply.status < 300, `${method} ${path}: ${reply.status} ${short(reply.text)}`);
  return reply.json;
}

/** Two agents, whose addresses are their slugs'; the second keeps its answers as drafts. */
async function desks(at) {
  const mark = Math.random().toString(36).slice(2, 8);
  const front = await agentOf(at, `Front desk ${mark}`, { slug: `front-${mark}` }), back = await agentOf(at, `Back desk ${mark}`, { slug: `back-${mark}` });
  await asked(at.server, "PUT", `/agents/${back}/mail/rules`, { reply: "draft" });
  const addressOf = async (id) => (await asked(at.server, "GET", `/agents/${id}/mailboxes`)).items[0].address;
  return { mark, front, back, frontAddress: await addressOf(front), backAddress: await addressOf(back), at: (id) => `/t/${at.slug}/agents/${id}/mail` };
}

test("mail: written by keyboard, seen arriving, labelled, answered by a draft that a person changes and sends", async (t) => {
  const at = await stage(), { server, open } = at, d = await desks(at);
  await asked(server, "PUT", `/agents/${d.front}/mail/rules`, { wake: "never" }); // one side answers
  const sender = await open(t, d.at(d.front), { expected: [422] }), { page } = sender;
  await page.getByRole("heading", { name: "No mail yet" }).waitFor();
  await sender.looks("mail-empty");
  const other = await open(t, d.at(d.back)), far = other.page;
  await far.getByRole("heading", { name: "No mail yet" }).waitFor();

  // By keyboard alone, with a mistake on the way.
  await sender.tabTo("Write a message");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "New message" }).waitFor();
  await becomes(() => page.evaluate(() => document.activeElement?.getAttribute("name")), "to", "what has the focus");
  await page.keyboard.type("nobody@demo.lodge.internal");
  await sender.tabTo("Subject");
  await page.keyboard.type("Invoices of May");
  await sender.tabTo("Text");
  await page.keyboard.type("Please check them.");
  await page.keyboard.press("Control+Enter");
  await page.getByText("nobody@demo.lodge.internal is no address of this tenant").waitFor();
  await sender.looks("mail-refused");
  await page.getByLabel("To", { exact: true }).fill("");
  // An agent is found by its name, and its address put there.
  await page.getByRole("combobox", { name: "Add an agent of this tenant" }).fill(`Back desk ${d.mark}`);
  await page.getByRole("option", { name: `Back desk ${d.mark}` }).click();
  await becomes(() => page.getByLabel("To", { exact: true }).inputValue(), d.backAddress, "whom it is for");
  await page.getByLabel("Files to attach").setInputFiles([{ name: "may.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") }, { name: "huge.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(4_000_000) }]);
  await page.getByText(/huge\.bin: more than 3\.9 MB/).waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const sent = page.getByRole("list", { name: "Messages" }).getByRole("listitem").first();
  await sent.getByText("Please check them.").locator("visible=true").first().waitFor();
  await page.getByRole("region", { name: "Invoices of May" }).waitFor();

  // It is there on the other side without reloading, and what the agent answers waits as a draft.
  await far.getByRole("link", { name: /Invoices of May/ }).first().waitFor();
  await far.getByRole("heading", { name: "Drafts that wait for you" }).waitFor();
  await far.getByText("The rules keep answers as drafts.").waitFor();
  await other.looks("mail-drafts");
  await far.getByRole("table", { name: "Threads" }).getByRole("link", { name: /Invoices of May/ }).click();
  const mail = far.getByRole("list", { name: "Messages" }).locator("> li").first();
  await mail.getByText("Sender proven").waitFor();
  await mail.getByRole("link", { name: "The session that it set to work" }).waitFor();
  const [download] = await Promise.all([far.waitForEvent("download"), mail.getByRole("link", { name: "may.csv" }).click()]);
  equal(readFileSync(await download.path(), "utf8"), "a,b\n1,2\n", "what is downloaded");
  await mail.getByRole("button", { name: "Mark as read" }).click();
  await mail.getByRole("button", { name: "Mark as unread" }).waitFor();
  await mail.getByRole("button", { name: "Labels" }).click();
  await far.getByLabel("Its labels").fill("invoices may");
  await far.getByRole("button", { name: "Save labels" }).click();
  await mail.getByRole("link", { name: "Messages with the label invoices" }).waitFor();
  await other.looks("mail-thread");

  // The draft: changed, and sent; the first side learns of it.
  const draft = far.getByRole("list", { name: "Messages" }).locator("> li").last();
  await draft.getByRole("button", { name: "Change" }).click();
  const form = far.getByRole("region", { name: "Change the draft" });
  await becomes(() => form.getByLabel("To", { exact: true }).inputValue(), d.frontAddress, "whom it is for");
  await form.getByLabel("Text", { exact: true }).fill(`All right. ${HOSTILE}`);
  await other.looks("mail-edit");
  await form.getByRole("button", { name: "Save and send" }).click();
  await page.getByText(`All right. ${HOSTILE}`).locator("visible=true").first().waitFor();
  equal(await page.locator("main img, main [onerror], main a[href^='javascript:']").count(), 0, "markup of what somebody wrote");
  const answers = (await asked(server, "GET", `/agents/${d.front}/mail?direction=in`)).items;
  equal(answers.map((m) => m.text).join(), `All right. ${HOSTILE}`, "what came back");

  // Found by its label, and by words; deleted with a way back.
  await mail.getByRole("link", { name: "Messages with the label invoices" }).click();
  await far.getByRole("table", { name: "Messages" }).getByRole("link", { name: /Invoices of May/ }).waitFor();
  equal(await far.getByRole("table", { name: "Messages" }).locator("tbody tr").count(), 1, "messages with the label");
  await far.getByRole("button", { name: "Not only the label invoices" }).click();
  await far.getByRole("searchbox").fill("nothing of the kind");
  await far.getByRole("heading", { name: "Nothing matches" }).waitFor();
  await far.getByRole("button", { name: "Clear filters" }).click();
  await far.getByRole("table", { name: "Threads" }).getByRole("link", { name: /Invoices of May/ }).click();
  await mail.locator("> details > summary").click(); // read, and not the last: folded
  await mail.getByRole("button", { name: "Forward" }).click();
  await far.getByRole("region", { name: "Forward" }).getByLabel("To", { exact: true }).fill(d.frontAddress);
  await far.getByRole("region", { name: "Forward" }).getByRole("button", { name: "Forward" }).click();
  await far.getByRole("region", { name: "Fwd: Invoices of May" }).waitFor();
  await mail.getByRole("button", { name: "Delete this message" }).click();
  await far.getByText("The message is deleted; whoever else has it keeps it").waitFor();
  await far.getByRole("button", { name: "Undo" }).click();
  await mail.getByRole("button", { name: "Delete this message" }).waitFor();
  sender.quiet();
  other.quiet();
}, { ms: 120_000 });

const MESSAGE = { direction: "in", state: "received", verdict: "none", from: "ann@example.org", to: ["desk@demo.example"], cc: [], subject: "Offer", preview: "Good day", text: "Good day.\n\n> What was quoted", extracted_text: "Good day.", html_text: "Good day, in HTML", labels: [], unread: false, attachments: [], message_id_header: "<x@example.org>", references: [], size_bytes: 40, created_at: "2026-05-01T10:00:00Z" };
const STRANGE = [
  { verdict: "fail", unread: true },
  { state: "unreadable", error: "The head of the message has more than 256 kB.", unread: true },
  { state: "blocked", unread: true },
  { direction: "out", state: "held", error: "This mailbox wrote to 3 new addresses within its first hour.", unread: true },
  { direction: "out", state: "bounced", error: "550 5.1.1 there is no such user", unread: true },
  { direction: "out", state: "failed", error: "The mail server was not reached for two days.", unread: true },
];

test("mail that waits for a person is in the inbox as it comes, and is sent and discarded there", async (t) => {
  const at = await stage(), { server, open } = at, d = await desks(at);
  const view = await open(t, `/t/${at.slug}/inbox?kind=mail`), { page } = view;
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  const drafts = [];
  for (const subject of ["To send", "To discard"]) drafts.push(await asked(server, "POST", `/agents/${d.front}/mail`, { to: [d.backAddress], subject: `${subject} ${d.mark}`, text: "Please read.", draft: true }));
  const row = (subject) => page.locator(".waits", { hasText: `${subject} ${d.mark}` });
  await row("To send").getByText(`to ${d.backAddress}`).waitFor();
  await row("To discard").waitFor();
  await view.looks("inbox-mail");
  await row("To send").getByRole("button", { name: /^Send/ }).click();
  await row("To send").waitFor({ state: "detached" });
  equal((await asked(server, "GET", `/agents/${d.front}/mail/${drafts[0].id}`)).state, "delivered", "what was sent");
  await row("To discard").getByRole("button", { name: /^Discard/ }).click();
  await row("To discard").waitFor({ state: "detached" });
  await page.reload(); // it is not undone any more
  await until(10_000, "the draft to be deleted", async () => (await server.request("GET", `/agents/${d.front}/mail/${drafts[1].id}`)).status === 404);
});

test("mail: states are told with why, mailboxes are paused, and who may not read it sees the address alone", async (t) => {
  const at = await stage(), { open, person } = at, d = await desks(at);
  const view = await open(t, "/", { expected: [409] }), { page } = view;
  // What only the outside brings about; the mailbox is external for this.
  await page.route(/\/agents\/[^/]+\/mail\/threads\/cstrange/, (route) => route.fulfill({ json: { id: "cstrange", subject: "Offer", participants: ["ann@example.org"], message_count: STRANGE.length, unread_count: STRANGE.length, last_message_id: "m5", last_message_at: MESSAGE.created_at, messages: STRANGE.map((m, i) => ({ ...MESSAGE, ...m, id: `m${i}`, mailbox_id: "box", thread_id: "cstrange" })) } }));
  await page.route(/\/mailboxes(\?|$)/, (route) => route.fulfill({ json: { items: [{ id: "box", address: "desk@demo.example", kind: "external", is_active: true, created_at: MESSAGE.created_at }], page: 1, per_page: 50, next_after: null } }));
  await view.go(`${d.at(d.front)}?thread=cstrange`);
  for (const said of ["The domain that it names says that it did not send it", "could not be taken apart", "The head of the message has more than 256 kB.", "The rules keep its sender out", "This mailbox wrote to 3 new addresses", "The other side has sent it back", "550 5.1.1 there is no such user", "is not tried again"]) await page.getByText(said).first().waitFor();
  const first = page.getByRole("list", { name: "Messages" }).locator("> li").first();
  equal(await first.getByText("What was quoted").count(), 0, "what is quoted is not shown at once");
  await first.getByRole("button", { name: "All of it, with what it quotes" }).click();
  await first.getByText("What was quoted").waitFor();
  await first.getByRole("button", { name: "The words of its HTML" }).click();
  await first.getByText("Good day, in HTML").waitFor();
  await first.getByRole("link", { name: "Raw" }).waitFor();
  await view.looks("mail-states");
  await page.route(/\/mail\/m\d\/send-again$/, (route) => route.fulfill({ status: 202, json: { ...MESSAGE, id: "m9", state: "queued" } }));
  await page.getByRole("button", { name: "Send again" }).first().click();
  await page.getByText("It is on its way").waitFor();
  await page.unroute(/\/mailboxes(\?|$)/);

  await view.go(d.at(d.front));
  await page.getByRole("button", { name: `Pause: ${d.frontAddress}` }).click();
  await page.getByRole("list", { name: "Mailboxes" }).getByText("Paused").waitFor();
  await page.getByRole("link", { name: "Write a message" }).first().click();
  await page.getByLabel("To", { exact: true }).fill(d.backAddress);
  await page.getByLabel("Subject", { exact: true }).fill("Hello");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("region", { name: "New message" }).getByRole("alert").waitFor();
  page.once("dialog", (ask) => void ask.accept()); // what was typed is left
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: `Let go on: ${d.frontAddress}` }).click();
  await page.getByRole("button", { name: `Pause: ${d.frontAddress}` }).waitFor();

  // Rules of the agent, and then those of all.
  await page.getByRole("link", { name: "Rules" }).click();
  await page.getByLabel("Keep out").fill("not an address");
  await page.getByRole("button", { name: "Save rules" }).click();
  await page.locator("[data-field=block_from] .error").waitFor();
  await page.getByLabel("Keep out").fill("@spam.example");
  await page.getByRole("radio", { name: /Answers are drafts/ }).check();
  await view.looks("mail-rules-agent");
  await page.getByRole("button", { name: "Save rules" }).click();
  await becomes(async () => JSON.stringify(await asked(at.server, "GET", `/agents/${d.front}/mail/rules`)), JSON.stringify({ allow_from: [], block_from: ["@spam.example"], allow_to: [], reply: "draft", wake: "auto" }), "the rules");

  const guest = await open(t, d.at(d.front), { who: await person("MEMBER") });
  await guest.page.getByText(d.frontAddress).waitFor();
  await guest.page.getByRole("heading", { name: "Its mail is not for you" }).waitFor();
  equal(await guest.page.getByRole("button", { name: /^(Pause|Let go on)/ }).count(), 0, "controls that are not theirs");
  equal(await guest.page.getByRole("link", { name: "Mail", exact: true }).count(), 1, "the agent's part, and no place in the sidebar");
  guest.quiet();
  equal(view.complaints.filter((c) => !c.includes("409") && !c.includes("422")).join("\n"), "", "what the browser complains of");
}, { ms: 120_000 });

test("mail of a tenant and of the house: rules, suppressed addresses, the roster, and healing after its number", async (t) => {
  const at = await stage(), { server, tenant, slug, open } = at, d = await desks(at);
  await server.place.sql(`insert into mail_suppressions (tenant_id, id, address, reason, created_at) values ('${tenant}', 'c${"s".repeat(24)}', 'gone@example.org', '550 5.1.1 no such user', 1760000000000000)`);
  const view = await open(t, `/t/${slug}/mail`), { page } = view;
  await page.getByRole("radio", { name: /Mail never wakes it/ }).check();
  await view.looks("mail-rules");
  await page.getByRole("button", { name: "Save rules" }).click();
  await becomes(async () => (await asked(server, "GET", `/tenant/${tenant}/mail/rules`)).wake, "never", "whether mail wakes");
  await asked(server, "PUT", `/tenant/${tenant}/mail/rules`, {});
  await page.getByRole("link", { name: "Suppressed addresses" }).click();
  const row = page.getByRole("table", { name: "Suppressed addresses" }).getByRole("row", { name: /gone@example\.org/ });
  await row.waitFor();
  await view.looks("mail-suppressions");
  await row.getByRole("button", { name: "Write to it again: gone@example.org" }).click();
  await page.getByRole("heading", { name: "No address is suppressed" }).waitFor();
  await page.evaluate(() => dispatchEvent(new Event("pagehide"))); // whoever leaves does not take it back
  await until(20_000, "it is let go", async () => !(await asked(server, "GET", `/tenant/${tenant}/mail/suppressions`)).items.length);

  await view.go("/admin/mail");
  await page.getByRole("searchbox").fill(d.frontAddress);
  const roster = page.getByRole("table", { name: "Mailboxes" });
  await becomes(() => roster.locator("tbody tr").count(), 1, "mailboxes of that address");
  await roster.getByRole("button", { name: `Pause: ${d.frontAddress}` }).click();
  await roster.getByText("Paused").waitFor();
  await page.getByLabel("State").selectOption("active");
  await page.getByRole("heading", { name: "Nothing matches" }).waitFor();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("combobox", { name: "Tenant" }).fill(slug);
  await page.getByRole("listbox").getByRole("option").first().click();
  await page.getByLabel("Kind").selectOption("internal");
  await roster.getByRole("button", { name: `Let go on: ${d.frontAddress}` }).waitFor();
  await view.looks("admin-mail");

  await server.place.sql(`delete from mailboxes where agent_id = '${d.back}'`);
  await page.getByRole("button", { name: "Heal mailboxes" }).click();
  await page.getByRole("button", { name: "Count" }).click();
  await page.getByText("1 mailbox would be made or changed.").waitFor();
  equal((await asked(server, "GET", `/agents/${d.back}/mailboxes`)).items.length, 0, "mailboxes before the button is pressed");
  await view.looks("admin-mail-heal");
  await page.getByRole("button", { name: "Heal 1 mailbox" }).click();
  await page.getByText("1 mailbox is healed").waitFor();
  equal((await asked(server, "GET", `/agents/${d.back}/mailboxes`)).items.length, 1, "mailboxes after it");
  view.quiet();
}, { ms: 120_000 });
