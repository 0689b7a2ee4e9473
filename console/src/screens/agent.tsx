// agent.tsx - one agent: its name, its parts as tabs, each with its address; the parts are in agent/.
import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AgentRead } from "../contract/types";
import { useAgentAccess } from "../lib/access";
import { type Data, useData } from "../lib/data";
import type { Happening } from "../lib/events";
import { Link } from "../lib/router";
import { can, tenantId, tenantPath } from "../lib/session";
import type { ScreenProps } from "../routes";
import { Page, Status, Tag } from "../ui/page";
import { DataView, Empty, Failed, Skeleton } from "../ui/states";
import { Tabs } from "../ui/tabs";

/** What every part is given. */
export interface PartProps {
  agent: AgentRead;
  of: Data<AgentRead>;
  path: { tenant_id: string; agent_id: string };
  may: (permission: string) => boolean;
  /** Whether something happened to this agent. */
  concerns: (e: Happening) => boolean;
}

interface Part { at: string; label: string; load: () => Promise<{ default: FunctionComponent<PartProps> }>; shown?: (may: PartProps["may"]) => boolean }

const PARTS: Part[] = [
  { at: "", label: "Overview", load: () => import("./agent/overview") },
  { at: "prompts", label: "Prompts", load: () => import("./agent/prompts") },
  { at: "repository", label: "Repository", load: () => import("./agent/repository") },
  { at: "models", label: "Models", load: () => import("./agent/models") },
  { at: "skills", label: "Skills", load: () => import("./agent/skills") },
  { at: "tools", label: "Tools", load: () => import("./agent/tools") },
  { at: "limits", label: "Limits", load: () => import("./agent/limits") },
  { at: "access", label: "Access", load: () => import("./agent/access") },
  { at: "integrations", label: "Integrations", load: () => import("./agent/integrations") },
  { at: "mail", label: "Mail", load: () => import("./agent/mail") },
  { at: "memories", label: "Memories", load: () => import("./agent/memories") },
  { at: "settings", label: "Settings", load: () => import("./agent/settings"), shown: (may) => may("agent:write") },
  { at: "export", label: "Export", load: () => import("./agent/export"), shown: (may) => may("agent:write") },
  { at: "danger", label: "Hand over, delete", load: () => import("./agent/danger"), shown: (may) => can("agents:create") || may("agent:transfer") || may("agent:delete") || may("agent:write") },
];

export function agentState(a: Pick<AgentRead, "is_active" | "plan_read_only">) {
  if (a.plan_read_only) return <Status tone="ember" icon="warn">Plan does not cover it</Status>;
  return a.is_active ? <Status tone="pine">Active</Status> : <Status tone="plain">Takes no work</Status>;
}

function Shown({ part, ...props }: PartProps & { part: Part }) {
  const [view, setView] = useState<{ part: Part; View: FunctionComponent<PartProps> } | "failed" | null>(null);
  useEffect(() => {
    let wanted = true;
    part.load().then((m) => wanted && setView({ part, View: m.default }), () => wanted && setView("failed"));
    return () => void (wanted = false);
  }, [part]);
  if (view === "failed") return <Empty title="This part could not be loaded" text="The service was not reached, or is a newer one. Reload the page." />;
  return view?.part === part ? <view.View key={props.path.agent_id} {...props} /> : <Skeleton />;
}

export default function Agent({ params }: ScreenProps) {
  const path = { tenant_id: tenantId(), agent_id: params["agent"] ?? "" };
  const concerns = (e: Happening): boolean => e.event === "agent" && (e.data.data as { agent_id?: string }).agent_id === path.agent_id;
  const of = useData("GET /tenant/{tenant_id}/agents/{agent_id}", { path }, concerns);
  const may = useAgentAccess(path.agent_id);
  const base = tenantPath(`/agents/${path.agent_id}`);
  const shown = PARTS.filter((p) => !p.shown || p.shown(may));
  const part = PARTS.find((p) => p.at === (params["tab"] ?? ""));
  const gone = of.error && [403, 404].includes(of.error.status) ? of.error : null;
  if (gone) return <Page title="Agent"><Failed problem={gone} retry={of.reload} /></Page>;
  return (
    <Page title={of.data?.name ?? "Agent"} part={part?.at ? part.label : undefined}
      actions={of.data && may("session:write") && <Link class="button primary" to={`${base}/chat`}>New session</Link>}
      lead={of.data && <>{agentState(of.data)} {of.data.hidden && <Tag>hidden</Tag>} {of.data.is_admin_only && <Tag>administrators</Tag>}</>}>
      <Tabs label="Parts of this agent" tabs={shown.map((p) => ({ to: p.at ? `${base}/${p.at}` : base, label: p.label }))} />
      <DataView of={of}>
        {(agent) => (part && !shown.includes(part) ? (may.known ? <Empty title="This part is not for you" text={`Whoever may change this agent finds "${part.label}" here; an owner of the agent can give you a role on it.`} /> : <Skeleton />) : part ? <Shown part={part} agent={agent} of={of} path={path} may={may} concerns={concerns} /> : <Empty title="There is no such part" text="The address is wrong. The parts of an agent are above." />)}
      </DataView>
    </Page>
  );
}
