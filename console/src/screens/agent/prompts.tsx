// prompts.tsx - what an agent is told: every long text of its table, with a preview; two people at once are told of each other.
import { AgentUpdate } from "../../contract/forms";
import { Markdown } from "../../lib/markdown";
import { saveAgent } from "./save";
import { ContractForm } from "../../ui/form";
import { Empty } from "../../ui/states";
import type { PartProps } from "../agent";

export const PROMPTS = AgentUpdate.filter((f) => f.kind === "long" && !f.unused);

export default function Prompts({ agent, of, path, may }: PartProps) {
  const values = agent as unknown as Record<string, unknown>;
  if (may("agent:write")) return <div class="narrow"><ContractForm form={PROMPTS} value={values} action="Save prompts" send={(change) => saveAgent({ base: agent, of, path, change })} /></div>;
  const written = PROMPTS.filter((f) => values[f.name]);
  if (!written.length) return <Empty title="Nothing is written yet" text="Somebody who may change this agent has to write its prompts." />;
  return <>{written.map((f) => <section key={f.name} class="part"><h2>{f.label}</h2><p class="muted">{f.help}</p><Markdown text={String(values[f.name])} /></section>)}</>;
}
