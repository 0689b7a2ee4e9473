// palette.tsx - Ctrl K: pages, tenants, actions, and whatever the service finds by the beginning of a word.
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { AutocompleteItem } from "../contract/types";
import { call } from "../lib/api";
import { straight } from "../lib/format";
import { go } from "../lib/router";
import { can, me, signOut, tenant, tenantId, tenantPath } from "../lib/session";
import { nextTheme } from "../lib/theme";
import { routes } from "../routes";
import { opened } from "./dialog";
import { Icon, type IconName } from "./icons";
import { complain } from "./toast";

interface Entry { id: string; label: string; detail: string; icon: IconName; act: () => unknown }

/** Where something that was found is shown; kinds without a screen are not offered. */
const PLACES: Record<string, { icon: IconName; path: string; to: (id: string) => string }> = {
  agent: { icon: "agents", path: "/t/:tenant/agents/:agent", to: (id) => `/agents/${id}` },
  session: { icon: "sessions", path: "/t/:tenant/sessions/:session", to: (id) => `/sessions/${id}` },
  skill: { icon: "skill", path: "/t/:tenant/skills/:skill", to: (id) => `/skills/${id}` },
  user: { icon: "people", path: "/t/:tenant/people/:user", to: (id) => `/people/${id}` },
};
const WAIT_MS = 80;

function entriesOf(): Entry[] {
  const pages = routes.filter((r) => !r.path.replace("/t/:tenant", "").includes(":") && can(r.needs) && (tenant.value || !r.path.startsWith("/t/")))
    .map((r): Entry => ({ id: r.path, label: r.title, detail: "Page", icon: r.nav?.icon ?? "right", act: () => go(r.path.replace("/t/:tenant", tenantPath())) }));
  const tenants = (me.value?.memberships ?? []).filter((m) => m !== tenant.value)
    .map((m): Entry => ({ id: m.tenant_id, label: m.tenant_name, detail: "Tenant", icon: "right", act: () => go(`/t/${m.tenant_slug}/agents`) }));
  return [...pages, ...tenants,
    { id: "theme", label: "Switch between light and dark", detail: "Action", icon: "moon", act: nextTheme },
    { id: "out", label: "Sign out", detail: "Action", icon: "out", act: signOut }];
}

export default function Palette({ close }: { close: () => void }) {
  const [text, setText] = useState("");
  const [found, setFound] = useState<{ of: string; items: AutocompleteItem[] }>({ of: "", items: [] });
  const [eager, setEager] = useState(false); // Enter came before what is to be taken
  const chose = useRef(false); // by arrows or by pointing: what stands there is meant
  const [at, setAt] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => opened(dialog.current), []);
  useEffect(() => {
    const abort = new AbortController();
    if (!text.trim() || !tenant.value) {
      setFound({ of: text.trim(), items: [] });
      return;
    }
    const timer = setTimeout(() => {
      call("GET /tenant/{tenant_id}/autocomplete", { path: { tenant_id: tenantId() }, query: { q: text.trim(), limit: 12 }, signal: abort.signal })
        .then((r) => setFound({ of: text.trim(), items: r.items }), (err: Error) => {
          if (err.name === "AbortError") return;
          setFound({ of: text.trim(), items: [] });
          complain(err);
        });
    }, WAIT_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  const entries = useMemo(() => {
    const word = text.trim().toLowerCase();
    const here = entriesOf().filter((e) => e.label.toLowerCase().includes(word));
    const there = found.items.flatMap((item): Entry[] => {
      const place = PLACES[item.type];
      return place && routes.some((r) => r.path === place.path) ? [{ id: item.id, label: item.label, detail: item.detail ?? item.type, icon: place.icon, act: () => go(tenantPath(place.to(item.id))) }] : [];
    });
    return [...there, ...here].slice(0, 20);
  }, [text, found]);
  useEffect(() => setAt(0), [entries]);
  const choose = (e: Entry | undefined): void => {
    if (!e) return;
    close();
    Promise.resolve(e.act()).catch(complain);
  };
  const known = found.of === text.trim();
  useEffect(() => {
    if (eager && known) choose(entries[0]);
  }, [eager, known, entries]);
  const onKey = (e: KeyboardEvent): void => {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      chose.current = true;
      setAt((i) => (i + (e.key === "ArrowDown" ? 1 : entries.length - 1)) % Math.max(1, entries.length));
    } else if (e.key === "Enter" && !e.isComposing) {
      e.preventDefault();
      if (known || chose.current) choose(entries[at]);
      else setEager(true);
    }
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Find" onCancel={(e) => (e.preventDefault(), close())} onClick={(e) => e.target === dialog.current && close()}>
      <input role="combobox" aria-expanded="true" aria-controls={id} aria-activedescendant={entries[at] ? `${id}-${at}` : undefined} aria-label="Find" placeholder="Find a page, an agent, a session or a person"
        autocomplete="off" spellcheck={false} value={text} onInput={(e) => {
          chose.current = false;
          setEager(false);
          setText(e.currentTarget.value);
        }} onKeyDown={onKey} />
      <ul id={id} role="listbox" aria-label="What was found">
        {entries.map((e, i) => (
          <li key={e.id} id={`${id}-${i}`} role="option" aria-selected={i === at} onMouseMove={() => (chose.current = true, setAt(i))} onClick={() => choose(e)}>
            <Icon name={e.icon} /><span>{straight(e.label)}</span><span class="muted">{straight(e.detail)}</span>
          </li>
        ))}
      </ul>
      <p class="muted small" role="status">{entries.length ? `${entries.length} found` : "Nothing is called that."}</p>
    </dialog>
  );
}
