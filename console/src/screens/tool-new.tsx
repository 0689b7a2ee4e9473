// tool-new.tsx - making a tool, by the contract's own form.
import { ToolCreate } from "../contract/forms";
import type { ToolCreate as Body } from "../contract/types";
import { call } from "../lib/api";
import { go } from "../lib/router";
import { tenantId, tenantPath } from "../lib/session";
import { ContractForm } from "../ui/form";
import { Page } from "../ui/page";
import { callOf, parameters } from "../ui/tool-parts";
import { toast } from "../ui/toast";

export default function NewTool() {
  return (
    <Page title="New tool" lead="The values of its headers are sealed and never shown again." narrow>
      <ContractForm form={ToolCreate} preset={{ kind: "http", config: { method: "GET" } }} custom={{ input_schema: parameters, config: callOf() }} first={["name", "kind", "description", "input_schema", "config", "requires_approval"]} action="Create tool" cancel={() => go(tenantPath("/tools"))}
        send={async (body) => {
          const made = await call("POST /tenant/{tenant_id}/tools", { path: { tenant_id: tenantId() }, body: { kind: "http", ...body } as unknown as Body });
          toast(`${made.name} is made`);
          go(tenantPath(`/tools/${made.id}`));
        }} />
    </Page>
  );
}
