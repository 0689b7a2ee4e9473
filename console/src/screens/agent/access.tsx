// access.tsx - who reaches an agent and how: roles of people and groups, the default, and why somebody may do something.
import { useState } from "preact/hooks";
import { AgentRoleAssignmentCreate } from "../../contract/forms";
import type { AccessView } from "../../contract/types";
import { call } from "../../lib/api";
import { type Data, useData, useList } from "../../lib/data";
import { human, straight } from "../../lib/format";
import { can } from "../../lib/session";
import { Button } from "../../ui/button";
import { confirm } from "../../ui/dialog";
import { Icon } from "../../ui/icons";
import { type Choice, Pick, finding, walking } from "../../ui/pick";
import { Tag } from "../../ui/page";
import { DataView } from "../../ui/states";
import { Table } from "../../ui/table";
import { complain, toast } from "../../ui/toast";
import type { PartProps } from "../agent";

type Role = "VIEWER" | "MANAGER" | "OWNER";
const ROLES = (AgentRoleAssignmentCreate[0]?.words ?? []) as Role[];

interface Holder { id: string; kind: "Person" | "Group"; name: string; detail: string; role: Role }

/** What each role allows, in the words of the service. */
function Grid({ path }: { path: PartProps["path"] }) {
  const grid = useData("GET /tenant/{tenant_id}/agents/{agent_id}/roles/permissions", { path });
  return (
    <DataView of={grid} rows={4}>
      {(g) => {
        const roles = (g.roles ?? {}) as Record<string, string[]>;
        const words = [...new Set(Object.values(roles).flat())];
        return (
          <div class="scroll-x" tabIndex={0} role="region" aria-label="What each role allows">
            <table class="allowed">
              <thead><tr><th scope="col">Allows</th>{Object.keys(roles).map((r) => <th key={r} scope="col">{human(r)}</th>)}</tr></thead>
              <tbody>{words.map((w) => <tr key={w}><th scope="row">{w}</th>{Object.entries(roles).map(([r, list]) => <td key={r}>{list.includes(w) ? <><Icon name="check" /><span class="hidden">yes</span></> : <span class="muted">–<span class="hidden">no</span></span>}</td>)}</tr>)}</tbody>
            </table>
          </div>
        );
      }}
    </DataView>
  );
}

function sentence(w: AccessView["ways"][number]): string {
  switch (w.through) {
    case "user": return `${human(w.role)} of this agent, by a role of their own`;
    case "group": return `${human(w.role)} of this agent, through the group ${w.name ?? ""}`;
    case "default": return `the ${w.role.toLowerCase()} baseline, because everybody in the tenant reaches this agent`;
    case "tenant": return `${human(w.role)} of the tenant, which counts as owner of every agent`;
    case "super_admin": return "super administrator of the whole service";
    default: return `${human(w.role)}, through ${w.through}`;
  }
}

function Ways({ view, who }: { view: AccessView; who: string }) {
  if (!view.ways.length) return <p>{who} does not reach this agent.</p>;
  return (
    <>
      <p>{who} reaches this agent as:</p>
      <ul class="reached">{view.ways.map((w, i) => <li key={i}><Icon name="right" size={12} /> {sentence(w)}</li>)}</ul>
      <p>All of it together allows: {view.permissions.map((p) => <><Tag key={p}>{p}</Tag> </>)}</p>
    </>
  );
}

function Why({ path, concerns }: PartProps) {
  const [who, setWho] = useState<Choice | null>(null);
  const view = useData("GET /tenant/{tenant_id}/agents/{agent_id}/access/{user_id}", who ? { path: { ...path, user_id: who.id } } : null, concerns);
  return (
    <section class="part narrow">
      <h2>Why may this person do this?</h2>
      <Pick label="Person" find={finding("user")} value={who} set={setWho} />
      <div aria-live="polite">{who && <DataView of={view} rows={2}>{(v) => <div class="panel"><Ways view={v} who={who.label} /></div>}</DataView>}</div>
    </section>
  );
}

