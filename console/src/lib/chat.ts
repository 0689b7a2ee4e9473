// chat.ts - one session as it is shown: its messages, calls, approvals and state, read once and then followed by its own
// stream of events.
//
// The newest messages are read with the number of the event that they are true for; the stream goes on after it, so
// that a piece of an answer is neither missed nor told twice, whatever happens to the page, the line or the service.  Every message is
// a signal of its own: a piece makes one message anew and no other.
import { type Signal, batch, signal } from "@preact/signals";
import type { ApprovalRead, DeltaEvent, MessageEvent, NoticeEvent, SessionCallRead, SessionEvent, SessionFileRead, SessionUsage, StatusEvent, SubtaskSummary, TaskMessageRead, TaskSessionRead, ToolCallEvent } from "../contract/types";
import { Problem, address, call, send } from "./api";
import { takeLine } from "./events";
import { Feed, type FeedEvent } from "./feed";

export type Message = Omit<TaskMessageRead, "tool_calls"> & { tool_calls: { id: string; name: string; arguments: unknown }[]; sending?: boolean };
/** `at`: when it was said, which is where it stands. */
export interface Note { id: string; at: number; code: string; text: string }
export type Call = Partial<SessionCallRead> & { tool_call_id: string; name: string; state: string };

const FIRST_PAGE = 20, PAGE = 50, JUMP_PAGE = 200, NOTES_MAX = 50, TICK_MS = 250, UNTOLD_MS = 5_000, USAGE_MS = 300, ENTERED_MS = 3_000;
const LIVE = ["running", "waiting_approval"];

/** A map whose entries are signals: who reads one is told of that one alone. */
class Cells<T> {
  #cells = new Map<string, Signal<T | undefined>>();
  of(id: string): Signal<T | undefined> {
    let cell = this.#cells.get(id);
    if (!cell) this.#cells.set(id, (cell = signal<T | undefined>(undefined)));
    return cell;
  }
}

export class Chat {
  static #count = 0;
  readonly key = ++Chat.#count;
  /** Without a session's id until one is begun. */
  readonly path: { tenant_id: string; session_id: string };
  readonly session = signal<TaskSessionRead | null>(null);
  readonly problem = signal<Problem | null>(null);
  /** Of those that are shown by themselves, oldest first: not the results of tools. */
  readonly order = signal<string[]>([]);
  readonly messages = new Cells<Message>();
  readonly results = new Cells<Message>();
  readonly calls = new Cells<Call>();
  readonly approvals = new Cells<ApprovalRead>();
  readonly pending = signal<ApprovalRead[]>([]);
  readonly subtasks = signal<SubtaskSummary[]>([]);
  readonly files = signal<SessionFileRead[]>([]);
  readonly notes = signal<Note[]>([]);
  /** What all of it came to, as the ledger has it; null: not known yet. */
  readonly spent = signal<SessionUsage | null>(null);
  /** The id to go on from towards the beginning; null: there is no more; undefined: not known yet. */
  readonly older = signal<string | null | undefined>(undefined);
  /** What is said to those who do not see it. */
  readonly said = signal("");
  readonly answer = signal("");
  #feed: Feed | null = null;
  #release: (() => void) | null = null;
  #asking: ReturnType<typeof setInterval> | undefined;
  #ended = false;
  #started: Promise<void> | null = null;
  #seen = 0;
  #loading = false;
  #pieces = new Map<string, string>();
  #frame = 0;

  constructor(tenant_id: string, session_id: string) {
    this.path = { tenant_id, session_id };
  }

  get running(): boolean {
    return LIVE.includes(this.session.value?.status ?? "") || (this.session.value?.status === "pending" && this.session.value.waiting_for != null);
  }

