// admin-mail.tsx - every mailbox of the service: who has it, pausing it, and putting right what is missing.
import { useState } from "preact/hooks";
import type { AdminMailHealResult, AdminMailboxRow } from "../contract/types";
import { call } from "../lib/api";
import { useData, useList } from "../lib/data";
import { Time, count, plural } from "../lib/format";
import { Link, location, setQuery } from "../lib/router";
import { AdminPage } from "../ui/admin";
import { Button } from "../ui/button";
import { Dialog, over } from "../ui/dialog";
import { Choose, Search } from "../ui/filters";
import { Status } from "../ui/page";
import { Pick, searching } from "../ui/pick";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { toast } from "../ui/toast";

type Service = "internal" | "external";
const FILTERS = ["q", "tenant", "kind", "paused"];
const SERVICES: Record<Service, [string, string]> = {
  internal: ["Internal mailboxes", "Every agent that has none gets one."],
  external: ["External mailboxes", "They are made, switched on and off, and addressed as the flags of tenants and agents and the domain of this service have it."],
};

/** It is counted first; the number stands beside the button that does it. */
function Heal({ close }: { close: (healed: boolean | null) => void }) {
  const [service, setService] = useState<Service>("internal"), [found, setFound] = useState<AdminMailHealResult | null>(null);
  const ask = (dry_run: boolean): Promise<AdminMailHealResult> => call("POST /admin/mail/heal", { query: { dry_run }, body: { service } });
  const n = found?.provisioned ?? 0;
  return (
    <Dialog title="Heal mailboxes" onClose={() => close(null)}>
      <div role="radiogroup" aria-label="Which mailboxes">
        {(Object.keys(SERVICES) as Service[]).map((one) => (
          <label key={one} class="radio"><input type="radio" name="service" checked={service === one} onChange={() => (setService(one), setFound(null))} /> <span>{SERVICES[one][0]}<br /><span class="muted small">{SERVICES[one][1]}</span></span></label>
        ))}
      </div>
      <p role="status">{!found ? "Nothing is changed before you have seen how many it concerns." : found.provisioning_enabled === false ? "Mail is switched off in the settings of this service (mail_provisioning), so that nothing can be made." : n === 0 ? "All is as it should be: there is nothing to heal." : <strong>{plural(n, "mailbox", "mailboxes")} would be made or changed.</strong>}</p>
      <footer>
        <Button act={() => close(null)}>Close</Button>
        <Button look={n ? "plain" : "primary"} act={async () => setFound(await ask(true))}>{found ? "Count again" : "Count"}</Button>
        {n > 0 && <Button look="primary" act={async () => {
          const done = await ask(false);
          toast(`${plural(done.provisioned, "mailbox is", "mailboxes are")} healed`);
          close(true);
        }}>{`Heal ${plural(n, "mailbox", "mailboxes")}`}</Button>}
      </footer>
    </Dialog>
  );
}

export default function AdminMail() {
  const { query } = location.value;
  const q = query.get("q") ?? "", tenant = query.get("tenant") ?? "", kind = query.get("kind") as Service | null, paused = query.get("paused");
  const list = useList("GET /admin/mail/mailboxes", { query: { q: q || undefined, tenant_id: tenant || undefined, kind: kind ?? undefined, paused: paused ? paused === "paused" : undefined } });
  const named = useData("GET /admin/tenants/{tenant_id}", tenant ? { path: { tenant_id: tenant } } : null);
  const turn = async (m: AdminMailboxRow): Promise<void> => {
    const now = await call("PATCH /admin/mail/mailboxes/{mailbox_id}", { path: { mailbox_id: m.id }, body: { is_paused: !m.is_paused } });
    list.set((list.data ?? []).map((one) => (one.id === now.id ? now : one)));
    toast(now.is_paused ? `${m.address} is paused` : `${m.address} takes and sends mail again`);
  };
  const heal = async (): Promise<void> => {
    if (await over<boolean>((close) => <Heal close={close} />)) list.reload();
  };
  return (
    <AdminPage title="Mailboxes" lead={list.total === undefined ? undefined : plural(list.total, "mailbox", "mailboxes")} actions={<Button act={heal}>Heal mailboxes</Button>}>
      <div class="filters" role="search">
        <Search label="Search addresses and agents" value={q} set={(text) => setQuery({ q: text })} />
        <div class="choose"><span>Tenant</span><Pick label="Tenant" bare placeholder="All" value={tenant ? { id: tenant, label: named.data?.name ?? tenant } : null} set={(c) => setQuery({ tenant: c?.id ?? null })}
          find={searching("GET /admin/tenants", {}, (t) => ({ id: t.id, label: t.name, detail: t.slug }))} /></div>
        <Choose label="Kind" value={kind ?? ""} words={["internal", "external"]} set={(word) => setQuery({ kind: word })} />
        <Choose label="State" value={paused ?? ""} words={["active", "paused"]} set={(word) => setQuery({ paused: word })} />
      </div>
      <DataView of={list} filtered={FILTERS.some((f) => query.has(f))} filters={FILTERS} empty={{ title: "There is no mailbox", text: "Every agent gets one when it is made, unless mail is switched off; those made before are healed." }}>
        {(rows) => <Table label="Mailboxes" rows={rows} id={(m) => m.id} rail={(m) => (m.is_paused ? "ember" : "ink")} columns={[
          { name: "Address", cell: (m) => m.address },
          { name: "Tenant", wide: true, cell: (m) => <Link to={`/admin/tenants/${m.tenant_id}`}>{m.tenant_name}</Link> },
          { name: "Agent", wide: "most", cell: (m) => m.agent_name ?? "" },
          { name: "State", cell: (m) => (m.is_paused ? <Status tone="ember" icon="warn">Paused</Status> : <Status tone="pine">Active</Status>) },
          { name: "Messages", figure: true, wide: true, cell: (m) => count(m.message_count) },
          { name: "Last", wide: "most", cell: (m) => <Time at={m.last_message_at} /> },
        ]} actions={(m) => <Button look="quiet" label={`${m.is_paused ? "Let go on" : "Pause"}: ${m.address}`} act={() => turn(m)}>{m.is_paused ? "Let go on" : "Pause"}</Button>} />}
      </DataView>
    </AdminPage>
  );
}
