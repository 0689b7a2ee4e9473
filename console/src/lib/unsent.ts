// unsent.ts - what was written or brought at a place and has not arrived.  Text outlasts the page (store.ts), files the screen.  What is on its
// way comes back to its place if it fails, wherever the reader is by then, and with a page that goes before anybody knows.
import { me } from "./session";
import { drafts, isHere } from "./store";

/** `place` may change while it is on its way: a session that is begun by it is where it belongs then. */
export interface Unsent { place: string; text: string; files: File[] }

const brought = new Map<string, File[]>();
const underway = new Set<Unsent>();
const views = new Map<string, () => void>();

export const filesAt = (place: string): File[] => brought.get(place) ?? [];

export function keepFiles(place: string, files: File[]): void {
  if (files.length) brought.set(place, files);
  else brought.delete(place);
}

/** Whoever shows a place reads it again when something comes back to it; gives back what ends that. */
export function showsPlace(place: string, read: () => void): () => void {
  views.set(place, read);
  return () => void (views.get(place) === read && views.delete(place));
}

const textBack = ({ place, text }: Unsent): void => drafts.set(place, [text, drafts.get(place)].filter(Boolean).join("\n"));

/** Takes what stands at the place, and puts it back there if `act` fails. */
export async function sending(unsent: Unsent, act: () => Promise<unknown>): Promise<void> {
  drafts.set(unsent.place, "");
  keepFiles(unsent.place, []);
  underway.add(unsent);
  try {
    await act();
  } catch (err) {
    textBack(unsent);
    keepFiles(unsent.place, [...unsent.files, ...filesAt(unsent.place)]);
    views.get(unsent.place)?.();
    throw err;
  } finally {
    underway.delete(unsent);
  }
}

/** What was begun at one place goes on at another. */
export function moveUnsent(from: string, to: string): void {
  drafts.set(to, drafts.get(from));
  drafts.set(from, "");
  keepFiles(to, filesAt(from));
  keepFiles(from, []);
}

// Nothing is kept for whoever comes after the one who wrote it.
addEventListener("pagehide", () => isHere(me.peek()?.id) && underway.forEach(textBack));
addEventListener("beforeunload", (event) => {
  if (isHere(me.peek()?.id) && (brought.size || [...underway].some((u) => u.files.length))) event.preventDefault();
});