  /** Nobody looks any more. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Reads and follows it; once, unless that failed. */
  start(upTo: string | null): Promise<void> {
    return (this.#started ??= this.#start(upTo));
  }

  async #start(upTo: string | null): Promise<void> {
    try {
      // Whose it is shows at once; where it stands is read again once the messages say what they are true for.
      void call("GET /tenant/{tenant_id}/sessions/{session_id}", { path: this.path }).then((s) => (this.session.value ??= s), () => undefined);
      const reply = await send("GET", address("GET /tenant/{tenant_id}/sessions/{session_id}/messages", this.path, { per_page: upTo ? JUMP_PAGE : FIRST_PAGE, total: false }), { headers: { Accept: "application/json" } });
      const last = reply.headers.get("x-last-event-id") ?? "";
      this.#seen = Number(last);
      const page = (await reply.json()) as { items: TaskMessageRead[]; next_after: string | null };
      if (this.#ended) return;
      // Down to the message that is wanted, and shown at once.
      while (upTo && page.next_after && (page.items[page.items.length - 1]?.id ?? "") > upTo && !this.#ended) {
        const next = await call("GET /tenant/{tenant_id}/sessions/{session_id}/messages", { path: this.path, query: { per_page: JUMP_PAGE, after: page.next_after, total: false } });
        page.items.push(...next.items);
        page.next_after = next.next_after;
      }
      if (this.#ended) return;
      this.#takeOlder(page);
      const { path } = this;
      const [session, approvals, calls, subtasks, files] = await Promise.all([
        call("GET /tenant/{tenant_id}/sessions/{session_id}", { path }),
        call("GET /tenant/{tenant_id}/sessions/{session_id}/approvals", { path, query: { per_page: 200, total: false } }),
        call("GET /tenant/{tenant_id}/sessions/{session_id}/calls", { path, query: { per_page: 200, total: false } }),
        call("GET /tenant/{tenant_id}/sessions/{session_id}/subtasks", { path, query: { per_page: 100, total: false } }),
        call("GET /tenant/{tenant_id}/sessions/{session_id}/files", { path, query: { per_page: 100, total: false } }),
      ]);
      if (this.#ended) return;
      batch(() => {
        this.session.value = session;
        for (const c of calls.items) this.calls.of(c.tool_call_id).value = c;
        for (const a of [...approvals.items].reverse()) this.#approval(a);
        this.subtasks.value = subtasks.items;
        this.files.value = files.items;
      });
      void this.#readSpent();
      // What was noted before, as it stands in the log; a note that the stream tells again is the same one.
      void new Feed(({ id, data }) => !this.#ended && this.#note(id, data as NoticeEvent), () => undefined, address("GET /tenant/{tenant_id}/sessions/{session_id}/events", this.path, { kind: "notice" }), "0").catchUp();
      this.#feed = new Feed((e) => this.#happened(e), (state) => state === "gone" && this.#gone(), address("GET /tenant/{tenant_id}/sessions/{session_id}/events", this.path), last);
      this.look();
    } catch (err) {
      this.#started = null;
      if (err instanceof Problem) this.problem.value = err;
      else throw err;
    }
  }

  /** Takes what an answer says of it, unless something was told while it was on its way: that is newer, or what is newer follows it. */
  async accept(answer: Promise<TaskSessionRead>): Promise<void> {
    const seen = this.#seen, session = await answer;
    if (seen === this.#seen) this.session.value = session;
  }

  /** A browser keeps six lines to a place: who is not looked at lets its own go, and who gets none asks what there is when something has happened. */
  look(): void {
    const feed = this.#feed;
    if (!feed) return;
    if (document.visibilityState !== "visible") {
      this.#letGo();
      feed.pause();
    } else if (!this.#release) {
      // Of a session that one only audits the stream of everything does not tell.
      this.#asking = setInterval(() => void feed.catchUp(), UNTOLD_MS);
      this.#release = takeLine(() => {
        clearInterval(this.#asking);
        feed.start();
      });
      this.tick();
    }
  }

  /** It was deleted, or is no longer the reader's to see. */
  #gone(): void {
    this.#letGo();
    this.#feed = this.#started = null;
    this.session.value = null;
    this.problem.value = new Problem(404, { title: "Session not found", detail: "This session cannot be read any more." });
  }

  #letGo(): void {
    clearInterval(this.#asking);
    this.#release?.();
    this.#release = null;
  }

  #ticked = false;
  /** Something happened here, says the stream of everything. */
  tick(): void {
    if (this.#ticked || !this.#feed || document.visibilityState !== "visible") return;
    this.#ticked = true;
    setTimeout(() => {
      this.#ticked = false;
      void this.#feed?.catchUp();
    }, TICK_MS);
  }

  nudge(): void {
    this.#feed?.nudge();
  }

  end(): void {
    this.#ended = true;
    this.#letGo();
    this.#feed?.stop();
    cancelAnimationFrame(this.#frame);
  }

  async more(): Promise<void> {
    const after = this.older.value;
    if (!after || this.#loading) return;
    this.#loading = true;
    try {
      const page = await call("GET /tenant/{tenant_id}/sessions/{session_id}/messages", { path: this.path, query: { per_page: PAGE, after, total: false } });
      if (!this.#ended) this.#takeOlder(page);
    } finally {
      this.#loading = false;
    }
  }

  #takeOlder(page: { items: TaskMessageRead[]; next_after: string | null }): void {
    batch(() => {
      const ids: string[] = [];
      for (const m of [...page.items].reverse()) if (this.#put(m as Message)) ids.push(m.id);
      const known = new Set(ids);
      this.order.value = [...ids, ...this.order.value.filter((id) => !known.has(id))];
      this.older.value = page.next_after;
    });
  }

  /** True if it is shown by itself. */
  #put(m: Message): boolean {
    if (m.role === "tool" && m.tool_call_id) {
      this.results.of(m.tool_call_id).value = m;
      return false;
    }
    this.messages.of(m.id).value = m;
    return true;
  }

  #drop(id: string): void {
    this.order.value = this.order.value.filter((one) => one !== id);
  }

  /** One that was said, or has changed; in its place by its id. */
  take(m: Message): void {
    this.#pieces.delete(m.id);
    if (m.role === "assistant" && m.status === "failed" && !m.content && !m.tool_calls.length) {
      this.#drop(m.id); // its text was given up; another comes
      return;
    }
    const before = this.messages.of(m.id).peek();
    batch(() => {
      if (!this.#put({ ...m, author_name: m.author_name ?? before?.author_name ?? null }) || this.order.value.includes(m.id)) return;
      // What is shown as being sent has arrived, though the service's own answer is still to come.
      const sent = m.role === "user" && this.order.value.find((id) => id.startsWith("~") && this.#isSent(id, m));
      if (sent) this.#drop(sent);
      const order = this.order.value;
      let at = order.length;
      while (at > 0 && (order[at - 1] ?? "") > m.id) at--;
      this.order.value = [...order.slice(0, at), m.id, ...order.slice(at)];
    });
  }

  /** With files, their texts follow what was typed. */
  #isSent(id: string, m: Message): boolean {
    const shown = this.messages.of(id).peek();
    return shown?.author_id === m.author_id && m.content.startsWith(shown?.content.trim() ?? "");
  }

  hide(id: string): void {
    this.#drop(id);
  }

  /** Shows what is being sent until the service has it. */
  show(m: Message): void {
    this.messages.of(m.id).value = m;
    this.order.value = [...this.order.value, m.id];
  }

  #approval(a: ApprovalRead): void {
    this.approvals.of(a.tool_call_id).value = a;
    const rest = this.pending.value.filter((p) => p.id !== a.id);
    this.pending.value = a.status === "pending" ? [...rest, a] : rest;
  }

  takeApproval(a: ApprovalRead): void {
    this.#approval(a);
  }

  #piece(d: DeltaEvent): void {
    this.#pieces.set(d.message_id, (this.#pieces.get(d.message_id) ?? "") + d.text);
    // Once a frame, and where no frames come, soon.
    if (!this.#frame) this.#frame = document.visibilityState === "visible" ? requestAnimationFrame(() => this.#flush()) : (setTimeout(() => this.#flush(), 100) as unknown as number);
  }

  #flush(): void {
    this.#frame = 0;
    batch(() => {
      for (const [id, text] of this.#pieces) {
        const cell = this.messages.of(id), m = cell.peek();
        if (m) cell.value = { ...m, content: m.content + text };
      }
      this.#pieces.clear();
    });
  }

  #happened({ event, id, data }: FeedEvent): void {
    if (Number(id) <= this.#seen) return;
    this.#seen = Number(id) || this.#seen;
    if (event === "delta") return this.#piece(data as DeltaEvent);
    if (this.#pieces.size) this.#flush();
    batch(() => {
      switch (event) {
        case "message": {
          const m = data as MessageEvent;
          this.take(m as Message);
          if (m.role === "assistant" && m.status === "complete" && m.content) this.answer.value = m.content;
          if (m.role === "user" && this.session.peek()?.title === null) this.#readTitle();
          break;
        }
        case "tool_call": {
          const c = data as ToolCallEvent, cell = this.calls.of(c.call_id), before = cell.peek();
          const now = new Date().toISOString(), over = !["new", "approved", "running"].includes(c.state) && !c.state.startsWith("waiting");
          cell.value = { ...before, tool_call_id: c.call_id, name: c.name, state: c.state, message_id: c.message_id,
            started_at: before?.started_at ?? (c.state === "running" ? now : null), ended_at: before?.ended_at ?? (over ? now : null) };
          if (over || c.state === "waiting_subtask") this.#readCalls();
          break;
        }
        case "approval": {
          const a = data as ApprovalRead;
          this.#approval(a);
          if (a.status === "pending") this.said.value = `Approval needed: ${a.tool_name}`;
          else if (a.decided_by_id) this.#readApprovals();
          break;
        }
        case "status": {
          const s = data as StatusEvent, was = this.session.peek();
          if (was) this.session.value = { ...was, status: s.status, error: s.error, waiting_for: s.waiting_for, waiting_until: s.waiting_until };
          this.#spending();
          this.said.value = s.status === "running" ? "The agent is answering" : s.status === "completed" ? `Answer ready, ${this.answer.peek().split(/\s+/).filter(Boolean).length} words` : s.status === "failed" ? `Failed: ${s.error ?? ""}` : s.status === "cancelled" ? "Stopped" : this.said.peek();
          break;
        }
        case "session": {
          const s = data as SessionEvent, was = this.session.peek();
          if (was) this.session.value = { ...was, title: s.title, updated_at: s.updated_at };
          break;
        }
        case "usage": {
          this.#spending();
          break;
        }
        case "notice": {
          this.#note(id, data as NoticeEvent);
          break;
        }
      }
    });
  }

  #note(id: string, n: NoticeEvent): void {
    const rest = this.notes.value.filter((one) => one.id !== id);
    this.notes.value = [...rest, { id, at: n.at ? Date.parse(n.at) : Date.now(), code: n.code, text: n.text }].sort((a, b) => a.at - b.at).slice(-NOTES_MAX);
  }

  /** The message after which a note stands: what was said before it.  That a model failed stands before the answer of the next.  null: it is older than what is shown. */
  before(note: Note): string | null {
    const order = this.order.value.filter((id) => !id.startsWith("~")), of = (i: number): Message | undefined => this.messages.of(order[i] ?? "").peek();
    let i = order.length - 1;
    while (i >= 0 && Date.parse(of(i)?.created_at ?? "") > note.at) i--;
    if (note.code === "failover" && of(i)?.role === "assistant") i--;
    return i >= 0 ? order[i] ?? null : this.older.value ? null : "";
  }

  #soon: ReturnType<typeof setTimeout> | undefined;
  #later: ReturnType<typeof setTimeout> | undefined;
  /** Something was spent.  A call is entered a moment after it is told of: it is read soon, and once more. */
  #spending(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.#readSpent();
    }, USAGE_MS);
    clearTimeout(this.#later);
    this.#later = setTimeout(() => void this.#readSpent(), ENTERED_MS);
  }

  async #readSpent(): Promise<void> {
    if (this.#ended) return;
    await call("GET /tenant/{tenant_id}/sessions/{session_id}/usage", { path: this.path }).then((u) => (this.spent.value = u), () => undefined);
  }

  /** What was said first is what it is called. */
  #readTitle(): void {
    call("GET /tenant/{tenant_id}/sessions/{session_id}", { path: this.path }).then(({ title }) => {
      if (this.session.value?.title === null) this.session.value = { ...this.session.value, title };
    }, () => undefined);
  }

  /** Who decided, by name, is in no event. */
  #readApprovals(): void {
    call("GET /tenant/{tenant_id}/sessions/{session_id}/approvals", { path: this.path, query: { per_page: 200, total: false } }).then(({ items }) => batch(() => {
      for (const a of [...items].reverse()) this.#approval(a);
    }), () => undefined);
  }

