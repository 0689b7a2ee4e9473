// models.tsx - the models that this tenant reaches, with their prices.
import type { ModelPricing, TenantModel } from "../contract/types";
import { useList } from "../lib/data";
import { human, plural, tokens } from "../lib/format";
import { location, setQuery } from "../lib/router";
import { perMillion } from "../lib/price";
import { tenantId, tenantPath } from "../lib/session";
import { Search } from "../ui/filters";
import { Page, Status, Tag } from "../ui/page";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";

export function modelState(m: Pick<TenantModel, "status">) {
  switch (m.status) {
    case "active": return <Status tone="pine">Active</Status>;
    case "experimental": return <Status tone="lake">Experimental</Status>;
    case "deprecated": return <Status tone="ember" icon="warn">Deprecated</Status>;
    default: return <Status tone="plain">{human(m.status)}</Status>;
  }
}

export const priceOf = (m: { pricing: ModelPricing; is_free?: boolean }, name: string): string =>
  perMillion(m.pricing[name as keyof ModelPricing]);

export default function Models() {
  const q = location.value.query.get("q") ?? "";
  const models = useList("GET /tenant/{tenant_id}/models", { path: { tenant_id: tenantId() }, query: { per_page: 200 } });
  const shown = models.data?.filter((m) => `${m.name} ${m.slug} ${m.description ?? ""}`.toLowerCase().includes(q.toLowerCase()));
  return (
    <Page title="Models" lead={models.total === undefined ? undefined : plural(models.total, "model")}>
      <div class="filters" role="search"><Search label="Search models" value={q} set={(text) => setQuery({ q: text })} /></div>
      <DataView of={{ ...models, data: shown }} filtered={q !== ""} filters={["q"]} empty={{ title: "This tenant reaches no model", text: "Whoever runs this service has to grant it one." }}>
        {(rows) => (
          <Table label="Models" rows={rows} id={(m) => m.id} to={(m) => tenantPath(`/models/${m.id}`)}
            columns={[
              { name: "Model", cell: (m) => m.name },
              { name: "State", cell: (m) => <>{modelState(m)} {m.is_free && <Tag>free</Tag>}</> },
              { name: "In, per million", figure: true, wide: true, cell: (m) => priceOf(m, "prompt") },
              { name: "Out, per million", figure: true, wide: true, cell: (m) => priceOf(m, "completion") },
              { name: "Context", figure: true, wide: true, cell: (m) => tokens(m.context_window) },
              { name: "Can", wide: true, cell: (m) => <>{m.supports_tools && <Tag>tools</Tag>} {m.supports_vision && <Tag>pictures</Tag>}</> },
            ]} />
        )}
      </DataView>
    </Page>
  );
}
