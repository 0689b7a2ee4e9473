// import.tsx - an agent from a file, of this computer or of the bucket: first what would come of it, then the button that makes it.
import { useEffect, useRef, useState } from "preact/hooks";
import type { AgentImportResult } from "../contract/types";
import { Problem, address, call } from "../lib/api";
import { sendFile } from "../lib/files";
import { bytes, straight } from "../lib/format";
import { Link, location, setQuery } from "../lib/router";
import { can, tenantId, tenantPath } from "../lib/session";
import { Button } from "../ui/button";
import { Drop } from "../ui/drop";
import { Icon } from "../ui/icons";
import { ImportReport } from "../ui/import-report";
import { Page } from "../ui/page";
import { type Choice, Pick, inBucket } from "../ui/pick";
import { Failed } from "../ui/states";

const MOST = 64 * 1024 * 1024;
const TYPES: [RegExp, string][] = [[/\.zip$/i, "application/zip"], [/\.(tgz|gz)$/i, "application/gzip"], [/\.(json|af)$/i, "application/json"], [/\.ya?ml$/i, "application/yaml"], [/\.png$/i, "image/png"], [/\.(md|markdown)$/i, "text/markdown"]];
const ACCEPT = ".zip,.tgz,.gz,.af,.json,.yml,.yaml,.png,.md";

/** A file of this computer, or the key of one in the bucket. */
type Source = { file: File; key?: undefined } | { key: string; file?: undefined };
const nameOf = (s: Source): string => s.file?.name ?? s.key ?? "";

interface Shown {
  source: Source;
  state: "reading" | "read" | "making" | "made";
  sent: number;
  result?: AgentImportResult;
  problem?: Problem;
}

function ask(source: Source, name: string, dry: boolean, signal: AbortSignal, progress: (sent: number) => void): Promise<AgentImportResult> {
  const path = { tenant_id: tenantId() };
  if (source.file)
    return sendFile("POST", address("POST /tenant/{tenant_id}/agents/import", path, { name: name || undefined, dry_run: dry || undefined }), source.file,
      { headers: { "Content-Type": TYPES.find(([ends]) => ends.test(source.file.name))?.[1] ?? "application/octet-stream" }, progress, signal });
  const body = { storage_uri: `bucket://${path.tenant_id}/${source.key}`, name: name || null };
  return dry ? call("POST /tenant/{tenant_id}/agents/import-from-bucket/dry-run", { path, body, signal }) : call("POST /tenant/{tenant_id}/agents/import-from-bucket", { path, body, signal });
}

/** What is wrong with the file, by the entry or the field that it is wrong with. */
function Faults({ of }: { of: Problem }) {
  return <div role="alert"><ul class="behind">{of.fields.map((f) => <li key={f.field + f.message}><Icon name="warn" /> <span><code>{straight(f.field)}</code> {straight(f.message)}</span></li>)}</ul></div>;
}

