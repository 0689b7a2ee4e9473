// sides.tsx - two texts beside each other, line by line, with what differs marked; below each other where there is no room.
//
// What is the same is folded but for three lines.  Buttons, and n and p, lead from one difference to the next.
import { useMemo, useRef, useState } from "preact/hooks";
import { type Piece, type Row, type Side, compare } from "../lib/diff";
import { plural, unturned } from "../lib/format";
import { useKeys } from "../lib/keys";
import { Button } from "./button";

const AROUND = 3, FOLD_MIN = 4, SHOWN = 600;

/** Rows that belong together: a difference, or lines that are the same. */
interface Part { at: number; rows: Row[]; differs: boolean; fold?: number }

function partsOf(rows: Row[]): Part[] {
  const parts: Part[] = [];
  rows.forEach((row, at) => {
    const differs = row.kind !== "same", last = parts.at(-1);
    if (last?.differs === differs) last.rows.push(row);
    else parts.push({ at, rows: [row], differs });
  });
  return parts.flatMap((part, i) => {
    if (part.differs) return [part];
    const head = i === 0 ? 0 : AROUND, tail = i === parts.length - 1 ? 0 : AROUND, fold = part.rows.length - head - tail;
    if (fold < FOLD_MIN) return [part];
    return [
      { ...part, rows: part.rows.slice(0, head) },
      { at: part.at + head, rows: part.rows.slice(head, head + fold), differs: false, fold },
      { at: part.at + head + fold, rows: part.rows.slice(head + fold), differs: false },
    ].filter((p) => p.rows.length);
  });
}

const pieces = (list: Piece[], Mark: "del" | "ins") => list.map((p, i) => (p.marked ? <Mark key={i}>{unturned(p.text)}</Mark> : <span key={i}>{unturned(p.text)}</span>));

function Cell({ side, of, same, name }: { side: Side | undefined; of: "left" | "right"; same: boolean; name: string }) {
  return (
    <div role="cell" class={`side ${of}${side ? "" : " none"}`}>
      <span class="at" aria-hidden="true">{side?.at ?? ""}</span>
      {side ? <span class="line" dir="auto">{!same && <span class="hidden">{name}: </span>}{pieces(side.pieces, of === "left" ? "del" : "ins")}{"\n"}</span> : <span class="hidden">nothing</span>}
    </div>
  );
}

interface Props { label: string; left: { name: string; text: string }; right: { name: string; text: string } }

export function Sides({ label, left, right }: Props) {
  const rows = useMemo(() => compare(left.text, right.text), [left.text, right.text]);
  const parts = useMemo(() => partsOf(rows), [rows]);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const [most, setMost] = useState(SHOWN);
  const box = useRef<HTMLDivElement>(null);
  const differences = parts.filter((p) => p.differs).length;
  const step = (by: 1 | -1): void => {
    const all = [...(box.current?.querySelectorAll<HTMLElement>("[data-differs]") ?? [])], at = all.indexOf(document.activeElement as HTMLElement);
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "center" });
  };
  useKeys({ n: () => step(1), p: () => step(-1) }, [["n, p", "Next and previous difference"]]);
  let shown = 0;
  const seen = parts.filter((p) => {
    const here = shown;
    shown += p.fold && !open.has(p.at) ? 1 : p.rows.length;
    return here < most;
  });
  if (!differences) return <p class="muted">Both say the same.</p>;
  return (
    <>
      <div class="sides-head">
        <span class="muted">{plural(differences, "difference")}</span>
        <Button look="quiet" icon="down" label="Next difference" act={() => step(1)} /><Button look="quiet" icon="up" label="Previous difference" act={() => step(-1)} />
      </div>
      <div class="sides" role="table" aria-label={label} ref={box}>
        <div role="rowgroup"><div role="row" class="sides-names"><div role="columnheader">{left.name}</div><div role="columnheader">{right.name}</div></div></div>
        {seen.map((part) => (part.fold && !open.has(part.at) ? (
          <div key={part.at} role="rowgroup"><div role="row"><div role="cell" aria-colspan={2}><button type="button" class="fold-lines" onClick={() => setOpen(new Set([...open, part.at]))}>Show {plural(part.fold, "line")} that {part.fold === 1 ? "is" : "are"} the same</button></div></div></div>
        ) : (
          <div key={part.at} role="rowgroup" {...(part.differs ? { tabIndex: -1, "data-differs": "" } : {})}>
            {part.rows.slice(0, most).map((row, i) => (
              <div key={i} role="row" class={`sides-row ${row.kind}`}>
                <Cell side={row.left} of="left" same={row.kind === "same"} name={left.name} />
                <Cell side={row.right} of="right" same={row.kind === "same"} name={right.name} />
              </div>
            ))}
          </div>
        )))}
      </div>
      {shown > most && <div class="more"><Button act={() => setMost(most + SHOWN)}>Show more lines</Button></div>}
    </>
  );
}
