// mail-tabs.tsx - the mail of all agents of a tenant: rules, and addresses that nothing is sent to.
import { tenantPath } from "../lib/session";
import { Tabs } from "./tabs";

export const MailTabs = () => <Tabs label="Mail" tabs={[{ to: tenantPath("/mail"), label: "Rules" }, { to: tenantPath("/mail/suppressions"), label: "Suppressed addresses" }]} />;
