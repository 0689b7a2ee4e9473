// composer.tsx - where one writes: kept as a draft, sent by Enter, with @ and / completed, files brought along, and Stop in
// the place of Send's neighbour.  It shares no state with what is read above it.
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { AutocompleteItem, MentionType } from "../contract/types";
import { call } from "../lib/api";
import { bytes, straight } from "../lib/format";
import { drafts } from "../lib/store";
import { type Unsent, filesAt, keepFiles, sending, showsPlace } from "../lib/unsent";
import { Button } from "./button";
import { Icon } from "./icons";
import { complain, toast } from "./toast";

const WAIT_MS = 80, FILE_MAX = 8_000_000, FILES_MAX = 10;
/** What follows @ and what follows /. */
const KINDS: Record<string, MentionType[]> = { "@": ["agent", "user", "session"], "/": ["skill", "tool"] };

interface Props {
  tenant: string;
  /** Where the draft is kept. */
  place: string;
  running: boolean;
  stop: (() => Promise<unknown>) | null;
  /** Rejects if nothing was sent; it is then put back to its place. */
  send: (unsent: Unsent) => Promise<unknown>;
  placeholder: string;
  focus?: boolean;
}

function wordAt(box: HTMLTextAreaElement): { sign: string; q: string; from: number } | null {
  const before = box.value.slice(0, box.selectionStart);
  const found = /(^|\s)([@/])([\p{L}\p{N}_.-]*)$/u.exec(before);
  return found && box.selectionStart === box.selectionEnd ? { sign: found[2] ?? "", q: found[3] ?? "", from: before.length - (found[3] ?? "").length } : null;
}

