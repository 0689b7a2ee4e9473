// states.tsx - the five states of everything that shows data: loading, empty, nothing that matches, failed, and partly there.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../lib/api";
import type { Data, List } from "../lib/data";
import { heading, useFocusKept } from "../lib/focus";
import { relative } from "../lib/format";
import { go, location, setQuery } from "../lib/router";
import { Button } from "./button";
import { Copy } from "./copy";
import { Icon } from "./icons";

const SHOW_AFTER_MS = 200;

/** Lines in the shape of what comes; not for what comes at once. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), SHOW_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return <div class="skeleton" role="status" aria-label="Loading">{late && Array.from({ length: rows }, (_, i) => <div key={i} />)}</div>;
}

/** What to do about a refusal, beyond its own words. */
function advice(p: Problem): string {
  if (p.status === 403) return "An owner or administrator of this tenant can grant it.";
  if (p.status === 404) return "It is gone, or you can no longer see it.";
  if (p.status === 429) return p.retryAfter ? `It can be tried again ${relative(new Date(Date.now() + p.retryAfter * 1000).toISOString())}.` : "Try again later.";
  return "";
}

/** What the address asks for is not to be had as it is written there; without its filters it may be. */
const isBadAddress = (p: Problem): boolean => (p.status === 400 || p.status === 422) && location.value.query.size > 0;

export function Failed({ problem, retry }: { problem: Problem; retry?: () => void }) {
  return (
    <div class="state failed" role="alert">
      <h2>{problem.title || "That did not work"}</h2>
      <p>{problem.detail} {advice(problem)}</p>
      {problem.requestId && <p class="muted small">Request <code>{problem.requestId}</code> <Copy text={problem.requestId} label="Copy the request's id" /></p>}
      {problem.fields.map((f) => <p key={f.field} class="small"><code>{f.field}</code> {f.message}</p>)}
      {isBadAddress(problem) ? <Button act={() => go(location.value.path, { replace: true })}>Clear the filters</Button> : retry && <Button act={retry}>Try again</Button>}
    </div>
  );
}

export interface EmptyWords { title: string; text?: ComponentChildren; action?: ComponentChildren }

export function Empty({ title, text, action }: EmptyWords) {
  return <div class="state"><h2>{title}</h2>{text && <p>{text}</p>}{action}</div>;
}

interface Props<T> {
  of: Data<T>;
  /** What is said, and the one thing to do, where there is nothing. */
  empty?: EmptyWords;
  /** True where filters are set: then nothing means that nothing matches. */
  filtered?: boolean;
  /** The parameters of the address that "Clear filters" takes away. */
  filters?: string[];
  rows?: number;
  children: (data: T) => ComponentChildren;
}

/** Shows data in whichever state it is.  What is in view stays there while it is read again or when that fails. */
export function DataView<T>({ of, empty, filtered = false, filters = [], rows, children }: Props<T>) {
  const { data, error, loading, reload } = of;
  const list = of as unknown as Partial<List<unknown>>;
  const place = useRef<HTMLDivElement>(null);
  useFocusKept(place, heading);
  if (data === undefined) return error ? <Failed problem={error} retry={reload} /> : <Skeleton {...(rows ? { rows } : {})} />;
  const none = Array.isArray(data) && data.length === 0;
  return (
    <div ref={place} aria-busy={loading || undefined}>
      {error && <p class="notice danger" role="alert"><Icon name="warn" /> <span>This may be old: {error.detail}</span> <Button look="quiet" act={reload}>Try again</Button></p>}
      {none && filtered && <Empty title="Nothing matches" text="No row fits the filters that are set." action={<Button act={() => setQuery(Object.fromEntries(filters.map((f) => [f, null])))}>Clear filters</Button>} />}
      {none && !filtered && empty && <Empty {...empty} />}
      {!(none && (filtered || empty)) && children(data)}
      {list.more && <div class="more"><Button act={list.more}>Show more</Button></div>}
    </div>
  );
}
