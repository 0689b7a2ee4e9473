// mail-message.tsx - one message of a thread: who wrote it and whether that is proven, where it stands and why, what it says, its files.
import { useRef, useState } from "preact/hooks";
import { address, call } from "../lib/api";
import { Time, bytes, straight, unturned } from "../lib/format";
import { type Message, STATES, VERDICTS, isPlain, others, railOf } from "../lib/mail";
import { Link, withQuery } from "../lib/router";
import { tenantPath } from "../lib/session";
import { Button } from "./button";
import { Copy } from "./copy";
import { Dialog, over } from "./dialog";
import { Icon } from "./icons";
import type { Kind } from "./mail-write";
import { Status } from "./page";

type Path = { tenant_id: string; agent_id: string };
const CUT = 64_000; // letters that are shown at once

/** A state or a verdict: its word, and behind it what it means. */
const Told = ({ of }: { of: { word: string; tone: Parameters<typeof Status>[0]["tone"]; means: string } }) => <p class="mail-told"><Status tone={of.tone} {...(of.tone === "danger" || of.tone === "ember" ? { icon: "warn" as const } : {})}>{of.word}</Status> <span class="muted">{of.means}</span></p>;

interface View { label: string; text: string }
function viewsOf(m: Message): View[] {
  const own = m.extracted_text, all = { label: own ? "All of it, with what it quotes" : "Text", text: m.text };
  return [...(own && own !== m.text ? [{ label: "What was written", text: own }, all] : [all]), ...(m.html_text ? [{ label: "The words of its HTML", text: m.html_text }] : [])];
}

/** What it says.  It is a stranger's: text, and nothing in it is a link or a picture. */
function Words({ m }: { m: Message }) {
  const views = viewsOf(m), [at, setAt] = useState(0), [whole, setWhole] = useState(false);
  const text = (views[at] ?? views[0])?.text ?? "";
  return (
    <>
      {views.length > 1 && <div class="filters" role="group" aria-label="What of it is shown">{views.map((v, i) => <button key={v.label} type="button" class="button toggle" aria-pressed={i === at} onClick={() => setAt(i)}>{v.label}</button>)}</div>}
      {text.trim() ? <p class="mail-text" dir="auto">{unturned(whole ? text : text.slice(0, CUT))}</p> : <p class="muted">It has no text.</p>}
      {!whole && text.length > CUT && <p><Button act={() => setWhole(true)}>Show all {bytes(text.length)} of it</Button></p>}
    </>
  );
}

function Labels({ m, close }: { m: Message; close: (labels: string[] | null) => void }) {
  const [text, setText] = useState(m.labels.join(" "));
  const labels = [...new Set(text.toLowerCase().split(/[\s,]+/).filter(Boolean))];
  const bad = labels.length > 20 || labels.some((l) => !/^[a-z0-9._-]{1,64}$/.test(l));
  return (
    <Dialog title="Labels" onClose={() => close(null)}>
      <form onSubmit={(e) => {
        e.preventDefault();
        if (!bad) close(labels);
      }}>
        <div class="field">
          <label class="label" for="mail-labels">Its labels</label>
          <input id="mail-labels" value={text} autocomplete="off" spellcheck={false} aria-describedby="mail-labels-help" aria-invalid={bad || undefined} onInput={(e) => setText(e.currentTarget.value)} />
          <p class="help" id="mail-labels-help">Words with a space between, at most 20: letters, digits and . _ -</p>
        </div>
        <footer><Button act={() => close(null)}>Cancel</Button><Button type="submit" look="primary" disabled={bad}>Save labels</Button></footer>
      </form>
    </Dialog>
  );
}

interface Props {
  m: Message;
  path: Path;
  own: string[];
  /** Whether its mailbox is reached from outside. */
  external: boolean;
  write: boolean;
  open: boolean;
  changed: (m: Message) => void;
  begin: (kind: Kind) => void;
  send: () => Promise<void>;
  remove: () => void;
}

