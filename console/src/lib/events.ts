// events.ts - what happens, as it happens: a screen asks for the events it shows.
//
//   useEvents((e) => e.event === "agent" && reload());
//
// One stream a browser, in a shared worker; where there is none, one a tab.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { FeedEvent as Envelope } from "../contract/types";
import { Feed, type FeedState } from "./feed";

declare const WORKER: string; // its address, from build.mjs

export interface Happening { event: string; id: string; data: Envelope }

export const connection = signal<FeedState>("off");
const listeners = new Set<(e: Happening) => void>();

function tell(e: { event: string; id: string; data: unknown }): void {
  for (const one of [...listeners]) one(e as Happening);
}
/** "gap": the stream was away; what is shown may be old. */
function say(state: FeedState): void {
  const before = connection.value;
  connection.value = state;
  if ((state === "live" && before === "waiting") || (state === "limited" && before !== "limited")) tell({ event: "gap", id: "", data: {} });
}

interface Line { start(): void; stop(): void; nudge(): void; bye(): void; ask(): void; giveUp(): void }

function ownLine(): Line {
  const own = new Feed(tell, say);
  return { start: () => own.start(), stop: () => own.stop(), nudge: () => own.nudge(), bye: () => own.stop(), ask: () => granted?.(), giveUp: () => undefined };
}

interface Policies { createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): unknown } }

function sharedLine(): Line {
  // The only policy there is, for the only address that it lets through.
  const policies = (globalThis as { trustedTypes?: Policies }).trustedTypes;
  const policy = policies?.createPolicy("lodge", {
    createScriptURL: (url) => {
      if (url !== WORKER) throw new TypeError("not the worker");
      return url;
    },
  });
  const worker = new SharedWorker((policy ? policy.createScriptURL(WORKER) : WORKER) as string, { name: "lodge", type: "module" });
  worker.port.onmessage = ({ data }: MessageEvent<{ event?: Happening; state?: FeedState; line?: boolean }>) => {
    if (data.event) tell(data.event);
    else if (data.line) granted?.();
    else if (data.state) say(data.state);
  };
  worker.onerror = () => {
    line = ownLine();
    if (wanted) line.start();
    if (granted) line.ask();
  };
  worker.port.start();
  const post = (word: string) => () => worker.port.postMessage(word);
  return { start: post("start"), stop: post("stop"), nudge: post("nudge"), bye: post("bye"), ask: post("line"), giveUp: post("no line") };
}

let wanted = false;
let granted: (() => void) | null = null;
let line: Line | null = null;
const open = (): Line => (line ??= typeof SharedWorker === "undefined" ? ownLine() : sharedLine());

export const feed = {
  start(): void {
    wanted = true;
    open().start();
  },
  stop(): void {
    wanted = false;
    line?.stop();
  },
  /** Another person's from now on. */
  again(): void {
    if (!wanted) return;
    line?.stop();
    line?.start();
  },
};

/** A connection of the tab's own, of the few that all tabs of a browser may hold: `begin` is called once it may; gives back what lets it go. */
export function takeLine(begin: () => void): () => void {
  const own = (): void => begin();
  granted = own;
  open().ask();
  return () => {
    if (granted !== own) return;
    granted = null;
    line?.giveUp();
  };
}

addEventListener("online", () => line?.nudge());
addEventListener("pagehide", () => line?.bye());
addEventListener("pageshow", (event) => {
  if (event.persisted && wanted) open().start();
  if (event.persisted && granted) open().ask();
});

/** Calls the function for every event while the screen is shown; "gap" and "reset" mean: read again. */
export function useEvents(handle: (e: Happening) => void): void {
  const latest = useRef(handle);
  latest.current = handle;
  useEffect(() => {
    const one = (e: Happening): void => latest.current(e);
    listeners.add(one);
    return () => void listeners.delete(one);
  }, []);
}
