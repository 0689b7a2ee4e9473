// admin-queue.tsx - what waits to be done, and what could not be: dead letters are tried again or dropped.
import { useEffect, useState } from "preact/hooks";
import type { JobRead } from "../contract/types";
import { call } from "../lib/api";
import { useData } from "../lib/data";
import { Time, count, human, span } from "../lib/format";
import { Link, location, setQuery } from "../lib/router";
import { useSlowly } from "../lib/slowly";
import { AdminPage } from "../ui/admin";
import { Button } from "../ui/button";
import { confirm } from "../ui/dialog";
import { Choose } from "../ui/filters";
import { Status, type Tone } from "../ui/page";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { toast } from "../ui/toast";

const STATES = ["waiting", "delayed", "held", "running", "dead"] as const;
const TONES: Record<string, Tone> = { waiting: "lake", delayed: "ember", held: "ember", running: "pine", dead: "danger" };
const FILTERS = ["state", "kind", "tenant_id"];

export default function AdminQueue() {
  const { query } = location.value;
  const state = (query.get("state") as "dead" | null) ?? undefined;
  const [afters, setAfters] = useState<string[]>([]);
  const filters = { state, kind: query.get("kind") || undefined, tenant_id: query.get("tenant_id") || undefined };
  useEffect(() => setAfters([]), [JSON.stringify(filters)]);
  const queue = useData("GET /admin/queue", { query: { ...filters, per_page: 50, after: afters.at(-1) } });
  useSlowly((e) => e.event === "status" || e.event === "session", queue.reload);
  const retry = async (j: JobRead): Promise<void> => {
    await call("POST /admin/queue/{job_id}/retry", { path: { job_id: j.id } });
    toast("It waits for its turn again");
    queue.reload();
  };
  const drop = async (j: JobRead): Promise<void> => {
    if (!(await confirm({ title: `Drop this job of ${j.kind}?`, text: "What it was to do is not done. This cannot be undone.", action: "Drop job", danger: true, type: j.kind }))) return;
    await call("DELETE /admin/queue/{job_id}", { path: { job_id: j.id } });
    queue.reload();
  };
  return (
    <AdminPage title="Queue" lead={queue.data && (queue.data.oldest_seconds ? `What is due has waited for ${span(queue.data.oldest_seconds * 1000)} at most.` : "Nothing is late.")} actions={<Button act={queue.reload}>Read again</Button>}>
      <div class="filters" role="search">
        <Choose label="State" value={state ?? ""} words={STATES} set={(word) => setQuery({ state: word })} />
        <Choose label="Kind" value={query.get("kind") ?? ""} words={[...new Set(queue.data?.counts.map((c) => c.kind) ?? [])]} set={(kind) => setQuery({ kind })} />
      </div>
      <DataView of={queue}>{(q) => (
        <>
          <dl class="figures">{STATES.map((s) => {
            const rows = q.counts.filter((c) => c.state === s);
            return <div key={s}><dt>{human(s)}</dt><dd>{count(rows.reduce((sum, c) => sum + c.jobs, 0))}</dd></div>;
          })}</dl>
          {q.items.length === 0 ? <div class="state"><h2>{FILTERS.some((f) => query.has(f)) ? "Nothing matches" : "The queue is empty"}</h2>{FILTERS.some((f) => query.has(f)) && <Button act={() => setQuery(Object.fromEntries(FILTERS.map((f) => [f, null])))}>Clear filters</Button>}</div>
            : <Table label="Jobs" rows={q.items} id={(j) => j.id} rail={(j) => (j.state === "dead" ? "danger" : j.state === "running" ? "pine" : "ink")} columns={[
              { name: "Kind", cell: (j) => j.kind },
              { name: "State", cell: (j) => <Status tone={TONES[j.state] ?? "plain"} {...(j.state === "dead" ? { icon: "warn" as const } : {})}>{human(j.state)}</Status> },
              { name: "Why", cell: (j) => <span class="free">{j.error ?? j.waits_for ?? ""}</span> },
              { name: "Tenant", wide: true, cell: (j) => <Link to={`/admin/tenants/${j.tenant_id}`}>{j.tenant_id}</Link> },
              { name: "Attempts", figure: true, wide: true, cell: (j) => `${j.attempts} of ${j.max_attempts}` },
              { name: "Due", wide: true, cell: (j) => <Time at={j.run_at} /> },
            ]} actions={(j) => j.state === "dead" && <><Button look="quiet" label={`Try again: ${j.kind} ${j.id}`} act={() => retry(j)}>Try again</Button><Button look="quiet" label={`Drop: ${j.kind} ${j.id}`} act={() => drop(j)}>Drop</Button></>} />}
          <div class="more">{afters.length > 0 && <Button act={() => setAfters(afters.slice(0, -1))}>Back</Button>} {q.next_after && <Button act={() => setAfters([...afters, q.next_after ?? ""])}>Further</Button>}</div>
        </>
      )}</DataView>
    </AdminPage>
  );
}
