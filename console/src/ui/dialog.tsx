// dialog.tsx - what is asked over the screen: <Dialog>, and questions that answer with a promise.
//
//   if (await confirm({ title: "Revoke this key?", action: "Revoke", danger: true })) …
//   if (await confirm({ title: "Delete Scout?", action: "Delete", danger: true, type: "scout" })) …
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { heading } from "../lib/focus";
import { straight } from "../lib/format";
import { Button } from "./button";

interface Props {
  title: string;
  children: ComponentChildren;
  onClose: () => void;
  /** False: neither Esc nor the cross closes it; only what is inside does. */
  closes?: boolean;
  wide?: boolean;
}

/** Where the focus was before each open dialog: for one that follows another, where it was before that one. */
const openers = new WeakMap<Element, Element>();

export function opened(dialog: HTMLDialogElement | null): () => void {
  const at = document.activeElement, over = at?.closest("dialog");
  const before = (over && openers.get(over)) || at;
  if (dialog && before) openers.set(dialog, before);
  dialog?.showModal();
  // A browser begins with the cross: where something is to be written, one begins there.
  if (!dialog?.querySelector("[autofocus]")) dialog?.querySelector<HTMLElement>(".inside :is(input:not([type=hidden]), textarea, select):not([disabled], [readonly], [hidden])")?.focus();
  return () => {
    dialog?.close();
    if (document.querySelector("dialog[open]")) return; // it has the focus, and gives it back
    const back = before instanceof HTMLElement && before.isConnected && before !== document.body ? before : heading();
    back?.focus();
  };
}

/** A modal dialog; focus goes in and, when it closes, back to where it was. */
export function Dialog({ title, children, onClose, closes = true, wide = false }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => opened(ref.current), []);
  return (
    <dialog ref={ref} class={wide ? "wide" : undefined} aria-labelledby={id} onCancel={(e) => {
      e.preventDefault();
      if (closes) onClose();
    }} onKeyDown={(e) => e.key === "Escape" && !closes && e.preventDefault()}>
      <header>
        <h2 id={id}>{straight(title)}</h2>
        {closes && <Button look="quiet" icon="close" label="Close" act={onClose} />}
      </header>
      <div class="inside">{children}</div>
    </dialog>
  );
}

export interface Question {
  title: string;
  text?: ComponentChildren;
  action: string;
  danger?: boolean;
  /** Must be typed before it is done: for what cannot be undone. */
  type?: string;
}

const stack = signal<{ id: number; show: (close: (value: unknown) => void) => ComponentChildren; done: (value: unknown) => void }[]>([]);
let count = 0;

/** Shows something over the screen until it calls `close`; null if it was dismissed. */
export function over<T>(show: (close: (value: T | null) => void) => ComponentChildren): Promise<T | null> {
  const id = ++count;
  return new Promise((resolve) => {
    const done = (value: unknown): void => {
      stack.value = stack.value.filter((d) => d.id !== id);
      resolve(value as T | null);
    };
    stack.value = [...stack.value, { id, show: show as (close: (value: unknown) => void) => ComponentChildren, done }];
  });
}

function Ask({ q, close }: { q: Question; close: (value: boolean) => void }) {
  const [typed, setTyped] = useState("");
  const id = useId();
  return (
    <Dialog title={q.title} onClose={() => close(false)}>
      <form onSubmit={(e) => {
        e.preventDefault();
        if (!q.type || typed === q.type) close(true);
      }}>
        {q.text && <p>{q.text}</p>}
        {q.type && (
          <div class="field">
            <label for={id}>Type <code>{q.type}</code> to go on</label>
            <input id={id} value={typed} autocomplete="off" spellcheck={false} onInput={(e) => setTyped(e.currentTarget.value)} />
          </div>
        )}
        <footer>
          <Button act={() => close(false)}>Cancel</Button>
          <Button type="submit" look={q.danger ? "danger" : "primary"} disabled={q.type ? typed !== q.type : false}>{q.action}</Button>
        </footer>
      </form>
    </Dialog>
  );
}

export const confirm = async (q: Question): Promise<boolean> => (await over<boolean>((close) => <Ask q={q} close={close} />)) ?? false;

export function Dialogs() {
  return <>{stack.value.map((d) => <div key={d.id}>{d.show(d.done)}</div>)}</>;
}
