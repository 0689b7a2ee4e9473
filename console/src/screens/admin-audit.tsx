// admin-audit.tsx - the audit log of every tenant and of the service itself.
import { address } from "../lib/api";
import { useList } from "../lib/data";
import { Link } from "../lib/router";
import { AdminPage } from "../ui/admin";
import { AuditList, Days, Word, auditQuery } from "../ui/audit-list";

export default function AdminAudit() {
  const list = useList("GET /admin/audit-logs", { query: auditQuery() });
  const users = useList("GET /admin/users", { query: { per_page: 200 } });
  const who = (id: string): string => {
    const u = users.data?.find((x) => x.id === id);
    return u?.name ?? u?.email ?? id;
  };
  return (
    <AdminPage title="All audit" lead="Of tenants that are closed to super administrators no details are shown." actions={<a class="button plain" download="audit.ndjson" href={address("GET /admin/audit-logs", {}, { ...auditQuery(), format: "ndjson" })}>Export</a>}>
      <div class="filters" role="search"><Word label="Action" name="action" /><Word label="Kind" name="resource_type" /><Word label="Tenant" name="tenant_id" /><Word label="User" name="user_id" /><Days /></div>
      <AuditList list={list} who={who} extra={(r) => (r.tenant_id ? <Link to={`/admin/tenants/${r.tenant_id}`}>{r.tenant_id}</Link> : <span class="muted">the service</span>)} />
    </AdminPage>
  );
}
