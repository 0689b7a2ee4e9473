// people-parts.tsx - what the screens about people share: their tabs, and what roles mean in words.
import { can, tenantPath } from "../lib/session";
import { Tabs } from "./tabs";

export const ROLES: Record<string, string> = {
  OWNER: "Everything, including other owners and deleting the tenant.",
  ADMIN: "Members, keys, integrations, costs and every agent; not owners, and not the tenant's end.",
  MEMBER: "Uses agents, makes their own, has API keys of their own, sees who else is here.",
  GUEST: "Uses the agents that are open to guests, and sees nobody else.",
};

export function PeopleTabs() {
  return <Tabs label="People" tabs={[
    { to: tenantPath("/people"), label: "Members" },
    { to: tenantPath("/people/groups"), label: "Groups" },
    ...(can("allowed_accounts:write") ? [{ to: tenantPath("/people/allowed"), label: "Allowed accounts" }] : []),
  ]} />;
}
