// integration-new.tsx - a new address for a service's events; its secret is shown once, with what to do there.
import { IntegrationCreate, IntegrationGuardrails } from "../contract/forms";
import type { IntegrationCreate as Body } from "../contract/types";
import { call } from "../lib/api";
import { go } from "../lib/router";
import { tenantId, tenantPath } from "../lib/session";
import { Copy } from "../ui/copy";
import { ContractForm } from "../ui/form";
import { nested } from "../ui/nested";
import { Page } from "../ui/page";
import { AgentPick } from "../ui/pick-one";
import { showSecret } from "../ui/secret";

/** Where the address and the secret go, in each service. */
export const STEPS: Record<string, string> = {
  github: "In the repository: Settings, Webhooks, Add webhook. Payload URL is the address, content type application/json, and the secret.",
  gitlab: "Settings, Webhooks: the address, and the secret as signing token (as secret token before GitLab 19).",
  slack: "Give the app's signing secret here first (Rotate secret). Then in the app: Event Subscriptions, Request URL is the address.",
  stripe: "Developers, Webhooks: add the address. Then give the endpoint's whsec_… here (Rotate secret).",
  linear: "Settings, API, Webhooks: the address. Then give its signing secret here (Rotate secret).",
  sentry: "An internal integration: the address as webhook URL. Then give its client secret here (Rotate secret).",
  standard: "Any sender of Standard Webhooks: the address and the secret.",
  generic: "Sign the body with HMAC-SHA256 and the secret, and send it as X-Hub-Signature-256: sha256=… to the address.",
};

export default function NewIntegration() {
  return (
    <Page title="New integration" lead="It acts as you: what its events set to work may do what you may, and no more." narrow>
      <ContractForm form={IntegrationCreate} first={["provider", "label", "agent_id", "instructions"]} action="Create integration" cancel={() => go(tenantPath("/integrations"))}
        custom={{ agent_id: (value, set) => <AgentPick label="Agent" value={String(value)} set={set} />, guardrails: nested(IntegrationGuardrails) }}
        send={async (body) => {
          const made = await call("POST /tenant/{tenant_id}/integrations", { path: { tenant_id: tenantId() }, body: body as unknown as Body });
          if (made.signing_secret) await showSecret(`The secret of ${made.label}`, made.signing_secret, <>
            <p>{STEPS[made.provider]}</p>
            <div class="secret"><code>{made.webhook_url}</code><Copy text={made.webhook_url} label="Copy the address" /></div>
          </>);
          go(tenantPath(`/integrations/${made.id}`));
        }} />
    </Page>
  );
}
