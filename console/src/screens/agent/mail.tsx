// mail.tsx - the mail of an agent: its addresses, drafts that wait for a person, conversations, and what one finds in them.
import { useRef, useState } from "preact/hooks";
import type { AgentMailboxRow, MailThreadRead } from "../../contract/types";
import { call } from "../../lib/api";
import { type List, useList } from "../../lib/data";
import { heading, useFocusKept } from "../../lib/focus";
import { Time, plural, straight } from "../../lib/format";
import { type MailState, type Message, STATES, STATE_WORDS, railOf } from "../../lib/mail";
import { Link, go, location, setQuery, withQuery } from "../../lib/router";
import { tenantPath } from "../../lib/session";
import { Button } from "../../ui/button";
import { Copy } from "../../ui/copy";
import { Choose, Search, Toggle } from "../../ui/filters";
import { AgentRules } from "../../ui/mail-rules";
import { MailThread, deleteMail, sendDraft } from "../../ui/mail-thread";
import { MailWrite } from "../../ui/mail-write";
import { Status, Tag } from "../../ui/page";
import { DataView, Empty } from "../../ui/states";
import { Table } from "../../ui/table";
import { toast, undoable } from "../../ui/toast";
import type { PartProps } from "../agent";

const FILTERS = ["q", "state", "unread", "label", "mailbox"];
const KINDS = { internal: "between agents of this tenant", external: "from and to the outside" };

// ---- its addresses ----

function Mailboxes({ list, props }: { list: List<AgentMailboxRow>; props: PartProps }) {
  const { path, may, agent } = props;
  const turn = async (m: AgentMailboxRow): Promise<void> => {
    const now = await call("PATCH /tenant/{tenant_id}/agents/{agent_id}/mailboxes/{mailbox_id}", { path: { ...path, mailbox_id: m.id }, body: { is_active: !m.is_active } });
    list.set((list.data ?? []).map((one) => (one.id === now.id ? now : one)));
    toast(now.is_active ? "It takes and sends mail again" : "It is paused: nothing comes in, and nothing goes out");
  };
  return (
    <DataView of={list} rows={1} empty={{ title: "It has no mailbox", text: "Agents that were made before this service had mail have none; a super administrator heals that under Mailboxes." }}>
      {(rows) => (
        <ul class="rows mailboxes" aria-label="Mailboxes">
          {rows.map((m) => {
            const off = !m.is_active && m.kind === "external" && agent.external_mail_enabled === false;
            return (
              <li key={m.id}>
                <span><bdi class="mono">{m.address}</bdi> <Copy text={m.address} label={`Copy ${m.address}`} /><br /><span class="muted small">{KINDS[m.kind]}</span></span>
                {m.is_active ? <Status tone="pine">Active</Status> : <Status tone="ember" icon="warn">{off ? "Switched off for this agent" : "Paused"}</Status>}
                {may("agent:mail:write") && !off && <Button label={`${m.is_active ? "Pause" : "Let go on"}: ${m.address}`} act={() => turn(m)}>{m.is_active ? "Pause" : "Let go on"}</Button>}
              </li>
            );
          })}
        </ul>
      )}
    </DataView>
  );
}

// ---- drafts ----

