// pairs.tsx - names and values of a free object: settings, headers, sealed configurations.
//
// What it holds is JSON text, as a contract's form has it; `sealed`: a value of null stands for one that is stored.  Values that are no texts are written as JSON.  Secret values are
// dots until somebody wants to see them.
import { useEffect, useId, useState } from "preact/hooks";
import { Button } from "./button";

/** `kept`: its value is stored, and stays while nothing is typed. */
interface Pair { name: string; value: string; json: boolean; kept?: boolean }

function read(text: string, sealed: boolean): Pair[] | null {
  try {
    const all = text.trim() ? (JSON.parse(text) as unknown) : {};
    if (typeof all !== "object" || all === null || Array.isArray(all)) return null;
    return Object.entries(all).filter(([, value]) => sealed || value !== null).map(([name, value]) => (value === null ? { name, value: "", json: false, kept: true } : typeof value === "string" ? { name, value, json: false } : { name, value: JSON.stringify(value), json: true }));
  } catch {
    return null;
  }
}

function write(pairs: Pair[]): string {
  const given = pairs.filter((p) => p.name || p.value);
  if (!given.length) return "";
  return JSON.stringify(Object.fromEntries(given.map((p) => {
    if (p.kept && !p.value) return [p.name, null];
    if (!p.json) return [p.name, p.value];
    try {
      return [p.name, JSON.parse(p.value) as unknown];
    } catch {
      return [p.name, p.value];
    }
  })), null, 2);
}

export function Pairs({ label, text, set, secret = false, sealed = false, names = [] }: { label: string; text: string; set: (text: string) => void; secret?: boolean; sealed?: boolean; names?: string[] }) {
  const [pairs, setPairs] = useState<Pair[] | null>(() => read(text, sealed));
  const [raw, setRaw] = useState(pairs === null);
  const [shown, setShown] = useState(!secret);
  const id = useId();
  useEffect(() => {
    // Somebody else has changed it, or what was typed is discarded.
    const now = read(text, sealed);
    if (now && pairs && write(pairs) !== write(now)) setPairs(now);
  }, [text]);
  const change = (next: Pair[]): void => {
    setPairs(next);
    set(write(next));
  };
  const list = pairs ?? [];
  const one = (i: number, with_: Partial<Pair>): void => change(list.map((p, k) => (k === i ? { ...p, ...with_ } : p)));
  return (
    <div class="pairs" role="group" aria-label={label}>
      {raw && <textarea class="mono" rows={6} spellcheck={false} aria-label={`${label}, as JSON`} value={text} onInput={(e) => set(e.currentTarget.value)} />}
      {!raw && list.map((p, i) => (
        <div key={i} class="pair">
          <input aria-label={`Name ${i + 1}`} placeholder="Name" list={names.length ? `${id}-names` : undefined} autocomplete="off" spellcheck={false} value={p.name} onInput={(e) => one(i, { name: e.currentTarget.value })} />
          <input aria-label={p.name ? `Value of ${p.name}` : `Value ${i + 1}`} placeholder={p.kept ? "sealed; it stays" : "Value"} type={(shown ? "text" : "password") as "text"} autocomplete="new-password" spellcheck={false} value={p.value} onInput={(e) => one(i, { value: e.currentTarget.value })} />
          <Button look="quiet" icon="trash" label={`Remove ${p.name || `row ${i + 1}`}`} act={() => change(list.filter((_, k) => k !== i))} />
        </div>
      ))}
      {names.length > 0 && <datalist id={`${id}-names`}>{names.map((n) => <option key={n} value={n} />)}</datalist>}
      <div class="pair-acts">
        {!raw && <Button icon="plus" act={() => setPairs([...list, { name: "", value: "", json: false }])}>Add a value</Button>}
        {secret && !raw && list.length > 0 && <Button look="quiet" aria-pressed={shown} act={() => setShown(!shown)}>{shown ? "Hide values" : "Show values"}</Button>}
        <Button look="quiet" aria-pressed={raw} act={() => {
          const next = read(text, sealed);
          if (raw && next === null) return; // it must be JSON before it can be a table
          setPairs(next ?? list);
          setRaw(!raw);
        }}>{raw ? "As a table" : "As JSON"}</Button>
      </div>
    </div>
  );
}
