// console_files.test.mjs - files and the console: the bucket and what is brought into it and taken out, agents from files and into them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { console_stage } from "./console_stage.mjs";
import { becomes, equal, ok, test } from "./harness.mjs";

const MIB = 1 << 20;
const LETTA = fileURLToPath(new URL("../fuzz/corpus/bundle/letta-2.af", import.meta.url));
const stage = console_stage({ flags: ["--bucket-bytes-max", "24m"] });

/** Files of this computer, by name and content. */
function folderOf(t) {
  const folder = mkdtempSync(join(tmpdir(), "lodge-files."));
  t.onEnd(() => rmSync(folder, { recursive: true }));
  return (name, content) => (writeFileSync(join(folder, name), content), join(folder, name));
}

const object = (server, tenant, key, init = {}) => fetch(`${server.origin}/tenant/${tenant}/bucket/object?key=${encodeURIComponent(key)}`, { ...init, headers: { Authorization: `Bearer ${server.token}`, "Content-Type": "text/plain" } });
const put = async (server, tenant, key, body) => ok((await object(server, tenant, key, { method: "PUT", body })).ok, `put ${key}`);

test("the bucket: files are brought, asked about, stopped, refused for want of room, taken out, handed out, deleted", async (t) => {
  const { server, tenant, slug, open } = await stage();
  const file = folderOf(t), view = await open(t, `/t/${slug}/bucket`, { expected: [412] }), { page } = view;
  await page.getByRole("heading", { name: "The bucket is empty" }).waitFor();
  await view.looks("bucket-empty");

  const input = page.getByLabel("Files from this computer"), uploads = page.getByRole("region", { name: "Uploads" });
  const row = (name) => uploads.getByRole("listitem").filter({ hasText: name }).last();
  await input.setInputFiles([file("one.txt", "first"), file("two words.csv", "a,b\n1,2\n"), file("large.bin", Buffer.alloc(2 * MIB, "x"))]);
  await uploads.getByText("3 files: 3 there").waitFor();
  const files = page.getByRole("table", { name: "Files" });
  await files.getByRole("row", { name: /large\.bin 2\.1 MB/ }).waitFor();
  equal(await (await object(server, tenant, "two words.csv")).text(), "a,b\n1,2\n", "what is there");

  // What is there is asked about, and again if it has changed since.
  await input.setInputFiles([file("one.txt", "second")]);
  await row("one.txt").getByText("There is one of that name, of 5 B.").waitFor();
  await view.looks("bucket-asks");
  await put(server, tenant, "one.txt", "theirs");
  await row("one.txt").getByRole("button", { name: "Replace it: one.txt" }).click();
  await row("one.txt").getByText("Somebody has put another there meanwhile").waitFor();
  equal(await (await object(server, tenant, "one.txt")).text(), "theirs", "what is there before the answer");
  await row("one.txt").getByRole("button", { name: "Replace it: one.txt" }).click();
  await uploads.getByText("4 files: 4 there").waitFor();
  equal(await (await object(server, tenant, "one.txt")).text(), "second", "what is there after it");

  // Into a folder that comes to be with its first file, by dropping.
  await page.getByRole("button", { name: "New folder" }).click();
  await page.getByLabel("Its name").fill("in/2026");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Nothing lies here" }).waitFor();
  const dropped = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(["dropped"], "dropped.txt", { type: "text/plain" }));
    return data;
  });
  await page.locator(".drop").dispatchEvent("drop", { dataTransfer: dropped });
  await files.getByRole("row", { name: /dropped\.txt/ }).waitFor();
  await page.getByRole("navigation", { name: "Folder" }).getByRole("link", { name: "in", exact: true }).click();
  await files.getByRole("link", { name: "2026/" }).waitFor();
  await page.getByRole("navigation", { name: "Folder" }).getByRole("link", { name: "Bucket" }).click();
  await files.getByRole("link", { name: "in/" }).waitFor();

  // No room, and stopped on the way: nothing of either.
  const network = await view.context.newCDPSession(page);
  await input.setInputFiles([file("huge.bin", Buffer.alloc(30 * MIB))]);
  await row("huge.bin").getByText(/There is no room for it: it has 31 MB, and the bucket of this tenant has 23 MB left of 25 MB/).waitFor();
  await network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 500_000 });
  await input.setInputFiles([file("slow.bin", Buffer.alloc(16 * MIB))]);
  await row("slow.bin").getByText(/\d kB of 17 MB/).waitFor();
  await view.looks("bucket-sending");
  await row("slow.bin").getByRole("button", { name: "Stop sending slow.bin" }).click();
  await row("slow.bin").getByText("Stopped").waitFor();
  await network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  equal((await object(server, tenant, "slow.bin")).status, 404, "what was stopped");
  await uploads.getByRole("button", { name: "Dismiss what is done" }).click();
  await row("huge.bin").getByRole("button", { name: "Dismiss huge.bin" }).click();
  equal(await uploads.count(), 0, "uploads in view");

  // One file: opened, taken out, handed out.
  await files.getByRole("link", { name: "two words.csv", exact: true }).click();
  const panel = page.getByRole("region", { name: "two words.csv" });
  await panel.getByText(`bucket://${tenant}/two words.csv`).waitFor();
  equal(await page.evaluate(() => document.activeElement?.textContent), "two words.csv", "what has the focus");
  await view.looks("bucket-file");
  const [download] = await Promise.all([page.waitForEvent("download"), panel.getByRole("link", { name: "Download" }).click()]);
  equal(readFileSync(await download.path(), "utf8"), "a,b\n1,2\n", "what is downloaded");
  await panel.getByRole("button", { name: "Address for others" }).click();
  await page.getByLabel("For how long").selectOption("An hour");
  await view.looks("bucket-address-ask");
  await page.getByRole("button", { name: "Make the address" }).click();
  const dialog = page.getByRole("dialog", { name: "An address to read it" });
  equal(await (await fetch(await dialog.locator("code").first().innerText())).text(), "a,b\n1,2\n", "what others read");
  await view.looks("bucket-address");
  await dialog.getByRole("button", { name: "Done" }).click();

  // Deleted by keyboard; not if it is no longer what was shown.
  await page.getByRole("button", { name: "Delete one.txt" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Delete one.txt?" }).waitFor();
  await view.tabTo("Delete file");
  await page.keyboard.press("Enter");
  await page.getByText("one.txt is deleted").waitFor();
  await becomes(() => files.getByRole("row").count(), 4, "rows");
  ok(await page.evaluate(() => document.activeElement !== document.body), "the focus fell out of the page");
  await panel.getByRole("button", { name: "Delete" }).click();
  await put(server, tenant, "two words.csv", "other");
  await page.getByRole("dialog").getByRole("button", { name: "Delete file" }).click();
  await page.getByText("It has another ETag by now.").waitFor();
  equal(await (await object(server, tenant, "two words.csv")).text(), "other", "what is there");
  view.quiet();
}, { ms: 120_000 });

