// forbidden.tsx - skills that an agent may not use, whoever gives them to it.
import { useState } from "preact/hooks";
import type { AgentSkillPermissionEntry } from "../../contract/types";
import { call } from "../../lib/api";
import { useList } from "../../lib/data";
import { Time } from "../../lib/format";
import { Button } from "../../ui/button";
import { Status } from "../../ui/page";
import { type Choice, Pick, finding } from "../../ui/pick";
import { DataView } from "../../ui/states";
import { Table } from "../../ui/table";
import { toast } from "../../ui/toast";
import type { PartProps } from "../agent";

interface Key { skill_id: string; action: string }
const MOST = 200;

export function Forbidden({ path, concerns, name }: PartProps & { name: (skill_id: string) => string }) {
  const list = useList("GET /tenant/{tenant_id}/agents/{agent_id}/skills/permissions", { path, query: { per_page: MOST } }, concerns);
  const [chosen, setChosen] = useState<Choice | null>(null);
  /** All rows are sent together, and so they are read anew before: what another has added meanwhile stays. */
  const put = async (change: (rows: AgentSkillPermissionEntry[]) => AgentSkillPermissionEntry[]): Promise<void> => {
    const rows: AgentSkillPermissionEntry[] = [];
    for (let after: string | undefined; ;) {
      const page = await call("GET /tenant/{tenant_id}/agents/{agent_id}/skills/permissions", { path, query: { per_page: MOST, total: false, after } });
      rows.push(...page.items.map(({ skill_id, action, allowed }) => ({ skill_id, action, allowed })));
      if (!page.next_after) break;
      after = page.next_after;
    }
    await call("PUT /tenant/{tenant_id}/agents/{agent_id}/skills/permissions", { path, body: { permissions: change(rows) } });
    list.reload();
  };
  const without = (rows: AgentSkillPermissionEntry[], gone: Key): AgentSkillPermissionEntry[] => rows.filter((r) => r.skill_id !== gone.skill_id || r.action !== gone.action);
  const forbid = async (): Promise<void> => {
    if (!chosen) return;
    await put((rows) => [...without(rows, { skill_id: chosen.id, action: "use" }), { skill_id: chosen.id, action: "use", allowed: false }]);
    toast(`${chosen.label} is forbidden`);
    setChosen(null);
  };
  return (
    <section class="part" aria-label="Forbidden skills">
      <h2>Forbidden skills</h2>
      <form class="part narrow form" onSubmit={(e) => e.preventDefault()}>
        <Pick label="Forbid a skill" find={finding("skill")} value={chosen} set={setChosen} help="The agent does not use it, even where it has it, and its webhooks are blocked." />
        <footer><Button type="submit" disabled={!chosen} act={forbid}>Forbid</Button></footer>
      </form>
      <DataView of={list} rows={1} empty={{ title: "No skill is forbidden", text: "It may use every skill that it is given." }}>
        {(rows) => (
          <Table label="Forbidden skills" rows={rows} id={(r) => `${r.skill_id} ${r.action}`} rail={(r) => (r.allowed ? "ink" : "ember")}
            columns={[
              { name: "Skill", cell: (r) => name(r.skill_id) },
              { name: "It may", cell: (r) => (r.allowed ? <Status tone="plain">Use it, if it is given</Status> : <Status tone="ember" icon="warn">Not use it</Status>) },
              { name: "Since", wide: true, cell: (r) => <Time at={r.created_at} /> },
            ]}
            actions={(r) => <Button look="quiet" label={`${r.allowed ? "Remove" : "Allow again"}: ${name(r.skill_id)}`} act={() => put((all) => without(all, r))}>{r.allowed ? "Remove" : "Allow again"}</Button>} />
        )}
      </DataView>
    </section>
  );
}
