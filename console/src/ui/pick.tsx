// pick.tsx - choosing one of many by typing: people, groups, skills, tools, models.
//
// A combobox as the ARIA practices describe it: arrows go through what was found, Enter takes it, Esc closes.  `find` is
// asked for what fits a text; an answer that comes too late is dropped.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { type Operation, Problem, type Reply, call } from "../lib/api";
import { bytes, straight } from "../lib/format";
import { tenantId } from "../lib/session";
import type { MentionType } from "../contract/types";
import { complain } from "./toast";

export interface Choice { id: string; label: string; detail?: string | null | undefined }
export type Find = (text: string) => Promise<Choice[]>;

const WAIT_MS = 120;

/** What the service's own index finds in this tenant. */
export const finding = (type: MentionType): Find => async (q) => (await call("GET /tenant/{tenant_id}/autocomplete", { path: { tenant_id: tenantId() }, query: { q, types: [type], limit: 20 } })).items;

const SHOWN = 20;
type Listing = { [O in Operation]: Reply<O> extends { items: unknown[]; next_after: string | null } ? O : never }[Operation];
type Row<O extends Listing> = Reply<O> extends { items: (infer T)[] } ? T : never;

/** What a list of the service finds by its own search (`q`). */
export const searching = <O extends Listing>(operation: O, path: Record<string, string>, choice: (row: Row<O>) => Choice | null, more: Record<string, unknown> = {}): Find => async (q) => {
  const ask = call as unknown as (o: O, a: unknown) => Promise<{ items: Row<O>[] }>;
  const { items } = await ask(operation, { path, query: { ...more, q: q.trim() || undefined, per_page: SHOWN, total: false } });
  return items.map(choice).filter((c): c is Choice => c !== null);
};

/** The same of a list that has no search: it is read page by page until enough is found. */
export const walking = <O extends Listing>(operation: O, path: Record<string, string>, choice: (row: Row<O>) => Choice | null): Find => async (q) => {
  const ask = call as unknown as (o: O, a: unknown) => Promise<{ items: Row<O>[]; next_after: string | null }>;
  const words = q.toLowerCase().split(/\s+/), found: Choice[] = [];
  for (let after: string | undefined; found.length < SHOWN;) {
    const page = await ask(operation, { path, query: { per_page: 200, total: false, after } });
    for (const c of page.items.map(choice)) if (c && words.every((w) => `${c.label} ${c.detail ?? ""}`.toLowerCase().includes(w))) found.push(c);
    if (!page.next_after) break;
    after = page.next_after;
  }
  return found.slice(0, SHOWN);
};

/** Files of the tenant's bucket, by the beginning of their key. */
export const inBucket: Find = async (text) => {
  const { items } = await call("GET /tenant/{tenant_id}/bucket", { path: { tenant_id: tenantId() }, query: { prefix: text.trim() || undefined, sort: "key", per_page: SHOWN, total: false } });
  return items.map((o) => ({ id: o.key, label: o.key, detail: bytes(o.size_bytes) }));
};

/** `bare`: its label stands elsewhere. */
interface Props { label: string; bare?: boolean; placeholder?: string; help?: string; find: Find; value: Choice | null; set: (choice: Choice | null) => void; error?: string | undefined }

export function Pick({ label, bare = false, placeholder = "Type a name", help, find, value, set, error }: Props) {
  const id = useId();
  const [text, setText] = useState(value?.label ?? "");
  const [found, setFound] = useState<Choice[] | null>(null);
  const [at, setAt] = useState(0);
  const round = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => setText(value?.label ?? ""), [value?.id, value?.label]);
  const look = (q: string, wait = WAIT_MS): void => {
    const mine = ++round.current;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      find(q).then((list) => mine === round.current && (setFound(list), setAt(0)), (err: unknown) => mine === round.current && (setFound([]), err instanceof Problem ? complain(err) : reportError(err)));
    }, wait);
  };
  const close = (): void => {
    round.current++;
    clearTimeout(timer.current);
    setFound(null);
  };
  const take = (c: Choice | undefined): void => {
    if (!c) return;
    set(c);
    setText(c.label);
    close();
  };
  const open = found !== null;
  const described = [error && `${id}-error`, help && `${id}-help`].filter(Boolean).join(" ") || undefined;
  return (
    <div class="field pick">
      {!bare && <label class="label" for={id}>{label}</label>}
      <div class="control">
        <input id={id} role="combobox" type="text" aria-label={bare ? label : undefined} placeholder={placeholder} autocomplete="off" spellcheck={false} value={text} aria-expanded={open} aria-controls={open ? `${id}-list` : undefined} aria-autocomplete="list" aria-describedby={described} aria-invalid={error ? true : undefined}
          aria-activedescendant={open && found[at] ? `${id}-${at}` : undefined}
          onInput={(e) => {
            setText(e.currentTarget.value);
            if (value) set(null);
            look(e.currentTarget.value);
          }}
          onBlur={close}
          onClick={() => !open && look(value ? "" : text, 0)}
          onKeyDown={(e) => {
            const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
            if (step) {
              e.preventDefault();
              if (!open) look(value ? "" : text, 0);
              else if (found.length) setAt((at + step + found.length) % found.length);
            } else if (e.key === "Enter" && open) {
              e.preventDefault();
              take(found[at]);
            } else if (e.key === "Escape" && open) {
              e.preventDefault();
              e.stopPropagation();
              close();
            }
          }} />
      </div>
      {open && <ul id={`${id}-list`} role="listbox" aria-label="What was found">
        {found.map((c, i) => (
          <li key={c.id} id={`${id}-${i}`} role="option" aria-selected={i === at} onMouseDown={(e) => (e.preventDefault(), take(c))}>
            <span>{straight(c.label)}</span>{c.detail && <span class="muted">{straight(c.detail)}</span>}
          </li>
        ))}
        {!found.length && <li role="option" aria-selected={false} aria-disabled="true" class="muted">Nothing fits</li>}
      </ul>}
      {error && <p class="error" id={`${id}-error`}>{error}</p>}
      {help && <p class="help" id={`${id}-help`}>{help}</p>}
    </div>
  );
}