export function Composer({ tenant, place, running, stop, send, placeholder, focus = false }: Props) {
  const box = useRef<HTMLTextAreaElement>(null), picker = useRef<HTMLInputElement>(null);
  const [items, setItems] = useState<AutocompleteItem[]>([]);
  const [at, setAt] = useState(0);
  const [files, showFiles] = useState<File[]>([]);
  const [empty, setEmpty] = useState(true);
  const asking = useRef<AbortController | null>(null), timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const id = useId();
  const setFiles = (list: File[]): void => (keepFiles(place, list), showFiles(list));

  // Before the next key: what is typed meanwhile goes on at the new place.
  useLayoutEffect(() => {
    const read = (): void => {
      const text = drafts.get(place);
      if (box.current && box.current.value !== text) box.current.value = text;
      setEmpty(!text.trim());
      showFiles(filesAt(place));
    };
    read();
    return showsPlace(place, read);
  }, [place]);
  useEffect(() => {
    if (focus) box.current?.focus();
    return () => clearTimeout(timer.current);
  }, []);

  const close = (): void => {
    clearTimeout(timer.current);
    asking.current?.abort();
    setItems([]);
  };
  const look = (): void => {
    const word = box.current && wordAt(box.current);
    clearTimeout(timer.current);
    asking.current?.abort();
    if (!word || !tenant) return setItems([]);
    timer.current = setTimeout(() => {
      const abort = (asking.current = new AbortController());
      call("GET /tenant/{tenant_id}/autocomplete", { path: { tenant_id: tenant }, query: { q: word.q, types: KINDS[word.sign] ?? null, limit: 8 }, signal: abort.signal }).then((r) => {
        setItems(r.items);
        setAt(0);
      }, (err: Error) => err.name !== "AbortError" && setItems([]));
    }, WAIT_MS);
  };
  const typed = (): void => {
    const text = box.current?.value ?? "";
    drafts.set(place, text);
    if (empty !== !text.trim()) setEmpty(!text.trim());
    look();
  };
  const choose = (item: AutocompleteItem | undefined): void => {
    const word = box.current && wordAt(box.current);
    if (!item || !word || !box.current) return;
    const end = box.current.selectionStart, name = word.sign === "/" ? item.label : item.type === "agent" && item.detail ? item.detail : item.label;
    box.current.setRangeText(`${name} `, word.from, end, "end");
    close();
    drafts.set(place, box.current.value);
    setEmpty(false);
    box.current.focus();
  };
  const submit = async (): Promise<void> => {
    const text = box.current?.value ?? "", unsent = { place, text, files };
    if (!box.current || (!text.trim() && !files.length)) return;
    close();
    box.current.value = "";
    setEmpty(true);
    showFiles([]);
    await sending(unsent, () => send(unsent));
  };
  const onKey = (e: KeyboardEvent): void => {
    if (e.isComposing) return;
    if (items.length) {
      if (e.key === "ArrowDown" || e.key === "ArrowUp") {
        e.preventDefault();
        return setAt((i) => (i + (e.key === "ArrowDown" ? 1 : items.length - 1)) % items.length);
      }
      if (e.key === "Enter" || e.key === "Tab") {
        e.preventDefault();
        return choose(items[at]);
      }
      if (e.key === "Escape") {
        e.preventDefault();
        return close();
      }
    }
    if (e.key === "Enter" && !e.shiftKey) {
      e.preventDefault();
      submit().catch(complain);
    } else if (e.key === "Escape" && running && stop) {
      e.preventDefault();
      stop().catch(complain);
    }
  };
  const bring = (list: FileList | null): void => {
    const all = [...(list ?? [])], fit = all.filter((f) => f.size <= FILE_MAX), room = FILES_MAX - files.length;
    if (fit.length < all.length) toast(`A file may have ${bytes(FILE_MAX)} at most; left out: ${all.filter((f) => f.size > FILE_MAX).map((f) => f.name).join(", ")}`, { bad: true });
    if (fit.length > room) toast(`${FILES_MAX} files go with a message; left out: ${fit.slice(room).map((f) => f.name).join(", ")}`, { bad: true });
    setFiles([...files, ...fit.slice(0, room)]);
    if (picker.current) picker.current.value = "";
  };
  return (
    <form class="composer" onSubmit={(e) => {
      e.preventDefault();
      submit().catch(complain);
    }} onDragOver={(e) => e.preventDefault()} onDrop={(e) => {
      e.preventDefault();
      bring(e.dataTransfer?.files ?? null);
    }}>
      {items.length > 0 && (
        <ul id={id} class="mentions" role="listbox" aria-label="What can be mentioned">
          {items.map((item, i) => <li key={item.id} id={`${id}-${i}`} role="option" aria-selected={i === at} onMouseDown={(e) => (e.preventDefault(), choose(item))} onMouseMove={() => setAt(i)}><bdi>{straight(item.label)}</bdi><span class="muted">{item.detail ?? item.type}</span></li>)}
        </ul>
      )}
      {files.length > 0 && <ul class="brought" aria-label="Files to send">{files.map((f, i) => <li key={i}><Icon name="file" /><bdi>{straight(f.name)}</bdi> <span class="muted small">{bytes(f.size)}</span><Button look="quiet" icon="close" label={`Leave ${f.name} out`} act={() => setFiles(files.filter((one) => one !== f))} /></li>)}</ul>}
      <div class="composer-row">
        <input ref={picker} type="file" multiple hidden aria-label="Files" onChange={(e) => bring(e.currentTarget.files)} />
        <Button look="quiet" icon="file" label="Bring a file" act={() => picker.current?.click()} />
        <textarea ref={box} rows={1} aria-label="Message" placeholder={placeholder} aria-autocomplete="list" aria-controls={items.length ? id : undefined} aria-activedescendant={items[at] ? `${id}-${at}` : undefined}
          dir="auto" onInput={typed} onKeyDown={onKey} onBlur={close} />
        {running && stop && <Button look="danger" icon="stop" label="Stop (Esc)" act={stop} />}
        <Button type="submit" look="primary" icon="send" label={running ? "Send; it is queued" : "Send"} disabled={empty && !files.length} />
      </div>
    </form>
  );
}
