// group.tsx - one group: who is in it.
import { useState } from "preact/hooks";
import { GroupUpdate } from "../contract/forms";
import { call } from "../lib/api";
import { useData, useList } from "../lib/data";
import { human, plural } from "../lib/format";
import { go } from "../lib/router";
import { can, tenantId, tenantPath } from "../lib/session";
import type { ScreenProps } from "../routes";
import { Button } from "../ui/button";
import { confirm } from "../ui/dialog";
import { ContractForm } from "../ui/form";
import { Page } from "../ui/page";
import { MemberPick } from "../ui/pick-one";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { toast } from "../ui/toast";

export default function Group({ params }: ScreenProps) {
  const path = { tenant_id: tenantId(), group_id: params["group"] ?? "" };
  const group = useData("GET /tenant/{tenant_id}/groups/{group_id}", { path });
  const members = useList("GET /tenant/{tenant_id}/groups/{group_id}/members", { path });
  const [picked, setPicked] = useState("");
  const may = can("groups:write");
  const changed = (): void => (members.reload(), group.reload());
  const remove = async (name: string): Promise<void> => {
    if (!(await confirm({ title: `Delete ${name}?`, text: "Its members lose the roles that they have through it.", action: "Delete group", danger: true, type: name }))) return;
    await call("DELETE /tenant/{tenant_id}/groups/{group_id}", { path });
    toast(`${name} is deleted`);
    go(tenantPath("/people/groups"));
  };
  return (
    <Page title={group.data?.name ?? "Group"} lead={group.data?.description} narrow actions={group.data && may && <Button look="danger" act={() => remove(group.data?.name ?? "")}>Delete</Button>}>
      <DataView of={group}>{(g) => (
        <>
          {may && <div class="filters"><MemberPick label="Add" named value={picked} set={setPicked} /><Button disabled={!picked} act={async () => {
            await call("PUT /tenant/{tenant_id}/groups/{group_id}/members/{user_id}", { path: { ...path, user_id: picked } });
            toast(members.data?.some((m) => m.user_id === picked) ? "They are in the group already" : "Added to the group");
            setPicked("");
            changed();
          }}>Add to the group</Button></div>}
          <DataView of={members} empty={{ title: "Nobody is in it", text: "Add those who shall have its roles." }}>
            {(rows) => <Table label={plural(g.member_count, "member")} rows={rows} id={(m) => m.user_id} to={(m) => tenantPath(`/people/${m.user_id}`)}
              columns={[{ name: "Name", cell: (m) => m.name ?? m.email }, { name: "Address", wide: true, cell: (m) => m.email }, { name: "Role in the tenant", cell: (m) => human(m.role) }]}
              {...(may ? { actions: (m: { user_id: string; email: string }) => <Button look="quiet" label={`Take out ${m.email}`} act={async () => {
                await call("DELETE /tenant/{tenant_id}/groups/{group_id}/members/{user_id}", { path: { ...path, user_id: m.user_id } });
                changed();
              }}>Take out</Button> } : {})} />}
          </DataView>
          {may && <section aria-labelledby="about"><h2 id="about">About it</h2><ContractForm form={GroupUpdate} value={g as unknown as Record<string, unknown>} action="Save" send={async (body) => {
            group.set(await call("PATCH /tenant/{tenant_id}/groups/{group_id}", { path, body }));
            toast("Saved");
          }} /></section>}
        </>
      )}</DataView>
    </Page>
  );
}