test("an agent comes from a file: first what would come of it, then the agent; the same again is the same", async (t) => {
  const { server, tenant, slug, open } = await stage();
  const file = folderOf(t), view = await open(t, `/t/${slug}/agents`, { expected: [422] }), { page } = view;
  const agents = async () => (await server.request("GET", `/tenant/${tenant}/agents`)).json.total;
  const before = await agents();
  await page.getByRole("link", { name: "Import", exact: true }).click();
  await page.getByRole("heading", { name: "Import an agent" }).waitFor();
  await view.looks("import");
  // What is wrong is said with the entry's name.
  await page.getByLabel("A file of an agent").setInputFiles([file("broken.zip", Buffer.concat([Buffer.from("PK\x03\x04"), Buffer.alloc(60)]))]);
  await page.getByRole("heading", { name: "broken.zip cannot be imported" }).waitFor();
  await page.getByRole("alert").getByText("archive This is not a ZIP archive.").waitFor();
  await view.looks("import-refused");

  await view.tabTo("Choose a file");
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.locator(":focus").press("Enter")]);
  await chooser.setFiles(LETTA);
  const report = page.getByRole("region", { name: "letta-2.af" });
  await report.getByRole("heading", { name: "What would come of letta-2.af" }).waitFor();
  for (const text of ["Letta", "2 memories", "1 session with 4 messages", "trip-planner-eu"]) await report.getByText(text, { exact: true }).waitFor();
  ok((await report.locator(".behind li").count()) > 0, "what stays behind");
  equal(await agents(), before, "agents before the button is pressed");
  await view.looks("import-report");
  await view.tabTo("Another name");
  await page.keyboard.type("Planner");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Planner is made" }).waitFor();
  equal(await agents(), before + 1, "agents after it");
  await view.looks("import-made");
  await page.getByRole("link", { name: "Open Planner" }).click();
  await page.getByRole("heading", { name: "Planner", level: 1 }).waitFor();

  // Out again: downloaded with what was chosen, and into the bucket, in the place of what is there once it was asked.
  await page.getByRole("link", { name: "Export", exact: true }).click();
  await page.getByLabel("With its memories").check();
  await view.looks("agent-export");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download the bundle" }).click()]);
  equal(download.suggestedFilename(), "planner.zip", "its name");
  const bundle = readFileSync(await download.path());
  ok(bundle.includes("memories"), "memories are in it");
  await page.getByRole("button", { name: "Put it into the bucket" }).click();
  await page.getByRole("link", { name: `bucket://${tenant}/exports/planner.zip` }).waitFor();
  await page.getByRole("button", { name: "Put it into the bucket" }).click();
  await page.getByRole("dialog", { name: "Replace the file that is there?" }).getByRole("button", { name: "Replace it" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  ok(Buffer.from(await (await object(server, tenant, "exports/planner.zip")).arrayBuffer()).equals(bundle), "the same bytes in the bucket");

  // From the bucket; and the file of before is here already.
  await page.getByRole("link", { name: `bucket://${tenant}/exports/planner.zip` }).click();
  await page.getByRole("table", { name: "Files" }).getByRole("link", { name: "planner.zip", exact: true }).click();
  await page.getByRole("link", { name: "Import as an agent" }).click();
  await page.getByRole("heading", { name: "What would come of exports/planner.zip" }).waitFor();
  await page.getByRole("region", { name: "exports/planner.zip" }).getByText("A bundle of Lodge").waitFor();
  await page.getByRole("button", { name: "Import this agent" }).click();
  await page.getByRole("heading", { name: "Planner is made" }).waitFor();
  await page.getByRole("button", { name: "Import another" }).click();
  await page.getByLabel("A file of an agent").setInputFiles(LETTA);
  await page.getByText("This file was imported before, and is the agent").waitFor();
  equal(await page.getByRole("button", { name: "Import this agent" }).count(), 0, "a button that would make nothing");
  await view.looks("import-again");
  equal(await agents(), before + 2, "agents in the end");
  view.quiet();
}, { ms: 120_000 });

test("who may not see the bucket, or make agents, is shown neither", async (t) => {
  const { slug, open, person, server, tenant } = await stage();
  const guest = await person("GUEST"), view = await open(t, `/t/${slug}/agents`, { who: guest, expected: [403] }), { page } = view;
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  equal(await page.getByRole("link", { name: "Import", exact: true }).count(), 0, "Import");
  equal(await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Bucket" }).count(), 0, "Bucket");
  await view.go(`/t/${slug}/bucket`);
  await page.getByText(/bucket:read/).waitFor();
  const agent = (await server.request("GET", `/tenant/${tenant}/agents`)).json.items[0].id;
  await view.go(`/t/${slug}/agents/${agent}/export`);
  await page.getByText("This part is not for you").waitFor();
  view.quiet();
});
