// skill-new.tsx - writing a skill, by the contract's own form.
import { useRef } from "preact/hooks";
import { SkillCreate } from "../contract/forms";
import type { SkillCreate as Body } from "../contract/types";
import { call } from "../lib/api";
import { go } from "../lib/router";
import { tenantId, tenantPath } from "../lib/session";
import { slugOf } from "../lib/slug";
import { ContractForm } from "../ui/form";
import { Page } from "../ui/page";
import { Pairs } from "../ui/pairs";
import { toast } from "../ui/toast";

export default function NewSkill() {
  const own = useRef("");
  return (
    <Page title="New skill" lead="Its files can be added when it is made." narrow>
      <ContractForm form={SkillCreate} first={["name", "slug", "description", "visibility", "instructions"]} without={["created_by_agent_id"]} action="Create skill" draft={`skill:${tenantId()}`} cancel={() => go(tenantPath("/skills"))}
        custom={{ metadata: (v, set) => <Pairs label="Metadata" text={String(v)} set={set} /> }}
        follow={(typed, changed) => {
          if (changed !== "name" || typed["slug"] !== own.current) return;
          own.current = slugOf(String(typed["name"]));
          return { slug: own.current };
        }}
        send={async (body) => {
          const made = await call("POST /tenant/{tenant_id}/skills", { path: { tenant_id: tenantId() }, body: body as unknown as Body });
          toast(`${made.name} is made`);
          go(tenantPath(`/skills/${made.id}`));
        }} />
    </Page>
  );
}
