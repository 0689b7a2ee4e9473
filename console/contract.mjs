// contract.mjs - what the console knows of the service: types and forms, made from its OpenAPI document.
//
//   node contract.mjs [PROGRAM]       PROGRAM is a lodge, ../build/lodge otherwise
//
// Writes src/contract/types.ts (every schema, and every operation with what it takes and gives) and
// src/contract/forms.ts (a table of fields for every body that people may fill in).  Nobody edits those: a field that is new in
// the service's tables is in its form after this has run.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { helpOf } from "./help.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const NOTE = "// Made by contract.mjs from the service's own document; run it again instead of editing this.\n";
const METHODS = ["get", "post", "put", "patch", "delete"];

export function readDocument(program) {
  return JSON.parse(execFileSync(program, ["openapi"], { maxBuffer: 64 << 20, encoding: "utf8" }));
}

const last = (ref) => ref.split("/").at(-1);
const property = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

// ---- types ----

function typeOf(s) {
  if (!s || !Object.keys(s).length) return "unknown";
  if (s.$ref) return last(s.$ref);
  if (s.anyOf || s.oneOf) return (s.anyOf ?? s.oneOf).map(typeOf).join(" | ");
  if (s.enum) return s.enum.map((v) => JSON.stringify(v)).join(" | ");
  if ("const" in s) return JSON.stringify(s.const);
  const kinds = Array.isArray(s.type) ? s.type : [s.type];
  return kinds.map((kind) => {
    if (kind === "array") return `(${typeOf(s.items)})[]`;
    if (kind === "object" && s.properties) return objectType(s);
    if (kind === "object") return "Record<string, unknown>";
    return { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" }[kind] ?? "unknown";
  }).join(" | ");
}

function objectType(s) {
  const rows = Object.entries(s.properties ?? {}).map(([name, p]) =>
    `${property(name)}${s.required?.includes(name) ? "" : "?"}: ${typeOf(p)};`);
  return `{ ${rows.join(" ")} }`;
}

const resolved = (doc, p) => (p.$ref ? p.$ref.slice(2).split("/").reduce((at, key) => at[key], doc) : p);

function operations(doc) {
  const rows = [];
  for (const [path, ops] of Object.entries(doc.paths))
    for (const method of METHODS) {
      const op = ops[method];
      if (!op) continue;
      const params = [...(ops.parameters ?? []), ...(op.parameters ?? [])].map((p) => resolved(doc, p));
      const query = params.filter((p) => p.in === "query").map((p) => `${property(p.name)}?: ${typeOf(p.schema)} | undefined;`);
      const names = [...path.matchAll(/\{(\w+)\}/g)].map((m) => `${m[1]}: string;`);
      const body = op.requestBody?.content?.["application/json"]?.schema;
      const replies = new Set();
      for (const [status, r] of Object.entries(op.responses))
        if (status.startsWith("2")) {
          const shape = resolved(doc, r).content?.["application/json"]?.schema;
          replies.add(shape ? typeOf(shape) : "undefined");
        }
      if (replies.size > 1) replies.delete("undefined");
      rows.push(`  ${JSON.stringify(`${method.toUpperCase()} ${path}`)}: { path: { ${names.join(" ")} }; query: { ${query.join(" ")} }; body: ${body ? typeOf(body) : "undefined"}; reply: ${[...replies].join(" | ") || "undefined"} };`);
    }
  return rows;
}

export function makeTypes(doc) {
  const schemas = Object.entries(doc.components.schemas).map(([name, s]) =>
    s.type === "object" && s.properties ? `export interface ${name} ${objectType(s)}` : `export type ${name} = ${typeOf(s)};`);
  return `${NOTE}${schemas.join("\n")}\nexport interface Operations {\n${operations(doc).join("\n")}\n}\n`;
}

// ---- forms ----

const words = (name) => (name[0].toUpperCase() + name.slice(1)).replaceAll("_", " ")
  .replace(/\bId\b|\bid\b/, "ID").replace(/\b(url|api|usd|json)\b/gi, (w) => w.toUpperCase());

function fieldOf(doc, form, name, raw, required) {
  const choices = raw.anyOf?.filter((s) => s.type !== "null");
  const s = { ...(raw.$ref ? resolved(doc, raw) : {}), ...(choices?.length === 1 ? resolved(doc, choices[0]) : {}), ...raw };
  const kinds = (Array.isArray(s.type) ? s.type : [s.type]).filter((k) => k !== "null");
  const nullable = (Array.isArray(s.type) && s.type.includes("null")) || Boolean(raw.anyOf?.some((a) => a.type === "null")) || Boolean(s.enum?.includes(null));
  const items = s.items ? resolved(doc, s.items) : null;
  const out = { name, label: s["x-label"] ?? words(name), help: raw.description ?? s.description ?? "" };
  if (s.enum) out.kind = "choice";
  else if (kinds[0] === "boolean") out.kind = "flag";
  else if (kinds[0] === "integer" || kinds[0] === "number") out.kind = kinds[0];
  else if (kinds[0] === "array" && items?.enum) out.kind = "choices";
  else if (kinds[0] === "array" && items?.type === "string") out.kind = "lines";
  else if (kinds[0] === "string") out.kind = s.format === "date-time" ? "moment" : s["x-long"] ? "long" : "text";
  else out.kind = "json";
  if (s.enum ?? items?.enum) out.words = (s.enum ?? items.enum).filter((w) => w !== null);
  if (items?.["x-enum"]) (out.words = items["x-enum"]), (out.kind = "choices");
  out.help = helpOf(form, name, out.help, out.words);
  if (required) out.required = true;
  if (nullable) out.nullable = true;
  if (s.writeOnly || s["x-secret"]) out.secret = true;
  if (s["x-unit"]) out.unit = s["x-unit"];
  if (s["x-order"] !== undefined) out.order = s["x-order"];
  if (s["x-unused"]) out.unused = true;
  if (s.format === "email") out.email = true;
  if (s.pattern && out.kind === "text") out.pattern = s.pattern.replace(/^\^|\$$/g, "");
  for (const [from, to] of [["minLength", "min"], ["maxLength", "max"], ["minimum", "min"], ["maximum", "max"], ["minItems", "min"], ["maxItems", "max"]])
    if (s[from] !== undefined) out[to] = s[from];
  const preset = s.default ?? s["x-default"];
  if (preset !== undefined && preset !== null) out.preset = preset;
  return out;
}

export function makeForms(doc) {
  const taken = new Set();
  for (const ops of Object.values(doc.paths))
    for (const method of METHODS) {
      const ref = ops[method]?.requestBody?.content?.["application/json"]?.schema?.$ref;
      if (ref) taken.add(last(ref));
    }
  // And what stands inside of them as an object of its own.
  for (const name of [...taken])
    for (const p of Object.values(doc.components.schemas[name].properties ?? {}))
      for (const inner of [p, ...(p.anyOf ?? [])]) if (inner.$ref && resolved(doc, inner).properties) taken.add(last(inner.$ref));
  const forms = [...taken].sort().map((name) => {
    const s = doc.components.schemas[name];
    const fields = Object.entries(s.properties ?? {}).map(([key, p]) => fieldOf(doc, name, key, p, s.required?.includes(key)));
    fields.sort((a, b) => (a.order ?? 0) - (b.order ?? 0));
    return `export const ${name}: Form = ${JSON.stringify(fields)};`;
  });
  return `${NOTE}import type { Form } from "../ui/form";\n${forms.join("\n")}\n`;
}

export const made = (doc) => ({ "src/contract/types.ts": makeTypes(doc), "src/contract/forms.ts": makeForms(doc) });

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const program = resolve(process.argv[2] ?? join(here, "../build/lodge"));
  for (const [name, text] of Object.entries(made(readDocument(program)))) writeFileSync(join(here, name), text);
}
