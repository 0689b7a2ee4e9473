// speak.ts - saying something in a session, with files brought along.
//
// An agent reads what messages say: a short text file is put into the message, in a fence; every file is kept beside the
// session for people to save.
import type { TaskMessageRead } from "../contract/types";
import { address, call, randomKey, send } from "./api";
import { bytes } from "./format";

const READ_MAX = 64_000;

async function textOf(file: File): Promise<string | null> {
  if (file.size > READ_MAX) return null;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return text.includes("\0") ? null : text;
  } catch {
    return null; // not text
  }
}

async function bring(path: { tenant_id: string; session_id: string }, file: File): Promise<string> {
  await send("POST", address("POST /tenant/{tenant_id}/sessions/{session_id}/files", path, { name: file.name.slice(0, 255) }), { body: await file.arrayBuffer(), headers: { "Content-Type": "application/octet-stream", "Idempotency-Key": randomKey() } });
  const text = await textOf(file);
  if (text === null) return `\n\nFile kept beside this session: ${file.name} (${bytes(file.size)})`;
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((m) => m[0].length));
  const fence = "`".repeat(longest + 1);
  return `\n\nFile ${file.name}:\n\n${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

export async function speak(path: { tenant_id: string; session_id: string }, text: string, files: File[], key = randomKey()): Promise<TaskMessageRead> {
  let content = text;
  for (const file of files) content += await bring(path, file);
  return call("POST /tenant/{tenant_id}/sessions/{session_id}/messages", { path, body: { content: content.trim() }, key });
}
