// groups.tsx - names for some members, which hold roles on agents.
import { GroupCreate } from "../contract/forms";
import type { GroupCreate as Body } from "../contract/types";
import { call } from "../lib/api";
import { useList } from "../lib/data";
import { Time, count } from "../lib/format";
import { go } from "../lib/router";
import { can, tenantId, tenantPath } from "../lib/session";
import { Button } from "../ui/button";
import { Dialog, over } from "../ui/dialog";
import { ContractForm } from "../ui/form";
import { Page } from "../ui/page";
import { PeopleTabs } from "../ui/people-parts";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";

export default function Groups() {
  const path = { tenant_id: tenantId() };
  const groups = useList("GET /tenant/{tenant_id}/groups", { path });
  const make = async (): Promise<void> => {
    const id = await over<string>((close) => (
      <Dialog title="New group" onClose={() => close(null)}>
        <ContractForm form={GroupCreate} action="Create group" cancel={() => close(null)} send={async (body) => close((await call("POST /tenant/{tenant_id}/groups", { path, body: body as unknown as Body })).id)} />
      </Dialog>
    ));
    if (id) go(tenantPath(`/people/groups/${id}`));
  };
  const button = can("groups:write") ? <Button look="primary" act={make}>New group</Button> : undefined;
  return (
    <Page title="Groups" lead="A group holds roles on agents; whoever is put into it has them from then on." actions={button}>
      <PeopleTabs />
      <DataView of={groups} empty={{ title: "No groups yet", text: "With a group one grant reaches many people.", action: button }}>
        {(rows) => <Table label="Groups" rows={rows} id={(g) => g.id} to={(g) => tenantPath(`/people/groups/${g.id}`)} columns={[
          { name: "Name", cell: (g) => g.name },
          { name: "What it is for", wide: true, cell: (g) => <span class="cut">{g.description ?? ""}</span> },
          { name: "Members", figure: true, cell: (g) => count(g.member_count) },
          { name: "Made", wide: true, cell: (g) => <Time at={g.created_at} /> },
        ]} />}
      </DataView>
    </Page>
  );
}
