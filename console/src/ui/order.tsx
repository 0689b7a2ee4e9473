// order.tsx - things in an order that somebody chooses: by dragging, by buttons, or by naming the place.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button";

interface Props<T> {
  label: string;
  items: T[];
  id: (item: T) => string;
  name: (item: T) => string;
  children: (item: T, place: number) => ComponentChildren;
  /** Absent: it is only shown. */
  set?: ((items: T[]) => unknown) | undefined;
  /** May this be taken away? */
  removable?: (item: T) => boolean;
}

export const moved = <T,>(items: T[], from: number, to: number): T[] => {
  const rest = items.filter((_, i) => i !== from);
  return [...rest.slice(0, to), items[from] as T, ...rest.slice(to)];
};

export function Order<T>({ label, items, id, name, children, set, removable = () => true }: Props<T>) {
  const [drag, setDrag] = useState<number | null>(null);
  const [over, setOver] = useState<number | null>(null);
  const [said, setSaid] = useState("");
  const move = (from: number, to: number): void => {
    const item = items[from];
    if (!set || !item || from === to || to < 0 || to >= items.length) return;
    setSaid(`${name(item)} is now number ${to + 1} of ${items.length}.`);
    set(moved(items, from, to));
  };
  return (
    <>
      <ol class="order" aria-label={label}>
        {items.map((item, i) => (
          <li key={id(item)} class={over === i && drag !== i ? "over" : undefined} draggable={Boolean(set)}
            onDragStart={(e) => {
              e.dataTransfer?.setData("text/plain", name(item));
              setDrag(i);
            }}
            onDragOver={(e) => drag !== null && (e.preventDefault(), setOver(i))}
            onDragEnd={() => (setDrag(null), setOver(null))}
            onDrop={(e) => {
              e.preventDefault();
              if (drag !== null) move(drag, i);
              setDrag(null);
              setOver(null);
            }}>
            <span class="place" aria-hidden="true">{i + 1}</span>
            <div class="what">{children(item, i)}</div>
            {set && (
              <div class="moves">
                <Button look="quiet" icon="up" label={`Move ${name(item)} up`} disabled={i === 0} act={() => move(i, i - 1)} />
                <Button look="quiet" icon="down" label={`Move ${name(item)} down`} disabled={i === items.length - 1} act={() => move(i, i + 1)} />
                <select aria-label={`Move ${name(item)} to`} value={String(i)} onChange={(e) => move(i, Number(e.currentTarget.value))}>
                  {items.map((other, k) => <option key={id(other)} value={String(k)}>Place {k + 1}</option>)}
                </select>
                <Button look="quiet" icon="close" label={`Take ${name(item)} out`} disabled={!removable(item)} act={() => set(items.filter((_, k) => k !== i))} />
              </div>
            )}
          </li>
        ))}
      </ol>
      <p class="hidden" role="status">{said}</p>
    </>
  );
}
