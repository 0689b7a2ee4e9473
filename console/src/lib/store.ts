// store.ts - what a browser remembers: choices, and what was typed but not sent.
import { signal, type Signal } from "@preact/signals";

const PREFIX = "lodge:";

function read(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null; // storage is closed: nothing is remembered
  }
}

function write(name: string, value: string | null): boolean {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
    return true;
  } catch {
    return false; // full or closed
  }
}

type Wide<T> = T extends string ? string : T extends boolean ? boolean : number;

const resets: (() => void)[] = [];

/** A choice that outlasts the page; `own`: a person's, and not the next one's at the same browser. */
export function kept<T extends string | boolean | number>(name: string, preset: T, own = false): Signal<Wide<T>> {
  const text = read(name);
  let first = preset as unknown as Wide<T>;
  try {
    if (text !== null && typeof JSON.parse(text) === typeof preset) first = JSON.parse(text) as Wide<T>;
  } catch {
    // another version's
  }
  const s = signal<Wide<T>>(first);
  s.subscribe((value) => write(name, (value as unknown) === preset ? null : JSON.stringify(value)));
  if (own) resets.push(() => (s.value = preset as unknown as Wide<T>));
  return s;
}

/** Forgets what was one person's: drafts, and what is kept as their own. */
export function forgetPerson(): void {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(`${PREFIX}draft:`)) localStorage.removeItem(name);
  } catch {
    // closed
  }
  loose.clear();
  for (const reset of resets) reset();
  write("who", null);
}

/** Whoever is here now finds nothing of another's; true if there was another. */
export function belongsTo(id: string): boolean {
  const who = read("who");
  if (who === id) return false;
  if (who !== null) forgetPerson();
  write("who", id);
  return who !== null;
}

/** Whether what the browser keeps is this person's. */
export const isHere = (id: string | undefined): boolean => id !== undefined && read("who") === id;

/** Calls when somebody signs out, or somebody else in, in another tab. */
export function onLeaving(here: () => string | undefined, leave: () => void): void {
  addEventListener("storage", (e) => e.key === `${PREFIX}who` && here() && e.newValue !== here() && leave());
}

/** What the browser did not take, while the page stays. */
const loose = new Map<string, string>();

/** What was typed at a place (an address and a field) and not sent yet.  Never for secrets. */
export const drafts = {
  get: (place: string): string => loose.get(place) ?? read(`draft:${place}`) ?? "",
  set: (place: string, text: string): void => {
    if (write(`draft:${place}`, text || null) || !text) loose.delete(place);
    else loose.set(place, text);
  },
};
