// toast.tsx - short words about what the reader just did; what needs an answer is no toast.
import { signal } from "@preact/signals";
import { Problem } from "../lib/api";
import { straight } from "../lib/format";
import { beforeLeaving } from "../lib/session";
import { Icon } from "./icons";

interface Toast { id: number; text: string; bad: boolean; undo: (() => void) | undefined }

const STAY_MS = 6_000, UNDO_MS = 10_000;
const shown = signal<Toast[]>([]);
let count = 0;

function drop(id: number): void {
  shown.value = shown.value.filter((t) => t.id !== id);
}

export function toast(text: string, { bad = false, undo }: { bad?: boolean; undo?: () => void } = {}): number {
  const id = ++count;
  shown.value = [...shown.value.slice(-3), { id, text, bad, undo }];
  setTimeout(() => drop(id), undo ? UNDO_MS : bad ? 2 * STAY_MS : STAY_MS);
  return id;
}

/** Tells why something failed. */
export function complain(err: unknown): void {
  if ((err as Error | null)?.name === "AbortError") return;
  if (!(err instanceof Problem)) {
    reportError(err);
    toast("Something in the console failed; reload the page and try again.", { bad: true });
    return;
  }
  toast([err.detail, ...err.fields.map((f) => `${f.field}: ${f.message}`)].join(" "), { bad: true });
}

const settling = new Set<() => Promise<void>>();
beforeLeaving.push(() => Promise.all([...settling].map((run) => run())));

/** Says that something is done and does it ten seconds later, unless it is undone; leaving the page does it at once. */
export function undoable(text: string, act: () => Promise<unknown>, undone: () => void): void {
  let open = true;
  const run = async (): Promise<void> => {
    if (!open) return;
    open = false;
    removeEventListener("pagehide", run);
    settling.delete(run);
    clearTimeout(timer);
    await act().catch((err: unknown) => {
      undone();
      complain(err);
    });
  };
  settling.add(run);
  const timer = setTimeout(run, UNDO_MS);
  addEventListener("pagehide", run);
  toast(text, {
    undo: () => {
      open = false;
      clearTimeout(timer);
      removeEventListener("pagehide", run);
      settling.delete(run);
      undone();
    },
  });
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map((t) => (
        <div key={t.id} class={`toast${t.bad ? " bad" : ""}`}>
          <Icon name={t.bad ? "warn" : "check"} />
          <span>{straight(t.text)}</span>
          {t.undo && <button type="button" class="button quiet" onClick={() => (t.undo?.(), drop(t.id))}>Undo</button>}
          <button type="button" class="button quiet bare" aria-label="Dismiss" onClick={() => drop(t.id)}><Icon name="close" /></button>
        </div>
      ))}
    </div>
  );
}
