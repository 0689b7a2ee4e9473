// mail-suppressions.tsx - addresses that no agent of the tenant writes to any more: their mail came back, or they complained.
import { call } from "../lib/api";
import { useList } from "../lib/data";
import { Time, plural } from "../lib/format";
import { tenantId } from "../lib/session";
import { Button } from "../ui/button";
import { MailTabs } from "../ui/mail-tabs";
import { Page } from "../ui/page";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { undoable } from "../ui/toast";

export default function MailSuppressions() {
  const path = { tenant_id: tenantId() };
  const list = useList("GET /tenant/{tenant_id}/mail/suppressions", { path });
  return (
    <Page title="Suppressed addresses" lead="Nothing is sent to these any more: their mail came back for good, or somebody there complained.">
      <MailTabs />
      <DataView of={list} empty={{ title: "No address is suppressed", text: "One comes here by itself when a mail server says that it does not exist, or its owner complains." }}>
        {(rows) => (
          <>
            <Table label="Suppressed addresses" rows={rows} id={(s) => s.id} columns={[{ name: "Address", cell: (s) => s.address }, { name: "Why", cell: (s) => <span class="free">{s.reason}</span> }, { name: "Since", wide: true, cell: (s) => <Time at={s.created_at} /> }]}
              actions={(s) => <Button look="quiet" label={`Write to it again: ${s.address}`} act={() => {
                const before = list.set(rows.filter((one) => one.id !== s.id));
                undoable(`${s.address} may be written to again`, () => call("DELETE /tenant/{tenant_id}/mail/suppressions/{suppression_id}", { path: { ...path, suppression_id: s.id } }), () => before && list.set(before));
              }}>Write to it again</Button>} />
            {list.total !== undefined && <p class="muted small">{plural(list.total, "address", "addresses")}</p>}
          </>
        )}
      </DataView>
    </Page>
  );
}
