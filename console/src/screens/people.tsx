// people.tsx - who belongs to the tenant, and who was invited: the link of an invitation is shown once.
import { MemberAdd } from "../contract/forms";
import type { MemberAdd as Body, MemberAdded, MemberRead } from "../contract/types";
import { call } from "../lib/api";
import { useList } from "../lib/data";
import { Time, human, plural } from "../lib/format";
import { can, me, tenant, tenantId, tenantPath } from "../lib/session";
import { Button } from "../ui/button";
import { Dialog, confirm, over } from "../ui/dialog";
import { ContractForm } from "../ui/form";
import { Page, Status, Tag } from "../ui/page";
import { PeopleTabs, ROLES, offered } from "../ui/people-parts";
import { showSecret } from "../ui/secret";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { toast } from "../ui/toast";

/** Whoever invites hears whether a letter goes; a service without mail has none to speak of. */
function LetterWord({ made }: { made: MemberAdded }) {
  if (made.letter === "queued") return <p>A letter with a link of its own is on its way to {made.email}.</p>;
  if (made.letter_again_at) return <p>No letter goes: there were too many. Inviting again sends one from <Time at={made.letter_again_at} /> on.</p>;
  return null;
}

/** Invites, or makes a fresh link for somebody who was; the former stops. */
export async function invite(body: Body): Promise<void> {
  const made = await call("POST /tenant/{tenant_id}/members", { path: { tenant_id: tenantId() }, body });
  if (made.invite_url)
    await showSecret(`Invitation for ${made.email}`, made.invite_url, <><LetterWord made={made} /><p>Send this link to {made.email}. It works once, for seven days, and whoever opens it joins {tenant.value?.tenant_name} as {human(made.role)}.</p></>);
  else toast(`${made.email} has an account, and finds the invitation there`);
}

function InviteForm({ close }: { close: (done: boolean | null) => void }) {
  return (
    <Dialog title="Invite somebody" onClose={() => close(null)}>
      <ContractForm form={offered(MemberAdd)} action="Invite" cancel={() => close(null)} send={async (body) => {
        const sending = body as unknown as Body;
        await invite(sending);
        close(true);
      }} />
      <dl class="keys">{Object.entries(ROLES).filter(([role]) => role !== "OWNER" || can("owners:write")).map(([role, text]) => <div key={role}><dt>{human(role)}</dt><dd class="muted">{text}</dd></div>)}</dl>
    </Dialog>
  );
}

export default function People() {
  const path = { tenant_id: tenantId() };
  const members = useList("GET /tenant/{tenant_id}/members", { path }, (e) => e.event === "agent" && e.data.tenant_id === path.tenant_id);
  const ask = async (): Promise<void> => {
    if (await over<boolean>((close) => <InviteForm close={close} />)) members.reload();
  };
  const again = async (m: MemberRead): Promise<void> => {
    await invite({ email: m.email, role: m.role });
    members.reload();
  };
  const revoke = async (m: MemberRead): Promise<void> => {
    if (!(await confirm({ title: `Take the invitation of ${m.email} back?`, text: "The link stops at once. They can be invited again.", action: "Revoke invitation", danger: true }))) return;
    await call("DELETE /tenant/{tenant_id}/members/{user_id}", { path: { ...path, user_id: m.user_id } });
    toast(`${m.email} is no longer invited`);
    members.reload();
  };
  return (
    <Page title="People" lead={members.total === undefined ? undefined : plural(members.total, "person", "people")} actions={can("members:write") && <Button look="primary" act={ask}>Invite somebody</Button>}>
      <PeopleTabs />
      <DataView of={members} empty={{ title: "Nobody is here yet", text: "Invite those who shall work with this tenant's agents." }}>
        {(rows) => (
          <Table label="People" rows={rows} id={(m) => m.user_id} to={(m) => tenantPath(`/people/${m.user_id}`)} rail={(m) => (m.status === "invited" ? "ember" : "ink")}
            columns={[
              { name: "Name", cell: (m) => m.name ?? m.email },
              { name: "Address", wide: true, cell: (m) => <>{m.email} {m.user_id === me.value?.id && <Tag>you</Tag>}</> },
              { name: "Role", cell: (m) => human(m.role) },
              { name: "State", cell: (m) => (m.status === "invited" ? <Status tone="ember" icon="clock">Invited</Status> : <Status tone="pine">Active</Status>) },
              { name: "Since", wide: true, cell: (m) => <Time at={m.created_at} /> },
            ]}
            {...(can("members:write") ? { actions: (m: MemberRead) => m.status === "invited" && <><Button look="quiet" label={`New link for ${m.email}`} act={() => again(m)}>New link</Button><Button look="quiet" label={`Revoke the invitation of ${m.email}`} act={() => revoke(m)}>Revoke</Button></> } : {})} />
        )}
      </DataView>
    </Page>
  );
}