function Acts({ m, path, own, external, write, changed, begin, send, remove }: Props) {
  const draft = m.state === "draft";
  const patch = async (body: { unread?: boolean; labels?: string[] }): Promise<void> => changed(await call("PATCH /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}", { path: { ...path, message_id: m.id }, body }));
  const label = async (): Promise<void> => {
    const labels = await over<string[]>((close) => <Labels m={m} close={close} />);
    if (labels) await patch({ labels });
  };
  const raw = address("GET /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}/raw", { ...path, message_id: m.id });
  return (
    <div class="filters mail-acts">
      {write && draft && <><Button look="primary" icon="send" act={send}>Send</Button><Button icon="edit" act={() => begin("edit")}>Change</Button></>}
      {write && m.state === "held" && <Button look="primary" icon="send" act={send}>Send</Button>}
      {write && (m.state === "bounced" || m.state === "failed") && <Button icon="send" act={send}>Send again</Button>}
      {write && !draft && <><Button act={() => begin("reply")}>Reply</Button>{others(m, own).length > 1 && <Button act={() => begin("all")}>Reply to all</Button>}<Button act={() => begin("forward")}>Forward</Button></>}
      {write && !draft && <Button look="quiet" act={() => patch({ unread: !m.unread })}>{m.unread ? "Mark as read" : "Mark as unread"}</Button>}
      {write && <Button look="quiet" act={label}>Labels</Button>}
      {external && m.direction === "in" && <a class="button quiet" href={raw} download={`${m.id}.eml`}>Raw</a>}
      {write && <Button look="quiet" icon="trash" label={draft ? "Delete this draft" : "Delete this message"} act={remove} />}
    </div>
  );
}

export function MailMessage(props: Props) {
  const { m, path, external } = props;
  const began = useRef(props.open), out = m.direction === "out", came = STATES[m.state];
  return (
    <li id={`m-${m.id}`} class="mail" data-rail={railOf(m)}>
      <details open={began.current}>
        <summary>
          <Icon name="right" size={12} />
          <span class="mail-who"><strong><bdi>{straight(m.from)}</bdi></strong> <span class="muted">to <bdi>{straight(m.to.join(", ") || "nobody")}</bdi></span></span>
          {m.unread && <span class="badge">unread</span>}
          {!isPlain(m.state) && <Status tone={came.tone}>{came.word}</Status>}
          <span class="muted small"><Time at={m.sent_at ?? m.created_at} /></span>
          <span class="mail-preview muted">{straight(m.preview)}</span>
        </summary>
        <div class="mail-inside">
          {m.cc.length > 0 && <p class="muted">Copies to <bdi>{straight(m.cc.join(", "))}</bdi></p>}
          {!isPlain(m.state) && <Told of={came} />}
          {!out && <Told of={VERDICTS[m.verdict]} />}
          {m.error && <p class={`notice ${came.tone === "danger" ? "danger" : "ember"}`}><Icon name="warn" /> <span>{straight(m.error)}</span></p>}
          {m.state !== "unreadable" && <Words m={m} />}
          {m.attachments.length > 0 && (
            <ul class="mail-attached" aria-label="Files">
              {m.attachments.map((a) => <li key={a.id}><Icon name="file" /><a href={address("GET /tenant/{tenant_id}/agents/{agent_id}/attachments/{attachment_id}/content", { ...path, attachment_id: a.id })} download={a.filename}><bdi>{straight(a.filename)}</bdi></a> <span class="muted">{bytes(a.size_bytes)}, said to be {straight(a.content_type)}</span></li>)}
            </ul>
          )}
          {(m.labels.length > 0 || m.session_id) && (
            <p class="tags">
              {m.labels.map((l) => <Link key={l} class="tag" to={withQuery({ label: l, thread: null, write: null })} aria-label={`Messages with the label ${l}`}>{l}</Link>)}
              {m.session_id && <Link to={tenantPath(`/sessions/${m.session_id}`)}>{out ? "The session that wrote it" : "The session that it set to work"}</Link>}
            </p>
          )}
          <Acts {...props} />
          <details class="entry"><summary>About this message</summary>
            <dl class="facts">
              <div><dt>Message-ID</dt><dd><code>{straight(m.message_id_header)}</code> <Copy text={m.message_id_header} label="Copy the Message-ID" /></dd></div>
              <div><dt>{out ? "Written" : "Came"}</dt><dd><Time at={m.created_at} /></dd></div>
              <div><dt>Size</dt><dd>{bytes(m.size_bytes)}{external ? "" : ", within this service"}</dd></div>
            </dl>
          </details>
        </div>
      </details>
    </li>
  );
}
