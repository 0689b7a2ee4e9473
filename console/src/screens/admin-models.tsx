// admin-models.tsx - the models of the service, what they cost, and whom they are open to.
import { ModelConfig, ModelCreate } from "../contract/forms";
import type { ModelCreate as Body, ModelPricing, ModelRead } from "../contract/types";
import { call } from "../lib/api";
import { useList } from "../lib/data";
import { human, tokens } from "../lib/format";
import { perMillion } from "../lib/price";
import { go } from "../lib/router";
import { AdminPage } from "../ui/admin";
import { Button } from "../ui/button";
import { Dialog, over } from "../ui/dialog";
import { ContractForm } from "../ui/form";
import { nested } from "../ui/nested";
import { Status, Tag } from "../ui/page";
import { Pairs } from "../ui/pairs";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";

/** USD a token, as dollars a million. */
export const priceOf = (m: { pricing: ModelPricing }, name: string): string => {
  const price = m.pricing[name as keyof ModelPricing];
  return price === undefined || price === null ? "–" : perMillion(price);
};

/** How a model is reached; the values of its headers are never read back. */
export const modelConfig = nested(ModelConfig, ["api_key_set"], { headers: (value, set) => <Pairs label="Headers" secret sealed text={String(value)} set={set} /> });

export function ModelState({ of: m }: { of: ModelRead }) {
  return <Status tone={m.status === "active" ? "pine" : m.status === "disabled" ? "danger" : "ember"}>{human(m.status)}</Status>;
}

export default function AdminModels() {
  const list = useList("GET /admin/models", {});
  const make = async (): Promise<void> => {
    const id = await over<string>((close) => (
      <Dialog title="New model" onClose={() => close(null)} wide>
        <ContractForm form={ModelCreate} first={["name", "slug", "kind", "config", "pricing", "is_free", "available_to_all_tenants"]} custom={{ config: modelConfig }} action="Create model" cancel={() => close(null)} send={async (body) => close((await call("POST /admin/models", { body: body as unknown as Body })).id)} />
      </Dialog>
    ));
    if (id) go(`/admin/models/${id}`);
  };
  const button = <Button look="primary" act={make}>New model</Button>;
  return (
    <AdminPage title="All models" lead="Prices are dollars a million tokens." actions={button}>
      <DataView of={list} empty={{ title: "No models yet", text: "Agents need at least one model that they may call.", action: button }}>
        {(rows) => <Table label="Models" rows={rows} id={(m) => m.id} to={(m) => `/admin/models/${m.id}`} rail={(m) => (m.status === "disabled" ? "danger" : "ink")} columns={[
          { name: "Name", cell: (m) => m.name },
          { name: "Slug", wide: true, cell: (m) => <code>{m.slug}</code> },
          { name: "Kind", wide: true, cell: (m) => m.kind },
          { name: "State", cell: (m) => <><ModelState of={m} /> {m.is_free && <Tag>free</Tag>}</> },
          { name: "In", figure: true, cell: (m) => priceOf(m, "prompt") },
          { name: "Out", figure: true, cell: (m) => priceOf(m, "completion") },
          { name: "Context", figure: true, wide: true, cell: (m) => tokens(m.context_window) },
          { name: "Open to", wide: true, cell: (m) => (m.available_to_all_tenants ? "all tenants" : "some tenants") },
        ]} />}
      </DataView>
    </AdminPage>
  );
}
