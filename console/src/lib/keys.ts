// keys.ts - keys that act everywhere.  Single letters can be switched off, for those who speak to their computer.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { routes } from "../routes";
import { go } from "./router";
import { can, me, tenantPath } from "./session";
import { kept } from "./store";

export const singleKeys = kept("keys", true);
export const palette = signal(false);
export const help = signal(false);

const WAIT_MS = 1500;
let began = 0;

const typing = (at: EventTarget | null): boolean => at instanceof HTMLElement && (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName));

addEventListener("keydown", (e) => {
  if (!me.value) return;
  if ((e.ctrlKey || e.metaKey) && !e.altKey && e.key.toLowerCase() === "k") {
    e.preventDefault();
    palette.value = !palette.value;
    return;
  }
  if (!singleKeys.value || e.ctrlKey || e.metaKey || e.altKey || typing(e.target) || document.querySelector("dialog[open]")) return;
  const second = Date.now() - began < WAIT_MS;
  began = 0;
  if (second) {
    e.preventDefault(); // whatever it is, it is no key of the screen's
    const route = routes.find((r) => r.nav?.key === e.key && can(r.needs));
    if (route) {
      go(route.path.replace("/t/:tenant", tenantPath()));
    }
  } else if (e.key === "g") {
    began = Date.now();
  } else if (e.key === "?") {
    help.value = true;
  } else if (e.key === "/") {
    const search = document.querySelector<HTMLElement>("main [type=search]");
    e.preventDefault();
    if (search) search.focus();
    else palette.value = true;
  }
});

/** Keys of the screen in view, for the list. */
export const ownKeys = signal<[string, string][]>([]);

/** Single keys of a screen, while it is shown: {j: next}. */
export function useKeys(keys: Record<string, () => void>, list: [string, string][]): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    ownKeys.value = list;
    const on = (e: KeyboardEvent): void => {
      const act = latest.current[e.key];
      if (!act || e.defaultPrevented || (e.repeat && !/^[jk]$/.test(e.key)) || Date.now() - began < WAIT_MS || !singleKeys.value || e.ctrlKey || e.metaKey || e.altKey || typing(e.target) || document.querySelector("dialog[open]")) return;
      if (e.key === "Enter" && e.target instanceof HTMLElement && e.target.closest("a, button, summary")) return;
      e.preventDefault();
      act();
    };
    addEventListener("keydown", on);
    return () => {
      removeEventListener("keydown", on);
      ownKeys.value = [];
    };
  }, []);
}

/** For the list of keys; screens add their own. */
export const keyList = (): [string, string][] => [
  ["Ctrl K or ⌘ K", "Find a page, an agent, a session or a person"],
  ["/", "Search on this page"],
  ["?", "This list"],
  ...ownKeys.value,
  ...routes.filter((r) => r.nav?.key && can(r.needs)).map((r): [string, string] => [`g ${r.nav?.key}`, r.title]),
];
