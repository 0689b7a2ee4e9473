// mcp.test.mjs - our MCP client against the servers of the protocol's own makers: one of the revision 2026-07-28,
// the same one serving both kinds, and the reference server `everything` of the revisions before.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { becomes, bin, command, equal, here, match, ok, test, within } from "./harness.mjs";

const home = join(here, "mcp");
const installed = existsSync(join(home, "node_modules/@modelcontextprotocol")) && Number(process.versions.node.split(".")[0]) >= 20;
if (!installed) console.log("note: the packages of tests/blackbox/mcp are not installed, or Node.js is older than 20: no real MCP server is tried");
const trial = (name, run) => installed && test(name, run);

/** Starts one of the servers; its address. */
async function serve(t, script, ...args) {
  const child = spawn(process.execPath, [join(home, script), ...args], { stdio: ["ignore", "pipe", "inherit"] });
  t.onEnd(() => child.kill("SIGKILL"));
  const port = await within(20_000, new Promise((done, fail) => {
    let text = "";
    child.stdout.on("data", (piece) => {
      text += piece;
      if (text.includes("\n")) done(text.split("\n")[0]);
    });
    child.on("exit", () => fail(new Error(`${script} has ended`)));
  }), `the port of ${script}`);
  return `http://127.0.0.1:${port}`;
}

/** What our client prints: an object a line. */
async function say(args, header) {
  const env = { ...process.env, ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ""}:detect_leaks=0`, ...(header && { MCP_SAY_HEADER: header }) };
  const { stdout, stderr } = await command(join(dirname(bin), "tests/mcp-say"), args, { env });
  equal(stderr, "", "what it complains about");
  return stdout.trim().split("\n").map((line) => JSON.parse(line));
}

trial("a server of the revision 2026-07-28", async (t) => {
  const url = `${await serve(t, "modern.mjs")}/mcp`;
  const tools = await say(["list", url]);
  equal(tools.slice(0, -1).map((tool) => tool.name).join(" "), "echo region slow ask fails picture figures seen", "its tools");
  const got = await say(["call", "echo", '{"message":"héllo"}', "region", '{"where":"Zürich","n":3}', "slow", "{}", "ask", "{}",
    "fails", "{}", "picture", "{}", "figures", "{}", "nope", "{}", "seen", "{}", url], "X-Key:abc");
  equal(got[0].text, "héllo", "echo");
  equal(got[1].text, "in Zürich, header =?base64?WsO8cmljaA==?=, 3", "arguments in headers");
  equal(got[2].text, "done", "a tool that tells of its progress");
  ok(got[3].failed, "a tool that wants to ask somebody fails");
  ok(got[4].failed && got[4].text === "it broke", "isError");
  ok(got[5].more, "a picture");
  equal(got[6].text, '{"n":7}', "structured content");
  ok(got[7].failed, "a tool that is not there");
  const seen = JSON.parse(got[8].text);
  equal(seen["mcp-protocol-version"], "2026-07-28", "the version");
  equal(seen["x-key"], "abc", "the configured header");
  equal(got[9].era, 1, "the kind of server");
});

trial("a server of both kinds is spoken to in the new way", async (t) => {
  const url = `${await serve(t, "modern.mjs", "stateless")}/mcp`;
  const got = await say(["call", "echo", '{"message":"x"}', url]);
  equal(got[0].text, "x", "echo");
  equal(got[1].era, 1, "the kind of server");
});

trial("the reference server of the older revisions", async (t) => {
  const root = await serve(t, "legacy.mjs");
  const got = await say(["call", "echo", '{"message":"héllo"}', "get-sum", '{"a":2,"b":3}', "get-tiny-image", "{}",
    "get-structured-content", '{"location":"New York"}', "trigger-long-running-operation", '{"duration":0.2,"steps":2}',
    "get-resource-links", '{"count":2}', "get-sum", '{"a":"x"}', "nope", "{}", `${root}/mcp`]);
  equal(got[0].text, "Echo: héllo", "echo");
  equal(got[1].text, "The sum of 2 and 3 is 5.", "get-sum");
  ok(got[2].more && got[2].text.includes("image/png"), "a picture");
  match(got[3].text, /"temperature":/, "structured content, once");
  equal(got[3].text.split("temperature").length, 2, "structured content, once");
  match(got[4].text, /completed/, "progress before the answer");
  match(got[5].text, /Link to .*demo:\/\//, "links");
  ok(got[6].failed && got[7].failed, "wrong arguments, and a tool that is not there");
  const last = got.at(-1);
  equal([last.era, last.version, last.session].join(" "), "2 2025-11-25 true", "what is known of the server");
  equal(await (await fetch(`${root}/sessions`)).text(), "0", "sessions left open after us");
});

trial("sessions with servers end with the service", async (t) => {
  const root = await serve(t, "legacy.mjs");
  const lodge = await t.serve(await t.place(), { flags: ["--no-access-log", "--allow-private-addresses"] });
  await lodge.enter();
  const { created } = (await lodge.request("POST", `/tenant/${lodge.tenant}/tools/import-mcp`, { body: { url: `${root}/mcp`, tools: ["echo"] } })).json;
  const { id } = (await lodge.request("POST", "/v1/assistants", { body: { model: "demo", name: "Caller" } })).json;
  equal((await lodge.request("POST", `/agents/${id}/tools`, { body: { tool_id: created[0].id } })).status, 201, "the agent has the tool");
  const session = (await lodge.request("POST", `/agents/${id}/sessions`, { body: { message: 'use tool echo with {"message":"hi"}' } })).json;
  await becomes(async () => (await lodge.request("GET", `/tenant/${lodge.tenant}/sessions/${session.id}`)).json.status, "completed", "the session");
  const open = async () => (await fetch(`${root}/sessions`)).text();
  equal(await open(), "1", "sessions while it serves");
  equal(await lodge.stop(), 0, "its end");
  equal(await open(), "0", "sessions after it");
});
