// key-tabs.tsx - keys to this service, and this tenant's keys at providers.
import { can, tenantPath } from "../lib/session";
import { Tabs } from "./tabs";

export function KeyTabs() {
  return <Tabs label="Keys" tabs={[{ to: tenantPath("/keys"), label: "API keys" }, ...(can("tenant:write") ? [{ to: tenantPath("/keys/providers"), label: "Keys at providers" }] : [])]} />;
}
