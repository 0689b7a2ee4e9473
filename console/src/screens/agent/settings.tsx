// settings.tsx - everything of an agent's table that is no prompt, its picture, and how public the skills that it writes may be.
import { useRef } from "preact/hooks";
import { AgentSkillVisibilityScopeUpdate, AgentUpdate } from "../../contract/forms";
import type { AgentSkillVisibilityScopeUpdate as Scope } from "../../contract/types";
import { address, call, send } from "../../lib/api";
import { useData } from "../../lib/data";
import { saveAgent } from "./save";
import { Button } from "../../ui/button";
import { ContractForm } from "../../ui/form";
import { toast } from "../../ui/toast";
import type { PartProps } from "../agent";

const FORM = AgentUpdate.filter((f) => f.kind !== "long");
const PICTURES = "image/png,image/jpeg,image/webp";

function Avatar({ agent, path, concerns }: PartProps) {
  const now = useData("GET /tenant/{tenant_id}/agents/{agent_id}/avatar", { path }, concerns);
  const input = useRef<HTMLInputElement>(null);
  const put = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    await send("PUT", address("PUT /tenant/{tenant_id}/agents/{agent_id}/avatar", path), { body: file, headers: { "Content-Type": file.type || "application/octet-stream" } });
    if (input.current) input.current.value = "";
    toast("The picture is changed");
    now.reload();
  };
  const take = async (): Promise<void> => {
    await call("DELETE /tenant/{tenant_id}/agents/{agent_id}/avatar", { path });
    toast("The picture is gone");
    now.reload();
  };
  return (
    <section class="part">
      <h2>Picture</h2>
      <div class="filters">
        {now.data?.has_avatar && <img class="picture-now" alt={`Picture of ${agent.name}`} src={address("GET /tenant/{tenant_id}/agents/{agent_id}/avatar.png", path, { v: now.data.avatar_sha256 })} />}
        <input ref={input} class="hidden" type="file" accept={PICTURES} aria-label="A picture from this computer" tabIndex={-1} onChange={(e) => void put(e.currentTarget.files?.[0]).catch((err: unknown) => toast((err as Error).message, { bad: true }))} />
        <Button act={() => input.current?.click()}>{now.data?.has_avatar ? "Choose another" : "Choose a picture"}</Button>
        {now.data?.has_avatar && <Button look="quiet" act={take}>Remove</Button>}
      </div>
      <p class="help">PNG, JPEG or WebP; it is stored as a square of 192 pixels.</p>
    </section>
  );
}

export default function Settings(props: PartProps) {
  const { agent, of, path, may } = props;
  return (
    <div class="narrow">
      <section class="part">
        <ContractForm form={FORM} value={agent as unknown as Record<string, unknown>} without={may("agent:roles:write") ? [] : ["is_admin_only"]} action="Save settings" send={(change) => saveAgent({ base: agent, of, path, change })} />
      </section>
      <section class="part">
        <h2>Skills that it writes</h2>
        <ContractForm form={AgentSkillVisibilityScopeUpdate} value={{ skill_visibility_scope: agent.skill_visibility_scope }} action="Save scope" send={async (body) => {
          await call("PUT /tenant/{tenant_id}/agents/{agent_id}/skill-visibility-scope", { path, body: body as unknown as Scope });
          of.reload();
          toast("Saved");
        }} />
      </section>
      <Avatar {...props} />
    </div>
  );
}