  #reading: ReturnType<typeof setTimeout> | undefined;
  /** What a call took, and the subtask that it began, is in no event. */
  #readCalls(): void {
    clearTimeout(this.#reading);
    this.#reading = setTimeout(() => {
      const { path } = this;
      Promise.all([call("GET /tenant/{tenant_id}/sessions/{session_id}/calls", { path, query: { per_page: 50, total: false } }),
        call("GET /tenant/{tenant_id}/sessions/{session_id}/subtasks", { path, query: { per_page: 100, total: false } }),
        call("GET /tenant/{tenant_id}/sessions/{session_id}/files", { path, query: { per_page: 100, total: false } })]).then(([calls, subtasks, files]) => batch(() => {
        for (const c of calls.items) this.calls.of(c.tool_call_id).value = c;
        this.subtasks.value = subtasks.items;
        this.files.value = files.items;
      }), () => undefined);
    }, 150);
  }

  /** A subtask stands somewhere else, as the stream of everything says. */
  takeSubtask(id: string, status: string): void {
    if (this.subtasks.peek().some((s) => s.id === id)) this.subtasks.value = this.subtasks.value.map((s) => (s.id === id ? { ...s, status: status as SubtaskSummary["status"] } : s));
    else if (this.running) this.#readCalls();
  }
}
