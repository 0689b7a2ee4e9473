// plans.tsx - what tenants may have, and for how much; for super administrators.
import { useRef } from "preact/hooks";
import { PlanCreate, PlanUpdate } from "../contract/forms";
import type { PlanCreate as Body } from "../contract/types";
import { call, tagged } from "../lib/api";
import { useData, useList } from "../lib/data";
import { count, money, straight } from "../lib/format";
import { Link, go, location, withQuery } from "../lib/router";
import { slugOf } from "../lib/slug";
import { AdminPage } from "../ui/admin";
import { ContractForm } from "../ui/form";
import { save } from "../ui/merge";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { toast } from "../ui/toast";

const limit = (n: number | null): string => (n === null ? "no limit" : count(n));

export default function Plans() {
  const open = location.value.query.get("plan");
  const plans = useList("GET /admin/plans", {});
  const own = useRef("");
  const create = <Link to={withQuery({ plan: "new" })} class="button primary">New plan</Link>;
  const close = (): void => go(withQuery({ plan: null }));
  const at = { plan_id: open ?? "" };
  const one = useData("GET /admin/plans/{plan_id}", open && open !== "new" ? { path: at } : null);
  const opened = one.data;
  return (
    <AdminPage title="Plans" lead="A change of a plan holds for every tenant that has it, at once." actions={create}>
      {open === "new" && (
        <section class="panel narrow" aria-label="New plan">
          <h2>New plan</h2>
          <ContractForm within="plan" form={PlanCreate} action="Create plan" cancel={close}
            follow={(typed, changed) => {
              if (changed !== "name" || typed["slug"] !== own.current) return;
              own.current = slugOf(String(typed["name"]));
              return { slug: own.current };
            }}
            send={async (body) => {
              const made = await call("POST /admin/plans", { body: body as unknown as Body });
              toast(`${made.name} is made`);
              own.current = "";
              plans.reload();
              close();
            }} />
        </section>
      )}
      {open && open !== "new" && !opened && <DataView of={one} rows={2}>{() => null}</DataView>}
      {opened && (
        <section class="panel narrow" aria-label={opened.name} key={opened.id}>
          <h2>{straight(opened.name)}</h2>
          <ContractForm within="plan" form={PlanUpdate} value={opened as unknown as Record<string, unknown>} action="Save plan" cancel={close} send={async (change) => {
            const now = await save({ base: opened, etag: one.etag, change, read: () => tagged("GET /admin/plans/{plan_id}", { path: at }), write: (body, match) => tagged("PATCH /admin/plans/{plan_id}", { path: at, body, match }) });
            toast(now ? "Saved" : "Theirs is kept");
            one.reload();
            plans.reload();
          }} />
        </section>
      )}
      <DataView of={plans} empty={{ title: "No plans yet", action: create }}>
        {(rows) => (
          <Table label="Plans" rows={rows} id={(p) => p.id} to={(p) => withQuery({ plan: p.id })}
            columns={[
              { name: "Plan", cell: (p) => p.name },
              { name: "A month", figure: true, cell: (p) => money(p.monthly_price_usd) },
              { name: "Agents", figure: true, wide: true, cell: (p) => limit(p.max_agents) },
              { name: "Members", figure: true, wide: true, cell: (p) => limit(p.max_members) },
              { name: "Sessions a day", figure: true, wide: true, cell: (p) => limit(p.max_sessions_per_day) },
            ]} />
        )}
      </DataView>
    </AdminPage>
  );
}
