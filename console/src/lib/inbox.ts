// inbox.ts - everything that waits for a person: calls to approve, prompts that a push would change, mail to send, runs that failed, runs without room, events of webhooks
// that could not be delivered.
//
// Read once, and again when an event concerns it; the sidebar's number and the screen show the same.  What somebody has dealt
// with or put away is remembered by this browser.
import { computed, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ApprovalRead, DeliveryRead, MailWaiting, PromptProposalRow, SessionStatus, WaitingFor } from "../contract/types";
import { Problem, call } from "./api";
import { isChange } from "./changes";
import { useEvents } from "./events";
import { can, tenant } from "./session";
import { kept } from "./store";

export type Waiting =
  | { kind: "approval"; key: string; at: string; title: string; session: string; agent: string; approval: ApprovalRead }
  | { kind: "proposal"; key: string; at: string; title: string; agent: string; proposal: PromptProposalRow }
  | { kind: "mail"; key: string; at: string; title: string; agent: string; mail: MailWaiting }
  | { kind: "failed"; key: string; at: string; title: string; session: string; agent: string; error: string }
  | { kind: "room"; key: string; at: string; title: string; session: string; agent: string; room: WaitingFor; until: string | null }
  | { kind: "delivery"; key: string; at: string; title: string; delivery: DeliveryRead };
type Kind = Waiting["kind"];

const DAYS_MS = 7 * 86_400_000, GATHER_MS = 300, AWAY_MAX = 200, SHOWN = 100;
const parts = signal<{ tenant: string; of: Partial<Record<Kind, Waiting[]>> }>({ tenant: "", of: {} });
export const problem = signal<Problem | null>(null);
const away = kept("away", "", true);

/** Null until it was read. */
export const inbox = computed<Waiting[] | null>(() => {
  const { tenant: of, of: read } = parts.value;
  if (!of || of !== tenant.value?.tenant_id || !read.approval) return null;
  const gone = new Set(away.value.split(" "));
  return (["approval", "proposal", "mail", "delivery", "failed", "room"] as const).flatMap((kind) => read[kind] ?? []).filter((w) => !gone.has(w.key));
});

/** Not shown again in this browser. */
export function putAway(w: Waiting): () => void {
  const before = away.value;
  away.value = [...before.split(" ").filter(Boolean), w.key].slice(-AWAY_MAX).join(" ");
  return () => (away.value = before);
}

/** Shown no longer, because it was dealt with. */
export function dealtWith(w: Waiting): void {
  parts.value = { ...parts.value, of: { ...parts.value.of, [w.kind]: (parts.value.of[w.kind] ?? []).filter((one) => one.key !== w.key) } };
}

const since = (): string => new Date(Date.now() - DAYS_MS).toISOString();

async function approvals(tenant_id: string): Promise<Waiting[]> {
  const { items } = await call("GET /tenant/{tenant_id}/approvals", { path: { tenant_id }, query: { per_page: SHOWN, total: false } });
  return items.map((a) => ({ kind: "approval", key: a.id, at: a.created_at, title: a.session_title ?? "", session: a.session_id, agent: a.agent_id, approval: a }));
}

async function proposals(tenant_id: string): Promise<Waiting[]> {
  const { items } = await call("GET /tenant/{tenant_id}/prompt-proposals", { path: { tenant_id }, query: { per_page: SHOWN, total: false } });
  return items.map((p) => ({ kind: "proposal", key: p.id, at: p.created_at, title: p.title || "Without a title", agent: p.agent_id, proposal: p }));
}

async function mails(tenant_id: string): Promise<Waiting[]> {
  const { items } = await call("GET /tenant/{tenant_id}/mail/waiting", { path: { tenant_id }, query: { per_page: SHOWN, total: false } });
  return items.map((m) => ({ kind: "mail", key: `${m.id}.${m.state}`, at: m.created_at, title: m.subject || "Without a subject", agent: m.agent_id, mail: m }));
}

