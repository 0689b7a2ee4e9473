// speak.ts - beginning a session and saying something in one, with files brought along.
//
// An agent reads what messages say: a short text file is put into the message, in a fence; a picture, a PDF or a sound is shown to it with the
// message, if a model of its chain takes it; every file is kept beside the session for people to save.
import type { SessionFileRead, TaskMessageRead, TaskSessionRead } from "../contract/types";
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

/** What models may be shown as it is. */
const SEEN = /^(image\/(png|jpeg|gif|webp)|application\/pdf|audio\/(wav|x-wav|mpeg))$/;

/** Files that a session has already, from a try that failed later: it is not brought them twice. */
const there = new WeakMap<File, { session: string; id: string }>();

/** `words` stand in the message for it; with an id it may be shown in their place. */
interface Brought { words: string; id: string | null }

async function bring(path: { tenant_id: string; session_id: string }, file: File): Promise<Brought> {
  if (there.get(file)?.session !== path.session_id) {
    const reply = await send("POST", address("POST /tenant/{tenant_id}/sessions/{session_id}/files", path, { name: file.name.slice(0, 255) }), { body: await file.arrayBuffer(), headers: { "Content-Type": "application/octet-stream", "Idempotency-Key": randomKey() } });
    there.set(file, { session: path.session_id, id: ((await reply.json()) as SessionFileRead).id });
  }
  const text = SEEN.test(file.type) ? null : await textOf(file);
  if (text === null) return { words: `\n\nFile kept beside this session: ${file.name} (${bytes(file.size)})`, id: SEEN.test(file.type) ? there.get(file)?.id ?? null : null };
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((m) => m[0].length));
  const fence = "`".repeat(longest + 1);
  return { words: `\n\nFile ${file.name}:\n\n${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`, id: null };
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
  const to = { ...path }, brought: Brought[] = [];
  for (const file of files) brought.push(await bring(to, file));
  const say = (shown: boolean): Promise<TaskMessageRead> => {
    const file_ids = shown ? brought.flatMap((b) => b.id ?? []) : [];
    const words = brought.map((b) => (shown && b.id ? "" : b.words)).join("");
    const content = (text + words).trim() || files.map((f) => f.name).join(", "); // a picture alone is called by its name
    return once(`${to.session_id} ${content} ${file_ids.join()}`, (key) => call("POST /tenant/{tenant_id}/sessions/{session_id}/messages", { path: to, body: { content, ...(file_ids.length ? { file_ids } : {}) }, key }));
  };
  try {
    return await say(true);
  } catch (err) {
    // No model of the agent's takes one of them: they are kept for people, and it is told of them.
    if (err instanceof Problem && err.status === 422 && err.fields.some((f) => f.field.startsWith("file_ids"))) return say(false);
    throw err;
  }
}

/** Begins a session, with the first message if there is one. */
export const begin = (path: { tenant_id: string; agent_id: string }, message: string | null): Promise<TaskSessionRead> =>
  once(`${path.agent_id} ${message ?? ""}`, (key) => call("POST /tenant/{tenant_id}/agents/{agent_id}/sessions", { path, body: message === null ? {} : { message }, key }));
