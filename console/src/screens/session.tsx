// session.tsx - one session: the conversation as it comes about, and everything one can do in it.  A new one is the same screen before anything
// has been said: the box that one writes in stays where it is when the session comes about, with what is typed meanwhile.
import { useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { AgentRead, SessionUsage } from "../contract/types";
import { useAgentAccess } from "../lib/access";
import { address, call, randomKey } from "../lib/api";
import { breath } from "../lib/breath";
import { Chat, type Message } from "../lib/chat";
import { useData } from "../lib/data";
import { connection, useEvents } from "../lib/events";
import { Time, bytes, human, price, straight, tokens } from "../lib/format";
import { useKeys } from "../lib/keys";
import { Markdown } from "../lib/markdown";
import { Link, go, location } from "../lib/router";
import { me, tenantId, tenantPath } from "../lib/session";
import { begin, speak } from "../lib/speak";
import { type Unsent, moveUnsent } from "../lib/unsent";
import type { ScreenProps } from "../routes";
import { Budget, Hours } from "../ui/about";
import { Button } from "../ui/button";
import { Composer } from "../ui/composer";
import { Dialog, confirm, over } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { Page, Status } from "../ui/page";
import { Failed, Skeleton } from "../ui/states";
import { toast } from "../ui/toast";
import { type Surroundings, TONES, Transcript } from "../ui/transcript";

const NEAR_END = 120;
const atEnd = (): boolean => document.documentElement.scrollHeight - innerHeight - scrollY < NEAR_END;
let placed = -1; // where the end was when it was last gone to
const toEnd = (): void => {
  scrollTo(0, document.documentElement.scrollHeight);
  placed = scrollY;
};

async function rename(chat: Chat): Promise<void> {
  const title = await over<string>((close) => (
    <Dialog title="Rename this session" onClose={() => close(null)}>
      <form onSubmit={(e) => {
        e.preventDefault();
        close((new FormData(e.currentTarget).get("title") as string).trim());
      }}>
        <label class="field"><span class="label">Title</span><input name="title" maxLength={255} autocomplete="off" defaultValue={chat.session.value?.title ?? ""} /></label>
        <footer><Button act={() => close(null)}>Cancel</Button><Button type="submit" look="primary">Rename</Button></footer>
      </form>
    </Dialog>
  ));
  if (title === null) return;
  await chat.accept(call("PATCH /tenant/{tenant_id}/sessions/{session_id}", { path: chat.path, body: { title: title || null } }));
}

function Files({ chat }: { chat: Chat }) {
  const files = chat.files.value;
  if (!files.length) return null;
  return (
    <details class="files"><summary>{files.length === 1 ? "1 file" : `${files.length} files`}</summary>
      <ul>{files.map((f) => <li key={f.id}><Icon name="file" /><a href={address("GET /tenant/{tenant_id}/sessions/{session_id}/files/{file_id}/content", { ...chat.path, file_id: f.id })} download><bdi>{straight(f.name)}</bdi></a> <span class="muted small">{bytes(f.size_bytes)}, <Time at={f.created_at} /></span></li>)}</ul>
    </details>
  );
}

const total = (u: SessionUsage): number => u.prompt_tokens + u.completion_tokens + u.cache_read_tokens + u.cache_write_tokens;

/** What one should know at a glance, live. */
function Bar({ chat }: { chat: Chat }) {
  const s = chat.session.value, all = chat.spent.value;
  if (!s) return null;
  const of = s.metadata?.["branch_of"];
  return (
    <div class="chat-bar">
      <Status tone={TONES[s.status] ?? "plain"}>{human(s.status)}</Status>
      {all && all.calls > 0 && <span data-tokens={total(all)}>{tokens(total(all))} tokens</span>}
      {all && all.calls > 0 && <span data-cost={all.cost_usd}>{price(all.cost_usd)}</span>}
      <Budget agent={s.agent_id} moment={`${s.status} ${s.waiting_for ?? ""} ${chat.order.value.at(-1) ?? ""}`} />
      {s.parent_session_id && <Link to={tenantPath(`/sessions/${s.parent_session_id}`)}>The session that gave this away</Link>}
      {typeof of === "string" && /^c[a-z0-9]{24}$/.test(of) && <Link to={`${tenantPath(`/sessions/${of}`)}?message=${String(s.metadata["branch_message_id"])}`}>The session that this was branched from</Link>}
      <Files chat={chat} />
    </div>
  );
}

function Waiting({ chat }: { chat: Chat }) {
  const s = chat.session.value;
  if (s?.waiting_for) return <p class="notice ember"><Icon name="clock" /> <span>It waits for {s.waiting_for === "hours" ? "working hours" : s.waiting_for === "budget" ? "room in the agent's budget" : "room in the agent's rate"}{s.waiting_until ? <> and goes on by itself <Time at={s.waiting_until} /></> : "; no time will help, only other limits"}.</span></p>;
  if (s?.status === "failed") return <p class="notice danger" role="alert"><Icon name="warn" /> <span>It failed: {straight(s.error ?? "no reason is known").replace(/\.$/, "")}. Say something to have it go on.</span></p>;
  // A branch, or words that came with nobody to have them answered.
  if (s?.status === "pending" && s.metadata?.["branch_of"]) return <p class="notice"><Icon name="branch" /> <span>Nothing runs here yet. Say something, and the agent answers with all of this before it.</span></p>;
  return null;
}

/** For those who do not see it: where it stands, and each answer once. */
const Spoken = ({ chat }: { chat: Chat }) => <><p class="hidden" role="status">{chat.said.value}</p><div class="hidden" aria-live="polite">{chat.session.value?.status === "completed" ? chat.answer.value.slice(0, 1000) : ""}</div></>;

function Foot({ chat, agentId, agent, may, fresh }: { chat: Chat; agentId: string; agent: string; may: (permission: string) => boolean; fresh: boolean }) {
  const begun = useRef<ReturnType<typeof begin> | null>(null);
  const { tenant_id, session_id } = chat.path, place = session_id ? `session:${session_id}` : `new:${agentId}`;
  /** Begins the session; what is said while that is on its way belongs to the same one.  True if it took the message along: files need the session first. */
  const open = async (unsent: Unsent): Promise<boolean> => {
    const mine = !begun.current, whole = !unsent.files.length;
    begun.current ??= begin({ tenant_id, agent_id: agentId }, whole ? unsent.text : null);
    const made = await begun.current.catch((err: unknown) => {
      begun.current = null;
      throw err;
    });
    const to = (unsent.place = `session:${made.id}`);
    if (!chat.path.session_id) {
      chat.path.session_id = made.id;
      chat.session.value = made;
      if (!chat.ended) {
        moveUnsent(place, to);
        go(tenantPath(`/sessions/${made.id}`), { replace: true });
      }
    }
    if (!chat.ended) await chat.start(null);
    requestAnimationFrame(toEnd);
    return mine && whole;
  };
  const say = async (unsent: Unsent): Promise<void> => {
    const id = `~${randomKey()}`; // after every id there is
    chat.show({ id, role: "user", status: "complete", content: unsent.text, tool_calls: [], author_id: me.value?.id ?? null, sending: true, created_at: new Date().toISOString(), prompt_tokens: 0, completion_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, cost_usd: 0, session_id: chat.path.session_id, tool_call_id: null, model_id: null } as Message);
    requestAnimationFrame(toEnd);
    try {
      if (!chat.path.session_id && (await open(unsent))) return;
      chat.take((await speak(chat.path, unsent.text, unsent.files)) as Message);
    } finally {
      chat.hide(id);
    }
  };
  const running = chat.running;
  if (!may("session:write")) return <p class="muted">You may read here, and not write.</p>;
  return <Composer tenant={tenant_id} place={place} focus={fresh} running={running} send={say} placeholder={chat.session.value?.status === "waiting_approval" ? "It waits for an approval; what you say is queued" : running ? "It is at work; what you say is queued" : `Say something to ${agent}`}
    stop={() => chat.accept(call("POST /tenant/{tenant_id}/sessions/{session_id}/cancel", { path: chat.path, body: {} })).then(() => toast("Stopped"))} />;
}

const newest = (order: string[]): string => order.filter((id) => !id.startsWith("~")).at(-1) ?? "";

/** Follows the end while one is there; who reads further up is left in peace and told how much is new. */
function useFollowing(chat: Chat, begins: boolean): { news: number; jump: () => void; follows: { current: boolean } } {
  const [news, setNews] = useState(0);
  const follows = useRef(begins), seen = useRef(""); // the last one that was in view: ids ascend, and older ones that are read are no news
  useEffect(() => {
    let was = scrollY;
    // While the end is followed, the browser keeps nothing else in its place: what comes into view takes its real height, and
    // it would move up for that, as somebody does who leaves the end.
    const follow = (now: boolean): void => {
      follows.current = now;
      document.documentElement.style.overflowAnchor = now ? "none" : "";
    };
    follow(follows.current);
    const on = (): void => {
      // Only who scrolls up leaves the end.  What comes into view grows or shrinks, and by the time that this is told the end may
      // be elsewhere: where it was is not where somebody went.
      if (atEnd()) follow(true);
      else if (scrollY < was && scrollY !== placed) follow(false);
      was = scrollY;
      if (follows.current) {
        seen.current = newest(chat.order.peek());
        setNews(0);
      }
    };
    addEventListener("scroll", on, { passive: true });
    // Whatever grows (a piece, a picture of a font that came late, a window that is made small) is followed.
    const grown = new ResizeObserver(() => follows.current && toEnd());
    const log = document.querySelector(".chat");
    if (log) grown.observe(log);
    return () => {
      removeEventListener("scroll", on);
      grown.disconnect();
      document.documentElement.style.overflowAnchor = "";
    };
  }, [chat]);
  useSignalEffect(() => {
    const order = chat.order.value;
    if (follows.current || !seen.current) seen.current = newest(order);
    else setNews(order.filter((id) => id > seen.current).length);
  });
  return { news, jump: () => (follows.current = true, setNews(0), toEnd()), follows };
}

/** Older messages come when one scrolls to them; what is read stays where it is. */
function Older({ chat, follows }: { chat: Chat; follows: { current: boolean } }) {
  const mark = useRef<HTMLDivElement>(null);
  const older = chat.older.value;
  useEffect(() => {
    if (!mark.current || !older) return;
    const look = new IntersectionObserver((seen) => {
      if (!seen.some((s) => s.isIntersecting)) return;
      // Who follows the end of what is long is on the way there, and has not asked for its beginning.
      if (follows.current && document.documentElement.scrollHeight > 2 * innerHeight) return toEnd();
      const before = document.documentElement.scrollHeight - scrollY;
      void chat.more().then(() => requestAnimationFrame(() => (follows.current ? toEnd() : scrollTo(0, document.documentElement.scrollHeight - before))), () => undefined);
    }, { rootMargin: "400px 0px 0px" });
    look.observe(mark.current);
    return () => look.disconnect();
  }, [older]);
  return older ? <div ref={mark} class="older"><Button act={() => chat.more()}>Show older messages</Button></div> : null;
}

/** How many of the messages are shown: the newest at once, the others a few at a time, so that who has come may write, and be heard, in between. */
function useShown(chat: Chat, all: boolean): number {
  const [shown, setShown] = useState(all ? Infinity : 4);
  const there = chat.order.value.length;
  useEffect(() => {
    if (there && shown !== Infinity) void breath().then(() => setShown(shown < there ? shown + 4 : Infinity));
  }, [shown, there > 0]);
  return shown;
}

function Actions({ chat, agent }: { chat: Chat; agent: string }) {
  const may = useAgentAccess(agent), { path } = chat;
  const remove = async (): Promise<void> => {
    if (!(await confirm({ title: "Delete this session?", text: "Its messages, files and subtasks go with it. This cannot be undone.", action: "Delete session", danger: true, type: "delete" }))) return;
    await call("DELETE /tenant/{tenant_id}/sessions/{session_id}", { path });
    go(tenantPath("/sessions"));
  };
  return (
    <>
      {may("session:write") && <Button look="quiet" icon="edit" act={() => rename(chat)}>Rename</Button>}
      <a class="button quiet" href={address("GET /tenant/{tenant_id}/sessions/{session_id}/export", path, { format: "markdown" })} download>Export</a>
      <a class="button quiet" href={address("GET /tenant/{tenant_id}/sessions/{session_id}/export", path)} download>Export as JSON</a>
      {may("session:write") && <Link class="button plain" to={tenantPath(`/agents/${agent}/chat`)}>New session</Link>}
      {may("session:write") && <Button look="quiet" icon="trash" label="Delete this session" act={remove} />}
    </>
  );
}

/** `fresh`: it was not there when this screen was opened. */
function Body({ chat, agentId, agent, wanted, fresh }: { chat: Chat; agentId: string; agent: AgentRead | undefined; wanted: string | null; fresh: boolean }) {
  const models = useData("GET /tenant/{tenant_id}/models", { path: { tenant_id: tenantId() }, query: { per_page: 200, total: false } });
  const may = useAgentAccess(agentId);
  const follow = useFollowing(chat, !wanted);
  const names = useMemo(() => new Map((models.data?.items ?? []).map((m) => [m.id, m.name])), [models.data]);
  const name = agent?.name ?? "Agent", read = chat.older.value !== undefined, mayWrite = may("session:write"), mayApprove = may("session:approve");
  const around = useMemo<Surroundings>(() => ({ chat, agent: name, may, modelName: (id) => names.get(id) ?? id }), [chat, name, names, mayWrite, mayApprove]);
  const there = chat.order.value.length > 0, shown = useShown(chat, wanted !== null);
  useLayoutEffect(() => {
    if (!there) return;
    if (!wanted) return void requestAnimationFrame(toEnd);
    // What comes into view grows to its real height, so that it takes a few tries.
    let tries = 0;
    const find = (): void => {
      const at = document.getElementById(`m-${wanted}`);
      at?.scrollIntoView({ block: "center" });
      if (!tries) at?.focus({ preventScroll: true });
      if (at && ++tries < 4) requestAnimationFrame(find);
    };
    requestAnimationFrame(find);
  }, [there, wanted]);
  const step = (by: number): void => {
    const all = [...document.querySelectorAll<HTMLElement>(".transcript article")];
    const at = all.findIndex((a) => a.contains(document.activeElement));
    const next = all[at < 0 ? all.length - 1 : Math.min(all.length - 1, Math.max(0, at + by))];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
  };
  useKeys({ j: () => step(1), k: () => step(-1), m: () => document.querySelector<HTMLElement>(".composer textarea")?.focus() },
    [["j, k", "Next and previous message"], ["m", "Write a message"], ["Esc", "Stop, while writing"]]);
  return (
    <div class="chat">
      {shown === Infinity && <Older chat={chat} follows={follow.follows} />}
      {!read && agent?.initial_greeting && <article class="message assistant"><h2><bdi>{name}</bdi></h2><Markdown text={agent.initial_greeting} /></article>}
      {read && !there && <p class="muted">Nothing has been said yet.</p>}
      <Transcript around={around} marked={wanted} shown={shown} />
      <Spoken chat={chat} />
      <div class="chat-foot">
        {follow.news > 0 && <Button class="jump" icon="down" act={follow.jump}>Jump to latest ({follow.news} new)</Button>}
        <Waiting chat={chat} />
        <Hours agent={agentId} />
        <Foot chat={chat} agentId={agentId} agent={name} may={may} fresh={fresh} />
        {!chat.session.value && <p class="muted small"><Budget agent={agentId} moment={0} /></p>}
      </div>
    </div>
  );
}

export default function Session({ params }: ScreenProps) {
  const id = params["session"] ?? "", asked = params["agent"] ?? "", wanted = location.value.query.get("message");
  const tenant_id = tenantId();
  // A session that is begun here keeps what was made for the new one.
  const at = useRef<{ chat: Chat; asked: string } | null>(null);
  const same = at.current && at.current.chat.path.tenant_id === tenant_id && at.current.chat.path.session_id === id && (id || at.current.asked === asked);
  if (!at.current || !same) at.current = { chat: new Chat(tenant_id, id), asked };
  const { chat, asked: fresh } = at.current, s = chat.session.value, agentId = s?.agent_id ?? fresh;
  const agent = useData("GET /tenant/{tenant_id}/agents/{agent_id}", agentId ? { path: { tenant_id, agent_id: agentId } } : null);
  useEffect(() => {
    const look = (): void => chat.look(), online = (): void => chat.nudge();
    // Who had no login has one again, here or in another tab: what rests need not.
    const back = connection.subscribe((state) => state === "live" && chat.nudge());
    document.addEventListener("visibilitychange", look);
    addEventListener("online", online);
    return () => {
      back();
      document.removeEventListener("visibilitychange", look);
      removeEventListener("online", online);
      chat.end();
    };
  }, [chat]);
  useEffect(() => {
    if (id) void chat.start(wanted);
  }, [chat, id]);
  useEvents((e) => {
    if ((id && e.data.session_id === id) || e.event === "gap") chat.tick();
    if (e.event === "status" && e.data.session_id && e.data.session_id !== id) chat.takeSubtask(e.data.session_id, (e.data.data as { status: string }).status);
  });
  if (chat.problem.value && !s) return <Page title="Session"><Failed problem={chat.problem.value} retry={() => (chat.problem.value = null, void chat.start(wanted))} /></Page>;
  if (!id && agent.error && !agent.data) return <Page title="New session"><Failed problem={agent.error} retry={agent.reload} /></Page>;
  const known = fresh ? agent.data : s && chat.older.value !== undefined;
  return (
    <Page title={s ? s.title ?? "Session" : id ? "Session" : agent.data ? `New session with ${agent.data.name}` : "New session"} key={chat.key} lead={id ? undefined : agent.data?.description}
      actions={s && <Actions chat={chat} agent={s.agent_id} />}>
      <Bar chat={chat} />
      {known ? <Body chat={chat} agentId={agentId} agent={agent.data} wanted={wanted} fresh={fresh !== ""} /> : <Skeleton />}
    </Page>
  );
}
