// person.tsx - one member: their role and what it means, and why they may do what they may on an agent.
import { useEffect, useState } from "preact/hooks";
import { MemberUpdate } from "../contract/forms";
import type { MemberRead, MemberUpdate as Body } from "../contract/types";
import { Problem, call } from "../lib/api";
import { useData } from "../lib/data";
import { Time, human } from "../lib/format";
import { go, location, setQuery } from "../lib/router";
import { can, me, refreshMe, tenantId, tenantPath } from "../lib/session";
import type { ScreenProps } from "../routes";
import { Button } from "../ui/button";
import { confirm } from "../ui/dialog";
import { ContractForm } from "../ui/form";
import { Facts, Page, Tag } from "../ui/page";
import { ROLES, offered } from "../ui/people-parts";
import { AgentPick } from "../ui/pick-one";
import { DataView, Failed, Skeleton } from "../ui/states";
import { toast } from "../ui/toast";

/** Members are read by pages only. */
async function find(tenant_id: string, user: string): Promise<MemberRead> {
  for (let after: string | undefined; ;) {
    const page = await call("GET /tenant/{tenant_id}/members", { path: { tenant_id }, query: { per_page: 200, total: false, after } });
    const found = page.items.find((m) => m.user_id === user);
    if (found) return found;
    if (!page.next_after) throw new Problem(404, { title: "Not found", detail: "There is no such member in this tenant." });
    after = page.next_after;
  }
}

function Why({ user }: { user: string }) {
  const agent = location.value.query.get("agent") ?? "";
  const view = useData("GET /tenant/{tenant_id}/agents/{agent_id}/access/{user_id}", agent ? { path: { tenant_id: tenantId(), agent_id: agent, user_id: user } } : null, (e) => e.event === "agent");
  return (
    <section aria-labelledby="why">
      <h2 id="why">Why may they do this?</h2>
      <div class="filters"><AgentPick label="On the agent" named value={agent} set={(id) => setQuery({ agent: id })} /></div>
      {!agent && <p class="muted">Choose an agent to see what this person may do with it, and through which role.</p>}
      {agent && <DataView of={view}>{(v) => (
        <>
          {v.ways.length === 0 && <p>Nothing opens this agent to them.</p>}
          <ul class="rows">{v.ways.map((w, i) => <li key={i}><span><strong>{human(w.role)}</strong> through {w.through.replaceAll("_", " ")}{w.name && <> {w.name}</>}</span></li>)}</ul>
          <p class="tags">{v.permissions.map((p) => <Tag key={p}>{p}</Tag>)}{v.permissions.length === 0 && <span class="muted">No permission on it.</span>}</p>
        </>
      )}</DataView>}
    </section>
  );
}

export default function Person({ params }: ScreenProps) {
  const user = params["user"] ?? "";
  const path = { tenant_id: tenantId(), user_id: user };
  const [member, setMember] = useState<MemberRead | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const read = (): void => {
    setProblem(null);
    find(path.tenant_id, user).then(setMember, setProblem);
  };
  useEffect(read, [user]);
  const own = user === me.value?.id;
  const mayChange = can("members:write") && (member?.role !== "OWNER" || can("owners:write"));
  const remove = async (m: MemberRead): Promise<void> => {
    if (!(await confirm({ title: own ? "Leave this tenant?" : `Remove ${m.name ?? m.email}?`, text: "Their roles on agents, their API keys here and what acts as them stop at once. What they made stays.", action: own ? "Leave" : "Remove", danger: true, type: m.email }))) return;
    await call("DELETE /tenant/{tenant_id}/members/{user_id}", { path });
    toast(`${m.email} is no longer a member`);
    await refreshMe();
    go(tenantPath("/people"));
  };
  return (
    <Page title={member?.name ?? member?.email ?? "Person"} lead={member?.email} narrow
      actions={member && mayChange && <Button look="danger" act={() => remove(member)}>{own ? "Leave" : "Remove"}</Button>}>
      {problem ? <Failed problem={problem} retry={read} /> : !member ? <Skeleton /> : (
        <>
          <Facts rows={[["Role", <>{human(member.role)}. <span class="muted">{ROLES[member.role]}</span></>], ["State", human(member.status)], [member.status === "invited" ? "Invited" : "Member since", <Time at={member.created_at} />], ["Person", <code>{member.user_id}</code>]]} />
          {mayChange && <ContractForm form={offered(MemberUpdate)} value={member as unknown as Record<string, unknown>} action="Change role" send={async (body) => {
            setMember(await call("PATCH /tenant/{tenant_id}/members/{user_id}", { path, body: body as unknown as Body }));
            if (own) await refreshMe();
            toast("The role is changed");
          }} />}
          {can("agent:roles:write") || can("members:write") ? <Why user={user} /> : null}
        </>
      )}
    </Page>
  );
}
