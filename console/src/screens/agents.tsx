// agents.tsx - the agents of a tenant: found by name, kept as favourites, made.
import type { AgentListRead } from "../contract/types";
import { call } from "../lib/api";
import { isChange } from "../lib/changes";
import { useList } from "../lib/data";
import { Time, plural } from "../lib/format";
import { atWork } from "../lib/live";
import { Link, location, setQuery } from "../lib/router";
import { can, tenantId, tenantPath } from "../lib/session";
import { Button } from "../ui/button";
import { Page, Status, Tag } from "../ui/page";
import { Search, Toggle } from "../ui/filters";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { complain } from "../ui/toast";

const FILTERS = ["q", "favorite", "hidden"];

function Favourite({ agent, changed }: { agent: AgentListRead; changed: (on: boolean) => void }) {
  const on = agent.is_favorite ?? false;
  const path = { tenant_id: agent.tenant_id, agent_id: agent.id };
  const flip = async (): Promise<void> => {
    changed(!on); // at once; taken back if it fails
    try {
      if (on) await call("DELETE /tenant/{tenant_id}/agents/{agent_id}/favorite", { path });
      else await call("PUT /tenant/{tenant_id}/agents/{agent_id}/favorite", { path });
    } catch (err) {
      changed(on);
      complain(err);
    }
  };
  return <Button look="quiet" icon="star" class={on ? "on" : ""} aria-pressed={on} label={`Favourite: ${agent.name}`} act={flip} />;
}

function state(a: AgentListRead) {
  if (a.plan_read_only) return <Status tone="ember" icon="warn">Plan does not cover it</Status>;
  if (!a.is_active) return <Status tone="plain">Takes no work</Status>;
  return <Status tone="pine">Active</Status>;
}

export default function Agents() {
  const { query } = location.value;
  const agents = useList("GET /tenant/{tenant_id}/agents", {
    path: { tenant_id: tenantId() },
    query: { q: query.get("q") || undefined, favorite: query.has("favorite") || undefined, include_hidden: query.has("hidden") || undefined, sort: (query.get("sort") as "name" | null) ?? "name" },
  }, (e) => (e.event === "agent" || isChange(e, "agent")) && e.data.tenant_id === tenantId());
  const create = can("agents:create") ? <Link to={tenantPath("/agents/new")} class="button primary">New agent</Link> : undefined;
  return (
    <Page title="Agents" lead={agents.total === undefined ? undefined : plural(agents.total, "agent")} actions={create && <><Link to={tenantPath("/agents/import")} class="button plain">Import</Link>{create}</>}>
      <div class="filters" role="search">
        <Search label="Search agents" value={query.get("q") ?? ""} set={(q) => setQuery({ q })} />
        <Toggle label="Favourites" on={query.has("favorite")} set={(on) => setQuery({ favorite: on ? "1" : null })} />
        <Toggle label="Hidden too" on={query.has("hidden")} set={(on) => setQuery({ hidden: on ? "1" : null })} />
      </div>
      <DataView of={agents} filtered={FILTERS.some((f) => query.has(f))} filters={FILTERS}
        empty={{ title: "No agents yet", text: "An agent is a prompt, the models it may use, and the tools and skills it is given.", action: create }}>
        {(rows) => (
          <Table label="Agents" rows={rows} id={(a) => a.id} to={(a) => tenantPath(`/agents/${a.id}`)} rail={(a) => (a.plan_read_only ? "ember" : "ink")}
            columns={[
              { name: "Name", sort: "name", cell: (a) => a.name },
              { name: "What it is for", wide: true, cell: (a) => <span class="cut">{a.description ?? ""}</span> },
              { name: "State", cell: (a) => <>{state(a)} {atWork.value.has(a.id) && <Status tone="pine">At work</Status>} {a.hidden && <Tag>hidden</Tag>} {a.is_admin_only && <Tag>administrators</Tag>}</> },
              { name: "Changed", sort: "updated_at", wide: true, cell: (a) => <Time at={a.updated_at} /> },
            ]}
            actions={(a) => <Favourite agent={a} changed={(on) => agents.set(rows.map((r) => (r.id === a.id ? { ...r, is_favorite: on } : r)))} />} />
        )}
      </DataView>
    </Page>
  );
}
