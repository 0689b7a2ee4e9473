// pick-one.tsx - choosing one agent or one member of the tenant, by name.
import { useState } from "preact/hooks";
import { useData, useList } from "../lib/data";
import { straight } from "../lib/format";
import { agentName } from "../lib/names";
import { tenantId } from "../lib/session";
import { Pick, searching } from "./pick";

interface Props { label: string; value: string; set: (id: string) => void; none?: string; named?: boolean }

function Options({ label, value, set, none, rows, named = false }: Props & { rows: [string, string][] | undefined }) {
  const missing = value && rows && !rows.some(([id]) => id === value);
  const select = (
    <select aria-label={named ? undefined : label} value={value} onChange={(e) => set(e.currentTarget.value)}>
      <option value="">{none ?? "Choose…"}</option>
      {(missing || (value && !rows)) && <option value={value}>{value}</option>}
      {rows?.map(([id, name]) => <option key={id} value={id}>{straight(name)}</option>)}
    </select>
  );
  return named ? <label class="choose"><span>{label}</span>{select}</label> : select;
}

/** One of more agents than a list of choices holds: by typing, found by the service. */
function ManyAgents({ label, value, set, none, named = false }: Props) {
  const path = { tenant_id: tenantId() };
  const pick = <Pick label={label} bare placeholder={none ?? "Type a name"} value={value ? { id: value, label: agentName(value) ?? value } : null} set={(c) => set(c?.id ?? "")}
    find={searching("GET /tenant/{tenant_id}/agents", path, (a) => ({ id: a.id, label: a.name, detail: a.slug }), { include_hidden: true, sort: "name" })} />;
  return named ? <div class="choose"><span>{label}</span>{pick}</div> : pick;
}

/** `named`: with its label before it, as a filter. */
export function AgentPick(props: Props) {
  const list = useList("GET /tenant/{tenant_id}/agents", { path: { tenant_id: tenantId() }, query: { per_page: 200, sort: "name", include_hidden: true, total: false } });
  return list.data && list.more ? <ManyAgents {...props} /> : <Options {...props} rows={list.data?.map((a) => [a.id, a.name])} />;
}

/** Many members are found by the service's index, by the beginning of a name or an address. */
export function MemberPick(props: Props) {
  const [q, setQ] = useState("");
  const path = { tenant_id: tenantId() };
  const list = useList("GET /tenant/{tenant_id}/members", { path, query: { per_page: 200 } });
  const found = useData("GET /tenant/{tenant_id}/autocomplete", q ? { path, query: { q, types: ["user"], limit: 20 } } : null);
  const rows = q ? found.data?.items.map((c): [string, string] => [c.id, c.label]) : list.data?.map((m): [string, string] => [m.user_id, m.name ?? m.email]);
  return (
    <>
      {(q || list.more) && <input type="search" class="pick-search" aria-label={`${props.label}: search`} placeholder="Search" value={q} onInput={(e) => setQ(e.currentTarget.value)} />}
      <Options {...props} rows={rows} />
    </>
  );
}
