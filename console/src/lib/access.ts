// access.ts - what one may do on a single agent: the role in the tenant and every role on the agent together.
import { isChange } from "./changes";
import { useData } from "./data";
import { me, tenantId } from "./session";

/** Says whether one may; until it is `known`, nothing. */
export type Access = ((permission: string) => boolean) & { known: boolean };

/** Changes of roles reach it within seconds. */
export function useAgentAccess(agent: string): Access {
  const { data } = useData("GET /tenant/{tenant_id}/agents/{agent_id}/access", { path: { tenant_id: tenantId(), agent_id: agent } }, (e) => e.event === "agent" || isChange(e, "member", me.value?.id) || isChange(e, "group"));
  return Object.assign((permission: string) => data?.permissions.includes(permission) ?? false, { known: data !== undefined });
}
