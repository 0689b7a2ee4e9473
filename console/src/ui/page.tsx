// page.tsx - the top of a screen: its heading, to which focus goes when one arrives, and its actions.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { straight } from "../lib/format";
import { location } from "../lib/router";
import { tenant } from "../lib/session";
import { Icon, type IconName } from "./icons";

interface Props { title: string; part?: string | undefined; lead?: ComponentChildren; actions?: ComponentChildren; above?: ComponentChildren; children: ComponentChildren; narrow?: boolean }

/** `part`: which one of its tabs, for the title of the window. */
export function Page({ title: given, part, lead, actions, above, children, narrow = false }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const title = straight(given), place = location.value.path.startsWith("/t/") ? tenant.value?.tenant_name : undefined;
  useEffect(() => {
    document.title = [part, title, place, "Lodge"].filter(Boolean).join(" – ");
  }, [title, part, place]);
  useEffect(() => {
    const at = document.activeElement;
    if (!at || at === document.body || at.closest(".frame-side, .frame-top")) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class={narrow ? "page narrow" : "page"}>
      {above}
      <header class="page-head">
        <div><h1 tabIndex={-1} ref={heading}>{title}</h1>{lead && <p class="lead">{lead}</p>}</div>
        {actions && <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export type Tone = "pine" | "ember" | "danger" | "lake" | "plain";

/** A state: always a word, with a colour and a sign besides. */
export function Status({ tone, icon, children }: { tone: Tone; icon?: IconName; children: ComponentChildren }) {
  return <span class={`status ${tone}`}>{icon ? <Icon name={icon} size={12} /> : <span class="dot" aria-hidden="true" />}{children}</span>;
}

export const Tag = ({ children }: { children: ComponentChildren }) => <span class="tag">{typeof children === "string" ? straight(children) : children}</span>;

/** Names and values under each other. */
export function Facts({ rows }: { rows: [string, ComponentChildren][] }) {
  return <dl class="facts">{rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}