function Roles({ path, concerns, agent }: PartProps) {
  const people = useList("GET /tenant/{tenant_id}/agents/{agent_id}/roles", { path, query: { per_page: 200 } }, concerns);
  const groups = useList("GET /tenant/{tenant_id}/agents/{agent_id}/group-roles", { path, query: { per_page: 200 } }, concerns);
  const [kind, setKind] = useState<"Person" | "Group">("Person");
  const [who, setWho] = useState<Choice | null>(null);
  const [role, setRole] = useState<Role>("VIEWER");
  const reload = (): void => (people.reload(), groups.reload());
  const put = async (h: Pick<Holder, "id" | "kind">, next: Role): Promise<void> => {
    if (h.kind === "Person") await call("PUT /tenant/{tenant_id}/agents/{agent_id}/roles/{user_id}", { path: { ...path, user_id: h.id }, body: { role: next } });
    else await call("PUT /tenant/{tenant_id}/agents/{agent_id}/group-roles/{group_id}", { path: { ...path, group_id: h.id }, body: { role: next } });
    reload();
  };
  const take = async (h: Holder): Promise<void> => {
    if (!(await confirm({ title: `Take the role of ${h.name}?`, text: `${h.name} keeps only what other ways to ${agent.name} allow.`, action: "Take the role", danger: true }))) return;
    if (h.kind === "Person") await call("DELETE /tenant/{tenant_id}/agents/{agent_id}/roles/{user_id}", { path: { ...path, user_id: h.id } });
    else await call("DELETE /tenant/{tenant_id}/agents/{agent_id}/group-roles/{group_id}", { path: { ...path, group_id: h.id } });
    reload();
  };
  const holders: Holder[] = [
    ...(people.data ?? []).map((r): Holder => ({ id: r.user_id, kind: "Person", name: r.user_name || r.user_email || r.user_id, detail: r.user_email ?? "", role: r.role })),
    ...(groups.data ?? []).map((r): Holder => ({ id: r.group_id, kind: "Group", name: r.group_name ?? r.group_id, detail: "", role: r.role })),
  ];
  const both: Data<Holder[]> = { data: people.data && groups.data && holders, etag: null, error: people.error ?? groups.error, loading: people.loading || groups.loading, reload, set: () => undefined };
  return (
    <section class="part">
      <h2>Roles</h2>
      <form class="part narrow form" onSubmit={(e) => e.preventDefault()}>
        <div class="filters">
          <label class="choose"><span>Give a role to a</span>
            <select value={kind} onChange={(e) => (setKind(e.currentTarget.value as "Person"), setWho(null))}><option>Person</option><option>Group</option></select>
          </label>
          <label class="choose"><span>Role</span>
            <select value={role} onChange={(e) => setRole(e.currentTarget.value as Role)}>{ROLES.map((r) => <option key={r} value={r}>{human(r)}</option>)}</select>
          </label>
        </div>
        <Pick key={kind} label={kind === "Person" ? "Who" : "Which group"} find={kind === "Person" ? finding("user") : walking("GET /tenant/{tenant_id}/groups", { tenant_id: path.tenant_id }, (g) => ({ id: g.id, label: g.name, detail: g.description }))} value={who} set={setWho} help={AgentRoleAssignmentCreate[0]?.help ?? ""} />
        <footer><Button type="submit" look="primary" disabled={!who} act={async () => {
          if (!who) return;
          await put({ id: who.id, kind }, role);
          toast(`${who.label} is ${human(role)}`);
          setWho(null);
        }}>Give the role</Button></footer>
      </form>
      <DataView of={both} empty={{ title: "Nobody has a role of their own", text: "Owners and administrators of the tenant hold every agent." }}>
        {(rows) => (
          <Table label="Roles on this agent" rows={rows} id={(h) => h.kind + h.id}
            columns={[
              { name: "Who", cell: (h) => <>{straight(h.name)} {h.kind === "Group" && <Tag>group</Tag>} {h.detail && h.detail !== h.name && <span class="muted">{h.detail}</span>}</> },
              { name: "Role", cell: (h) => <select class="inline" aria-label={`Role of ${h.name}`} value={h.role} onChange={(e) => {
                const el = e.currentTarget;
                put(h, el.value as Role).catch((err: unknown) => {
                  el.value = h.role;
                  complain(err);
                });
              }}>{ROLES.map((r) => <option key={r} value={r}>{human(r)}</option>)}</select> },
            ]}
            actions={(h) => <Button look="quiet" icon="trash" label={`Take the role of ${h.name}`} act={() => take(h)} />} />
        )}
      </DataView>
    </section>
  );
}

function Default({ path, may, concerns }: PartProps) {
  const now = useData("GET /tenant/{tenant_id}/agents/{agent_id}/default-role", { path }, concerns);
  const flip = async (enabled: boolean): Promise<void> => {
    const before = now.data && now.set({ ...now.data, enabled });
    try {
      await call("PUT /tenant/{tenant_id}/agents/{agent_id}/default-role", { path, body: { enabled } });
    } catch (err) {
      if (before) now.set(before);
      complain(err);
    }
  };
  return (
    <section class="part">
      <h2>Everybody else</h2>
      <DataView of={now} rows={1}>
        {(d) => (
          <div class="field flag">
            <div class="control"><input id="default-role" type="checkbox" checked={d.enabled} disabled={!may("agent:roles:write")} onChange={(e) => void flip(e.currentTarget.checked)} /></div>
            <label class="label" for="default-role">Members and guests of the tenant reach it</label>
            <p class="help">Members read it and chat with it, guests read it; both see only the sessions in which they take part. Off: only those with a role, and administrators.</p>
          </div>
        )}
      </DataView>
    </section>
  );
}

export default function Access(props: PartProps) {
  const own = useData("GET /tenant/{tenant_id}/agents/{agent_id}/access", { path: props.path }, props.concerns);
  const write = props.may("agent:roles:write");
  return (
    <>
      {write && <Roles {...props} />}
      <Default {...props} />
      <section class="part"><h2>What each role allows</h2><Grid path={props.path} /></section>
      {write && can("tenant:read") ? <Why {...props} /> : <section class="part"><h2>What you may do here</h2><DataView of={own} rows={2}>{(v) => <div class="panel"><Ways view={v} who="Your account" /></div>}</DataView></section>}
    </>
  );
}
