// routes.ts - every screen: its address, its file, who sees it, and its place in the sidebar.
//
// A screen is one file in screens/ and one line here; see docs/console.md.  Addresses that name a tenant begin with
// /t/:tenant; the first line that fits is taken, so fixed words come before :names.
import type { FunctionComponent } from "preact";
import type { IconName } from "./ui/icons";

export interface ScreenProps { params: Record<string, string> }
export interface Route {
  path: string;
  title: string;
  load: () => Promise<{ default: FunctionComponent<ScreenProps> }>;
  /** A permission in the tenant, or "super_admin": without it the screen says so, and the sidebar leaves it out. */
  needs?: string;
  /** In the sidebar, in this order; `key` is the letter after g. */
  nav?: { icon: IconName; key?: string; part: "work" | "manage" | "admin" };
}

// One agent is one screen with many addresses; a new session becomes one that is there.
const agent: Route["load"] = () => import("./screens/agent");
const session: Route["load"] = () => import("./screens/session");

export const routes: Route[] = [
  { path: "/t/:tenant/inbox", title: "Inbox", load: () => import("./screens/inbox"), needs: "tenant:read", nav: { icon: "inbox", key: "i", part: "work" } },
  { path: "/t/:tenant/sessions", title: "Sessions", load: () => import("./screens/sessions"), needs: "tenant:read", nav: { icon: "sessions", key: "e", part: "work" } },
  { path: "/t/:tenant/sessions/:session", title: "Session", load: session, needs: "tenant:read" },
  { path: "/t/:tenant/agents/:agent/chat", title: "New session", load: session, needs: "tenant:read" },
  { path: "/t/:tenant/agents", title: "Agents", load: () => import("./screens/agents"), needs: "tenant:read", nav: { icon: "agents", key: "a", part: "work" } },
  { path: "/t/:tenant/agents/new", title: "New agent", load: () => import("./screens/agent-new"), needs: "agents:create" },
  { path: "/t/:tenant/agents/import", title: "Import an agent", load: () => import("./screens/import"), needs: "agents:create" },
  { path: "/t/:tenant/agents/:agent", title: "Agent", load: agent, needs: "tenant:read" },
  { path: "/t/:tenant/agents/:agent/:tab", title: "Agent", load: agent, needs: "tenant:read" },
  { path: "/t/:tenant/models", title: "Models", load: () => import("./screens/models"), needs: "tenant:read", nav: { icon: "model", key: "m", part: "manage" } },
  { path: "/t/:tenant/models/:model", title: "Model", load: () => import("./screens/model"), needs: "tenant:read" },
  { path: "/t/:tenant/skills", title: "Skills", load: () => import("./screens/skills"), needs: "tenant:read", nav: { icon: "skill", key: "k", part: "manage" } },
  { path: "/t/:tenant/skills/new", title: "New skill", load: () => import("./screens/skill-new"), needs: "skills:write" },
  { path: "/t/:tenant/skills/:skill", title: "Skill", load: () => import("./screens/skill"), needs: "tenant:read" },
  { path: "/t/:tenant/tools", title: "Tools", load: () => import("./screens/tools"), needs: "tenant:read", nav: { icon: "tool", key: "t", part: "manage" } },
  { path: "/t/:tenant/tools/new", title: "New tool", load: () => import("./screens/tool-new"), needs: "tools:write" },
  { path: "/t/:tenant/tools/:tool", title: "Tool", load: () => import("./screens/tool"), needs: "tenant:read" },
  { path: "/t/:tenant/bundles", title: "Bundles", load: () => import("./screens/bundles"), needs: "tenant:read" },
  { path: "/t/:tenant/bucket", title: "Bucket", load: () => import("./screens/bucket"), needs: "bucket:read", nav: { icon: "bucket", key: "b", part: "manage" } },
  // Manage.
  { path: "/t/:tenant/start", title: "Welcome", load: () => import("./screens/start"), needs: "tenant:write" },
  { path: "/t/:tenant/costs", title: "Costs", load: () => import("./screens/costs"), needs: "billing:read", nav: { icon: "costs", key: "c", part: "manage" } },
  { path: "/t/:tenant/people", title: "People", load: () => import("./screens/people"), needs: "members:read", nav: { icon: "people", key: "p", part: "manage" } },
  { path: "/t/:tenant/people/groups", title: "Groups", load: () => import("./screens/groups"), needs: "members:read" },
  { path: "/t/:tenant/people/groups/:group", title: "Group", load: () => import("./screens/group"), needs: "members:read" },
  { path: "/t/:tenant/people/allowed", title: "Allowed accounts", load: () => import("./screens/allowed"), needs: "allowed_accounts:write" },
  { path: "/t/:tenant/people/:user", title: "Person", load: () => import("./screens/person"), needs: "members:read" },
  { path: "/t/:tenant/keys", title: "Keys", load: () => import("./screens/api-keys"), needs: "apikeys:own", nav: { icon: "key", key: "y", part: "manage" } },
  { path: "/t/:tenant/keys/providers", title: "Keys at providers", load: () => import("./screens/provider-keys"), needs: "tenant:write" },
  { path: "/t/:tenant/integrations", title: "Integrations", load: () => import("./screens/integrations"), needs: "integrations:write", nav: { icon: "plug", key: "w", part: "manage" } },
  { path: "/t/:tenant/integrations/new", title: "New integration", load: () => import("./screens/integration-new"), needs: "integrations:write" },
  { path: "/t/:tenant/integrations/scanner", title: "Code scanner", load: () => import("./screens/scanner"), needs: "integrations:write" },
  { path: "/t/:tenant/integrations/:integration", title: "Integration", load: () => import("./screens/integration"), needs: "integrations:write" },
  { path: "/t/:tenant/integrations/:integration/settings", title: "Integration", load: () => import("./screens/integration"), needs: "integrations:write" },
  { path: "/t/:tenant/integrations/:integration/deliveries/:delivery", title: "Delivery", load: () => import("./screens/delivery"), needs: "integrations:write" },
  { path: "/t/:tenant/mail", title: "Mail", load: () => import("./screens/mail-rules"), needs: "mail:write", nav: { icon: "mail", key: "v", part: "manage" } },
  { path: "/t/:tenant/mail/suppressions", title: "Suppressed addresses", load: () => import("./screens/mail-suppressions"), needs: "mail:write" },
  { path: "/t/:tenant/audit", title: "Audit log", load: () => import("./screens/audit"), needs: "audit:read", nav: { icon: "audit", key: "l", part: "manage" } },
  { path: "/t/:tenant/audit/sessions", title: "Sessions for auditors", load: () => import("./screens/audit-sessions"), needs: "audit:read" },
  { path: "/t/:tenant/audit/sessions/:session", title: "Session", load: () => import("./screens/audit-session"), needs: "audit:read" },
  { path: "/t/:tenant/settings", title: "Settings", load: () => import("./screens/tenant-settings"), needs: "tenant:read", nav: { icon: "settings", key: "s", part: "manage" } },
  { path: "/api", title: "API reference", load: () => import("./screens/reference"), nav: { icon: "book", key: "r", part: "manage" } },
  { path: "/api/:operation", title: "API reference", load: () => import("./screens/reference") },
  // All tenants.
  { path: "/admin/tenants", title: "Tenants", load: () => import("./screens/admin-tenants"), needs: "super_admin", nav: { icon: "admin", key: "n", part: "admin" } },
  { path: "/admin/tenants/:tenant_id", title: "Tenant", load: () => import("./screens/admin-tenant"), needs: "super_admin" },
  { path: "/admin/users", title: "Users", load: () => import("./screens/admin-users"), needs: "super_admin", nav: { icon: "user", key: "u", part: "admin" } },
  { path: "/admin/models", title: "All models", load: () => import("./screens/admin-models"), needs: "super_admin", nav: { icon: "model", key: "o", part: "admin" } },
  { path: "/admin/models/:model", title: "Model", load: () => import("./screens/admin-model"), needs: "super_admin" },
  { path: "/admin/plans", title: "Plans", load: () => import("./screens/plans"), needs: "super_admin", nav: { icon: "costs", part: "admin" } },
  { path: "/admin/mail", title: "Mailboxes", load: () => import("./screens/admin-mail"), needs: "super_admin", nav: { icon: "mail", key: "x", part: "admin" } },
  { path: "/admin/queue", title: "Queue", load: () => import("./screens/admin-queue"), needs: "super_admin", nav: { icon: "clock", key: "q", part: "admin" } },
  { path: "/admin/audit", title: "All audit", load: () => import("./screens/admin-audit"), needs: "super_admin", nav: { icon: "audit", part: "admin" } },
  { path: "/account", title: "Your account", load: () => import("./screens/account") },
];
