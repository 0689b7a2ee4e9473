// admin.tsx - what stands over every screen of the super administrator: that it reaches into all tenants.
import type { ComponentChildren } from "preact";
import { Page } from "./page";
import { Icon } from "./icons";

export function AdminPage({ title, lead, actions, children, above }: { title: string; lead?: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren; above?: ComponentChildren }) {
  return (
    <>
      <p class="notice ember across"><Icon name="admin" /> <span>You act across all tenants. Everything here is entered in the audit log.</span></p>
      <Page title={title} lead={lead} actions={actions} above={above}>{children}</Page>
    </>
  );
}