export default function Import() {
  const [shown, setShown] = useState<Shown | null>(null), [name, setName] = useState("");
  const heading = useRef<HTMLHeadingElement>(null), under = useRef<AbortController | null>(null);
  const object = location.value.query.get("object"), picked: Choice | null = shown?.source.key ? { id: shown.source.key, label: shown.source.key } : null;
  const run = async (source: Source, dry: boolean): Promise<void> => {
    under.current?.abort();
    const stop = (under.current = new AbortController());
    const put = (to: Partial<Shown>): void => void (!stop.signal.aborted && setShown((s) => (s ? { ...s, ...to } : s)));
    setShown((s) => ({ source, state: dry ? "reading" : "making", sent: 0, ...(!dry && s?.result ? { result: s.result } : {}) }));
    try {
      if (source.file && source.file.size > MOST) throw new Problem(413, { title: "Too large", detail: `${source.file.name} has ${bytes(source.file.size)}; an agent is imported from at most ${bytes(MOST)}.` });
      const result = await ask(source, dry ? "" : name.trim(), dry, stop.signal, (sent) => put({ sent }));
      put({ state: dry ? "read" : "made", result });
    } catch (err) {
      if ((err as Error).name === "AbortError") return;
      if (!(err instanceof Problem)) throw err;
      put({ state: "read", problem: err });
    }
    if (!stop.signal.aborted) requestAnimationFrame(() => heading.current?.focus());
  };
  const choose = (source: Source): void => {
    setQuery({ object: source.key ?? null });
    setName("");
    void run(source, true);
  };
  const clear = (): void => {
    under.current?.abort();
    setShown(null);
    setQuery({ object: null });
  };
  useEffect(() => {
    if (object && can("bucket:read")) void run({ key: object }, true);
    return () => under.current?.abort();
  }, []);
  const made = shown?.state === "made", busy = shown?.state === "reading" || shown?.state === "making";
  return (
    <Page title="Import an agent" lead="From a bundle of Lodge, or from what another platform exports. Nothing is made before you have seen what comes of it." narrow>
      {!made && (
        <>
          <Drop action="Choose a file" look={shown ? "plain" : "primary"} label="A file of an agent" accept={ACCEPT} take={([file]) => file && choose({ file })}>
            or drop it here: a bundle (.zip, .tar.gz), Letta's .af, Dify's YAML, JSON of Flowise or OpenAI, a character card, SKILL.md or AGENTS.md
          </Drop>
          {can("bucket:read") && <Pick label="Or a file in the bucket" placeholder="Type the beginning of its key" find={inBucket} value={picked} set={(c) => c && choose({ key: c.id })} />}
        </>
      )}
      {shown && (
        <section class="part import" aria-label={straight(nameOf(shown.source))} aria-busy={busy || undefined}>
          <h2 tabIndex={-1} ref={heading}>{made ? `${straight(shown.result?.agent_name ?? "")} ${shown.result?.idempotent_reuse ? "was here already" : "is made"}` : shown.problem ? `${straight(nameOf(shown.source))} cannot be imported` : shown.state === "reading" ? `Reading ${straight(nameOf(shown.source))}` : `What would come of ${straight(nameOf(shown.source))}`}</h2>
          {busy && (
            <p class="sending" role="status">
              {shown.source.file && shown.sent < shown.source.file.size ? <><progress max={shown.source.file.size || 1} value={shown.sent} aria-label="How much of it is sent" /> {bytes(shown.sent)} of {bytes(shown.source.file.size)}</> : <><progress aria-label="It is being read" /> It is being read…</>}
              {shown.state === "reading" && <Button look="quiet" act={clear}>Stop</Button>}
            </p>
          )}
          {shown.problem && (shown.problem.fields.length ? <Faults of={shown.problem} /> : <Failed problem={shown.problem} retry={() => void run(shown.source, true)} />)}
          {shown.result && !shown.problem && <ImportReport of={shown.result} made={made} />}
          {shown.result && !shown.problem && !made && !shown.result.idempotent_reuse && (
            <form class="form" onSubmit={(e) => {
              e.preventDefault();
              if (!busy) void run(shown.source, false);
            }}>
              <div class="field">
                <label class="label" for="import-name">Another name <span class="muted">(optional)</span></label>
                <input id="import-name" value={name} maxLength={255} autocomplete="off" placeholder={shown.result.agent_name} aria-describedby="import-help" onInput={(e) => setName(e.currentTarget.value)} />
                <p class="help" id="import-help">You become its owner.</p>
              </div>
              <footer><Button type="submit" look="primary" busy={busy}>Import this agent</Button><Button act={clear}>Leave it</Button></footer>
            </form>
          )}
          {made && (
            <p class="filters">
              <Link class="button primary" to={tenantPath(`/agents/${shown.result?.agent_id ?? ""}`)}>Open {straight(shown.result?.agent_name ?? "")}</Link>
              <Button act={clear}>Import another</Button>
            </p>
          )}
          {!made && shown.result?.idempotent_reuse && <p class="filters"><Button act={clear}>Choose another</Button></p>}
        </section>
      )}
      {!shown && <p class="muted small"><Icon name="help" /> Code in a file is never run, and keys and secrets in it are not kept. What is not taken over is said in the report.</p>}
    </Page>
  );
}
