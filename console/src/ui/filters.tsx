// filters.tsx - what narrows a list; the choice is in the address.
import { useEffect, useRef, useState } from "preact/hooks";
import { human } from "../lib/format";
import { Icon } from "./icons";

const WAIT_MS = 200;

/** A field to search with; it speaks when somebody has stopped typing. */
export function Search({ label, value, set }: { label: string; value: string; set: (text: string) => void }) {
  const [text, setText] = useState(value);
  const said = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    // Changed elsewhere, by Back or "Clear filters"; what came from here is not given back to who still types.
    if (value !== said.current) setText((said.current = value));
  }, [value]);
  return (
    <label class="search"><Icon name="search" /><span class="hidden">{label}</span>
      <input type="search" placeholder={label} value={text} autocomplete="off" onInput={(e) => {
        const now = e.currentTarget.value;
        setText(now);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => set((said.current = now)), WAIT_MS);
      }} />
    </label>
  );
}

export function Toggle({ label, on, set }: { label: string; on: boolean; set: (on: boolean) => void }) {
  return <button type="button" class="button toggle" aria-pressed={on} onClick={() => set(!on)}>{label}</button>;
}

/** One of some words, or all. */
export function Choose({ label, value, words, set, all = "All" }: { label: string; value: string; words: readonly string[]; set: (word: string) => void; all?: string }) {
  return (
    <label class="choose"><span>{label}</span>
      <select value={value} onChange={(e) => set(e.currentTarget.value)}>
        <option value="">{all}</option>
        {words.map((w) => <option key={w} value={w}>{human(w)}</option>)}
      </select>
    </label>
  );
}
