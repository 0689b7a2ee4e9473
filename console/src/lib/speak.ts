// speak.ts - beginning a session and saying something in one, with files brought along.
//
// An agent reads what messages say: a short text file is put into the message, in a fence; every file is kept beside the
// session for people to save.
import type { TaskMessageRead, TaskSessionRead } from "../contract/types";
import { Problem, address, call, randomKey, send } from "./api";
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

/** Files that a session has already, from a try that failed later: it is not brought them twice. */
const there = new WeakMap<File, string>();

async function bring(path: { tenant_id: string; session_id: string }, file: File): Promise<string> {
  if (there.get(file) !== path.session_id)
    await send("POST", address("POST /tenant/{tenant_id}/sessions/{session_id}/files", path, { name: file.name.slice(0, 255) }), { body: await file.arrayBuffer(), headers: { "Content-Type": "application/octet-stream", "Idempotency-Key": randomKey() } });
  there.set(file, path.session_id);
  const text = await textOf(file);
  if (text === null) return `\n\nFile kept beside this session: ${file.name} (${bytes(file.size)})`;
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((m) => m[0].length));
  const fence = "`".repeat(longest + 1);
  return `\n\nFile ${file.name}:\n\n${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

/** Keys of what may have arrived though nobody said so: said again it is the same one; the same words said twice are two. */
const unsure = new Map<string, string>();

async function once<T>(what: string, act: (key: string) => Promise<T>): Promise<T> {
  const key = unsure.get(what) ?? randomKey();
  unsure.delete(what);
  try {
    return await act(key);
  } catch (err) {
    if (err instanceof Problem && (err.status === 0 || err.status >= 500)) unsure.set(what, key);
    throw err;
  }
}

export async function speak(path: { tenant_id: string; session_id: string }, text: string, files: File[]): Promise<TaskMessageRead> {
  const to = { ...path };
  let content = text;
  for (const file of files) content += await bring(to, file);
  content = content.trim();
  return once(`${to.session_id} ${content}`, (key) => call("POST /tenant/{tenant_id}/sessions/{session_id}/messages", { path: to, body: { content }, key }));
}

/** Begins a session, with the first message if there is one. */
export const begin = (path: { tenant_id: string; agent_id: string }, message: string | null): Promise<TaskSessionRead> =>
  once(`${path.agent_id} ${message ?? ""}`, (key) => call("POST /tenant/{tenant_id}/agents/{agent_id}/sessions", { path, body: message === null ? {} : { message }, key }));
