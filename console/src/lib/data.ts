// data.ts - reading what a screen shows, and reading it again when it changed.
//
//   const agents = useList("GET /tenant/{tenant_id}/agents", { path, query }, (e) => e.event === "agent");
//   <DataView of={agents} …>
//
// A change of what it reads is known by its path (changes.ts); what else concerns it is said by the screen.  What was read
// stays in view while it is read again; an answer that comes too late is dropped.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Args, type Operation, type Problem, type Reply, tagged } from "./api";
import { changesOf } from "./changes";
import { type Happening, useEvents } from "./events";

export interface Data<T> {
  data: T | undefined;
  etag: string | null;
  error: Problem | null;
  loading: boolean;
  /** Reads it again. */
  reload: () => void;
  /** Shows something else at once, before the service has said so; gives back what was shown. */
  set: (data: T) => T | undefined;
}

const GATHER_MS = 150; // events come in bursts
const PAGE = 50, MOST = 200;

/** Reads anew at once for "gap" and "reset", and shortly after an event that concerns it. */
function useReload(operation: string, args: unknown, concerns: ((e: Happening) => boolean) | undefined, reload: () => void): void {
  const changed = changesOf(operation, (args as { path?: { tenant_id?: string } } | null)?.path);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEvents((e) => {
    if (!concerns && !changed) return;
    if (!(e.event === "gap" || e.event === "reset" || concerns?.(e) || changed?.(e))) return;
    clearTimeout(timer.current);
    timer.current = setTimeout(reload, GATHER_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}

export function useData<O extends Operation>(operation: O, args: Args<O> | null, concerns?: (e: Happening) => boolean): Data<Reply<O>> {
  const key = args === null ? "" : JSON.stringify([operation, args]);
  const [state, setState] = useState<{ key: string; data?: Reply<O>; etag: string | null; error: Problem | null; loading: boolean }>({ key: "", etag: null, error: null, loading: true });
  const [round, again] = useState(0);
  useEffect(() => {
    if (args === null) return;
    const abort = new AbortController();
    setState((s) => ({ ...(s.key === key ? s : { key, etag: null, error: null }), loading: true }));
    (tagged as (o: O, a: unknown) => Promise<{ data: Reply<O>; etag: string | null }>)(operation, { ...args, signal: abort.signal }).then(
      ({ data, etag }) => !abort.signal.aborted && setState({ key, data, etag, error: null, loading: false }),
      (error: Problem) => !abort.signal.aborted && setState((s) => ({ ...s, key, error, loading: false })));
    return () => abort.abort();
  }, [key, round]);
  const reload = useCallback(() => again((n) => n + 1), []);
  useReload(operation, args, concerns, reload);
  const current = state.key === key;
  return {
    data: current ? state.data : undefined,
    etag: current ? state.etag : null,
    error: current ? state.error : null,
    loading: !current || state.loading,
    reload,
    set: (data) => {
      setState((s) => ({ ...s, data }));
      return state.data;
    },
  };
}

export interface Page<T> { items: T[]; total?: number; next_after: string | null }
type Row<O extends Operation> = Reply<O> extends Page<infer T> ? T : never;

export interface List<T> extends Data<T[]> {
  total: number | undefined;
  /** Reads the next page; undefined at the end. */
  more: (() => void) | undefined;
}

/** A list that grows page by page. */
export function useList<O extends Operation>(operation: O, args: Args<O>, concerns?: (e: Happening) => boolean): List<Row<O>> {
  type T = Row<O>;
  const key = JSON.stringify([operation, args]);
  const [state, setState] = useState<{ key: string; items?: T[]; total?: number | undefined; next: string | null; error: Problem | null; loading: boolean }>({ key: "", next: null, error: null, loading: true });
  const [round, again] = useState(0);
  const shown = useRef(0);
  // After the last one that was read; where the service sorts by something else, or a page is asked for, it counts pages.
  const read = async (after: string | null, want: number, signal?: AbortSignal): Promise<Page<T>> => {
    const a = args as { query?: Record<string, unknown> }, paged = /^page (\d+)$/.exec(after ?? "");
    const size = typeof a.query?.["per_page"] === "number" ? a.query["per_page"] : PAGE;
    const per_page = paged || a.query?.["per_page"] ? size : Math.min(MOST, Math.max(PAGE, Math.ceil(want / PAGE) * PAGE));
    const { data } = await (tagged as (o: O, x: unknown) => Promise<{ data: Page<T> }>)(operation, {
      ...a, ...(signal ? { signal } : {}), query: { per_page, ...a.query, ...(paged ? { page: Number(paged[1]), total: false } : after ? { after, total: false } : {}) },
    });
    const before = paged ? (Number(paged[1]) - 1) * size : 0, all = before + data.items.length;
    const counts = (a.query?.["sort"] || a.query?.["page"]) && !data.next_after && data.items.length === per_page && !(data.total !== undefined && data.total <= all);
    return counts ? { ...data, next_after: `page ${all / size + 1}` } : data;
  };
  useEffect(() => {
    const abort = new AbortController();
    setState((s) => ({ ...(s.key === key ? s : { key, next: null, error: null }), loading: true }));
    read(null, state.key === key ? shown.current : 0, abort.signal).then(
      (page) => {
        if (abort.signal.aborted) return;
        shown.current = page.items.length;
        setState({ key, items: page.items, total: page.total, next: page.next_after, error: null, loading: false });
      },
      (error: Problem) => !abort.signal.aborted && setState((s) => ({ ...s, key, error, loading: false })));
    return () => abort.abort();
  }, [key, round]);
  const reload = useCallback(() => again((n) => n + 1), []);
  useReload(operation, args, concerns, reload);
  const current = state.key === key;
  const next = current ? state.next : null;
  return {
    data: current ? state.items : undefined,
    total: current ? state.total : undefined,
    etag: null,
    error: current ? state.error : null,
    loading: !current || state.loading,
    reload,
    set: (items) => {
      setState((s) => ({ ...s, items }));
      return state.items;
    },
    more: next && !state.loading ? () => {
      setState((s) => ({ ...s, loading: true }));
      read(next, PAGE).then(
        (page) => setState((s) => {
          const items = [...(s.items ?? []), ...page.items];
          shown.current = items.length;
          return s.key === key ? { ...s, items, next: page.next_after, error: null, loading: false } : s;
        }),
        (error: Problem) => setState((s) => ({ ...s, error, loading: false })));
    } : undefined,
  };
}
