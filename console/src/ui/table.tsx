// table.tsx - rows of one kind: sorted by the service, one link a row, a thin rail that carries its state.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { useFocusKept } from "../lib/focus";
import { location, setQuery, Link } from "../lib/router";
import { straight } from "../lib/format";
import { Icon } from "./icons";

/** ember: a person is needed; pine: at work; danger: failed; ink: nothing special. */
export type Rail = "ink" | "pine" | "ember" | "danger";

export interface Column<T> {
  name: string;
  cell: (row: T) => ComponentChildren;
  /** Figures stand right, one under the other. */
  figure?: boolean;
  /** Only where there is room, "most": where there is much; never the one thing that tells rows apart. */
  wide?: boolean | "most";
  /** The field that `sort` takes. */
  sort?: string;
}

interface Props<T> {
  label: string;
  rows: T[];
  columns: Column<T>[];
  id: (row: T) => string;
  /** Where the row leads: its first cell is that link.  Undefined: nowhere. */
  to?: (row: T) => string | undefined;
  rail?: (row: T) => Rail;
  /** Buttons at its end. */
  actions?: (row: T) => ComponentChildren;
}

function Head<T>({ column }: { column: Column<T> }) {
  const now = location.value.query.get("sort");
  const { sort } = column;
  if (!sort) return <>{column.name}</>;
  const up = now === sort, down = now === `-${sort}`;
  return <button type="button" class="sort" onClick={() => setQuery({ sort: up ? `-${sort}` : down ? null : sort })}>{column.name}{(up || down) && <Icon name={up ? "up" : "down"} size={12} />}</button>;
}

const LONG = 40;
/** What somebody called a thing is shown with every sign that is in it; what is long in two lines, and whole when it is pointed at. */
function shown(cell: ComponentChildren): ComponentChildren {
  if (typeof cell !== "string") return cell;
  const text = straight(cell);
  return text.length > LONG ? <bdi title={text}>{text}</bdi> : text;
}

const lead = (to: string | undefined, cell: ComponentChildren): ComponentChildren => (to === undefined ? cell : <Link to={to} class="row">{cell}</Link>);

export function Table<T>({ label, rows, columns, id, to, rail, actions }: Props<T>) {
  const sorted = location.value.query.get("sort");
  const body = useRef<HTMLTableSectionElement>(null);
  useFocusKept(body, ({ row }) => {
    const now = body.current?.rows, next = now?.[Math.min(row, now.length - 1)];
    return next?.querySelector<HTMLElement>(".actions button") ?? next?.querySelector<HTMLElement>("a, button");
  });
  const kind = (c: Column<T>): string | undefined => [c.figure && "figure", c.wide && "wide", c.wide === "most" && "widest"].filter(Boolean).join(" ") || undefined;
  return (
    <table class="data" aria-label={label}>
      <thead>
        <tr>
          {columns.map((c) => <th key={c.name} scope="col" class={kind(c)} aria-sort={c.sort && sorted === c.sort ? "ascending" : c.sort && sorted === `-${c.sort}` ? "descending" : undefined}><Head column={c} /></th>)}
          {actions && <td />}
        </tr>
      </thead>
      <tbody ref={body}>
        {rows.map((row) => (
          <tr key={id(row)} data-rail={rail?.(row)}>
            {columns.map((c, i) => i === 0
              ? <th key={c.name} scope="row" class={kind(c)}>{lead(to?.(row), shown(c.cell(row)))}</th>
              : <td key={c.name} class={kind(c)}>{shown(c.cell(row))}</td>)}
            {actions && <td class="actions">{actions(row)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
