// folder.ts - one folder of the bucket, page by page; read again, as far as it was read, when something in the bucket changed.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { BucketFolder } from "../contract/types";
import { Problem, call } from "./api";
import { isChange } from "./changes";
import type { List } from "./data";
import { type Happening, useEvents } from "./events";

const PAGE = 100, GATHER_MS = 150;

const concerns = (e: Happening, tenant: string): boolean =>
  e.event === "gap" || e.event === "reset" || (e.data.tenant_id === tenant && (isChange(e, "bucket") || (e.event === "agent" && (e.data.data as { action?: string }).action === "agent.export")));

/** So many of its entries, or all. */
async function read(tenant: string, prefix: string, want: number, signal: AbortSignal): Promise<BucketFolder> {
  let all: BucketFolder | undefined;
  for (;;) {
    const after: string | undefined = all?.next_after ?? undefined;
    const page: BucketFolder = await call("GET /tenant/{tenant_id}/bucket/folder", { path: { tenant_id: tenant }, query: { prefix: prefix || undefined, after, per_page: PAGE }, signal });
    all = all ? { ...page, folders: [...all.folders, ...page.folders], objects: [...all.objects, ...page.objects] } : page;
    if (!page.next_after || all.folders.length + all.objects.length >= want) return all;
  }
}

/** As DataView takes it, with `more` where there is more. */
export type Folder = Pick<List<never>, "etag" | "error" | "loading" | "reload" | "more"> & { data: BucketFolder | undefined; set: () => undefined };

export function useFolder(tenant: string, prefix: string): Folder {
  const key = `${tenant} ${prefix}`;
  const [state, setState] = useState<{ key: string; data?: BucketFolder; error: Problem | null; loading: boolean }>({ key: "", error: null, loading: true });
  const [round, again] = useState(0);
  const want = useRef(PAGE), timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    const abort = new AbortController();
    if (state.key !== key) want.current = PAGE;
    setState((s) => ({ ...(s.key === key ? s : { key, error: null }), loading: true }));
    read(tenant, prefix, want.current, abort.signal).then(
      (data) => !abort.signal.aborted && setState({ key, data, error: null, loading: false }),
      (error: Problem) => !abort.signal.aborted && setState((s) => ({ ...s, key, error, loading: false })));
    return () => abort.abort();
  }, [key, round]);
  const reload = useCallback(() => again((n) => n + 1), []);
  useEvents((e) => {
    if (!concerns(e, tenant)) return;
    clearTimeout(timer.current);
    timer.current = setTimeout(reload, GATHER_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  const here = state.key === key, data = here ? state.data : undefined;
  return {
    data,
    etag: null,
    error: here ? state.error : null,
    loading: !here || state.loading,
    reload,
    set: () => undefined,
    more: data?.next_after ? () => {
      want.current = data.folders.length + data.objects.length + 1;
      reload();
    } : undefined,
  };
}
