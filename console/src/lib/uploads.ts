// uploads.ts - files on their way into a bucket: two at a time, whichever screen is in view, each with how far it is.
//
// What is there already is not replaced unasked: an upload that finds something at its key waits for an answer, and sends
// with it what it saw there, so that of two who put the same key nobody replaces what they have not seen.
import { signal } from "@preact/signals";
import type { BucketObject } from "../contract/types";
import { Problem, address, call } from "./api";
import { sendFile } from "./files";
import { bytes } from "./format";
import { beforeLeaving } from "./session";

/** asks: something is at its key, and somebody has to say whether it is replaced. */
export type UploadState = "waiting" | "sending" | "asks" | "there" | "stopped" | "failed";
export interface Upload { id: number; tenant: string; key: string; file: File; state: UploadState; sent: number; why: string }

const AT_ONCE = 2, REPLACED = 412, NO_ROOM = 507;
export const uploads = signal<Upload[]>([]);
const stops = new Map<number, AbortController>();
/** What somebody said may be replaced, as it was when they said it. */
const seen = new Map<number, string>();
let count = 0;

const change = (id: number, to: Partial<Upload>): void => void (uploads.value = uploads.value.map((u) => (u.id === id ? { ...u, ...to } : u)));
export const isUnderway = (u: Upload): boolean => u.state === "waiting" || u.state === "sending";

async function standing({ tenant, key }: Upload): Promise<BucketObject | undefined> {
  const { items } = await call("GET /tenant/{tenant_id}/bucket", { path: { tenant_id: tenant }, query: { prefix: key, sort: "key", per_page: 1, total: false } });
  return items.find((o) => o.key === key);
}

/** What is too large is known before a byte of it is sent. */
async function needRoom({ tenant, file }: Upload, there: BucketObject | undefined): Promise<void> {
  const { used_bytes, max_bytes } = await call("GET /tenant/{tenant_id}/bucket/folder", { path: { tenant_id: tenant }, query: { per_page: 1 } });
  const left = Math.max(0, max_bytes - used_bytes + (there?.size_bytes ?? 0));
  if (file.size > left) throw new Problem(NO_ROOM, { title: "No room", detail: `There is no room for it: it has ${bytes(file.size)}, and the bucket of this tenant has ${bytes(left)} left of ${bytes(max_bytes)}.` });
}

async function put(u: Upload): Promise<void> {
  const stop = new AbortController();
  stops.set(u.id, stop);
  change(u.id, { state: "sending", sent: 0, why: "" });
  try {
    const there = await standing(u);
    if (stop.signal.aborted) return;
    if (there && seen.get(u.id) !== there.sha256) {
      const again = seen.has(u.id);
      seen.set(u.id, there.sha256);
      change(u.id, { state: "asks", why: again ? `Somebody has put another there meanwhile, of ${bytes(there.size_bytes)}.` : `There is one of that name, of ${bytes(there.size_bytes)}.` });
      return;
    }
    await needRoom(u, there);
    const made = await sendFile<BucketObject>("PUT", address("PUT /tenant/{tenant_id}/bucket/object", { tenant_id: u.tenant }, { key: u.key }), u.file, {
      headers: { "Content-Type": u.file.type || "application/octet-stream", ...(there ? { "If-Match": `"${there.sha256}"` } : { "If-None-Match": "*" }) },
      progress: (sent) => change(u.id, { sent }),
      signal: stop.signal,
    });
    change(u.id, { state: "there", sent: made.size_bytes, why: "" });
  } catch (err) {
    if (stop.signal.aborted) return;
    if (err instanceof Problem && err.status === REPLACED) return put(u); // what is there now is asked about
    change(u.id, { state: "failed", why: err instanceof Problem ? [err.detail, ...err.fields.map((f) => f.message)].join(" ") : String(err) });
  } finally {
    if (stops.get(u.id) === stop) stops.delete(u.id);
  }
}

function next(): void {
  const all = uploads.peek();
  if (all.filter((u) => u.state === "sending").length >= AT_ONCE) return;
  const one = all.find((u) => u.state === "waiting");
  if (!one) return;
  void put(one).finally(next);
  next();
}

/** Puts files into the bucket, under a prefix. */
export function upload(tenant: string, prefix: string, files: File[]): void {
  uploads.value = [...uploads.value, ...files.map((file) => ({ id: ++count, tenant, key: prefix + file.name, file, state: "waiting" as const, sent: 0, why: "" }))];
  next();
}

export function stopUpload(id: number): void {
  change(id, { state: "stopped", why: "" });
  stops.get(id)?.abort();
  next();
}

/** Once more; where it asked, in the place of what is there. */
export function goOn(id: number): void {
  change(id, { state: "waiting", why: "" });
  next();
}

export const dismissUploads = (which: (u: Upload) => boolean): void => void (uploads.value = uploads.value.filter((u) => isUnderway(u) || !which(u)));

addEventListener("beforeunload", (event) => uploads.peek().some(isUnderway) && event.preventDefault());
beforeLeaving.push(async () => {
  for (const u of uploads.peek()) if (isUnderway(u)) stopUpload(u.id);
  uploads.value = [];
});
