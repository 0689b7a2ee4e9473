// tools.tsx - the tools and bundles that an agent has: given, switched, configured; which of them ask a person first.
import { useMemo, useState } from "preact/hooks";
import { AgentToolUpdate } from "../../contract/forms";
import type { AgentToolRead, ToolBundleRead, ToolRead } from "../../contract/types";
import { call } from "../../lib/api";
import { useList } from "../../lib/data";
import { Time, straight } from "../../lib/format";
import { Link, go, location, withQuery } from "../../lib/router";
import { can, tenantPath } from "../../lib/session";
import { Button } from "../../ui/button";
import { ContractForm } from "../../ui/form";
import { Status, Tag } from "../../ui/page";
import { Pairs } from "../../ui/pairs";
import { type Choice, Pick, finding, searching } from "../../ui/pick";
import { SchemaView } from "../../ui/schema";
import { DataView } from "../../ui/states";
import { Table } from "../../ui/table";
import { toast } from "../../ui/toast";
import type { PartProps } from "../agent";
import { ScannerGrants } from "./scanner";

export function Approval({ tool }: { tool: Pick<ToolRead, "requires_approval" | "person_only"> | undefined }) {
  if (!tool) return null;
  return tool.requires_approval ? <Status tone="ember" icon="user">{tool.person_only ? "A person with a login approves" : "A person approves"}</Status> : <span class="muted">Runs by itself</span>;
}

function Granted({ agent, path, concerns, tools }: PartProps & { tools: ToolRead[] }) {
  const { query } = location.value;
  const granted = useList("GET /tenant/{tenant_id}/agents/{agent_id}/tools", { path }, concerns);
  const [chosen, setChosen] = useState<Choice | null>(null);
  const known = useMemo(() => new Map(tools.map((t) => [t.id, t])), [tools]);
  const name = (t: AgentToolRead): string => known.get(t.tool_id)?.name ?? t.tool_id;
  const opened = granted.data?.find((t) => t.tool_id === query.get("tool"));
  const one = (t: AgentToolRead) => ({ ...path, tool_id: t.tool_id });
  const schema = opened && known.get(opened.tool_id)?.input_schema;
  const grant = async (): Promise<void> => {
    if (!chosen) return;
    await call("POST /tenant/{tenant_id}/agents/{agent_id}/tools", { path, body: { tool_id: chosen.id } });
    toast(`${agent.name} has ${chosen.label}`);
    setChosen(null);
    granted.reload();
  };
  return (
    <section class="part">
      <h2>Tools</h2>
      <form class="part narrow form" onSubmit={(e) => e.preventDefault()}>
        <Pick label="Give it a tool" find={finding("tool")} value={chosen} set={setChosen} />
        <footer><Button type="submit" look="primary" disabled={!chosen} act={grant}>Give</Button></footer>
      </form>
      <DataView of={granted} empty={{ title: "No tool was given to it by itself", text: "What it has through bundles is below." }}>
        {(rows) => (
          <Table label="Tools of this agent" rows={rows} id={(t) => t.tool_id} to={(t) => withQuery({ tool: t.tool_id })} rail={(t) => (t.is_enabled ? "ink" : "ember")}
            columns={[
              { name: "Tool", cell: (t) => name(t) },
              { name: "State", cell: (t) => <>{t.is_enabled ? <Status tone="pine">On</Status> : <Status tone="plain">Off</Status>} {Object.keys(t.configuration).length > 0 && <Tag>configured</Tag>}</> },
              { name: "Before it runs", wide: true, cell: (t) => <Approval tool={known.get(t.tool_id)} /> },
              { name: "Since", wide: true, cell: (t) => <Time at={t.created_at} /> },
            ]}
            actions={(t) => (
              <>
                <Button look="quiet" label={`${t.is_enabled ? "Switch off" : "Switch on"} ${name(t)}`} act={async () => {
                  await call("PATCH /tenant/{tenant_id}/agents/{agent_id}/tools/{tool_id}", { path: one(t), body: { is_enabled: !t.is_enabled } });
                  granted.reload();
                }}>{t.is_enabled ? "Switch off" : "Switch on"}</Button>
                <Button look="quiet" icon="trash" label={`Take ${name(t)} away`} act={async () => {
                  await call("DELETE /tenant/{tenant_id}/agents/{agent_id}/tools/{tool_id}", { path: one(t) });
                  granted.reload();
                }} />
              </>
            )} />
        )}
      </DataView>
      {opened && (
        <section class="panel" aria-label={name(opened)} key={opened.tool_id}>
          <div class="part-head">
            <h3>{straight(name(opened))}</h3>
            <div class="filters"><Link to={tenantPath(`/tools/${opened.tool_id}`)}>The tool itself</Link><Button look="quiet" icon="close" label="Close" act={() => go(withQuery({ tool: null }))} /></div>
          </div>
          <Approval tool={known.get(opened.tool_id)} />
          <ContractForm form={AgentToolUpdate} value={opened as unknown as Record<string, unknown>} action="Save configuration"
            custom={{ configuration: (v, set) => <Pairs label="Configuration" secret text={String(v)} set={set} names={Object.keys((schema?.["properties"] as Record<string, unknown> | undefined) ?? {})} /> }}
            send={async (body) => {
              await call("PATCH /tenant/{tenant_id}/agents/{agent_id}/tools/{tool_id}", { path: one(opened), body });
              granted.reload();
              toast("Saved");
            }} />
          <p class="help">A value under the name of an argument is sent with every call in place of what the model says.</p>
          {schema && <details><summary>What it takes</summary><SchemaView schema={schema} /></details>}
        </section>
      )}
    </section>
  );
}

