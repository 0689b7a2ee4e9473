// A server of the revision 2026-07-28 and no other, by the protocol's own makers, with a tool for each thing that
// a client must understand.  Prints its port; what it was sent is told by the tool `seen`.
import { createServer } from "node:http";
import { createMcpHandler, fromJsonSchema, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { toNodeHandler } from "@modelcontextprotocol/node";

const legacy = process.argv[2] ?? "reject";
const object = (properties, required = []) => fromJsonSchema({ type: "object", properties, required });
const text = (t) => ({ content: [{ type: "text", text: t }] });
let last = {};

function make() {
  const server = new McpServer({ name: "modern", version: "1.0.0" }, { capabilities: { logging: {} } });

  server.registerTool("echo", { description: "Says it again.", inputSchema: object({ message: { type: "string" } }, ["message"]) },
    async ({ message }) => text(message));
  server.registerTool("region", { description: "Says where.", inputSchema: object({ where: { type: "string", "x-mcp-header": "Region" }, n: { type: "integer", "x-mcp-header": "N" } }) },
    async ({ where }) => text(`in ${where}, header ${last["mcp-param-region"]}, ${last["mcp-param-n"]}`));
  server.registerTool("slow", { description: "Takes its time, and tells.", inputSchema: object({}) },
    async (_args, ctx) => {
      for (let i = 0; i < 3; i++) {
        await ctx.mcpReq?.notify?.({ method: "notifications/message", params: { level: "info", data: `step ${i}` } });
        await new Promise((r) => setTimeout(r, 20));
      }
      return text("done");
    });
  server.registerTool("ask", { description: "Wants to know something first.", inputSchema: object({}) },
    async () => inputRequired({ inputRequests: { who: inputRequired.elicit({ message: "Who are you?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } }) } }));
  server.registerTool("fails", { description: "Fails.", inputSchema: object({}) },
    async () => ({ ...text("it broke"), isError: true }));
  server.registerTool("picture", { description: "A picture.", inputSchema: object({}) },
    async () => ({ content: [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }] }));
  server.registerTool("figures", { description: "Figures.", inputSchema: object({}), outputSchema: object({ n: { type: "number" } }) },
    async () => ({ content: [], structuredContent: { n: 7 } }));
  server.registerTool("seen", { description: "The headers of this request.", inputSchema: object({}) },
    async () => text(JSON.stringify(last)));
  return server;
}

const handle = toNodeHandler(createMcpHandler(make, { legacy }));
const server = createServer((req, res) => {
  last = { ...req.headers };
  handle(req, res);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
