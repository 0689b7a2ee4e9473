// admin-tenants.tsx - every tenant of the service, and those that are deleted and can still come back.
import { TenantCreate } from "../contract/forms";
import type { TenantCreate as Body } from "../contract/types";
import { call } from "../lib/api";
import { useList } from "../lib/data";
import { Time, count, human, plural } from "../lib/format";
import { go, location, setQuery } from "../lib/router";
import { slugOf } from "../lib/slug";
import { refreshMe } from "../lib/session";
import { AdminPage } from "../ui/admin";
import { Button } from "../ui/button";
import { Dialog, over } from "../ui/dialog";
import { Search } from "../ui/filters";
import { ContractForm } from "../ui/form";
import { Status } from "../ui/page";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { toast } from "../ui/toast";

function Deleted() {
  const list = useList("GET /admin/deleted-tenants", {});
  if (!list.data?.length) return null;
  return (
    <section aria-labelledby="deleted"><h2 id="deleted">Deleted</h2>
      <Table label="Deleted tenants" rows={list.data} id={(t) => t.id} columns={[{ name: "Name", cell: (t) => t.name }, { name: "Is erased", cell: (t) => <Time at={t.erase_at} /> }]}
        actions={(t) => <Button act={async () => {
          await call("POST /admin/tenants/{tenant_id}/restore", { path: { tenant_id: t.id } });
          toast(`${t.name} is back`);
          go(`/admin/tenants/${t.id}`);
        }}>Restore</Button>} />
    </section>
  );
}

export default function AdminTenants() {
  const q = location.value.query.get("q") ?? "";
  const list = useList("GET /admin/tenants", { query: { q: q || undefined } });
  const make = async (): Promise<void> => {
    let own = ""; // the slug that was made of the name, until somebody writes another
    const id = await over<string>((close) => (
      <Dialog title="New tenant" onClose={() => close(null)}>
        <ContractForm form={TenantCreate} first={["name", "slug"]} action="Create tenant" cancel={() => close(null)} follow={(typed, changed) => (changed === "name" && typed["slug"] === own ? { slug: (own = slugOf(String(typed["name"]))) } : undefined)} send={async (body) => close((await call("POST /tenants", { body: body as unknown as Body })).id)} />
      </Dialog>
    ));
    if (!id) return;
    await refreshMe();
    go(`/admin/tenants/${id}`);
  };
  return (
    <AdminPage title="Tenants" lead={list.total === undefined ? undefined : plural(list.total, "tenant")} actions={<Button look="primary" act={make}>New tenant</Button>}>
      <div class="filters" role="search"><Search label="Search tenants" value={q} set={(text) => setQuery({ q: text })} /></div>
      <DataView of={list} filtered={q !== ""} filters={["q"]} empty={{ title: "No tenants", text: "A tenant is a house of its own: people, agents, keys and costs." }}>
        {(rows) => <Table label="Tenants" rows={rows} id={(t) => t.id} to={(t) => `/admin/tenants/${t.id}`} rail={(t) => (t.is_suspended ? "danger" : "ink")} columns={[
          { name: "Name", cell: (t) => t.name },
          { name: "Slug", wide: true, cell: (t) => <code>{t.slug}</code> },
          { name: "State", cell: (t) => <Status tone={t.status === "active" ? "pine" : t.status === "suspended" || t.status === "closed" ? "danger" : "ember"}>{human(t.status ?? "active")}</Status> },
          { name: "Members", figure: true, wide: true, cell: (t) => count(t.member_count) },
          { name: "Agents", figure: true, wide: true, cell: (t) => count(t.agent_count) },
          { name: "Made", wide: true, cell: (t) => <Time at={t.created_at} /> },
        ]} />}
      </DataView>
      <Deleted />
    </AdminPage>
  );
}