function Drafts({ props, write }: { props: PartProps; write: boolean }) {
  const { path } = props;
  const list = useList("GET /tenant/{tenant_id}/agents/{agent_id}/mail", { path, query: { state: "draft" } });
  const [leaving, setLeaving] = useState<ReadonlySet<string>>(new Set());
  const rows = list.data?.filter((m) => !leaving.has(m.id)) ?? [], place = useRef<HTMLElement>(null);
  useFocusKept(place, () => place.current?.querySelector<HTMLElement>("button") ?? heading());
  if (!rows.length) return null;
  const remove = (m: Message): void => {
    setLeaving((now) => new Set([...now, m.id]));
    undoable("The draft is deleted", async () => {
      await deleteMail(path, m);
      list.reload();
    }, () => setLeaving((now) => new Set([...now].filter((one) => one !== m.id))));
  };
  const at = (m: Message, more: Record<string, string> = {}): string => withQuery({ ...Object.fromEntries(FILTERS.map((f) => [f, null])), thread: m.thread_id, ...more });
  return (
    <section class="part" aria-label="Drafts" ref={place}>
      <h2>{write ? "Drafts that wait for you" : "Drafts that wait for a person"}</h2>
      <ul class="inbox" aria-label="Drafts">
        {rows.map((m) => (
          <li key={m.id} class="waits" data-rail="ember">
            <div class="waits-head"><Link to={at(m)}><bdi>{straight(m.subject || "Without a subject")}</bdi></Link><span class="muted">to <bdi>{straight(m.to.join(", ") || "nobody")}</bdi></span><span class="muted small"><Time at={m.created_at} /></span></div>
            <p class="cut-lines">{straight(m.preview)}</p>
            {m.error && <p class="muted small">{straight(m.error)}</p>}
            {write && (
              <div class="decide">
                <Button look="primary" icon="send" label={`Send: ${m.subject}`} act={async () => void ((await sendDraft(path, m)) && list.reload())}>Send</Button>
                <Link class="button plain" to={at(m, { write: `edit:${m.id}` })} aria-label={`Change: ${straight(m.subject)}`}>Change</Link>
                <Button look="quiet" label={`Delete: ${m.subject}`} act={() => remove(m)}>Delete</Button>
              </div>
            )}
          </li>
        ))}
      </ul>
      {list.more && <div class="more"><Button act={list.more}>Show more</Button></div>}
    </section>
  );
}

// ---- conversations ----

const inThread = (thread: string): string => withQuery({ thread });
const subject = (text: string, unread: boolean | number) => <><bdi>{straight(text || "Without a subject")}</bdi>{unread ? <span class="badge">{unread === true ? "unread" : `${unread} unread`}</span> : null}</>;

function Threads({ props, mailbox, own, write }: { props: PartProps; mailbox: string; own: string[]; write: boolean }) {
  const list = useList("GET /tenant/{tenant_id}/agents/{agent_id}/mail/threads", { path: props.path, query: { mailbox_id: mailbox || undefined } });
  const people = (t: MailThreadRead): string => t.participants.filter((p) => !own.includes(p)).join(", ");
  return (
    <DataView of={list} filtered={mailbox !== ""} filters={FILTERS} empty={{ title: "No mail yet", text: "What others write to the addresses above is shown here, and what the agent answers.", action: write && <Link class="button primary" to={withQuery({ write: "new" })}>Write a message</Link> }}>
      {(rows) => (
        <Table label="Threads" rows={rows} id={(t) => t.id} to={(t) => inThread(t.id)} columns={[
          { name: "Subject", cell: (t) => subject(t.subject, t.unread_count) },
          { name: "With", cell: (t) => <bdi title={straight(people(t))}>{straight(people(t)) || "–"}</bdi> },
          { name: "Session", wide: "most", cell: (t) => t.session_id && <Link to={tenantPath(`/sessions/${t.session_id}`)}>Open</Link> },
          { name: "Messages", wide: true, figure: true, cell: (t) => t.message_count },
          { name: "Last", wide: true, cell: (t) => <Time at={t.last_message_at} /> },
        ]} />
      )}
    </DataView>
  );
}

