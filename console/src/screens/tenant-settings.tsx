// tenant-settings.tsx - what a tenant is called and how it works.
import { TenantUpdate } from "../contract/forms";
import { tagged } from "../lib/api";
import { useData } from "../lib/data";
import { human } from "../lib/format";
import { can, refreshMe, tenant as place, tenantId } from "../lib/session";
import { ContractForm } from "../ui/form";
import { save } from "../ui/merge";
import { Facts, Page } from "../ui/page";
import { DataView } from "../ui/states";
import { toast } from "../ui/toast";

export default function TenantSettings() {
  const path = { tenant_id: tenantId() }, role = place.value?.role;
  const tenant = useData("GET /tenant/{tenant_id}", { path });
  return (
    <Page title="Settings" narrow>
      <DataView of={tenant}>
        {(t) => (
          <>
            <Facts rows={[["Slug", <code>{t.slug}</code>], ["Status", human(t.status ?? "active")], ["Tenant", <code>{t.id}</code>]]} />
            {can("tenant:write")
              ? <ContractForm form={TenantUpdate} without={role === "OWNER" ? [] : ["allow_superadmin_access"]} value={t as unknown as Record<string, unknown>} action="Save"
                  send={async (change) => {
                    const now = await save({ base: t, etag: tenant.etag, change, read: () => tagged("GET /tenant/{tenant_id}", { path }), write: (body, match) => tagged("PATCH /tenant/{tenant_id}", { path, body, match }) });
                    tenant.reload();
                    await refreshMe();
                    toast(now ? "Saved" : "Theirs is kept");
                  }} />
              : <p class="muted">An owner or administrator may change these.</p>}
          </>
        )}
      </DataView>
    </Page>
  );
}
