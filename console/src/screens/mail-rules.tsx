// mail-rules.tsx - the rules of mail that hold for all agents of a tenant.
import { TenantRules } from "../ui/mail-rules";
import { MailTabs } from "../ui/mail-tabs";
import { Page } from "../ui/page";

export default function MailRulesPage() {
  return (
    <Page title="Mail" part="Rules" lead="These rules hold for every agent here. An agent may have stricter ones of its own, and its mail is with the agent." narrow>
      <MailTabs />
      <TenantRules />
    </Page>
  );
}
