// provider-keys.tsx - the tenant's own keys at model providers: written once, sealed, and never read back.
import { ProviderKeyPut } from "../contract/forms";
import type { ProviderKeyPut as Body } from "../contract/types";
import { call } from "../lib/api";
import { useList } from "../lib/data";
import { Time } from "../lib/format";
import { tenantId } from "../lib/session";
import { Button } from "../ui/button";
import { Dialog, confirm, over } from "../ui/dialog";
import { ContractForm } from "../ui/form";
import { KeyTabs } from "../ui/key-tabs";
import { Page, Status } from "../ui/page";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { toast } from "../ui/toast";

export const PROVIDERS: Record<string, string> = { openai: "OpenAI, and what speaks its chat API", openai_responses: "OpenAI's Responses API", anthropic: "Anthropic" };

/** Asks for a key at a provider; true when it is stored. */
export const askProviderKey = (tenant_id: string, provider: string): Promise<boolean | null> => over<boolean>((close) => (
  <Dialog title={`Key for ${PROVIDERS[provider] ?? provider}`} onClose={() => close(null)}>
    <ContractForm form={ProviderKeyPut} action="Store key" cancel={() => close(null)} send={async (body) => {
      await call("PUT /tenant/{tenant_id}/provider-keys/{provider}", { path: { tenant_id, provider }, body: body as unknown as Body });
      toast("The key is stored, sealed");
      close(true);
    }} />
  </Dialog>
));

export default function ProviderKeys() {
  const path = { tenant_id: tenantId() };
  const keys = useList("GET /tenant/{tenant_id}/provider-keys", { path });
  const put = async (provider: string): Promise<void> => {
    if (await askProviderKey(path.tenant_id, provider)) keys.reload();
  };
  const drop = async (provider: string): Promise<void> => {
    if (!(await confirm({ title: `Remove the key for ${provider}?`, text: "Calls go through the service's own keys again, where it has any. The key itself stays valid at the provider.", action: "Remove key", danger: true, type: provider }))) return;
    await call("DELETE /tenant/{tenant_id}/provider-keys/{provider}", { path: { ...path, provider } });
    keys.reload();
  };
  return (
    <Page title="Keys at providers" lead="Models of a kind are called with your key instead of the service's; what it costs stands apart in reports.">
      <KeyTabs />
      <DataView of={keys}>
        {(rows) => <Table label="Keys at providers" rows={Object.keys(PROVIDERS).map((provider) => ({ provider, key: rows.find((k) => k.provider === provider) }))} id={(p) => p.provider} columns={[
          { name: "Provider", cell: (p) => PROVIDERS[p.provider] },
          { name: "State", cell: (p) => (p.key ? <Status tone="pine" icon="check">Your key</Status> : <Status tone="plain">The service's, if any</Status>) },
          { name: "For", wide: true, cell: (p) => (p.key ? p.key.base_url ?? <span class="muted">the provider's own address</span> : "") },
          { name: "Changed", wide: true, cell: (p) => (p.key ? <Time at={p.key.updated_at} /> : "") },
        ]} actions={(p) => <><Button look="quiet" label={`${p.key ? "Replace" : "Add"} the key for ${p.provider}`} act={() => put(p.provider)}>{p.key ? "Replace" : "Add"}</Button>{p.key && <Button look="quiet" label={`Remove the key for ${p.provider}`} act={() => drop(p.provider)}>Remove</Button>}</>} />}
      </DataView>
    </Page>
  );
}
