// model.tsx - one model: what it costs and can; who may use it; for super administrators also how it is reached and what takes its place.
import { useState } from "preact/hooks";
import { AdminModelUpdate, AgentModelGrant } from "../contract/forms";
import type { AgentModelGrant as GrantBody, ModelPricing, ModelRead, TenantModel } from "../contract/types";
import { Problem, call, tagged } from "../lib/api";
import { useData, useList } from "../lib/data";
import { Time, tokens } from "../lib/format";
import { can, tenantId } from "../lib/session";
import type { ScreenProps } from "../routes";
import { Button } from "../ui/button";
import { ContractForm } from "../ui/form";
import { save } from "../ui/merge";
import { Order } from "../ui/order";
import { Facts, Page, Tag } from "../ui/page";
import { Pairs } from "../ui/pairs";
import { type Choice, Pick, finding, walking } from "../ui/pick";
import { DataView, Empty } from "../ui/states";
import { complain, toast } from "../ui/toast";
import { modelState, priceOf } from "./models";

function Prices({ model }: { model: { pricing: ModelPricing } }) {
  return (
    <section class="part">
      <h2>Prices</h2>
      <dl class="figures">
        {[["prompt", "Input"], ["completion", "Output"], ["cache_read", "Read from a cache"], ["cache_write", "Written to a cache"]].map(([name, words]) => <div key={name}><dt>{words}</dt><dd>{priceOf(model, name ?? "")}</dd></div>)}
      </dl>
      <p class="help">Dollars for a million tokens. A dash: no price is set, and it counts as nothing.</p>
    </section>
  );
}

/** Giving it to a person: models that cost something need that, unless the tenant has switched it off. */
function People({ model }: { model: TenantModel }) {
  const [who, setWho] = useState<Choice | null>(null);
  const [has, setHas] = useState<boolean | null>(null);
  const path = { tenant_id: tenantId(), model_id: model.id };
  const look = async (c: Choice | null): Promise<void> => {
    setWho(c);
    setHas(null);
    if (!c) return;
    try {
      await call("GET /tenant/{tenant_id}/models/{model_id}/users/{user_id}", { path: { ...path, user_id: c.id } });
      setHas(true);
    } catch (err) {
      if (err instanceof Problem && err.status === 404) setHas(false);
      else complain(err);
    }
  };
  const set = async (on: boolean): Promise<void> => {
    if (!who) return;
    const to = { path: { ...path, user_id: who.id } };
    if (on) await call("PUT /tenant/{tenant_id}/models/{model_id}/users/{user_id}", to);
    else await call("DELETE /tenant/{tenant_id}/models/{model_id}/users/{user_id}", to);
    setHas(on);
    toast(on ? `${who.label} may use ${model.name}` : `${who.label} no longer has a grant for ${model.name}`);
  };
  return (
    <section class="part narrow">
      <h2>People</h2>
      <Pick label="Whether somebody may use it" find={finding("user")} value={who} set={(c) => void look(c)} help="Owners and administrators may use every model; free ones are for everybody." />
      {who && has !== null && <p class="panel" aria-live="polite"><span>{who.label} {has ? "has a grant for it." : "has no grant for it."}</span> <span><Button act={() => set(!has)}>{has ? "Take the grant" : "Grant it"}</Button></span></p>}
    </section>
  );
}

function ToAgent({ model }: { model: TenantModel }) {
  const [who, setWho] = useState<Choice | null>(null);
  return (
    <section class="part narrow">
      <h2>Put it into an agent's chain</h2>
      <Pick label="Agent" find={finding("agent")} value={who} set={setWho} />
      {who && <ContractForm key={who.id} form={AgentModelGrant} without={["agent_id"]} action={`Give it to ${who.label}`} send={async (body) => {
        await call("POST /tenant/{tenant_id}/models/{model_id}/agents", { path: { tenant_id: tenantId(), model_id: model.id }, body: { ...body, agent_id: who.id } as unknown as GrantBody });
        toast(`${who.label} has ${model.name}`);
        setWho(null);
      }} />}
    </section>
  );
}

function Failover({ value, set, self }: { value: string; set: (v: string) => void; self: string }) {
  const all = useList("GET /admin/models", { query: { per_page: 200 } });
  const ids = value.split("\n").filter(Boolean);
  const name = (id: string): string => all.data?.find((m) => m.id === id)?.name ?? id;
  return (
    <div class="pairs">
      {ids.length > 0 && <Order label="Failover chain" items={ids} id={(id) => id} name={name} set={(next) => set(next.join("\n"))}>{(id) => name(id)}</Order>}
      <Pick key={ids.length} label="Add a model to the failover chain" find={walking("GET /admin/models", {}, (m) => (m.id === self || ids.includes(m.id) ? null : { id: m.id, label: m.name, detail: m.slug }))} value={null} set={(c) => c && set([...ids, c.id].join("\n"))} />
    </div>
  );
}

function Admin({ id }: { id: string }) {
  const path = { model_id: id };
  const model = useData("GET /admin/models/{model_id}", { path });
  return (
    <section class="part narrow">
      <h2>For the whole service</h2>
      <DataView of={model} rows={6}>
        {(m: ModelRead) => (
          <ContractForm form={AdminModelUpdate} value={m as unknown as Record<string, unknown>} action="Save model"
            custom={{
              pricing: (v, set) => <Pairs label="Prices, dollars a token" text={String(v)} set={set} names={["prompt", "completion", "cache_read", "cache_write"]} />,
              failover_chain: (v, set) => <Failover value={String(v)} set={set} self={id} />,
            }}
            send={async (change) => {
              const now = await save({ base: m, etag: model.etag, change, read: () => tagged("GET /admin/models/{model_id}", { path }), write: (body, match) => tagged("PATCH /admin/models/{model_id}", { path, body, match }) });
              model.reload();
              toast(now ? "Saved" : "Theirs is kept");
            }} />
        )}
      </DataView>
    </section>
  );
}

export default function Model({ params }: ScreenProps) {
  const id = params["model"] ?? "";
  const models = useList("GET /tenant/{tenant_id}/models", { path: { tenant_id: tenantId() }, query: { per_page: 200 } });
  const model = models.data?.find((m) => m.id === id);
  return (
    <Page title={model?.name ?? "Model"} lead={model && <>{modelState(model)} {model.is_free && <Tag>free</Tag>}</>}>
      <DataView of={models}>
        {() => model ? (
          <>
            {model.description && <p class="part">{model.description}</p>}
            <Prices model={model} />
            <Facts rows={[["Slug", <code>{model.slug}</code>], ["Driven by", model.kind], ["Context", `${tokens(model.context_window)} tokens`], ["Tools", model.supports_tools ? "can call them" : "cannot call them"], ["Pictures", model.supports_vision ? "can read them" : "cannot read them"], ["Since", <Time at={model.created_at} />]]} />
            {can("tenant:read") && <ToAgent model={model} />}
            {can("members:write") && !model.is_free && <People model={model} />}
            {can("super_admin") && <Admin id={model.id} />}
          </>
        ) : <Empty title="There is no such model" text="It is gone, or this tenant can no longer reach it." />}
      </DataView>
    </Page>
  );
}
