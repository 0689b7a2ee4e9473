// models.tsx - which models an agent asks, in which order, and why one cannot be called.
import type { AgentCatalogModel } from "../../contract/types";
import { call } from "../../lib/api";
import { useList } from "../../lib/data";
import { human, tokens, straight } from "../../lib/format";
import { perMillion } from "../../lib/price";
import { Button } from "../../ui/button";
import { Order } from "../../ui/order";
import { Status, Tag } from "../../ui/page";
import { DataView } from "../../ui/states";
import { Table } from "../../ui/table";
import { complain, toast } from "../../ui/toast";
import type { PartProps } from "../agent";

const MOST = 5;

const callable = (m: AgentCatalogModel) => m.callable ? <Status tone="pine" icon="check">Callable</Status>
  : <><Status tone={m.enabled ? "danger" : "plain"} icon={m.enabled ? "warn" : "stop"}>Not callable</Status><span class="muted small why-not">{m.uncallable_reason}</span></>;

export default function Models({ agent, path, may, concerns }: PartProps) {
  const catalog = useList("GET /tenant/{tenant_id}/agents/{agent_id}/models/catalog", { path, query: { per_page: 200 } }, concerns);
  const write = may("agent:models:write");
  const all = catalog.data ?? [];
  const chain = all.filter((m) => m.enabled).sort((a, b) => (a.priority ?? 0) - (b.priority ?? 0));
  const put = async (next: AgentCatalogModel[]): Promise<void> => {
    // At once, and taken back if the service refuses.
    const places = new Map(next.map((m, i) => [m.model_id, i]));
    const before = catalog.set(all.map((m) => ({ ...m, enabled: places.has(m.model_id), priority: places.get(m.model_id) ?? null })));
    try {
      if (next.length) await call("PUT /tenant/{tenant_id}/agents/{agent_id}/models", { path, body: { model_ids: next.map((m) => m.model_id) } });
      else for (const m of chain) await call("DELETE /tenant/{tenant_id}/agents/{agent_id}/models/catalog/{model_id}", { path: { ...path, model_id: m.model_id } });
      catalog.reload();
    } catch (err) {
      if (before) catalog.set(before);
      complain(err);
    }
  };
  return (
    <DataView of={catalog} empty={{ title: "This tenant reaches no model", text: "Whoever runs this service has to grant it one." }}>
      {() => (
        <>
          <section class="part">
            <h2>Chain</h2>
            <p class="muted">The first is asked; the next when it fails. At most {MOST}. Drag, press the arrows, or choose a place.</p>
            {chain.length ? (
              <Order label={`Models of ${agent.name}, in order`} items={chain} id={(m) => m.model_id} name={(m) => m.name} set={write ? (next) => void put(next) : undefined}>
                {(m) => <><strong>{straight(m.name)}</strong> <code class="muted">{m.slug}</code> {m.access === "read_only" && <Tag>read only</Tag>} {callable(m)}</>}
              </Order>
            ) : <p class="notice ember">It has no model to ask. Add one from the catalog below.</p>}
          </section>
          <section class="part">
            <h2>Catalog</h2>
            <Table label="Catalog" rows={all} id={(m) => m.model_id}
              columns={[
                { name: "Model", cell: (m) => <><strong>{straight(m.name)}</strong> <code class="muted">{m.slug}</code></> },
                { name: "Can it be called?", cell: callable },
                { name: "In, per million", figure: true, wide: true, cell: (m) => perMillion(m.prompt_price_usd_per_token) },
                { name: "Out, per million", figure: true, wide: true, cell: (m) => perMillion(m.completion_price_usd_per_token) },
                { name: "Context", figure: true, wide: true, cell: (m) => tokens(m.context_window) },
                { name: "Can", wide: true, cell: (m) => <>{m.supports_tools && <Tag>tools</Tag>} {m.supports_vision && <Tag>pictures</Tag>} {m.status !== "active" && <Tag>{human(m.status)}</Tag>}</> },
              ]}
              {...(write ? { actions: (m: AgentCatalogModel) => m.enabled ? <Button look="quiet" act={() => put(chain.filter((c) => c.model_id !== m.model_id))} label={`Take out ${m.name}`}>Take out</Button>
                : <Button disabled={chain.length >= MOST} label={`Add ${m.name} to the chain`} act={async () => {
                  await put([...chain, m]);
                  toast(`${m.name} is number ${chain.length + 1}`);
                }}>Add</Button> } : {})} />
          </section>
        </>
      )}
    </DataView>
  );
}
