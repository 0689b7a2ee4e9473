// mail-thread.tsx - one conversation by mail: its messages, the oldest first, and what is written into it.
import { useEffect, useRef, useState } from "preact/hooks";
import type { AgentMailboxRow } from "../contract/types";
import { call } from "../lib/api";
import { useData } from "../lib/data";
import { plural, straight } from "../lib/format";
import { type Message, refusalOf } from "../lib/mail";
import { Link, go, location, withQuery } from "../lib/router";
import { tenantPath } from "../lib/session";
import { Button } from "./button";
import { MailMessage } from "./mail-message";
import { type Kind, MailWrite } from "./mail-write";
import { DataView, Empty } from "./states";
import { complain, toast, undoable } from "./toast";

type Path = { tenant_id: string; agent_id: string };
const KINDS: Kind[] = ["reply", "all", "forward", "edit"];
const MORE = 50;

type Sendable = Pick<Message, "id" | "state" | "to" | "cc">;

/** A draft goes out, or once more what did not get there; what keeps it is said with the addresses that it is about. */
export async function sendDraft(path: Path, m: Sendable): Promise<boolean> {
  try {
    const to = { path: { ...path, message_id: m.id } };
    const now = m.state === "bounced" || m.state === "failed" ? await call("POST /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}/send-again", to)
      : await call("POST /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}/send", to);
    toast(now.state === "held" ? "It is held until a person sends it" : now.state === "queued" ? "It is on its way" : "Sent");
    return true;
  } catch (err) {
    const said = refusalOf(err, { to: m.to, cc: m.cc });
    if (said) toast(said, { bad: true });
    else complain(err);
    return false;
  }
}

export const deleteMail = (path: Path, m: Pick<Message, "id">): Promise<unknown> => call("DELETE /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}", { path: { ...path, message_id: m.id } });

interface Props { thread: string; path: Path; mailboxes: AgentMailboxRow[]; write: boolean }

export function MailThread({ thread, path, mailboxes, write }: Props) {
  const of = useData("GET /tenant/{tenant_id}/agents/{agent_id}/mail/threads/{thread_id}", { path: { ...path, thread_id: thread } });
  const [older, setOlder] = useState<Message[]>([]), [leaving, setLeaving] = useState<ReadonlySet<string>>(new Set());
  const heading = useRef<HTMLHeadingElement>(null), seen = useRef(new Set<string>());
  const [kind, id] = (location.value.query.get("write") ?? "").split(":") as [Kind | undefined, string | undefined];
  const own = mailboxes.map((m) => m.address), there = of.data !== undefined;
  useEffect(() => {
    if (there && !location.peek().query.get("write")) heading.current?.focus({ preventScroll: true });
  }, [there]);
  const back = withQuery({ thread: null, write: null });
  const changed = (m: Message): void => {
    if (of.data) of.set({ ...of.data, messages: of.data.messages.map((one) => (one.id === m.id ? m : one)) });
    setOlder((all) => all.map((one) => (one.id === m.id ? m : one)));
    of.reload();
  };
  const remove = (m: Message): void => {
    const stay = (): void => setLeaving((now) => new Set([...now].filter((one) => one !== m.id)));
    setLeaving((now) => new Set([...now, m.id]));
    undoable(m.state === "draft" ? "The draft is deleted" : "The message is deleted; whoever else has it keeps it", async () => {
      await deleteMail(path, m);
      of.reload();
    }, stay);
  };
  const readAll = async (unread: Message[]): Promise<void> => {
    for (const m of unread) await call("PATCH /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}", { path: { ...path, message_id: m.id }, body: { unread: false } });
    of.reload();
  };
  if (of.error?.status === 404) return <Empty title="There is no such thread" text="Its last message was deleted, or the address is wrong." action={<Link class="button plain" to={back}>To the mail</Link>} />;
  return (
    <DataView of={of}>
      {(t) => {
        const all = [...older, ...t.messages].filter((m) => !leaving.has(m.id)), unread = all.filter((m) => m.unread), newest = all.at(-1)?.id;
        const more = t.message_count > older.length + t.messages.length;
        // What was open when it came into view stays so.
        for (const m of all) if (!seen.current.has(m.id) && (m.unread || m.id === newest || m.state === "draft")) seen.current.add(m.id);
        return (
          <section class="mail-thread" aria-label={straight(t.subject || "Without a subject")}>
            <p><Link to={back}>All mail</Link></p>
            <div class="part-head">
              <h2 tabIndex={-1} ref={heading}>{straight(t.subject || "Without a subject")}</h2>
              {write && unread.length > 0 && <Button act={() => readAll(unread)}>Mark all as read</Button>}
            </div>
            <p class="muted">{plural(t.message_count, "message")}{t.unread_count > 0 && `, ${t.unread_count} unread`}. With <bdi>{straight(t.participants.filter((p) => !own.includes(p)).join(", ") || "nobody else")}</bdi>. {t.session_id && <Link to={tenantPath(`/sessions/${t.session_id}`)}>Its session</Link>}</p>
            {more && <p class="more"><Button act={async () => {
              const { items } = await call("GET /tenant/{tenant_id}/agents/{agent_id}/mail", { path, query: { thread_id: thread, after: (older[0] ?? t.messages[0])?.id, per_page: MORE, total: false } });
              setOlder([...items.reverse(), ...older]);
            }}>Show earlier messages</Button></p>}
            <ol class="mails" aria-label="Messages">
              {all.map((m) => (
                <MailMessage key={m.id} m={m} path={path} own={own} write={write} open={seen.current.has(m.id)} external={mailboxes.find((b) => b.id === m.mailbox_id)?.kind === "external"}
                  changed={changed} begin={(what) => go(withQuery({ write: `${what}:${m.id}` }))} send={async () => void ((await sendDraft(path, m)) && of.reload())} remove={() => remove(m)} />
              ))}
            </ol>
            {write && kind && KINDS.includes(kind) && all.filter((m) => m.id === id).map((m) => (
              <MailWrite key={`${kind} ${m.id}`} kind={kind} of={m} path={path} mailboxes={mailboxes} close={(made) => {
                // What is handed on begins a thread of its own.
                go(withQuery({ write: null, ...(made ? { thread: made.thread_id } : {}) }), { replace: true });
                of.reload();
              }} />
            ))}
          </section>
        );
      }}
    </DataView>
  );
}
