// The reference server `everything` of the protocol's own makers, over streamable HTTP as the revisions before
// 2026-07-28 have it, with sessions.  Prints its port; GET /sessions says how many are open, GET /forget
// ends them all after their clients' backs.
import { randomUUID } from "node:crypto";
import { createServer as listen } from "node:http";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createServer } from "@modelcontextprotocol/server-everything/dist/server/index.js";

const sessions = new Map();

async function open() {
  const { server, cleanup } = createServer();
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  server.server.onclose = () => {
    sessions.delete(transport.sessionId);
    cleanup(transport.sessionId);
  };
  await server.connect(transport);
  return transport;
}

const http = listen(async (req, res) => {
  const id = req.headers["mcp-session-id"];
  if (req.url === "/sessions") return res.end(String(sessions.size));
  if (req.url === "/forget") {
    sessions.clear();
    return res.end("forgotten");
  }
  if (id && !sessions.has(id)) {
    res.writeHead(404, { "Content-Type": "application/json" });
    return res.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32001, message: "Session not found" }, id: null }));
  }
  await (sessions.get(id) ?? (await open())).handleRequest(req, res);
});
http.listen(0, "127.0.0.1", () => console.log(http.address().port));
