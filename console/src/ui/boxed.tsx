// boxed.tsx - a long text that somebody else wrote, as it is; the end of a very long one is left to a download.
import { useEffect, useState } from "preact/hooks";
import { bytes, unturned } from "../lib/format";
import { Copy } from "./copy";

const SHOWN = 64_000;

/** JSON with its lines broken; anything else as it is. */
export function pretty(text: string): string {
  if (text.length > 4 * SHOWN) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

export function Boxed({ label, text, name }: { label: string; text: string; name: string }) {
  const [url, setUrl] = useState("");
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [text]);
  return (
    <div class="curl">
      <Copy text={text} label={`Copy: ${label}`} />
      <pre class="box" tabIndex={0} role="group" aria-label={label}>{unturned(text.slice(0, SHOWN))}</pre>
      {text.length > SHOWN && <p class="muted small">The first {bytes(SHOWN)} of {bytes(text.length)}. <a href={url} download={name}>Download all of it</a></p>}
    </div>
  );
}
