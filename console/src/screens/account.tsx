// account.tsx - oneself: name, password, invitations, and how the console looks and behaves in this browser.
import type { Signal } from "@preact/signals";
import { useId, useState } from "preact/hooks";
import { MeUpdate, PasswordChange } from "../contract/forms";
import type { MeUpdate as MeBody, PasswordChange as PasswordBody } from "../contract/types";
import { call } from "../lib/api";
import { useList } from "../lib/data";
import { human, utc } from "../lib/format";
import { singleKeys } from "../lib/keys";
import { me, refreshMe } from "../lib/session";
import { THEMES, density, theme } from "../lib/theme";
import { Button } from "../ui/button";
import { ContractForm } from "../ui/form";
import { Facts, Page } from "../ui/page";
import { toast } from "../ui/toast";

function Pick({ label, of, words }: { label: string; of: Signal<string>; words: readonly string[] }) {
  const id = useId();
  return <div class="field"><label class="label" for={id}>{label}</label><select id={id} value={of.value} onChange={(e) => void (of.value = e.currentTarget.value)}>{words.map((w) => <option key={w} value={w}>{human(w)}</option>)}</select></div>;
}

function Tick({ label, of, help }: { label: string; of: Signal<boolean>; help: string }) {
  const id = useId();
  return <div class="field flag"><label class="label" for={id}>{label}</label><div class="control"><input id={id} type="checkbox" checked={of.value} aria-describedby={`${id}-help`} onChange={(e) => void (of.value = e.currentTarget.checked)} /></div><p class="help" id={`${id}-help`}>{help}</p></div>;
}

function Invitations() {
  const list = useList("GET /me/invitations", {});
  const answer = (tenant_id: string, name: string, accept: boolean) => async (): Promise<void> => {
    await call("POST /me/invitations/{tenant_id}", { path: { tenant_id }, body: { accept } });
    toast(accept ? `You are a member of ${name} now` : `${name} was declined`);
    await refreshMe();
    list.reload();
  };
  if (!list.data?.length) return null;
  return (
    <section aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      <ul class="rows">{list.data.map((i) => <li key={i.tenant_id} data-rail="ember"><span>{i.tenant_name} asks you to join as {human(i.role)}.</span> <Button look="primary" act={answer(i.tenant_id, i.tenant_name, true)}>Accept</Button> <Button act={answer(i.tenant_id, i.tenant_name, false)}>Decline</Button></li>)}</ul>
    </section>
  );
}

export default function Account() {
  const [changes, count] = useState(0);
  const user = me.value;
  if (!user) return null;
  return (
    <Page title="Your account" lead={user.email} narrow>
      {!user.memberships.length && !user.is_super_admin && <p class="notice ember">You belong to no tenant, so that there is nothing to work with yet. Ask somebody who manages one to invite {user.email}; the invitation then stands here.</p>}
      <Invitations />
      <section aria-labelledby="you">
        <h2 id="you">You</h2>
        <Facts rows={[["Address", user.email_proven ? `${user.email}, proven` : `${user.email}, not proven`], ["Tenants", user.memberships.map((m) => `${m.tenant_name} (${human(m.role)})`).join(", ") || "none"]]} />
        <ContractForm form={MeUpdate} value={user as unknown as Record<string, unknown>} action="Save" send={async (body) => {
          await call("PATCH /me", { body: body as MeBody });
          await refreshMe();
          toast("Saved");
        }} />
      </section>
      <section aria-labelledby="password">
        <h2 id="password">Password</h2>
        <p class="muted">A new password ends every other login of yours.</p>
        <ContractForm key={changes} form={PasswordChange} action="Change password" send={async (body) => {
          await call("PUT /me/password", { body: body as unknown as PasswordBody });
          count((n) => n + 1);
          toast("The password is changed");
        }} />
      </section>
      <section aria-labelledby="browser">
        <h2 id="browser">This browser</h2>
        <Pick label="Theme" of={theme} words={THEMES} />
        <Pick label="Rows" of={density} words={["normal", "compact"]} />
        <Tick label="Times in UTC" of={utc} help="Otherwise they are in the zone of this computer." />
        <Tick label="Keys of one letter" of={singleKeys} help="g and ? and / act outside of fields. Ctrl K works in any case." />
      </section>
      <p class="muted small"><a href="/console/licences.txt" target="_blank" rel="noreferrer">Licences of what the console is made with</a></p>
    </Page>
  );
}
