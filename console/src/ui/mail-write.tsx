// mail-write.tsx - writing as an agent: a new message, an answer, one that is handed on, a draft that is changed.
import { useEffect, useRef, useState } from "preact/hooks";
import { MailCreate } from "../contract/forms";
import type { AgentMailboxRow } from "../contract/types";
import { Problem, call, randomKey, tagged } from "../lib/api";
import { straight } from "../lib/format";
import { type Message, namedAt, others } from "../lib/mail";
import { guards, location } from "../lib/router";
import { Button } from "./button";
import { type Errors, FieldRow } from "./form";
import { type Brought, MailFiles } from "./mail-files";
import { Pick, finding } from "./pick";
import { complain, toast } from "./toast";

export type Kind = "new" | "reply" | "all" | "forward" | "edit";
type Name = "to" | "cc" | "bcc" | "subject" | "text";
type Texts = Record<Name, string>;

const FIELDS: Record<Kind, Name[]> = { new: ["to", "subject", "text"], reply: ["text"], all: ["text"], forward: ["to", "text"], edit: ["to", "cc", "subject", "text"] };
const TITLES: Record<Kind, string> = { new: "New message", reply: "Reply", all: "Reply to all", forward: "Forward", edit: "Change the draft" };
const HELP: Partial<Record<Name, string>> = { to: "Addresses, one on each line.", cc: "Who else gets it; everybody sees that.", bcc: "Who gets it without the others seeing that.", text: "", subject: "" };

export const addressesOf = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);
const linesOf = (list: string[]): string => list.join("\n");
const fieldOf = (name: Name, required: boolean) => ({ ...(MailCreate.find((f) => f.name === name) as (typeof MailCreate)[number]), required, help: HELP[name] ?? "" });

const begin = (kind: Kind, of: Message | undefined): Texts =>
  kind === "edit" && of ? { to: linesOf(of.to), cc: linesOf(of.cc), bcc: "", subject: of.subject, text: of.text } : { to: "", cc: "", bcc: "", subject: "", text: "" };

interface Props {
  kind: Kind;
  /** What is answered, handed on or changed. */
  of?: Message | undefined;
  path: { tenant_id: string; agent_id: string };
  mailboxes: AgentMailboxRow[];
  /** With what became of it; nothing if it was given up. */
  close: (made?: Message) => void;
}

/** Whom an answer goes to, in words. */
function Whom({ kind, of, own }: { kind: Kind; of: Message; own: string[] }) {
  if (kind !== "reply" && kind !== "all") return null;
  const to = kind === "all" ? others(of, own) : of.direction === "out" ? of.to : [of.from];
  return <p class="muted">To <bdi>{straight(to.join(", "))}</bdi></p>;
}

