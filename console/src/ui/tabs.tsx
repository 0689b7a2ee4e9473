// tabs.tsx - parts of one thing, each with an address of its own: links, and therefore Back and sharing work.
import { useEffect, useRef } from "preact/hooks";
import { Link, location } from "../lib/router";

/** `here`: said where the path alone does not tell. */
export interface Tab { to: string; label: string; badge?: number; here?: boolean }

export function Tabs({ label, tabs, sub = false }: { label: string; tabs: Tab[]; sub?: boolean }) {
  const { path } = location.value, isHere = (t: Tab): boolean => t.here ?? path === t.to;
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // Where there is no room for all, the present one is in view; the page itself stays where it is.
    const here = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (here && nav.current) nav.current.scrollLeft = here.offsetLeft - nav.current.offsetLeft - 16;
  }, [tabs.findIndex(isHere), tabs.length]);
  return (
    <nav class={sub ? "tabs sub" : "tabs"} aria-label={label} ref={nav}>
      {tabs.map((t) => <Link key={t.to} to={t.to} aria-current={isHere(t) ? "page" : undefined}>{t.label}{t.badge ? <span class="badge">{t.badge}</span> : null}</Link>)}
    </nav>
  );
}
