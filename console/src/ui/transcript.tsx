// transcript.tsx - what was said and done in a session: messages, calls of tools, subtasks, approvals, notes.
//
// Each message and each call reads its own signal of the chat, so that a piece of an answer touches one article.  All texts
// are strangers' words: they are strings or Markdown's nodes.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { ApprovalRead, MessagePart } from "../contract/types";
import { address, call } from "../lib/api";
import type { Chat, Message, Note } from "../lib/chat";
import { coloured } from "../lib/colour";
import { useFocusKept } from "../lib/focus";
import { Time, bytes, exact, human, price, span, spelled, straight, tokens, unturned } from "../lib/format";
import { Growing } from "../lib/markdown";
import { BASE, Link, go } from "../lib/router";
import { me, tenantId, tenantPath } from "../lib/session";
import { Button } from "./button";
import { copy } from "./copy";
import { Icon } from "./icons";
import { memo } from "./memo";
import { Status, type Tone } from "./page";
import { toast } from "./toast";

const SHOWN_MAX = 64_000;

export interface Surroundings {
  chat: Chat;
  agent: string;
  may: (permission: string) => boolean;
  modelName: (id: string) => string;
}

export const TONES: Record<string, Tone> = { running: "pine", waiting_approval: "ember", completed: "plain", failed: "danger", cancelled: "plain", pending: "plain", denied: "danger", unknown: "danger", approved: "pine", new: "plain", waiting_subtask: "pine", waiting_client: "ember" };

/** A long text, cut; the rest when it is asked for. */
function Long({ text, children }: { text: string; children: (shown: string) => ComponentChildren }) {
  const [all, setAll] = useState(false);
  if (text.length <= SHOWN_MAX || all) return <>{children(text)}</>;
  return <>{children(text.slice(0, SHOWN_MAX))}<Button act={() => setAll(true)}>Show all of it ({bytes(text.length)})</Button></>;
}

