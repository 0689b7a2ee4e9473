// admin-users.tsx - every account of the service: suspending, unlocking, a link to set a new password.
import type { AdminUserRow } from "../contract/types";
import { call } from "../lib/api";
import { useList } from "../lib/data";
import { Time, plural } from "../lib/format";
import { Link, location, setQuery } from "../lib/router";
import { me } from "../lib/session";
import { AdminPage } from "../ui/admin";
import { Button } from "../ui/button";
import { Dialog, confirm, over } from "../ui/dialog";
import { Search, Toggle } from "../ui/filters";
import { Facts, Status, Tag } from "../ui/page";
import { showSecret } from "../ui/secret";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { toast } from "../ui/toast";

function Acts({ user: u, close }: { user: AdminUserRow; close: (changed: boolean | null) => void }) {
  const path = { user_id: u.id };
  const patch = (body: { is_suspended?: boolean; is_super_admin?: boolean }, said: string) => async (): Promise<void> => {
    await call("PATCH /admin/users/{user_id}", { path, body });
    toast(said);
    close(true);
  };
  const own = u.id === me.value?.id;
  return (
    <Dialog title={u.name ?? u.email} onClose={() => close(null)}>
      <Facts rows={[["Address", u.email], ["First tenant", u.primary_tenant ? <Link to={`/admin/tenants/${u.primary_tenant.id}`} onClick={() => close(null)}>{u.primary_tenant.name}</Link> : "none"], ["Last sign-in", <Time at={u.last_login_at} />], ["Account", <code>{u.id}</code>]]} />
      <div class="filters">
        <Button act={async () => {
          const link = await call("POST /admin/users/{user_id}/reset-password", { path });
          close(true);
          await showSecret(`Link for ${u.email}`, link.url, <p>With it they set a new password, once, until <Time at={link.expires_at} />.</p>);
        }}>Link for a new password</Button>
        <Button act={async () => {
          await call("POST /admin/users/{user_id}/unlock", { path });
          toast("They may try to sign in again");
        }}>Unlock</Button>
        <Button act={async () => {
          await call("POST /admin/users/{user_id}/prove", { path });
          toast("The address counts as proven");
          close(true);
        }}>Address is proven</Button>
        {!own && <Button act={patch({ is_super_admin: !u.is_super_admin }, u.is_super_admin ? "No super administrator any more" : "A super administrator now")}>{u.is_super_admin ? "Take super administration away" : "Make super administrator"}</Button>}
        {!own && <Button look={u.is_suspended ? "plain" : "danger"} act={patch({ is_suspended: !u.is_suspended }, u.is_suspended ? "The account is open again" : "The account is suspended, everywhere and at once")}>{u.is_suspended ? "Lift the suspension" : "Suspend"}</Button>}
        {!own && <Button look="danger" act={async () => {
          if (!(await confirm({ title: `Erase ${u.email}?`, text: "The account, its memberships and keys go, and its name is taken out of what it did. This cannot be undone.", action: "Erase account", danger: true, type: u.email }))) return;
          await call("DELETE /admin/users/{user_id}", { path });
          toast(`${u.email} is erased`);
          close(true);
        }}>Erase</Button>}
      </div>
    </Dialog>
  );
}

export default function AdminUsers() {
  const { query } = location.value;
  const q = query.get("q") ?? "";
  const list = useList("GET /admin/users", { query: { q: q || undefined, proven: query.has("unproven") ? false : undefined } });
  const act = async (user: AdminUserRow): Promise<void> => {
    if (await over<boolean>((close) => <Acts user={user} close={close} />)) list.reload();
  };
  return (
    <AdminPage title="Users" lead={list.total === undefined ? undefined : plural(list.total, "account")}>
      <div class="filters" role="search"><Search label="Search users" value={q} set={(text) => setQuery({ q: text })} /><Toggle label="Not proven" on={query.has("unproven")} set={(on) => setQuery({ unproven: on ? "1" : null })} /></div>
      <DataView of={list} filtered={q !== "" || query.has("unproven")} filters={["q", "unproven"]} empty={{ title: "Nobody" }}>
        {(rows) => <Table label="Users" rows={rows} id={(u) => u.id} rail={(u) => (u.is_suspended ? "danger" : "ink")} columns={[
          { name: "Name", cell: (u) => <button type="button" class="link" onClick={() => void act(u)}>{u.name ?? u.email}</button> },
          { name: "Address", wide: true, cell: (u) => u.email },
          { name: "State", cell: (u) => <>{u.is_suspended ? <Status tone="danger" icon="warn">Suspended</Status> : <Status tone="pine">Active</Status>} {u.is_super_admin && <Tag>super administrator</Tag>}</> },
          { name: "Tenants", figure: true, wide: true, cell: (u) => u.tenant_count },
          { name: "Last sign-in", wide: true, cell: (u) => <Time at={u.last_login_at} /> },
        ]} />}
      </DataView>
    </AdminPage>
  );
}
