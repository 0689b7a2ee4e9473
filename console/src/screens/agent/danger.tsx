// danger.tsx - copying an agent, putting it aside, handing it over, deleting it.
import { useState } from "preact/hooks";
import { AgentClone, AgentOwnershipTransfer } from "../../contract/forms";
import type { AgentClone as CloneBody } from "../../contract/types";
import { call } from "../../lib/api";
import { go } from "../../lib/router";
import { can, tenantPath } from "../../lib/session";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { ContractForm } from "../../ui/form";
import { type Choice, Pick, finding } from "../../ui/pick";
import { toast } from "../../ui/toast";
import type { PartProps } from "../agent";

export default function Danger({ agent, of, path, may }: PartProps) {
  const [heir, setHeir] = useState<Choice | null>(null);
  const archived = !agent.is_active && (agent.hidden ?? false);
  const archive = async (away: boolean): Promise<void> => {
    const set = (on: boolean): Promise<unknown> => call("PATCH /tenant/{tenant_id}/agents/{agent_id}", { path, body: { is_active: !on, hidden: on } });
    await set(away);
    of.reload();
    toast(away ? `${agent.name} is archived` : `${agent.name} is back`, { undo: () => void set(!away).then(of.reload) });
  };
  const transfer = async (): Promise<void> => {
    if (!heir || !(await confirm({ title: `Hand ${agent.name} over to ${heir.label}?`, text: "They become its owner, and you stay its manager. Only they, or an administrator, can give it back.", action: "Hand over", danger: true, type: agent.slug }))) return;
    await call("POST /tenant/{tenant_id}/agents/{agent_id}/transfer-ownership", { path, body: { new_owner_id: heir.id } });
    setHeir(null);
    of.reload();
    toast(`${heir.label} owns ${agent.name}`);
  };
  const remove = async (): Promise<void> => {
    if (!(await confirm({ title: `Delete ${agent.name}?`, text: "Its sessions, memories and settings go with it. This cannot be undone.", action: "Delete agent", danger: true, type: agent.slug }))) return;
    await call("DELETE /tenant/{tenant_id}/agents/{agent_id}", { path });
    toast(`${agent.name} is deleted`);
    go(tenantPath("/agents"));
  };
  return (
    <div class="narrow">
      {can("agents:create") && (
        <section class="part">
          <h2>Copy</h2>
          <p class="muted">Prompts, models, skills, tools, bundles and limits are copied; sessions, memories and secrets are not.</p>
          <ContractForm form={AgentClone} preset={{ name: `${agent.name} copy` }} action="Make a copy" send={async (body) => {
            const made = await call("POST /agents/{source_id}/clone", { path: { source_id: agent.id }, body: body as unknown as CloneBody });
            toast(`${made.name} is made`);
            go(tenantPath(`/agents/${made.id}`));
          }} />
        </section>
      )}
      {may("agent:write") && (
        <section class="part">
          <h2>{archived ? "Bring back" : "Archive"}</h2>
          <p class="muted">{archived ? "It takes no work and is hidden from lists." : "It takes no more work and leaves the lists; everything is kept, and it can be brought back."}</p>
          <Button act={() => archive(!archived)}>{archived ? "Bring it back" : "Archive it"}</Button>
        </section>
      )}
      {may("agent:transfer") && (
        <section class="part">
          <h2>Hand over</h2>
          <Pick label="New owner" find={finding("user")} value={heir} set={setHeir} help={AgentOwnershipTransfer[0]?.help ?? ""} />
          <p><Button look="danger" disabled={!heir} act={transfer}>Hand over</Button></p>
        </section>
      )}
      {may("agent:delete") && (
        <section class="part">
          <h2>Delete</h2>
          <p class="muted">Its sessions, memories and settings go with it, for good.</p>
          <Button look="danger" act={remove}>Delete this agent</Button>
        </section>
      )}
    </div>
  );
}
