// costs.tsx - what agents cost: bars, a table of the same, and what stands out, with its reason.
//
// The sums are the report's, to the cent; the bars are whole hours or days of UTC, as the service counts them.
import type { AgentCostsResponse, CostSeriesResponse } from "../contract/types";
import { address, call } from "../lib/api";
import { useData } from "../lib/data";
import { useSlowly } from "../lib/slowly";
import { count, day, money, tokens } from "../lib/format";
import { Link, location, setQuery } from "../lib/router";
import { tenantId, tenantPath } from "../lib/session";
import { Bars, type Stack } from "../ui/bars";
import { Button } from "../ui/button";
import { copy } from "../ui/copy";
import { Toggle } from "../ui/filters";
import { Page, Status } from "../ui/page";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { useEffect, useState } from "preact/hooks";

const PERIODS = { "24h": "24 hours", "7d": "7 days", "30d": "30 days", month: "This month" } as const;
const DAY = 86_400_000, SERIES = 5;
interface Row { id: string; name: string; requests: number; input: number; output: number; cost: number; own: number; hits: number | null; share: number; series: number; anomaly: boolean }

/** Rows by agent, or the same sums by model. */
function rowsOf(report: AgentCostsResponse, series: CostSeriesResponse | undefined, by: string): Row[] {
  const all = report.total_cost_usd;
  const rows: Row[] = [];
  if (by === "agent")
    for (const a of report.agents)
      rows.push({ id: a.agent_id, name: a.agent_name, requests: a.requests, input: a.input_tokens + (a.cache_read_tokens ?? 0) + (a.cache_write_tokens ?? 0), output: a.output_tokens, cost: a.cost_usd, own: a.byok_cost_usd ?? 0, hits: a.cache_hit_rate ?? null, share: 0, series: 0, anomaly: a.anomaly ?? false });
  else {
    const sums = new Map<string, Row & { read: number }>();
    for (const m of report.agents.flatMap((a) => a.models ?? [])) {
      const row = sums.get(m.model_id) ?? { id: m.model_id, name: series?.series.find((s) => s.id === m.model_id)?.name ?? m.model_id, requests: 0, input: 0, output: 0, cost: 0, own: 0, hits: null, share: 0, series: 0, anomaly: false, read: 0 };
      row.requests += m.requests;
      row.read += m.cache_read_tokens ?? 0;
      row.input += m.input_tokens + (m.cache_read_tokens ?? 0) + (m.cache_write_tokens ?? 0);
      row.output += m.output_tokens;
      row.cost += m.cost_usd;
      row.hits = row.input ? row.read / row.input : null;
      sums.set(m.model_id, row);
    }
    rows.push(...sums.values());
  }
  rows.sort((a, b) => b.cost - a.cost);
  rows.forEach((r, i) => Object.assign(r, { share: all ? r.cost / all : 0, series: Math.min(i, SERIES) }));
  return rows;
}

function stacksOf(series: CostSeriesResponse, rows: Row[]): Stack[] {
  const at = new Map<number, number[]>();
  const step = series.bucket === "hour" ? DAY / 24 : DAY;
  const start = Math.floor(Date.parse(series.period.from) / step) * step;
  for (let t = start; t < Date.parse(series.period.to) && at.size < 800; t += step) at.set(t, Array(SERIES + 1).fill(0) as number[]);
  for (const s of series.series) {
    const place = rows.find((r) => r.id === s.id)?.series ?? SERIES;
    for (const p of s.points) {
      const parts = at.get(Date.parse(p.at));
      if (parts) parts[place] = (parts[place] ?? 0) + p.cost_usd;
    }
  }
  const words = (t: number): string => day(new Date(t), true, false) + (series.bucket === "hour" ? `, ${new Date(t).toISOString().slice(11, 16)}` : "");
  return [...at].map(([t, parts]) => ({ label: words(t), parts }));
}