const pretty = (value: unknown): string => (typeof value === "string" ? value : spelled(value));
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const Block = ({ title, text }: { title: string; text: string }) => (
  <div class="block"><h4>{title}</h4><Long text={unturned(text)}>{(shown) => <pre tabIndex={0} dir="auto">{/^[{[]/.test(shown) ? coloured(shown, "json") : shown}</pre>}</Long></div>
);

/** Deciding a call that waits, in place; what is shown is what will be sent. */
export function Decision({ approval, may, decided }: { approval: ApprovalRead; may: boolean; decided: (a: ApprovalRead) => void }) {
  const decide = (approved: boolean) => async (): Promise<void> => {
    decided(await call("POST /tenant/{tenant_id}/sessions/{session_id}/approvals/{approval_id}", { path: { tenant_id: tenantId(), session_id: approval.session_id, approval_id: approval.id }, body: { approved } }));
    toast(approved ? `${approval.tool_name} is approved` : `${approval.tool_name} is denied`);
  };
  return (
    <div class="decision" data-approval={approval.id}>
      <p><Icon name="warn" /> <span>The agent may not call <strong>{approval.tool_name}</strong> without a person's word. This is what will be sent.</span></p>
      <Block title="Arguments" text={pretty(approval.arguments)} />
      {(approval.pinned?.length ?? 0) > 0 && <p class="muted small">Set for the agent, whatever the model said: {approval.pinned?.join(", ")}</p>}
      {may ? <div class="decide"><Button look="primary" icon="check" act={decide(true)}>Approve</Button><Button look="danger" icon="close" act={decide(false)}>Deny</Button></div>
        : <p class="muted">Somebody who may approve for this agent has to decide.</p>}
    </div>
  );
}

function Subtask({ chat, id }: { chat: Chat; id: string }) {
  const s = chat.subtasks.value.find((one) => one.id === id);
  return (
    <div class="subtask" data-rail={s?.status === "failed" ? "danger" : s?.status === "running" ? "pine" : s?.status === "waiting_approval" ? "ember" : undefined}>
      <Icon name="agents" />
      <Link to={tenantPath(`/sessions/${id}`)}><bdi>{straight(s?.title || "Subtask")}</bdi></Link>
      {s && <Status tone={TONES[s.status] ?? "plain"}>{human(s.status)}</Status>}
      {s && <span class="muted small"><bdi>{s.agent_name}</bdi>, {s.message_count} messages</span>}
    </div>
  );
}

const ToolBlock = memo(({ around, ask, cost }: { around: Surroundings; ask: Message["tool_calls"][number]; cost: number }) => {
  const { chat } = around, place = useRef<HTMLDivElement>(null);
  // Decided, here or elsewhere: on to the next that waits, and then to where one writes.
  useFocusKept(place, () => document.querySelector<HTMLElement>(".decision .decide button") ?? document.querySelector<HTMLElement>(".composer textarea"));
  const done = chat.calls.of(ask.id).value, result = chat.results.of(ask.id).value, approval = chat.approvals.of(ask.id).value;
  const waits = approval?.status === "pending";
  const state = waits ? "waiting_approval" : done?.state ?? (result ? "completed" : "running");
  const took = done?.started_at && done.ended_at ? span(Date.parse(done.ended_at) - Date.parse(done.started_at)) : "";
  return (
    <div ref={place} class="tool" data-rail={waits ? "ember" : state === "failed" || state === "denied" ? "danger" : state === "running" ? "pine" : undefined}>
      <details open={waits || undefined}>
        <summary><span class="fold"><Icon name="right" size={12} /></span><Icon name="tool" /><bdi class="mono">{ask.name}</bdi><Status tone={TONES[state] ?? "plain"}>{human(state)}</Status>{took && <span class="muted small">{took}</span>}</summary>
        <div class="inside">
          {waits ? <Decision approval={approval} may={around.may("session:approve")} decided={(a) => chat.takeApproval(a)} />
            : <Block title="Arguments" text={pretty(done?.arguments ? parsed(done.arguments) : ask.arguments)} />}
          {result && <Block title="Result" text={result.content} />}
          {approval && !waits && <p class="muted small">{human(approval.status)}{approval.decided_by_id && <> by {approval.decided_by_id === me.value?.id ? "you" : approval.decided_by_name ? <bdi>{straight(approval.decided_by_name)}</bdi> : <code>{approval.decided_by_id}</code>}</>}{approval.decided_at && <>, <Time at={approval.decided_at} /></>}</p>}
          <p class="muted small">{took ? `It took ${took}. ` : ""}The model call that asked for it: {price(cost)}.</p>
        </div>
      </details>
      {done?.child_session_id && <Subtask chat={chat} id={done.child_session_id} />}
    </div>
  );
});

const clock = (iso: string): string => exact(iso).replace(/^.*?, /, "").slice(0, 5);

function Actions({ around, m }: { around: Surroundings; m: Message }) {
  const { chat } = around;
  const link = `${window.location.origin}${BASE}${tenantPath(`/sessions/${chat.path.session_id}`)}?message=${m.id}`;
  return (
    <div class="message-actions">
      <Button look="quiet" icon="copy" label="Copy this message" act={() => copy(m.content)} />
      <Button look="quiet" icon="link" label="Copy a link to this message" act={() => copy(link)} />
      {around.may("session:write") && <Button look="quiet" icon="branch" label="Branch from this message" act={async () => {
        const made = await call("POST /tenant/{tenant_id}/sessions/{session_id}/branch", { path: chat.path, body: { message_id: m.id } });
        toast("This is a session of its own now; the other one is as it was");
        go(tenantPath(`/sessions/${made.id}`));
      }} />}
    </div>
  );
}

/** What it holds besides its words.  The bytes come from outside: they are saved, and not shown. */
const Parts = ({ around, parts }: { around: Surroundings; parts: MessagePart[] }) => (
  <ul class="message-parts" aria-label="Parts of this message">{parts.map((p, i) => (
    <li key={i}><Icon name="file" />{p.file_id
      ? <a href={address("GET /tenant/{tenant_id}/sessions/{session_id}/files/{file_id}/content", { ...around.chat.path, file_id: p.file_id })} download><bdi>{straight(p.name ?? human(p.type))}</bdi></a>
      : <bdi>{straight(p.url ?? p.name ?? human(p.type))}</bdi>}
      <span class="muted small">{[p.content_type ?? human(p.type), ...(p.size_bytes ? [bytes(p.size_bytes)] : [])].join(", ")}</span></li>
  ))}</ul>
);

const Article = memo(({ around, id, marked }: { around: Surroundings; id: string; marked: boolean }) => {
  const [near, setNear] = useState(false); // what can be done with it is made when somebody comes near: most are only read
  const m = around.chat.messages.of(id).value;
  if (!m) return null;
  const own = m.role === "user";
  const who = own ? (m.author_id ? (m.author_id === me.value?.id ? "You" : m.author_name ?? "Somebody") : "From outside") : m.role === "system" ? "System" : m.author_id ? `${m.author_name ?? "Somebody"}, as the agent` : around.agent;
  const streaming = m.status === "streaming", used = m.prompt_tokens + m.completion_tokens + m.cache_read_tokens + m.cache_write_tokens;
  return (
    <article id={`m-${id}`} tabIndex={0} onPointerEnter={() => setNear(true)} onFocusCapture={() => setNear(true)} class={`message ${m.role}${marked ? " marked" : ""}`} data-rail={streaming ? "pine" : m.status === "failed" ? "danger" : undefined} aria-busy={streaming || undefined}>
      <header><h2><bdi>{straight(who)}</bdi><span class="muted">, {m.sending ? "sending…" : <time dateTime={m.created_at} title={exact(m.created_at)}>{clock(m.created_at)}</time>}</span></h2>{near && !m.sending && !streaming && <Actions around={around} m={m} />}</header>
      {m.content && <Long text={m.content}>{(shown) => <Growing text={shown} done={!streaming} />}</Long>}
      {m.parts && m.parts.length > 0 && <Parts around={around} parts={m.parts} />}
      {streaming && !m.content && <p class="muted">…</p>}
      {m.status === "failed" && <p class="error">This was not finished.</p>}
      {m.tool_calls.map((ask) => <ToolBlock key={ask.id} around={around} ask={ask} cost={m.cost_usd} />)}
      {(used > 0 || m.model_id) && <p class="message-foot muted small">{m.model_id && <bdi>{around.modelName(m.model_id)}</bdi>}{used > 0 && <span>{tokens(used)} tokens</span>}{used > 0 && <span>{price(m.cost_usd)}</span>}</p>}
    </article>
  );
});

const NoteLine = ({ note }: { note: Note }) => <p class="note" data-code={note.code}><Icon name={note.code === "waiting" ? "clock" : "warn"} /><span>{straight(note.text)}</span></p>;

/** The newest of it, as many as are to be shown, oldest first. */
export const Transcript = memo(({ around, marked, shown }: { around: Surroundings; marked: string | null; shown: number }) => {
  const { chat } = around;
  const order = chat.order.value.slice(-shown), notes = new Map<string | null, Note[]>();
  for (const n of chat.notes.value) {
    const at = chat.before(n);
    notes.set(at, [...(notes.get(at) ?? []), n]);
  }
  return (
    <div class="transcript" role="log" aria-label="Conversation" aria-live="off">
      {notes.get("")?.map((n) => <NoteLine key={n.id} note={n} />)}
      {order.map((id) => [
        <Article key={id} around={around} id={id} marked={id === marked} />,
        ...(notes.get(id) ?? []).map((n) => <NoteLine key={n.id} note={n} />),
      ])}
    </div>
  );
});
