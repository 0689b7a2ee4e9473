// about.tsx - what one should know of an agent before speaking: whether it is at work, and what is left of its budget.
import { useEffect, useState } from "preact/hooks";
import { call } from "../lib/api";
import { useData } from "../lib/data";
import { money } from "../lib/format";
import { closedUntil } from "../lib/hours";
import { can, tenantId } from "../lib/session";
import { Icon } from "./icons";

const HOUR_MS = 3_600_000;

/** "$0.42 of $1.00 left this hour", for those who may see what was spent; `moment` changes when it should be read again. */
export function Budget({ agent, moment }: { agent: string; moment: unknown }) {
  const { data } = useData("GET /tenant/{tenant_id}/agents/{agent_id}/budget", { path: { tenant_id: tenantId(), agent_id: agent } }, (e) => e.event === "agent");
  const [spent, setSpent] = useState<number | null>(null);
  const limit = data?.hourly_limit_usd ?? null;
  useEffect(() => {
    if (limit === null || !can("billing:read")) return;
    const now = Date.now();
    call("GET /tenant/{tenant_id}/billing/agent-costs", { path: { tenant_id: tenantId() }, query: { from: new Date(now - HOUR_MS).toISOString(), to: new Date(now + 1000).toISOString() } })
      .then((r) => setSpent(r.agents.find((a) => a.agent_id === agent)?.cost_usd ?? 0), () => undefined);
  }, [agent, limit, moment]);
  if (limit === null) return null;
  return <span class={spent !== null && spent >= limit ? "ember" : undefined}>{spent === null ? `Budget ${money(limit)} an hour` : `${money(Math.max(0, limit - spent))} of ${money(limit)} left this hour`}</span>;
}

/** Says that an agent does not work now, and when it will. */
export function Hours({ agent }: { agent: string }) {
  const { data } = useData("GET /tenant/{tenant_id}/agents/{agent_id}/chat-config", { path: { tenant_id: tenantId(), agent_id: agent } }, (e) => e.event === "agent");
  const [, again] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => again((n) => n + 1), 30_000);
    return () => clearInterval(timer);
  }, []);
  const until = data ? closedUntil(data) : null;
  return until === null ? null : <p class="notice ember hours"><Icon name="clock" /> <span>The agent does not work at this hour. It begins again: {until}.</span></p>;
}
