// memories.tsx - what an agent keeps between sessions: read, added and removed by people.
import { useState } from "preact/hooks";
import { MemoryCreate } from "../../contract/forms";
import type { MemoryCreate as Body, MemoryRead } from "../../contract/types";
import { call } from "../../lib/api";
import { useList } from "../../lib/data";
import { Time, plural } from "../../lib/format";
import { Link } from "../../lib/router";
import { tenantPath } from "../../lib/session";
import { Button } from "../../ui/button";
import { ContractForm } from "../../ui/form";
import { Tag } from "../../ui/page";
import { DataView } from "../../ui/states";
import { Table } from "../../ui/table";
import { toast, undoable } from "../../ui/toast";
import type { PartProps } from "../agent";

export default function Memories({ path, may, concerns }: PartProps) {
  const list = useList("GET /tenant/{tenant_id}/agents/{agent_id}/memories", { path }, concerns);
  const [adding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<ReadonlySet<string>>(new Set());
  const write = may("agent:write");
  const remove = (m: MemoryRead): void => {
    const stay = (): void => setLeaving((now) => new Set([...now].filter((id) => id !== m.id)));
    setLeaving((now) => new Set([...now, m.id]));
    undoable("The memory is removed", async () => {
      await call("DELETE /tenant/{tenant_id}/agents/{agent_id}/memories/{memory_id}", { path: { ...path, memory_id: m.id } });
      list.reload();
    }, stay);
  };
  const shown = list.data?.filter((m) => !leaving.has(m.id));
  return (
    <>
      <div class="part-head part">
        <h2>{list.total === undefined ? "Memories" : plural(list.total, "memory", "memories")}</h2>
        {write && !adding && <Button act={() => setAdding(true)}>Add a memory</Button>}
      </div>
      {adding && <div class="part narrow"><ContractForm form={MemoryCreate} action="Add memory" cancel={() => setAdding(false)} send={async (body) => {
        await call("POST /tenant/{tenant_id}/agents/{agent_id}/memories", { path, body: body as unknown as Body });
        setAdding(false);
        list.reload();
        toast("The memory is added");
      }} /></div>}
      <DataView of={{ ...list, data: shown }} empty={{ title: "Nothing is remembered yet", text: "Agents write memories while they work; people may add some." }}>
        {(rows) => (
          <Table label="Memories" rows={rows} id={(m) => m.id}
            columns={[
              { name: "Memory", cell: (m) => m.content },
              { name: "For", wide: true, cell: (m) => <Tag>{m.scope === "private" ? "one person" : "everybody"}</Tag> },
              { name: "From", wide: true, cell: (m) => (m.source_session_id ? <Link to={tenantPath(`/sessions/${m.source_session_id}`)}>a session</Link> : "a person") },
              { name: "Since", wide: true, cell: (m) => <Time at={m.created_at} /> },
            ]}
            {...(write ? { actions: (m: MemoryRead) => <Button look="quiet" icon="trash" label={`Remove the memory: ${m.content.slice(0, 40)}`} act={() => remove(m)} /> } : {})} />
        )}
      </DataView>
    </>
  );
}
