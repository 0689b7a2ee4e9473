// integration.tsx - one integration: its address, its guardrails, its secret, and every call that came.
import { IntegrationGuardrails, IntegrationRotate, IntegrationUpdate } from "../contract/forms";
import type { DeliveryRead, DeliveryStatus, IntegrationRead, IntegrationRotate as RotateBody } from "../contract/types";
import { call, tagged } from "../lib/api";
import { useData, useList } from "../lib/data";
import { Time, straight } from "../lib/format";
import { agentName } from "../lib/names";
import { Link, go, location, setQuery } from "../lib/router";
import { me, tenantId, tenantPath } from "../lib/session";
import type { ScreenProps } from "../routes";
import { Button } from "../ui/button";
import { Copy } from "../ui/copy";
import { DeliveryState, outcomeOf, railOf } from "../ui/delivery";
import { Dialog, confirm, over } from "../ui/dialog";
import { Choose } from "../ui/filters";
import { ContractForm } from "../ui/form";
import { save } from "../ui/merge";
import { nested } from "../ui/nested";
import { Facts, Page } from "../ui/page";
import { AgentPick } from "../ui/pick-one";
import { showSecret } from "../ui/secret";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { Tabs } from "../ui/tabs";
import { toast } from "../ui/toast";
import { STEPS } from "./integration-new";
import { State } from "./integrations";

const STATES = ["rejected", "blocked", "accepted", "delivered", "failed"];

function Settings({ of: i, etag, changed }: { of: IntegrationRead; etag: string | null; changed: () => void }) {
  const path = { tenant_id: i.tenant_id, integration_id: i.id };
  return (
    <div class="page-part"><ContractForm form={IntegrationUpdate} value={i as unknown as Record<string, unknown>} without={["acts_as_id"]} first={["label", "agent_id", "instructions", "is_active", "guardrails"]} action="Save"
      custom={{ agent_id: (value, set) => <AgentPick label="Agent" value={String(value)} set={set} />, guardrails: nested(IntegrationGuardrails) }}
      send={async (change) => {
        await save({ base: i, etag, change, read: () => tagged("GET /tenant/{tenant_id}/integrations/{integration_id}", { path }), write: (body, match) => tagged("PATCH /tenant/{tenant_id}/integrations/{integration_id}", { path, body, match }) });
        toast("Saved");
        changed();
      }} /></div>
  );
}

function AgentName({ id }: { id: string }) {
  return <Link to={tenantPath(`/agents/${id}`)}>{straight(agentName(id) ?? id)}</Link>;
}

function Log({ path }: { path: { tenant_id: string; integration_id: string } }) {
  const { query } = location.value;
  const status = (query.get("status") as DeliveryStatus | null) ?? undefined;
  const log = useList("GET /tenant/{tenant_id}/integrations/{integration_id}/deliveries", { path, query: { status } }, (e) => e.data.tenant_id === path.tenant_id && ["status", "session", "message"].includes(e.event));
  return (
    <>
      <div class="filters" role="search">
        <Choose label="State" value={status ?? ""} words={STATES} set={(word) => setQuery({ status: word })} />
        <Button look="quiet" act={log.reload}>Read again</Button>
      </div>
      <DataView of={log} filtered={Boolean(status)} filters={["status"]} empty={{ title: "No calls yet", text: "Every call stands here, whether it was let in or not. A test event shows whether the agent does what it should." }}>
        {(rows) => <Table label="Deliveries" rows={rows} id={(d) => d.id} to={(d) => tenantPath(`/integrations/${path.integration_id}/deliveries/${d.id}`)} rail={railOf} columns={[
          { name: "Event", cell: (d) => d.event ? `${d.event}${d.action ? `.${d.action}` : ""}` : "unknown" },
          { name: "State", cell: (d) => <DeliveryState of={d} /> },
          { name: "What", wide: true, cell: (d: DeliveryRead) => <span class="cut">{d.error ?? d.summary ?? outcomeOf(d.outcome)}</span> },
          { name: "Calls", wide: true, figure: true, cell: (d) => d.calls },
          { name: "When", cell: (d) => <Time at={d.created_at} /> },
        ]} />}
      </DataView>
    </>
  );
}

export default function Integration({ params }: ScreenProps) {
  const path = { tenant_id: tenantId(), integration_id: params["integration"] ?? "" };
  const one = useData("GET /tenant/{tenant_id}/integrations/{integration_id}", { path });
  const base = tenantPath(`/integrations/${path.integration_id}`);
  const settings = location.value.path === `${base}/settings`;
  const test = async (): Promise<void> => {
    const made = await call("POST /tenant/{tenant_id}/integrations/{integration_id}/test", { path });
    toast("The test event is on its way");
    go(`${base}/deliveries/${made.id}`);
  };
  const rotate = async (i: IntegrationRead): Promise<void> => {
    const made = await over<IntegrationRead>((close) => (
      <Dialog title="Rotate the secret" onClose={() => close(null)}>
        <ContractForm form={IntegrationRotate} action="Rotate secret" cancel={() => close(null)} send={async (body) => close(await call("POST /tenant/{tenant_id}/integrations/{integration_id}/rotate-secret", { path, body: body as RotateBody }))} />
      </Dialog>
    ));
    if (!made) return;
    one.reload();
    if (made.signing_secret) await showSecret(`The new secret of ${i.label}`, made.signing_secret, <p>{made.grace_until ? <>The former counts until <Time at={made.grace_until} />.</> : "The former has stopped."} {STEPS[i.provider]}</p>);
  };
  const remove = async (i: IntegrationRead): Promise<void> => {
    if (!(await confirm({ title: `Delete ${i.label}?`, text: "Its address is refused from then on, and its log goes.", action: "Delete integration", danger: true, type: i.label }))) return;
    await call("DELETE /tenant/{tenant_id}/integrations/{integration_id}", { path });
    toast(`${i.label} is deleted`);
    go(tenantPath("/integrations"));
  };
  return (
    <Page title={one.data?.label ?? "Integration"} above={<p class="small"><Link to={tenantPath("/integrations")}>Integrations</Link></p>}
      actions={one.data && <><Button act={test}>Send a test event</Button><Button act={() => rotate(one.data as IntegrationRead)}>Rotate secret</Button></>}>
      <DataView of={one}>{(i) => (
        <>
          {i.acts_as_problem && <p class="notice ember" role="alert"><span>{i.acts_as_problem}</span><Button look="quiet" act={async () => {
            await call("PATCH /tenant/{tenant_id}/integrations/{integration_id}", { path, body: { acts_as_id: me.value?.id ?? "" } });
            one.reload();
          }}>Have it act as me</Button></p>}
          <Facts rows={[
            ["State", <State of={i} />], ["Address", <><code>{i.webhook_url}</code> <Copy text={i.webhook_url} label="Copy the address" /></>], ["In the service", STEPS[i.provider] ?? ""],
            ["Agent", <AgentName id={i.agent_id} />], ["Last event", <Time at={i.last_event_at} />], ...(i.grace_until ? [["Former secret", <>counts until <Time at={i.grace_until} /></>] as [string, preact.JSX.Element]] : []),
          ]} />
          <Tabs label="Parts of the integration" tabs={[{ to: base, label: "Calls" }, { to: `${base}/settings`, label: "Settings" }]} />
          {settings ? <><Settings of={i} etag={one.etag} changed={one.reload} /><section><Button look="danger" act={() => remove(i)}>Delete integration</Button></section></> : <Log path={path} />}
        </>
      )}</DataView>
    </Page>
  );
}
