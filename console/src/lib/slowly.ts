// slowly.ts - reading sums again when they change, but not with every change: at most once in some seconds.
import { useEffect, useRef } from "preact/hooks";
import { type Happening, useEvents } from "./events";

const EVERY_MS = 4_000;

export function useSlowly(concerns: (e: Happening) => boolean, act: () => void): void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const latest = useRef(act);
  latest.current = act;
  useEvents((e) => {
    if (timer.current !== undefined || !(e.event === "gap" || e.event === "reset" || concerns(e))) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      latest.current();
    }, EVERY_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
}