function Bundles({ agent, path, may, concerns, tools }: PartProps & { tools: ToolRead[] }) {
  const granted = useList("GET /tenant/{tenant_id}/agents/{agent_id}/tool-bundles", { path }, concerns);
  const [chosen, setChosen] = useState<Choice | null>(null);
  const write = may("agent:tools:write");
  const asks = (b: ToolBundleRead): number => b.tools.filter((t) => tools.find((k) => k.id === t.id)?.requires_approval).length;
  const find = searching("GET /tenant/{tenant_id}/tool-bundles", { tenant_id: path.tenant_id }, (b) => (granted.data?.some((g) => g.bundle.id === b.id) ? null : { id: b.id, label: b.name, detail: b.slug }));
  const give = async (): Promise<void> => {
    if (!chosen) return;
    await call("POST /tenant/{tenant_id}/agents/{agent_id}/tool-bundles", { path, body: { bundle_id: chosen.id } });
    toast(`${agent.name} has the bundle ${chosen.label}`);
    setChosen(null);
    granted.reload();
  };
  return (
    <section class="part">
      <h2>Bundles</h2>
      {write && (
        <form class="part narrow form" onSubmit={(e) => e.preventDefault()}>
          <Pick label="Give it a bundle" find={find} value={chosen} set={setChosen} help="All tools of a bundle come with it, and follow when it changes." />
          <footer><Button type="submit" disabled={!chosen} act={give}>Give</Button></footer>
        </form>
      )}
      <DataView of={granted} empty={{ title: "It has no bundle", text: "A bundle is a set of tools that is given as one.", ...(can("tools:write") ? { action: <Link to={tenantPath("/bundles")} class="button plain">To the bundles</Link> } : {}) }}>
        {(rows) => (
          <Table label="Bundles of this agent" rows={rows} id={(g) => g.bundle.id}
            columns={[
              { name: "Bundle", cell: (g) => g.bundle.name },
              { name: "Tools", cell: (g) => <>{g.bundle.tools.map((t) => <Tag key={t.id}>{t.name}</Tag>)}</> },
              { name: "Asks a person", wide: true, figure: true, cell: (g) => asks(g.bundle) },
            ]}
            {...(write ? { actions: (g: { bundle: ToolBundleRead }) => <Button look="quiet" icon="trash" label={`Take the bundle ${g.bundle.name} away`} act={async () => {
              await call("DELETE /tenant/{tenant_id}/agents/{agent_id}/tool-bundles/{bundle_id}", { path: { ...path, bundle_id: g.bundle.id } });
              granted.reload();
            }} /> } : {})} />
        )}
      </DataView>
    </section>
  );
}

export default function Tools(props: PartProps) {
  const tools = useList("GET /tenant/{tenant_id}/tools", { path: { tenant_id: props.path.tenant_id }, query: { per_page: 200 } });
  return (
    <>
      {props.may("agent:tools:write") && <Granted {...props} tools={tools.data ?? []} />}
      <Bundles {...props} tools={tools.data ?? []} />
      <ScannerGrants {...props} />
    </>
  );
}
