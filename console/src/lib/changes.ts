// changes.ts - which changes that others make concern what an operation reads, by the words of its path.
//
// Every list and every thing that is read is kept true by this (data.ts), without its screen saying so.
import type { ChangeEvent } from "../contract/types";
import type { Happening } from "./events";

const SHOWS: Record<string, string[]> = {
  members: ["member", "invitation"], groups: ["group", "member"], "allowed-accounts": ["allowed_account"],
  "api-keys": ["api_key"], "provider-keys": ["provider_key"],
  tools: ["tool", "tool_bundle"], "tool-bundles": ["tool_bundle", "tool"],
  skills: ["skill"], webhooks: ["skill_webhook"], memories: ["memory"], scanner: ["scanner"], "scanner-grants": ["scanner_grant", "scanner"],
  integrations: ["integration", "delivery"], models: ["model", "user_model", "provider_key"],
  mail: ["mail"], mailboxes: ["mailbox"], suppressions: ["mail_suppression"],
  repo: ["repo"], "prompt-provenance": ["repo"],
  bucket: ["bucket"], plans: ["plan"], tenants: ["tenant", "plan"], "deleted-tenants": ["tenant"], users: ["user", "account"], queue: ["job"],
};

const told = (e: Happening): ChangeEvent => e.data.data as unknown as ChangeEvent;

/** A test for events, or undefined where no change concerns the operation. */
export function changesOf(operation: string, path: { tenant_id?: string; agent_id?: string } = {}): ((e: Happening) => boolean) | undefined {
  const words = operation.split("/");
  const all = words.includes("audit-logs");
  const of = new Set(words.flatMap((w) => SHOWS[w] ?? []));
  if (words.at(-1) === "{tenant_id}") of.add("tenant");
  if (!all && !of.size) return undefined;
  return (e) => {
    if (e.data.tenant_id && path.tenant_id && e.data.tenant_id !== path.tenant_id) return false;
    if (e.event !== "change") return all && e.event === "agent";
    const { resource, agent_id } = told(e);
    return all || (of.has(resource) && (!agent_id || !path.agent_id || agent_id === path.agent_id));
  };
}

/** True for a change of this kind, of this one if it is named. */
export const isChange = (e: Happening, resource: string, id?: string): boolean =>
  e.event === "change" && told(e).resource === resource && (id === undefined || told(e).id === id);
