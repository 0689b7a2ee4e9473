// integrations.tsx - addresses to which other services send signed events for agents.
import { useList } from "../lib/data";
import { Time } from "../lib/format";
import { Link, location, setQuery } from "../lib/router";
import { can, tenantId, tenantPath } from "../lib/session";
import type { IntegrationRead } from "../contract/types";
import { IntegrationTabs } from "../ui/integration-tabs";
import { Page, Status } from "../ui/page";
import { AgentPick } from "../ui/pick-one";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";

export function State({ of: i }: { of: IntegrationRead }) {
  if (!i.is_active) return <Status tone="plain">Switched off</Status>;
  if (i.acts_as_problem) return <Status tone="ember" icon="warn">May not run</Status>;
  return i.connected ? <Status tone="pine">Connected</Status> : <Status tone="lake" icon="clock">Nothing came yet</Status>;
}

export default function Integrations() {
  const agent = location.value.query.get("agent") ?? "";
  const list = useList("GET /tenant/{tenant_id}/integrations", { path: { tenant_id: tenantId() }, query: { agent_id: agent || undefined } });
  const make = can("integrations:write") ? <Link to={tenantPath("/integrations/new")} class="button primary">New integration</Link> : undefined;
  return (
    <Page title="Integrations" lead="Events of other services become sessions of an agent." actions={make}>
      <IntegrationTabs />
      <div class="filters" role="search"><AgentPick label="Agent" named none="All" value={agent} set={(id) => setQuery({ agent: id })} /></div>
      <DataView of={list} filtered={agent !== ""} filters={["agent"]} empty={{ title: "No integrations yet", text: "An integration gives a service such as GitHub, Slack or Stripe an address for its events, and an agent that works on them.", action: make }}>
        {(rows) => <Table label="Integrations" rows={rows} id={(i) => i.id} to={(i) => tenantPath(`/integrations/${i.id}`)} rail={(i) => (i.acts_as_problem ? "ember" : "ink")} columns={[
          { name: "Label", cell: (i) => i.label },
          { name: "Service", cell: (i) => i.provider },
          { name: "State", cell: (i) => <State of={i} /> },
          { name: "Last event", wide: true, cell: (i) => <Time at={i.last_event_at} /> },
          { name: "Made", wide: true, cell: (i) => <Time at={i.created_at} /> },
        ]} />}
      </DataView>
    </Page>
  );
}
