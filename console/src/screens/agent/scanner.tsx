// scanner.tsx - what an agent may see of the tenant's code scanner: granted, revoked, and what was revoked earlier.
import { useState } from "preact/hooks";
import { ScannerGrantCreate } from "../../contract/forms";
import type { ScannerGrantRead } from "../../contract/types";
import { call } from "../../lib/api";
import { useList } from "../../lib/data";
import { Time } from "../../lib/format";
import { Link } from "../../lib/router";
import { can, tenantPath } from "../../lib/session";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { ContractForm } from "../../ui/form";
import { Status } from "../../ui/page";
import { DataView } from "../../ui/states";
import { Table } from "../../ui/table";
import { toast } from "../../ui/toast";
import type { PartProps } from "../agent";

const nameOf = (g: ScannerGrantRead): string => g.repo_name ?? "The whole organisation";

export function ScannerGrants({ path, may, concerns }: PartProps) {
  const grants = useList("GET /tenant/{tenant_id}/agents/{agent_id}/scanner-grants", { path }, concerns);
  const [round, again] = useState(0);
  const write = may("agent:tools:write");
  const revoke = async (g: ScannerGrantRead): Promise<void> => {
    if (!(await confirm({ title: `Revoke ${nameOf(g)}?`, text: "The agent sees nothing of it from then on.", action: "Revoke", danger: true }))) return;
    await call("DELETE /tenant/{tenant_id}/agents/{agent_id}/scanner-grants/{id}", { path: { ...path, id: g.id } });
    grants.reload();
  };
  return (
    <section class="part" aria-label="Code scanner">
      <h2>Code scanner</h2>
      {write && <div class="part narrow"><ContractForm key={round} form={ScannerGrantCreate} action="Let it see the results" passing send={async (body) => {
        const made = await call("POST /tenant/{tenant_id}/agents/{agent_id}/scanner-grants", { path, body });
        toast(`It sees the results of ${made.repo_name ?? "the whole organisation"}`);
        again((n) => n + 1);
        grants.reload();
      }} /></div>}
      <DataView of={grants} rows={1} empty={{ title: "It sees nothing of a code scanner", text: "What a code scanner found in a repository can be shown to an agent.", ...(can("integrations:write") ? { action: <Link to={tenantPath("/integrations/scanner")} class="button plain">To the code scanner</Link> } : {}) }}>
        {(rows) => (
          <Table label="What it sees of the code scanner" rows={rows} id={(g) => g.id} rail={() => "ink"}
            columns={[
              { name: "Repository", cell: nameOf },
              { name: "State", cell: (g) => (g.revoked_at ? <Status tone="plain">Revoked</Status> : <Status tone="pine">Granted</Status>) },
              { name: "Since", wide: true, cell: (g) => <Time at={g.revoked_at ?? g.created_at} /> },
            ]}
            {...(write ? { actions: (g: ScannerGrantRead) => !g.revoked_at && <Button look="quiet" label={`Revoke ${nameOf(g)}`} act={() => revoke(g)}>Revoke</Button> } : {})} />
        )}
      </DataView>
    </section>
  );
}
