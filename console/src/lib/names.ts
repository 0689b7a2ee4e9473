// names.ts - what an agent is called, for lists that know only its id: each is read once, when somebody first asks for it.
import { signal } from "@preact/signals";
import { call } from "./api";
import { tenantId } from "./session";

const names = signal<ReadonlyMap<string, string>>(new Map());
const asked = new Set<string>();

/** It may be called otherwise now. */
export function forgetAgentName(agent_id: string): void {
  if (!asked.delete(agent_id)) return;
  const rest = new Map(names.value);
  rest.delete(agent_id);
  names.value = rest;
}

/** Its name, once it is known; who asks while drawing is drawn again then. */
export function agentName(agent_id: string): string | undefined {
  const known = names.value.get(agent_id);
  if (known === undefined && agent_id && !asked.has(agent_id)) {
    asked.add(agent_id);
    call("GET /tenant/{tenant_id}/agents/{agent_id}", { path: { tenant_id: tenantId(), agent_id } })
      .then((a) => (names.value = new Map(names.value).set(agent_id, a.name)), () => void asked.delete(agent_id));
  }
  return known;
}
