// merge.tsx - two people changed one thing: theirs, yours, or some of each.
//
//   await save({ base, etag, change: body, write: (body, match) => tagged("PATCH …", { body, match }), read: () => tagged("GET …") })
//
// Gives back what the service then holds, or null if the reader kept theirs.
import { useState } from "preact/hooks";
import { Problem, type Tagged } from "../lib/api";
import { straight } from "../lib/format";
import { Button } from "./button";
import { Dialog, over } from "./dialog";

type Values = Record<string, unknown>;
/** A value in words where its own would say nothing, such as an id. */
export type Words = (value: unknown, field: string) => string | undefined;

const show = (v: unknown): string => (v === null || v === undefined || v === "" ? "(empty)" : typeof v === "string" ? v : JSON.stringify(v));
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** Both changed these; what only one changed needs no choice. */
function Choose({ mine, theirs, both, words, close }: { mine: Values; theirs: Values; both: string[]; words: Words; close: (chosen: Values | null) => void }) {
  const [own, setOwn] = useState<Record<string, boolean>>(Object.fromEntries(both.map((name) => [name, true])));
  const give = (pick: (name: string) => boolean): void => close(Object.fromEntries(Object.entries(mine).filter(([name]) => !both.includes(name) || pick(name))));
  return (
    <Dialog title="Somebody else changed this meanwhile" onClose={() => close(null)} wide>
      <p>Choose what shall stand. What only one of you changed is kept in any case.</p>
      <table class="merge">
        <thead><tr><th scope="col">Field</th><th scope="col">Theirs</th><th scope="col">Yours</th></tr></thead>
        <tbody>
          {both.map((name) => (
            <tr key={name}>
              <th scope="row">{name.replaceAll("_", " ")}</th>
              {[false, true].map((yours) => (
                <td key={String(yours)}><label><input type="radio" name={name} checked={own[name] === yours} onChange={() => setOwn({ ...own, [name]: yours })} /> <span>{straight(words((yours ? mine : theirs)[name], name) ?? show((yours ? mine : theirs)[name]))}</span></label></td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <footer>
        <Button act={() => close(null)}>Keep theirs</Button>
        <Button act={() => give(() => true)}>Keep mine</Button>
        <Button look="primary" act={() => give((name) => own[name] ?? true)}>Save as chosen</Button>
      </footer>
    </Dialog>
  );
}

/** What of a change shall be sent where both changed these fields; null: theirs is kept. */
export const choose = (mine: Values, theirs: Values, both: string[], words: Words = () => undefined): Promise<Values | null> =>
  over<Values>((close) => <Choose mine={mine} theirs={theirs} both={both} words={words} close={close} />);

export async function save<T extends object>(it: {
  base: T; etag: string | null; change: Values; write: (body: Values, match: string | null) => Promise<Tagged<T>>; read: () => Promise<Tagged<T>>; words?: Words;
}): Promise<Tagged<T> | null> {
  let { base, etag, change } = it;
  for (;;) {
    try {
      return await it.write(change, etag);
    } catch (err) {
      if (!(err instanceof Problem && err.status === 412)) throw err;
    }
    const now = await it.read();
    const theirs = now.data as Values;
    const both = Object.keys(change).filter((name) => !same((base as Values)[name], theirs[name]) && !same(change[name], theirs[name]));
    if (both.length) {
      const chosen = await choose(change, theirs, both, it.words);
      if (!chosen) return null;
      change = chosen;
    }
    if (!Object.keys(change).length) return now;
    base = now.data;
    etag = now.etag;
  }
}
