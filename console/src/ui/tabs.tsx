// tabs.tsx - parts of one thing, each with an address of its own: links, and therefore Back and sharing work.
import { useEffect, useRef } from "preact/hooks";
import { Link, location } from "../lib/router";

export interface Tab { to: string; label: string; badge?: number }

export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }) {
  const { path } = location.value;
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // Where there is no room for all, the present one is in view; the page itself stays where it is.
    const here = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (here && nav.current) nav.current.scrollLeft = here.offsetLeft - nav.current.offsetLeft - 16;
  }, [path, tabs.length]);
  return (
    <nav class="tabs" aria-label={label} ref={nav}>
      {tabs.map((t) => <Link key={t.to} to={t.to} aria-current={path === t.to ? "page" : undefined}>{t.label}{t.badge ? <span class="badge">{t.badge}</span> : null}</Link>)}
    </nav>
  );
}
