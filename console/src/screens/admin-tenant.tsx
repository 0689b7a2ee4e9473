// admin-tenant.tsx - one tenant from outside: the figures of 30 days, its plan, and closing its door.
import { AdminTenantUpdate } from "../contract/forms";
import type { AdminTenantDetailRead } from "../contract/types";
import { call, tagged } from "../lib/api";
import { useData, useList } from "../lib/data";
import { Time, count, human, money, tokens } from "../lib/format";
import { Link } from "../lib/router";
import { refreshMe } from "../lib/session";
import type { ScreenProps } from "../routes";
import { AdminPage } from "../ui/admin";
import { Button } from "../ui/button";
import { confirm } from "../ui/dialog";
import { ContractForm } from "../ui/form";
import { save } from "../ui/merge";
import { Facts } from "../ui/page";
import { DataView } from "../ui/states";
import { toast } from "../ui/toast";

export default function AdminTenant({ params }: ScreenProps) {
  const path = { tenant_id: params["tenant_id"] ?? "" };
  const one = useData("GET /admin/tenants/{tenant_id}", { path });
  const plans = useList("GET /admin/plans", {});
  const suspend = async (t: AdminTenantDetailRead): Promise<void> => {
    const on = !t.is_suspended;
    if (on && !(await confirm({ title: `Suspend ${t.name}?`, text: `Its ${count(t.member_count)} members are kept out at once, its ${count(t.agent_count)} agents stop, keys and webhooks are refused. Nothing is lost, and it can be lifted again.`, action: "Suspend tenant", danger: true, type: t.slug }))) return;
    await call("PATCH /admin/tenants/{tenant_id}", { path, body: { is_suspended: on } });
    toast(on ? `${t.name} is suspended` : `${t.name} is open again`);
    one.reload();
    await refreshMe();
  };
  return (
    <AdminPage title={one.data?.name ?? "Tenant"} lead={one.data && <code>{one.data.slug}</code>} above={<p class="small"><Link to="/admin/tenants">All tenants</Link></p>}
      actions={one.data && <Button look={one.data.is_suspended ? "plain" : "danger"} act={() => suspend(one.data as AdminTenantDetailRead)}>{one.data.is_suspended ? "Lift the suspension" : "Suspend"}</Button>}>
      <DataView of={one}>{(t) => (
        <>
          {t.is_suspended && <p class="notice danger">This tenant is suspended: nobody gets in, and nothing runs.</p>}
          <h2>30 days</h2>
          <dl class="figures">
            {([["Cost", money(t.usage_summary_30d.cost_usd)], ["Calls of models", count(t.usage_summary_30d.requests)], ["Tokens read", tokens(t.usage_summary_30d.input_tokens + t.usage_summary_30d.cache_read_tokens + t.usage_summary_30d.cache_write_tokens)], ["Tokens written", tokens(t.usage_summary_30d.output_tokens)],
              ["Active agents", count(t.usage_summary_30d.active_agents)], ["Active people", count(t.usage_summary_30d.active_users)], ["Sessions", count(t.task_summary_30d.sessions)], ["Completed", count(t.task_summary_30d.completed)], ["Failed", count(t.task_summary_30d.failed)], ["Running", count(t.task_summary_30d.running)], ["Messages", count(t.task_summary_30d.messages)], ["Subtasks", count(t.task_summary_30d.subtasks)],
            ] as const).map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
          </dl>
          <Facts rows={[["Plan", `${t.plan.name}, ${human(t.plan_status)}`], ["Members", count(t.member_count)], ["Agents", count(t.agent_count)], ["Last active", <Time at={t.last_active_at} />], ["Super administrators", t.allow_superadmin_access ? "may see agents and sessions" : "are kept out of agents and sessions"], ["Tenant", <code>{t.id}</code>]]} />
          <div class="page-part"><ContractForm form={AdminTenantUpdate} without={["is_suspended"]} value={{ ...t }} action="Save" custom={{ plan_id: (value, set) => <select aria-label="Plan" value={String(value)} onChange={(e) => set(e.currentTarget.value)}>{(plans.data ?? [t.plan]).map((p) => <option key={p.id} value={p.id}>{p.name}</option>)}</select> }} send={async (change) => {
            await save({ base: t, etag: one.etag, change, read: () => tagged("GET /admin/tenants/{tenant_id}", { path }), write: (body, match) => tagged("PATCH /admin/tenants/{tenant_id}", { path, body, match }) });
            one.reload();
            toast("Saved");
          }} /></div>
        </>
      )}</DataView>
    </AdminPage>
  );
}