const median = (values: number[]): number => {
  const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] ?? 0 : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2;
};

/** Why an agent stands out: what it spent a day, and what it spent in the 28 days before. */
function useReasons(report: AgentCostsResponse | undefined): Record<string, string> {
  const [reasons, setReasons] = useState<Record<string, string>>({});
  const marked = report?.agents.filter((a) => a.anomaly) ?? [];
  const key = marked.map((a) => a.agent_id + a.cost_usd).join();
  useEffect(() => {
    if (!report || !marked.length) return setReasons({});
    const from = Date.parse(report.period.from), to = Date.parse(report.period.to);
    const abort = new AbortController();
    call("GET /tenant/{tenant_id}/billing/timeseries", { path: { tenant_id: tenantId() }, query: { from: new Date(from - 28 * DAY).toISOString(), to: new Date(from).toISOString(), bucket: "day", by: "agent" }, signal: abort.signal }).then((before) => {
      setReasons(Object.fromEntries(marked.map((a) => {
        const days = before.series.find((s) => s.id === a.agent_id)?.points.map((p) => p.cost_usd) ?? [];
        const usual = median([...days, ...(Array(Math.max(0, 28 - days.length)).fill(0) as number[])]);
        return [a.agent_id, `${money(a.cost_usd / Math.max((to - from) / DAY, 1 / 24))} a day; in the 28 days before it was ${money(usual)} on a usual day`];
      })));
    }, () => undefined);
    return () => abort.abort();
  }, [key]);
  return reasons;
}

function Period() {
  const { query } = location.value;
  const own = query.has("from");
  const day = (name: string): string => (query.get(name) ?? "").slice(0, 10);
  const pick = (from: string, to: string): void => setQuery({ from: from && `${from}T00:00:00Z`, to: to && `${to}T00:00:00Z`, period: null });
  return (
    <>
      <label class="choose"><span>Period</span>
        <select value={own ? "own" : query.get("period") ?? "30d"} onChange={(e) => {
          const word = e.currentTarget.value;
          const iso = (t: number): string => new Date(t).toISOString().slice(0, 10);
          if (word === "own") pick(iso(Date.now() - 14 * DAY), iso(Date.now() + DAY));
          else setQuery({ period: word, from: null, to: null });
        }}>
          {Object.entries(PERIODS).map(([word, text]) => <option key={word} value={word}>{text}</option>)}
          <option value="own">From … to …</option>
        </select>
      </label>
      {own && <label class="choose"><span>From</span><input type="date" value={day("from")} onChange={(e) => pick(e.currentTarget.value, day("to"))} /></label>}
      {own && <label class="choose"><span>Before</span><input type="date" value={day("to")} onChange={(e) => pick(day("from"), e.currentTarget.value)} /></label>}
    </>
  );
}

