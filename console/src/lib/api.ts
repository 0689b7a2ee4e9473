// api.ts - asking the service: every operation of its document by method and path, with its types.
//
// The login is a cookie that no script can read; a browser sends it, and our Origin with every change, by itself.  What the service
// refuses comes as a Problem.  A login that has ended is asked for again in place (see session.ts), and the call
// goes on when somebody has signed in: what was typed is never lost.
import type { Operations, Problem as ProblemBody } from "../contract/types";

export type Operation = keyof Operations;
type Filled<T> = keyof T extends never ? { [K in never]: never } : T;
export type Args<O extends Operation> =
  (keyof Operations[O]["path"] extends never ? { path?: undefined } : { path: Operations[O]["path"] }) &
  { query?: Filled<Operations[O]["query"]> } &
  (Operations[O]["body"] extends undefined ? { body?: undefined } : { body: Operations[O]["body"] }) &
  { match?: string | null; key?: string; signal?: AbortSignal; again?: boolean };
export type Reply<O extends Operation> = Operations[O]["reply"];
export interface Tagged<T> { data: T; etag: string | null }

/** What the service says about a request that it refuses; status 0: it was not reached. */
export class Problem extends Error {
  status: number;
  type: string;
  title: string;
  detail: string;
  requestId: string;
  fields: { field: string; code: string; message: string }[];
  retryAfter: number | null;

  constructor(status: number, body: Partial<ProblemBody>, retryAfter: string | null = null) {
    super(body.detail ?? body.title ?? `The service answered ${status}.`);
    this.status = status;
    this.type = body.type ?? "";
    this.title = body.title ?? "";
    this.detail = this.message;
    this.requestId = body.request_id ?? "";
    this.fields = body.errors ?? [];
    this.retryAfter = retryAfter === null ? null : Number(retryAfter) || null;
  }
}

/** What others do when the service answers 401 or 403; set by session.ts. */
export const hooks: { signedOut: (() => Promise<void>) | null; forbidden: (() => void) | null } = { signedOut: null, forbidden: null };

/** Random letters; crypto.randomUUID is missing on plain http. */
export function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
}

export function address(operation: string, path: Record<string, string> = {}, query: Record<string, unknown> = {}): string {
  const url = operation.slice(operation.indexOf(" ") + 1).replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ""));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (Array.isArray(value)) search.set(name, value.join(","));
    else if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  return search.size ? `${url}?${search}` : url;
}

async function problemOf(reply: Response): Promise<Problem> {
  let body: Partial<ProblemBody> = {};
  try {
    body = (await reply.json()) as ProblemBody;
  } catch {
    // A proxy's answer; the status says what there is to say.
  }
  return new Problem(reply.status, { request_id: reply.headers.get("x-request-id") ?? "", ...body }, reply.headers.get("retry-after"));
}

/** One request, with every refusal as a Problem.  For bodies and answers that are no JSON. */
export async function send(method: string, url: string, init: RequestInit & { again?: boolean } = {}): Promise<Response> {
  for (;;) {
    let reply: Response;
    try {
      // Back and Forward would take what the browser has kept from whoever was here before.
      reply = await fetch(url, { cache: "no-cache", ...init, method, credentials: "same-origin" });
    } catch (err) {
      if ((err as Error).name === "AbortError") throw err;
      throw new Problem(0, { title: "Not reached", detail: "The service cannot be reached. What you typed is kept; try again in a moment." });
    }
    if (reply.ok) return reply;
    if (reply.status === 401 && init.again !== false && hooks.signedOut) {
      await hooks.signedOut();
      continue;
    }
    if (reply.status === 403) hooks.forbidden?.();
    throw await problemOf(reply);
  }
}

export async function tagged<O extends Operation>(operation: O, ...[args]: Record<string, never> extends Args<O> ? [Args<O>?] : [Args<O>]): Promise<Tagged<Reply<O>>> {
  const method = operation.slice(0, operation.indexOf(" "));
  const headers: Record<string, string> = { Accept: "application/json" };
  const a = (args ?? {}) as { path?: Record<string, string>; query?: Record<string, unknown>; body?: unknown; match?: string | null; key?: string; signal?: AbortSignal; again?: boolean };
  if (a.body !== undefined) headers["Content-Type"] = "application/json";
  if (a.match) headers["If-Match"] = a.match;
  if (method === "POST") headers["Idempotency-Key"] = a.key ?? randomKey();
  const reply = await send(method, address(operation, a.path, a.query), {
    headers,
    ...(a.body === undefined ? {} : { body: JSON.stringify(a.body) }),
    ...(a.signal ? { signal: a.signal } : {}),
    ...(a.again === undefined ? {} : { again: a.again }),
  });
  const text = await reply.text();
  return { data: (text ? JSON.parse(text) : undefined) as Reply<O>, etag: reply.headers.get("etag") };
}

export async function call<O extends Operation>(operation: O, ...args: Record<string, never> extends Args<O> ? [Args<O>?] : [Args<O>]): Promise<Reply<O>> {
  return (await tagged(operation, ...args)).data;
}

/** What is wrong with each field, by its name: "models[0].model_id" counts for "models" too.  A pattern is said in words alone. */
export function fieldErrors(err: unknown): Record<string, string> {
  const out: Record<string, string> = {};
  if (err instanceof Problem)
    for (const { field, code, message } of err.fields) out[field] ??= code === "pattern" ? message.replace(/: \^.*$/s, "") : message;
  return out;
}
