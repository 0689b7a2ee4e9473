// form.tsx - forms made of the contract's tables: a field that is new in a table is in its form.
//
//   <ContractForm form={AgentCreate} first={["name", "slug"]} action="Create agent" send={(body) => call(…, { body })} />
//
// With `value` it is a change: only what differs is sent.  What the service refuses is said at its field, inside of an object
// at that of its member, and the first of them has the focus.  `custom` puts a screen's own control in a field's place.
// What somebody else changes meanwhile is followed where nothing was typed, and asked about where something was.
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { Problem, fieldErrors } from "../lib/api";
import { human, utc } from "../lib/format";
import { guards, location } from "../lib/router";
import { drafts } from "../lib/store";
import { Button } from "./button";
import { type Words, choose } from "./merge";
import { complain, toast } from "./toast";

export interface Field {
  name: string;
  label: string;
  help: string;
  kind: "text" | "long" | "integer" | "number" | "flag" | "choice" | "choices" | "lines" | "moment" | "json";
  words?: string[];
  required?: boolean;
  nullable?: boolean;
  secret?: boolean;
  email?: boolean;
  unit?: string;
  pattern?: string;
  min?: number;
  max?: number;
  preset?: unknown;
  order?: number;
  /** Kept by the service and not used by it: not asked for. */
  unused?: boolean;
}
export type Form = Field[];
/** What is typed: text for all but flags and choices. */
export type Typed = Record<string, string | boolean | string[]>;

// ---- between values and what is typed ----

/** A moment as it is typed: at the reader's place, or in UTC where they read times so. */
function localOf(iso: string): string {
  const at = new Date(iso), ahead = utc.peek() ? 0 : at.getTimezoneOffset();
  return new Date(at.getTime() - ahead * 60_000).toISOString().slice(0, 16);
}
const zone = (): string => (utc.value ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone);
const alike = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export function typedOf(f: Field, value: unknown): string | boolean | string[] {
  if (value === undefined) value = f.preset;
  switch (f.kind) {
    case "flag": return Boolean(value);
    case "choices": return Array.isArray(value) ? value.map(String) : [];
    case "lines": return Array.isArray(value) ? value.join("\n") : "";
    case "json": return value === undefined || value === null ? "" : JSON.stringify(value, null, 2);
    case "moment": return typeof value === "string" ? localOf(value) : "";
    default: return value === undefined || value === null ? "" : String(value as string);
  }
}

/** What is sent for it; undefined: nothing. */
export function valueOf(f: Field, typed: string | boolean | string[]): unknown {
  if (typeof typed === "boolean") return typed;
  if (Array.isArray(typed)) return typed;
  if (f.kind === "lines") return typed.split("\n").map((line) => line.trim()).filter(Boolean);
  if (typed === "" && (f.nullable || !f.required)) return f.nullable ? null : f.kind === "text" || f.kind === "long" ? "" : undefined;
  switch (f.kind) {
    case "integer": case "number": return typed.trim() === "" || Number.isNaN(Number(typed)) ? typed : Number(typed);
    case "json": return JSON.parse(typed) as unknown;
    case "moment": return new Date(utc.peek() ? `${typed}Z` : typed).toISOString();
    default: return typed;
  }
}

/** The body: all that was given, or of a change all that differs. */
export function bodyOf(form: Form, typed: Typed, before: Typed, change: boolean): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const f of form) {
    const now = typed[f.name] ?? "";
    if (change ? JSON.stringify(now) === JSON.stringify(before[f.name]) : !f.required && (now === "" || JSON.stringify(now) === JSON.stringify(before[f.name]))) continue;
    const value = valueOf(f, now);
    if (value !== undefined) body[f.name] = value;
  }
  return body;
}

// ---- one field ----

interface ControlProps { field: Field; id: string; value: string | boolean | string[]; set: (value: string | boolean | string[]) => void; describedBy: string | undefined; invalid: boolean; change?: boolean }

