// audit.tsx - every change in the tenant: who did what, from what to what.
import { address } from "../lib/api";
import { useList } from "../lib/data";
import { location, setQuery } from "../lib/router";
import { useSlowly } from "../lib/slowly";
import { can, tenantId, tenantPath } from "../lib/session";
import { AuditList, Days, Word, auditQuery } from "../ui/audit-list";
import { Page } from "../ui/page";
import { AgentPick, MemberPick } from "../ui/pick-one";
import { Tabs } from "../ui/tabs";

export function AuditTabs() {
  return <Tabs label="Audit" tabs={[{ to: tenantPath("/audit"), label: "Changes" }, { to: tenantPath("/audit/sessions"), label: "Sessions" }]} />;
}

export default function Audit() {
  const { query } = location.value;
  const path = { tenant_id: tenantId() };
  const list = useList("GET /tenant/{tenant_id}/audit-logs", { path, query: auditQuery() });
  useSlowly((e) => ["status", "message", "approval"].includes(e.event) && e.data.tenant_id === path.tenant_id, list.reload);
  const members = useList("GET /tenant/{tenant_id}/members", { path, query: { per_page: 200 } });
  const who = (id: string): string => {
    const m = members.data?.find((x) => x.user_id === id);
    return m?.name ?? m?.email ?? id;
  };
  return (
    <Page title="Audit log" lead="Entries are chained; lodge check --audit proves that none was changed."
      actions={<a class="button plain" download="audit.ndjson" href={address("GET /tenant/{tenant_id}/audit-logs", path, { ...auditQuery(), format: "ndjson" })}>Export</a>}>
      <AuditTabs />
      <div class="filters" role="search">
        <Word label="Action" name="action" />
        <Word label="Kind" name="resource_type" />
        {can("members:read") && <MemberPick label="By" named none="Anybody" value={query.get("user_id") ?? ""} set={(id) => setQuery({ user_id: id })} />}
        <AgentPick label="Agent" named none="All" value={query.get("agent_id") ?? ""} set={(id) => setQuery({ agent_id: id })} />
        <Days />
      </div>
      <AuditList list={list} who={who} />
    </Page>
  );
}
