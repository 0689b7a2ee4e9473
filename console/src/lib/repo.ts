// repo.ts - the repository of an agent: its address as a command, its files as text, and what its words mean.
import { useCallback, useEffect, useState } from "preact/hooks";
import type { AgentRepoRead, RepoProjection } from "../contract/types";
import { Problem, address, send } from "./api";

export interface AgentPath { tenant_id: string; agent_id: string }
/** With what only repositories that are kept elsewhere have. */
export type Repo = AgentRepoRead & { next_attempt_at?: string | null; web_url?: string | null; has_token?: boolean };

/** The branch that prompts are taken from. */
export const MAIN = "main";

export const MODES: Record<RepoProjection | "propose", string> = {
  off: "Nothing is taken from the repository by itself. What differs is shown under Prompts, where somebody decides.",
  propose: "What the main branch brings is put before people first: the difference waits for approval, and the agent goes on with its own prompt until somebody agrees.",
  auto: "What the main branch brings becomes the agent's prompt by itself, at once. Whoever may push to it may then change the agent. A prompt that was changed here meanwhile is left alone.",
};

/** One word of a shell, whatever is in it. */
const quoted = (word: string): string => (/^[\w@%+=:,./~-]+$/.test(word) && !word.startsWith("-") ? word : `'${word.replaceAll("'", "'\\''")}'`);

export const cloneByHttp = (url: string): string => `git clone ${quoted(url)}`;

/** The same repository by the machine's ssh; null where the address is none of ours. */
export function cloneBySsh(url: string): string | null {
  const name = /\/git\/([^/]+\/[^/]+\.git)$/.exec(url)?.[1];
  return name && URL.canParse(url) ? `git clone ${quoted(`git@${new URL(url).hostname}:${name}`)}` : null;
}

export const fileUrl = (path: AgentPath, ref: string | null, file: string): string =>
  address("GET /tenant/{tenant_id}/agents/{agent_id}/repo/file", { ...path }, { ref, path: file });

/** What is read of a file: its text, or that it has none. */
export interface FileText { text: string | null; size: number | null; whole: boolean }

const READ_MAX = 512_000;

/** Reads so much of a file and no more; a file that is no text is not read at all. */
export async function readText(url: string, signal?: AbortSignal, most = READ_MAX): Promise<FileText> {
  const reply = await send("GET", url, signal ? { signal } : {}), length = reply.headers.get("content-length");
  const size = length === null || reply.headers.has("content-encoding") ? null : Number(length); // of what was squeezed it says how little came
  const reader = reply.body?.getReader();
  if (!reader || !(reply.headers.get("content-type") ?? "").startsWith("text/")) {
    await reader?.cancel();
    return { text: null, size, whole: false };
  }
  const decoder = new TextDecoder();
  let text = "", got = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode(), size: got, whole: true };
    got += value.length;
    text += decoder.decode(value, { stream: true });
    if (got > most) {
      await reader.cancel();
      return { text: text.slice(0, most), size, whole: false };
    }
  }
}

export interface Reading { data: FileText | undefined; error: Problem | null; loading: boolean; reload: () => void }

/** A file's text as a screen shows it; null: none is wanted. */
export function useText(url: string | null, most?: number): Reading {
  const [state, setState] = useState<{ url: string; data?: FileText; error: Problem | null; loading: boolean }>({ url: "", error: null, loading: true });
  const [round, again] = useState(0);
  useEffect(() => {
    if (url === null) return;
    const abort = new AbortController();
    setState((s) => ({ ...(s.url === url ? s : { url, error: null }), loading: true }));
    readText(url, abort.signal, most).then(
      (data) => !abort.signal.aborted && setState({ url, data, error: null, loading: false }),
      (error: Problem) => !abort.signal.aborted && setState((s) => ({ ...s, url, error, loading: false })));
    return () => abort.abort();
  }, [url, round]);
  const here = state.url === url;
  return { data: here ? state.data : undefined, error: here ? state.error : null, loading: !here || state.loading, reload: useCallback(() => again((n) => n + 1), []) };
}
