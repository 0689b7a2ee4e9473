// integrations.tsx - what sends events to this agent.
import { useList } from "../../lib/data";
import { Time } from "../../lib/format";
import { Link } from "../../lib/router";
import { can, tenantPath } from "../../lib/session";
import { Status } from "../../ui/page";
import { DataView } from "../../ui/states";
import { Table } from "../../ui/table";
import type { PartProps } from "../agent";

const none = { title: "Nothing is connected to it", text: "An integration takes events of another service, checks them, and gives them to this agent." };
const state = (connected: boolean) => (connected ? <Status tone="pine">Connected</Status> : <Status tone="plain">Not connected</Status>);

/** For those who keep integrations: all about them. */
function Full({ path, concerns }: PartProps) {
  const list = useList("GET /tenant/{tenant_id}/integrations", { path: { tenant_id: path.tenant_id }, query: { agent_id: path.agent_id } }, concerns);
  return (
    <DataView of={list} empty={{ ...none, action: <Link to={tenantPath("/integrations")} class="button plain">To the integrations</Link> }}>
      {(rows) => (
        <Table label="Integrations of this agent" rows={rows} id={(i) => i.id} to={(i) => tenantPath(`/integrations/${i.id}`)} rail={(i) => (i.acts_as_problem ? "ember" : "ink")}
          columns={[
            { name: "Name", cell: (i) => i.label },
            { name: "Service", cell: (i) => i.provider },
            { name: "State", cell: (i) => <>{i.is_active ? state(i.connected) : <Status tone="plain">Switched off</Status>} {i.acts_as_problem && <Status tone="ember" icon="warn">{i.acts_as_problem}</Status>}</> },
            { name: "Last event", wide: true, cell: (i) => <Time at={i.last_event_at} /> },
          ]} />
      )}
    </DataView>
  );
}

function Brief({ path, concerns }: PartProps) {
  const list = useList("GET /tenant/{tenant_id}/agents/{agent_id}/integrations", { path }, concerns);
  return (
    <DataView of={list} empty={none}>
      {(rows) => <Table label="Integrations of this agent" rows={rows} id={(i) => i.provider + i.label} columns={[{ name: "Name", cell: (i) => i.label }, { name: "Service", cell: (i) => i.provider }, { name: "State", cell: (i) => state(i.connected) }]} />}
    </DataView>
  );
}

export default function Integrations(props: PartProps) {
  return can("integrations:write") ? <Full {...props} /> : <Brief {...props} />;
}
