// api-keys.tsx - keys with which programs act for somebody; a new one is shown once, with a call that works with it.
import { useEffect, useMemo } from "preact/hooks";
import { ApiKeyCreate } from "../contract/forms";
import type { ApiKeyCreate as Body, ApiKeyRead } from "../contract/types";
import { call } from "../lib/api";
import { isChange } from "../lib/changes";
import { useList } from "../lib/data";
import { Time, plural, straight } from "../lib/format";
import { can, me, tenant, tenantId } from "../lib/session";
import { Button } from "../ui/button";
import { Curl } from "../ui/curl";
import { Dialog, confirm, over } from "../ui/dialog";
import { ContractForm } from "../ui/form";
import { KeyTabs } from "../ui/key-tabs";
import { Page, Status, Tag } from "../ui/page";
import { showSecret } from "../ui/secret";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { toast } from "../ui/toast";

/** What reads work with which permission; the first that the key has is shown. */
const READS: [string, string][] = [
  ["tenant:read", "/agents"], ["members:read", "/members"], ["billing:read", "/billing/agent-costs"], ["audit:read", "/audit-logs"], ["integrations:write", "/integrations"], ["apikeys:own", "/api-keys"], ["allowed_accounts:write", "/allowed-accounts"],
];

export function curlFor(key: string, scopes: string[] | undefined): string {
  const own = tenant.value?.permissions ?? [];
  const rest = READS.find(([permission]) => own.includes(permission) && (!scopes || scopes.includes(permission)))?.[1];
  return `curl ${window.location.origin}${rest ? `/tenant/${tenantId()}${rest}` : "/v1/models"} \\\n  -H "Authorization: Bearer ${key}"`;
}

export default function ApiKeys() {
  const path = { tenant_id: tenantId() };
  const keys = useList("GET /tenant/{tenant_id}/api-keys", { path });
  const all = can("apikeys:write");
  const owners = useList("GET /tenant/{tenant_id}/api-key-owners", { path, query: { per_page: 200, total: false } }, (e) => isChange(e, "api_key"));
  const whose = useMemo(() => new Map((owners.data ?? []).map((o) => [o.id, o])), [owners.data]);
  useEffect(() => {
    if ((keys.data?.length ?? 0) > (owners.data?.length ?? 0)) owners.more?.();
  });
  const owner = (k: ApiKeyRead): string => {
    const o = whose.get(k.id);
    return !o ? "" : o.user_id === me.value?.id ? "you" : o.name ? `${o.name} (${o.email})` : o.email;
  };
  const make = async (): Promise<void> => {
    const made = await over<{ key: string; name: string; scopes: string[] | undefined }>((close) => (
      <Dialog title="New API key" onClose={() => close(null)} wide>
        <p class="muted">It acts as you, with at most the permissions that you have at that moment. Choose scopes to give it less; without any choice it has all of yours.</p>
        <ContractForm form={ApiKeyCreate} action="Create key" cancel={() => close(null)} send={async (body) => {
          const made = await call("POST /tenant/{tenant_id}/api-keys", { path, body: body as unknown as Body });
          close({ key: made.key, name: made.name, scopes: (body as unknown as Body).scopes });
        }} />
      </Dialog>
    ));
    if (!made) return;
    keys.reload();
    owners.reload();
    await showSecret(`The key ${made.name}`, made.key, <><p>A call that works with it:</p><Curl text={curlFor(made.key, made.scopes)} /></>);
  };
  const revoke = async (k: ApiKeyRead): Promise<void> => {
    if (!(await confirm({ title: all && owner(k) ? `Revoke ${k.name}, which acts as ${owner(k)}?` : `Revoke ${k.name}?`, text: "Whatever uses it, and every key that was made with it, is refused from the next request on. This cannot be undone.", action: "Revoke key", danger: true, type: k.name }))) return;
    await call("DELETE /tenant/{tenant_id}/api-keys/{id}", { path: { ...path, id: k.id } });
    toast(`${k.name} is revoked`);
    keys.reload();
  };
  const over_ = (k: ApiKeyRead): boolean => k.expires_at !== null && Date.parse(k.expires_at) < Date.now();
  const button = can("apikeys:own") ? <Button look="primary" act={make}>New API key</Button> : undefined;
  return (
    <Page title="API keys" lead={all ? "Everybody's in this tenant." : "Yours in this tenant."} actions={button}>
      <KeyTabs />
      <DataView of={keys} empty={{ title: "No keys yet", text: "A key lets a program use this tenant's agents through the API, or through OpenAI's own libraries.", action: button }}>
        {(rows) => <Table label="API keys" rows={rows} id={(k) => k.id} rail={(k) => (over_(k) ? "danger" : "ink")} columns={[
          { name: "Name", cell: (k) => k.name },
          ...(all ? [{ name: "Acts as", cell: (k: ApiKeyRead) => <span class="keys-owner">{straight(owner(k))}</span> }] : []),
          { name: "May", wide: all, cell: (k) => (!k.scopes ? <span class="muted">all that its owner may</span> : k.scopes.length === 0 ? <span class="muted">nothing</span> : <span title={k.scopes.join(", ")}>{k.scopes.slice(0, 2).map((s) => <Tag key={s}>{s}</Tag>)}{k.scopes.length > 2 && ` and ${plural(k.scopes.length - 2, "more", "more")}`}</span>) },
          { name: "Used", wide: true, cell: (k) => <Time at={k.last_used_at} /> },
          { name: "Ends", cell: (k) => (over_(k) ? <Status tone="danger" icon="warn">Ended</Status> : <Time at={k.expires_at} />) },
          { name: "Made", wide: true, cell: (k) => <Time at={k.created_at} /> },
        ]} actions={(k) => <Button look="quiet" label={`Revoke ${k.name}`} act={() => revoke(k)}>Revoke</Button>} />}
      </DataView>
    </Page>
  );
}
