// scanner.tsx - the code scanner that a tenant has bound: which organisation, with which token; agents are granted parts of it.
import { ScannerUpdate } from "../contract/forms";
import type { ScannerUpdate as Body } from "../contract/types";
import { call } from "../lib/api";
import { useData } from "../lib/data";
import { Time } from "../lib/format";
import { tenantId } from "../lib/session";
import { Button } from "../ui/button";
import { confirm } from "../ui/dialog";
import { ContractForm } from "../ui/form";
import { IntegrationTabs } from "../ui/integration-tabs";
import { Facts, Page } from "../ui/page";
import { DataView } from "../ui/states";
import { toast } from "../ui/toast";

const REVOKES = "Every grant that agents have of the present one is revoked.";

export default function Scanner() {
  const path = { tenant_id: tenantId() };
  const of = useData("GET /tenant/{tenant_id}/scanner", { path });
  const none = of.error?.status === 404;
  const bind = async (body: Body): Promise<void> => {
    const now = none ? undefined : of.data;
    if (now && (now.organization !== body.organization || now.provider !== body.provider || now.base_url !== body.base_url) &&
      !(await confirm({ title: "Bind another organisation?", text: REVOKES, action: "Bind it", danger: true }))) return;
    await call("PUT /tenant/{tenant_id}/scanner", { path, body });
    toast(`${body.organization} is bound`);
    of.reload();
  };
  const remove = async (): Promise<void> => {
    if (!(await confirm({ title: "Unbind the code scanner?", text: REVOKES, action: "Unbind", danger: true, type: of.data?.organization ?? "" }))) return;
    await call("DELETE /tenant/{tenant_id}/scanner", { path });
    toast("The code scanner is unbound");
    of.reload();
  };
  return (
    <Page title="Code scanner" lead="One organisation of a code scanner, of which agents are granted single repositories or all." narrow>
      <IntegrationTabs />
      {none ? (
        <section class="part" aria-label="Bind a code scanner">
          <h2>None is bound yet</h2>
          <p class="muted">Bind one to let agents see what it found in your repositories. Which of them an agent sees is said among that agent's tools.</p>
          <ContractForm form={ScannerUpdate} action="Bind it" send={(body) => bind(body as unknown as Body)} />
        </section>
      ) : (
        <DataView of={of} rows={3}>
          {(s) => (
            <>
              <Facts rows={[["Organisation", s.organization], ["Scanner", s.provider], ["Address", s.base_url], ["Bound", <Time at={s.created_at} />], ["Changed", <Time at={s.updated_at} />]]} />
              <section class="part"><h2>Change</h2>
                <ContractForm form={ScannerUpdate} value={s as unknown as Record<string, unknown>} action="Save" send={(change) => bind({ provider: s.provider, base_url: s.base_url, organization: s.organization, ...change })} />
              </section>
              <section class="part"><h2>Unbind</h2><p class="muted">{REVOKES}</p><Button look="danger" act={remove}>Unbind the code scanner</Button></section>
            </>
          )}
        </DataView>
      )}
    </Page>
  );
}