/** Single messages, where a filter asks for them. */
function Found({ props, mailbox }: { props: PartProps; mailbox: string }) {
  const { query } = location.value;
  const list = useList("GET /tenant/{tenant_id}/agents/{agent_id}/mail", { path: props.path, query: {
    mailbox_id: mailbox || undefined, q: query.get("q") || undefined, state: (query.get("state") as MailState | null) || undefined, label: query.get("label") || undefined, unread: query.has("unread") || undefined,
  } });
  return (
    <DataView of={list} filtered filters={FILTERS}>
      {(rows) => (
        <>
          <Table label="Messages" rows={rows} id={(m) => m.id} to={(m) => inThread(m.thread_id)} rail={railOf} columns={[
            { name: "Subject", cell: (m) => subject(m.subject, m.unread) },
            { name: "From", cell: (m) => <bdi title={straight(m.from)}>{straight(m.from)}</bdi> },
            { name: "State", cell: (m) => <Status tone={STATES[m.state].tone}>{STATES[m.state].word}</Status> },
            { name: "Begins", wide: "most", cell: (m) => <span class="cut">{straight(m.preview)}</span> },
            { name: "When", wide: true, cell: (m) => <Time at={m.created_at} /> },
          ]} />
          {list.total !== undefined && <p class="muted small">{plural(list.total, "message")}</p>}
        </>
      )}
    </DataView>
  );
}

export default function Mail(props: PartProps) {
  const { path, may } = props, { query } = location.value;
  const boxes = useList("GET /tenant/{tenant_id}/agents/{agent_id}/mailboxes", { path }, props.concerns);
  const read = may("agent:mail:read"), write = may("agent:mail:write");
  const place = useRef<HTMLDivElement>(null);
  useFocusKept(place, heading);
  const mailboxes = boxes.data ?? [], own = mailboxes.map((m) => m.address), thread = query.get("thread"), mailbox = query.get("mailbox") ?? "";
  if (!read) return <section class="part"><h2>Mailboxes</h2><Mailboxes list={boxes} props={props} /><Empty title="Its mail is not for you" text="Whoever has a role on this agent that lets them read its mail finds it here." /></section>;
  if (query.get("part") === "rules") return <AgentRules path={path} write={write} />;
  if (thread) return <MailThread key={thread} thread={thread} path={path} mailboxes={mailboxes} write={write} />;
  const single = ["q", "state", "unread", "label"].some((f) => query.has(f)), label = query.get("label");
  return (
    <div ref={place}>
      <section class="part">
        <div class="part-head">
          <h2>Mailboxes</h2>
          <div class="filters"><Link class="button plain" to={withQuery({ part: "rules" })}>Rules</Link>{write && query.get("write") !== "new" && <Link class="button primary" to={withQuery({ write: "new" })}>Write a message</Link>}</div>
        </div>
        <Mailboxes list={boxes} props={props} />
      </section>
      {write && query.get("write") === "new" && <MailWrite kind="new" path={path} mailboxes={mailboxes} close={(made) => go(withQuery({ write: null, ...(made && made.state !== "draft" ? { thread: made.thread_id } : {}) }), { replace: true })} />}
      <Drafts props={props} write={write} />
      <section class="part">
        <h2>{single ? "Messages" : "Threads"}</h2>
        <div class="filters" role="search">
          <Search label="Search subject, sender, first words" value={query.get("q") ?? ""} set={(q) => setQuery({ q })} />
          {mailboxes.length > 1 && (
            <label class="choose"><span>Mailbox</span>
              <select value={mailbox} onChange={(e) => setQuery({ mailbox: e.currentTarget.value })}><option value="">All</option>{mailboxes.map((m) => <option key={m.id} value={m.id}>{m.address}</option>)}</select>
            </label>
          )}
          <Choose label="State" value={query.get("state") ?? ""} words={STATE_WORDS} set={(state) => setQuery({ state })} />
          <Toggle label="Unread" on={query.has("unread")} set={(on) => setQuery({ unread: on ? "1" : null })} />
          {label && <Button label={`Not only the label ${label}`} icon="close" act={() => setQuery({ label: null })}><Tag>{label}</Tag></Button>}
        </div>
        {single ? <Found props={props} mailbox={mailbox} /> : <Threads props={props} mailbox={mailbox} own={own} write={write} />}
      </section>
    </div>
  );
}
