// router.tsx - addresses below /console: which screen they name, and the filters in them.
//
// The path says where somebody is, the query what they have chosen there; both are in the address bar, so that a link says
// all of it and Back restores it.  Links are plain <a>: clicks on them are taken here.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

export const BASE = "/console";

export interface Place { path: string; query: URLSearchParams; hash: string }

function read(): Place {
  const { pathname, search, hash } = window.location;
  return { path: pathname.slice(BASE.length) || "/", query: new URLSearchParams(search), hash: hash.slice(1) };
}

export const location = signal<Place>(read());
/** Says why one may not leave, or null: what was typed would be lost.  It is told the other query where only that changes, and null where the page goes. */
export const guards = new Set<(to: URLSearchParams | null) => string | null>();
const scrolls = new Map<string, number>();
/** An entry of the history: its name, and its place in the row, by which one comes back to it. */
interface Entry { id: string; at: number }
let count = 0;
const fresh = (at: number): Entry => ({ id: `${Date.now()}.${++count}`, at });
const entryOf = (state: unknown): Entry | null => (typeof (state as Entry | null)?.at === "number" ? (state as Entry) : null);
let here = entryOf(history.state) ?? fresh(0);
let returning = false;

history.scrollRestoration = "manual";
history.replaceState(here, "");

/** Whether nobody minds leaving for this address. */
function mayLeave(to: URL | Location): boolean {
  const query = to.pathname === BASE + location.peek().path ? new URLSearchParams(to.search) : null;
  for (const guard of guards) {
    const why = guard(query);
    if (why && !confirm(why)) return false;
  }
  return true;
}

function moved(top: number): void {
  location.value = read();
  requestAnimationFrame(() => scrollTo(0, top));
}

export function go(to: string, { replace = false }: { replace?: boolean } = {}): void {
  const url = BASE + to;
  if (!replace && url === window.location.pathname + window.location.search + window.location.hash) return;
  const target = new URL(url, window.location.href), samePath = target.pathname === window.location.pathname;
  if (!mayLeave(target)) return;
  scrolls.set(here.id, scrollY);
  here = replace ? here : fresh(here.at + 1);
  history[replace ? "replaceState" : "pushState"](here, "", url);
  moved(samePath ? scrollY : 0);
}

/** Other values for parameters of this address; null or "" takes one away. */
export function withQuery(changes: Record<string, string | null | undefined>): string {
  const query = new URLSearchParams(location.value.query);
  for (const [name, value] of Object.entries(changes))
    if (value) query.set(name, value);
    else query.delete(name);
  return location.value.path + (query.size ? `?${query}` : "");
}

export const setQuery = (changes: Record<string, string | null | undefined>): void => go(withQuery(changes), { replace: true });

addEventListener("popstate", (event) => {
  const there = entryOf(event.state);
  if (returning) {
    returning = false;
    return;
  }
  // The address has moved already: whoever stays is brought back to where they are.
  if (there && there.at !== here.at && !mayLeave(window.location)) {
    returning = true;
    history.go(here.at - there.at);
    return;
  }
  scrolls.set(here.id, scrollY);
  here = there ?? fresh(here.at + 1); // a part of the page, by its #name
  if (!there) history.replaceState(here, "");
  moved(there ? scrolls.get(here.id) ?? 0 : scrollY);
});

addEventListener("click", (event) => {
  const link = (event.target as Element | null)?.closest?.("a");
  if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || !link || link.target || link.hasAttribute("download")) return;
  const url = new URL(link.href);
  if (url.origin !== window.location.origin || !(url.pathname === BASE || url.pathname.startsWith(`${BASE}/`)) || url.pathname.startsWith(`${BASE}/assets/`) || url.pathname === `${BASE}/licences.txt`) return;
  if (url.hash && url.pathname === window.location.pathname && url.search === window.location.search) return;
  event.preventDefault();
  go(url.pathname.slice(BASE.length) + url.search + url.hash);
});

addEventListener("beforeunload", (event) => {
  for (const guard of guards) if (guard(null)) event.preventDefault();
});

/** {name: part} where the path fits, else null: "/t/:tenant/agents/:agent". */
export function matches(pattern: string, path: string): Record<string, string> | null {
  const want = pattern.split("/"), have = path.replace(/(.)\/$/, "$1").split("/");
  const out: Record<string, string> = {};
  if (want.length !== have.length) return null;
  for (let i = 0; i < want.length; i++) {
    const w = want[i] ?? "", h = have[i] ?? "";
    if (w.startsWith(":")) {
      if (!h) return null;
      try {
        out[w.slice(1)] = decodeURIComponent(h);
      } catch {
        return null;
      }
    } else if (w !== h) return null;
  }
  return out;
}

/** A link to a place of the console. */
export function Link({ to, children, ...rest }: { to: string; children: ComponentChildren; class?: string; onClick?: () => void; "aria-current"?: "page" | "true" | undefined; "aria-label"?: string }) {
  return <a {...rest} href={BASE + to}>{children}</a>;
}
