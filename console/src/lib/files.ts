// files.ts - files on their way to the service: the browser reads them from the disk while it sends, so that none is ever in the page's memory.
import { Problem, hooks } from "./api";
import type { Problem as ProblemBody } from "../contract/types";

export interface Sending {
  headers?: Record<string, string>;
  /** How many bytes have gone. */
  progress?: (sent: number) => void;
  signal?: AbortSignal;
}

function answered(request: XMLHttpRequest): Problem {
  let body: Partial<ProblemBody> = {};
  try {
    body = JSON.parse(request.responseText) as ProblemBody;
  } catch {
    // A proxy's answer; the status says what there is to say.
  }
  return new Problem(request.status, { request_id: request.getResponseHeader("x-request-id") ?? "", ...body }, request.getResponseHeader("retry-after"));
}

/** Nobody answered: the file, or the way to the service. */
async function unanswered(file: File): Promise<Problem> {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch {
    return new Problem(0, { title: "Not readable", detail: `${file.name} cannot be read: it is a folder, or was changed or moved since it was chosen.` });
  }
  return new Problem(0, { title: "Not reached", detail: "The service cannot be reached, or broke off. Try again in a moment." });
}

function once(method: string, url: string, file: File, { headers = {}, progress, signal }: Sending): Promise<XMLHttpRequest> {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    const stop = (): void => request.abort();
    request.open(method, url);
    for (const [name, value] of Object.entries({ Accept: "application/json", ...headers })) request.setRequestHeader(name, value);
    request.upload.onprogress = (e) => progress?.(e.loaded);
    request.onload = () => done(request);
    request.onerror = () => unanswered(file).then(fail, fail);
    request.onabort = () => fail(new DOMException("stopped", "AbortError"));
    request.onloadend = () => signal?.removeEventListener("abort", stop);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) return fail(new DOMException("stopped", "AbortError"));
    request.send(file);
  });
}

/** Sends a file as it is; a refusal is a Problem, an ended login is asked for, and it goes again. */
export async function sendFile<T>(method: string, url: string, file: File, sending: Sending = {}): Promise<T> {
  for (;;) {
    const request = await once(method, url, file, sending);
    if (request.status >= 200 && request.status < 300) return JSON.parse(request.responseText) as T;
    if (request.status === 401 && hooks.signedOut) {
      await hooks.signedOut();
      continue;
    }
    if (request.status === 403) hooks.forbidden?.();
    throw answered(request);
  }
}
