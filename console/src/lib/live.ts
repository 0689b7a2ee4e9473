// live.ts - the reader's favourite agents, and which agents are at work, for the sidebar and the list of agents.
//
// Read once for a tenant, and kept true by events: that a session ended is known from its event, that one began is read.
import { computed, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { AgentEvent, AgentListRead, SessionStatus, StatusEvent } from "../contract/types";
import { Problem, call } from "./api";
import { isChange } from "./changes";
import { useEvents } from "./events";
import { forgetAgentName } from "./names";
import { can, tenant } from "./session";

const SHOWN = 12, MOST = 200, GATHER_MS = 300;
const RUNNING: SessionStatus = "running";

export const favourites = signal<AgentListRead[]>([]);
const sessions = signal<ReadonlyMap<string, string>>(new Map()); // running ones, and whose they are
/** Ids of agents with a running session that the reader sees. */
export const atWork = computed<ReadonlySet<string>>(() => new Set(sessions.value.values()));

async function quietly(read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (err) {
    if (!(err instanceof Problem)) throw err; // what was shown stays
  }
}

const readFavourites = (tenant_id: string): Promise<void> => quietly(async () => {
  const { items } = await call("GET /tenant/{tenant_id}/agents", { path: { tenant_id }, query: { favorite: true, include_hidden: true, sort: "name", per_page: SHOWN, total: false } });
  if (tenant_id === tenant.peek()?.tenant_id) favourites.value = items;
});

const readRunning = (tenant_id: string): Promise<void> => quietly(async () => {
  const query = { status: RUNNING, per_page: MOST };
  const { items } = can("audit:read") ? await call("GET /tenant/{tenant_id}/sessions", { path: { tenant_id }, query }) : await call("GET /me/sessions", { query: { ...query, tenant_id, total: false } });
  if (tenant_id === tenant.peek()?.tenant_id) sessions.value = new Map(items.map((s) => [s.id, s.agent_id]));
});

/** Keeps both true while the console is open; shows nothing. */
export function useLive(): void {
  const timers = useRef<Record<string, ReturnType<typeof setTimeout>>>({});
  const id = tenant.value?.tenant_id ?? "";
  const soon = (name: string, read: (tenant_id: string) => Promise<void>): void => {
    clearTimeout(timers.current[name]);
    timers.current[name] = setTimeout(() => void read(id), GATHER_MS);
  };
  useEffect(() => {
    favourites.value = [];
    sessions.value = new Map();
    if (id) void Promise.all([readFavourites(id), readRunning(id)]);
    return () => Object.values(timers.current).forEach(clearTimeout);
  }, [id]);
  useEvents((e) => {
    const anew = e.event === "gap" || e.event === "reset";
    if (!anew && e.data.tenant_id !== id) return;
    if (e.event === "agent") forgetAgentName((e.data.data as unknown as AgentEvent).agent_id);
    if (anew || e.event === "agent" || isChange(e, "agent")) soon("favourites", readFavourites);
    if (anew) soon("running", readRunning);
    const session = e.data.session_id;
    if (e.event !== "status" || !session) return;
    const runs = (e.data.data as unknown as StatusEvent).status === RUNNING;
    if (runs && !sessions.value.has(session)) soon("running", readRunning);
    if (!runs && sessions.value.has(session)) sessions.value = new Map([...sessions.value].filter(([one]) => one !== session));
  });
}
