// mail-files.tsx - the files that shall go with a message: from this computer, or out of the bucket.
import { useState } from "preact/hooks";
import type { MailAttachmentCreate } from "../contract/types";
import { bytes, straight } from "../lib/format";
import { can } from "../lib/session";
import { Button } from "./button";
import { Drop } from "./drop";
import { Icon } from "./icons";
import { Pick, inBucket } from "./pick";
import { toast } from "./toast";

export interface Brought { name: string; size: number | null; sent: MailAttachmentCreate }

// In base64, which has four letters for three bytes, no more than 5 MiB of them.
const OWN_MAX = ((5 << 20) / 4) * 3, MOST = 50;
const last = (key: string): string => key.split("/").at(-1) || key;

function contentOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error ?? new Error("unreadable"));
    reader.readAsDataURL(file);
  });
}

export function MailFiles({ files, set, error }: { files: Brought[]; set: (files: Brought[]) => void; error: string | undefined }) {
  const [refused, setRefused] = useState("");
  const take = async (given: File[]): Promise<void> => {
    const large = given.filter((f) => f.size > OWN_MAX), next = [...files];
    setRefused(large.length ? `${large.map((f) => straight(f.name)).join(", ")}: more than ${bytes(OWN_MAX)}. ${can("bucket:read") ? "Put it into the bucket and take it from there." : "Ask somebody to put it into the bucket."}` : "");
    for (const file of given.filter((f) => f.size <= OWN_MAX))
      try {
        next.push({ name: file.name, size: file.size, sent: { filename: file.name, content_type: file.type || "application/octet-stream", content: await contentOf(file) } });
      } catch {
        toast(`${file.name} cannot be read`, { bad: true });
      }
    set(next.slice(0, MOST));
  };
  return (
    <div class="field mail-files">
      <span class="label">Files <span class="muted">(optional)</span></span>
      {files.length > 0 && (
        <ul class="brought" aria-label="Files that go with it">
          {files.map((f, i) => <li key={`${f.name} ${i}`}><Icon name="file" /><bdi>{straight(f.name)}</bdi><span class="muted">{f.size === null ? "from the bucket" : bytes(f.size)}</span><Button look="quiet" icon="close" label={`Leave out ${f.name}`} act={() => set(files.filter((one) => one !== f))} /></li>)}
        </ul>
      )}
      <Drop action="Attach files" look="plain" label="Files to attach" multiple take={(given) => void take(given)}>or drop them here; {bytes(25 << 20)} together</Drop>
      {can("bucket:read") && <Pick key={files.length} label="Or a file in the bucket" placeholder="Type the beginning of its key" find={inBucket} value={null}
        set={(c) => c && set([...files, { name: last(c.id), size: null, sent: { filename: last(c.id), key: c.id } }].slice(0, MOST))} />}
      {(error || refused) && <p class="error" role="alert">{error || refused}</p>}
    </div>
  );
}
