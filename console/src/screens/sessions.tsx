// sessions.tsx - the sessions of a tenant: all of them for auditors, else those one takes part in.
import type { AuditSessionListItem, SessionStatus, TaskSessionRead } from "../contract/types";
import { useData, useList } from "../lib/data";
import type { Happening } from "../lib/events";
import { Time, human, plural, straight } from "../lib/format";
import { agentName } from "../lib/names";
import { Link, go, location, setQuery, withQuery } from "../lib/router";
import { can, tenantId, tenantPath } from "../lib/session";
import { Choose, Search, Toggle } from "../ui/filters";
import { Page, Status, type Tone } from "../ui/page";
import { AgentPick } from "../ui/pick-one";
import { DataView } from "../ui/states";
import { type Column, Table } from "../ui/table";

const FILTERS = ["q", "status", "agent", "mine", "page"];
const STATES = ["pending", "running", "waiting_approval", "completed", "failed", "cancelled"] as const;
const TONES: Record<string, Tone> = { running: "pine", waiting_approval: "ember", failed: "danger" };
const PER_PAGE = 50;

type Row = Pick<AuditSessionListItem, "id" | "title" | "status" | "agent_id" | "message_count" | "created_at"> & Partial<Pick<AuditSessionListItem, "agent_name" | "user_name" | "user_email">> & Partial<Pick<TaskSessionRead, "origin" | "waiting_for">>;

// Where one stands, and that there is one; words and pieces change nothing in the list.
const concerns = (e: Happening): boolean => (e.event === "status" || e.event === "session") && e.data.tenant_id === tenantId();
const rail = (s: Row) => (s.status === "running" ? "pine" : s.status === "waiting_approval" || s.waiting_for ? "ember" : s.status === "failed" ? "danger" : "ink") as "pine" | "ember" | "danger" | "ink";

function Rows({ rows, nameOf }: { rows: Row[]; nameOf: (s: Row) => string }) {
  const columns: Column<Row>[] = [
    { name: "Title", cell: (s) => <bdi title={straight(s.title ?? "")}>{straight(s.title || "Without a title")}</bdi> },
    { name: "Agent", cell: (s) => <bdi title={straight(nameOf(s))}>{straight(nameOf(s))}</bdi> },
    { name: "State", cell: (s) => <Status tone={s.waiting_for ? "ember" : TONES[s.status] ?? "plain"}>{s.waiting_for ? `Waits for ${s.waiting_for}` : human(s.status)}</Status> },
    { name: "By", wide: true, cell: (s) => <bdi class="muted">{s.user_name ?? s.user_email ?? (s.origin ? human(s.origin) : "")}</bdi> },
    { name: "Messages", wide: true, figure: true, cell: (s) => s.message_count ?? 0 },
    { name: "Begun", wide: true, cell: (s) => <Time at={s.created_at} /> },
  ];
  return <Table label="Sessions" rows={rows} id={(s) => s.id} to={(s) => tenantPath(`/sessions/${s.id}`)} rail={rail} columns={columns} />;
}

const EMPTY = { title: "There is no session yet", text: "A session is a conversation with an agent; webhooks and mail begin them too.", action: <Link class="button primary" to={tenantPath("/agents")}>Choose an agent</Link> };

interface Filters { q: string; status: SessionStatus | undefined; agent: string }

/** Those one takes part in. */
function Mine({ filters }: { filters: Filters }) {
  const list = useList("GET /me/sessions", { query: { tenant_id: tenantId(), q: filters.q || undefined, status: filters.status, agent_id: filters.agent || undefined } }, concerns);
  return (
    <DataView of={list} empty={EMPTY} filtered={Boolean(filters.q || filters.status || filters.agent)} filters={FILTERS}>
      {(rows) => <><Rows rows={rows} nameOf={(s) => agentName(s.agent_id) ?? "–"} />{list.total !== undefined && <p class="muted small">{plural(list.total, "session")}</p>}</>}
    </DataView>
  );
}

/** Every one of the tenant's, page by page. */
function All({ filters }: { filters: Filters }) {
  const page = Math.max(1, Number(location.value.query.get("page")) || 1);
  const reply = useData("GET /tenant/{tenant_id}/sessions", { path: { tenant_id: tenantId() }, query: { page, per_page: PER_PAGE, q: filters.q || undefined, status: filters.status, agent_id: filters.agent || undefined } }, concerns);
  const rows = { ...reply, data: reply.data?.items, set: () => undefined };
  const pages = Math.ceil((reply.data?.total ?? 0) / PER_PAGE);
  return (
    <DataView of={rows} empty={EMPTY} filtered={Boolean(filters.q || filters.status || filters.agent)} filters={FILTERS}>
      {(items) => (
        <>
          <Rows rows={items} nameOf={(s) => s.agent_name ?? "–"} />
          <nav class="pages" aria-label="Pages">
            {page > 1 && <Link class="button plain" to={withQuery({ page: page > 2 ? String(page - 1) : null })}>Newer</Link>}
            {page < pages && <Link class="button plain" to={withQuery({ page: String(page + 1) })}>Older</Link>}
            <span class="muted small">{plural(reply.data?.total ?? 0, "session")}{pages > 1 ? `, page ${page} of ${pages}` : ""}</span>
          </nav>
        </>
      )}
    </DataView>
  );
}

export default function Sessions() {
  const { query } = location.value;
  const audits = can("audit:read"), mine = !audits || query.get("mine") === "true";
  const status = STATES.find((s) => s === query.get("status"));
  const filters = { q: query.get("q") ?? "", status, agent: query.get("agent") ?? "" };
  return (
    <Page title="Sessions">
      <div class="filters">
        <Search label="Search titles" value={filters.q} set={(q) => setQuery({ q, page: null })} />
        <Choose label="State" value={status ?? ""} words={STATES} set={(s) => go(withQuery({ status: s, page: null }))} />
        <AgentPick label="Agent" named none="All" value={filters.agent} set={(agent) => go(withQuery({ agent, page: null }))} />
        {audits && <Toggle label="Mine" on={mine} set={(on) => go(withQuery({ mine: on ? "true" : null, page: null }))} />}
      </div>
      {mine ? <Mine filters={filters} /> : <All filters={filters} />}
    </Page>
  );
}