function Control({ field: f, id, value, set, describedBy, invalid, change = false }: ControlProps) {
  const common = { id, name: f.name, "aria-describedby": describedBy, "aria-invalid": invalid || undefined, required: f.required } as const;
  const text = typeof value === "string" ? value : "";
  if (f.kind === "flag") return <input {...common} required={false} type="checkbox" checked={value === true} onChange={(e) => set(e.currentTarget.checked)} />;
  if (f.kind === "choice")
    return (
      <select {...common} value={text} onChange={(e) => set(e.currentTarget.value)}>
        {(f.nullable || (f.preset === undefined && (!text || (!f.required && !change)))) && <option value="">{f.nullable ? "None" : f.required ? "Choose…" : "Not set"}</option>}
        {f.words?.map((w) => <option key={w} value={w}>{human(w)}</option>)}
      </select>
    );
  if (f.kind === "choices") {
    const chosen = Array.isArray(value) ? value : [];
    return <div class="choices" role="group" aria-labelledby={`${id}-label`} aria-describedby={describedBy} id={id}>{f.words?.map((w) => <label key={w}><input type="checkbox" checked={chosen.includes(w)} onChange={(e) => set(e.currentTarget.checked ? [...chosen, w] : chosen.filter((c) => c !== w))} /> {w}</label>)}</div>;
  }
  if (f.kind === "long" || f.kind === "lines" || f.kind === "json")
    return <textarea {...common} rows={f.kind === "long" ? 8 : 4} class={f.kind === "json" ? "mono" : undefined} spellcheck={f.kind === "long"} value={text} onInput={(e) => set(e.currentTarget.value)} />;
  const type = f.secret ? "password" : f.email ? "email" : f.kind === "integer" || f.kind === "number" ? "number" : f.kind === "moment" ? "datetime-local" : "text";
  const bounds = type === "number" ? { min: f.min, max: f.max, step: f.kind === "integer" ? 1 : "any" } : { minLength: f.min || undefined, maxLength: f.max, pattern: f.pattern };
  return <input {...common} {...bounds} type={type as "text"} autocomplete={f.secret ? "new-password" : "off"} value={text} onInput={(e) => set(e.currentTarget.value)} />;
}

/** How a long text looks where it is read; what shows it is loaded when it is first wanted. */
function Preview({ text }: { text: string }) {
  const [View, setView] = useState<FunctionComponent<{ text: string }> | null>(null);
  useEffect(() => void import("../lib/markdown").then((m) => setView(() => m.Markdown)), []);
  return <div class="preview">{text.trim() ? View && <View text={text} /> : <p class="muted">There is nothing to show yet.</p>}</div>;
}

interface RowProps extends Omit<ControlProps, "id" | "describedBy" | "invalid"> { error?: string | undefined; control?: ComponentChildren; change?: boolean; plain?: boolean }

/** `plain`: what is written is no Markdown, and has no preview. */
export function FieldRow({ field: f, value, set, error, control, change = false, plain = false }: RowProps) {
  const id = useId();
  const help = f.help ? `${id}-help` : undefined, bad = error ? `${id}-error` : undefined;
  const described = [bad, help].filter(Boolean).join(" ") || undefined;
  const group = f.kind === "choices";
  const Label = group ? "span" : "label";
  const [preview, setPreview] = useState(false);
  return (
    <div class={`field ${f.kind}`} data-field={f.name}>
      <Label {...(group ? { id: `${id}-label` } : { for: id })} class="label">{f.label}{!f.required && !change && f.kind !== "flag" && <span class="muted"> (optional)</span>}</Label>
      <div class="control">{control ?? <Control field={f} id={id} value={value} set={set} describedBy={described} invalid={Boolean(error)} change={change} />}{(f.unit || f.kind === "moment") && <span class="unit">{f.unit ?? zone()}</span>}</div>
      {f.kind === "long" && !plain && <Button look="quiet" class="previews" aria-pressed={preview} label={`Preview of ${f.label}`} act={() => setPreview(!preview)}>Preview</Button>}
      {preview && <Preview text={String(value)} />}
      {error && <p class="error" id={bad}>{error}</p>}
      {f.help && <p class="help" id={help}>{f.help}</p>}
    </div>
  );
}

// ---- what is wrong with them ----

export type Errors = Record<string, string>;

