// audit-list.tsx - entries of the audit log with their filters, for one tenant or for all.
import type { AuditLogRead } from "../contract/types";
import type { List } from "../lib/data";
import { Time, exact } from "../lib/format";
import { location, setQuery } from "../lib/router";
import { Changes } from "./changes";
import { DataView } from "./states";
import { Table } from "./table";
import type { ComponentChildren } from "preact";

export const AUDIT_FILTERS = ["action", "resource_type", "user_id", "agent_id", "from", "to", "tenant_id"];

/** The filters of the address as the operation takes them. */
export function auditQuery(): Record<string, string | undefined> {
  const { query } = location.value;
  const moment = (name: string): string | undefined => (query.get(name) ? `${query.get(name)}T00:00:00Z` : undefined);
  return { ...Object.fromEntries(AUDIT_FILTERS.map((f) => [f, query.get(f) || undefined])), from: moment("from"), to: moment("to") };
}

export function Word({ label, name }: { label: string; name: string }) {
  const value = location.value.query.get(name) ?? "";
  return <label class="choose"><span>{label}</span><input key={value} defaultValue={value} spellcheck={false} onChange={(e) => setQuery({ [name]: e.currentTarget.value.trim() })} /></label>;
}

export function Days() {
  const { query } = location.value;
  return <>{["from", "to"].map((name) => <label key={name} class="choose"><span>{name === "from" ? "From" : "Before"}</span><input type="date" value={query.get(name) ?? ""} onChange={(e) => setQuery({ [name]: e.currentTarget.value })} /></label>)}</>;
}

export function AuditList({ list, who, extra }: { list: List<AuditLogRead>; who: (id: string) => string; extra?: (row: AuditLogRead) => ComponentChildren }) {
  const { query } = location.value;
  return (
    <DataView of={list} filtered={AUDIT_FILTERS.some((f) => query.has(f))} filters={AUDIT_FILTERS} empty={{ title: "Nothing was done yet", text: "Every change leaves an entry here." }}>
      {(rows) => (
        <Table label="Audit log" rows={rows} id={(r) => r.id} columns={[
          { name: "What", cell: (r) => <button type="button" class="link" title="Only entries of this kind" onClick={() => setQuery({ action: r.action })}>{r.action}</button> },
          { name: "By", wide: true, cell: (r) => (r.user_id ? who(r.user_id) : <span class="muted">nobody</span>) },
          ...(extra ? [{ name: "Tenant", wide: true, cell: extra }] : []),
          { name: "Details", cell: (r) => (
            <details class="entry free"><summary>{r.resource_type}</summary>
              <Changes meta={r.meta} />
              <p class="muted small">{exact(r.created_at)}{r.user_id && <>, by {who(r.user_id)}</>}{r.resource_id && <>, {r.resource_type} <code>{r.resource_id}</code></>}{r.agent_id && <>, agent <code>{r.agent_id}</code></>}{r.ip && <>, from {r.ip}</>}{r.user_agent && <>, {r.user_agent}</>}</p>
            </details>
          ) },
          { name: "When", cell: (r) => <Time at={r.created_at} /> },
        ]} />
      )}
    </DataView>
  );
}
