// generate.mjs - what generators of clients make of a published document is typed throughout.
//
//   node generate.mjs FILE FOLDER
//
// openapi-typescript and @hey-api/openapi-ts write what they make into the folder.  What the document marks with x-any may be any
// JSON; apart from that nothing that they make is `unknown` or `any`, and a program that tells the events of a stream apart by
// their names compiles.  One line for each failure; the last line is "N passed, N failed".
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

// Uses what is generated as people do.
const PROGRAM = `
declare global { interface Blob { size: number } interface File extends Blob { name: string } }
import type { AnthropicStreamEvent, ChatCompletionStreamEvent, CreateChatCompletionData, CreateResponseResponses, ResponseStreamEvent } from "./types.gen";

export function said(event: ResponseStreamEvent): string {
  switch (event.type) {
    case "response.output_text.delta": return event.delta;
    case "response.completed": return event.response.id;
    case "response.function_call_arguments.done": return event.name + event.arguments;
    case "response.reasoning_summary_part.done": return event.part.text;
    default: return "";
  }
}
export function told(event: AnthropicStreamEvent): string | undefined {
  if (event.type === "message_start") return event.message.model;
  if (event.type === "message_delta") return event.delta.stop_reason ?? undefined;
  return event.type === "error" ? event.error.message : undefined;
}
export function piece(event: ChatCompletionStreamEvent): string | null | undefined {
  if (typeof event === "string") return event satisfies "[DONE]";
  return "choices" in event ? event.choices[0]?.delta.content : event.error.message;
}
export const asked: CreateChatCompletionData["body"] = {
  model: "agent:helper",
  messages: [{ role: "user", content: [{ type: "text", text: "Where is it?" }, { type: "image_url", image_url: { url: "data:" } }] }],
};
// @ts-expect-error there is no such role
export const wrong: CreateChatCompletionData["body"] = { model: "m", messages: [{ role: "nobody", content: "" }] };
// @ts-expect-error there is no such event
export const never = (event: ResponseStreamEvent) => event.type === "response.nothing";
export const status = (reply: CreateResponseResponses[200]) => ("usage" in reply ? reply.usage?.input_tokens_details.cached_tokens : 0);
`;

let passed = 0;
let failed = 0;

function check(good, sentence) {
  if (good) {
    passed++;
  } else {
    failed++;
    console.log(sentence);
  }
}

// The same document, with a text in the place of what may be any JSON.
function typedOnly(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(typedOnly);
  if (value["x-any"] === true) return { type: "string" };
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, typedOnly(child)]));
}

// Where a type says nothing.  The headers of openapi-typescript are open by its own choice.
function checkTyped(name, text) {
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const vague = [];
  const visit = (node, path) => {
    if (ts.isPropertySignature(node) && node.name.getText() === "headers") return;
    const here = node.name && (ts.isPropertySignature(node) || ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node)) ? [...path, node.name.getText()] : path;
    if (node.kind === ts.SyntaxKind.UnknownKeyword || node.kind === ts.SyntaxKind.AnyKeyword) vague.push(here.join("."));
    else passed++;
    ts.forEachChild(node, (child) => visit(child, here));
  };
  visit(source, []);
  check(vague.length === 0, `${name}: says nothing of ${[...new Set(vague)].slice(0, 20).join(", ")}`);
}

function checkProgram(folder) {
  const file = join(folder, "program.ts");
  writeFileSync(file, PROGRAM);
  const program = ts.createProgram([file], { strict: true, noEmit: true, skipLibCheck: true, types: [], lib: ["lib.es2022.d.ts"], target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler });
  for (const one of ts.getPreEmitDiagnostics(program)) check(false, `${one.file?.fileName.split("/").pop()}: ${ts.flattenDiagnosticMessageText(one.messageText, " ")} (at ${one.start})`);
  passed++;
}

async function main([file, folder]) {
  if (!folder) {
    console.error("Usage: node generate.mjs FILE FOLDER");
    return 2;
  }
  const doc = typedOnly(JSON.parse(readFileSync(file, "utf8")));
  checkTyped("openapi-typescript", astToString(await openapiTS(structuredClone(doc))));
  await createClient({ input: doc, output: folder, plugins: ["@hey-api/typescript"], logs: { level: "silent" } });
  checkTyped("@hey-api/openapi-ts", readFileSync(join(folder, "types.gen.ts"), "utf8"));
  checkProgram(folder);
  console.log(`${passed} passed, ${failed} failed`);
  return failed ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
