// address.tsx - an address by which somebody without an account reads one file of the bucket, or puts it, for a while.
import { useRef, useState } from "preact/hooks";
import type { BucketPresigned } from "../contract/types";
import { Problem, call } from "../lib/api";
import { exact, straight } from "../lib/format";
import { tenantId } from "../lib/session";
import { Button } from "./button";
import { copy } from "./copy";
import { Dialog, over } from "./dialog";

const TIMES: [string, number][] = [["15 minutes", 900], ["An hour", 3600], ["8 hours", 28_800], ["A day", 86_400]];

/** `key`: of this file; else `prefix`: of one that is to come, and is named here. */
interface Asked { key?: string; prefix?: string; write: boolean }

function Ask({ asked, close }: { asked: Asked; close: () => void }) {
  const [method, setMethod] = useState<"GET" | "PUT">(asked.key ? "GET" : "PUT");
  const [name, setName] = useState(""), [time, setTime] = useState(TIMES[1]?.[1] ?? 0);
  const [made, setMade] = useState<BucketPresigned | null>(null), [fault, setFault] = useState("");
  const box = useRef<HTMLElement>(null);
  const key = asked.key ?? (asked.prefix ?? "") + name.trim();
  const make = async (): Promise<void> => {
    try {
      setMade(await call("POST /tenant/{tenant_id}/bucket/presign", { path: { tenant_id: tenantId() }, body: { key, method, expires_s: time } }));
    } catch (err) {
      if (!(err instanceof Problem)) throw err;
      setFault([err.detail, ...err.fields.map((f) => f.message)].join(" "));
    }
  };
  if (made)
    return (
      <Dialog title={method === "GET" ? "An address to read it" : "An address to put it"} onClose={close} wide>
        <p>Whoever has it needs no account{method === "PUT" ? ", and replaces what is there" : ""}. It ends at {exact(made.expires_at)}, or when you may no longer do it yourself; until then nobody can take it back.</p>
        <div class="secret"><code ref={box} tabIndex={0}>{made.url}</code><Button icon="copy" act={() => copy(made.url, box.current)}>Copy</Button></div>
        {method === "PUT" && <p class="muted">To be sent by PUT, such as <code>curl -T FILE "ADDRESS"</code>.</p>}
        <footer><Button look="primary" act={close}>Done</Button></footer>
      </Dialog>
    );
  return (
    <Dialog title={asked.key ? "Address for others" : "Ask others for a file"} onClose={close}>
      <form onSubmit={(e) => {
        e.preventDefault();
        void make();
      }}>
        {asked.key ? <p class="muted"><code>{straight(asked.key)}</code></p> : (
          <div class="field">
            <label class="label" for="address-name">What the file shall be called{asked.prefix && <span class="muted"> in {straight(asked.prefix)}</span>}</label>
            <input id="address-name" value={name} autocomplete="off" spellcheck={false} onInput={(e) => setName(e.currentTarget.value)} />
          </div>
        )}
        {asked.key && asked.write && (
          <div class="field">
            <label class="label" for="address-method">What others may do</label>
            <select id="address-method" value={method} onChange={(e) => setMethod(e.currentTarget.value as "GET" | "PUT")}>
              <option value="GET">Read it</option>
              <option value="PUT">Put another in its place</option>
            </select>
          </div>
        )}
        <div class="field">
          <label class="label" for="address-time">For how long</label>
          <select id="address-time" value={String(time)} onChange={(e) => setTime(Number(e.currentTarget.value))}>{TIMES.map(([word, s]) => <option key={s} value={s}>{word}</option>)}</select>
        </div>
        {fault && <p class="error" role="alert">{fault}</p>}
        <footer><Button act={close}>Cancel</Button><Button type="submit" look="primary" disabled={!asked.key && !name.trim()}>Make the address</Button></footer>
      </form>
    </Dialog>
  );
}

export const handOut = (asked: Asked): Promise<unknown> => over((close) => <Ask asked={asked} close={() => close(null)} />);
