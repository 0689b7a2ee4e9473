// audit-sessions.tsx - every session of the tenant, for those who may see them all.
import { useEffect, useState } from "preact/hooks";
import type { AuditSessionListResponse } from "../contract/types";
import { useData } from "../lib/data";
import { Time, count, human, plural } from "../lib/format";
import { location, setQuery } from "../lib/router";
import { tenantId, tenantPath } from "../lib/session";
import { useSlowly } from "../lib/slowly";
import { Days } from "../ui/audit-list";
import { Button } from "../ui/button";
import { Choose, Search } from "../ui/filters";
import { Page, Status, type Tone } from "../ui/page";
import { AgentPick, MemberPick } from "../ui/pick-one";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { AuditTabs } from "./audit";

const FILTERS = ["q", "status", "agent_id", "user_id", "from", "to", "page"];
const WORDS = ["pending", "running", "waiting_approval", "completed", "failed", "cancelled"];
const TONES: Record<string, Tone> = { running: "pine", waiting_approval: "ember", failed: "danger", pending: "lake" };

export default function AuditSessions() {
  const { query } = location.value;
  const [text, setText] = useState(query.get("q") ?? "");
  useEffect(() => setText(query.get("q") ?? ""), [query.get("q")]);
  const moment = (name: string): string | undefined => (query.get(name) ? `${query.get(name)}T00:00:00Z` : undefined);
  const page = Number(query.get("page")) || 1;
  const list = useData("GET /tenant/{tenant_id}/sessions", { path: { tenant_id: tenantId() }, query: {
    q: query.get("q") || undefined, status: (query.get("status") as "running" | null) ?? undefined, agent_id: query.get("agent_id") || undefined, user_id: query.get("user_id") || undefined, from: moment("from"), to: moment("to"), page, per_page: 50,
  } });
  useSlowly((e) => e.event === "status" && e.data.tenant_id === tenantId(), list.reload);
  return (
    <Page title="Sessions" lead={list.data && plural(list.data.total, "session")}>
      <AuditTabs />
      <div class="filters" role="search">
        <Search label="Search titles" value={text} set={(q) => (setText(q), setQuery({ q, page: null }))} />
        <Choose label="State" value={query.get("status") ?? ""} words={WORDS} set={(status) => setQuery({ status, page: null })} />
        <AgentPick label="Agent" named none="All" value={query.get("agent_id") ?? ""} set={(agent_id) => setQuery({ agent_id, page: null })} />
        <MemberPick label="Begun by" named none="Anybody" value={query.get("user_id") ?? ""} set={(user_id) => setQuery({ user_id, page: null })} />
        <Days />
      </div>
      <DataView<AuditSessionListResponse> of={list}>{(r) => r.items.length === 0
        ? <div class="state"><h2>{FILTERS.some((f) => query.has(f)) ? "Nothing matches" : "No sessions yet"}</h2>{FILTERS.some((f) => query.has(f)) && <Button act={() => setQuery(Object.fromEntries(FILTERS.map((f) => [f, null])))}>Clear filters</Button>}</div>
        : <>
          <Table label="Sessions" rows={r.items} id={(s) => s.id} to={(s) => tenantPath(`/audit/sessions/${s.id}`)} rail={(s) => (s.status === "failed" ? "danger" : s.status === "running" ? "pine" : s.status === "waiting_approval" ? "ember" : "ink")} columns={[
            { name: "Title", cell: (s) => s.title ?? s.id },
            { name: "State", cell: (s) => <Status tone={TONES[s.status] ?? "plain"}>{human(s.status)}</Status> },
            { name: "Agent", wide: true, cell: (s) => s.agent_name ?? s.agent_id },
            { name: "Begun by", wide: true, cell: (s) => s.user_name ?? s.user_email ?? "" },
            { name: "Messages", wide: true, figure: true, cell: (s) => count(s.message_count) },
            { name: "Begun", cell: (s) => <Time at={s.created_at} /> },
          ]} />
          <div class="more">{page > 1 && <Button act={() => setQuery({ page: String(page - 1) })}>Newer</Button>} {page * r.per_page < r.total && <Button act={() => setQuery({ page: String(page + 1) })}>Older</Button>}</div>
        </>}</DataView>
    </Page>
  );
}