export default function Costs() {
  const { query } = location.value;
  const path = { tenant_id: tenantId() };
  const by = query.get("by") === "model" ? "model" as const : "agent" as const;
  const when: { period?: keyof typeof PERIODS; from?: string | undefined; to?: string | undefined } = query.has("from") ? { from: query.get("from") ?? undefined, to: query.get("to") ?? undefined } : { period: (query.get("period") as keyof typeof PERIODS | null) ?? "30d" };
  const short = when.period === "24h" || (when.from && when.to && Date.parse(when.to) - Date.parse(when.from) <= 2 * DAY);
  const report = useData("GET /tenant/{tenant_id}/billing/agent-costs", { path, query: when });
  const series = useData("GET /tenant/{tenant_id}/billing/timeseries", { path, query: { ...when, by, bucket: short ? "hour" : "day" } });
  const reasons = useReasons(report.data);
  useSlowly((e) => e.event === "usage" && e.data.tenant_id === tenantId(), () => (report.reload(), series.reload()));
  const share = (r: AgentCostsResponse): Promise<void> => {
    const url = new URL(window.location.href);
    url.searchParams.delete("period");
    url.searchParams.set("from", r.period.from);
    url.searchParams.set("to", r.period.to);
    return copy(url.href);
  };
  return (
    <Page title="Costs" lead={report.data && <>{new Date(report.data.period.from).toISOString().slice(0, 16).replace("T", " ")} to {new Date(report.data.period.to).toISOString().slice(0, 16).replace("T", " ")} UTC</>}
      actions={report.data && <>
        <Button icon="link" act={() => share(report.data as AgentCostsResponse)}>Copy link to this</Button>
        <a class="button plain" download="costs.csv" href={address("GET /tenant/{tenant_id}/billing/agent-costs", path, { ...when, format: "csv" })}>CSV</a>
      </>}>
      <div class="filters" role="search">
        <Period />
        <Toggle label="By agent" on={by === "agent"} set={() => setQuery({ by: null })} />
        <Toggle label="By model" on={by === "model"} set={() => setQuery({ by: "model" })} />
        <Toggle label="Bars as a table" on={query.has("table")} set={(on) => setQuery({ table: on ? "1" : null })} />
      </div>
      <DataView of={report}>
        {(r) => {
          const rows = rowsOf(r, series.data, by);
          const first = rows[0];
          const names = [...rows.slice(0, SERIES).map((row) => row.name), ...(rows.length > SERIES ? ["Others"] : [])];
          return (
            <div class="costs">
              <p class="total"><strong data-total={r.total_cost_usd}>{money(r.total_cost_usd)}</strong> <span class="muted">{money(r.total_provider_cost_usd)} on this service's keys, {money(r.total_byok_cost_usd)} on your own{first && first.cost > 0 && <>; {first.name} is {(first.share * 100).toFixed(1)}%</>}</span></p>
              {rows.length === 0 && <div class="state"><h2>Nothing was spent</h2><p>No model was called in this time. Costs appear here seconds after a call has ended.</p></div>}
              {rows.length > 0 && series.data && <Bars label="Costs over time" names={names} stacks={stacksOf(series.data, rows)} show={(v) => (v === 0 ? "$0" : money(v, v < 1 ? 4 : 2))} table={query.has("table")} />}
              {rows.length > 0 && <Table label={`Costs by ${by}`} rows={rows} id={(row) => row.id} rail={(row) => (row.anomaly ? "ember" : "ink")} columns={[
                { name: by === "agent" ? "Agent" : "Model", cell: (row) => <span class="swatched"><svg width="10" height="10" aria-hidden="true"><rect width="10" height="10" class={`series-${row.series + 1}`} /></svg>{by === "agent" && row.id !== "direct" ? <Link to={tenantPath(`/agents/${row.id}`)}>{row.name}</Link> : row.name}</span> },
                { name: "Cost", figure: true, cell: (row) => money(row.cost, 4) },
                { name: "Share", figure: true, wide: true, cell: (row) => `${(row.share * 100).toFixed(1)}%` },
                { name: "Calls", figure: true, wide: true, cell: (row) => count(row.requests) },
                { name: "Tokens in", figure: true, wide: true, cell: (row) => tokens(row.input) },
                { name: "Tokens out", figure: true, wide: true, cell: (row) => tokens(row.output) },
                { name: "From cache", figure: true, wide: "most", cell: (row) => (row.hits === null ? "–" : `${Math.round(row.hits * 100)}%`) },
                ...(by === "agent" ? [
                  { name: "Own keys", figure: true, wide: "most" as const, cell: (row: Row) => money(row.own, 4) },
                  { name: "Stands out", cell: (row: Row) => row.anomaly && <><Status tone="ember" icon="warn">Far more than usual</Status><br /><span class="muted small">{reasons[row.id] ?? ""}</span></> },
                ] : []),
              ]} />}
            </div>
          );
        }}
      </DataView>
    </Page>
  );
}
