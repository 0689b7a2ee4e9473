// agent-new.tsx - making an agent, by the contract's own form.
import { useRef } from "preact/hooks";
import { AgentCreate } from "../contract/forms";
import type { AgentCreate as Body } from "../contract/types";
import { call } from "../lib/api";
import { go } from "../lib/router";
import { tenantId, tenantPath } from "../lib/session";
import { slugOf } from "../lib/slug";
import { ContractForm } from "../ui/form";
import { Page } from "../ui/page";
import { toast } from "../ui/toast";

export default function NewAgent() {
  const own = useRef(""); // the slug that was made of the name, until somebody writes another
  return (
    <Page title="New agent" lead="You become its owner. Everything but the slug can be changed later." narrow>
      <ContractForm form={AgentCreate} first={["name", "slug", "description", "description_prompt"]} action="Create agent" draft={`agent:${tenantId()}`}
        cancel={() => go(tenantPath("/agents"))}
        follow={(typed, changed) => {
          if (changed !== "name" || typed["slug"] !== own.current) return;
          own.current = slugOf(String(typed["name"]));
          return { slug: own.current };
        }}
        send={async (body) => {
          const made = await call("POST /tenant/{tenant_id}/agents", { path: { tenant_id: tenantId() }, body: body as unknown as Body });
          toast(`${made.name} is made`);
          go(tenantPath(`/agents/${made.id}`));
        }} />
    </Page>
  );
}
