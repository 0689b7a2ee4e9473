// reference.ts - the service's own document, and what the reference makes of it: operations, fields, examples in three languages.
import { send } from "./api";

export interface Schema {
  $ref?: string; type?: string | string[]; description?: string; properties?: Record<string, Schema>; required?: string[]; items?: Schema; enum?: unknown[]; anyOf?: Schema[]; oneOf?: Schema[];
  minimum?: number; maximum?: number; minLength?: number; maxLength?: number; minItems?: number; maxItems?: number; pattern?: string; format?: string; default?: unknown; const?: unknown; writeOnly?: boolean;
  "x-max"?: number; "x-default"?: unknown; "x-enum"?: unknown[]; "x-unit"?: string; "x-unused"?: boolean;
}
export interface Parameter { $ref?: string; name: string; in: string; description?: string; required?: boolean; schema: Schema }
interface Content { schema?: Schema; examples?: Record<string, { $ref?: string; value?: unknown }> }
interface Reply { $ref?: string; description?: string; content?: Record<string, Content> }
export interface Op {
  id: string; method: string; path: string; summary: string; description: string; tags: string[]; parameters: Parameter[]; permission: string; audit: string;
  body: { type: string; schema: Schema | undefined; sample: unknown; required: boolean } | null;
  replies: { status: string; text: string; type: string; schema: Schema | undefined }[]; events: Record<string, unknown>[] | null;
}
interface RawOp { operationId: string; tags?: string[]; summary?: string; description?: string; parameters?: Parameter[]; requestBody?: { required?: boolean; content: Record<string, Content> }; responses: Record<string, Reply>; "x-permission"?: string; "x-audit"?: string; "x-events"?: Record<string, unknown>[] }
interface Doc { info: { version: string; description: string }; paths: Record<string, Record<string, unknown>> }

let doc: Doc | null = null;
let ops: Op[] = [];

/** What a reference in the document names. */
export function resolve<T extends { $ref?: string }>(of: T): T {
  let at: T = of;
  for (let depth = 0; at.$ref && depth < 8; depth++)
    at = { ...(at.$ref.slice(2).split("/").reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], doc) as T), ...(({ $ref: _, ...rest }) => rest)(at as T & { $ref?: string }) } as T;
  return at;
}
export const nameOf = (s: Schema): string => s.$ref?.split("/").at(-1) ?? "";

export async function readReference(): Promise<{ ops: Op[]; version: string; about: string }> {
  if (!doc) {
    doc = (await (await send("GET", "/openapi.json")).json()) as Doc;
    for (const [path, methods] of Object.entries(doc.paths))
      for (const method of ["get", "post", "put", "patch", "delete"]) {
        const op = methods[method] as RawOp | undefined;
        if (!op) continue;
        const parameters = [...((methods["parameters"] as Parameter[] | undefined) ?? []), ...(op.parameters ?? [])].map(resolve);
        const [type, content] = Object.entries(op.requestBody?.content ?? {})[0] ?? [];
        const sample = Object.values(content?.examples ?? {})[0];
        ops.push({
          id: op.operationId, method: method.toUpperCase(), path, summary: op.summary ?? "", description: op.description ?? "", tags: op.tags ?? [], parameters, permission: op["x-permission"] ?? "", audit: op["x-audit"] ?? "",
          body: type ? { type, schema: content?.schema, sample: sample ? resolve(sample).value : undefined, required: op.requestBody?.required ?? false } : null,
          replies: Object.entries(op.responses).map(([status, r]) => {
            const reply = resolve(r);
            const [kind, inside] = Object.entries(reply.content ?? {})[0] ?? ["", undefined];
            return { status, text: reply.description ?? "", type: kind, schema: status.startsWith("2") ? inside?.schema : undefined };
          }),
          events: op["x-events"] ?? null,
        });
      }
  }
  return { ops, version: doc.info.version, about: doc.info.description };
}

/** "text, 1 to 64 characters, pattern …": everything that bounds it. */
export function boundsOf(s: Schema): string {
  const kinds = (Array.isArray(s.type) ? s.type : s.type ? [s.type] : []).map((k) => ({ string: "text", integer: "whole number", number: "number", boolean: "true or false", array: "list", object: "object", null: "null" })[k] ?? k);
  const parts = [kinds.join(" or ") || (s.anyOf || s.oneOf ? "one of several" : s.enum ? "one word" : "anything")];
  const range = (low: number | undefined, high: number | undefined, of: string): void => {
    if (low !== undefined || high !== undefined) parts.push(`${low ?? 0} to ${high ?? "any"}${of}`);
  };
  range(s.minimum, s.maximum, "");
  range(s.minLength, s.maxLength, " characters");
  range(s.minItems, s.maxItems, " items");
  if (s.format) parts.push(s.format);
  if (s.pattern) parts.push(`pattern ${s.pattern}`);
  if (s["x-max"] !== undefined) parts.push(`at most ${s["x-max"]}`);
  if (s["x-unit"]) parts.push(s["x-unit"]);
  const choices = s.enum ?? s["x-enum"];
  if (choices) parts.push(`one of ${choices.map((c) => JSON.stringify(c)).join(", ")}`);
  const preset = s.default ?? s["x-default"];
  if (preset !== undefined) parts.push(`${JSON.stringify(preset)} unless said`);
  if (s.writeOnly) parts.push("never shown again");
  if (s["x-unused"]) parts.push("kept, and not used");
  return parts.join("; ");
}

export interface Filled { path: Record<string, string>; query: Record<string, string>; body: string }

export function urlOf(op: Op, filled: Filled): string {
  const path = op.path.replace(/\{(\w+)\}/g, (whole, name: string) => (filled.path[name] ? encodeURIComponent(filled.path[name] ?? "") : whole));
  const query = new URLSearchParams(Object.entries(filled.query).filter(([, value]) => value !== ""));
  return path + (query.size ? `?${query}` : "");
}

const shell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export function examples(op: Op, filled: Filled, origin: string): Record<string, string> {
  const url = origin + urlOf(op, filled), body = op.body ? filled.body : "";
  const json = op.body?.type === "application/json" || !op.body;
  return {
    curl: [`curl ${op.method === "GET" ? "" : `-X ${op.method} `}${shell(url)}`, `-H "Authorization: Bearer $LODGE_KEY"`, ...(body ? [`-H 'Content-Type: ${op.body?.type}'`, `-d ${shell(body)}`] : [])].join(" \\\n  "),
    Python: `import os, requests\n\nreply = requests.request("${op.method}", ${JSON.stringify(url)},\n    headers={"Authorization": "Bearer " + os.environ["LODGE_KEY"]${body ? `, "Content-Type": ${JSON.stringify(op.body?.type)}` : ""}}${body ? `,\n    data=${JSON.stringify(body)}` : ""})\nreply.raise_for_status()\nprint(reply.${json ? "json()" : "text"} if reply.content else reply.status_code)`,
    JavaScript: `const reply = await fetch(${JSON.stringify(url)}, {\n  method: "${op.method}",\n  headers: { Authorization: \`Bearer \${process.env.LODGE_KEY}\`${body ? `, "Content-Type": ${JSON.stringify(op.body?.type)}` : ""} },${body ? `\n  body: ${JSON.stringify(body)},` : ""}\n});\nif (!reply.ok) throw new Error(await reply.text());\nconsole.log(await reply.text());`,
  };
}
