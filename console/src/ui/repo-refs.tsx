// repo-refs.tsx - the branches and tags of an agent's repository, and which of them its code is pinned to.
import { useState } from "preact/hooks";
import { AgentCodeRefUpdate } from "../contract/forms";
import type { AgentRead } from "../contract/types";
import { Problem, call } from "../lib/api";
import { type Data, useData } from "../lib/data";
import { plural, straight } from "../lib/format";
import type { AgentPath } from "../lib/repo";
import { Link, location, setQuery } from "../lib/router";
import { Button } from "./button";
import { Search } from "./filters";
import { ContractForm } from "./form";
import { Icon } from "./icons";
import { Status } from "./page";
import { at } from "./repo-parts";
import { DataView } from "./states";
import { Table } from "./table";
import { toast } from "./toast";

const SHOWN = 200;
const FORM = AgentCodeRefUpdate.map((f) => ({ ...f, label: "Branch or tag", help: "One that is in the repository already." }));

export function RepoRefs({ path, of, pinned, write }: { path: AgentPath; of: Data<AgentRead>; pinned: string; write: boolean }) {
  const refs = useData("GET /tenant/{tenant_id}/agents/{agent_id}/repo/refs", { path });
  const [refused, setRefused] = useState<{ name: string; problem: Problem } | null>(null);
  const q = location.value.query.get("q") ?? "", words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const pin = async (code_ref: string): Promise<void> => {
    of.set(await call("PATCH /tenant/{tenant_id}/agents/{agent_id}/code-ref", { path, body: { code_ref } }));
    setRefused(null);
    toast(`Its code is pinned to ${code_ref}`);
  };
  const press = (name: string) => pin(name).catch((err: unknown) => {
    if (!(err instanceof Problem) || ![422, 502].includes(err.status)) throw err;
    setRefused({ name, problem: err });
    refs.reload();
  });
  return (
    <>
      {refused && (
        <p class={`notice ${refused.problem.status === 502 ? "ember" : "danger"}`} role="alert"><Icon name="warn" />
          <span>{refused.problem.status === 502
            ? <>The repository could not be asked: {straight(refused.problem.detail)} The pin stays at <code>{straight(pinned)}</code>; try again in a while.</>
            : <><code>{straight(refused.name)}</code> is neither a branch nor a tag any more. What is there now is listed below; the pin stays at <code>{straight(pinned)}</code>.</>}</span></p>
      )}
      <DataView of={refs}>
        {({ branches, tags, complete }) => {
          const all = [...branches.map((name) => ({ name, kind: "branch" })), ...tags.map((name) => ({ name, kind: "tag" }))];
          const fit = all.filter((r) => words.every((w) => r.name.toLowerCase().includes(w))).sort((a, b) => Number(b.name === pinned) - Number(a.name === pinned)), rows = fit.slice(0, SHOWN);
          return (
            <>
              {!complete && <p class="notice ember"><Icon name="warn" /> <span>{all.length ? "Not all of them are listed: there are too many, or the repository could not be read to its end. A name that is missing can be pinned by typing it." : "They cannot be listed now: the repository cannot be read."}</span></p>}
              {complete && !all.some((r) => r.name === pinned) && <p class="notice ember"><Icon name="warn" /> <span>The code is pinned to <code>{straight(pinned)}</code>, which is neither a branch nor a tag here{all.length ? "" : ": nothing was pushed yet"}.</span></p>}
              <div class="filters" role="search"><Search label="Search branches and tags" value={q} set={(text) => setQuery({ q: text })} /><span class="muted small" role="status">{plural(fit.length, "name")}{fit.length > SHOWN && `, of which ${SHOWN} are shown: search for the others`}</span></div>
              {rows.length > 0 && (
                <Table label="Branches and tags" rows={rows} id={(r) => `${r.kind} ${r.name}`} to={(r) => at("files", { ref: r.name })} rail={(r) => (r.name === pinned ? "pine" : "ink")}
                  columns={[
                    { name: "Name", cell: (r) => <bdi>{straight(r.name)}</bdi> },
                    { name: "Kind", cell: (r) => <span class="muted">{r.kind}</span> },
                    { name: "Pin", cell: (r) => (r.name === pinned ? <Status tone="pine" icon="check">Pinned</Status> : "") },
                  ]}
                  {...(write ? { actions: (r: { name: string }) => r.name !== pinned && <Button label={`Pin to ${r.name}`} act={() => press(r.name)}>Pin</Button> } : {})} />
              )}
              {write && <section class="part narrow" aria-label="Pin by name"><details class="rest" open={!complete}><summary>Pin by name</summary><ContractForm form={FORM} action="Pin" passing send={(body) => pin(String(body["code_ref"]))} /></details></section>}
              <p class="muted small">The agent's code is taken from <Link to={at("files", { ref: null })}><code>{straight(pinned)}</code></Link>. Prompts are always those of the main branch.</p>
            </>
          );
        }}
      </DataView>
    </>
  );
}
