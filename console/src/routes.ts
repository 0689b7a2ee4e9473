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

// One agent is one screen with many addresses.
const agent: Route["load"] = () => import("./screens/agent");

export const routes: Route[] = [
  { path: "/t/:tenant/agents", title: "Agents", load: () => import("./screens/agents"), needs: "tenant:read", nav: { icon: "agents", key: "a", part: "work" } },
  { path: "/t/:tenant/agents/new", title: "New agent", load: () => import("./screens/agent-new"), needs: "agents:create" },
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
  { path: "/admin/plans", title: "Plans", load: () => import("./screens/plans"), needs: "super_admin", nav: { icon: "costs", part: "admin" } },
  { path: "/t/:tenant/settings", title: "Settings", load: () => import("./screens/tenant-settings"), needs: "tenant:read", nav: { icon: "settings", key: "s", part: "manage" } },
  { path: "/account", title: "Your account", load: () => import("./screens/account") },
];