async function failed(tenant_id: string): Promise<Waiting[]> {
  const status: SessionStatus = "failed", from = since();
  const mine = await call("GET /me/sessions", { query: { tenant_id, status, per_page: SHOWN, total: false } });
  const out = new Map<string, Waiting>();
  for (const s of mine.items) if (s.updated_at >= from) out.set(s.id, { kind: "failed", key: `${s.id}.${s.completed_at ?? ""}`, at: s.completed_at ?? s.updated_at, title: s.title ?? "", session: s.id, agent: s.agent_id, error: s.error ?? "" });
  if (can("audit:read")) {
    const all = await call("GET /tenant/{tenant_id}/sessions", { path: { tenant_id }, query: { status, from, per_page: SHOWN } });
    for (const s of all.items) if (!out.has(s.id)) out.set(s.id, { kind: "failed", key: `${s.id}.${s.completed_at ?? ""}`, at: s.completed_at ?? s.created_at, title: s.title ?? "", session: s.id, agent: s.agent_id, error: "" });
  }
  return [...out.values()];
}

async function room(tenant_id: string): Promise<Waiting[]> {
  const { items } = await call("GET /me/sessions", { query: { tenant_id, waiting: true, per_page: SHOWN, total: false } });
  return items.flatMap((s): Waiting[] => (s.waiting_for ? [{ kind: "room", key: `${s.id}.${s.waiting_for}`, at: s.updated_at, title: s.title ?? "", session: s.id, agent: s.agent_id, room: s.waiting_for, until: s.waiting_until ?? null }] : []));
}

async function deliveries(tenant_id: string): Promise<Waiting[]> {
  if (!can("integrations:write")) return [];
  const { items } = await call("GET /tenant/{tenant_id}/deliveries/failed", { path: { tenant_id }, query: { per_page: SHOWN, total: false } });
  const from = since();
  return items.filter((d) => d.created_at >= from).map((d) => ({ kind: "delivery", key: `${d.id}.${d.attempts}`, at: d.created_at, title: d.label, delivery: d }));
}

const READ: Record<Kind, (tenant_id: string) => Promise<Waiting[]>> = { approval: approvals, proposal: proposals, mail: mails, failed, room, delivery: deliveries };

const ALL = Object.keys(READ) as Kind[];

export async function readInbox(kinds: Kind[] = ALL): Promise<void> {
  const id = tenant.value?.tenant_id;
  if (!id) return;
  try {
    const read = await Promise.all(kinds.map(async (kind) => [kind, await READ[kind](id)] as const));
    if (id !== tenant.value?.tenant_id) return;
    parts.value = { tenant: id, of: { ...(parts.value.tenant === id ? parts.value.of : {}), ...Object.fromEntries(read) } };
    problem.value = null;
  } catch (err) {
    if (err instanceof Problem) problem.value = err;
    else if ((err as Error).name !== "AbortError") throw err;
  }
}

/** Keeps it true while the console is open; shows nothing. */
export function useInbox(): void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const wanted = useRef(new Set<Kind>());
  const soon = (...kinds: Kind[]): void => {
    for (const kind of kinds) wanted.current.add(kind);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const now = [...wanted.current];
      wanted.current.clear();
      void readInbox(now);
    }, GATHER_MS);
  };
  const id = tenant.value?.tenant_id;
  useEffect(() => {
    if (id) void readInbox();
    return () => clearTimeout(timer.current);
  }, [id]);
  useEvents((e) => {
    if (e.event === "gap" || e.event === "reset") soon(...ALL);
    else if (e.data.tenant_id !== id) return;
    else if (isChange(e, "delivery")) soon("delivery");
    else if (isChange(e, "mail")) soon("mail");
    else if (e.event === "agent" && /^agent\.(prompt|repo|delete)/.test((e.data.data as { action?: string }).action ?? "")) soon("proposal");
    else if (e.event === "approval") soon("approval");
    else if (e.event === "status") soon("failed", "room", ...((e.data.data as { status?: string }).status === "waiting_approval" ? ["approval" as const] : []));
  });
}
