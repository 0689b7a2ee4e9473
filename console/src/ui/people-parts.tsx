// people-parts.tsx - what the screens about people share: their tabs, and what roles mean in words.
import { can, tenantPath } from "../lib/session";
import type { Form } from "./form";
import { Tabs } from "./tabs";

export const ROLES: Record<string, string> = {
  OWNER: "Everything, including other owners and deleting the tenant.",
  ADMIN: "Members, keys, integrations, costs and every agent; not owners, and not the tenant's end.",
  MEMBER: "Uses agents, makes their own, has API keys of their own, sees who else is here.",
  GUEST: "Uses the agents that are open to guests, and sees nobody else.",
};

const forAdmins = new Map<Form, Form>();
/** The form with the roles that the reader may give: only owners make owners. */
export function offered(form: Form): Form {
  if (can("owners:write")) return form;
  let less = forAdmins.get(form);
  if (!less) forAdmins.set(form, (less = form.map((f) => (f.name === "role" ? { ...f, words: f.words?.filter((w) => w !== "OWNER") ?? [] } : f))));
  return less;
}

export function PeopleTabs() {
  return <Tabs label="People" tabs={[
    { to: tenantPath("/people"), label: "Members" },
    { to: tenantPath("/people/groups"), label: "Groups" },
    ...(can("allowed_accounts:write") ? [{ to: tenantPath("/people/allowed"), label: "Allowed accounts" }] : []),
  ]} />;
}
