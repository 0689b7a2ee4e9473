// focus.ts - what had the focus went away: it goes on to what comes next, and never falls out of the page.
//
// Whether the focus is inside is seen while what was shown still stands, before anything is drawn anew.
import { type RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

export const heading = (): HTMLElement | null => document.querySelector<HTMLElement>("main h1");

/** `next` is asked for what shall have the focus once the element that had it, inside of `place`, is gone. */
export function useFocusKept(place: RefObject<HTMLElement | null>, next: (had: { row: number }) => HTMLElement | null | undefined): void {
  const at = document.activeElement;
  const had = at && place.current?.contains(at) ? { row: at.closest<HTMLTableRowElement>("tbody tr")?.sectionRowIndex ?? 0 } : null;
  useLayoutEffect(() => {
    if (had && document.activeElement === document.body) (next(had) ?? heading())?.focus();
  });
}
