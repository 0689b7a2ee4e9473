// uploads.tsx - what is on its way into the bucket, and what became of it.
import { bytes, plural, straight } from "../lib/format";
import { tenantId } from "../lib/session";
import { type Upload, dismissUploads, goOn, isUnderway, stopUpload, uploads } from "../lib/uploads";
import { Button } from "./button";
import { Status, type Tone } from "./page";

const WORDS: Record<Upload["state"], [string, Tone]> = { waiting: ["Waits", "plain"], sending: ["Being sent", "pine"], asks: ["Is there already", "ember"], there: ["There", "plain"], stopped: ["Stopped", "plain"], failed: ["Failed", "danger"] };
const RAILS: Partial<Record<Upload["state"], string>> = { sending: "pine", asks: "ember", failed: "danger" };

function Row({ u }: { u: Upload }) {
  const [word, tone] = WORDS[u.state];
  return (
    <li data-rail={RAILS[u.state]}>
      <span><bdi>{straight(u.key)}</bdi> {u.why && <span class="error">{u.why}</span>}</span>
      {u.state === "sending" && <progress max={u.file.size || 1} value={u.sent} aria-label={`How much of ${straight(u.key)} is sent`} />}
      <span class="muted small">{u.state === "sending" ? `${bytes(u.sent)} of ${bytes(u.file.size)}` : bytes(u.file.size)}</span>
      <Status tone={tone}>{word}</Status>
      {isUnderway(u) && <Button look="quiet" label={`Stop sending ${u.key}`} icon="stop" act={() => stopUpload(u.id)} />}
      {u.state === "asks" && <Button look="danger" label={`Replace it: ${u.key}`} act={() => goOn(u.id)}>Replace it</Button>}
      {(u.state === "failed" || u.state === "stopped") && <Button label={`Try again: ${u.key}`} act={() => goOn(u.id)}>Try again</Button>}
      {!isUnderway(u) && <Button look="quiet" icon="close" label={u.state === "asks" ? `Leave ${u.key} as it is` : `Dismiss ${u.key}`} act={() => dismissUploads((one) => one.id === u.id)} />}
    </li>
  );
}

/** How they stand, in one sentence: that is what is read out, and not every percent. */
function summary(all: Upload[]): string {
  const of = (...states: Upload["state"][]): number => all.filter((u) => states.includes(u.state)).length;
  const parts: [number, string][] = [[of("waiting", "sending"), "on the way"], [of("there"), "there"], [of("asks"), "to be answered"], [of("failed"), "failed"], [of("stopped"), "stopped"]];
  return `${plural(all.length, "file")}: ${parts.filter(([n]) => n).map(([n, what]) => `${n} ${what}`).join(", ")}`;
}

export function Uploads() {
  const all = uploads.value.filter((u) => u.tenant === tenantId());
  if (!all.length) return null;
  return (
    <section class="part uploads" aria-label="Uploads">
      <div class="part-head">
        <h2>Uploads</h2>
        <span class="muted" role="status">{summary(all)}</span>
        {all.some((u) => u.state === "there") && <Button look="quiet" act={() => dismissUploads((u) => u.state === "there" || u.state === "stopped")}>Dismiss what is done</Button>}
      </div>
      <ul class="rows">{all.map((u) => <Row key={u.id} u={u} />)}</ul>
    </section>
  );
}
