// agent.tsx - one agent: what it is, and changing it; two people at once are told of each other.
import { AgentUpdate } from "../contract/forms";
import { call, tagged } from "../lib/api";
import { useAgentAccess } from "../lib/access";
import { useData } from "../lib/data";
import { Time } from "../lib/format";
import { Link, go } from "../lib/router";
import { tenantId, tenantPath } from "../lib/session";
import type { ScreenProps } from "../routes";
import { Button } from "../ui/button";
import { confirm } from "../ui/dialog";
import { ContractForm } from "../ui/form";
import { save } from "../ui/merge";
import { Facts, Page } from "../ui/page";
import { DataView } from "../ui/states";
import { toast } from "../ui/toast";

interface Change { agent_id?: string }

export default function Agent({ params }: ScreenProps) {
  const path = { tenant_id: tenantId(), agent_id: params["agent"] ?? "" };
  const agent = useData("GET /tenant/{tenant_id}/agents/{agent_id}", { path }, (e) => e.event === "agent" && (e.data.data as Change).agent_id === path.agent_id);
  const may = useAgentAccess(path.agent_id);
  const remove = async (name: string, slug: string): Promise<void> => {
    if (!(await confirm({ title: `Delete ${name}?`, text: "Its sessions, memories and settings go with it. This cannot be undone.", action: "Delete agent", danger: true, type: slug }))) return;
    await call("DELETE /tenant/{tenant_id}/agents/{agent_id}", { path });
    toast(`${name} is deleted`);
    go(tenantPath("/agents"));
  };
  return (
    <Page title={agent.data?.name ?? "Agent"} lead={agent.data?.description} narrow
      actions={agent.data && <>
        {may("session:write") && <Link class="button primary" to={tenantPath(`/agents/${path.agent_id}/chat`)}>New session</Link>}
        {may("agent:delete") && <Button look="danger" act={() => remove(agent.data?.name ?? "", agent.data?.slug ?? "")}>Delete</Button>}</>}>
      <DataView of={agent}>
        {(a) => (
          <>
            <Facts rows={[["Slug", <code>{a.slug}</code>], ["Made", <Time at={a.created_at} />], ["Changed", <Time at={a.updated_at} />]]} />
            {may("agent:write") && <ContractForm form={AgentUpdate} value={a as unknown as Record<string, unknown>} first={["name", "description", "description_prompt", "initial_greeting", "is_active"]} action="Save"
              send={async (change) => {
                const now = await save({ base: a, etag: agent.etag, change, read: () => tagged("GET /tenant/{tenant_id}/agents/{agent_id}", { path }),
                  write: (body, match) => tagged("PATCH /tenant/{tenant_id}/agents/{agent_id}", { path, body, match }) });
                agent.reload();
                toast(now ? "Saved" : "Theirs is kept");
              }} />}
          </>
        )}
      </DataView>
    </Page>
  );
}
