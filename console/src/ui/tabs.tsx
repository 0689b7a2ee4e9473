// tabs.tsx - parts of one thing, each with an address of its own: links, and therefore Back and sharing work.
import { Link, location } from "../lib/router";

export interface Tab { to: string; label: string; badge?: number }

export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }) {
  const { path } = location.value;
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((t) => <Link key={t.to} to={t.to} aria-current={path === t.to ? "page" : undefined}>{t.label}{t.badge ? <span class="badge">{t.badge}</span> : null}</Link>)}
    </nav>
  );
}
