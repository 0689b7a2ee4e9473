// integration-tabs.tsx - services that send events, and the code scanner.
import { tenantPath } from "../lib/session";
import { Tabs } from "./tabs";

export const IntegrationTabs = () => <Tabs label="Integrations" tabs={[{ to: tenantPath("/integrations"), label: "Services" }, { to: tenantPath("/integrations/scanner"), label: "Code scanner" }]} />;
