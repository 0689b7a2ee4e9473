// overview.tsx - how an agent does: what is missing before it can run, what it costs, what it did last.
import type { ComponentChildren } from "preact";
import { useData, useList } from "../../lib/data";
import { Time, count, human, money, tokens } from "../../lib/format";
import { Link } from "../../lib/router";
import { can, tenantPath } from "../../lib/session";
import { Icon } from "../../ui/icons";
import { Facts, Status, type Tone } from "../../ui/page";
import { DataView } from "../../ui/states";
import { Table } from "../../ui/table";
import type { PartProps } from "../agent";

const TONES: Record<string, Tone> = { running: "pine", waiting_approval: "ember", failed: "danger" };

interface Lack { text: ComponentChildren; at?: string; action?: string; needs?: string }

function Missing({ agent, path, may, concerns }: PartProps) {
  const models = useList("GET /tenant/{tenant_id}/agents/{agent_id}/models/catalog", { path, query: { per_page: 200 } }, concerns);
  const budget = useData("GET /tenant/{tenant_id}/agents/{agent_id}/budget", { path }, concerns);
  const chain = models.data?.filter((m) => m.enabled);
  const lacks: Lack[] = [];
  if (agent.plan_read_only) lacks.push({ text: "The tenant's plan does not cover this agent: it can be read, not changed or run." });
  if (!agent.is_active) lacks.push({ text: "It is switched off and takes no work.", at: "settings", action: "Switch it on", needs: "agent:write" });
  if (chain && !chain.length) lacks.push({ text: "It has no model to ask.", at: "models", action: "Choose models", needs: "agent:models:write" });
  else if (chain && !chain.some((m) => m.callable)) lacks.push({ text: <>None of its models can be called: {chain[0]?.uncallable_reason}</>, at: "models", action: "Look at its models" });
  if (!agent.description_prompt?.trim()) lacks.push({ text: "It has no system prompt: its models work without instructions.", at: "prompts", action: "Write the prompt", needs: "agent:write" });
  if (budget.data?.hourly_limit_usd === 0) lacks.push({ text: "Its hourly budget is $0.00, which stops every call that costs anything.", at: "limits", action: "Change the budget", needs: "agent:budget:write" });
  if (!models.data || !budget.data) return null;
  const base = tenantPath(`/agents/${agent.id}`);
  if (!lacks.length) return <p class="notice pine"><Icon name="check" /> <span>Nothing is missing: it can run.</span></p>;
  return (
    <ul class="missing" aria-label="What is missing">
      {lacks.map((l, i) => <li key={i} class="notice ember"><Icon name="warn" /> <span>{l.text}</span>{l.at && (!l.needs || may(l.needs)) && <Link to={`${base}/${l.at}`}>{l.action}</Link>}</li>)}
    </ul>
  );
}

function Spent({ agent }: { agent: PartProps["agent"] }) {
  const costs = useData("GET /tenant/{tenant_id}/billing/agent-costs", { path: { tenant_id: agent.tenant_id }, query: { period: "30d" } });
  const own = costs.data?.agents.find((a) => a.agent_id === agent.id);
  return (
    <section class="part">
      <h2>The last 30 days</h2>
      <DataView of={costs} rows={1}>
        {() => (
          <dl class="figures">
            <div><dt>Cost</dt><dd>{money(own?.cost_usd ?? 0)}</dd></div>
            <div><dt>Requests</dt><dd>{count(own?.requests ?? 0)}</dd></div>
            <div><dt>Tokens in</dt><dd>{tokens(own?.input_tokens ?? 0)}</dd></div>
            <div><dt>Tokens out</dt><dd>{tokens(own?.output_tokens ?? 0)}</dd></div>
          </dl>
        )}
      </DataView>
    </section>
  );
}

export default function Overview(props: PartProps) {
  const { agent, path, may } = props;
  const sessions = useList("GET /tenant/{tenant_id}/agents/{agent_id}/sessions", { path, query: { per_page: 5 } }, (e) => props.concerns(e) || e.event === "status");
  return (
    <>
      <Missing {...props} />
      {agent.description && <p class="part">{agent.description}</p>}
      {can("billing:read") && <Spent agent={agent} />}
      <section class="part">
        <h2>Last sessions</h2>
        <DataView of={{ ...sessions, data: sessions.data?.slice(0, 5) }} rows={3} empty={{ title: "No sessions yet", text: may("session:write") ? "Somebody has to say something to it first." : "You see the sessions in which you take part." }}>
          {(rows) => (
            <Table label="Last sessions" rows={rows} id={(s) => s.id} to={(s) => tenantPath(`/sessions/${s.id}`)} rail={(s) => (s.status === "running" ? "pine" : s.status === "waiting_approval" ? "ember" : s.status === "failed" ? "danger" : "ink")}
              columns={[
                { name: "Session", cell: (s) => s.title || "Without a title" },
                { name: "State", cell: (s) => <Status tone={TONES[s.status] ?? "plain"}>{human(s.status)}</Status> },
                { name: "Messages", figure: true, wide: true, cell: (s) => count(s.message_count) },
                { name: "Begun", wide: true, cell: (s) => <Time at={s.created_at} /> },
              ]} />
          )}
        </DataView>
      </section>
      <Facts rows={[["Slug", <code>{agent.slug}</code>], ["Id", <code>{agent.id}</code>], ["Made", <Time at={agent.created_at} />], ["Changed", <Time at={agent.updated_at} />]]} />
    </>
  );
}
