// drop.tsx - where files are dropped, or chosen by a button beside it; what is dropped elsewhere on the screen does not lead away from it.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button, type Look } from "./button";

interface Props {
  /** What the button says. */
  action: string;
  look?: Look;
  /** What the control that a screen reader finds is called. */
  label: string;
  take: (files: File[]) => void;
  accept?: string;
  multiple?: boolean;
  /** Said beside the button. */
  children?: ComponentChildren;
}

const hasFiles = (e: DragEvent): boolean => e.dataTransfer?.types.includes("Files") ?? false;

export function Drop({ action, look = "primary", label, take, accept, multiple = false, children }: Props) {
  const input = useRef<HTMLInputElement>(null), [over, setOver] = useState(false);
  const given = (list: FileList | null | undefined): void => {
    const files = [...(list ?? [])];
    if (files.length) take(multiple ? files : files.slice(0, 1));
  };
  useEffect(() => {
    // A browser would show the file in the place of the page.
    const keep = (e: DragEvent): void => void (hasFiles(e) && e.preventDefault());
    for (const kind of ["dragover", "drop"] as const) addEventListener(kind, keep);
    return () => ["dragover", "drop"].forEach((kind) => removeEventListener(kind, keep as EventListener));
  }, []);
  return (
    <div class={over ? "drop over" : "drop"} onDragOver={(e) => hasFiles(e) && setOver(true)} onDragLeave={() => setOver(false)} onDrop={(e) => {
      setOver(false);
      given(e.dataTransfer?.files);
    }}>
      <input ref={input} type="file" class="hidden" tabIndex={-1} aria-label={label} multiple={multiple} accept={accept} onChange={(e) => {
        given(e.currentTarget.files);
        e.currentTarget.value = ""; // the same one may be chosen again
      }} />
      <Button look={look} act={() => input.current?.click()}>{action}</Button>
      <span class="muted">{children}</span>
    </div>
  );
}
