// allowed.tsx - addresses that may join the tenant by themselves, once they have proven that they are theirs.
import { useState } from "preact/hooks";
import { AllowedAccountCreate } from "../contract/forms";
import type { AllowedAccountCreate as Body } from "../contract/types";
import { call } from "../lib/api";
import { useList } from "../lib/data";
import { Time } from "../lib/format";
import { tenantId } from "../lib/session";
import { Button } from "../ui/button";
import { ContractForm } from "../ui/form";
import { Page } from "../ui/page";
import { PeopleTabs } from "../ui/people-parts";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { undoable } from "../ui/toast";

export default function Allowed() {
  const path = { tenant_id: tenantId() };
  const list = useList("GET /tenant/{tenant_id}/allowed-accounts", { path });
  const [round, again] = useState(0);
  return (
    <Page title="Allowed accounts" lead="Whoever signs in with one of these addresses through a provider that vouches for it becomes a member." narrow>
      <PeopleTabs />
      <ContractForm key={round} form={AllowedAccountCreate} action="Allow" send={async (body) => {
        await call("POST /tenant/{tenant_id}/allowed-accounts", { path, body: body as unknown as Body });
        again((n) => n + 1);
        list.reload();
      }} />
      <DataView of={list} empty={{ title: "No address is allowed", text: "People then come by invitation only." }}>
        {(rows) => <Table label="Allowed accounts" rows={rows} id={(a) => a.id} columns={[{ name: "Address", cell: (a) => a.email }, { name: "Since", cell: (a) => <Time at={a.created_at} /> }]}
          actions={(a) => <Button look="quiet" label={`Remove ${a.email}`} act={() => {
            const before = list.set(rows.filter((r) => r.id !== a.id));
            undoable(`${a.email} is no longer allowed`, () => call("DELETE /tenant/{tenant_id}/allowed-accounts/{id}", { path: { ...path, id: a.id } }), () => before && list.set(before));
          }}>Remove</Button>} />}
      </DataView>
    </Page>
  );
}