export function MailWrite({ kind, of, path, mailboxes, close }: Props) {
  const first = useRef(begin(kind, of));
  const [typed, setTyped] = useState(first.current), [files, setFiles] = useState<Brought[]>([]);
  const [box, setBox] = useState(""), [errors, setErrors] = useState<Errors>({}), [said, setSaid] = useState("");
  const root = useRef<HTMLFormElement>(null), heading = useRef<HTMLHeadingElement>(null), attempt = useRef({ body: "", key: "" });
  const differs = JSON.stringify(typed) !== JSON.stringify(first.current) || files.length > 0, loses = useRef(false);
  loses.current = differs;
  useEffect(() => {
    const guard = (to: URLSearchParams | null): string | null => (loses.current && (to === null || to.get("write") !== location.peek().query.get("write")) ? "What you typed here is not saved. Leave all the same?" : null);
    guards.add(guard);
    heading.current?.scrollIntoView({ block: "nearest" });
    root.current?.querySelector<HTMLElement>("textarea, input:not([type=file])")?.focus();
    return () => void guards.delete(guard);
  }, []);
  // What somebody else has made of a draft meanwhile is not written over.
  const tag = useRef<string | null>(null);
  useEffect(() => {
    if (kind !== "edit" || !of) return;
    tagged("GET /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}", { path: { ...path, message_id: of.id } }).then(({ data, etag }) => {
      tag.current = etag;
      if (loses.current) return;
      first.current = begin(kind, data);
      setTyped(first.current);
    }, complain);
  }, []);
  const set = (name: Name) => (value: unknown): void => {
    setErrors((all) => Object.fromEntries(Object.entries(all).filter(([at]) => at !== name)));
    setTyped((t) => ({ ...t, [name]: String(value) }));
  };
  const lists = { to: addressesOf(typed.to), cc: addressesOf(typed.cc), bcc: addressesOf(typed.bcc) };

  /** The same key for the same words: who presses twice after a failure sends once. */
  const keyOf = (body: unknown): string => {
    const text = JSON.stringify([kind, body]);
    if (attempt.current.body !== text) attempt.current = { body: text, key: randomKey() };
    return attempt.current.key;
  };
  async function written(draft: boolean): Promise<Message> {
    const attachments = files.map((f) => f.sent), at = { ...path, message_id: of?.id ?? "" };
    if (kind === "edit") {
      const kept = await tagged("PATCH /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}", { path: at, match: tag.current, body: { to: lists.to, cc: lists.cc, subject: typed.subject, text: typed.text } });
      tag.current = kept.etag;
      first.current = typed;
      return draft ? kept.data : call("POST /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}/send", { path: at });
    }
    if (kind === "forward") {
      const body = { to: lists.to, text: typed.text };
      return call("POST /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}/forward", { path: at, body, key: keyOf(body) });
    }
    if (kind !== "new") {
      const body = { text: typed.text, all: kind === "all", attachments, draft };
      return call("POST /tenant/{tenant_id}/agents/{agent_id}/mail/{message_id}/reply", { path: at, body, key: keyOf(body) });
    }
    const body = { ...lists, subject: typed.subject, text: typed.text, attachments, mailbox_id: box || null, draft };
    return call("POST /tenant/{tenant_id}/agents/{agent_id}/mail", { path, body, key: keyOf(body) });
  }
  function refuse(err: Problem): void {
    const at: Errors = {};
    for (const f of err.fields) {
      const name = f.field.split(/[.[]/)[0] ?? f.field, named = namedAt(f.field, lists);
      at[name] = [...(at[name] ? [at[name]] : []), named === name ? f.message : `${named} ${f.message}`].join("; ");
    }
    setErrors(at);
    // An answer has no field for whom it goes to.
    const shown = new Set<string>([...FIELDS[kind], ...(kind === "new" ? ["cc", "bcc"] : []), "attachments"]);
    setSaid(err.fields.length && Object.keys(at).every((name) => shown.has(name)) ? "" : err.fields.length ? Object.values(at).join("; ") : err.detail);
    requestAnimationFrame(() => {
      const bad = root.current?.querySelector<HTMLElement>("[aria-invalid]"), fold = bad?.closest("details");
      if (fold) fold.open = true;
      bad?.focus();
    });
  }
  const send = (draft: boolean) => async (): Promise<void> => {
    setSaid("");
    try {
      const made = await written(draft);
      loses.current = false;
      toast(made.state === "draft" ? "The draft is kept" : made.state === "held" ? "It is held, and goes out later" : "Sent");
      close(made);
    } catch (err) {
      if (err instanceof Problem) refuse(err);
      else complain(err);
    }
  };
  const addAgent = async (id: string): Promise<void> => {
    const { items } = await call("GET /tenant/{tenant_id}/agents/{agent_id}/mailboxes", { path: { ...path, agent_id: id } });
    const one = items.find((m) => m.kind === "internal" && m.is_active);
    if (!one) return void toast("This agent has no mailbox that takes mail at present", { bad: true });
    if (!lists.to.includes(one.address)) set("to")(linesOf([...lists.to, one.address]));
  };
  const row = (name: Name) => <FieldRow key={name} field={fieldOf(name, name === "to" || name === "subject" || (name === "text" && kind !== "forward"))} value={typed[name]} set={set(name)} error={errors[name]} plain />;
  const own = mailboxes.map((m) => m.address), keeps = kind !== "forward";
  return (
    <section class="panel narrow mail-write" aria-label={TITLES[kind]}>
      <h2 ref={heading}>{TITLES[kind]}</h2>
      {of && <Whom kind={kind} of={of} own={own} />}
      {said && <p class="notice danger" role="alert">{said}</p>}
      <form ref={root} class="form" noValidate onSubmit={(e) => e.preventDefault()} onKeyDown={(e) => {
        if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) void send(false)();
      }}>
        {kind === "new" && mailboxes.length > 1 && (
          <label class="field"><span class="label">From</span>
            <select value={box} onChange={(e) => setBox(e.currentTarget.value)}>
              {mailboxes.map((m) => <option key={m.id} value={m.kind === "internal" ? "" : m.id} disabled={!m.is_active}>{m.address}{m.is_active ? "" : " (paused)"}</option>)}
            </select>
          </label>
        )}
        {FIELDS[kind].map((name) => name === "to" ? <>{row(name)}<Pick key={typed.to} label="Add an agent of this tenant" find={finding("agent")} value={null} set={(c) => c && void addAgent(c.id).catch(complain)} /></> : row(name))}
        {kind === "new" && <details class="rest"><summary>Copies to others</summary>{row("cc")}{row("bcc")}</details>}
        {kind !== "edit" && kind !== "forward" && <MailFiles files={files} set={setFiles} error={errors["attachments"]} />}
        {(kind === "edit" || kind === "forward") && (of?.attachments.length ?? 0) > 0 && <p class="muted">Its files go with it: {of?.attachments.map((a) => straight(a.filename)).join(", ")}</p>}
        <footer>
          <Button look="primary" icon="send" act={send(false)}>{kind === "edit" ? "Save and send" : kind === "forward" ? "Forward" : "Send"}</Button>
          {keeps && <Button act={send(true)}>{kind === "edit" ? "Save draft" : "Keep as draft"}</Button>}
          <Button look="quiet" act={() => close()}>Cancel</Button>
          <span class="muted small keys-hint"><kbd>Ctrl</kbd> <kbd>Enter</kbd> sends</span>
        </footer>
      </form>
    </section>
  );
}
