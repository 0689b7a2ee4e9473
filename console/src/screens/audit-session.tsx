// audit-session.tsx - one session as auditors see it: every message, what was deleted too, tokens and cost.
import type { SessionUsage } from "../contract/types";
import { useData } from "../lib/data";
import { Time, count, exact, human, money, price, span, straight, tokens } from "../lib/format";
import { agentName } from "../lib/names";
import { Link } from "../lib/router";
import { tenantId, tenantPath } from "../lib/session";
import type { ScreenProps } from "../routes";
import { Boxed, pretty } from "../ui/boxed";
import { Facts, Page, Tag } from "../ui/page";
import { DataView } from "../ui/states";

/** As the ledger has it: also what no message shows, such as a call whose process died. */
function spentOf(u: SessionUsage): [string, preact.ComponentChildren][] {
  const cached = u.cache_read_tokens + u.cache_write_tokens;
  return [["Cost", <span data-cost={u.cost_usd}>{price(u.cost_usd)}</span>],
    ["Tokens", `${tokens(u.prompt_tokens + u.completion_tokens + cached)}: ${tokens(u.prompt_tokens)} read, ${tokens(u.completion_tokens)} written${cached ? `, ${tokens(cached)} through caches` : ""}`],
    ["Calls to models", count(u.calls)]];
}

export default function AuditSession({ params }: ScreenProps) {
  const path = { tenant_id: tenantId(), session_id: params["session"] ?? "" };
  const one = useData("GET /tenant/{tenant_id}/sessions/{session_id}/audit", { path }, (e) => e.data.session_id === path.session_id && (e.event === "status" || e.event === "message"));
  const spent = useData("GET /tenant/{tenant_id}/sessions/{session_id}/usage", { path }, (e) => e.data.session_id === path.session_id && e.event === "status");
  return (
    <Page title={one.data?.session.title ?? "Session"} lead={one.data && <>{human(one.data.session.status)}, begun <Time at={one.data.session.created_at} /></>} above={<p class="small"><Link to={tenantPath("/audit/sessions")}>All sessions</Link></p>}
      actions={<Link class="button plain" to={tenantPath(`/sessions/${path.session_id}`)}>Open the session</Link>}>
      <DataView of={one}>{(d) => (
        <>
          <Facts rows={[
            ...(spent.data ? spentOf(spent.data) : []),
            ["Begun by", d.user_name ?? d.user_email ?? d.session.origin], ["Agent", <Link to={tenantPath(`/agents/${d.session.agent_id}`)}>{straight(agentName(d.session.agent_id) ?? d.session.agent_id)}</Link>],
            ["Took", d.session.started_at && d.session.completed_at ? span(Date.parse(d.session.completed_at) - Date.parse(d.session.started_at)) : "–"], ["Messages", count(d.messages.length)], ["Session", <code>{d.session.id}</code>],
          ]} />
          <section aria-labelledby="messages"><h2 id="messages">Messages</h2>
            <ol class="rows">{d.messages.map((m) => (
              <li key={m.id} class="said">
                <header><strong>{m.author_name ?? m.role}</strong><span title={exact(m.created_at)}><Time at={m.created_at} /></span>{m.prompt_tokens + m.completion_tokens > 0 && <span>{tokens(m.prompt_tokens + m.cache_read_tokens + m.cache_write_tokens)} in, {tokens(m.completion_tokens)} out</span>}{m.cost_usd > 0 && <span>{money(m.cost_usd, 4)}</span>}{m.status !== "complete" && <Tag>{m.status}</Tag>}{m.deleted_at && <Tag>deleted <Time at={m.deleted_at} /></Tag>}</header>
                {m.content && <Boxed label={`What ${m.role} said`} text={m.content} name={`${m.id}.txt`} />}
                {m.tool_calls.map((t, i) => <details key={i}><summary>{(t as { name?: string }).name ?? "Tool call"}</summary><Boxed label="The tool call" text={pretty(JSON.stringify(t))} name={`${m.id}.json`} /></details>)}
              </li>
            ))}</ol>
          </section>
        </>
      )}</DataView>
    </Page>
  );
}