/** What is wrong inside of a field, by the path from there. */
export function errorsIn(errors: Errors, name: string): Errors {
  return Object.fromEntries(Object.entries(errors).filter(([at]) => at.startsWith(`${name}.`) || at.startsWith(`${name}[`)).map(([at, said]) => [at.slice(name.length).replace(/^\./, ""), said]));
}

/** What is said at the field itself: all that no control inside of it says. */
export function errorAt(errors: Errors, name: string, inside: string[] = []): string | undefined {
  const rest = Object.entries(errorsIn(errors, name)).filter(([at]) => !inside.includes(at.split(/[.[]/)[0] ?? at));
  return [...(errors[name] ? [errors[name]] : []), ...rest.map(([at, said]) => `${at}: ${said}`)].join("; ") || undefined;
}

/** A control of a screen's own, told of what is typed beside it; `inside` are the members of the field at which it says itself what is wrong. */
export interface OwnControl {
  (value: string | boolean | string[], set: (value: string | boolean | string[]) => void, errors: Errors, typed: Typed): ComponentChildren;
  inside?: string[];
}

// ---- the form ----

/** What was typed earlier; nothing where it cannot be read any more. */
function draftOf(name: string): Typed {
  try {
    return JSON.parse(drafts.get(name) || "{}") as Typed;
  } catch {
    return {};
  }
}

interface Props {
  form: Form;
  /** What stands: then only what differs is sent. */
  value?: Record<string, unknown>;
  /** What a new one begins with. */
  preset?: Record<string, unknown>;
  /** Shown at once and in this order; the others are under "More". */
  first?: string[];
  /** Not asked for. */
  without?: string[];
  action: string;
  /** Does it; a Problem that it throws is shown at the fields. */
  send: (body: Record<string, unknown>) => Promise<unknown>;
  cancel?: () => void;
  /** Leaving loses nothing that matters: nobody is asked. */
  passing?: boolean;
  /** The parameter of the address that opens it: another value leaves it too. */
  within?: string;
  /** A name under which what was typed is kept until it is sent; never for forms with secrets. */
  draft?: string;
  custom?: Record<string, OwnControl>;
  /** For values whose own words say nothing, where two changed them. */
  words?: Words;
  /** Called with what is typed, and sets more: a slug from a name. */
  follow?: (typed: Typed, changed: string) => Typed | void;
}

export function ContractForm({ form, value, preset, first, without = [], action, send, cancel, draft, passing = false, within, custom, words, follow }: Props) {
  const asked = useMemo(() => form.filter((f) => !f.unused && !without.includes(f.name)), [form, without.join()]);
  const before = useMemo<Typed>(() => Object.fromEntries(asked.map((f) => [f.name, typedOf(f, (value ?? preset)?.[f.name])])), [asked, value]);
  const [typed, setTyped] = useState<Typed>(() => ({ ...before, ...(draft ? draftOf(draft) : {}) }));
  const [errors, setErrors] = useState<Errors>({});
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const sending = useRef(false);
  const root = useRef<HTMLFormElement>(null);
  const differs = JSON.stringify(typed) !== JSON.stringify(before);
  const last = useRef(before), sent = useRef<Typed>({}), clashes = useRef(new Set<string>());
  useEffect(() => {
    // Somebody else changed it: fields that were not touched here, or not since they were saved, follow.
    const was = last.current;
    last.current = before;
    setTyped((t) => Object.fromEntries(asked.map(({ name }) => {
      const now = t[name] ?? "", theirs = before[name] ?? "";
      if (alike(now, was[name]) || alike(now, sent.current[name])) return [name, theirs];
      if (!alike(theirs, was[name])) clashes.current.add(name);
      return [name, now];
    })));
  }, [before]);
  useEffect(() => {
    if (draft) drafts.set(draft, differs ? JSON.stringify(typed) : "");
  }, [typed]);
  const loses = useRef(false);
  loses.current = differs && !draft && !busy && !passing;
  useEffect(() => {
    const leaves = (to: URLSearchParams | null): boolean => to === null || (within !== undefined && to.get(within) !== location.peek().query.get(within));
    const guard = (to: URLSearchParams | null): string | null => (loses.current && leaves(to) ? "What you typed here is not saved. Leave all the same?" : null);
    guards.add(guard);
    return () => void guards.delete(guard);
  }, []);

  const set = (name: string) => (v: string | boolean | string[]) => {
    setErrors((all) => Object.fromEntries(Object.entries(all).filter(([at]) => at.split(/[.[]/)[0] !== name)));
    setTyped((t) => {
      const next = { ...t, [name]: v };
      return { ...next, ...(follow?.(next, name) ?? {}) };
    });
  };

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if (sending.current) return;
    const wrong: Errors = {};
    for (const f of asked)
      if (f.kind === "json" && typed[f.name])
        try {
          JSON.parse(String(typed[f.name]));
        } catch {
          wrong[f.name] = "This is not JSON.";
        }
      else if (value !== undefined && typed[f.name] === "" && before[f.name] !== "" && valueOf(f, "") === undefined) wrong[f.name] = "This cannot be left empty.";
    setSaid("");
    if (Object.keys(wrong).length) return refuse(wrong, "");
    sending.current = true;
    setBusy(true);
    try {
      let body = bodyOf(asked, typed, before, value !== undefined);
      const both = Object.keys(body).filter((name) => clashes.current.has(name));
      if (value && both.length) {
        const chosen = await choose(body, value, both, words);
        const theirs = both.filter((name) => !chosen || !(name in chosen));
        clashes.current.clear();
        setTyped((t) => ({ ...t, ...Object.fromEntries(theirs.map((name) => [name, before[name] ?? ""])) }));
        if (!chosen || !Object.keys(chosen).length) return void toast("Theirs is kept");
        body = chosen;
      }
      await send(body);
      if (value) sent.current = Object.fromEntries(Object.keys(body).map((name) => [name, typed[name] ?? ""]));
      if (draft) drafts.set(draft, "");
      setErrors({});
    } catch (err) {
      const at = fieldErrors(err);
      // A name that is in use is said as one sentence; it stands at the field that it quotes.
      const taken = err instanceof Problem && err.type.endsWith(":taken") ? ["slug", "name"].find((name) => asked.some((f) => f.name === name) && typed[name] && err.detail.includes(String(typed[name]))) : undefined;
      if (!(err instanceof Problem)) complain(err);
      else if (taken) refuse({ [taken]: err.detail }, "");
      else refuse(at, err.fields.some((e) => asked.some((f) => f.name === e.field.split(/[.[]/)[0])) ? "" : err.detail);
    } finally {
      sending.current = false;
      setBusy(false);
    }
  }

  function refuse(at: Errors, sentence: string): void {
    setErrors(at);
    setSaid(sentence);
    requestAnimationFrame(() => {
      const field = root.current?.querySelector<HTMLElement>("[aria-invalid]");
      const fold = field?.closest("details");
      if (fold) fold.open = true;
      field?.focus();
    });
  }

  const row = (f: Field) => <FieldRow key={f.name} field={f} value={typed[f.name] ?? ""} set={set(f.name)} error={errorAt(errors, f.name, custom?.[f.name]?.inside)} change={value !== undefined} control={custom?.[f.name]?.(typed[f.name] ?? "", set(f.name), errorsIn(errors, f.name), typed)} />;
  const shown = first ? first.map((name) => asked.find((f) => f.name === name)).filter((f): f is Field => f !== undefined) : asked;
  const rest = asked.filter((f) => !shown.includes(f));
  return (
    <form ref={root} class="form" noValidate onSubmit={(e) => void submit(e)}>
      {said && <p class="notice danger" role="alert">{said}</p>}
      {shown.map(row)}
      {rest.length > 0 && <details class="rest"><summary>More</summary>{rest.map(row)}</details>}
      <footer>
        <Button type="submit" look="primary" busy={busy} disabled={value !== undefined && !differs}>{action}</Button>
        {cancel && <Button act={() => (draft && drafts.set(draft, ""), cancel())}>Cancel</Button>}
        {value !== undefined && differs && !cancel && <Button look="quiet" act={() => (setTyped(before), setErrors({}), clashes.current.clear())}>Discard</Button>}
      </footer>
    </form>
  );
}
