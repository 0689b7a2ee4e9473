// admin-model.tsx - one model: how it is reached, what it costs, and the tenants that have it.
import { useState } from "preact/hooks";
import { AdminModelUpdate } from "../contract/forms";
import { call, tagged } from "../lib/api";
import { useData } from "../lib/data";
import { Time, tokens } from "../lib/format";
import { Link } from "../lib/router";
import type { ScreenProps } from "../routes";
import { AdminPage } from "../ui/admin";
import { Button } from "../ui/button";
import { ContractForm } from "../ui/form";
import { save } from "../ui/merge";
import { Facts } from "../ui/page";
import { type Choice, Pick, searching } from "../ui/pick";
import { DataView } from "../ui/states";
import { toast } from "../ui/toast";
import { ModelState, modelConfig, priceOf } from "./admin-models";

export default function AdminModel({ params }: ScreenProps) {
  const path = { model_id: params["model"] ?? "" };
  const one = useData("GET /admin/models/{model_id}", { path });
  const [tenant, setTenant] = useState<Choice | null>(null), picked = tenant?.id ?? "";
  return (
    <AdminPage title={one.data?.name ?? "Model"} lead={one.data?.description} above={<p class="small"><Link to="/admin/models">All models</Link></p>}>
      <DataView of={one}>{(m) => (
        <div class="page-part">
          <Facts rows={[["Slug", <code>{m.slug}</code>], ["Kind", m.kind], ["State", <ModelState of={m} />], ["A million tokens", `${priceOf(m, "prompt")} in, ${priceOf(m, "completion")} out`], ["Context", tokens(m.context_window)], ["Changed", <Time at={m.updated_at} />]]} />
          {!m.available_to_all_tenants && <div class="filters">
            <Pick label="Tenant" find={searching("GET /admin/tenants", {}, (t) => ({ id: t.id, label: t.name, detail: t.slug }))} value={tenant} set={setTenant} />
            <Button disabled={!picked} act={async () => {
              await call("PUT /admin/models/{model_id}/tenants/{tenant_id}", { path: { ...path, tenant_id: picked } });
              toast("It may use the model");
            }}>Open it to them</Button>
            <Button disabled={!picked} act={async () => {
              await call("DELETE /admin/models/{model_id}/tenants/{tenant_id}", { path: { ...path, tenant_id: picked } });
              toast("It may no longer use the model");
            }}>Take it away</Button>
          </div>}
          <ContractForm form={AdminModelUpdate} value={{ ...m }} first={["name", "description", "status", "available_to_all_tenants", "is_free", "config", "pricing", "failover_chain"]} custom={{ config: modelConfig }} action="Save" send={async (change) => {
            await save({ base: m, etag: one.etag, change, read: () => tagged("GET /admin/models/{model_id}", { path }), write: (body, match) => tagged("PATCH /admin/models/{model_id}", { path, body, match }) });
            one.reload();
            toast("Saved");
          }} />
        </div>
      )}</DataView>
    </AdminPage>
  );
}
